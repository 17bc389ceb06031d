"""Strict reader of perftest's text table: every line must be known, every row is checked.

Source of the form: perftest 4.4 to 24.07 (`--version` 6.x). Bandwidth is in Gb/sec, MB/sec or
MiB/sec (the latter two are both 2^20 bytes); latency is over iterations or a duration (`-D`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocefort.models.results.rdma_result import Figures
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import (
    MeasuredValue,
    MessageSizeRow,
    TableError,
    bandwidth_row,
    latency_row,
)

RULE = re.compile(r"-{20,}\s*")
HEADER = re.compile(r"\s*#bytes\b.*")
TITLE = re.compile(
    r"\s+(?P<verb>RDMA_Write|RDMA_Read|Send) (?P<both>Bidirectional )?(?P<kind>BW|Latency) Test\s*"
)
COUNTER = re.compile(r"\t[\w/.-]+=\d+\s*")  # printed with `-W`
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


@dataclass(frozen=True)
class PerftestTable:
    """Table with a title such as `RDMA_Write BW Test`, and rows in order of size."""

    title: str
    rows: tuple[MessageSizeRow, ...]


def has_table(text: str) -> bool:
    """Return whether this output contains a table header."""
    return any(HEADER.fullmatch(line) for line in text.splitlines())


def read_table(text: str) -> PerftestTable:
    """Read one output of perftest; raises TableError at the first fault."""
    lines = text.splitlines()
    at = next((n for n, line in enumerate(lines) if HEADER.fullmatch(line)), None)
    if at is None:
        strange = next((line for line in lines if not _is_known(line)), "")
        raise TableError(Outcome.NO_TABLE, strange)
    title = _title(lines[:at])
    columns = _columns(lines[at])
    rows = tuple(_row(line, columns) for line in _body(lines[at], lines[at + 1 :]))
    _check_sizes(rows, lines[at])
    return PerftestTable(title, rows)


def read_growing(text: str) -> tuple[MessageSizeRow, ...]:
    """Read the rows of a run that prints periodically until it is ended; raises TableError.

    No rule ends the table. A row of zeros is valid here. An incomplete last line is left out.
    """
    lines = text.splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if HEADER.fullmatch(line.rstrip("\n"))), None)
    if at is None:
        return ()
    _title([line.rstrip("\n") for line in lines[:at]])
    columns = _columns(lines[at].rstrip("\n"))
    whole = [line for line in lines[at + 1 :] if line.endswith("\n") and line.strip()]
    return tuple(_growing_row(line, columns) for line in whole if not RULE.fullmatch(line))


def _growing_row(line: str, columns: tuple[str, ...]) -> MessageSizeRow:
    cells = line.split()
    nothing = all(re.fullmatch(r"0+(\.0+)?", cell) for cell in cells[1:])
    if len(cells) == len(columns) and cells[0].isdecimal() and nothing:
        return MessageSizeRow(int(cells[0]), Figures(gbps=0.0, mpps=0.0, iterations=0))
    return _row(line, columns)


def _is_known(line: str) -> bool:
    return bool(RULE.fullmatch(line) or KNOWN.fullmatch(line) or TITLE.fullmatch(line))


def _title(preamble: Sequence[str]) -> str:
    for line in preamble:
        if not _is_known(line):
            raise TableError(Outcome.UNKNOWN_LINE, line)
    titles = [line.strip() for line in preamble if TITLE.fullmatch(line)]
    if len(titles) != 1:
        raise TableError(Outcome.UNKNOWN_LINE, " / ".join(titles) or "no title above the table")
    return titles[0]


def _body(header: str, lines: Sequence[str]) -> list[str]:
    """Return the lines between header and rule, which must be rows."""
    end = next((n for n, line in enumerate(lines) if RULE.fullmatch(line)), None)
    if end is None:
        raise TableError(Outcome.UNTERMINATED_TABLE, lines[-1] if lines else header)
    for line in lines[end + 1 :]:
        if line.strip():
            raise TableError(Outcome.UNKNOWN_LINE, line)
    rows = [line for line in lines[:end] if line.strip() and not COUNTER.fullmatch(line)]
    if not rows:
        raise TableError(Outcome.MISSING_ROW, header)
    return rows


def _columns(header: str) -> tuple[str, ...]:
    names = tuple(COLUMN.findall(header))
    bare = tuple(name.partition("[")[0] for name in names if not _is_extra(name))
    if COLUMN.sub("", header).strip() or bare not in (BANDWIDTH, LATENCY, LATENCY_DURATION):
        raise TableError(Outcome.UNKNOWN_LINE, header)
    return names


def _is_extra(column: str) -> bool:
    """Return whether an option or a later version adds this column to the bandwidth table."""
    return column.startswith(("CPU_Util", "BW min"))


def _row(line: str, columns: tuple[str, ...]) -> MessageSizeRow:
    cells = line.split()
    if any(re.fullmatch(r"[-+]?(nan|inf|infinity)", cell, re.IGNORECASE) for cell in cells):
        raise TableError(Outcome.NOT_A_NUMBER, line)
    whole = all(re.fullmatch(r"[0-9]+", cell) for cell in cells[:2])
    if len(cells) != len(columns) or not whole or not all(map(_is_figure, cells[2:])):
        raise TableError(Outcome.UNKNOWN_LINE, line)
    values = {
        n.partition("[")[0]: MeasuredValue.read(n, c) for n, c in zip(columns, cells, strict=True)
    }
    if values["#iterations"].value == 0:
        raise TableError(Outcome.ZERO_ITERATIONS, line)
    return bandwidth_row(line, values) if "BW average" in values else latency_row(line, values)


def _is_figure(cell: str) -> bool:
    """Check the number of decimals; every version prints two or six.

    With fewer decimals, rounding would hide a wrong figure.
    """
    return bool(re.fullmatch(r"[0-9]+\.[0-9]{2,6}", cell))


def _check_sizes(rows: Sequence[MessageSizeRow], header: str) -> None:
    """Require sizes that double from row to row, as with `-a`."""
    for one, two in pairwise(rows):
        if two.size_bytes != 2 * one.size_bytes:
            line = f"{header.strip()}: {two.size_bytes} bytes after {one.size_bytes}"
            raise TableError(Outcome.MISSING_ROW, line)
