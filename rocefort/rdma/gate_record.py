"""Record of a rollout's gate: the same as that of a suite, in a database beside the plan.

Switches and servers are read before and after a gate, while its wave is on trial. So only the
measured servers and their leaves are read, in separate sessions, and only in time that the trial
does not need. A record changes no verdict: what cannot be read is a sentence of the record.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from nornir.core import Nornir

from rocefort.base.clock import utc_now
from rocefort.base.errors import RocefortError
from rocefort.base.internal_errors import error_report
from rocefort.fleet.connections import Connections
from rocefort.fleet.nornir_session import end_fleet, open_fleet
from rocefort.models.change.plan import Gate, Wave, digest_of
from rocefort.models.network.network import Network
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.plan.gate_pairs import TOOLS, gate_s, rounds_of
from rocefort.rdma.queue_gate import QueueVerdict
from rocefort.rdma.rdma_plan import RdmaHost, RdmaPlan, RdmaRun, Round, Suite
from rocefort.rdma.recorder import RecordedFabric, RunRecorder
from rocefort.rdma.results import (
    DerivedVerdict,
    Measurement,
    MeasurementVerdict,
    RawEnd,
    RdmaResult,
)
from rocefort.rdma.run.gate import GateResult, PairResult
from rocefort.rdma.run_record import CounterReading, FabricState, RunRecord
from rocefort.rdma.run_suite import new_id
from rocefort.rollout.controller.durations import nothing, result_within
from rocefort.rollout.controller.protocols import GateVerdict, WaveGate
from rocefort.rollout.gates import GateRecords
from rocefort.rollout.plan.make_plan import sealed_fabric

READ_S = 30.0  # longest time of one reading
LEAST_S = 1.0  # shortest: a reading with less time does not begin
SPARE_S = 2.0  # time of a trial that no reading uses
NO_TIME = "its trial leaves no time for it"
STORED = "a rollback plan has the fabric that its run has stored"

T = TypeVar("T")


@dataclass(frozen=True)
class RecordedGate:
    """Gate of a wave that stores a record of each run. measure: runs the gate and judges it."""

    network: Network
    access: Connections
    records: GateRecords
    measure: Callable[[Nornir, Gate], GateVerdict]

    def __call__(self, nornir: Nornir, asked: WaveGate) -> GateVerdict:
        """Run and judge a gate; store its record, or say in the summary why it has none."""
        wave, gate = asked.wave, asked.wave.gate
        if not gate.pairs:
            return self.measure(nornir, gate)
        until_s = None if asked.left_s is None else time.monotonic() + asked.left_s
        spare_s = _spare_s(until_s, gate_s(gate), 2)  # half of it: a gate may take longer
        begun, why = self._read(wave, spare_s, lambda recorder: recorder.begin())
        began = utc_now()
        verdict = self.measure(nornir, gate)
        ended = utc_now()
        if not isinstance(verdict, GateResult | QueueVerdict) or not verdict.results:
            return verdict
        if begun is None:
            record = self._unread(wave, why)
        else:
            record = self._ended(wave, begun, _spare_s(until_s))

        def store() -> None:
            result, raw = self._result(nornir, gate, verdict, record)
            with open_history(self.records.file, make=True) as past:
                past.keep(result.model_copy(update={"began": began, "ended": ended}), raw)

        _, why = _attempt(max(LEAST_S, _spare_s(until_s)), "the store", store)
        if not why:
            return verdict
        summary = f"{verdict.summary}; its record is not stored: {self.records.file}: {why}"
        return QueueVerdict(verdict.passed, summary, verdict.results)

    @cached_property
    def _fabric(self) -> RecordedFabric:
        """Fabric of the plan's files, or the stored one of a run if they are not the same."""
        plan = self.records.plan
        try:
            if not plan.kept:
                return RecordedFabric.of(sealed_fabric(plan))
            why = STORED
        except RocefortError as error:
            why = error.problem.what
        return RecordedFabric(self.network, self._stored_state(why), without_plans=why)

    def _stored_state(self, why: str) -> FabricState:
        content = digest_of(self.network.model_dump(mode="json"))
        return FabricState(source=self.records.plan.source, digest=content, why=why)

    def _read(
        self, wave: Wave, seconds: float, read: Callable[[RunRecorder], T]
    ) -> tuple[T | None, str]:
        """Read a part of the record in a fleet of its own; or return why it was not read."""
        fleets: list[Nornir] = []

        def act() -> T:
            with open_fleet(self.network, self.access) as nornir:
                fleets.append(nornir)
                return read(self._recorder(nornir, wave))

        def end() -> None:
            for nornir in fleets:
                end_fleet(nornir)

        return _attempt(seconds, "the reading", act, end)

    def _recorder(self, nornir: Nornir, wave: Wave) -> RunRecorder:
        """Recorder of the measured servers and their leaves, by the ports on their paths."""
        names = set(wave.gate.servers)
        servers = tuple(s for s in self.network.servers or () if s.name in names)
        leaves = dict.fromkeys(end.device for server in servers for end in server.ports)
        near = self.network.model_copy(update={"servers": servers})
        return RunRecorder(
            nornir,
            replace(self._fabric, network=near),
            tuple(server.name for server in servers),
            tuple(leaves),
            self.access.command_timeout_s,
            emulated=self.access.emulated,
            plan=self.records.plan.digest,
            wave=wave.name,
        )

    def _ended(self, wave: Wave, begun: RunRecord, seconds: float) -> RunRecord:
        """Return the record with the counters after the gate, or why they were not read."""
        whole, why = self._read(wave, seconds, lambda recorder: recorder.end(begun))
        if whole is not None:
            return whole
        unread = (*begun.unread, f"counters after the gate: {why}")
        after = CounterReading(at=utc_now())
        return begun.model_copy(update={"after": after, "unread": unread})

    def _unread(self, wave: Wave, why: str) -> RunRecord:
        """Return the record of a gate before which nothing could be read."""
        lossless, nothing_read = self.network.lossless, CounterReading(at=utc_now())
        fabric, lacking = _attempt(READ_S, "the fabric's files", lambda: self._fabric)
        return RunRecord(
            fabric=self._stored_state(lacking) if fabric is None else fabric.state,
            plan=self.records.plan.digest,
            wave=wave.name,
            queue=None if lossless is None else lossless.queue,
            emulated=self.access.emulated,
            before=nothing_read,
            after=nothing_read,
            unread=(f"switches and servers: {why}",),
        )

    def _result(
        self, nornir: Nornir, gate: Gate, verdict: GateResult | QueueVerdict, record: RunRecord
    ) -> tuple[RdmaResult, list[RawEnd]]:
        """Return a gate as a run of a suite, without its times, and the outputs of its tools."""
        rounds, measurements, raw = _rounds(verdict.results)
        names = dict.fromkeys(name for run in rounds for each in run.runs for name in each.servers)
        hosts = [nornir.inventory.hosts[name] for name in names if name in nornir.inventory.hosts]
        plan = RdmaPlan(
            fabric=self.network.name,
            suite=Suite.GATE,
            hosts=tuple(
                RdmaHost(name=h.name, device=h["rdma_device"], gid_index=h["gid_index"])
                for h in hosts
            ),
            rounds=tuple(rounds),
            unmeasured=(*gate.unmeasured, *gate.uncovered),
        )
        note = {"servers": self.access.speed_note} if self.access.speed_note else {}
        judged = DerivedVerdict(subject="gate", ok=verdict.passed, sentence=verdict.summary)
        result = RdmaResult(
            id=new_id(),
            plan=plan,
            began=record.before.at,
            measurements=tuple(measurements),
            judged=(judged,),
            conditions=record.conditions | note,
            record=record,
        )
        return result, raw


