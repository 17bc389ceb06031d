"""A version solved beside another one has the same answers as one that is solved by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocefort.models.network import Network
from rocefort.validators.routing import analyse

if TYPE_CHECKING:
    from collections.abc import Callable

    Clos = Callable[..., Network]
    Edits = dict[str, Callable[..., Network]]


@pytest.mark.parametrize(
    ("port", "changes", "spared"),
    [
        ("25GE1/0/1", {"description": "moved"}, True),
        ("100GE1/0/1", {"enabled": False}, False),  # a session goes: nothing is taken over
    ],
)
def test_only_what_differs_is_solved(
    clos: Clos, edits: Edits, port: str, changes: dict[str, object], *, spared: bool
) -> None:
    before = analyse(clos())
    changed = edits["port"](clos(), "leaf1", port, **changes)
    alone, beside = analyse(changed), analyse(changed, near=before)
    assert beside.state == alone.state
    assert beside.classes == alone.classes
    tables = {id(group.table) for group in before.classes}
    assert all((id(group.table) in tables) is spared for group in beside.classes)
