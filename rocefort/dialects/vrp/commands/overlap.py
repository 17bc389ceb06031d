"""Common lines of two command formats."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.dialects.vrp.commands.format import FormatNode, in_any_order
from rocefort.dialects.vrp.commands.parameters import takes

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
