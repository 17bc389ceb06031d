"""What a twin tells of itself: its state, the way of a flow through it, its tables."""

from __future__ import annotations

from datetime import datetime
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.base import Frozen
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT


class LabStatus(Frozen):
    """One lab. whole: brought up, and not broken off; sessions of each switch that should be up."""

    name: str
    fabric: str
    whole: bool
    started: datetime
    frr: str = ""
    lacks: tuple[str, ...] = ()  # of the kernel, and what is left out for it
    switches: int = 0
    servers: int = 0
    cables: int = 0
    sessions: int = 0
    established: int = 0
    guests: tuple[str, ...] = ()  # servers that QEMU runs, each with how it is reached
    connections: str = ""  # file that says how its switches are reached
    wrong: tuple[str, ...] = ()  # sessions that are down, daemons that are dead, what was broken


class LabHop(Frozen):
    """A node on a flow's way: where it came in and goes out, by the switch's own names."""

    node: str
    arrives: str = ""
    leaves: str = ""
    via: IPv4Address | None = None  # next hop, where there is one


class LabTrace(Frozen):
    """The way that a flow takes in the kernels' tables. stopped: why it does not arrive."""

    source: IPv4Address
    destination: IPv4Address
    source_port: int = ENTROPY_PORT
    destination_port: int = ROCE_PORT
    hops: tuple[LabHop, ...]
    stopped: str = ""


class LabRoute(Frozen):
    """One route of a kernel; no next hop: connected, or dropped."""

    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...] = ()


class SwitchTables(Frozen):
    """One switch: its kernel's routes, and the state of each BGP session by peer."""

    name: str
    routes: tuple[LabRoute, ...]
    sessions: dict[str, str]


class LabSnapshot(Frozen):
    """All switches of a lab at one time."""

    lab: str
    fabric: str
    at: datetime
    switches: tuple[SwitchTables, ...]
