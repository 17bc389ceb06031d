"""Steps of `rehearse`: apply a sealed plan to a twin of its fabric, with a gate of its own.

Speed is never judged: that needs hardware.

The twin starts with the fabric from before the plan. The controller that applies plans to switches
applies the plan to the twin. The result is checked, and the twin is removed.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from nornir.core import Nornir

from rocefort.base.errors import Refused, RocefortError, ServiceFailed, Stopped
from rocefort.base.processes import raise_on_signals, stop_on_signals
from rocefort.design.subject import running_texts
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_all
from rocefort.dialects.secrets import read_secrets, references_of
from rocefort.fleet.connections import load_connections
from rocefort.lab.bring_up import expected_sessions, notes_of
from rocefort.lab.guest_connections import guest_names, lead_to_guests
from rocefort.lab.rehearsal.rehearsal_checks import checks_after, delivered_pairs, speakers_of
from rocefort.lab.roce_probes import SMALL, Pair, RoceProbes, not_delivered, pair_length, wires
from rocefort.lab.twin.flows import FlowLoad, flows_between, running
from rocefort.lab.twin.registry import Registry, connections_of, namespace
from rocefort.lab.twin.requirements import require_host
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down
from rocefort.lab.twin_cli import start_lines
from rocefort.models.change.plan import Gate, GatePair, Plan
from rocefort.models.network.network import Network, Node
from rocefort.models.wording import count_of
from rocefort.rdma.plan.gate_pairs import SHORT, plan_pairs, traffic_class
from rocefort.rdma.queue_gate import MeasuredVerdict, QueueGate, QueueVerdict
from rocefort.rdma.run.gate import PairResult, run_gate
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ApplyRules, Event, RolloutOutcome
from rocefort.rollout.journal.history import STOP, RunProgress
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.operator import host, user
from rocefort.rollout.plan.fabric_of_run import SealedFabric, load_fabric_of_plan
from rocefort.rollout.planning.baseline import PlannedTexts, both_sides
from rocefort.rollout.planning.rehearsal import (
    Loss,
    PlanRehearsal,
    RehearsedCheck,
    RehearsedWave,
    attach,
)
from rocefort.rollout.planning.sealed_files import read_plan, tool
from rocefort.validators.routing.external_peers import with_outside

PATIENCE_S = 5.0  # sessions may still be coming up
REPLAY_S = 10.0  # a replay hangs at once or never: no need to wait as long as for RDMA


@dataclass(frozen=True)
class TwinGate:
    """Gates of a plan on one twin; note: reason that speed is not judged there."""

    network: Network
    twin: Twin
    note: str

    def __call__(self, nornir: Nornir, gate: Gate) -> QueueVerdict:
        """Run a gate as far as the twin can measure it."""
        guests = set(self.twin.record.guests)
        pairs = self._of_guests(gate) if guests else gate.pairs
        others = [p for p in gate.pairs if guests and guests.isdisjoint((p.client, p.server))]
        summaries: list[str] = []
        results: tuple[PairResult, ...] = ()
        if pairs:
            update = {"pairs": pairs, "speed_judged": False, "speed_note": self.note, **SHORT}
            short = gate.model_copy(update=update)
            ran = self._ran(nornir, short, guests=bool(guests))
            names, results = _between(guests), ran.results
            if not ran.passed:
                return QueueVerdict(passed=False, summary=names + ran.summary, results=results)
            summaries.append(names + ran.summary)
        if lost := self._lost(others, gate.traffic_class):
            return QueueVerdict(passed=False, summary=lost, results=results)
        if others:
            summaries.append(f"packets of RoCE cross between {count_of(len(others), 'other pair')}")
        summary = "; ".join(summaries) or "no server to measure between"
        return QueueVerdict(passed=True, summary=summary, results=results)

    def _ran(self, nornir: Nornir, gate: Gate, *, guests: bool) -> MeasuredVerdict:
        return QueueGate(self.network)(nornir, gate) if guests else run_gate(nornir, gate, REPLAY_S)

    def _of_guests(self, gate: Gate) -> tuple[GatePair, ...]:
        """Return pairs of guests that reach every leaf of the gate's servers with a guest."""
        servers = self.network.servers or ()
        names = {name for pair in gate.pairs for name in (pair.client, pair.server)}
        leaves = {server.port.device for server in servers if server.name in names}
        guests = tuple(s for s in servers if s.name in self.twin.record.guests)
        return plan_pairs(self.network.model_copy(update={"servers": guests}), leaves)

    def _lost(self, pairs: Sequence[GatePair], traffic_class: int) -> str:
        """Return the first pair of namespaces between which packets of RoCE are lost."""
        names = [name for pair in pairs for name in (pair.client, pair.server)]
        both = [
            direction for p in pairs for direction in ((p.client, p.server), (p.server, p.client))
        ]
        full = {pair: pair_length(self.twin, pair) for pair in both}
        with wires(self.twin, names, traffic_class) as probes:
            for size, length in (("small", SMALL), ("full-size", full)):
                if lost := not_delivered(probes, both, length, PATIENCE_S):
                    return f"{lost[0][0]} -> {lost[0][1]}: {size} packets of RoCE are lost"
        return ""


