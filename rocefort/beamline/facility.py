"""Beamlines of a facility: their list, and what failures and pauses do to one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.base.progress import tracked
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.models.base import Frozen
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.network.beamlines import (
    ExpectedRate,
    expected_rates,
    pairs_of,
    receivers_of,
)
from rocefort.models.network.demand import Demand, beamline_flows, members
from rocefort.models.network.network import End, Network, SwitchRole
from rocefort.validators.capacity.link_loads import Loads, PortLoads, loads_of
from rocefort.validators.capacity.pauses import PausedLink, PauseSpread, Sending, pause_spread
from rocefort.validators.capacity.symmetry import SymmetryClasses
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.failures.study import single_failures
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing_results import Failure
from rocefort.verification.capacity import demand_of

DIGITS = 6


class BeamlineRow(Frozen):
    """Beamline in a list. Gb/s of its raw data; sent_gbps: once for each data path."""

    id: int
    name: str
    leaf: str
    ports: tuple[str, ...]
    segment: str
    transport: str
    peak_gbps: float
    average_gbps: float
    sent_gbps: float
    sends_to: tuple[str, ...]
    runs: str | None = None
    owner: str | None = None
    assumed: tuple[str, ...] = ()


class Facility(Frozen):
    """Beamlines of a fabric. published_gbps: peak in the demand.yaml beside it, if there is one."""

    fabric: str
    beamlines: tuple[BeamlineRow, ...]
    published_gbps: float | None = None


class ListedDetector(Frozen):
    """Detector of a beamline; burst and period in ms, None: it sends always."""

    name: str
    rate_gbps: float
    average_gbps: float
    burst_ms: float | None = None
    period_ms: float | None = None


class PathStep(Frozen):
    """Part of a beamline's path: the cables of one layer, and the load on the fullest of them.

    gbps: of the beamline, over all cables. utilisation: of the fullest cable, by all demand.
    """

    between: str
    cables: int
    gbps: float
    utilisation: float
    fullest: str


class FailureShare(Frozen):
    """Share of its peak that a beamline keeps after single failures with the same effect."""

    kind: str
    failures: tuple[str, ...]
    at: tuple[str, ...]
    share: float
    gbps: float
    fullest: str


class Stop(Frozen):
    """Group of senders that can be stopped, or can stop: by a pause of a link."""

    name: str
    link: str
    congested: str


class RdmaPair(Frozen):
    """Pair for an RDMA test, with the least bandwidth that must come through, Gb/s."""

    client: str
    server: str
    gbps: float


class BeamlineView(BeamlineRow):
    """Beamline with its path, its share after failures, and pauses.

    whole_share: without a failure. stops, stopped_by: only of traffic in the lossless queue.
    """

    fabric: str
    servers: tuple[tuple[str, str, str], ...]  # name, port, address
    detectors: tuple[ListedDetector, ...]
    receivers: int
    path: tuple[PathStep, ...]
    whole_share: float
    failures: tuple[FailureShare, ...]
    stops: tuple[Stop, ...]
    stopped_by: tuple[Stop, ...]
    pairs: tuple[RdmaPair, ...]
    expected: tuple[ExpectedRate, ...]
    latency_us: float


def facility_of(fabric: Path) -> Facility:
    """List the beamlines of a fabric."""
    derived = derive(fabric)
    rows = tuple(BeamlineRow(**_row(beamline)) for beamline in derived.network.beamlines)
    given = demand_of(fabric, None, derived.network)
    published = given.demand.peak if given.demand and given.file else None
    return Facility(fabric=derived.network.name, beamlines=rows, published_gbps=published)


def _row(beamline: Beamline) -> dict[str, object]:
    paths = (
        path.to if path.share == 1 else f"{path.to} ({path.share:.0%})"
        for path in beamline.sends_to
    )
    return {
        "id": beamline.id,
        "name": beamline.name,
        "leaf": beamline.leaf,
        "ports": beamline.ports,
        "segment": beamline.segment,
        "transport": beamline.transport,
        "peak_gbps": _rounded(beamline.peak_gbps),
        "average_gbps": _rounded(beamline.average_gbps),
        "sent_gbps": _rounded(beamline.sent_gbps),
        "sends_to": tuple(paths),
        "runs": beamline.runs,
        "owner": beamline.owner,
        "assumed": beamline.assumed,
    }


def beamline_named(network: Network, name: str) -> Beamline:
    """Return a beamline by its name; raises BadInput."""
    named = {beamline.name: beamline for beamline in network.beamlines}
    if not named:
        how = "add an entry of `beamlines`: docs/how-to/add-beamline.md"
        raise BadInput(f"{network.name} has no beamlines", how=how)
    if name not in named:
        raise BadInput(f"no beamline {name!r}", how=nearest(name, named))
    return named[name]


def view_of(fabric: Path, name: str) -> BeamlineView:
    """Return one beamline with what failures and pauses do to it."""
    derived = derive(fabric)
    beamline = beamline_named(derived.network, name)
    subject = subject_of_derived(derived)
    demand = demand_of(fabric, None, subject.network).demand
    return _View(derived, subject, beamline, demand).view()


@dataclass(eq=False)
class _View:
    derived: DerivedNetwork
    subject: ReadNetwork
    beamline: Beamline
    demand: Demand | None

    @cached_property
    def network(self) -> Network:
        return self.subject.network

    @cached_property
    def solution(self) -> Solution:
        return analyse(self.network, self.subject.sources)

    @cached_property
    def loads(self) -> Loads:
        """Loads of all demand."""
        return loads_of(self.solution, spread(self.demand, self.solution))

    @cached_property
    def own(self) -> Loads:
        """Loads of this beamline alone."""
        flows = tuple(beamline_flows((self.beamline,)))
        peak = sum(flow.peak or 0 for flow in flows)
        demand = Demand.model_construct(demand=self.beamline.name, peak=peak, flows=flows)
        return loads_of(self.solution, spread(demand, self.solution))

    def view(self) -> BeamlineView:
        servers = {server.name: server for server in self.network.servers or ()}
        own = [servers[name] for name in self.beamline.servers]
        rdma = self.derived.fabric.rdma
        share = self._share(self.loads.whole(), self.own.whole())
        pauses = self._pauses()
        return BeamlineView(
            **_row(self.beamline),
            fabric=self.network.name,
            servers=tuple((s.name, s.port.interface, str(s.address)) for s in own),
            detectors=tuple(_detectors(self.beamline)),
            receivers=len(receivers_of(self.network, self.beamline)),
            path=tuple(self._path()),
            whole_share=share[0],
            failures=tuple(self._failures()),
            stops=_stops(pauses.stopped_by(self.beamline.name)) if pauses else (),
            stopped_by=_stops(pauses.stoppers_of(self.beamline.name)) if pauses else (),
            pairs=tuple(
                RdmaPair(
                    client=a.name,
                    server=b.name,
                    gbps=_rounded(rdma.line_rate_fraction * min(a.flow_gbps, b.flow_gbps)),
                )
                for a, b in pairs_of(self.network, self.beamline)
            ),
            expected=expected_rates(self.beamline) if self.beamline.transport == "roce" else (),
            latency_us=rdma.latency_us,
        )

    def _speed(self, port: tuple[str, str]) -> float:
        return self.network.speed_gbps(End(device=port[0], interface=port[1])) or 0

    def _path(self) -> Iterator[PathStep]:
        """Yield the layers that the beamline's traffic passes, with the load of all demand."""
        every, own = self.loads.whole().by_port, self.own.whole().by_port
        roles = {node.name: node.role for node in self.network.nodes}
        layers: dict[str, list[tuple[str, str]]] = {}
        for port, gbps in own.items():
            if gbps > 0:
                up = roles[port[0]] is SwitchRole.LEAF
                layers.setdefault("leaf to spines" if up else "spines to leaves", []).append(port)
        senders = self.own.spread.by_server()
        totals = self.loads.spread.by_server()
        yield self._server_step("servers to leaf", 0, senders, totals)
        for layer in ("leaf to spines", "spines to leaves"):
            ports = layers.get(layer, [])
            if ports:
                use = {port: every.get(port, 0.0) / (self._speed(port) or 1) for port in ports}
                top = max(sorted(ports), key=lambda port: round(use[port], DIGITS))
                yield PathStep(
                    between=layer,
                    cables=len(ports),
                    gbps=_rounded(sum(own[port] for port in ports)),
                    utilisation=_rounded(use[top]),
                    fullest=" ".join(top),
                )
        yield self._server_step("leaves to servers", 1, senders, totals)

    def _server_step(
        self,
        between: str,
        side: int,
        own: Mapping[str, tuple[float, float]],
        totals: Mapping[str, tuple[float, float]],
    ) -> PathStep:
        servers = self.own.spread.servers
        names = [name for name in own if own[name][side] > 0]
        use = {name: totals[name][side] / (servers[name].speed_gbps or 1) for name in names}
        top = max(sorted(names), key=lambda name: round(use[name], DIGITS), default="")
        return PathStep(
            between=between,
            cables=sum(len(servers[name].ports) for name in names),
            gbps=_rounded(sum(own[name][side] for name in names)),
            utilisation=_rounded(use.get(top, 0.0)),
            fullest=top,
        )

    def _share(self, every: PortLoads, own: PortLoads) -> tuple[float, str]:
        """Share of the peak that arrives, and the cable or server port that limits it.

        A full port serves all its demand in proportion, so that the fullest port of the path
        decides.
        """
        sent = self.beamline.sent_gbps
        lowest, limit = 1.0, ""
        for port, gbps in sorted(own.by_port.items()):
            load = every.by_port.get(port, 0.0)
            if gbps > 0 and load > self._speed(port) and self._speed(port) / load < lowest:
                lowest, limit = self._speed(port) / load, " ".join(port)
        own_servers, totals = self.own.spread.by_server(), self.loads.spread.by_server()
        for name, rates in sorted(own_servers.items()):
            speed = self.own.spread.servers[name].speed_gbps
            for side in (0, 1):
                load = totals[name][side]
                if rates[side] > 0 and load > speed and speed / load < lowest:
                    lowest, limit = speed / load, f"port of {name}"
        cut = own.cut + sum(self.own.spread.cut.values())
        arriving = max(0.0, (sent - own.lost - cut) / sent)
        return _rounded(arriving * lowest), limit

    def _failures(self) -> Iterator[FailureShare]:
        singles = single_failures(self.network, self.solution)
        alike = tuple(SymmetryClasses(self.loads.base, self.loads.spread).alike(singles))
        rows: dict[tuple[str, float], list[tuple[Sequence[Failure], str]]] = {}
        for group in tracked(alike, "failures"):
            every, own = self.loads.after(group[0]), self.own.after(group[0])
            share, limit = self._share(every, own)
            rows.setdefault((self._kind(group[0]), share), []).append((group, limit))
        for (kind, share), groups in sorted(rows.items(), key=lambda row: (row[0][1], row[0][0])):
            failures = [failure for group, _ in groups for failure in group]
            yield FailureShare(
                kind=kind,
                failures=tuple(map(str, failures)),
                at=tuple(dict.fromkeys(self._at(failures, kind))),
                share=share,
                gbps=_rounded(share * self.beamline.sent_gbps),
                fullest=groups[0][1],
            )

    def _kind(self, failure: Failure) -> str:
        if failure.links:
            return "link"
        role = self.network.by_name[failure.nodes[0]].role
        return role.value if role else "switch"

    def _at(self, failures: Sequence[Failure], kind: str) -> Iterator[str]:
        leaves = {node.name for node in self.network.role(SwitchRole.LEAF)}
        for failure in failures:
            yield from failure.nodes
            for ends in failure.links if kind == "link" else ():
                yield from (end.device for end in ends if end.device in leaves)

    def _pauses(self) -> PauseSpread | None:
        """Spread of pauses between beamlines and the other flows of the demand."""
        if self.beamline.transport != "roce":
            return None
        groups: dict[str, list[Sending]] = {}
        for flow in self.demand.flows if self.demand else ():
            senders = tuple(s.name for s in members(flow.senders, self.network))
            receivers = tuple(s.name for s in members(flow.receivers, self.network))
            owner = next(
                (b.name for b in self.network.beamlines if b.servers == senders), flow.words
            )
            groups.setdefault(owner, []).append(Sending(senders, receivers))
        return pause_spread(self.solution, groups)


def _detectors(beamline: Beamline) -> Iterator[ListedDetector]:
    for detector in beamline.detectors:
        yield ListedDetector(
            name=detector.name,
            rate_gbps=_rounded(detector.rate),
            average_gbps=_rounded(detector.average_gbps),
            burst_ms=detector.burst_ms,
            period_ms=detector.period_ms,
        )


def _stops(stopped: Mapping[str, PausedLink]) -> tuple[Stop, ...]:
    return tuple(
        Stop(name=name, link=" > ".join(one.link), congested=" > ".join(one.congested))
        for name, one in stopped.items()
    )


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0
