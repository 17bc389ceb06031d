"""Effects of `port split` on a patch: interfaces that vanish with their lines, and what follows.

A split port, and the parts of a port that is made whole again, are removed with their lines
(V300R023C00, `port split`): no line of them is undone separately, except their Eth-Trunk, which
they must leave before. In V200 `port split refresh` makes the switch apply the splits (annet's
rulebook for Huawei, which sends it to all CE8800 except CE8851 and CE8875; V300 does without).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from rocefort.dialects.vrp.commands.syntax import Syntax, family_of
from rocefort.dialects.vrp.interpreter.port_split import HEAD
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.hardware.media import parts_of

REFRESH = "port split refresh"
REFRESHED = frozenset({SyntaxFamily.V200})
ConfigRows = OrderedDict[str, Any]


def _splits(rows: ConfigRows) -> dict[str, str]:
    lines = (row.split() for row in rows if row.startswith(f"{HEAD} "))
    return {words[4]: words[-1] for words in lines}


def vanishing(was: ConfigRows, will: ConfigRows) -> tuple[str, ...]:
    """Return views of the interfaces that the splits between two configurations remove."""
    old, new = _splits(was), _splits(will)
    changed = [port for port in {**old, **new} if old.get(port) != new.get(port)]
    names = (
        name for port in changed for name in (parts_of(port, old[port]) if port in old else (port,))
    )
    return tuple(view for name in names if (view := f"interface {name}") in was)


def rows_without(rows: ConfigRows, views: Sequence[str]) -> ConfigRows:
    """Return the rows without some views."""
    return OrderedDict((row, below) for row, below in rows.items() if row not in views)


def leaving(was: ConfigRows, views: Sequence[str]) -> Iterator[str]:
    """Yield commands that remove interfaces from their Eth-Trunks."""
    for view in views:
        if any(row.startswith("eth-trunk ") for row in was[view]):
            yield from (view, " undo eth-trunk", " quit")


def refreshed(commands: Sequence[str], family: Syntax) -> tuple[str, ...]:
    """Return the commands, with the refresh after the last split."""
    last = max((n for n, line in enumerate(commands, 1) if HEAD in line), default=0)
    if not last or family_of(family) not in REFRESHED:
        return tuple(commands)
    return (*commands[:last], REFRESH, *commands[last:])
