"""Results of a capacity study: demand and capacity of a fabric, also after single failures.

Gb/s are of one direction. A utilisation is a share of capacity: above 1 the demand does not fit. A
factor is 1 / utilisation, the number of times that the whole demand fits; None: no demand.
validators.capacity makes them.
"""

from __future__ import annotations

from typing import Literal

from rocefort.models.base import Frozen

Kind = Literal["leaf", "spine", "bisection", "servers"]


class Use(Frozen):
    """Use of one part of the fabric: its load by the demand, and its capacity.

    leaf: its uplinks, out to the spines, in from them. spine: its links, out to leaves, in from
    them. bisection: out of the half of the leaves with the least uplinks (among equals, those that
    send most), and in. servers: ports of the servers of one leaf, out of the servers, and in.
    utilisation: of the fullest cable, or server port, in it; for the bisection, of the whole.
    after, failure: utilisation after the worst single failure that this part survives, and that
    failure. left_gbps: the least capacity after such a failure. Only failures that were studied
    count; None: no failure was studied.
    """

    kind: Kind
    name: str
    out_gbps: float
    in_gbps: float
    capacity_gbps: int
    utilisation: float
    headroom_gbps: float  # growth of the demand on it that still fits; below 0: the excess
    factor: float | None
    fullest: str = ""  # the cable, or the server
    left_gbps: int | None
    after: float | None
    failure: str = ""


class AfterFailure(Frozen):
    """Capacity of the fabric after single failures, or pairs, with the same effect.

    lost_gbps: demand of the servers of a failed leaf, which have one leaf each. cut_gbps: demand
    of other leaves without a path. Neither counts as congestion. factor: of demand with a path.
    """

    kind: Literal["link", "spine", "leaf", "switch", "pair"]
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
        """Whether all demand of leaves that did not fail has a path and fits."""
        return self.utilisation <= 1 and not self.cut_gbps


class DemandTotals(Frozen):
    """Demand in numbers; a flow without a published source is assumed."""

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

    @property
    def is_partial(self) -> bool:
        """Whether the flows are less than the peak, beyond the rounding of each."""
        return sum(rate for _, rate in self.flows) < self.peak_gbps * (1 - 1e-5)


class CapacityReport(Frozen):
    """Demand compared with a fabric. asked None: no demand, and uses show the capacity only.

    utilisation, factor, headroom_gbps: of the fullest cable, and so of the fabric between leaves.
    failures_note: why not every single failure was studied. seed: of the sample of failures.
    spines_needed: with the same number and speed of links from each leaf. spines_needed_after: to
    fit after a failure, too. Both are None if the demand fits, or if leaf-spine links differ.
    drained: switches that take no traffic. pairs: failures are pairs of cables and switches.
    audit: pairs that were computed beside the first of their kind, with the same result.
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
    drained: tuple[str, ...] = ()
    pairs: bool = False
    audit: str = ""

    def of(self, kind: Kind) -> tuple[Use, ...]:
        """Uses of one kind, in their order."""
        return tuple(use for use in self.uses if use.kind == kind)

    @property
    def servers_utilisation(self) -> float:
        """Utilisation of the fullest server port."""
        return max((use.utilisation for use in self.of("servers")), default=0.0)

    @property
    def fits(self) -> bool:
        """Whether the whole fabric carries the whole demand."""
        cut = self.asked.no_path_gbps if self.asked else 0
        return self.utilisation <= 1 and self.servers_utilisation <= 1 and not cut

    @property
    def worst(self) -> AfterFailure | None:
        """Failure with the most demand without a path, then with the highest utilisation."""
        order = sorted(self.failures, key=lambda one: (-one.cut_gbps, -one.utilisation))
        return order[0] if order else None

    @property
    def most_lost(self) -> AfterFailure | None:
        """Failure with the most demand of its own servers lost; None: no demand is lost."""
        order = sorted(self.failures, key=lambda one: -one.lost_gbps)
        return order[0] if order and order[0].lost_gbps else None
