"""Readers of perftest's table: as text, and as its JSON file.

The table is the header, its rows and the rule that ends it. There every line must be a row, with
all its cells and the decimals that perftest prints. Of the other lines, only the title decides
anything, because it names the test. Any further line is a note if perftest does not print it in
every run. Source of the form: perftest 4.4 to 26.04 (`--version` 5.60 to 6.29). Bandwidth is in
Gb/sec, MB/sec or MiB/sec (the latter two are both 2^20 bytes); latency is over iterations or a
duration (`-D`).

perftest 4.5-0.11 (6.03) to 23.10 write invalid JSON: keys without quotes, commas before closing
braces. A separate line-by-line grammar reads that form. 24.01 (6.20) and later write valid JSON.
Neither form contains the unit: it is Gb/s if the command had `--report_gbits`, otherwise MiB/s. In
every version, a run over all sizes (`-a`) writes only its last row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocefort.rdma.parse.outcome import (
    DEVIATIONS,
    NOT_A_NUMBER,
    NUMBER,
    TOO_DEEP,
    MeasuredValue,
    MessageSizeRow,
    Outcome,
    TableError,
    is_mostly_numbers,
    no_number,
    table_row,
)
from rocefort.rdma.results import Figures

RULE = re.compile(r"\s*-{20,}\s*")
HEADER = re.compile(r"\s*#bytes\b.*")
# Every title of the supported tests (ctx_print_test_info in perftest_parameters.c, 4.4 to 26.04),
# and multicast in both orders of its words.
TITLE = re.compile(
    r"\s+(?P<verb>RDMA_Write|RDMA_Read|Send)(?:_imm)? (?:Bidirectional )?(?:Post List )?"
    r"(?:Multicast )?(?P<kind>BW|Latency) (?:forwarding )?(?:Multicast )?Test\s*"
)
# Lines of a good run that perftest prints on standard error while it measures (get_clock.c, 4.4 to
# 26.04): with `2>&1` they may be between the rows.
STDERR = re.compile(
    r"Conflicting CPU frequency values detected: \d+\.\d+ != \d+\.\d+\."
    r" CPU Frequency is not max\.\s*"
)
COUNTER = re.compile(r"\s*\t[\w/.-]+=\d+\s*")  # printed with `-W`
# Lines of every run: its settings, addresses and end. A setting has its colon in column 17, or is
# one of the few whose name is longer or ends in a tab.
ROUTINE = re.compile(
    r"\s*|\s*-{20,}\s*|\*+\s*|\* Waiting for client to connect\.\.\. \*\s*"
    r"| Waiting for client rdma_cm QP to connect\s*"
    r"| Please run the same command with the IB/RoCE interface IP\s*"
    r"| +(?i:(?!warn|error|fail))[A-Za-z][\w .*/-]{15}: .*"
    r"| +rdma_cm QPs\t : .*| DCS active num streams : .*| Number of data encryption keys  : .*"
    r"| +(?:local|remote) address: .*| +GID: [0-9a-fA-F:]+\s*| (?:Mcast|MGID).*"
    r"|Disabling dynamic polling"  # every run by messages, and of latency, since 25.10
    r"| WARNING: BW peak won't be measured in this run\."  # every run by duration, since 24.01
    r"| User stopped traffic| Client closed connection"
)
RATE = r"(?:Gb|MB|MiB)/sec"
COLUMN = re.compile(
    r"#bytes|#iterations"
    rf"|BW (?:peak|average|min)\[{RATE}\]|MsgRate\[Mpps\]|CPU_Util\[%\]"
    rf"|BW Port[12]\[{RATE}\]|MsgRate Port[12]\[Mpps\]"
    r"|t_(?:min|max|typical|avg|stdev)\[usec\]|99(?:\.9)?% percentile\[usec\]|tps average"
)
OPTIONAL = (*DEVIATIONS, "CPU_Util")  # may be no number
FIRST_BYTES = 2  # of `-a`, in every version
WHOLE = re.compile(r"[0-9]+")
TWO_DECIMALS = re.compile(r"(?<![0-9])[0-9]+\.[0-9]{2}")
SIX_DECIMALS = re.compile(r"(?<![0-9])[0-9]+\.[0-9]{6}")
TWO_OR_SIX = re.compile(r"(?<![0-9])[0-9]+\.[0-9]{2}(?:[0-9]{4})?")
BANDWIDTH = ("#bytes", "#iterations", "BW peak", "BW average", "MsgRate")
LATENCY = (
    "#bytes",
    "#iterations",
    "t_min",
    "t_max",
    "t_typical",
    "t_avg",
    *DEVIATIONS,
)
LATENCY_DURATION = ("#bytes", "#iterations", "t_avg", "tps average")


@dataclass(frozen=True)
class PerftestTable:
    """Table with a title such as `RDMA_Write BW Test`, and rows in order of size.

    notes: lines outside the table that perftest does not print in every run.
    """

    title: str
    rows: tuple[MessageSizeRow, ...]
    notes: tuple[str, ...] = ()


def has_table(text: str) -> bool:
    """Return whether this output contains a table header."""
    return any(HEADER.fullmatch(line) for line in _lines(text))


def read_table(text: str) -> PerftestTable:
    """Read one output of perftest; raises TableError at the first fault."""
    lines = _lines(text)
    at, title = _header_and_title(lines)
    columns = _columns(lines[at])
    end = next((n for n in range(at + 1, len(lines)) if RULE.fullmatch(lines[n])), None)
    if end is None:
        last = next(filter(str.strip, reversed(lines)))
        raise TableError(Outcome.UNTERMINATED_TABLE, last)
    body = [line for line in lines[at + 1 : end] if not STDERR.fullmatch(line)]
    inside = _row_lines(body, lines[at])
    rows = tuple(_row(line, columns) for line in inside)
    _check_sizes(rows, lines[at])
    warnings = (line for line in lines[at + 1 : end] if STDERR.fullmatch(line))
    outside = notes_without_table("\n".join([*lines[:at], *warnings, *lines[end + 1 :]]))
    return PerftestTable(title, rows, (*outside, *_missing_deviations(columns, inside)))


def _row_lines(lines: Sequence[str], header: str) -> list[str]:
    """Return the lines that must be rows; a blank line is valid only after a counter of `-W`."""
    rows = []
    for before, line in pairwise((header, *lines)):
        if not line.strip() and not COUNTER.fullmatch(before):
            raise TableError(Outcome.MISSING_ROW, before)
        if line.strip() and not COUNTER.fullmatch(line):
            rows.append(line)
    if not rows:
        raise TableError(Outcome.MISSING_ROW, header)
    return rows


def read_growing(text: str) -> tuple[MessageSizeRow, ...]:
    """Read the rows of a run that prints periodically until it is ended; raises TableError.

    A row of zeros is valid here.
    """
    parts = _growing_parts(text)
    return tuple(_growing_row(line, parts.columns) for line in parts.rows)


def title_and_notes(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the title of such a run, and the lines outside its table; raises TableError."""
    parts = _growing_parts(text)
    return parts.title, notes_without_table("\n".join(parts.outside))