def _between(guests: Collection[str]) -> str:
    return f"RDMA between {', '.join(sorted(guests))}: " if guests else ""


PREFIX = "rehearse-"
NOT_JUDGED = (
    "ASIC buffers, PFC, ETS, WRED and DCQCN: a kernel has no lossless queues",
    "line rate and latency: 0.92 of the rate and 3.72 us are for hardware",
    "hardware: its FIB, its BFD, its hash; times here show an order, not a duration",
)
NO_LOAD = "packets lost meanwhile: besides guests, whose packets are counted, no host sends"
ANEW = "the rehearsal is removed; rehearse the plan again"
RATE = 50  # packets per second of each stream
MOST_STREAMS = 48
BEGINNING_S = 2.0  # for address resolution, before a pair counts as failed
Say = Callable[[str], None]
Listener = Callable[[Event], None]


@dataclass(frozen=True)
class RehearsalOptions:
    """Options of a rehearsal.

    running: directory of baseline texts, if the plan alone does not determine them. guests: servers
    that QEMU runs, with real RDMA between them: names with commas, or all.
    """

    running: Path | None = None
    guests: str = ""
    choice: TwinOptions = field(default_factory=TwinOptions)


@dataclass
class _RehearsalListener:
    """Listener that records progress, the duration of each wave, and the reason of a stop."""

    progress: RunProgress
    times: dict[str, list[float]] = field(default_factory=dict)
    interrupted: bool = False

    def __call__(self, event: Event, /) -> None:
        now = time.monotonic()
        history = self.progress.history.after(event)
        self.progress = replace(self.progress, history=history)
        if event.wave:
            self.times.setdefault(event.wave, []).append(now)
        self.interrupted |= event.act == STOP and "interrupted" in event.detail

    def waves(self) -> tuple[RehearsedWave, ...]:
        """Every wave with its outcome."""
        return tuple(
            RehearsedWave(
                name=wave.name,
                devices=wave.devices,
                ended=self.progress.state_of(wave),
                gate=self.progress.gate(wave),
                seconds=round(self._seconds(wave.name), 1),
            )
            for wave in self.progress.plan.waves
        )

    def _seconds(self, wave: str) -> float:
        times = self.times.get(wave) or [0.0]
        return times[-1] - times[0]


@dataclass(frozen=True)
class _RehearsalRun:
    """Result of the plan on the twin."""

    applied: RolloutOutcome
    watch: _RehearsalListener
    loss: Loss | None
    checks: tuple[RehearsedCheck, ...]

    @property
    def failure(self) -> str:
        """First failure."""
        wrong = (f"{check.what}: {check.found}" for check in self.checks if not check.passed)
        return self.applied.failure or next(wrong, "")


