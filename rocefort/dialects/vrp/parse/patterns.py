"""Regular expressions of command formats for saved lines, and their arguments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from rocefort.dialects.vrp.commands.format import FormatNode, parse_format

NUMBER = r"\d+"
LIST = rf"{NUMBER}(?: to {NUMBER})?(?: {NUMBER}(?: to {NUMBER})?)*"
# Saved text in the place of a parameter; invalid values are refused after the match.
SHAPES = {
    "ip": r"\d\S*",
    "mask": r"\d\S*",
    "name": r"\S+",
    "other": r"\S+",
    "cipher": r"\S.*",  # a placeholder has two words, which no switch accepts
    "plain": r"\S.*",
    "peer": r"[^\s:]+",  # not IPv6
    "group": r"\S*[^\d\s]\S*",
    "asn": r"\d+(?:\.\d+)?",
    "interface": r"\S+(?: \d+(?:/\S+)?)?",  # `100GE 1/0/1`, without an address after it
    "eth-trunk": r"\S+(?: \S+)?",
    "ports": r"\S.*?",
    "split-type": r"\S+",
    "snmp-versions": r"all|v\d\w?(?: v\d\w?)*",
    "text": r"\S.*",
    "acl-matches": r"\S.*",
    "numbers": LIST,
}
NUMERIC = re.compile(r"\d+-\d+|kbytes|[a-z]+(?:_[a-z]+)+")  # the last: from the families' data
WORD = "word"  # the name of an argument that is one of several words


@dataclass(frozen=True)
class Pattern:
    """A format as an expression to read lines, with its groups' parameters, by name, in order.

    A parameter has the first part of its format as its name, `ip` or `1-4094`, and its whole text
    as its kind, `text:80`; a choice between words is `word`, and so is an optional word. The second
    of a name is `ip:2`.
    """

    expression: re.Pattern[str]
    arguments: Mapping[str, str]
    first: frozenset[str]  # words with which such a line begins
    words: int  # in every such line: of two formats, the one with more applies


@cache
def pattern_of(form: str, *, any_order: bool = False, any_word: bool = False) -> Pattern:
    """Return the pattern of a format in the notation of command.py.

    any_order: at least one of the optional parts is present. any_word: also a word outside the
    choice.
    """
    nodes = parse_format(form)
    expression = _Expression(any_order, any_word)
    text = "".join(expression.sequence(nodes))
    counted: Counter[str] = Counter()
    arguments = {}
    for kind in expression.kinds:
        name = kind.partition(":")[0]
        counted[name] += 1
        arguments[f"{name}:{counted[name]}" if counted[name] > 1 else name] = kind
    return Pattern(re.compile(text, re.ASCII), arguments, frozenset(_first(nodes)), _words(nodes))


@dataclass
class _Expression:
    """A regular expression under construction; `kinds` are those of its groups' parameters."""

    any_order: bool
    any_word: bool
    kinds: list[str] = field(default_factory=list)

    def sequence(self, nodes: tuple[FormatNode, ...]) -> Iterator[str]:
        """Yield expressions of the elements, each with the blank before it."""
        if self.any_order and all(node.kind == "optional" for node in nodes):
            some = ("".join(self.sequence(branch)) for node in nodes for branch in node.branches)
            yield f"(?:{'|'.join(some)})+"
            return
        for node in nodes:
            if node.kind == "word":
                yield f" {re.escape(node.text)}"
            elif node.kind == "implied":
                yield f"(?: {re.escape(node.text)})?"
            elif node.kind == "param":
                self.kinds.append(node.text)
                kind = node.text.partition(":")[0]
                yield f" ({NUMBER if NUMERIC.fullmatch(kind) else SHAPES[kind]})"
            elif node.kind == "value":
                yield from self.sequence(node.branches[0])
            else:
                yield self.choice(node) + ("?" if node.kind == "optional" else "")

    def choice(self, node: FormatNode) -> str:
        """Return the expression of a choice of words, which is captured, or of sequences."""
        if all(each.kind == "word" for branch in node.branches for each in branch):
            self.kinds.append(WORD)
            words = (re.escape(" ".join(each.text for each in branch)) for branch in node.branches)
            return f"(?: ({'|'.join(words) if not self.any_word else SHAPES['other']}))"
        return f"(?:{'|'.join(''.join(self.sequence(branch)) for branch in node.branches)})"


def _first(nodes: tuple[FormatNode, ...]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "word":
            yield node.text
            return
        for branch in node.branches:
            yield from _first(branch)
        if node.kind != "optional":
            return


def _words(nodes: tuple[FormatNode, ...]) -> int:
    count = 0
    for node in nodes:
        if node.kind == "word":
            count += 1
        elif node.kind in ("group", "value"):
            count += min(_words(branch) for branch in node.branches)
    return count