@dataclass(frozen=True)
class _GrowingParts:
    """Lines of a run that no rule ends: rows, and those outside its table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    outside: tuple[str, ...]


def _growing_parts(text: str) -> _GrowingParts:
    """Sort the lines. A line after the header is a row if it looks like one, even if it is damaged.

    It begins with the message size, or most of its words are numbers. An incomplete last line is
    left out.
    """
    lines = _lines(text)[:-1]
    at, title = _header_and_title(lines)
    columns, below = _columns(lines[at]), lines[at + 1 :]
    size = next((line.split()[0] for line in below if _is_row(line, columns)), "")
    rows = tuple(line for line in below if _looks_like_row(line, size))
    others = (line for line in below if not _looks_like_row(line, size))
    outside = (line for line in others if not COUNTER.fullmatch(line))
    return _GrowingParts(title, columns, rows, (*lines[:at], *outside))


def notes_without_table(text: str) -> tuple[str, ...]:
    """Return the lines that perftest does not print in every run."""
    return tuple(line for line in _lines(text) if not _is_routine(line))


def _lines(text: str) -> list[str]:
    """Split at line feeds only: other separators of Unicode may be within a line."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _header_and_title(lines: Sequence[str]) -> tuple[int, str]:
    """Return the index of the only header, and the only title, which is above it."""
    headers = [n for n, line in enumerate(lines) if HEADER.fullmatch(line)]
    titles = [n for n, line in enumerate(lines) if TITLE.fullmatch(line)]
    if not headers:
        strange = next((line for line in lines if not _is_routine(line)), "")
        raise TableError(Outcome.NO_TABLE, strange)
    if len(headers) > 1 or len(titles) > 1:
        again = headers[1] if len(headers) > 1 else titles[1]
        raise TableError(Outcome.TWO_TABLES, lines[again])
    if not titles or titles[0] > headers[0]:
        raise TableError(Outcome.NO_TITLE, lines[headers[0]])
    return headers[0], lines[titles[0]].strip()


def _is_routine(line: str) -> bool:
    return bool(ROUTINE.fullmatch(line) or TITLE.fullmatch(line))


def _missing_deviations(columns: Sequence[str], rows: Sequence[str]) -> tuple[str, ...]:
    """Return a note on each deviation that the table lacks, or holds as no number."""
    bare = [column.partition("[")[0] for column in columns]
    if "t_typical" not in bare:
        return ()
    notes = [f"the table has no {name}" for name in DEVIATIONS if name not in bare]
    for cells in map(str.split, rows):
        notes += [
            f"{name} of {cells[0]} bytes is {cell}"
            for name, cell in zip(bare, cells, strict=True)
            if NOT_A_NUMBER.fullmatch(cell)
        ]
    return tuple(notes)


