"""Command formats in the notation of the vendor's reference: matching lines, common lines.

The notation is the reference's own, with three additions:

    mtu ( <46-9600> )            the part in ( ) is the value; the other words are the line's key
    acl +number <2000-4999>      +word may be left out; the switch writes it
    size <kbytes:16-30720> { kbytes | mbytes }      a range in kbytes, whatever the unit
    port link-type { access | trunk } , peer <peer> as-number ( <asn> ) , undo x [ <name> ]
    ping [ -c <1-10> | -t <0-9> ] * <host>          each alternative at most once, in any order

So of two lines with one key the second overwrites the first. Lines with different keys coexist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from rocefort.dialects.vrp.commands.parameters import Tokens, takes
from rocefort.dialects.vrp.readers.arguments import KBYTES

UNRECOGNIZED = "Error: Unrecognized command found at '^' position."
WRONG = "Error: Wrong parameter found at '^' position."
INCOMPLETE = "Error: Incomplete command found at '^' position."
TOO_MANY = "Error: Too many parameters found at '^' position."


@dataclass(frozen=True, slots=True)
class FormatNode:
    """One element of a format: a word, a parameter, or a group of alternatives of sequences."""

    kind: str  # word, implied, param, group, optional, several, value
    text: str = ""
    branches: tuple[tuple[FormatNode, ...], ...] = ()


class FormatMatch(NamedTuple):
    """Match of a line with a format: the words of its key, its value, its named parameters."""

    position: int = 0
    key: Tokens = ()
    value: Tokens = ()
    saved: Tokens = ()
    params: tuple[tuple[str, str], ...] = ()
    places: tuple[int, ...] = ()  # position of each parameter among the saved words
    keywords: Tokens = ()  # for each typed word: the keyword in full; empty for a parameter's word
    after: FormatNode | None = None  # element that the line lacks; None for a whole line

    @property
    def words(self) -> int:
        """Return the number of literal words.

        The format with the most of them is the most specific.
        """
        return len(self.keywords) - self.keywords.count("")

    @property
    def text(self) -> str:
        """Return the line as the switch saves it."""
        return " ".join(self.saved)


@dataclass(slots=True)
class MatchFailure:
    """The furthest word up to which formats matched, and the words expected there."""

    position: int = -1
    expected: set[str] = field(default_factory=set)

    def expect(self, position: int, what: str) -> None:
        """Note that `what` was expected at a word; only the furthest word counts."""
        if position > self.position:
            self.position, self.expected = position, set()
        if position == self.position:
            self.expected.add(what)

    def error(self, count: int) -> tuple[int, str]:
        """Return the index of the word under the caret, and the documented message."""
        if self.position <= 0:
            return 0, UNRECOGNIZED
        if self.position >= count:
            return count, INCOMPLETE
        if "param" in self.expected:
            return self.position, WRONG
        return self.position, TOO_MANY if self.expected == {"end"} else UNRECOGNIZED


@cache
def parse_format(text: str) -> tuple[FormatNode, ...]:
    """Parse a format into nodes; the table is code, so errors are ValueError."""
    words = text.split()
    branches, position = _branches(words, 0)
    if position != len(words) or len(branches) != 1:
        raise ValueError(f"brackets do not pair in {text!r}")
    return branches[0]


GROUPS = {"{": ("group", "}"), "[": ("optional", "]"), "(": ("value", ")")}


def _branches(words: list[str], position: int) -> tuple[tuple[tuple[FormatNode, ...], ...], int]:
    branches: list[tuple[FormatNode, ...]] = []
    nodes: list[FormatNode] = []
    while position < len(words) and words[position] not in "}])":
        word = words[position]
        position += 1
        if word == "|":
            branches.append(tuple(nodes))
            nodes = []
        elif word in GROUPS:
            kind, end = GROUPS[word]
            inner, position = _branches(words, position)
            if position >= len(words) or words[position] != end:
                raise ValueError(f"{word} is not closed in {' '.join(words)!r}")
            position += 1
            if kind == "optional" and words[position : position + 1] == ["*"]:
                kind, position = "several", position + 1
            nodes.append(FormatNode(kind, branches=inner))
        else:
            nodes.append(_leaf(word))
    return (*branches, tuple(nodes)), position


def _leaf(word: str) -> FormatNode:
    if word.startswith("<"):
        return FormatNode("param", word[1:-1])
    return FormatNode("implied", word[1:]) if word.startswith("+") else FormatNode("word", word)


def read_all(
    nodes: tuple[FormatNode, ...], tokens: Tokens, trace: MatchFailure, *, shortened: bool = False
) -> Iterator[FormatMatch]:
    """Yield every match of all the words with the format; `trace` records failures of others.

    shortened: keywords may be shortened, and the line may lack its end (`after`).
    """
    for reading in _Walk(tokens, trace, shortened).over(nodes, FormatMatch()):
        if reading.position == len(tokens):
            yield reading
        else:
            trace.expect(reading.position, "end")


@dataclass(frozen=True, slots=True)
class _Walk:
    """Matching of typed words with the nodes of a format."""

    tokens: Tokens
    trace: MatchFailure
    shortened: bool

    def over(
        self, nodes: tuple[FormatNode, ...], so_far: FormatMatch, *, is_value: bool = False
    ) -> Iterator[FormatMatch]:
        """Yield every match of a sequence of nodes that continues a partial match."""
        for at, node in enumerate(nodes):
            if so_far.after is not None:
                break
            if node.kind != "word":
                for step in self._step(node, so_far, is_value):
                    yield from self.over(nodes[at + 1 :], step, is_value=is_value)
                return
            reading = self._word(node, so_far, is_value)
            if reading is None:
                return
            so_far = reading
        yield so_far

    def _step(self, node: FormatNode, so_far: FormatMatch, is_value: bool) -> Iterator[FormatMatch]:
        if node.kind == "param":
            yield from self._param(node, so_far, is_value)
        elif node.kind == "implied":
            yield from self._implied(node, so_far, is_value)
        else:
            inside = is_value or node.kind == "value"
            for branch in node.branches if node.kind != "several" else in_any_order(node):
                yield from self.over(branch, so_far, is_value=inside)
            if node.kind in ("optional", "several"):
                yield so_far

    def _word(self, node: FormatNode, so_far: FormatMatch, is_value: bool) -> FormatMatch | None:
        if so_far.position < len(self.tokens):
            typed = self.tokens[so_far.position].casefold()
            if typed == node.text or (self.shortened and node.text.startswith(typed)):
                return _next_match(so_far, 1, node.text, is_value)
        self.trace.expect(so_far.position, "word")
        return self._ended(node, so_far)

    def _ended(self, node: FormatNode, so_far: FormatMatch) -> FormatMatch | None:
        ends = self.shortened and so_far.position == len(self.tokens)
        return so_far._replace(after=node) if ends else None

    def _implied(
        self, node: FormatNode, so_far: FormatMatch, is_value: bool
    ) -> Iterator[FormatMatch]:
        reading = self._word(node, so_far, is_value)
        if reading is not None:
            yield reading
        if reading is None or self.shortened:
            yield _next_match(so_far, 0, node.text, is_value)

    def _param(
        self, node: FormatNode, so_far: FormatMatch, is_value: bool
    ) -> Iterator[FormatMatch]:
        reading = None
        for used, saved in takes(node.text, self.tokens[so_far.position :]):
            reading = _next_match(so_far, used, saved, is_value, node.text)
            yield reading
        if reading is None:
            self.trace.expect(so_far.position, "param")
            if ended := self._ended(node, so_far):
                yield ended


def in_any_order(node: FormatNode) -> Iterator[tuple[FormatNode, ...]]:
    """Yield each alternative, followed by the others as options."""
    for branch in node.branches:
        others = tuple(other for other in node.branches if other is not branch)
        yield (*branch, replace(node, branches=others)) if others else branch


def _next_match(
    so_far: FormatMatch, used: int, saved: str, is_value: bool, name: str = ""
) -> FormatMatch:
    return FormatMatch(
        so_far.position + used,
        so_far.key if is_value else (*so_far.key, saved),
        (*so_far.value, saved) if is_value else so_far.value,
        (*so_far.saved, saved),
        (*so_far.params, (name, saved)) if name else so_far.params,
        (*so_far.places, len(so_far.saved)) if name else so_far.places,
        so_far.keywords + (("",) if name else (saved,)) * used,
    )


def sizes_of(reading: FormatMatch) -> Iterator[tuple[int, int, bool]]:
    """Yield sizes of a line: position among its words, kbytes, whether that is in the range.

    A size without a unit, or in cells, is counted unchanged.
    """
    for (name, number), at in zip(reading.params, reading.places, strict=True):
        if name.startswith("kbytes:"):
            kbytes = int(number) * KBYTES.get("".join(reading.saved[at + 1 : at + 2]), 1)
            low, high = map(int, name.removeprefix("kbytes:").split("-"))
            yield at, kbytes, low <= kbytes <= high


def words_of(line: str) -> Tokens:
    """Split a line into its words."""
    return tuple(line.split())


def starts_of(line: str) -> list[int]:
    """Return the offset of each word of a typed line."""
    return [word.start() for word in re.finditer(r"\S+", line)]


Nodes = tuple[FormatNode, ...]
SEVERAL = frozenset({"text", "rest", "acl-matches", "numbers", "ports", "snmp-versions"})
NAMES = frozenset({"interface", "eth-trunk"})
# A word of an interface's name, which can be two words: `vlanif 5`.
INTERFACE = re.compile(r"(?:\d*ge|meth|eth-trunk|vlanif|loopback|null)?[\d/:]*")
ANY_WORDS = frozenset({"text", "rest", "acl-matches", "snmp-versions"})


def overlap(one: Nodes, other: Nodes, *, shortened: bool = False) -> bool:
    """Whether some line matches both formats.

    Two parameters count as equal, also where their ranges are disjoint. shortened: a word of one
    may also be the beginning of a word of other, as a switch takes a keyword that is cut short.
    """
    return _overlap(one, other, shortened, set())


def _overlap(one: Nodes, other: Nodes, shortened: bool, seen: set[tuple[Nodes, Nodes]]) -> bool:
    if (one, other) in seen:
        return False
    seen.add((one, other))
    for a in _from_leaf(one):
        for b in _from_leaf(other):
            if not a or not b:
                if not a and not b:
                    return True
            elif any(_overlap(*rest, shortened, seen) for rest in _after_word(a, b, shortened)):
                return True
    return False


def _from_leaf(nodes: Nodes) -> Iterator[Nodes]:
    """Yield the sequences that a format can begin with: each begins with a word or a parameter."""
    if not nodes or nodes[0].kind in ("word", "param"):
        yield nodes
        return
    node, rest = nodes[0], nodes[1:]
    branches = node.branches
    if node.kind == "implied":
        branches = ((FormatNode("word", node.text),), ())
    elif node.kind == "several":
        branches = (*in_any_order(node), ())
    elif node.kind == "optional":
        branches = (*node.branches, ())
    for branch in branches:
        yield from _from_leaf((*branch, *rest))


def _after_word(one: Nodes, other: Nodes, shortened: bool) -> Iterator[tuple[Nodes, Nodes]]:
    """Yield what remains of both after a word that both take; none if there is no such word."""
    a, b = one[0], other[0]
    if a.kind == b.kind == "word":
        if a.text == b.text or (shortened and b.text.startswith(a.text)):
            yield one[1:], other[1:]
        return
    if a.kind == "word" and not _takes_word(b, a.text):
        return
    if b.kind == "word":
        first = 1 if shortened else len(b.text)
        lengths = range(first, len(b.text) + 1)
        if not any(_takes_word(a, b.text[:length]) for length in lengths):
            return
    yield one[1:], other[1:]
    if _name(a) in SEVERAL | NAMES:
        yield one, other[1:]
    if _name(b) in SEVERAL | NAMES:
        yield one[1:], other


def _takes_word(param: FormatNode, word: str) -> bool:
    name = _name(param)
    if name in NAMES:
        return INTERFACE.fullmatch(word) is not None
    return name in ANY_WORDS or any(True for _ in takes(param.text, (word,)))


def _name(node: FormatNode) -> str:
    return node.text.partition(":")[0] if node.kind == "param" else ""
