"""Effect of `port split` on a configuration and on a patch: interfaces go with all lines.

V300R023C00 command reference, `port split`: the port and its configuration are lost, and so are the
parts when the split is cancelled; neither is possible while one of them is in an Eth-Trunk.

A split port, and the parts of a port that is made whole again, are removed with their lines
(V300R023C00, `port split`): no line of them is undone separately, except their Eth-Trunk, which
they must leave before. In V200 `port split refresh` makes the switch apply the splits (annet's
rulebook for Huawei, which sends it to all CE8800 except CE8851 and CE8875; V300 does without).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from rocefort.dialects.vrp.commands.catalogue import Syntax, family_of
from rocefort.dialects.vrp.commands.command import SYSTEM
from rocefort.dialects.vrp.commands.format import words_of
from rocefort.dialects.vrp.interpreter.tree_edit import Lines, children_at, put_line, remove
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.hardware.media import parts_of, whole_port

HEAD = "port split dimension interface"


def split_types(config: Lines) -> dict[str, str]:
    """Return the split ports, with the type of each."""
    lines = (words_of(line.text) for line in config if line.text.startswith(f"{HEAD} "))
    return {words[4]: words[-1] for words in lines}


def is_there(config: Lines, interface: str) -> bool:
    """Whether an interface exists: a part by its port's split, a port unless it is split."""
    port = whole_port(interface)
    split_type = split_types(config).get(port)
    if port == interface:
        return split_type is None
    return split_type is not None and interface in parts_of(port, split_type)


def why_not(config: Lines, ports: Sequence[str]) -> str | None:
    """Return the reason against splitting or unsplitting ports. Own wording: none was found."""
    for port in ports:
        for name in _interfaces(config, port):
            held = children_at(config, (f"interface {name}",))
            if any(line.text.startswith("eth-trunk ") for line in held):
                return f"Error: {name} is a member of an Eth-Trunk."
    return None


def split(config: Lines, ports: Sequence[str], split_type: str, family: Syntax) -> Lines:
    """Split ports, one line each; a port that is split in this way stays unchanged."""
    for port in ports:
        if split_types(config).get(port) != split_type:
            config = _lines_without_port(config, port)
            line = ConfigLine(f"{HEAD} {port} split-type {split_type}")
            config = put_line(config, (), line, SYSTEM, family)
    return config


def unsplit(config: Lines, ports: Sequence[str], split_type: str | None) -> Lines:
    """Make ports whole again; one with another split type stays unchanged."""
    for port in ports:
        current = split_types(config).get(port)
        if current is not None and split_type in (None, current):
            config = _lines_without_port(config, port)
            config = remove(config, (), (f"{HEAD} {port} split-type {current}",))
    return config


def _lines_without_port(config: Lines, port: str) -> Lines:
    return remove(config, (), [f"interface {name}" for name in _interfaces(config, port)])


def _interfaces(config: Lines, port: str) -> Iterator[str]:
    """Yield the current interfaces of a port."""
    split_type = split_types(config).get(port)
    yield from parts_of(port, split_type) if split_type else (port,)


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
