"""Reader of iperf3's JSON report (`-J`): TCP traffic parallel to RDMA, and over time.

Source of the form: runs of iperf3 3.12 and public outputs of 3.6 to 3.11. With `-J` iperf3 3.12
ends with exit code 0 even if it cannot connect, so `error` in the report decides. Some keys are
twice in one object (`sock_bufsize`); a strict JSON reader would refuse the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError, split_report

LARGEST = 1e18  # a larger value means a broken report
SLACK = 0.02  # between the clocks of the two ends: each divides by its own seconds
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
    return IperfResult(
        received_gbps=_rate(received, "sum_received"),
        sent_gbps=_rate(sent, "sum_sent"),
        seconds=_number(received, "seconds"),
        streams=len(streams),
        retransmits=retransmits if isinstance(retransmits, int) else None,
        tos=tos if isinstance(tos, int) else None,
        intervals=tuple(_intervals(report)),
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
    if not 0 <= value < LARGEST:
        raise TableError(Outcome.NOT_A_NUMBER, f"{key}: {value}")
    return float(value)


def _rate(part: Mapping[str, Any], name: str) -> float:
    """Return the rate in Gb/s; raises TableError if it contradicts bytes and seconds."""
    rate, size, seconds = (_number(part, key) for key in ("bits_per_second", "bytes", "seconds"))
    if seconds <= 0 or size <= 0 or rate <= 0:
        raise TableError(Outcome.ZERO_BANDWIDTH, f"{name}: {size:.0f} bytes in {seconds} s")
    if abs(size * 8 / seconds - rate) > SLACK * rate:
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
