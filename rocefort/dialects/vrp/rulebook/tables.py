"""How routing tables beside the public one, and static routes, go from one text to another."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from annet.annlib.types import Op
from annet.rulebook import common

from rocefort.dialects.vrp.rulebook.logic import Rows, Told, texts

BINDING, ADDRESS = "ip binding vpn-instance ", "ip address "


def anew(diff: Rows, **_: object) -> Told:
    """A binding: the old one goes before a new one comes."""
    yield from ((False, f"undo {row}", None) for row in texts(diff, Op.REMOVED))
    yield from ((True, row, None) for row in texts(diff, Op.ADDED))


def static_route(key: tuple[str, ...], diff: Rows, **_: object) -> Told:
    """A route with another preference or description is made anew; its undo names neither."""
    path = " ".join(key) if key[0][:1].isdigit() else f"vpn-instance {' '.join(key)}"
    if diff[Op.REMOVED]:
        yield bool(diff[Op.ADDED]), f"undo ip route-static {path}", None
    yield from ((True, row, None) for row in texts(diff, Op.ADDED))


def interface_diff(
    old: OrderedDict[str, Any],
    new: OrderedDict[str, Any],
    diff_pre: OrderedDict[str, Any],
    _pops: tuple[str, ...] = (Op.AFFECTED,),
) -> list[common.DiffItem]:
    """Diff of ports that says addresses again where the table changes.

    A binding that comes or goes takes the addresses of its interface away (V300R023C00, `ip
    binding vpn-instance`, "Configuration Impact").
    """
    items: list[common.DiffItem] = common.default_diff(old, new, diff_pre, _pops)
    return [_readdressed(item) if _rebound(item) else item for item in items]


def _rebound(item: common.DiffItem) -> bool:
    return any(c.row.startswith(BINDING) and c.op in (Op.ADDED, Op.REMOVED) for c in item.children)


def _readdressed(item: common.DiffItem) -> common.DiffItem:
    children = []
    for child in item.children:
        if not child.row.startswith(ADDRESS):
            children.append(child)
        elif child.op != Op.REMOVED:  # one that goes is gone with the table
            children.append(child._replace(op=Op.ADDED))
    return item._replace(children=children)