def _rounds(
    results: Sequence[PairResult],
) -> tuple[list[Round], list[Measurement], list[RawEnd]]:
    """Return the rounds in which a gate has run, with all measurements and outputs."""
    rounds: list[Round] = []
    measurements: list[Measurement] = []
    raw: list[RawEnd] = []
    by_pair = {(result.pair, result.tool): result for result in results}
    for batch in rounds_of(result.pair for result in results):
        for tool in TOOLS:
            number, runs = len(rounds) + 1, []
            for index, pair in enumerate(batch, 1):
                result = by_pair[pair, tool]
                run = result.run.model_copy(update={"id": f"{number:03}.{index:02}"})
                runs.append(run)
                measurements.append(_measurement(result, run))
                raw += [end.model_copy(update={"run": run.id}) for end in result.outputs]
            rounds.append(Round(number=number, runs=tuple(runs), note=f"gate, {tool}"))
    return rounds, measurements, raw


def _measurement(result: PairResult, run: RdmaRun) -> Measurement:
    verdict = result.verdict
    if verdict is MeasurementVerdict.PASSED and not result.speed_judged:
        verdict = MeasurementVerdict.NOT_JUDGED
    return Measurement(
        run=run,
        outcome=result.outcome.value,
        sentence=result.sentence.removeprefix(f"{run.pair} {run.program}: "),
        figures=result.figures,
        verdict=verdict,
        at=result.at,
        seconds=result.seconds,
        notes=result.notes,
    )


def _spare_s(until_s: float | None, needed_s: float = 0.0, parts: int = 1) -> float:
    """Seconds for a reading now: a part of what the trial leaves, at most READ_S."""
    if until_s is None:
        return READ_S
    return min(READ_S, (until_s - time.monotonic() - needed_s - SPARE_S) / parts)


def _attempt(
    seconds: float, what: str, act: Callable[[], T], end: Callable[[], None] = nothing
) -> tuple[T | None, str]:
    """Return the result of an act, or None with the reason why it has none; raises nothing."""
    if seconds < LEAST_S:
        return None, NO_TIME
    try:
        return result_within(seconds, what, act, end), ""
    except RocefortError as error:
        return None, "; ".join(problem.what for problem in error.problems)
    except Exception as error:  # noqa: BLE001 - a defect of a record is no defect of the fabric
        return None, error_report(error)[0]
