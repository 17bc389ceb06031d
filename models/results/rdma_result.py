"""What RDMA runs gave: figures only where one was measured, verdicts, findings beside them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.results.rdma_plan import Program, RdmaPlan, RdmaRun


class MeasurementVerdict(StrEnum):
    """What one measurement means."""

    PASSED = "passed"
    TOO_SLOW = "too-slow"
    NOT_MEASURED = "not-measured"
    NOT_JUDGED = "not-judged"  # measured, and nothing says how fast it should be


class Expectation(Frozen):
    """What one pair must reach; where speed is not judged, the reason says why."""

    min_gbps: float | None
    max_latency_us: float | None
    speed_judged: bool
    reason: str = ""


class Figures(Frozen):
    """What a run measured: Gb/s for a rate, microseconds for a time. None: it does not say."""

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


class Point(Frozen):
    """One row of a run that prints as it goes; at_s from its start."""

    at_s: float
    gbps: float


class MpiPoint(Frozen):
    """One message size of an MPI collective, microseconds over all processes."""

    size_bytes: int
    average_us: float
    least_us: float | None = None
    most_us: float | None = None


class Measurement(Frozen):
    """One run and its end. figures is None unless outcome is `measured`."""

    run: RdmaRun
    outcome: str
    sentence: str
    figures: Figures | None = None
    series: tuple[Point, ...] = ()
    sizes: tuple[MpiPoint, ...] = ()
    verdict: MeasurementVerdict = MeasurementVerdict.NOT_JUDGED
    at: datetime | None = None

    @property
    def value(self) -> float | None:
        """The figure that its program is run for: Gb/s, or us on average."""
        if self.figures is None:
            return None
        latency = self.run.program.measures_latency
        return self.figures.latency_us if latency else self.figures.gbps

    @property
    def key(self) -> tuple[Program, str, int | None]:
        """What makes two measurements alike in kind, pair and size."""
        return self.run.program, self.run.pair, self.run.size_bytes


class DerivedVerdict(Frozen):
    """Something that was judged beside a single run: spread, counters, history. ok None: not.

    value: the figure of it that is compared with published ones, where it has one.
    """

    subject: str
    ok: bool | None
    sentence: str
    value: float | None = None


class RawEnd(Frozen):
    """What one end of a run printed, as it was, and how it ended."""

    run: str  # id of the RdmaRun
    side: Literal["client", "server"]
    command: str
    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool = False


class RunLine(Frozen):
    """One run in a list of runs. judged: whether the speed of any of it was."""

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
    """What was ended on one server, a line a process; why: the server could not be asked."""

    server: str
    ended: tuple[str, ...] = ()
    why: str = ""


class RdmaResult(Frozen):
    """One execution of a plan: all its measurements, what was judged, what was not measured."""

    id: str
    plan: RdmaPlan
    began: datetime
    ended: datetime | None = None
    measurements: tuple[Measurement, ...]
    judged: tuple[DerivedVerdict, ...] = ()
    conditions: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it; NIC, MTU, algorithm, ..
    unmeasured: tuple[str, ...] = ()  # servers and rounds that failed before a run, with the reason

    @property
    def complete(self) -> bool:
        """Whether all that was meant to be measured has been."""
        verdicts = {m.verdict for m in self.measurements}
        return (
            bool(verdicts)
            and MeasurementVerdict.NOT_MEASURED not in verdicts
            and not self.unmeasured
        )

    @property
    def passed(self) -> bool:
        """Whether everything was measured, nothing too slow, nothing judged bad."""
        if not self.complete:
            return False
        slow = any(m.verdict is MeasurementVerdict.TOO_SLOW for m in self.measurements)
        return not slow and all(j.ok is not False for j in self.judged)


class RdmaExport(RdmaResult):
    """A run for programs; outputs: what its programs printed, if that is asked for."""

    outputs: tuple[RawEnd, ...] = ()
