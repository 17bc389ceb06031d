"""Comparison of a traffic demand with the capacity of a fabric, with and without failures.

The report has a row for each leaf, each spine and the bisection. ECMP splits traffic evenly, so
that a cable is full before the uplinks of its leaf or the bisection are. The most loaded cable
therefore decides, and the rows show its part of the fabric.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, comb

from rocefort.base.errors import Refused
from rocefort.base.progress import tracked
from rocefort.models.network.demand import GBPS_OF_TB_A_DAY, Demand
from rocefort.models.network.network import End, Network, Sources, SwitchRole
from rocefort.validators.capacity.bisection import bisection_gbps
from rocefort.validators.capacity.capacity_results import (
    AfterFailure,
    CapacityReport,
    DemandTotals,
    Kind,
    Use,
)
from rocefort.validators.capacity.link_loads import Loads, PortLoads, loads_of
from rocefort.validators.capacity.symmetry import SymmetryClasses, chosen_groups
from rocefort.validators.capacity.traffic_matrix import DemandMatrix, spread
from rocefort.validators.facts.links import link_gbps
from rocefort.validators.facts.roce_ports import ends_of, is_fabric_link
from rocefort.validators.failures.study import PAIRS, SEED, single_failures
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.underlay import Port
from rocefort.validators.routing_results import Failure

Place = tuple[Kind, str]
BySwitch = Mapping[str, Sequence[Failure]]  # equivalent failures by the switches that they name
BISECTION = "bisection"
MOST_PAIRS = 100_000  # of failures of one study
AUDITED, TOLERANCE = 30, 1e-5  # pairs that are computed beside the first of their kind
DIGITS = 6  # kept of a result, so that the same demand gives the same bytes


@dataclass(frozen=True, slots=True)
class CableLoad:
    """Link between a leaf and a spine."""

    leaf: str
    spine: str
    up: Port  # of the leaf
    down: Port  # of the spine
    gbps: int


@dataclass(frozen=True, slots=True)
class PartLoad:
    """Load of one part: Gb/s out and in, capacity, and its most loaded cable."""

    out: float
    into: float
    gbps: int
    utilisation: float
    fullest: str


@dataclass
class _Worst:
    """Worst load of one part over all failures that do not remove it."""

    utilisation: float
    left: int
    failure: Failure | None = None
    of: str = ""  # the equivalent switch with this failure


def capacity(
    network: Network,
    demand: Demand | None = None,
    sources: Sources | None = None,
    solution: Solution | None = None,
    scope: str | None = None,
) -> CapacityReport:
    """Compare a demand with a fabric; without a demand, report the capacity.

    scope: of failures, as in `chosen_groups`. Raises Refused as `analyse` and `spread` do, and if
    the speed of a cable is not known; BadInput for an unknown scope.
    """
    solved = solution or analyse(network, sources)
    return _CapacityStudy(
        network, demand, loads_of(solved, spread(demand, solved)), scope
    ).capacity()


@dataclass(eq=False)
class _CapacityStudy:
    network: Network
    demand: Demand | None
    loads: Loads
    scope: str | None
    worst: dict[Place, _Worst] = field(default_factory=dict)

    @property
    def spread(self) -> DemandMatrix:
        return self.loads.spread

    @cached_property
    def cables(self) -> tuple[CableLoad, ...]:
        """Links between leaves and spines; both directions have the same speed."""
        return tuple(_cables(self.network))

    @cached_property
    def at(self) -> Mapping[str, Sequence[CableLoad]]:
        """Cables by leaf, and by spine."""
        cables: defaultdict[str, list[CableLoad]] = defaultdict(list)
        for cable in self.cables:
            cables[cable.leaf].append(cable)
            cables[cable.spine].append(cable)
        return cables

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.network.role(SwitchRole.LEAF))

    @cached_property
    def spines(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.network.role(SwitchRole.SPINE))

    @cached_property
    def balance(self) -> Mapping[str, tuple[float, float]]:
        return self.spread.balance()

    def capacity(self) -> CapacityReport:
        """Report of the study."""
        whole = self.loads.whole()
        asking = self._asking(whole, frozenset(), frozenset())
        twins = SymmetryClasses(self.loads.base, self.spread)
        failures = single_failures(self.network, self.loads.solution)
        in_pairs = self.scope == PAIRS
        alike = self._pairs(twins, failures) if in_pairs else tuple(twins.alike(failures))
        chosen = chosen_groups(alike, self.scope, len(self.cables))
        effects = tuple(self._after(group, asking) for group in tracked(chosen.groups, "failures"))
        audit = self._audit(chosen.groups, effects) if in_pairs else ""
        self._share_worst(twins.classes)
        by_first = {group[0]: _by_switch(group) for group in chosen.groups}
        uses = [self._use(place, found, by_first) for place, found in asking.items()]
        uses += self._server_uses()
        fullest = _fullest(asking)
        fits = CapacityReport(
            fabric=self.network.name,
            spines=len(self.spines),
            leaves=len(self.leaves),
            reserved_spines=self.network.reserved.spines if self.network.reserved else None,
            asked=self._demand_totals(whole),
            uses=tuple(uses),
            utilisation=_rounded(fullest.utilisation),
            fullest=fullest.fullest,
            factor=_factor(fullest.utilisation),
            headroom_gbps=self._room(fullest.utilisation, 0),
            failures=effects,
            failures_note=chosen.note,
            seed=chosen.seed,
            pairs=in_pairs,
            audit=audit,
        )
        return fits if in_pairs else fits.model_copy(update=self._needed(fits))

    def _pairs(
        self, twins: SymmetryClasses, singles: Sequence[Failure]
    ) -> tuple[tuple[Failure, ...], ...]:
        pairs = comb(len(singles), 2)
        if pairs > MOST_PAIRS:
            what = (
                f"{len(singles)} cables and switches make {pairs:,} pairs; {MOST_PAIRS:,} at most"
            )
            raise Refused(what, where="--failures 2", how="use --failures single")
        return tuple(twins.alike_pairs(singles))

    def _audit(self, groups: Sequence[Sequence[Failure]], effects: Sequence[AfterFailure]) -> str:
        """Compute further pairs in full, drawn by a seed, and compare them with their kind."""
        drawing = random.Random(SEED)  # noqa: S311 - no secret
        several = [(own, effect) for own, effect in zip(groups, effects, strict=True) if own[1:]]
        chosen = drawing.sample(several, min(AUDITED, len(several)))
        for own, effect in chosen:
            pair = drawing.choice(own[1:])
            carried = self.loads.after(pair)
            down = frozenset((end.device, end.interface) for ends in pair.links for end in ends)
            fullest = _fullest(self._asking(carried, frozenset(pair.nodes), down))
            figures = fullest.utilisation, carried.lost, carried.cut
            expected = effect.utilisation, effect.lost_gbps, effect.cut_gbps
            if any(abs(a - b) > TOLERANCE for a, b in zip(figures, expected, strict=True)):
                what = f"{pair} has another effect than {own[0]}, which is of the same kind"
                raise Refused(what, where="--failures 2", how="report it with the fabric")
        return f"{len(chosen)} of them, drawn with seed {SEED}, computed in full beside their kind"

    def _asking(
        self, carried: PortLoads, dead: frozenset[str], down: frozenset[Port]
    ) -> dict[Place, PartLoad]:
        """Load of each remaining part."""
        loads: dict[Place, PartLoad] = {}
        for kind, names in (("leaf", self.leaves), ("spine", self.spines)):
            for name in names:
                if name not in dead:
                    place: Place = (kind, name)  # type: ignore[assignment]
                    loads[place] = self._of_switch(name, carried, dead, down)
        standing = [leaf for leaf in self.leaves if leaf not in dead]
        uplinks = {leaf: loads["leaf", leaf].gbps for leaf in standing}
        loads["bisection", BISECTION] = self._bisection(uplinks)
        return loads

    def _of_switch(
        self, name: str, carried: PortLoads, dead: frozenset[str], down: frozenset[Port]
    ) -> PartLoad:
        """Load to and from the other layer, over all remaining cables."""
        out = into = fullest = 0.0
        gbps, where = 0, ""
        for cable in self.at.get(name, ()):
            is_leaf = name == cable.leaf
            other = cable.spine if is_leaf else cable.leaf
            if other in dead or cable.up in down or cable.down in down:
                continue
            up, down_ = carried.by_port.get(cable.up, 0.0), carried.by_port.get(cable.down, 0.0)
            out, into = out + (up if is_leaf else down_), into + (down_ if is_leaf else up)
            gbps += cable.gbps
            share = max(up, down_) / cable.gbps
            if share > fullest * (1 + 1e-9):
                fullest, where = share, _cable_words(cable, upwards=up >= down_)
        return PartLoad(out, into, gbps, fullest, where)

    def _bisection(self, uplinks: Mapping[str, int]) -> PartLoad:
        """Load of the half of the leaves with the least uplinks; of equals, the largest senders."""
        sends = {leaf: self.balance.get(leaf, (0.0, 0.0)) for leaf in uplinks}
        order = sorted(uplinks, key=lambda leaf: (uplinks[leaf], -sends[leaf][0], -sends[leaf][1]))
        half = frozenset(order[: len(order) // 2])
        out, into = self.spread.crossing(half, frozenset(uplinks) - half)
        gbps = bisection_gbps(list(uplinks.values())) or 0
        return PartLoad(out, into, gbps, max(out, into) / gbps if gbps else 0.0, "")

    def _after(self, group: Sequence[Failure], whole: Mapping[Place, PartLoad]) -> AfterFailure:
        """Result after one failure of a group; updates the worst load of each part."""
        failure = group[0]
        carried = self.loads.after(failure)
        down = frozenset((end.device, end.interface) for ends in failure.links for end in ends)
        asking = self._asking(carried, frozenset(failure.nodes), down)
        for place, load in asking.items():
            was = whole[place]
            worst = self.worst.setdefault(place, _Worst(was.utilisation, was.gbps, of=place[1]))
            if load.utilisation > worst.utilisation * (1 + 1e-9):
                worst.utilisation, worst.failure = load.utilisation, failure
            worst.left = min(worst.left, load.gbps)
        fullest = _fullest(asking)
        return AfterFailure(
            kind=self._kind(failure),
            failures=tuple(str(one) for one in group),
            at=tuple(dict.fromkeys(name for one in group for name in self._at(one))),
            utilisation=_rounded(fullest.utilisation),
            fullest=fullest.fullest,
            factor=_factor(fullest.utilisation),
            headroom_gbps=self._room(fullest.utilisation, carried.lost + carried.cut),
            bisection=_rounded(asking["bisection", BISECTION].utilisation),
            lost_gbps=_rounded(carried.lost),
            cut_gbps=_rounded(carried.cut),
        )

    def _kind(self, failure: Failure) -> str:
        if len(failure.links) + len(failure.nodes) > 1:
            return "pair"
        if failure.links:
            return "link"
        role = self.network.by_name[failure.nodes[0]].role
        return role.value if role else "switch"

    def _at(self, failure: Failure) -> Iterator[str]:
        """Failed switches, or the leaves of failed links."""
        yield from failure.nodes
        for ends in failure.links:
            leaves = [end.device for end in ends if end.device in self.leaves]
            yield from leaves or [end.device for end in ends]

    def _share_worst(self, classes: Mapping[str, int]) -> None:
        """Copy the worst loads between equivalent switches."""
        best: dict[tuple[Kind, int], _Worst] = {}
        for (kind, name), worst in self.worst.items():
            key = kind, classes.get(name, -1)
            highest = best.setdefault(key, worst)
            if worst.utilisation > highest.utilisation * (1 + 1e-9):
                best[key] = replace(worst, left=min(worst.left, highest.left))
            highest = best[key]
            highest.left = min(highest.left, worst.left)
        for kind, name in self.worst:
            self.worst[kind, name] = best[kind, classes.get(name, -1)]

    def _use(self, place: Place, load: PartLoad, groups: Mapping[Failure, BySwitch]) -> Use:
        worst = self.worst.get(place)
        shown = _swapped(worst, place[1], groups) if worst else None
        return _use(place, load, worst, str(shown or ""))

    def _server_uses(self) -> Iterator[Use]:
        """Load of each leaf's server ports, which no other failure changes."""
        demand = self.spread.by_server()
        by_leaf: defaultdict[str, list[str]] = defaultdict(list)
        for name, server in self.spread.servers.items():
            by_leaf[server.port.device].append(name)
        for leaf in self.leaves:
            names = by_leaf.get(leaf, [])
            speeds = {name: self.spread.servers[name].speed_gbps for name in names}
            shares = {name: max(demand[name]) / speeds[name] for name in names if speeds[name]}
            top = max(shares, key=lambda name: (_rounded(shares[name]), name), default="")
            load = PartLoad(
                sum(demand[name][0] for name in names),
                sum(demand[name][1] for name in names),
                sum(speeds.values()),
                shares.get(top, 0.0),
                top if shares.get(top) else "",
            )
            yield _use(("servers", leaf), load, _Worst(load.utilisation, load.gbps))

    def _demand_totals(self, whole: PortLoads) -> DemandTotals | None:
        demand = self.demand
        if demand is None:
            return None
        cut = whole.cut + sum(self.spread.cut.values())
        first = min(self.spread.cut, default=None)
        daily, busiest = _day(demand.daily, demand.peak), _day(demand.busiest_day, demand.peak)
        return DemandTotals(
            name=demand.demand,
            source=demand.source or "",
            assumed=demand.assumed,
            peak_gbps=_rounded(demand.peak),
            daily_tb=demand.daily,
            daily_gbps=daily[0],
            daily_hours=daily[1],
            busiest_tb=demand.busiest_day,
            busiest_gbps=busiest[0],
            busiest_hours=busiest[1],
            flows=tuple((one.words, _rounded(demand.rate_of(one))) for one in demand.all_flows),
            no_path_gbps=_rounded(cut),
            no_path=" to ".join(first) if first else "",
        )

    def _room(self, utilisation: float, gone: float) -> float | None:
        """Gb/s by which the demand with a path may grow; negative: excess demand."""
        if self.demand is None or not utilisation:
            return None
        flows = sum(self.demand.rate_of(flow) for flow in self.demand.all_flows)
        return _rounded((flows - gone) * (1 / utilisation - 1))

    def _needed(self, report: CapacityReport) -> dict[str, int]:
        """Number of spines that would carry the demand, if every leaf has equal links to all."""
        pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for cable in self.cables:
            pairs[cable.leaf, cable.spine].append(cable.gbps)
        alike = {tuple(sorted(speeds)) for speeds in pairs.values()}
        if len(alike) != 1 or len(pairs) != report.leaves * report.spines:
            return {}
        needed = ceil(_rounded(report.utilisation * report.spines))
        spines: dict[str, int] = {}
        if report.utilisation > 1:
            spines["spines_needed"] = needed
        if report.utilisation and any(not one.fits for one in report.failures):
            spines["spines_needed_after"] = needed + 1
        return spines


