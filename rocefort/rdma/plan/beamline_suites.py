"""Suites of one beamline: its servers send to their receivers, and its rate must come through.

A round carries the part of the beamline's rate that its senders produce. Where its receivers' ports
take less, as in an incast to one of them, these ports are the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.network.beamlines import (
    ExpectedRate,
    expected_rates,
    receivers_of,
    spread_over_leaves,
)
from rocefort.models.network.network import Server
from rocefort.models.wording import listing
from rocefort.rdma.plan.shared_links import qps_for
from rocefort.rdma.plan.site import LEAST_DURATION_S, RdmaSite, TooFewServers
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round, Suite

USUAL_S = 10
MARGIN = 2  # perftest leaves out a quarter at both ends, so that half of a run is measured
Pair = tuple[Server, Server]


@dataclass(frozen=True)
class BeamlineEnds:
    """Servers of the beamline of a site's options that may be loaded, and their receivers."""

    site: RdmaSite

    @cached_property
    def beamline(self) -> Beamline:
        """The beamline."""
        name = self.site.options.beamline
        return next(one for one in self.site.network.beamlines if one.name == name)

    @cached_property
    def senders(self) -> tuple[Server, ...]:
        """Its servers that may be loaded; raises TooFewServers without one."""
        usable = self.site.servers
        senders = tuple(usable[name] for name in self.beamline.servers if name in usable)
        if not senders:
            what = f"no server of {self.beamline.name} may be loaded"
            raise TooFewServers(what, how=f"name them: --servers {','.join(self.beamline.servers)}")
        return senders

    @cached_property
    def receivers(self) -> Mapping[str, tuple[Server, ...]]:
        """Receivers that may be loaded, by segment of a data path; raises TooFewServers."""
        usable, beamline = self.site.servers, self.beamline
        every = [s for s in receivers_of(self.site.network, beamline) if s.name in usable]
        separate = [s for s in every if all(self.site.are_separate(a, s) for a in self.senders)]
        by_segment = {
            path.to: spread_over_leaves([s for s in separate if s.segment == path.to])
            for path in beamline.sends_to
        }
        if not any(by_segment.values()):
            what = f"no server that {beamline.name} sends to may be loaded"
            segments = listing(path.to for path in beamline.sends_to)
            raise TooFewServers(what, how=f"name servers of {segments}: --servers")
        return {segment: servers for segment, servers in by_segment.items() if servers}

    @cached_property
    def expected(self) -> tuple[ExpectedRate, ...]:
        """Expected rates whose receivers may be loaded."""
        rates = expected_rates(self.beamline)
        return tuple(rate for rate in rates if {*rate.to} <= self.receivers.keys())

    def unmeasured(self) -> Iterator[str]:
        """Yield why not all of the beamline is measured."""
        beamline = self.beamline
        if absent := [name for name in beamline.servers if name not in self.site.servers]:
            what = f"{len(self.senders)} of {len(beamline.servers)} servers of {beamline.name} send"
            yield f"{what}: {listing(absent)} may not be loaded"
        for path in beamline.sends_to:
            if path.to not in self.receivers:
                yield f"{beamline.name} to {path.to}: no server of {path.to} may be loaded"

    def pairs(self, segment: str, shift: int = 0) -> tuple[Pair, ...]:
        """Each sender with a receiver of a segment, from the `shift`th on, in turn."""
        there = self.receivers[segment]
        return tuple(
            (sender, there[(number + shift) % len(there)])
            for number, sender in enumerate(self.senders)
        )

    def run(self, pair: Pair) -> RdmaRun:
        """Run of a pair, so long that half of it is a burst, over enough QPs to use all paths."""
        bursts = [rate.burst_ms for rate in self.expected if rate.burst_ms is not None]
        usual = max(USUAL_S, ceil(MARGIN * max(bursts, default=0) / 1000), LEAST_DURATION_S)
        leaves = [server.port.device for server in pair]
        width = 1 if leaves[0] == leaves[1] else self.site.wiring.width(*leaves)
        qps = self.site.options.qps or qps_for(width)
        return self.site.run(
            Program.WRITE_BW, *pair, qps=qps, duration_s=self.site.duration_s(usual)
        )

    def part_gbps(self, rate: ExpectedRate, pairs: Sequence[Pair]) -> float:
        """Part of a rate that must come through from the senders of pairs to their receivers.

        Each server of a beamline has an equal part. A port takes its line rate, less what
        rdma.line_rate_fraction leaves.
        """
        senders, sinks = {a.name for a, _ in pairs}, {b.name: b.flow_gbps for _, b in pairs}
        sent = rate.gbps * len(senders) / len(self.beamline.servers)
        return min(sent, self.site.rdma.line_rate_fraction * sum(sinks.values()))

    def round(self, rate: ExpectedRate, pairs: Sequence[Pair], note: str, **more: object) -> Round:
        """Round of pairs that send at the same time, with what must come through."""
        each = self.site.round([self.run(pair) for pair in pairs], note, **more)
        return self.with_expected(each, rate, pairs)

    def with_expected(self, each: Round, rate: ExpectedRate, pairs: Sequence[Pair]) -> Round:
        """Return a round with what must come through, if its programs measure that."""
        if any(run.program is not Program.WRITE_BW or run.is_small for run in each.runs):
            return each
        return each.model_copy(
            update={"expected": rate, "expected_gbps": self.part_gbps(rate, pairs)}
        )


