"""Strict reader of the JSON file that perftest writes (`--out_json_file`).

perftest 4.5-0.11 (6.03) to 23.10 write invalid JSON: keys without quotes, commas before closing
braces. A separate line-by-line grammar reads that form. 24.01 (6.20) and later write valid JSON.
Neither form contains the unit: it is Gb/s if the command had `--report_gbits`, otherwise MiB/s. In
every version, a run over all sizes (`-a`) writes only its last row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import (
    DEVIATIONS,
    NOT_A_NUMBER,
    TOO_DEEP,
    MeasuredValue,
    MessageSizeRow,
    TableError,
    no_number,
    table_row,
)
from rocefort.rdma.parse.text_table import PerftestTable

Section = dict[str, str]

OPENS = re.compile(r'\s*"?(?P<name>\w+)"?\s*:\s*\{')
ENTRY = re.compile(
    r'\s*"?(?P<key>[A-Za-z](?:[\w.]|[ ]++)*?)"?\s*:\s*(?P<value>"[^"]*"|[^\s",{}]+),?\s*'
)
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
WHOLE = re.compile(r"[0-9]+")
VERB = re.compile(r"(?P<verb>RDMA_Write|RDMA_Read|Send)_(?P<rest>[A-Za-z_]+)")
# Column of the text table, by JSON key.
BANDWIDTH = {
    "MsgSize": "#bytes",
    "n_iterations": "#iterations",
    "BW_peak": "BW peak",
    "BW_average": "BW average",
    "MsgRate": "MsgRate",
}
LATENCY = {
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
LATENCY_DURATION = {
    "MsgSize": "#bytes",
    "n_iterations": "#iterations",
    "t_avg": "t_avg",
    "tps_average": "tps average",
}
EXTRA = {"CPU_util"}  # `--cpu_util`


def read_json(text: str, *, gbits: bool = True, sizes: int = 1) -> PerftestTable:
    """Read one JSON report; raises TableError at the first fault.

    gbits: whether the command had `--report_gbits`. sizes: number of message sizes of the run. The
    report holds only the last one, so more than one size is a missing row.
    """
    sections = _sections(text)
    if sections.keys() != {"test_info", "results"}:
        raise TableError(Outcome.NOT_JSON, f"sections: {', '.join(sections) or 'none'}")
    row = _row(sections["results"], "Gb/sec" if gbits else "MiB/sec")
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


def _row(results: Section, unit: str) -> MessageSizeRow:
    line = ", ".join(f"{key}: {value}" for key, value in results.items())
    keys = results.keys() - EXTRA
    optional = {key for key, column in LATENCY.items() if column in DEVIATIONS} - keys
    forms = (BANDWIDTH, {k: v for k, v in LATENCY.items() if k not in optional}, LATENCY_DURATION)
    columns = next((form for form in forms if form.keys() == keys), None)
    if columns is None:
        raise TableError(Outcome.DAMAGED_HEADER, line)
    cells: dict[str, MeasuredValue | None] = {}
    for key, value in results.items():
        column = columns.get(key, key)
        if NOT_A_NUMBER.fullmatch(value) and column in DEVIATIONS:
            cells[column] = None
            continue
        if NOT_A_NUMBER.fullmatch(value):
            raise TableError(Outcome.NOT_A_NUMBER, line)
        if re.fullmatch(r"-[0-9.]+", value):
            raise TableError(Outcome.IMPOSSIBLE, line)
        if not (WHOLE if column.startswith("#") else NUMBER).fullmatch(value):
            raise TableError(Outcome.DAMAGED_ROW, line)
        cells[column] = MeasuredValue.read(
            f"{column}[{unit}]" if column.startswith("BW") else column, value
        )
    return table_row(line, cells)