def _cables(network: Network) -> Iterator[CableLoad]:
    leaves = {node.name for node in network.role(SwitchRole.LEAF)}
    for link in network.links or ():
        if not is_fabric_link(network, link):
            continue
        gbps = link_gbps(network, link)
        if not gbps:
            what = "the speed of this cable is not known, so its capacity is not known"
            raise Refused(what, where=f"{link.a} - {link.b}", how="name the hardware of its ends")
        for near, far in ends_of(link):
            if near.device in leaves:
                yield CableLoad(near.device, far.device, _port(near), _port(far), gbps)


def _port(end: End) -> Port:
    return end.device, end.interface


def _cable_words(cable: CableLoad, *, upwards: bool) -> str:
    near, far = (cable.up, cable.spine) if upwards else (cable.down, cable.leaf)
    return f"{near[0]} {near[1]} to {far}"


def _fullest(asking: Mapping[Place, PartLoad]) -> PartLoad:
    """Load of the leaf with the most loaded cable; every cable belongs to a leaf."""
    leaves = [load for (kind, _), load in asking.items() if kind == "leaf"]
    none = PartLoad(0, 0, 0, 0, "")
    return max(leaves, key=lambda load: _rounded(load.utilisation), default=none)


def _use(place: Place, part: PartLoad, worst: _Worst | None, failure: str = "") -> Use:
    load, share = max(part.out, part.into), part.utilisation
    return Use(
        kind=place[0],
        name=place[1],
        out_gbps=_rounded(part.out),
        in_gbps=_rounded(part.into),
        capacity_gbps=part.gbps,
        utilisation=_rounded(share),
        headroom_gbps=_rounded(load * (1 / share - 1)) if share else part.gbps,
        factor=_factor(share),
        fullest=part.fullest,
        left_gbps=worst.left if worst else None,
        after=_rounded(worst.utilisation) if worst else None,
        failure=failure,
    )


