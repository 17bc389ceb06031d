"""Outcome of a measurement: a sentence on its cause, or a row of figures with its arithmetic."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NoReturn

from rocefort.rdma.results import Figures


class Outcome(StrEnum):
    """Outcome of a measurement; only `measured` has figures."""

    MEASURED = "measured"
    # perftest reports the cause
    NO_SERVER = "no-server"
    BAD_ADDRESS = "bad-address"
    CANNOT_LISTEN = "cannot-listen"
    NO_PERFTEST = "no-perftest"
    NO_DEVICE = "no-device"
    NO_PERMISSION = "no-permission"
    PORT_DOWN = "port-down"
    LINK_LAYER = "link-layer"
    MTU = "mtu"
    DEVICE_CHECK = "device-check"
    MEMORY_LOCKED = "memory-lock-limit"
    NO_MEMORY = "no-memory"
    NO_GPU = "no-gpu"
    GPU_MEMORY = "gpu-memory"
    NO_RESOURCES = "no-resources"
    BAD_GID = "bad-gid"
    NO_PATH = "no-path"
    BAD_OPTION = "bad-option"
    OPTION_MISMATCH = "option-mismatch"
    RETRY_EXCEEDED = "retry-exceeded"
    RECEIVER_NOT_READY = "receiver-not-ready"
    REMOTE_REFUSED = "remote-refused"
    COMPLETION_ERROR = "completion-error"
    PEER_LOST = "peer-lost"
    NO_CLOCK = "no-clock"
    # before perftest, or another program
    UNREACHABLE = "unreachable"
    NO_PROGRAM = "no-program"
    OLD_PERFTEST = "old-perftest"
    VERSIONS_DIFFER = "versions-differ"
    DISK_FULL = "disk-full"
    TOOL_ERROR = "tool-error"
    # way in which the program ended
    TIMED_OUT = "timed-out"
    KILLED = "killed"
    EXIT_CODE = "exit-code"
    NOT_RUN = "not-run"
    # faults of its output
    NO_TABLE = "no-table"
    NOT_JSON = "not-json"
    UNTERMINATED_TABLE = "unterminated-table"
    MISSING_ROW = "missing-row"
    UNKNOWN_LINE = "unknown-line"
    NO_TITLE = "no-title"
    TWO_TABLES = "two-tables"
    DAMAGED_HEADER = "damaged-header"
    DAMAGED_ROW = "damaged-row"
    IMPOSSIBLE = "impossible-figure"
    NOT_A_NUMBER = "not-a-number"
    ZERO_ITERATIONS = "zero-iterations"
    ZERO_BANDWIDTH = "zero-bandwidth"
    ZERO_LATENCY = "zero-latency"
    INVALID_DATA = "invalid-data"
    TOO_SHORT = "too-short"
    SUMS = "sums-do-not-add-up"


MEANING: dict[Outcome, str] = {
    Outcome.MEASURED: "measured",
    Outcome.NO_SERVER: "no perftest server answers: firewall, wrong port, or it did not start",
    Outcome.BAD_ADDRESS: "the server's address does not resolve",
    Outcome.CANNOT_LISTEN: "the server cannot listen: its TCP port is in use, or the address is "
    "not its own",
    Outcome.NO_PERFTEST: "perftest is not installed there",
    Outcome.NO_DEVICE: "there is no such RDMA device",
    Outcome.NO_PERMISSION: "the user may not open the RDMA device",
    Outcome.PORT_DOWN: "the port of the RDMA device is not active: check cable and link",
    Outcome.LINK_LAYER: "the link layer of the port does not fit the test",
    Outcome.MTU: "the MTU does not fit the port",
    Outcome.DEVICE_CHECK: "the RDMA device did not pass a check of perftest",
    Outcome.MEMORY_LOCKED: "memory cannot be registered: raise the memlock limit",
    Outcome.NO_MEMORY: "the server lacks memory for the buffers of the test",
    Outcome.NO_GPU: "the GPU cannot be initialised",
    Outcome.GPU_MEMORY: "memory of the GPU cannot be registered: load nvidia_peermem, or use "
    "DMA-BUF",
    Outcome.NO_RESOURCES: "the RDMA device cannot create what the test needs",
    Outcome.BAD_GID: "there is no such GID index",
    Outcome.NO_PATH: "the NIC has no path to the peer: check the GID index and the routes",
    Outcome.BAD_OPTION: "this version of perftest lacks or refuses an option",
    Outcome.OPTION_MISMATCH: "the two ends did not run the same test",
    Outcome.RETRY_EXCEEDED: "the NIC gave up resending: packets are lost in the network",
    Outcome.RECEIVER_NOT_READY: "the receiver posted no buffers in time",
    Outcome.REMOTE_REFUSED: "the server's NIC refused a request: tests or sizes differ, or it lost "
    "packets",
    Outcome.COMPLETION_ERROR: "the NIC completed a request with an error",
    Outcome.PEER_LOST: "the other end disappeared during the test",
    Outcome.NO_CLOCK: "perftest could not calibrate its clock, so its numbers are void",
    Outcome.UNREACHABLE: "the server cannot be logged in to",
    Outcome.NO_PROGRAM: "the program is not installed there",
    Outcome.OLD_PERFTEST: "perftest there is older than the oldest supported version",
    Outcome.VERSIONS_DIFFER: "the two ends have different versions of perftest",
    Outcome.DISK_FULL: "no space is left on the server",
    Outcome.TOOL_ERROR: "the program reports an error of its own",
    Outcome.TIMED_OUT: "not finished at its deadline: it hung, or no packet arrived",
    Outcome.KILLED: "ended by a signal, or with its session, before it finished",
    Outcome.EXIT_CODE: "ended with an error",
    Outcome.NOT_RUN: "not run",
    Outcome.NO_TABLE: "printed no table of results",
    Outcome.NOT_JSON: "the report is neither JSON nor the form of older versions of perftest",
    Outcome.UNTERMINATED_TABLE: "the table of results breaks off",
    Outcome.MISSING_ROW: "a row of the table is missing",
    Outcome.UNKNOWN_LINE: "printed a line that cannot be read",
    Outcome.NO_TITLE: "the output does not name its test above the table",
    Outcome.TWO_TABLES: "the output holds more than one table or title",
    Outcome.DAMAGED_HEADER: "the columns of the table are not complete, or not known",
    Outcome.DAMAGED_ROW: "a row of the table is damaged",
    Outcome.IMPOSSIBLE: "a figure of the table is impossible: it is negative",
    Outcome.NOT_A_NUMBER: "the table holds a value that is no number",
    Outcome.ZERO_ITERATIONS: "no message arrived: UDP 4791 is blocked, or the path MTU is "
    "smaller than the RoCE MTU",
    Outcome.ZERO_BANDWIDTH: "the bandwidth is zero",
    Outcome.ZERO_LATENCY: "the latency is zero",
    Outcome.INVALID_DATA: "the data that arrived differ from the data sent",
    Outcome.TOO_SHORT: "shorter than the program's clock counts: transfer more bytes (--bytes)",
    Outcome.SUMS: "the figures of one row contradict each other",
}


GBPS = {"Gb/sec": 1.0, "MB/sec": 8 * 2**20 / 1e9, "MiB/sec": 8 * 2**20 / 1e9}
SLACK = 0.001  # in addition to rounding: versions round different values first
# Columns of the spread between messages. perftest prints `-nan` for them in some runs. The
# average does not depend on them, so it is measured.
DEVIATIONS = ("t_stdev", "99% percentile", "99.9% percentile")
NOT_A_NUMBER = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|nan|inf|infinity)", re.IGNORECASE)

Cells = Mapping[str, "MeasuredValue | None"]  # by column; None: a deviation that is no number


class TableError(Exception):
    """The text is no table that can be trusted; outcome, and the line that decides."""

    def __init__(self, outcome: Outcome, line: str) -> None:
        self.outcome, self.line = outcome, " ".join(line.split())
        super().__init__(f"{outcome}: {self.line}")


def no_number(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's JSON reader would take."""
    raise TableError(Outcome.NOT_A_NUMBER, name)


