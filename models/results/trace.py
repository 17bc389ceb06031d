"""Paths of packets through a fabric: every equal path, hop by hop, and its end."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Where


class FilterDecision(Frozen):
    """Decision of a gateway's filter on a flow; rule None: no rule matches, so it passes."""

    interface: str
    direction: Literal["inbound", "outbound"]
    acl: str
    rule: int | None
    permitted: bool
    where: Where


class Hop(Frozen):
    """One switch on a path. None: not applicable, as the VLAN of a routed port."""

    device: str
    enters: str | None = None  # interface
    vlan: int | None = None
    gateway: str | None = None  # interface that routes for the VLAN
    judged: tuple[FilterDecision, ...] = ()
    by: Literal["switched", "connected", "static", "bgp"] | None = None
    prefix: IPv4Network | None = None  # of the route
    next_hops: tuple[IPv4Address, ...] = ()  # all equal ones
    next_hop: IPv4Address | None = None  # of this path
    leaves: str | None = None  # interface

    @property
    def width(self) -> int:
        """ECMP width."""
        return len(self.next_hops)


class TracePath(Frozen):
    """One path; reason: why it ends there, empty at the destination."""

    hops: tuple[Hop, ...]
    delivered: bool
    reason: str = ""
    where: Where = Where()  # place of the reason
    leaves_by: str | None = None  # exit


class Endpoint(Frozen):
    """End of a trace: a server, a switch's address, or outside; then `devices` is empty."""

    name: str
    address: IPv4Address
    server: bool = False
    devices: tuple[str, ...] = ()  # its switch, or the switch itself


class Trace(Frozen):
    """All equal paths between two ends."""

    source: Endpoint
    destination: Endpoint
    flow: Flow
    down: tuple[str, ...] = ()  # objects that were taken down before
    paths: tuple[TracePath, ...]
    whole: bool = True  # False: there are more paths than are listed

    @property
    def delivered(self) -> bool:
        """Whether all paths deliver."""
        return all(path.delivered for path in self.paths)
