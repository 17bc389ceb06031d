"""State of a twin: its status, the path of a flow through it, and its tables."""

from __future__ import annotations

from datetime import datetime
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.base import Frozen
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT


class LabStatus(Frozen):
    """Status of one lab. whole: brought up without interruption; sessions: that should be up."""

    name: str
    fabric: str
    whole: bool
    started: datetime
    frr: str = ""
    lacks: tuple[str, ...] = ()  # missing kernel features, and what is left out because of them
    switches: int = 0
    servers: int = 0
    cables: int = 0
    sessions: int = 0
    established: int = 0
    guests: tuple[str, ...] = ()  # servers that QEMU runs, each with its address
    connections: str = ""  # file with the connections to its switches
    wrong: tuple[str, ...] = ()  # sessions that are down, daemons that ended, faults that were made


class LabHop(Frozen):
    """Node on a flow's path, with the interfaces that it enters and leaves."""

    node: str
    arrives: str = ""
    leaves: str = ""
    via: IPv4Address | None = None  # next hop, if any


class LabTrace(Frozen):
    """Path of a flow by the kernels' tables. stopped: why it does not arrive."""

    source: IPv4Address
    destination: IPv4Address
    source_port: int = ENTROPY_PORT
    destination_port: int = ROCE_PORT
    hops: tuple[LabHop, ...]
    stopped: str = ""


class LabRoute(Frozen):
    """Route of a kernel; no next hop: connected, or dropped."""

    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...] = ()


class SwitchTables(Frozen):
    """Tables of one switch: its kernel's routes, and the state of BGP sessions by peer."""

    name: str
    routes: tuple[LabRoute, ...]
    sessions: dict[str, str]


class LabSnapshot(Frozen):
    """Tables of all switches of a lab at one time."""

    lab: str
    fabric: str
    at: datetime
    switches: tuple[SwitchTables, ...]
