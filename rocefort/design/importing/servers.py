"""Import servers from the access ports of leaves, their descriptions and Eth-Trunks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.design.importing.assumptions import Data, writable
from rocefort.design.importing.exits import ExitPort
from rocefort.design.importing.links import SpeedOf, is_port, kind_of
from rocefort.design.importing.segments import gateways
from rocefort.design.importing.survey import Survey
from rocefort.models.base import LONGEST_NAME, NAME
from rocefort.models.device.eth_trunk import MANUAL, trunk_number
from rocefort.models.device.interface import Interface
from rocefort.models.hardware.breakout import whole_port

TO = "to "  # prefix of the description of a server's port that derivation writes


@dataclass(frozen=True, slots=True)
class AccessInterface:
    """Interface of a server on a leaf, with the ports that its cables end at."""

    leaf: str
    interface: Interface
    ports: tuple[Interface, ...]
    segment: str


def access_interfaces(
    survey: Survey, segments: Mapping[int, str], exit_ports: Sequence[ExitPort]
) -> Iterator[AccessInterface]:
    """Yield access ports and Eth-Trunks of leaves for servers; segments: by VLAN."""
    used = survey.cabled | {(exit_port.leaf, exit_port.port.name) for exit_port in exit_ports}
    for leaf in survey.roles.leaves:
        served, free = gateways(leaf), survey.free_ports(leaf.name)
        for interface in leaf.device.interfaces:
            vlan = interface.access_vlan
            segment = segments.get(vlan or 0) if vlan in served else None
            switched = not interface.routed and interface.link_type == "access"
            if segment is None or not switched or interface.eth_trunk is not None:
                continue
            number = trunk_number(interface.name)
            ports = (interface,) if number is None else leaf.device.members.get(number, ())
            usable = all(
                is_port(port)
                and whole_port(port.name) in free
                and (leaf.name, port.name) not in used
                for port in ports
            )
            if ports and usable:
                yield AccessInterface(leaf.name, interface, ports, segment)


def servers_of(survey: Survey, interfaces: Sequence[AccessInterface]) -> list[Data]:
    """Return servers of a fabric, each with a unique name."""
    names = {name.lower() for name in survey.graph.sources}
    rows: list[Data] = []
    for index, one in enumerate(interfaces):
        description = one.interface.description
        name = _name(one, names)
        names.add(name.lower())
        row: Data = {"name": name, "leaf": one.leaf}
        if description is None:
            survey.notes.assume(("servers", index, "name"), "its port has no description")
        row |= _ports(one)
        row["segment"] = one.segment
        if description != f"{TO}{name}" and writable(description):
            row["description"] = description
        if not any(port.pfc for port in one.ports):
            row["roce"] = False
        if kind := server_kind(one, survey.speed):
            row["cable"] = kind
        rows.append(row)
    return rows


def server_kind(one: AccessInterface, speed: SpeedOf) -> Data | None:
    """Return the kind of a server's cable, by its first port."""
    return kind_of(one.ports[0], speed(one.leaf, one.ports[0].name))


def _ports(one: AccessInterface) -> Data:
    number = trunk_number(one.interface.name)
    if number is None:
        return {"port": one.interface.name}
    bond = one.interface.bond
    row: Data = {"ports": [port.name for port in one.ports]}
    if bond.mode == MANUAL:
        row["mode"] = "manual"
    else:
        row["mode"] = bond.mode
        if bond.mode == "lacp-static" and bond.lacp_timeout == "slow":
            row["timeout"] = "slow"
    if bond.minimum_links > 1:
        row["minimum_links"] = bond.minimum_links
    return {"bond": {**row, "id": number}}


def _name(one: AccessInterface, taken: Collection[str]) -> str:
    """Return the name in a description `to NAME` or `NAME`; else one from leaf and port."""
    described = (one.interface.description or "").removeprefix(TO)
    port_text = re.sub(r"[^A-Za-z0-9]+", "-", one.interface.name)
    fallback = f"{one.leaf}-{port_text}"[-LONGEST_NAME:].lstrip("-._")
    for name in (described, fallback):
        if NAME.fullmatch(name) and ".." not in name and name.lower() not in taken:
            return name
    number = next(n for n in range(2, 10**6) if f"{fallback[:50]}-{n}".lower() not in taken)
    return f"{fallback[:50]}-{number}"
