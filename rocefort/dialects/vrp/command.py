"""Command formats as the vendor's reference writes them, and how a typed line is held to one.

The notation is the reference's own, with three additions:

    mtu ( <46-9600> )            what stands in ( ) is the value; the other words are the line's key
    acl +number <2000-4999>      +word may be left out; the switch writes it
    size <kbytes:16-30720> { kbytes | mbytes }      a range in kbytes, whatever the unit
    port link-type { access | trunk } , peer <peer> as-number ( <asn> ) , undo x [ <name> ]

So two lines with one key overwrite each other, and lines with different keys stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache

from rocefort.dialects.vrp.parameters import Tokens, takes
from rocefort.dialects.vrp.parsing.arguments import KBYTES


@dataclass(frozen=True, slots=True)
class Node:
    """One element of a format: a word, a parameter, or a group of alternatives of sequences."""

    kind: str  # word, implied, param, group, optional, value
    text: str = ""
    branches: tuple[tuple[Node, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a line fits a format: the words that are its key, its value, its named parameters."""

    position: int = 0
    key: Tokens = ()
    value: Tokens = ()
    saved: Tokens = ()
    params: tuple[tuple[str, str], ...] = ()
    places: tuple[int, ...] = ()  # of each parameter among the saved words
    words: int = 0  # literal words; the format with the most of them is the most specific

    @property
    def text(self) -> str:
        """The line as the switch saves it."""
        return " ".join(self.saved)


@dataclass(slots=True)
class Trace:
    """The furthest word at which formats still fitted, and what they wanted there."""

    position: int = -1
    wanted: set[str] = field(default_factory=set)

    def want(self, position: int, what: str) -> None:
        """Note that `what` was wanted at a word; only the furthest word counts."""
        if position > self.position:
            self.position, self.wanted = position, set()
        if position == self.position:
            self.wanted.add(what)


@cache
def parse_format(text: str) -> tuple[Node, ...]:
    """Read a format into nodes; the table is the programmer's, so errors are ValueError."""
    words = text.split()
    branches, position = _branches(words, 0)
    if position != len(words) or len(branches) != 1:
        raise ValueError(f"brackets do not pair in {text!r}")
    return branches[0]


GROUPS = {"{": ("group", "}"), "[": ("optional", "]"), "(": ("value", ")")}


def _branches(words: list[str], position: int) -> tuple[tuple[tuple[Node, ...], ...], int]:
    branches: list[tuple[Node, ...]] = []
    nodes: list[Node] = []
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
            nodes.append(Node(kind, branches=inner))
        else:
            nodes.append(_leaf(word))
    return (*branches, tuple(nodes)), position


def _leaf(word: str) -> Node:
    if word.startswith("<"):
        return Node("param", word[1:-1])
    return Node("implied", word[1:]) if word.startswith("+") else Node("word", word)


def read_all(nodes: tuple[Node, ...], tokens: Tokens, trace: Trace) -> Iterator[Reading]:
    """Yield every way in which all the words fit the format."""
    for reading in _walk(nodes, tokens, Reading(), trace, is_value=False):
        if reading.position == len(tokens):
            yield reading
        else:
            trace.want(reading.position, "end")


def _walk(
    nodes: tuple[Node, ...], tokens: Tokens, so_far: Reading, trace: Trace, *, is_value: bool
) -> Iterator[Reading]:
    if not nodes:
        yield so_far
        return
    for reading in _step(nodes[0], tokens, so_far, trace, is_value):
        yield from _walk(nodes[1:], tokens, reading, trace, is_value=is_value)


def _step(
    node: Node, tokens: Tokens, so_far: Reading, trace: Trace, is_value: bool
) -> Iterator[Reading]:
    if node.kind == "param":
        yield from _param(node, tokens, so_far, trace, is_value)
    elif node.kind in ("word", "implied"):
        yield from _word(node, tokens, so_far, trace, is_value)
    else:
        for branch in node.branches:
            inside = is_value or node.kind == "value"
            yield from _walk(branch, tokens, so_far, trace, is_value=inside)
        if node.kind == "optional":
            yield so_far


def _word(
    node: Node, tokens: Tokens, so_far: Reading, trace: Trace, is_value: bool
) -> Iterator[Reading]:
    at = so_far.position
    if at < len(tokens) and tokens[at].casefold() == node.text:
        yield _taken(so_far, 1, node.text, is_value)
    elif node.kind == "implied":
        yield _taken(so_far, 0, node.text, is_value)
    else:
        trace.want(at, "word")


def _param(
    node: Node, tokens: Tokens, so_far: Reading, trace: Trace, is_value: bool
) -> Iterator[Reading]:
    fitted = False
    for used, saved in takes(node.text, tokens[so_far.position :]):
        fitted = True
        yield _taken(so_far, used, saved, is_value, node.text)
    if not fitted:
        trace.want(so_far.position, "param")


def _taken(so_far: Reading, used: int, saved: str, is_value: bool, name: str = "") -> Reading:
    return Reading(
        so_far.position + used,
        so_far.key if is_value else (*so_far.key, saved),
        (*so_far.value, saved) if is_value else so_far.value,
        (*so_far.saved, saved),
        (*so_far.params, (name, saved)) if name else so_far.params,
        (*so_far.places, len(so_far.saved)) if name else so_far.places,
        so_far.words + (used if not name else 0),
    )


def sizes_of(reading: Reading) -> Iterator[tuple[int, int, bool]]:
    """Sizes of a line: place among its words, kbytes, whether that is in the range.

    One without a unit, or in cells, is counted as it is.
    """
    for (name, number), at in zip(reading.params, reading.places, strict=True):
        if name.startswith("kbytes:"):
            kbytes = int(number) * KBYTES.get("".join(reading.saved[at + 1 : at + 2]), 1)
            low, high = map(int, name.removeprefix("kbytes:").split("-"))
            yield at, kbytes, low <= kbytes <= high


@lru_cache(maxsize=65536)
def words_of(line: str) -> Tokens:
    """Split a line into its words."""
    return tuple(line.split())
