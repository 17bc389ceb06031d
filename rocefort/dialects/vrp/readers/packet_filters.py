"""Readers of rules of advanced ACLs: their matches."""

from __future__ import annotations

import re

from rocefort.dialects.vrp.readers import arguments
from rocefort.dialects.vrp.readers.arguments import NOT_MODELLED, Part
from rocefort.dialects.vrp.text.acl_words import ORDER, prefix_of, saved_rule
from rocefort.models.device.packet_filters import PortRange

FIELDS = dict(
    zip(
        ORDER,
        ("source", "source_ports", "destination", "destination_ports", "dscp"),
        strict=True,
    )
)
MATCH = re.compile(rf" ({'|'.join(sorted(ORDER, key=len, reverse=True))}) ")


def advanced_rule(acl: Part, number: str, action: str, text: str) -> bool | None:
    """Read a rule; one with more matches than the models have stays unmodelled."""
    saved = saved_rule(text.split())
    values = None if saved is None else _matches(saved)
    if saved is None or values is None:
        return NOT_MODELLED
    index = arguments.number(0, 4294967294, "rule")(number)
    row = acl.row("rules", index, index=index)
    row.set("action", action)
    row.set("protocol", saved.split()[0])
    for field, value in values.items():
        row.set(field, value)
    return None


def _matches(saved: str) -> dict[str, object] | None:
    """Return fields of a rule's matches; None where a wildcard has gaps and names no network."""
    pieces = MATCH.split(f"{saved} ")[1:]
    values: dict[str, object] = {}
    for name, text in zip(pieces[::2], pieces[1::2], strict=True):
        value = _value(name, text.strip())
        if value is None:
            return None
        values[FIELDS[name]] = value
    return values


def _value(name: str, text: str) -> object:
    if name.endswith("-port"):
        _, first, *last = text.split()
        return PortRange(low=int(first), high=int((last or [first])[0]))
    return int(text) if name == "dscp" else prefix_of(text)