REPORT = re.compile(r'^\{\s*"[^"\n]*"\s*:', re.MULTILINE)
REPORTS = json.JSONDecoder(parse_constant=no_number)
SAME_LINE = re.compile(r"[ \t,]*\{")  # a second report directly behind the first
TOO_DEEP = "its values are nested too deep"


def split_report(text: str) -> tuple[object, tuple[str, ...]]:
    """Return the JSON report that begins at the start of a line, and the lines around it.

    Raises TableError if a report is damaged, if there is none, or more than one. A report begins
    with its first key; `{}` or `{x` is a line of text.
    """
    begin = REPORT.search(text)
    if begin is None:
        raise TableError(Outcome.NOT_JSON, next(filter(str.strip, text.split("\n")), ""))
    try:
        report, end = REPORTS.raw_decode(text, begin.start())
    except ValueError as error:
        raise TableError(Outcome.NOT_JSON, str(error)) from None
    except RecursionError:
        raise TableError(Outcome.NOT_JSON, TOO_DEEP) from None
    if SAME_LINE.match(text, end) or REPORT.search(text, end):
        raise TableError(Outcome.TWO_TABLES, "2 reports")
    around = (*text[: begin.start()].split("\n"), *text[end:].split("\n"))
    return report, tuple(line for line in around if line.strip())


def is_mostly_numbers(line: str) -> bool:
    """Return whether a line looks like a row, perhaps a damaged one, and not like text."""
    cells = line.split()
    return 2 * sum(bool(NUMBER.fullmatch(cell)) for cell in cells) > len(cells)


