"""A command's format as a regular expression over a saved line, and the arguments that it takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from rocefort.dialects.vrp.commands.format import FormatNode, parse_format

NUMBER = r"\d+"
LIST = rf"{NUMBER}(?: to {NUMBER})?(?: {NUMBER}(?: to {NUMBER})?)*"
# What a saved line has in the place of a parameter; what is no such value is refused after it.
SHAPES = {
    "ip": r"\d\S*",
    "mask": r"\d\S*",
    "name": r"\S+",
    "other": r"\S+",
    "cipher": r"\S.*",  # a placeholder has two words, which no switch takes
    "plain": r"\S.*",
    "peer": r"[^\s:]+",  # none of IPv6
    "group": r"\S*[^\d\s]\S*",
    "asn": r"\d+(?:\.\d+)?",
    "interface": r"\S+(?: \d+(?:/\S+)?)?",  # `100GE 1/0/1`, and no address behind it
    "eth-trunk": r"\S+(?: \S+)?",
    "ports": r"\S.*?",
    "split-type": r"\S+",
    "snmp-versions": r"all|v\d\w?(?: v\d\w?)*",
    "text": r"\S.*",
    "acl-matches": r"\S.*",
    "numbers": LIST,
}
NUMERIC = re.compile(r"\d+-\d+|kbytes|[a-z]+(?:_[a-z]+)+")  # the last: of the families' data
WORD = "word"  # the name of an argument that is one of several words


@dataclass(frozen=True)
class Pattern:
    """A format to read lines by, with what the groups of its expression take, by name, in order.

    A parameter is named as its format begins, `ip` or `1-4094`, and has its whole text as its kind,
    `text:80`; a choice between words is `word`, and so is a word that may be left out. The second
    of a name is `ip:2`.
    """

    expression: re.Pattern[str]
    arguments: Mapping[str, str]
    first: frozenset[str]  # words with which such a line begins
    words: int  # that every such line has: of two formats, the one with more is meant


@cache
def pattern_of(form: str, *, any_order: bool = False, any_word: bool = False) -> Pattern:
    """The pattern of a format as command.py has them.

    any_order: of what may be left out, some stands. any_word: also one that is not to choose from.
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
    """A regular expression in the making; `kinds` are those of what its groups take."""

    any_order: bool
    any_word: bool
    kinds: list[str] = field(default_factory=list)

    def sequence(self, nodes: tuple[FormatNode, ...]) -> Iterator[str]:
        """Expressions of the elements, each with the blank before it."""
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
        """One of several words, which is taken, or of several sequences."""
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
    found = 0
    for node in nodes:
        if node.kind == "word":
            found += 1
        elif node.kind in ("group", "value"):
            found += min(_words(branch) for branch in node.branches)
    return found
