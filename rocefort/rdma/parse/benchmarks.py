"""Readers of the outputs of fio, iperf3, and MPI benchmarks (OSU, Intel).

Source of the form: runs of fio 3.33. Before 3.0 fio reports latency in microseconds under other
keys; such reports are refused. If fio 3.33 cannot create its file, it ends with exit code 1, and
its report shows `error` 0 and no I/O. Fio creates a missing directory, even if nothing is mounted
there: see `command_lines.precheck`.

Source of the form: runs of iperf3 3.12 and public outputs of 3.6 to 3.11. With `-J` iperf3 3.12
ends with exit code 0 even if it cannot connect, so `error` in the report decides. Some keys are
twice in one object (`sock_bufsize`); a strict JSON reader would refuse the report.

Source of the forms: public outputs of OSU 4.2 to 7.5, no run of ours; public outputs of IMB 2018 to
2021.7, and recorded runs of IMB 2021.11. Latency is in microseconds, over all processes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from rocefort.rdma.parse.outcome import Outcome, TableError, is_mostly_numbers, split_report
from rocefort.rdma.results import MpiPoint

LARGEST = 1e18  # a larger value means a broken report
FIO_SLACK = 0.02  # runtime is in whole milliseconds

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
    if abs(value - computed) > FIO_SLACK * max(value, computed):
        raise TableError(Outcome.SUMS, f"{text}, but {computed:.2f} by its own count and time")


def _percentile(latency: Mapping[str, Any], key: str) -> float | None:
    percentiles = latency.get("percentile")
    return (
        _n(percentiles, key) / 1000
        if isinstance(percentiles, Mapping) and key in percentiles
        else None
    )


IPERF_LARGEST = 1e18  # a larger value means a broken report
IPERF_SLACK = 0.02  # between the clocks of the two ends: each divides by its own seconds
NO_SERVER = ("unable to connect", "server is busy", "Connection refused", "No route to host")


@dataclass(frozen=True)
class Interval:
    """Rate in one interval; times are in seconds from the start."""

    start_s: float
    end_s: float
    gbps: float


@dataclass(frozen=True)
class IperfResult:
    """TCP result of one client; rates are sums over all streams."""

    received_gbps: float
    sent_gbps: float
    seconds: float
    streams: int
    retransmits: int | None  # None: the operating system does not count them
    tos: int | None
    intervals: tuple[Interval, ...]
    cpu_percent: float | None = None  # of both ends, percent of one CPU; None: not in the report
    server_cpu_percent: float | None = None


def read_iperf(text: str) -> IperfResult:
    """Read the client's report; raises TableError at the first fault."""
    report, _ = split_report(text)
    if not isinstance(report, Mapping):
        raise TableError(Outcome.NOT_JSON, text[:60])
    if error := report.get("error"):
        is_server_missing = any(words in str(error) for words in NO_SERVER)
        raise TableError(Outcome.NO_SERVER if is_server_missing else Outcome.TOOL_ERROR, str(error))
    end = _part(report, "end")
    sent, received = _part(end, "sum_sent"), _part(end, "sum_received")
    streams = end.get("streams")
    if not isinstance(streams, list) or not streams:
        raise TableError(Outcome.MISSING_ROW, "end: no streams")
    retransmits = sent.get("retransmits")
    tos = _part(_part(report, "start"), "test_start").get("tos")
    cpu = end.get("cpu_utilization_percent")
    own, other = (
        _number(cpu, f"{side}_total") if isinstance(cpu, Mapping) else None
        for side in ("host", "remote")
    )
    return IperfResult(
        received_gbps=_rate(received, "sum_received"),
        sent_gbps=_rate(sent, "sum_sent"),
        seconds=_number(received, "seconds"),
        streams=len(streams),
        retransmits=retransmits if isinstance(retransmits, int) else None,
        tos=tos if isinstance(tos, int) else None,
        intervals=tuple(_intervals(report)),
        cpu_percent=own,
        server_cpu_percent=other,
    )