def rehearse_plan(
    sealed: Path, wishes: RehearsalOptions, say: Say, listener: Listener | None = None
) -> PlanRehearsal:
    """Rehearse a sealed plan and attach the report to it.

    Raises Refused for a plan that cannot be applied either. Raises ServiceFailed if no twin can run
    here, Stopped after an interruption; then there is no report, and the twin is removed.
    """
    with raise_on_signals("the rehearsal"):
        plan = read_plan(sealed)
        require_host(other_frr=wishes.choice.other_frr)
        ground = load_fabric_of_plan(plan)
        read_secrets(references_of(plan))
        running = running_texts(wishes.running) if wishes.running else None
        sides = both_sides(plan, ground.fabric.network, running)
        began = datetime.now(UTC)
        with _twin_before(plan, ground, sides, wishes, say) as twin:
            unloaded = (NO_LOAD,) if twin.record.guests else ()
            notes = (*unloaded, *twin.record.lacks, *notes_of(twin))
            with _reports(plan):
                run = _carried_out(sealed, plan, ground, sides, twin, listener)
            record = twin.record
    report = PlanRehearsal(
        plan=plan.digest,
        fabric=plan.fabric,
        tool=tool(),
        by=user(),
        host=host(),
        began=began,
        ended=datetime.now(UTC),
        frr=record.frr,
        kernel=platform.release(),
        guests=record.guests,
        waves=run.watch.waves(),
        checks=run.checks,
        loss=run.loss,
        not_judged=(*NOT_JUDGED, *notes),
        failure=run.failure,
    )
    return attach(report, sealed)


def network_of_texts(network: Network, texts: Mapping[str, str]) -> Network:
    """Return the network with every switch as parsed from its text."""
    return network.model_copy(
        update={"nodes": tuple(_node_of_text(node, texts[node.name]) for node in network.nodes)}
    )


def _node_of_text(node: Node, text: str) -> Node:
    device = dialect_of(node).parse(text, node.name).device
    return node.model_copy(update={"device": device})


# --- the twin -------------------------------------------------------------------------------------


@contextmanager
def _twin_before(
    plan: Plan, ground: SealedFabric, sides: PlannedTexts, wishes: RehearsalOptions, say: Say
) -> Iterator[Twin]:
    """Run a twin of the fabric before the plan, under a separate name, during the block."""
    registry = Registry()
    _clear_left_behind(registry, say)
    name = f"{PREFIX}{plan.digest[:8]}-{os.getpid()}"
    plain = network_of_texts(ground.fabric.network, sides.before)
    network = with_outside(plain)
    guests = guest_names(network, wishes.guests)
    choice = replace(wishes.choice, expected=expected_sessions(network), guests=guests)
    try:
        twin = Twin.up(network, name, choice, registry, say)
        start_lines(registry, twin.record, plain, sides.before)
        if guests:
            lead_to_guests(twin)
        yield twin
    finally:
        with stop_on_signals():  # an interruption now would leave half a lab
            if name in registry.names():
                take_down(name, registry)


def _clear_left_behind(registry: Registry, say: Say) -> None:
    """Remove rehearsals whose process was killed."""
    for name in registry.names():
        _, _, process = name.rpartition("-")
        if name.startswith(PREFIX) and process.isdecimal() and not _alive(int(process)):
            take_down(name, registry)
            say(f"note: removed {name} of a killed rehearsal")


def _alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


# --- the plan on it -------------------------------------------------------------------------------


@contextmanager
def _reports(plan: Plan) -> Iterator[None]:
    """Mark an error of the twin, which is not an error of the plan."""
    try:
        yield
    except (Refused, Stopped):
        raise
    except RocefortError as error:
        where = f"rehearsal of plan {plan.digest[:12]}"
        raise ServiceFailed(f"did not complete: {error}", where=where) from error


