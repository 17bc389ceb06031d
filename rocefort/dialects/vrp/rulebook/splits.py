"""`port split` in a patch: another type of split takes an undo of the old one first."""

from __future__ import annotations

from annet.annlib.types import Op

from rocefort.dialects.vrp.rulebook.logic import Rows, Told, texts


def port_split(diff: Rows, **_: object) -> Told:
    """One port."""
    for row in texts(diff, Op.REMOVED):
        yield False, f"undo {row}", None
    for row in texts(diff, Op.ADDED):
        yield True, row, None