def _part(report: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = report.get(key)
    if not isinstance(part, Mapping):
        raise TableError(Outcome.MISSING_ROW, f"no {key}")
    return part


def _number(part: Mapping[str, Any], key: str) -> float:
    value = part.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TableError(Outcome.MISSING_ROW, f"no {key}")
    if not 0 <= value < IPERF_LARGEST:
        raise TableError(Outcome.NOT_A_NUMBER, f"{key}: {value}")
    return float(value)


def _rate(part: Mapping[str, Any], name: str) -> float:
    """Return the rate in Gb/s; raises TableError if it contradicts bytes and seconds."""
    rate, size, seconds = (_number(part, key) for key in ("bits_per_second", "bytes", "seconds"))
    if seconds <= 0 or size <= 0 or rate <= 0:
        raise TableError(Outcome.ZERO_BANDWIDTH, f"{name}: {size:.0f} bytes in {seconds} s")
    if abs(size * 8 / seconds - rate) > IPERF_SLACK * rate:
        raise TableError(Outcome.SUMS, f"{name}: {size:.0f} bytes in {seconds} s, {rate:.0f} bit/s")
    return rate / 1e9


def _intervals(report: Mapping[str, Any]) -> list[Interval]:
    rows = report.get("intervals")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise TableError(Outcome.MISSING_ROW, "no intervals")
    sums = [_part(row, "sum") for row in rows]
    intervals = [
        Interval(_number(s, "start"), _number(s, "end"), _number(s, "bits_per_second") / 1e9)
        for s in sums
    ]
    times = [at for each in intervals for at in (each.start_s, each.end_s)]
    if not intervals or times != sorted(times):
        raise TableError(Outcome.SUMS, "intervals do not follow each other")
    return intervals


OSU_TITLE = re.compile(r"# OSU MPI (?P<name>.+?) Latency Test(?: v[\w.]+)?\s*")
OSU_HEADER = re.compile(r"# Size\s+Avg Latency\(us\)(?P<rest>.*)")
OSU_EXTRA = {
    (): (),
    ("Min Latency(us)", "Max Latency(us)", "Iterations"): ("min", "max", "repetitions"),
}
IMB_TITLE = re.compile(r"# Benchmarking (?P<name>\w+)\s*")
IMB_PROCESSES = re.compile(r"# #processes = (?P<count>\d+)\s*")
IMB_HEADER = re.compile(
    r"\s*#bytes #repetitions\s+t_min\[usec\]\s+t_max\[usec\]\s+t_avg\[usec\]\s*"
)
SUMS = ("allreduce", "reduce")  # of floats, in most versions: their first size is 4 bytes
IMB_END = "# All processes entering MPI_Finalize"


@dataclass(frozen=True)
class MpiTable:
    """Table of one collective; processes is None if the output does not contain it."""

    collective: str  # alltoall, allgather, ..
    processes: int | None
    rows: tuple[MpiPoint, ...]


def read_osu(text: str, sizes: Sequence[int] = ()) -> MpiTable:
    """Read one OSU collective; raises TableError at the first fault.

    sizes: the requested ones, each twice the one before; the last is the only sign that the table
    is complete.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    titles = [m for line in lines if (m := OSU_TITLE.fullmatch(line))]
    at = next((n for n, line in enumerate(lines) if OSU_HEADER.fullmatch(line)), None)
    if len(titles) > 1:
        raise TableError(Outcome.TWO_TABLES, titles[1][0])
    if not titles or at is None:
        raise TableError(Outcome.NO_TABLE, lines[0] if lines else "")
    names, validated = _osu_columns(lines[at])
    below = lines[at + 1 :]
    end = _end(below)
    rows = tuple(_osu_row(line, names, validated) for line in below[:end])
    table = MpiTable(_plain(titles[0]["name"]), None, rows)
    _whole(table, lines[at], sizes)
    if below[end:] and below[end].split()[0] == str(2 * rows[-1].size_bytes):
        raise TableError(Outcome.DAMAGED_ROW, below[end])
    return table


def outside_tables(text: str) -> tuple[str, ...]:
    """Return the lines that are no comment and no row; in a table of IMB they would be a fault."""
    return tuple(
        line
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith("#") and not is_mostly_numbers(line)
    )


def _osu_columns(header: str) -> tuple[tuple[str, ...], bool]:
    match = OSU_HEADER.fullmatch(header)
    rest = re.split(r"\s{2,}", match["rest"].strip()) if match and match["rest"].strip() else []
    validated = rest[-1:] == ["Validation"]
    extra = tuple(rest[:-1] if validated else rest)
    if extra not in OSU_EXTRA:
        raise TableError(Outcome.DAMAGED_HEADER, header)
    return ("size", "avg", *OSU_EXTRA[extra]), validated


def _osu_row(line: str, names: Sequence[str], validated: bool) -> MpiPoint:
    cells = line.split()
    if validated:
        if cells[-1] == "Fail":
            raise TableError(Outcome.INVALID_DATA, line)
        if cells.pop() != "Pass":
            raise TableError(Outcome.DAMAGED_ROW, line)
    return _row(line, cells, names)


def read_imb(text: str, sizes: Sequence[int] = ()) -> tuple[MpiTable, ...]:
    """Read one run of IMB-MPI1, a table for each collective and number of processes.

    sizes: the requested ones, each twice the one before. Raises TableError at the first fault,
    including a missing last line.
    """
    lines = text.splitlines()
    if not any(line.startswith(IMB_END) for line in lines):
        raise TableError(Outcome.UNTERMINATED_TABLE, next((x for x in reversed(lines) if x), ""))
    starts = [n for n, line in enumerate(lines) if IMB_TITLE.fullmatch(line)]
    if not starts:
        raise TableError(Outcome.NO_TABLE, next((x for x in lines if x), ""))
    ends = [*starts[1:], len(lines)]
    return tuple(_imb_table(lines[a:b], sizes) for a, b in zip(starts, ends, strict=True))


def _imb_table(lines: Sequence[str], requested: Sequence[int]) -> MpiTable:
    title = IMB_TITLE.fullmatch(lines[0])
    processes = [m for line in lines if (m := IMB_PROCESSES.fullmatch(line))]
    at = next((n for n, line in enumerate(lines) if IMB_HEADER.fullmatch(line)), None)
    if title is None or at is None or len(processes) != 1:
        raise TableError(Outcome.UNKNOWN_LINE, lines[0])
    names = ("size", "repetitions", "min", "max", "avg")
    below = lines[at + 1 :]
    rows = tuple(_row(line, line.split(), names) for line in below[: _end(below)])
    table = MpiTable(_plain(title["name"]), int(processes[0]["count"]), rows)
    _whole(table, lines[at], requested)
    return table


def _plain(name: str) -> str:
    """Return a common name: `All-to-All Personalized Exchange` and `Alltoall` are the same."""
    return re.sub(r"[^a-z]", "", name.lower().removesuffix("personalized exchange"))


def _row(line: str, cells: Sequence[str], names: Sequence[str]) -> MpiPoint:
    if any(re.fullmatch(r"[-+]?(nan|inf)", cell, re.IGNORECASE) for cell in cells):
        raise TableError(Outcome.NOT_A_NUMBER, line)
    if len(cells) != len(names) or not all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", c) for c in cells):
        raise TableError(Outcome.DAMAGED_ROW, line)
    values = dict(zip(names, cells, strict=True))
    row = MpiPoint(
        size_bytes=int(values["size"]),
        average_us=float(values["avg"]),
        least_us=float(values["min"]) if "min" in values else None,
        most_us=float(values["max"]) if "max" in values else None,
    )
    if row.size_bytes and not row.average_us:
        raise TableError(Outcome.ZERO_LATENCY, line)
    low, high = row.least_us or 0.0, row.average_us if row.most_us is None else row.most_us
    if not low <= row.average_us <= high:
        raise TableError(Outcome.SUMS, line)
    return row


def _end(below: Sequence[str]) -> int:
    """Return the number of lines up to the last row: every line of these must be a row."""
    return max((n for n, line in enumerate(below, 1) if is_mostly_numbers(line)), default=0)


def _whole(table: MpiTable, header: str, requested: Sequence[int]) -> None:
    """Require sizes that double from row to row, except a first 0, and the requested ends."""
    sizes = [row.size_bytes for row in table.rows]
    if not sizes:
        raise TableError(Outcome.MISSING_ROW, header)
    for one, two in pairwise(sizes if sizes[0] else sizes[1:]):
        if not two or two != 2 * one:
            raise TableError(Outcome.MISSING_ROW, f"{two} bytes after {one}")
    first = next(filter(None, sizes), 0)
    if not requested:
        return
    least, most = requested[0], requested[-1]
    raised = (4,) if table.collective in SUMS and least < 4 else ()
    if first not in (least, *raised):
        line = f"{first} bytes is the first row, {least} was requested"
        raise TableError(Outcome.MISSING_ROW, line)
    if sizes[-1] != most:
        line = f"{sizes[-1]} bytes is the last row, {most} was requested"
        raise TableError(Outcome.UNTERMINATED_TABLE, line)
