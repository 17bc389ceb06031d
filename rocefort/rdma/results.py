"""Results of RDMA tests: figures of each run, verdicts, and answers of commands on stored runs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun
from rocefort.rdma.run_record import RunRecord

# Beginnings of `speed_note` in the connections of emulated servers, by versions without records.
EMULATED_NOTES = ("emulated servers", "replayed Soft-RoCE runs")


class MeasurementVerdict(StrEnum):
    """Verdict on one measurement."""

    PASSED = "passed"
    TOO_SLOW = "too-slow"
    NOT_MEASURED = "not-measured"
    NOT_JUDGED = "not-judged"  # measured, without an expected speed


class Expectation(Frozen):
    """Expected result of one pair; reason: why its speed is not judged."""

    min_gbps: float | None
    max_latency_us: float | None
    speed_judged: bool
    reason: str = ""


class Figures(Frozen):
    """Figures of a run: Gb/s for a rate, microseconds for a time. None: not in its output."""

    gbps: float | None = None
    peak_gbps: float | None = None
    mpps: float | None = None
    latency_us: float | None = None  # on average
    least_us: float | None = None
    typical_us: float | None = None
    most_us: float | None = None
    stdev_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None
    iops: float | None = None
    iterations: int | None = None
    # Of the client: perftest prints a share of all its CPUs, iperf3 one of a single CPU.
    cpu_percent: float | None = None
    server_cpu_percent: float | None = None


class Point(Frozen):
    """One interval report of a run; at_s from its start."""

    at_s: float
    gbps: float


class MpiPoint(Frozen):
    """Result of one message size of an MPI collective, microseconds over all processes."""

    size_bytes: int
    average_us: float
    least_us: float | None = None
    most_us: float | None = None


class Measurement(Frozen):
    """Run with its outcome. figures is None unless outcome is `measured`.

    notes: lines beside the measured values in the outputs, which changed no figure. at, seconds:
    its beginning and its duration, by this machine's clock.
    """

    run: RdmaRun
    outcome: str
    sentence: str
    figures: Figures | None = None
    series: tuple[Point, ...] = ()
    sizes: tuple[MpiPoint, ...] = ()
    verdict: MeasurementVerdict = MeasurementVerdict.NOT_JUDGED
    at: datetime | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float | None:
        """Main figure of its program: Gb/s, or us on average."""
        if self.figures is None:
            return None
        latency = self.run.program.measures_latency
        return self.figures.latency_us if latency else self.figures.gbps

    @property
    def key(self) -> tuple[Program, str, int | None]:
        """Key of comparable measurements: program, pair and size."""
        return self.run.program, self.run.pair, self.run.size_bytes


class SizeFigures(Frozen):
    """Figures of one message size."""

    size_bytes: int
    figures: Figures


class JudgedOutput(Frozen):
    """Output of a program that a person kept. figures is None unless outcome is `measured`.

    rows: of perftest, one a message size. sizes: of MPI.
    """

    file: str
    program: Program
    outcome: str
    verdict: MeasurementVerdict
    sentence: str
    figures: Figures | None = None
    rows: tuple[SizeFigures, ...] = ()
    sizes: tuple[MpiPoint, ...] = ()
    notes: tuple[str, ...] = ()


class JudgedOutputs(Frozen):
    """Outputs of programs, in the order of their files."""

    outputs: tuple[JudgedOutput, ...]

    @property
    def passed(self) -> bool:
        """Whether all were measured, and none was too slow."""
        bad = (MeasurementVerdict.NOT_MEASURED, MeasurementVerdict.TOO_SLOW)
        return all(each.verdict not in bad for each in self.outputs)


class DerivedVerdict(Frozen):
    """Verdict on more than a single run: spread, counters, history. ok None: not judged.

    value: its figure for comparison with published ones, if it has one.
    """

    subject: str
    ok: bool | None
    sentence: str
    value: float | None = None


class CableEvent(Frozen):
    """Cables that were away during a round. taken_at None: the round ended earlier.

    by: `lab`, or a `person`, for whom these are the times of the message and of the end of the
    wait. back_at: when routes could use them again; None: not known. problem: why they were not
    taken away, or not put back.
    """

    round: int
    cables: tuple[str, ...]
    by: Literal["lab", "person"]
    taken_at: datetime | None = None
    back_at: datetime | None = None
    problem: str = ""


SpreadUnit = Literal["Gb/s", "us", "IOPS"]


class FigureSpread(Frozen):
    """One figure over the repetitions of a plan; runs: those that have the figure.

    program: with the word that distinguishes its runs. beside: note of the round.
    """

    program: str
    pair: str
    beside: str
    size_bytes: int | None
    figure: str
    unit: SpreadUnit
    runs: int
    minimum: float
    median: float
    maximum: float


class RawEnd(Frozen):
    """Unchanged output of one end of a run, and its exit."""

    run: str  # id of the RdmaRun
    side: Literal["client", "server"]
    command: str
    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool = False


class RunLine(Frozen):
    """One result in a list. judged: whether any speed in it was judged."""

    id: str
    fabric: str
    suite: str
    began: datetime
    measured: int
    runs: int
    passed: bool
    complete: bool
    judged: bool = True


class EndedProcesses(Frozen):
    """Processes that were ended on one server, one line each; why: the server did not answer."""

    server: str
    ended: tuple[str, ...] = ()
    why: str = ""


class RdmaResult(Frozen):
    """Result of one execution of a plan: measurements, verdicts, and what was not measured."""

    id: str
    plan: RdmaPlan
    began: datetime
    ended: datetime | None = None
    measurements: tuple[Measurement, ...]
    judged: tuple[DerivedVerdict, ...] = ()
    conditions: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it; NIC, MTU, algorithm, ..
    unmeasured: tuple[str, ...] = ()  # servers and rounds that failed before a run, with the reason
    spreads: tuple[FigureSpread, ...] = ()  # of a plan that is run more than once
    cables: tuple[CableEvent, ...] = ()  # that were taken away during a round

    def cable_event(self, run: str) -> CableEvent | None:
        """Return what happened to the cables of a run's round; None: nothing was planned."""
        numbers = {r.id: each.number for each in self.plan.rounds for r in each.runs}
        return next((each for each in self.cables if each.round == numbers.get(run)), None)

    record: RunRecord | None = None  # None: stored by a version before 0.2, without one

    @property
    def emulated(self) -> bool:
        """Whether its figures are constants of an emulator; a run without a record by its note."""
        if self.record is not None:
            return self.record.emulated
        return self.conditions.get("servers", "").startswith(EMULATED_NOTES)

    @property
    def complete(self) -> bool:
        """Whether everything in the plan was measured."""
        verdicts = {m.verdict for m in self.measurements}
        return (
            bool(verdicts)
            and MeasurementVerdict.NOT_MEASURED not in verdicts
            and not self.unmeasured
        )

    @property
    def passed(self) -> bool:
        """Whether everything was measured, nothing was too slow, and no verdict is bad."""
        if not self.complete:
            return False
        slow = any(m.verdict is MeasurementVerdict.TOO_SLOW for m in self.measurements)
        return not slow and all(j.ok is not False for j in self.judged)


class RdmaExport(RdmaResult):
    """Result for other programs; outputs: of the measuring programs, if requested."""

    outputs: tuple[RawEnd, ...] = Field(default=(), exclude_if=lambda outputs: not outputs)


class RunList(Frozen):
    """Stored RDMA runs, the latest first."""

    runs: tuple[RunLine, ...]


class PairValue(Frozen):
    """Value of one pair of servers in a run."""

    run: str
    suite: str
    measurement: str
    value: str


class PairValues(Frozen):
    """All values of one pair of servers, the oldest first."""

    values: tuple[PairValue, ...]


class RunComparison(Frozen):
    """Run beside published figures or another run: title, notes on the whole, and lines.

    slower: whether a line is a regression; None: no criterion for a regression exists.
    """

    title: str
    notes: tuple[str, ...]
    lines: tuple[str, ...]
    slower: bool | None = None


class StoppedServers(Frozen):
    """Servers on which the processes of RDMA runs were ended."""

    servers: tuple[EndedProcesses, ...]
