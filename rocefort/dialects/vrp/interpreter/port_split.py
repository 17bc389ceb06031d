"""Effect of `port split` on a configuration: interfaces are removed with all lines, others added.

V300R023C00 command reference, `port split`: the port and its configuration are lost, and so are the
parts when the split is cancelled; neither is possible while one of them is in an Eth-Trunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.dialects.vrp.commands.command import SYSTEM
from rocefort.dialects.vrp.commands.format import words_of
from rocefort.dialects.vrp.commands.syntax import Syntax
from rocefort.dialects.vrp.interpreter.tree_edit import Lines, children_at, put_line, remove
from rocefort.dialects.vrp.text.config_tree import ConfigLine
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
