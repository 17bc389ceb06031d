"""What a fabric carries of a demand, whole and after each single failure: results, Gb/s.

Gb/s are of one direction. A utilisation is a share of what there is: above 1 it does not fit. A
factor says how many times the whole demand fits, and is 1 / utilisation; None: nothing is asked.
Made by validators.capacity.
"""

from __future__ import annotations

from typing import Literal

from rocefort.models.base import Frozen

Kind = Literal["leaf", "spine", "bisection", "servers"]


class Use(Frozen):
    """One part of the fabric: what the demand asks of it, and what it has.

    leaf: its uplinks, out to the spines, in from them; spine: its links, out to leaves, in from
    them; bisection: out of the half of the leaves with the least uplinks (of equals, those that
    send most), and in; servers: ports of the servers of one leaf, out of the servers, and in.
    utilisation: of the fullest cable, or server port, in it; of the whole for the bisection.
    after, failure: utilisation after the worst single failure that leaves it standing, and which.
    left_gbps: the least capacity that such a failure leaves. Both of the failures that were
    studied; None: none was.
    """

    kind: Kind
    name: str
    out_gbps: float
    in_gbps: float
    capacity_gbps: int
    utilisation: float
    headroom_gbps: float  # how much more the demand on it may grow; below 0: how much is too much
    factor: float | None
    fullest: str = ""  # the cable, or the server
    left_gbps: int | None
    after: float | None
    failure: str = ""


class AfterFailure(Frozen):
    """What single failures that cost alike leave of the fabric.

    lost_gbps: demand of the servers of a failed leaf, which have one leaf each; cut_gbps: demand
    of standing leaves without a path. Neither counts as congestion. factor: of what has a path.
    """

    kind: Literal["link", "spine", "leaf", "switch"]
    failures: tuple[str, ...]
    at: tuple[str, ...]  # the switches that fail, or the leaves at the links that do
    utilisation: float  # of the fullest cable
    fullest: str
    factor: float | None
    headroom_gbps: float | None  # of the facility's demand that still has a path
    bisection: float
    lost_gbps: float = 0
    cut_gbps: float = 0

    @property
    def fits(self) -> bool:
        """Whether what has a path is carried, and all that could have one has."""
        return self.utilisation <= 1 and not self.cut_gbps


class DemandTotals(Frozen):
    """A demand in numbers; a flow that nobody published is assumed."""

    name: str
    file: str = ""  # where it was read
    source: str = ""
    assumed: tuple[str, ...] = ()
    peak_gbps: float
    daily_tb: float | None = None
    daily_gbps: float | None = None  # average over 24 hours
    daily_hours: float | None = None  # at peak
    busiest_tb: float | None = None
    busiest_gbps: float | None = None
    busiest_hours: float | None = None
    flows: tuple[tuple[str, float], ...]  # words, Gb/s
    no_path_gbps: float = 0  # before any failure: filtered, or without a route
    no_path: str = ""  # the first pair of leaves of it

    @property
    def flows_gbps(self) -> float:
        """All flows together."""
        return round(sum(rate for _, rate in self.flows), 3)


class CapacityReport(Frozen):
    """A demand against a fabric. asked None: nobody gave one, and all uses are of the supply.

    utilisation, factor, headroom_gbps: of the fullest cable, and so of the fabric between leaves.
    failures_note: why not every single failure was studied; seed: of the sample that was.
    spines_needed: with as many links of such speed from each leaf; both None where it fits, or
    leaves and spines are not all linked alike. spines_needed_after: to fit after a failure, too.
    """

    fabric: str
    spines: int
    leaves: int
    reserved_spines: int | None = None
    asked: DemandTotals | None = None
    uses: tuple[Use, ...]
    utilisation: float
    fullest: str
    factor: float | None
    headroom_gbps: float | None
    failures: tuple[AfterFailure, ...]
    failures_note: str = ""
    seed: int | None = None
    spines_needed: int | None = None
    spines_needed_after: int | None = None

    def of(self, kind: Kind) -> tuple[Use, ...]:
        """Uses of one kind, in their order."""
        return tuple(use for use in self.uses if use.kind == kind)

    @property
    def servers_utilisation(self) -> float:
        """Of the fullest server port."""
        return max((use.utilisation for use in self.of("servers")), default=0.0)

    @property
    def fits(self) -> bool:
        """Whether the whole fabric carries all of it."""
        cut = self.asked.no_path_gbps if self.asked else 0
        return self.utilisation <= 1 and self.servers_utilisation <= 1 and not cut

    @property
    def worst(self) -> AfterFailure | None:
        """The failure after which most is cut off, then the fullest cable is the fullest."""
        order = sorted(self.failures, key=lambda one: (-one.cut_gbps, -one.utilisation))
        return order[0] if order else None

    @property
    def most_lost(self) -> AfterFailure | None:
        """The failure that takes most demand with its own servers; None: none takes any."""
        order = sorted(self.failures, key=lambda one: -one.lost_gbps)
        return order[0] if order and order[0].lost_gbps else None