def beamline_mesh(site: RdmaSite) -> RdmaPlan:
    """Plan each server of a beamline with each receiver, all its servers at the same time.

    With `covering`, until each leaf with a receiver has had one.
    """
    ends = BeamlineEnds(site)
    rounds = []
    for rate in ends.expected:
        if len(rate.to) > 1:
            continue
        there, count = ends.receivers[rate.to[0]], len(ends.senders)
        leaves = len({server.port.device for server in there})
        shifts = range(0, leaves, count) if site.options.covering else range(len(there))
        for shift in shifts:
            note = f"{ends.beamline.name} to {rate.to[0]}, each server to another one"
            rounds.append(ends.round(rate, ends.pairs(rate.to[0], shift), note))
    return site.plan(Suite.MESH, rounds, unmeasured=tuple(ends.unmeasured()))


def beamline_incast(site: RdmaSite) -> RdmaPlan:
    """Plan a beamline to one receiver, then to as many as it has servers, then on all paths."""
    ends = BeamlineEnds(site)
    rounds = [each for rate in ends.expected for each in _incast(ends, rate)]
    return site.plan(Suite.INCAST, rounds, unmeasured=tuple(ends.unmeasured()))


def _incast(ends: BeamlineEnds, rate: ExpectedRate) -> Iterator[Round]:
    name, count = ends.beamline.name, len(ends.senders)
    spread = [pair for segment in rate.to for pair in ends.pairs(segment)]
    if len(rate.to) == 1:
        there = ends.receivers[rate.to[0]]
        target = ends.site.options.target
        if target is not None:
            ends.site.server(target)
        sink = next((s for s in there if s.name == target), None)
        sink = sink or max(there, key=lambda server: server.flow_gbps)
        every = [(sender, sink) for sender in ends.senders]
        yield ends.round(rate, every[:1], f"one of {name} to {sink.name}")
        if count > 1:
            offered = sum(ends.site.load.rate_gbps(s.flow_gbps) for s in ends.senders)
            total = float(min(sink.flow_gbps, offered))
            yield ends.round(rate, every, f"{count} of {name} to {sink.name}", total_gbps=total)
        if count == 1 or len(there) == 1:
            return
    sinks = len({sink.name for _, sink in spread})
    yield ends.round(rate, spread, f"{count} of {name} to {sinks} of {listing(rate.to)}")
