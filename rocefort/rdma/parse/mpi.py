"""Reader of MPI collective tables of the OSU micro-benchmarks and the Intel MPI Benchmarks.

Source of the forms: public outputs of OSU 4.2 to 7.5 and IMB 2018 to 2021.7, no run of ours.
Latency is in microseconds, over all processes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError, is_mostly_numbers
from rocefort.rdma.results import MpiPoint

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
# Sizes of the first row above 0 bytes of a run from 1 byte: a sum is of floats, in most versions.
FIRST_BYTES = {"allreduce": (1, 4), "reduce": (1, 4)}
IMB_END = "# All processes entering MPI_Finalize"


@dataclass(frozen=True)
class MpiTable:
    """Table of one collective; processes is None if the output does not contain it."""

    collective: str  # alltoall, allgather, ..
    processes: int | None
    rows: tuple[MpiPoint, ...]


def read_osu(text: str, last_bytes: int | None = None) -> MpiTable:
    """Read one OSU collective; raises TableError at the first fault.

    last_bytes: the largest requested size, from 1 byte: the only sign that the table is complete.
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
    _whole(table, lines[at], from_one_byte=last_bytes is not None)
    if last_bytes is not None and rows[-1].size_bytes != last_bytes:
        line = f"{rows[-1].size_bytes} bytes is the last row, {last_bytes} was requested"
        raise TableError(Outcome.UNTERMINATED_TABLE, line)
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


def read_imb(text: str, *, from_one_byte: bool = False) -> tuple[MpiTable, ...]:
    """Read one run of IMB-MPI1, a table for each collective and number of processes.

    from_one_byte: whether sizes from 1 byte were requested. Raises TableError at the first fault,
    including a missing last line.
    """
    lines = text.splitlines()
    if not any(line.startswith(IMB_END) for line in lines):
        raise TableError(Outcome.UNTERMINATED_TABLE, next((x for x in reversed(lines) if x), ""))
    starts = [n for n, line in enumerate(lines) if IMB_TITLE.fullmatch(line)]
    if not starts:
        raise TableError(Outcome.NO_TABLE, next((x for x in lines if x), ""))
    ends = [*starts[1:], len(lines)]
    return tuple(_imb_table(lines[a:b], from_one_byte) for a, b in zip(starts, ends, strict=True))


def _imb_table(lines: Sequence[str], from_one_byte: bool) -> MpiTable:
    title = IMB_TITLE.fullmatch(lines[0])
    processes = [m for line in lines if (m := IMB_PROCESSES.fullmatch(line))]
    at = next((n for n, line in enumerate(lines) if IMB_HEADER.fullmatch(line)), None)
    if title is None or at is None or len(processes) != 1:
        raise TableError(Outcome.UNKNOWN_LINE, lines[0])
    names = ("size", "repetitions", "min", "max", "avg")
    below = lines[at + 1 :]
    rows = tuple(_row(line, line.split(), names) for line in below[: _end(below)])
    table = MpiTable(_plain(title["name"]), int(processes[0]["count"]), rows)
    _whole(table, lines[at], from_one_byte=from_one_byte)
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


def _whole(table: MpiTable, header: str, *, from_one_byte: bool) -> None:
    """Require sizes that double from row to row, except a first 0."""
    sizes = [row.size_bytes for row in table.rows]
    if not sizes:
        raise TableError(Outcome.MISSING_ROW, header)
    for one, two in pairwise(sizes if sizes[0] else sizes[1:]):
        if not two or two != 2 * one:
            raise TableError(Outcome.MISSING_ROW, f"{two} bytes after {one}")
    first = next(filter(None, sizes), 0)
    if from_one_byte and first not in FIRST_BYTES.get(table.collective, (1,)):
        raise TableError(Outcome.MISSING_ROW, f"{first} bytes is the first row, 1 was requested")
