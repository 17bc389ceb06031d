"""Readers of transfers: iperf 2, lftp, rsync and scp; HPN-SSH, bbcp and WDT from kept outputs.

Each returns what the program itself prints, and refuses an output whose figures contradict each
other. Rates are of payload, except that of ssh, which counts its encrypted packets.

Source of the forms: runs of iperf 2.1.8, lftp 4.9.2, rsync 3.5.0, OpenSSH 9.2, HPN-SSH 18.6.2 and
bbcp 14.04.14; README.md and `Sender.cpp` of WDT, without a run of ours. iperf counts Kbytes in
1024 and Kbits in 1000; lftp, bbcp and WDT count in 1024.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocefort.rdma.parse.outcome import Outcome, TableError
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import Point

SLACK = 0.02  # of figures in print with few digits
NUMBER = r"\d+(?:\.\d+)?"
POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
IPERF_ROW = re.compile(
    rf"^\[ *(?P<id>\d+|SUM)\] +(?P<begin>{NUMBER})-(?P<end>{NUMBER}) sec +"
    rf"(?P<size>{NUMBER}) (?P<bytes>[KMGT]?)Bytes +(?P<rate>{NUMBER}) (?P<bits>[KMGT]?)bits/sec",
    re.MULTILINE,
)
IPERF_WINDOW = re.compile(
    rf"TCP window size: *(?P<has>{NUMBER}) (?P<unit>[KMGT]?)Bytes? +\(WARNING: requested +"
    rf"(?P<asked>{NUMBER}) (?P<asked_unit>[KMGT]?)Bytes?\)"
)
LFTP = re.compile(
    rf"^(?P<size>\d+) bytes transferred"
    rf"(?: in (?P<seconds>\d+) seconds? \((?P<rate>{NUMBER}) (?P<unit>[KMGT]?)i?B/s\))?$",
    re.MULTILINE,
)
RSYNC = re.compile(
    r"^sent (?P<sent>[\d,]+) bytes  received (?P<received>[\d,]+) bytes  "
    r"(?P<rate>[\d,]+\.\d+) bytes/sec$",
    re.MULTILINE,
)
RSYNC_FILES = re.compile(r"^Total transferred file size: (?P<size>[\d,]+) bytes$", re.MULTILINE)
SSH = re.compile(
    rf"Transferred: sent (?P<sent>\d+), received (?P<received>\d+) bytes, "
    rf"in (?P<seconds>{NUMBER}) seconds\s+"
    rf"(?:debug1: )?Bytes per second: sent (?P<out>{NUMBER}), received (?P<in>{NUMBER})"
)
SSH_EXIT = re.compile(r"^debug1: (?:client_loop: )?Exit status (?P<code>-?\d+)", re.MULTILINE)
BBCP = re.compile(
    rf"^(?P<files>\d+) files? copied at effectively (?P<rate>{NUMBER}) (?P<unit>[KMGT]?)B/s$",
    re.MULTILINE,
)
BBCP_FILE = re.compile(r"^File \S+ created; (?P<size>\d+) bytes at ", re.MULTILINE)
WITHIN = r"(?:(?!Total\s+sender\s+time).)*?"  # up to the next report, so that time stays linear
WDT = re.compile(
    rf"Total\s+sender\s+time\s+=\s+(?P<seconds>{NUMBER})\s+seconds{WITHIN}"
    rf"Transfer\s+status(?:\s+\(local\))?\s+=\s+(?P<status>[A-Z_]++){WITHIN}"
    rf"Total\s+bytes\s+=\s+(?P<size>\d+)\.{WITHIN}"
    rf"Total\s+sender\s+throughput\s+=\s+(?P<rate>{NUMBER})\s+Mbytes/sec",
    re.DOTALL,
)
REFUSED = "connection refused"


@dataclass(frozen=True)
class TransferResult:
    """Result of one transfer; None: the program does not print it.

    series: rates of its intervals. note: what its figures do not say.
    """

    gbps: float
    size_bytes: int | None = None
    seconds: float | None = None
    series: tuple[Point, ...] = ()
    note: str = ""

    @property
    def text(self) -> str:
        """Rate, and bytes with their time, as text."""
        moved = ""
        if self.size_bytes is not None and self.seconds is not None:
            moved = f"; {self.size_bytes} bytes in {self.seconds:.1f} s"
        return f"{self.gbps:.3g} Gb/s{moved}"


def read_transfer(program: Program, text: str) -> TransferResult:
    """Read standard output and error of one program together; raises TableError."""
    result = READERS[program](text)
    if result.gbps <= 0:
        raise TableError(Outcome.ZERO_BANDWIDTH, "0 bytes a second")
    return result


def _last(form: re.Pattern[str], text: str) -> re.Match[str]:
    """Return the last place of a form; raises TableError with the last line otherwise."""
    matches = list(form.finditer(text))
    if not matches:
        lines = [line for line in text.splitlines() if line.strip()]
        if refused := next((line for line in lines if REFUSED in line.lower()), None):
            raise TableError(Outcome.NO_SERVER, refused)
        raise TableError(Outcome.NO_TABLE, lines[-1] if lines else "")
    return matches[-1]


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def _scaled(number: str, prefix: str, base: int) -> float:
    return float(number) * float(base ** POWERS[prefix])


def _agree(line: str, gbps: float, size_bytes: float, seconds: float, slack: float) -> None:
    """Raise TableError if a rate does not follow from bytes and seconds."""
    computed = size_bytes * 8e-9 / seconds if seconds else 0.0
    if abs(computed - gbps) > slack * max(computed, gbps):
        raise TableError(Outcome.SUMS, line)


def require_window(text: str, who: str) -> None:
    """Raise TableError if one end of iperf has a smaller window than requested."""
    if window := IPERF_WINDOW.search(text):
        has = _scaled(window["has"], window["unit"], 1024)
        asked = _scaled(window["asked"], window["asked_unit"], 1024)
        if has < asked:  # Linux shows twice what it grants
            raise TableError(
                Outcome.OPTION_MISMATCH,
                f"{who} a window of {has:.0f} bytes, {asked:.0f} were requested: raise "
                "net.core.rmem_max and net.core.wmem_max there",
            )


def _iperf(text: str) -> TransferResult:
    """Read the rows of one connection, or of the sum of several."""
    require_window(text, "it has")
    _last(IPERF_ROW, text)
    rows = list(IPERF_ROW.finditer(text))
    sums = [row for row in rows if row["id"] == "SUM"]
    if not sums and len({row["id"] for row in rows}) > 1:
        raise TableError(Outcome.MISSING_ROW, "several connections, and no [SUM]")
    rows = sums or rows
    total = rows[-1]
    rates = [_scaled(row["rate"], row["bits"], 1000) * 1e-9 for row in rows]
    for row, gbps in zip(rows, rates, strict=True):
        seconds = float(row["end"]) - float(row["begin"])
        _agree(row[0], gbps, _scaled(row["size"], row["bytes"], 1024), seconds, SLACK)
    if float(total["begin"]) != 0:
        raise TableError(Outcome.UNTERMINATED_TABLE, total[0])
    series = tuple(
        Point(at_s=float(row["end"]), gbps=gbps)
        for row, gbps in zip(rows[:-1], rates[:-1], strict=True)
    )
    times = [point.at_s for point in series]
    if times != sorted(times):
        raise TableError(Outcome.SUMS, "intervals do not follow each other")
    size = round(_scaled(total["size"], total["bytes"], 1024))
    return TransferResult(rates[-1], size, float(total["end"]), series)


def _lftp(text: str) -> TransferResult:
    done = _last(LFTP, text)
    size = int(done["size"])
    if done["seconds"] is None:
        raise TableError(Outcome.TOO_SHORT, done[0])
    rate = _scaled(done["rate"], done["unit"], 1024)
    seconds = size / rate if rate else 0.0
    if abs(seconds - int(done["seconds"])) > 1:
        raise TableError(Outcome.SUMS, done[0])
    return TransferResult(rate * 8e-9, size, seconds)


def _rsync(text: str) -> TransferResult:
    """Read the summary; its rate is over half a second more than whole seconds (main.c)."""
    done = _last(RSYNC, text)
    moved = _whole(done["sent"]) + _whole(done["received"])
    rate = float(done["rate"].replace(",", ""))
    seconds = moved / rate if rate else 0.0
    if abs(seconds - 0.5 - round(seconds - 0.5)) > SLACK:
        raise TableError(Outcome.SUMS, done[0])
    files = RSYNC_FILES.search(text)
    size = _whole(files["size"]) if files else None
    if seconds < 1:
        raise TableError(Outcome.TOO_SHORT, done[0])
    return TransferResult(rate * 8e-9, size, seconds, note="it counts whole seconds")


def _ssh(text: str) -> TransferResult:
    """Read what ssh prints below scp with -v; the larger direction is that of the files."""
    done = _last(SSH, text)
    status = SSH_EXIT.search(text, done.end())
    if status is not None and status["code"] != "0":
        raise TableError(Outcome.EXIT_CODE, status[0])
    outwards = float(done["out"]) >= float(done["in"])
    rate = float(done["out"] if outwards else done["in"])
    size = int(done["sent"] if outwards else done["received"])
    seconds = float(done["seconds"])
    rounding = 0.05 / max(seconds, 0.05) + SLACK
    _agree(" ".join(done[0].split()), rate * 8e-9, size, seconds, rounding)
    return TransferResult(rate * 8e-9, size, seconds, note="with login and encryption")


def _bbcp(text: str) -> TransferResult:
    done = _last(BBCP, text)
    rate = _scaled(done["rate"], done["unit"], 1024)
    sizes = [int(each["size"]) for each in BBCP_FILE.finditer(text)]
    whole = len(sizes) == int(done["files"])
    if not whole:
        return TransferResult(rate * 8e-9)
    return TransferResult(rate * 8e-9, sum(sizes), sum(sizes) / rate if rate else None)


def _wdt(text: str) -> TransferResult:
    done = _last(WDT, text)
    if done["status"] != "OK":
        raise TableError(Outcome.TOOL_ERROR, f"Transfer status = {done['status']}")
    rate = _scaled(done["rate"], "M", 1024)
    size, seconds = int(done["size"]), float(done["seconds"])
    line = f"Total sender throughput = {done['rate']} Mbytes/sec"
    _agree(line, rate * 8e-9, size, seconds, SLACK)
    return TransferResult(rate * 8e-9, size, seconds)


READERS: Mapping[Program, Callable[[str], TransferResult]] = {
    Program.IPERF: _iperf,
    Program.LFTP: _lftp,
    Program.RSYNC: _rsync,
    Program.SCP: _ssh,
    Program.HPNSCP: _ssh,
    Program.BBCP: _bbcp,
    Program.WDT: _wdt,
}
