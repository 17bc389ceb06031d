"""What a routing engine answers about a Network: the same questions, whoever answers.

The embedded engine and Batfish both return a RoutingState; what they may differ in stays out of
it, so that a disagreement is a difference of two values.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, PlainSerializer

from rocefort.models.base import Frozen
from rocefort.models.device.packet_filters import Flow
from rocefort.models.network.network import End
from rocefort.models.results.reachability import Reachability


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


class Route(NamedTuple):
    """One BGP prefix in one device's main table with all its next hops, sorted.

    A tuple, and no model, for 500 switches have half a million of them.
    """

    device: str
    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...]

    @property
    def width(self) -> int:
        """ECMP width."""
        return len(self.next_hops)


class FlowVerdict(Frozen):
    """Whether every path of a server pair delivers some other flow that the policy names."""

    source: str
    destination: str
    flow: Flow
    delivered: bool


class RoutingState(Frozen):
    """All answers of one engine, each collection sorted; routes are perhaps made when asked for."""

    engine: str
    sessions: tuple[BgpSession, ...]
    routes: Annotated[Sequence[Route], BeforeValidator(tuple), PlainSerializer(tuple)]
    reachability: Reachability
    answers: tuple[FlowVerdict, ...] = ()


class Timing(Frozen):
    """How long a service took over one question, wall clock."""

    question: str
    seconds: float


class Failure(Frozen):
    """What fails at once: cables and switches."""

    links: tuple[tuple[End, End], ...] = ()
    nodes: tuple[str, ...] = ()

    def __str__(self) -> str:
        cables = (f"{a} - {b}" for a, b in self.links)
        return " and ".join((*cables, *self.nodes))


class WidthLoss(Frozen):
    """Leaves that have fewer equal-cost paths to each of some prefixes of other switches."""

    leaves: tuple[str, ...]
    prefixes: tuple[IPv4Network, ...]
    towards: tuple[str, ...] = ()  # switches that originate them
    was: int
    now: int  # 0: no route
    expected: int | None = None  # by cabling, where that is more than `now`: None, it is not


class PairLoss(Frozen):
    """Servers of one leaf that no longer reach those of a segment on another by every path.

    pairs: ordered pairs of servers that were delivered before; 1 where servers are not known.
    """

    source: str  # leaf
    destination: str  # leaf
    segment: str  # of the destination: its name, or its prefix where no name is known
    pairs: int
    reason: str
    expected: bool  # cabling alone leaves no way


class FailureEffect(Frozen):
    """What one failure costs. Losses of a failed switch's own servers are counted, not listed."""

    failure: Failure
    widths: tuple[WidthLoss, ...] = ()
    lost: tuple[PairLoss, ...] = ()
    cut_off: tuple[str, ...] = ()  # leaves that stand and have no route to any other leaf
    own_servers: int = 0  # on failed switches
    bisection: float | None = None  # uplinks of the worse half of the leaves, share of all; 0..1
    circle: str = ""  # buffers that can now wait for each other

    @property
    def pairs(self) -> int:
        """Pairs of servers lost."""
        return sum(loss.pairs for loss in self.lost)


class FailureStudy(Frozen):
    """Effects of many failures, in order: links, then switches, then pairs of them."""

    scope: str  # as it was asked for: single, 2, single:N, sample:N
    population: int  # how many failures there are of which `effects` are all or a sample
    seed: int | None = None  # of the sample
    circles: str = ""  # why cyclic buffer dependency was not judged, or how it was excluded
    effects: tuple[FailureEffect, ...] = ()