@dataclass(frozen=True)
class MessageSizeRow:
    """Figures of one message size; a figure that perftest does not measure is None.

    A run over a duration (`-D`, `-N`) has no peak bandwidth, and only the average latency.
    """

    size_bytes: int
    figures: Figures


@dataclass(frozen=True)
class MeasuredValue:
    """A value in Gb/s, Mpps, us or the unit of its column, and its largest rounding error."""

    value: float
    rounding: float

    @classmethod
    def read(cls, column: str, text: str) -> MeasuredValue:
        """Read a value of a column whose title may end in its unit, such as `[Gb/sec]`."""
        factor = GBPS.get(column.partition("[")[2].removesuffix("]"), 1.0)
        exponent = Decimal(text).as_tuple().exponent
        last_digit = 10.0**exponent if isinstance(exponent, int) else 0.0
        return cls(float(text) * factor, last_digit / 2 * factor)


def table_row(line: str, cells: Cells) -> MessageSizeRow:
    """Return the row of a bandwidth or latency test; raises TableError if its figures contradict.

    cells: by column, without units.
    """
    values = {name: cell for name, cell in cells.items() if cell is not None}
    if values["#iterations"].value == 0:
        raise TableError(Outcome.ZERO_ITERATIONS, line)
    return _bandwidth_row(line, values) if "BW average" in values else _latency_row(line, values)


MOST_CPU_PERCENT = 100.0  # of all CPUs (perftest_resources.c, `calc_cpu_util`)


def _bandwidth_row(line: str, values: Mapping[str, MeasuredValue]) -> MessageSizeRow:
    average, peak, rate = values["BW average"], values["BW peak"], values["MsgRate"]
    size = values["#bytes"].value
    gbps_per_mpps = size * 8 / 1000
    rounding = average.rounding + rate.rounding * gbps_per_mpps
    # The rate of a few large messages is rounded to 0.000000 million a second.
    if average.value == 0 or (rate.value == 0 and average.value > rounding):
        raise TableError(Outcome.ZERO_BANDWIDTH, line)
    _require(_is_near(average.value, rate.value * gbps_per_mpps, rounding), line)
    _require(peak.value == 0 or _ordered(average, peak), line)
    lowest = values.get("BW min")
    _require(lowest is None or _ordered(lowest, average), line)
    ports = [values[name] for name in ("BW Port1", "BW Port2") if name in values]
    sum_rounding = average.rounding + sum(port.rounding for port in ports)
    together = sum(port.value for port in ports)
    _require(not ports or _is_near(average.value, together, sum_rounding), line)
    figures = Figures(
        gbps=average.value,
        peak_gbps=peak.value or None,
        mpps=rate.value or None,
        iterations=int(values["#iterations"].value),
        cpu_percent=cpu.value if (cpu := values.get("CPU_Util")) else None,
    )
    _require(figures.cpu_percent is None or figures.cpu_percent <= MOST_CPU_PERCENT, line)
    return MessageSizeRow(int(size), figures)


def _latency_row(line: str, values: Mapping[str, MeasuredValue]) -> MessageSizeRow:
    average = values["t_avg"]
    if not all(values[name].value for name in ("t_avg", "t_min", "t_typical") if name in values):
        raise TableError(Outcome.ZERO_LATENCY, line)
    if "tps average" in values:
        _require(_is_round_trip(average, values["tps average"]), line)
    for low, high in (
        ("t_min", "t_typical"),
        ("t_typical", "t_max"),
        ("t_min", "t_avg"),
        ("t_avg", "t_max"),
        ("t_typical", "99% percentile"),  # the median
        ("99% percentile", "99.9% percentile"),
        ("99% percentile", "t_max"),
        ("99.9% percentile", "t_max"),
    ):
        if low in values and high in values:
            _require(_ordered(values[low], values[high]), line)

    def of(name: str) -> float | None:
        return values[name].value if name in values else None

    figures = Figures(
        latency_us=average.value,
        least_us=of("t_min"),
        typical_us=of("t_typical"),
        most_us=of("t_max"),
        stdev_us=of("t_stdev"),
        p99_us=of("99% percentile"),
        p999_us=of("99.9% percentile"),
        iterations=int(values["#iterations"].value),
    )
    return MessageSizeRow(int(values["#bytes"].value), figures)


def _is_round_trip(average: MeasuredValue, per_second: MeasuredValue) -> bool:
    """Check that latency is half a transaction (write, send) or a whole one (read)."""
    product = average.value * per_second.value
    rounding = average.rounding * per_second.value + per_second.rounding * average.value
    return _is_near(product, 0.5e6, rounding) or _is_near(product, 1e6, rounding)


def _is_near(a: float, b: float, rounding: float) -> bool:
    return abs(a - b) <= rounding * 1.0001 + SLACK * max(a, b)


def _ordered(low: MeasuredValue, high: MeasuredValue) -> bool:
    return low.value <= high.value + low.rounding + high.rounding


def _require(holds: bool, line: str) -> None:
    if not holds:
        raise TableError(Outcome.SUMS, line)
