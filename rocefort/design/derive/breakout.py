"""Split ports of a fabric: checks, names of the parts, and the links on them.

The parts of a port keep its name: 100GE1/0/1 split 4*25GE is 100GE1/0/1:1 to :4. The index of a
part is a function of its port and its number only. So splits of other ports do not change it (law
3). Among fabric ports all first parts and whole ports come first, then all second parts, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.derive.switch_context import Scope
from rocefort.models.fabric.nodes import Switch
from rocefort.models.hardware.hardware import Hardware, expand_ports
from rocefort.models.hardware.media import PortSplit, parts_of, whole_port
from rocefort.models.wording import listing


def breakout_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of split ports: missing, not splittable in this way, or split twice."""
    for path, switch in context.switches():
        hardware = context.catalogue.hardware.get(switch.hardware)
        if switch.breakout and hardware is not None:
            yield from _switch(context, (*path, "breakout"), switch, hardware)


def _switch(
    context: Context, path: YamlPath, switch: Switch, hardware: Hardware
) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for ports, split_type in switch.breakout.items():
        names = expand_ports(ports)
        twice = [name for name in names if name in seen]
        if twice:
            yield context.problem(
                (*path, ports),
                f"{twice[0]} of {switch.name} is split twice, here and by {seen[twice[0]]}",
                "name each port once",
            )
        seen.update(dict.fromkeys(names, ports))
        wrong = next((why for n in names if (why := _cannot(hardware, n, split_type))), None)
        if wrong:
            yield context.problem((*path, ports), *wrong)


def _cannot(hardware: Hardware, port: str, split_type: str) -> tuple[str, str] | None:
    """Return (what, how) if a model cannot split a port in this way."""
    if port not in hardware.port_names():
        return f"{hardware.model} has no port {port}", f"its ports: {', '.join(hardware.ports)}"
    split_types = hardware.splits_of(port)
    if split_type in split_types:
        return None
    if split_types:
        what = f"{port} of {hardware.model} cannot be split {split_type}"
        return what, f"it can be split {' or '.join(split_types)}"
    return (
        f"no source states that {port} of {hardware.model} can be split",
        "leave it whole, or add it to rocefort.breakout of the hardware's file, with the source",
    )


def port_problem(hardware: Hardware, switch: Switch, port: str) -> tuple[str, str] | None:
    """Return (what, how) if a switch has no such port, has it only whole, or only in parts."""
    whole = whole_port(port)
    if whole not in hardware.port_names():
        return f"{hardware.model} has no port {port}", _matching_part(hardware, switch, port)
    split_type = switch.splits.get(whole)
    if split_type is None:
        if port == whole:
            return None
        choices = " or ".join(f"{whole}: {choice}" for choice in hardware.splits_of(whole))
        return (
            f"{port} is a part of {whole}, which {switch.name} does not split",
            f"add {choices} to the breakout of {switch.name}" if choices else f"use {whole}",
        )
    parts = parts_of(whole, split_type)
    if port in parts:
        return None
    what = "and cannot be used whole" if port == whole else f"and has no part {port}"
    return f"{whole} of {switch.name} is split {split_type} {what}", f"use {listing(parts)}"


def outward_port_problem(hardware: Hardware, leaf: Switch, port: str) -> tuple[str, str] | None:
    """Return (what, how) if a leaf has no such port, or reserves it for spines."""
    wrong = port_problem(hardware, leaf, port)
    if wrong is None and whole_port(port) in hardware.fabric_port_names():
        return (
            f"{leaf.name} {port} is reserved for spines",
            f"fabric ports of {hardware.model}: {', '.join(hardware.fabric_ports)}",
        )
    return wrong


def _matching_part(hardware: Hardware, switch: Switch, port: str) -> str:
    """Suggest the part with the port's name for one with the name of its own speed."""
    number, _, part = port.partition("GE")[2].partition(":")
    for whole, split_type in switch.splits.items():
        name = f"{whole}:{part}"
        if part and whole.endswith(f"GE{number}") and name in parts_of(whole, split_type):
            return f"the parts of a port keep its name: {name}"
    return f"its ports: {', '.join(hardware.ports)}"


def splits(scope: Scope) -> tuple[PortSplit, ...]:
    """Splits of a switch."""
    for ports in scope.switch.breakout:
        for name in expand_ports(ports):
            scope.note(f"splits[{name}]", *scope.path, "breakout", ports)
    return tuple(
        PortSplit(port=port, type=split_type) for port, split_type in scope.switch.splits.items()
    )