def _carried_out(  # noqa: PLR0913, PLR0917 - the plan with its file, both sides of it, and the twin
    sealed: Path,
    plan: Plan,
    ground: SealedFabric,
    sides: PlannedTexts,
    twin: Twin,
    listener: Listener | None,
) -> _RehearsalRun:
    """Apply the plan under load, then check the twin."""
    network = ground.fabric.network
    speakers = speakers_of(network, twin, twin.record.guests)
    pairs = [(source, target) for source in speakers for target in speakers if source != target]
    lossless = network.lossless
    tclass = traffic_class(lossless.roce_dscp) if lossless else 0
    watch = _RehearsalListener(RunProgress(plan))
    with wires(twin, speakers, tclass) as probes:
        before = delivered_pairs(probes, twin, pairs, BEGINNING_S)
        with _streams(twin, loaded_pairs(speakers, before, twin.record.guests)) as load:
            listeners: list[Listener] = [watch, *([listener] if listener else [])]
            applied = _apply_on_twin(sealed, plan, ground, twin, listeners)
        if watch.interrupted:
            raise Stopped("the rehearsal was interrupted", how=ANEW)
        checks = (
            () if applied.failure else tuple(_checks(plan, ground, sides, twin, probes, before))
        )
    return _RehearsalRun(applied, watch, _loss(load, twin), checks)


def loaded_pairs(
    speakers: Sequence[str], delivered: Collection[Pair], guests: Collection[str]
) -> list[Pair]:
    """Pairs of neighbouring servers in both directions that delivered before the plan.

    Empty besides guests: their gate counts all packets that leave a queue of a port.
    """
    if guests:
        return []
    pairs = [(source, speakers[(n + 1) % len(speakers)]) for n, source in enumerate(speakers)]
    both = dict.fromkeys((*pairs, *((target, source) for source, target in pairs)))
    return [pair for pair in both if pair in delivered]


@contextmanager
def _streams(twin: Twin, pairs: Sequence[Pair]) -> Iterator[FlowLoad]:
    """Send packets between servers while the block runs; without pairs, send none."""
    if not pairs:
        yield FlowLoad((), RATE)
        return
    lab, hosts = twin.record.id, twin.topology.by_host
    ends = [(namespace(lab, a), namespace(lab, b), hosts[b].address) for a, b in pairs]
    with running(lab, flows_between(ends, MOST_STREAMS), RATE) as load:
        yield load


def _loss(load: FlowLoad, twin: Twin) -> Loss | None:
    """Lost packets; a stream that did not recover counts with all its packets."""
    if not load.results:
        return None
    gaps = [
        (gap.lost / RATE if gap.seconds is None else gap.seconds, load.flows[number])
        for number, gap in load.gaps
    ]
    longest, worst = max(gaps, key=lambda row: row[0], default=(0.0, None))
    bare = len(namespace(twin.record.id, ""))
    return Loss(
        streams=len(load.flows),
        sent=sum(result.sent for result in load.results),
        lost=load.lost,
        longest_ms=round(1000 * longest),
        worst=f"{worst.source[bare:]} -> {worst.target[bare:]}" if worst else "",
    )


def _apply_on_twin(
    sealed: Path, plan: Plan, ground: SealedFabric, twin: Twin, listeners: Sequence[Listener]
) -> RolloutOutcome:
    file = connections_of(twin.registry, twin.record)
    if file is None:
        raise ServiceFailed("the command lines of the twin are gone", where=twin.record.name)
    access = load_connections(file)
    rules = ApplyRules(ground.fabric.policy.max_unavailable)
    gate = TwinGate(ground.fabric.network, twin, access.speed_note)
    with tempfile.TemporaryDirectory(prefix="rocefort-rehearsal-") as directory:
        run = RunDirectory.of(sealed, Path(directory) / "journal")  # records stay beside the plan
        options = ApplyOptions(rules=rules, gate=gate, derives=False, resume_hint=ANEW)
        return apply_plan(plan, access, run, listeners, options)


def _checks(  # noqa: PLR0913, PLR0917 - the plan, both sides of it, and the twin
    plan: Plan,
    ground: SealedFabric,
    sides: PlannedTexts,
    twin: Twin,
    probes: RoceProbes,
    before: Collection[Pair],
) -> Iterator[RehearsedCheck]:
    """Checks of the twin after the last wave against the intended network."""
    plain = ground.fabric.network
    texts = sides.after if sides.backwards or plan.limit else render_all(plain)
    network = with_outside(network_of_texts(plain, texts))
    now = Twin.find(twin.record.name, twin.registry)
    now.choice = replace(twin.choice, expected=expected_sessions(network))
    return checks_after(network, now, probes, before)
