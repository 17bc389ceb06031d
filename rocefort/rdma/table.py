"""The table of results that perftest prints, read strictly: every line known, every row checked.

Text of perftest 4.4 to 24.07 (`--version` 6.x): bandwidth in Gb/sec, MB/sec or MiB/sec (both of the
latter are 2^20 bytes), latency over iterations, latency over a duration (`-D`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from rocefort.rdma.outcome import Outcome

RULE = re.compile(r"-{20,}\s*")
HEADER = re.compile(r"\s*#bytes\b.*")
TITLE = re.compile(
    r"\s+(?P<verb>RDMA_Write|RDMA_Read|Send) (?P<both>Bidirectional )?(?P<kind>BW|Latency) Test\s*"
)
COUNTER = re.compile(r"\t[\w/.-]+=\d+\s*")  # of `-W`
KNOWN = re.compile(
    r"\s*|\*+\s*|\* Waiting for client to connect\.\.\. \*\s*"
    r"| Waiting for client rdma_cm QP to connect\s*"
    r"| Please run the same command with the IB/RoCE interface IP\s*"
    r"| (?!(?i:warn|error|fail))[A-Za-z][\w .*/-]*\s*: ?.*"
)
RATE = r"(?:Gb|MB|MiB)/sec"
COLUMN = re.compile(
    r"#bytes|#iterations"
    rf"|BW (?:peak|average|min)\[{RATE}\]|MsgRate\[Mpps\]|CPU_Util\[%\]"
    r"|t_(?:min|max|typical|avg|stdev)\[usec\]|99(?:\.9)?% percentile\[usec\]|tps average"
)
BANDWIDTH = ("#bytes", "#iterations", "BW peak", "BW average", "MsgRate")
LATENCY = (
    "#bytes",
    "#iterations",
    "t_min",
    "t_max",
    "t_typical",
    "t_avg",
    "t_stdev",
    "99% percentile",
    "99.9% percentile",
)
LATENCY_DURATION = ("#bytes", "#iterations", "t_avg", "tps average")
GBPS = {"Gb/sec": 1.0, "MB/sec": 8 * 2**20 / 1e9, "MiB/sec": 8 * 2**20 / 1e9}
SLACK = 0.001  # beyond rounding: versions differ in what they round first


class FlawError(Exception):
    """The text is not a table that can be trusted: which outcome, and the line that decides."""

    def __init__(self, outcome: Outcome, line: str) -> None:
        self.outcome, self.line = outcome, " ".join(line.split())
        super().__init__(f"{outcome}: {self.line}")


@dataclass(frozen=True)
class BandwidthRow:
    """One message size; peak is None where perftest did not measure it (`-D`, `-N`)."""

    size_bytes: int
    iterations: int
    peak_gbps: float | None
    average_gbps: float
    rate_mpps: float


@dataclass(frozen=True)
class LatencyRow:
    """One message size, microseconds; only the average is there for a run over a duration."""

    size_bytes: int
    iterations: int
    average_us: float
    min_us: float | None = None
    max_us: float | None = None
    typical_us: float | None = None
    stdev_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None


Row = BandwidthRow | LatencyRow


@dataclass(frozen=True)
class Table:
    """Title such as `RDMA_Write BW Test` and the rows, in order of size."""

    title: str
    rows: tuple[Row, ...]


def has_table(text: str) -> bool:
    """Whether a table begins in this output."""
    return any(HEADER.fullmatch(line) for line in text.splitlines())


def read_table(text: str) -> Table:
    """Read one output of perftest; raises FlawError at the first thing that is off."""
    lines = text.splitlines()
    at = next((n for n, line in enumerate(lines) if HEADER.fullmatch(line)), None)
    if at is None:
        strange = next((line for line in lines if not _is_known(line)), "")
        raise FlawError(Outcome.NO_TABLE, strange)
    title = _title(lines[:at])
    columns = _columns(lines[at])
    rows = tuple(_row(line, columns) for line in _body(lines[at], lines[at + 1 :]))
    _check_sizes(rows, lines[at])
    return Table(title, rows)


def _is_known(line: str) -> bool:
    return bool(RULE.fullmatch(line) or KNOWN.fullmatch(line) or TITLE.fullmatch(line))


def _title(preamble: Sequence[str]) -> str:
    for line in preamble:
        if not _is_known(line):
            raise FlawError(Outcome.UNKNOWN_LINE, line)
    titles = [line.strip() for line in preamble if TITLE.fullmatch(line)]
    if len(titles) != 1:
        raise FlawError(Outcome.UNKNOWN_LINE, " / ".join(titles) or "no title above the table")
    return titles[0]


def _body(header: str, lines: Sequence[str]) -> list[str]:
    """The lines between header and rule that must be rows."""
    end = next((n for n, line in enumerate(lines) if RULE.fullmatch(line)), None)
    if end is None:
        raise FlawError(Outcome.UNTERMINATED_TABLE, lines[-1] if lines else header)
    for line in lines[end + 1 :]:
        if line.strip():
            raise FlawError(Outcome.UNKNOWN_LINE, line)
    rows = [line for line in lines[:end] if line.strip() and not COUNTER.fullmatch(line)]
    if not rows:
        raise FlawError(Outcome.MISSING_ROW, header)
    return rows


def _columns(header: str) -> tuple[str, ...]:
    names = tuple(COLUMN.findall(header))
    bare = tuple(name.partition("[")[0] for name in names if not _is_extra(name))
    if COLUMN.sub("", header).strip() or bare not in (BANDWIDTH, LATENCY, LATENCY_DURATION):
        raise FlawError(Outcome.UNKNOWN_LINE, header)
    return names


def _is_extra(column: str) -> bool:
    """Columns that options or a later version add to the bandwidth table."""
    return column.startswith(("CPU_Util", "BW min"))


def _row(line: str, columns: tuple[str, ...]) -> Row:
    cells = line.split()
    if any(re.fullmatch(r"[-+]?(nan|inf|infinity)", cell, re.IGNORECASE) for cell in cells):
        raise FlawError(Outcome.NOT_A_NUMBER, line)
    whole = all(re.fullmatch(r"\d+", cell) for cell in cells[:2])
    if len(cells) != len(columns) or not whole or not all(map(_is_number, cells)):
        raise FlawError(Outcome.UNKNOWN_LINE, line)
    values = {n.partition("[")[0]: _Cell.read(n, c) for n, c in zip(columns, cells, strict=True)}
    if values["#iterations"].value == 0:
        raise FlawError(Outcome.ZERO_ITERATIONS, line)
    return _bandwidth(line, values) if "BW average" in values else _latency(line, values)


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.\d+)?", cell))


@dataclass(frozen=True)
class _Cell:
    """A value in Gb/s, Mpps, us or as it stands, and how far rounding may have moved it."""

    value: float
    rounding: float

    @classmethod
    def read(cls, column: str, text: str) -> _Cell:
        factor = GBPS.get(column.partition("[")[2].removesuffix("]"), 1.0)
        exponent = Decimal(text).as_tuple().exponent
        last_digit = 10.0**exponent if isinstance(exponent, int) else 0.0
        return cls(float(text) * factor, last_digit / 2 * factor)


def _bandwidth(line: str, values: dict[str, _Cell]) -> BandwidthRow:
    average, peak, rate = values["BW average"], values["BW peak"], values["MsgRate"]
    if average.value == 0:
        raise FlawError(Outcome.ZERO_BANDWIDTH, line)
    size = values["#bytes"].value
    gbps_per_mpps = size * 8 / 1000
    rounding = average.rounding + rate.rounding * gbps_per_mpps
    _require(_near(average.value, rate.value * gbps_per_mpps, rounding), line)
    _require(peak.value == 0 or _ordered(average, peak), line)
    lowest = values.get("BW min")
    _require(lowest is None or _ordered(lowest, average), line)
    return BandwidthRow(
        size_bytes=int(size),
        iterations=int(values["#iterations"].value),
        peak_gbps=peak.value or None,
        average_gbps=average.value,
        rate_mpps=rate.value,
    )


def _latency(line: str, values: dict[str, _Cell]) -> LatencyRow:
    average = values["t_avg"]
    if average.value == 0:
        raise FlawError(Outcome.ZERO_LATENCY, line)
    if "tps average" in values:
        _require(_is_round_trip(average, values["tps average"]), line)
    else:
        for low, high in (
            ("t_min", "t_typical"),
            ("t_typical", "t_max"),
            ("t_min", "t_avg"),
            ("t_avg", "t_max"),
            ("99% percentile", "99.9% percentile"),
            ("99.9% percentile", "t_max"),
        ):
            _require(_ordered(values[low], values[high]), line)

    def of(name: str) -> float | None:
        return values[name].value if name in values else None

    return LatencyRow(
        size_bytes=int(values["#bytes"].value),
        iterations=int(values["#iterations"].value),
        average_us=average.value,
        min_us=of("t_min"),
        max_us=of("t_max"),
        typical_us=of("t_typical"),
        stdev_us=of("t_stdev"),
        p99_us=of("99% percentile"),
        p999_us=of("99.9% percentile"),
    )


def _is_round_trip(average: _Cell, per_second: _Cell) -> bool:
    """Latency is half a transaction for write and send, a whole one for read."""
    product = average.value * per_second.value
    rounding = average.rounding * per_second.value + per_second.rounding * average.value
    return _near(product, 0.5e6, rounding) or _near(product, 1e6, rounding)


def _near(a: float, b: float, rounding: float) -> bool:
    return abs(a - b) <= rounding * 1.0001 + SLACK * max(a, b)


def _ordered(low: _Cell, high: _Cell) -> bool:
    return low.value <= high.value + low.rounding + high.rounding


def _require(holds: bool, line: str) -> None:
    if not holds:
        raise FlawError(Outcome.SUMS, line)


def _check_sizes(rows: Sequence[Row], header: str) -> None:
    """`-a` doubles the size from row to row."""
    for one, two in pairwise(rows):
        if two.size_bytes != 2 * one.size_bytes:
            line = f"{header.strip()}: {two.size_bytes} bytes after {one.size_bytes}"
            raise FlawError(Outcome.MISSING_ROW, line)
