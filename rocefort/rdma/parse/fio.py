"""Reader of fio's JSON report (`--output-format=json`) on remote storage.

Source of the form: runs of fio 3.33. Before 3.0 fio reports latency in microseconds under other
keys; such reports are refused. If fio 3.33 cannot create its file, it ends with exit code 1, and
its report shows `error` 0 and no I/O. Fio creates a missing directory, even if nothing is mounted
there: see `command_lines.precheck`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError, split_report

LARGEST = 1e18  # a larger value means a broken report
SLACK = 0.02  # runtime is in whole milliseconds

Direction = Literal["read", "write"]


@dataclass(frozen=True)
class FioResult:
    """Result of one job: I/O operations per second, Gb/s, and completion latency in us."""

    job: str
    iops: float
    gbps: float
    seconds: float
    mean_us: float
    p99_us: float | None
    p999_us: float | None


def read_fio(text: str, direction: Direction = "write") -> tuple[FioResult, ...]:
    """Read one report, a result for each job; raises TableError at the first fault."""
    report, _ = split_report(text)
    jobs = report.get("jobs") if isinstance(report, Mapping) else None
    if not isinstance(jobs, list) or not jobs:
        raise TableError(Outcome.MISSING_ROW, "no jobs")
    return tuple(_job(job, direction) for job in jobs)


def _job(job: object, direction: Direction) -> FioResult:
    if not isinstance(job, Mapping):
        raise TableError(Outcome.UNKNOWN_LINE, f"job: {job}")
    name = str(job.get("jobname", ""))
    if job.get("error"):
        raise TableError(Outcome.TOOL_ERROR, f"{name}: error {job['error']}")
    done = job.get(direction)
    if not isinstance(done, Mapping):
        raise TableError(Outcome.MISSING_ROW, f"{name}: no {direction}")
    if not isinstance(done.get("clat_ns"), Mapping):
        raise TableError(Outcome.UNKNOWN_LINE, f"{name}: no clat_ns, as fio before 3.0")
    operations, milliseconds, size = (_n(done, k) for k in ("total_ios", "runtime", "io_bytes"))
    if not (operations > 0 and milliseconds > 0 and size > 0):
        raise TableError(Outcome.ZERO_ITERATIONS, f"{name}: {operations:.0f} operations")
    if _n(done, "short_ios") or _n(done, "drop_ios"):
        raise TableError(Outcome.TOOL_ERROR, f"{name}: operations cut short or dropped")
    seconds = milliseconds / 1000
    iops, latency = _n(done, "iops"), done["clat_ns"]
    _agree(f"{name}: {iops:.2f} operations a second", iops, operations / seconds)
    _agree(
        f"{name}: {_n(done, 'bw_bytes'):.0f} bytes a second", _n(done, "bw_bytes"), size / seconds
    )
    mean = _n(latency, "mean")
    if not _n(latency, "min") <= mean <= _n(latency, "max"):
        raise TableError(Outcome.SUMS, f"{name}: mean latency {mean:.0f} ns outside its range")
    return FioResult(
        job=name,
        iops=iops,
        gbps=size * 8 / seconds / 1e9,
        seconds=seconds,
        mean_us=mean / 1000,
        p99_us=_percentile(latency, "99.000000"),
        p999_us=_percentile(latency, "99.900000"),
    )


def _n(part: Mapping[str, Any], key: str) -> float:
    value = part.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise TableError(Outcome.NOT_A_NUMBER, f"{key}: {value}")
    return float(value)


def _agree(text: str, value: float, computed: float) -> None:
    if abs(value - computed) > SLACK * max(value, computed):
        raise TableError(Outcome.SUMS, f"{text}, but {computed:.2f} by its own count and time")


def _percentile(latency: Mapping[str, Any], key: str) -> float | None:
    percentiles = latency.get("percentile")
    return (
        _n(percentiles, key) / 1000
        if isinstance(percentiles, Mapping) and key in percentiles
        else None
    )
