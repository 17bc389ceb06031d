"""Lines of the command catalogue: every row in each of its forms, with a value for each parameter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import FormatNode, parse_format

VALUES = {
    "ip": "10.0.0.1",
    "mask": "255.255.255.0",
    "name": "NAME",
    "other": "word",
    "cipher": "secret",
    "peer": "10.0.0.1",
    "group": "SPINE",
    "asn": "65001",
    "interface": "100GE1/0/1",
    "ports": "100GE1/0/1",
    "split-type": "4*25GE",
    "snmp-versions": "v3",
    "eth-trunk": "Eth-Trunk1",
    "text": "words",
    "acl-matches": "udp",
}


def samples(row: Row) -> Iterator[str]:
    """Yield lines of the row, one for each choice of its alternatives and optional parts."""
    for words in _sequences(row.nodes):
        yield " ".join(words)


def undo_samples(row: Row) -> Iterator[str]:
    """Yield commands that undo lines of the row, one for each choice of each undo format."""
    for form in row.undo or (row.format,):
        for words in _sequences(parse_format(form.removesuffix(" *"))):
            yield " ".join(("undo", *words))


def _sequences(nodes: tuple[FormatNode, ...]) -> Iterator[tuple[str, ...]]:
    for parts in product(*(tuple(_choices(node)) for node in nodes)):
        yield tuple(word for part in parts for word in part)


def _choices(node: FormatNode) -> Iterator[tuple[str, ...]]:
    if node.kind in ("word", "implied"):
        yield (node.text,)
    elif node.kind == "param":
        yield (_value(node.text),)
    else:
        if node.kind == "optional":
            yield ()
        for branch in node.branches:
            yield from _sequences(branch)


def _value(name: str) -> str:
    """Return a value of a parameter: the lowest of a range, or a size that fits each unit."""
    kind, _, limits = name.partition(":")
    if kind == "kbytes":
        return limits.partition("-")[2]
    if kind in VALUES:
        return VALUES[kind]
    return (limits if kind == "numbers" else kind).partition("-")[0]