def _is_row(line: str, columns: tuple[str, ...]) -> bool:
    cells = line.split()
    return len(cells) == len(columns) and all(map(NUMBER.fullmatch, cells))


def _looks_like_row(line: str, size: str) -> bool:
    cells = line.split()
    if not cells or RULE.fullmatch(line):
        return False
    return cells[0] == size or is_mostly_numbers(line)


def _growing_row(line: str, columns: tuple[str, ...]) -> MessageSizeRow:
    cells = line.split()
    nothing = all(re.fullmatch(r"0+(\.0+)?", cell) for cell in cells[1:])
    if len(cells) == len(columns) and cells[0].isdecimal() and nothing:
        return MessageSizeRow(int(cells[0]), Figures(gbps=0.0, mpps=0.0, iterations=0))
    return _row(line, columns)


def _columns(header: str) -> tuple[str, ...]:
    names = tuple(COLUMN.findall(header))
    bare = tuple(name.partition("[")[0] for name in names if not _is_extra(name))
    required = tuple(name for name in LATENCY if name not in DEVIATIONS or name in bare)
    units = {name.partition("[")[2] for name in names if name.startswith("BW")}
    known = bare in (BANDWIDTH, required, LATENCY_DURATION) and len(units) < 2
    if COLUMN.sub("", header).strip() or not known:
        raise TableError(Outcome.DAMAGED_HEADER, header)
    return names


def _is_extra(column: str) -> bool:
    """Return whether an option or a later version adds this column to the bandwidth table."""
    return column.startswith(("CPU_Util", "BW min", "BW Port", "MsgRate Port"))


def _row(line: str, columns: tuple[str, ...]) -> MessageSizeRow:
    cells = line.split()
    if len(cells) != len(columns):
        raise TableError(Outcome.DAMAGED_ROW, line)
    bare = [column.partition("[")[0] for column in columns]
    values: dict[str, MeasuredValue | None] = {}
    for name, column, cell in zip(bare, columns, cells, strict=True):
        if NOT_A_NUMBER.fullmatch(cell) and name in OPTIONAL:
            values[name] = None
            continue
        if NOT_A_NUMBER.fullmatch(cell):
            raise TableError(Outcome.NOT_A_NUMBER, line)
        if re.fullmatch(r"-[0-9.]+", cell):
            raise TableError(Outcome.IMPOSSIBLE, line)
        if not _decimals(name).fullmatch(cell):
            raise TableError(Outcome.DAMAGED_ROW, line)
        values[name] = MeasuredValue.read(column, cell)
    return table_row(line, values)


def _decimals(column: str) -> re.Pattern[str]:
    """Return the form of a column's figures.

    Every version prints two decimals, a small bandwidth with six, a message rate always with six.
    With fewer decimals, rounding would hide a wrong figure, and a cell that was cut would be read.
    """
    if column.startswith("#"):
        return WHOLE
    if column.startswith("MsgRate"):
        return SIX_DECIMALS
    return TWO_OR_SIX if column.startswith("BW") else TWO_DECIMALS


def _check_sizes(rows: Sequence[MessageSizeRow], header: str) -> None:
    """Require sizes that double from row to row, and begin with 2 bytes, as with `-a`."""
    if len(rows) > 1 and rows[0].size_bytes != FIRST_BYTES:
        line = f"{header.strip()}: {rows[0].size_bytes} bytes is the first of {len(rows)} rows"
        raise TableError(Outcome.MISSING_ROW, line)
    for one, two in pairwise(rows):
        if two.size_bytes != 2 * one.size_bytes:
            line = f"{header.strip()}: {two.size_bytes} bytes after {one.size_bytes}"
            raise TableError(Outcome.MISSING_ROW, line)


Section = dict[str, str]

OPENS = re.compile(r'\s*"?(?P<name>\w+)"?\s*:\s*\{')
ENTRY = re.compile(
    r'\s*"?(?P<key>[A-Za-z](?:[\w.]|[ ]++)*?)"?\s*:\s*(?P<value>"[^"]*"|[^\s",{}]+),?\s*'
)
JSON_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
JSON_WHOLE = re.compile(r"[0-9]+")
VERB = re.compile(r"(?P<verb>RDMA_Write|RDMA_Read|Send)_(?P<rest>[A-Za-z_]+)")
# Column of the text table, by JSON key.
JSON_BANDWIDTH = {
    "MsgSize": "#bytes",
    "n_iterations": "#iterations",
    "BW_peak": "BW peak",
    "BW_average": "BW average",
    "MsgRate": "MsgRate",
}
JSON_LATENCY = {
    "MsgSize": "#bytes",
    "n_iterations": "#iterations",
    "t_min": "t_min",
    "t_max": "t_max",
    "t_typical": "t_typical",
    "t_avg": "t_avg",
    "t_stdev": "t_stdev",
    "percentile_99": "99% percentile",
    "percentile_99.9": "99.9% percentile",
}
JSON_LATENCY_DURATION = {
    "MsgSize": "#bytes",
    "n_iterations": "#iterations",
    "t_avg": "t_avg",
    "tps_average": "tps average",
}
EXTRA = {"CPU_util": "CPU_Util"}  # `--cpu_util`