def _by_switch(group: Sequence[Failure]) -> BySwitch:
    failures: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in group:
        for name in _names(failure):
            failures[name].append(failure)
    return failures


def _swapped(worst: _Worst, name: str, groups: Mapping[Failure, BySwitch]) -> Failure | None:
    """Failure that has the effect on a switch that the noted one has on its equivalent."""
    noted, twin = worst.failure, worst.of
    if noted is None:
        return None
    here, there = twin in _names(noted), name in _names(noted)
    if here == there:
        return noted
    alike = groups[noted][name if here else twin]
    fitting = (f for f in alike if (name in _names(f), twin in _names(f)) == (here, there))
    return next(fitting, noted)  # of pairs, both switches may be in all


def _names(failure: Failure) -> set[str]:
    return {*failure.nodes, *(end.device for ends in failure.links for end in ends)}


def _factor(utilisation: float) -> float | None:
    return _rounded(1 / utilisation) if utilisation else None


def _day(volume_tb: float | None, peak_gbps: float) -> tuple[float | None, float | None]:
    """Average Gb/s of a day's volume, and the hours at peak rate that it needs."""
    if volume_tb is None:
        return None, None
    average = volume_tb * GBPS_OF_TB_A_DAY
    return _rounded(average), _rounded(24 * average / peak_gbps)


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0
