"""How rules of ACLs go: one that changes is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annet.annlib.types import Op

Rows = dict[str, list[dict[str, Any]]]


def rule(key: tuple[str, ...], diff: Rows, **_: object) -> Iterator[tuple[bool, str, Any]]:
    """A rule of an ACL by its number; over one that is there a switch lays only what differs.

    So `rule 5 permit udp` over `rule 5 deny ip source 10.0.0.1 0` would keep the source
    (V300R023C00, `rule`, Configuration Impact): it goes first. In between, packets meet the rules
    behind it, but only in the candidate: a commit makes both happen at once.
    """
    if diff[Op.REMOVED]:
        yield bool(diff[Op.ADDED]), f"undo rule {key[0]}", None
    for item in diff[Op.ADDED]:
        yield True, item["row"], None
