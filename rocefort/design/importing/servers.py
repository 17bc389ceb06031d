"""Servers from the access ports of leaves: by a port's description, and its Eth-Trunk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.design.importing.links import SpeedOf, kind_of
from rocefort.design.importing.notes import Data, Notes, Source, writable
from rocefort.models.base import LONGEST_NAME, NAME
from rocefort.models.bond import MANUAL, trunk_number
from rocefort.models.breakout import whole_port
from rocefort.models.fabric_types import PORT_NAME
from rocefort.models.hardware import Hardware
from rocefort.models.interface import Interface

TO = "to "  # begins the description of a server's port that derivation writes


@dataclass(frozen=True)
class Place:
    """A leaf as servers see it: its hardware, the segments it serves, the ports in other use."""

    source: Source
    hardware: Hardware
    segments: Mapping[int, str]  # by VLAN
    used: Collection[str]


@dataclass(frozen=True, slots=True)
class Carried:
    """A server's interface with the ports that its cables end at."""

    leaf: str
    interface: Interface
    ports: tuple[Interface, ...]
    segment: str


def carried(place: Place) -> Iterator[Carried]:
    """Access ports and Eth-Trunks of a leaf that a server can be on, in order."""
    device, kept = place.source.device, set(place.hardware.fabric_port_names())
    known = set(place.hardware.port_names()) - kept
    for interface in device.interfaces:
        segment = place.segments.get(interface.access_vlan or 0)
        switched = not interface.routed and interface.link_type == "access"
        if segment is None or not switched or interface.eth_trunk is not None:
            continue
        number = trunk_number(interface.name)
        ports = (interface,) if number is None else device.members.get(number, ())
        usable = all(
            re.fullmatch(PORT_NAME, port.name, re.ASCII) is not None
            and whole_port(port.name) in known
            and port.name not in place.used
            for port in ports
        )
        if ports and usable:
            yield Carried(place.source.name, interface, ports, segment)


def servers_of(
    found: Sequence[Carried], switches: Collection[str], speed: SpeedOf, notes: Notes
) -> list[Data]:
    """Servers of a fabric, each with a name of its own."""
    names = {name.lower() for name in switches}
    rows: list[Data] = []
    for index, one in enumerate(found):
        description = one.interface.description
        name = _name(one, names)
        names.add(name.lower())
        row: Data = {"name": name, "leaf": one.leaf}
        if description is None:
            notes.assume(("servers", index, "name"), "its port has no description")
        row |= _ports(one)
        row["segment"] = one.segment
        if description != f"{TO}{name}" and writable(description):
            row["description"] = description
        if not any(port.pfc for port in one.ports):
            row["roce"] = False
        if kind := server_kind(one, speed):
            row["cable"] = kind
        rows.append(row)
    return rows


def server_kind(one: Carried, speed: SpeedOf) -> Data | None:
    """What the cable of a server is, by its first port."""
    return kind_of(one.ports[0], speed(one.leaf, one.ports[0].name))


def _ports(one: Carried) -> Data:
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


def _name(one: Carried, taken: Collection[str]) -> str:
    """`to NAME` or `NAME` of the description; else one of leaf and port."""
    said = (one.interface.description or "").removeprefix(TO)
    place = re.sub(r"[^A-Za-z0-9]+", "-", one.interface.name)
    fallback = f"{one.leaf}-{place}"[-LONGEST_NAME:].lstrip("-._")
    for name in (said, fallback):
        if NAME.fullmatch(name) and ".." not in name and name.lower() not in taken:
            return name
    number = next(n for n in range(2, 10**6) if f"{fallback[:50]}-{n}".lower() not in taken)
    return f"{fallback[:50]}-{number}"
