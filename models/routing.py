"""What a routing engine answers about a Network: the same questions, whoever answers.

The embedded engine and Batfish both return a RoutingState; what they may differ in stays out of
it, so that a disagreement is a difference of two values.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.base import Frozen


class SessionStatus(StrEnum):
    """Batfish's words for a BGP session."""

    ESTABLISHED = "established"
    NOT_ESTABLISHED = "not-established"
    NOT_COMPATIBLE = "not-compatible"


class BgpSession(Frozen):
    """One configured peer as its own device sees it."""

    device: str
    peer: IPv4Address
    status: SessionStatus


class Route(Frozen):
    """One BGP prefix in one device's main table with all its next hops, sorted."""

    device: str
    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...]

    @property
    def width(self) -> int:
        """ECMP width."""
        return len(self.next_hops)


class Reachability(Frozen):
    """Whether every path of a server pair delivers UDP 4791."""

    source: str
    destination: str
    delivered: bool


class RoutingState(Frozen):
    """All answers of one engine, each collection sorted."""

    engine: str
    sessions: tuple[BgpSession, ...]
    routes: tuple[Route, ...]
    reachability: tuple[Reachability, ...]