def read_json(text: str, *, gbits: bool = True, sizes: int = 1) -> PerftestTable:
    """Read one JSON report; raises TableError at the first fault.

    gbits: whether the command had `--report_gbits`. sizes: number of message sizes of the run. The
    report holds only the last one, so more than one size is a missing row.
    """
    sections = _sections(text)
    if sections.keys() != {"test_info", "results"}:
        raise TableError(Outcome.NOT_JSON, f"sections: {', '.join(sections) or 'none'}")
    row = _json_row(sections["results"], "Gb/sec" if gbits else "MiB/sec")
    if sizes > 1:
        raise TableError(Outcome.MISSING_ROW, f"1 of {sizes} sizes: {row.size_bytes} bytes")
    return PerftestTable(_title(sections["test_info"]), (row,))


def _sections(text: str) -> dict[str, Section]:
    try:
        sections = json.loads(text, parse_float=str, parse_int=str, parse_constant=no_number)
    except ValueError:
        return _old_sections(text)
    except RecursionError:
        raise TableError(Outcome.NOT_JSON, TOO_DEEP) from None
    if not isinstance(sections, Mapping) or not all(
        isinstance(v, Mapping) for v in sections.values()
    ):
        raise TableError(Outcome.NOT_JSON, text[:60])
    return {name: {k: str(v) for k, v in part.items()} for name, part in sections.items()}


def _old_sections(text: str) -> dict[str, Section]:
    """Read the form before 24.01: `{`, `test_info: {`, `key: value,`, `},`, .. `}`."""
    sections: dict[str, Section] = {}
    current: Section | None = None
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or lines[0].strip() != "{" or lines[-1].strip() != "}":
        raise TableError(Outcome.NOT_JSON, lines[-1] if lines else "empty")
    for line in lines[1:-1]:
        if current is None:
            opened = OPENS.fullmatch(line.rstrip())
            if opened is None or opened["name"] in sections:
                raise TableError(Outcome.NOT_JSON, line)
            current = sections.setdefault(opened["name"], {})
        elif line.strip().rstrip(",") == "}":
            current = None
        else:
            entry = ENTRY.fullmatch(line)
            if entry is None or entry["key"] in current:
                raise TableError(Outcome.NOT_JSON, line)
            current[entry["key"]] = entry["value"].strip('"')
    if current is not None:
        raise TableError(Outcome.UNTERMINATED_TABLE, lines[-2])
    return sections


def _title(info: Section) -> str:
    verb = VERB.fullmatch(info.get("test", ""))
    if verb is None:
        raise TableError(Outcome.NO_TITLE, f"test: {info.get('test', 'none')}")
    return f"{verb['verb']} {verb['rest'].replace('_', ' ')}"


def _json_row(results: Section, unit: str) -> MessageSizeRow:
    line = ", ".join(f"{key}: {value}" for key, value in results.items())
    keys = results.keys() - EXTRA.keys()
    optional = {key for key, column in JSON_LATENCY.items() if column in DEVIATIONS} - keys
    forms = (
        JSON_BANDWIDTH,
        {k: v for k, v in JSON_LATENCY.items() if k not in optional},
        JSON_LATENCY_DURATION,
    )
    columns = next((form for form in forms if form.keys() == keys), None)
    if columns is None:
        raise TableError(Outcome.DAMAGED_HEADER, line)
    cells: dict[str, MeasuredValue | None] = {}
    for key, value in results.items():
        column = (columns | EXTRA).get(key, key)
        if NOT_A_NUMBER.fullmatch(value) and column in OPTIONAL:
            cells[column] = None
            continue
        if NOT_A_NUMBER.fullmatch(value):
            raise TableError(Outcome.NOT_A_NUMBER, line)
        if re.fullmatch(r"-[0-9.]+", value):
            raise TableError(Outcome.IMPOSSIBLE, line)
        if not (JSON_WHOLE if column.startswith("#") else JSON_NUMBER).fullmatch(value):
            raise TableError(Outcome.DAMAGED_ROW, line)
        cells[column] = MeasuredValue.read(
            f"{column}[{unit}]" if column.startswith("BW") else column, value
        )
    return table_row(line, cells)
