"""Answers of a routing engine about a Network, in one form for all engines.

The embedded engine and Batfish both return a RoutingState. It does not contain details that may
differ between engines, so a disagreement is a difference of two values.
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
    """Status of a BGP session, in Batfish's terms."""

    ESTABLISHED = "established"
    NOT_ESTABLISHED = "not-established"
    NOT_COMPATIBLE = "not-compatible"


class BgpSession(Frozen):
    """Configured BGP peer from the view of one device."""

    device: str
    peer: IPv4Address
    status: SessionStatus


class Route(NamedTuple):
    """BGP prefix in the main table of one device with all its next hops, sorted.

    It is a tuple and not a model, because 500 switches have half a million of them.
    """

    device: str
    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...]

    @property
    def width(self) -> int:
        """ECMP width."""
        return len(self.next_hops)


class FlowVerdict(Frozen):
    """Verdict whether every path of a server pair delivers another flow of the policy."""

    source: str
    destination: str
    flow: Flow
    delivered: bool


class RoutingState(Frozen):
    """All answers of one engine, each collection sorted; routes can be lazy."""

    engine: str
    sessions: tuple[BgpSession, ...]
    routes: Annotated[Sequence[Route], BeforeValidator(tuple), PlainSerializer(tuple)]
    reachability: Reachability
    answers: tuple[FlowVerdict, ...] = ()


class NotCertain(Frozen):
    """Numbers of good answers that a line may change whose effect is not certain."""

    sessions: int = 0
    pairs: int = 0
    segment_pairs: int = 0


class Timing(Frozen):
    """Wall-clock time of a service for one question."""

    question: str
    seconds: float


class Failure(Frozen):
    """Cables and switches that fail at the same time."""

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
    expected: int | None = None  # by cabling, if more than `now`; else None


class PairLoss(Frozen):
    """Servers of one leaf that no longer reach those of a segment on another by every path.

    pairs: ordered pairs of servers that were delivered before; 1 if servers are unknown.
    """

    source: str  # leaf
    destination: str  # leaf
    segment: str  # of the destination: its name, or its prefix without a name
    pairs: int
    reason: str
    expected: bool  # cabling alone leaves no path


class FailureEffect(Frozen):
    """Effect of one failure. Losses of a failed switch's own servers are counted, not listed."""

    failure: Failure
    widths: tuple[WidthLoss, ...] = ()
    lost: tuple[PairLoss, ...] = ()
    cut_off: tuple[str, ...] = ()  # leaves that did not fail, without a route to any other leaf
    own_servers: int = 0  # on failed switches
    bisection: float | None = None  # uplinks of the worse half of the leaves, share of all; 0..1
    circle: str = ""  # queues of a cyclic buffer dependency that is now possible

    @property
    def pairs(self) -> int:
        """Pairs of servers lost."""
        return sum(loss.pairs for loss in self.lost)


class FailureStudy(Frozen):
    """Effects of many failures, in order: links, switches, pairs of them."""

    scope: str  # as requested: single, 2, single:N, sample:N
    population: int  # number of failures; `effects` are all of them or a sample
    seed: int | None = None  # of the sample
    circles: str = ""  # why cyclic buffer dependency was not judged, or how it was excluded
    effects: tuple[FailureEffect, ...] = ()
