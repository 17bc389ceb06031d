"""Figures of one perftest measurement, if neither end shows a fault, and bandwidth over time.

`--run_infinitely -D N` prints a row every N seconds until it is ended. Only in this mode no rule
ends the table, and a row of zeros is a measurement: no data arrived.

A fault is a cause in the error output, an exit code, or a damaged table. Any other line of either
output changes no figure; it is a note.

Reason for the strictness: with UDP 4791 blocked, a run over a duration ends with exit code 0 and
zero iterations. If the server is killed, a latency run still prints a good table and exit code 0.
So both exit codes, both error outputs and both tables are judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Literal

from rocefort.models.base import Frozen
from rocefort.models.wording import line_notes
from rocefort.rdma.parse.causes import cause_of, remarks
from rocefort.rdma.parse.outcome import MEANING, MessageSizeRow, Outcome, TableError
from rocefort.rdma.parse.perftest_tables import (
    TITLE,
    PerftestTable,
    has_table,
    notes_without_table,
    read_growing,
    read_table,
)
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import Point

if TYPE_CHECKING:  # it imports paramiko, which a plan does not need
    from rocefort.fleet.ssh_exec import CommandResult

BASE_POINTS = 3  # before the failure
DOWN = 0.5  # a rate below this fraction of the usual rate is an outage
WHOLE = 0.95  # a rate of at least this fraction of the usual rate has recovered


class Outage(Frozen):
    """Loss caused by a failure.

    usual_gbps: before the failure. down_s: time below DOWN. lost_gbit: data not sent. recovered_s:
    from the first point below WHOLE to the first point after which the rate stays above it; None
    if the rate did not recover.
    """

    usual_gbps: float
    worst_gbps: float
    down_s: float
    lost_gbit: float
    recovered_s: float | None

    @property
    def sentence(self) -> str:
        """The outage as a sentence."""
        if self.recovered_s == 0:
            return f"{self.usual_gbps:.2f} Gb/s throughout, at worst {self.worst_gbps:.2f}"
        back = (
            "did not recover"
            if self.recovered_s is None
            else f"recovered after {self.recovered_s:g} s"
        )
        return (
            f"{self.usual_gbps:.2f} Gb/s before, at worst {self.worst_gbps:.2f}, below half of it "
            f"for {self.down_s:g} s, {self.lost_gbit:.1f} Gbit less sent; the rate {back}"
        )


def read_series(text: str, every_s: float) -> tuple[Point, ...]:
    """Read the rows of a run that was ended; raises TableError for a faulty row or none."""
    rows = read_growing(text)
    if not rows:
        raise TableError(Outcome.MISSING_ROW, "no row below the header")
    sizes = {row.size_bytes for row in rows if row.figures.gbps is not None}
    if len(sizes) > 1:
        raise TableError(Outcome.DAMAGED_ROW, f"sizes {', '.join(map(str, sorted(sizes)))}")
    return tuple(
        Point(at_s=every_s * number, gbps=row.figures.gbps)
        for number, row in enumerate(rows, 1)
        if row.figures.gbps is not None
    )


def outage(series: Sequence[Point], failed_at_s: float | None = None) -> Outage:
    """Compute the loss, compared with the median before the failure.

    failed_at_s: time of the failure; None: the first three points are taken as before it. Raises
    TableError for too few points.
    """
    before = [p for p in series if failed_at_s is not None and p.at_s <= failed_at_s]
    before = before if failed_at_s is not None else list(series[:BASE_POINTS])
    after = series[len(before) :]
    if len(before) < BASE_POINTS or not after:
        counts = f"{len(before)} points before the failure, {len(after)} after it"
        raise TableError(Outcome.MISSING_ROW, counts)
    usual = median(point.gbps for point in before)
    if usual <= 0:
        raise TableError(Outcome.ZERO_BANDWIDTH, "no data arrived before the failure")
    steps = [(p, p.at_s - q.at_s) for q, p in pairwise((before[-1], *after))]
    return Outage(
        usual_gbps=usual,
        worst_gbps=min(point.gbps for point in after),
        down_s=sum(step for point, step in steps if point.gbps < DOWN * usual),
        lost_gbit=sum(max(0.0, usual - point.gbps) * step for point, step in steps),
        recovered_s=_recovery_time(steps, usual),
    )


def _recovery_time(steps: Sequence[tuple[Point, float]], usual: float) -> float | None:
    low = [index for index, (point, _) in enumerate(steps) if point.gbps < WHOLE * usual]
    if not low:
        return 0
    if low[-1] == len(steps) - 1:
        return None
    return sum(step for _, step in steps[low[0] : low[-1] + 1])


Side = Literal["client", "server"]
WITHOUT_SERVER_TABLE = {Program.READ_LAT}  # its server answers without its processor

# Outcomes that follow from another failure, or that only report the end.
WEAK = {
    Outcome.NO_SERVER,
    Outcome.PEER_LOST,
    Outcome.TIMED_OUT,
    Outcome.KILLED,
    Outcome.EXIT_CODE,
}


@dataclass(frozen=True)
class PerftestOutcome:
    """Outcome, with the side and the line that decided it; rows only if it is measured.

    notes: lines beside the tables of a measured run, each with the end that printed it.
    """

    outcome: Outcome
    side: Side | None = None
    line: str = ""
    rows: tuple[MessageSizeRow, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def gbps(self) -> float | None:
        """Average bandwidth of the largest size, Gb/s; None unless measured."""
        return self.rows[-1].figures.gbps if self.rows else None

    @property
    def latency_us(self) -> float | None:
        """Average latency of the smallest size, microseconds; None unless measured."""
        return self.rows[0].figures.latency_us if self.rows else None

    @property
    def sentence(self) -> str:
        """The outcome, the side and the deciding line as a sentence."""
        if self.outcome is Outcome.MEASURED:
            return MEANING[self.outcome]
        position = f" ({self.side}: {self.line!r})" if self.line else f" ({self.side})"
        return f"{self.outcome}: {MEANING[self.outcome]}{position if self.side else ''}"


def judge(tool: Program, client: CommandResult, server: CommandResult | None) -> PerftestOutcome:
    """Judge one measurement by the outputs of both ends.

    server is None if there was none, or if it was ended because the client had failed. Then the
    outcome is never `measured`.
    """
    theirs = _diagnose(server, "server") if server else None
    if failure := _decisive(_diagnose(client, "client"), theirs):
        return failure
    if server is None:
        return PerftestOutcome(Outcome.EXIT_CODE, "server", "its exit code is not known")
    side: Side = "client"
    try:
        table = _client_table(tool, client)
        side, server_notes = "server", notes_without_table(server.stdout)
        if has_table(server.stdout) or tool not in WITHOUT_SERVER_TABLE:
            server_table = read_table(server.stdout)
            _compare(table, server_table)
            table = _with_server_cpu(table, server_table)
            server_notes = server_table.notes
    except TableError as flaw:
        return PerftestOutcome(flaw.outcome, side, flaw.line)
    by_end = {
        "client": line_notes((*remarks(client.stderr), *table.notes)),
        "server": line_notes((*remarks(server.stderr), *server_notes)),
    }
    return PerftestOutcome(Outcome.MEASURED, rows=table.rows, notes=tuple(_with_ends(by_end)))


def _with_server_cpu(client: PerftestTable, server: PerftestTable) -> PerftestTable:
    """Return the client's table with the CPU of the server in its last row, if both print it."""
    *rows, last = client.rows
    cpu = server.rows[-1].figures.cpu_percent
    figures = last.figures.model_copy(update={"server_cpu_percent": cpu})
    return replace(client, rows=(*rows, replace(last, figures=figures)))


def judge_client(tool: Program, client: CommandResult) -> PerftestOutcome:
    """Judge the client alone, without the output of its server, which a note reports."""
    if failure := _diagnose(client, "client"):
        return failure
    try:
        table = _client_table(tool, client)
    except TableError as flaw:
        return PerftestOutcome(flaw.outcome, "client", flaw.line)
    lines = line_notes((*remarks(client.stderr), *table.notes))
    notes = (*_with_ends({"client": lines}), "server: its output is not given, and not judged")
    return PerftestOutcome(Outcome.MEASURED, rows=table.rows, notes=notes)


def _client_table(tool: Program, client: CommandResult) -> PerftestTable:
    table = read_table(client.stdout)
    require_title(tool, table.title)
    return table


def _with_ends(by_end: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield each line once, with the ends that printed it: `client, server: WARNING: ..`."""
    for line in dict.fromkeys(line for lines in by_end.values() for line in lines):
        yield f"{', '.join(end for end, lines in by_end.items() if line in lines)}: {line}"


def _diagnose(result: CommandResult, side: Side) -> PerftestOutcome | None:
    """Return the failure of one end, by its error output and its exit code."""
    if cause := cause_of(result):
        return PerftestOutcome(cause[0], side, cause[1])
    if result.timed_out:
        return PerftestOutcome(Outcome.TIMED_OUT, side)
    code = result.exit_code
    if code is None or code > 128:  # a shell reports signal N as 128 + N, ssh as 255
        return PerftestOutcome(Outcome.KILLED, side, "" if code is None else f"exit code {code}")
    if code:
        strange = next((line.strip() for line in remarks(result.stderr)), f"exit code {code}")
        return PerftestOutcome(Outcome.EXIT_CODE, side, strange)
    return None


def _decisive(
    client: PerftestOutcome | None, server: PerftestOutcome | None
) -> PerftestOutcome | None:
    """Return the failure that caused the other one."""
    if client and client.outcome not in WEAK:
        return client
    if server and (client is None or server.outcome not in WEAK):
        return server
    if client and server:
        if client.outcome is Outcome.PEER_LOST:
            return server
        if client.outcome is Outcome.NO_SERVER and server.outcome is Outcome.EXIT_CODE:
            return server
        if client.outcome is Outcome.TIMED_OUT and server.outcome is Outcome.KILLED:
            return server  # messages that are counted wait for a server that is gone
    return client


def require_title(tool: Program, title: str) -> None:
    """Raise TableError for a title that this program does not print above its table."""
    verb = {"write": "RDMA_Write", "read": "RDMA_Read", "send": "Send"}[tool.split("_")[1]]
    printed = TITLE.fullmatch(f" {title}")
    kind = "Latency" if tool.measures_latency else "BW"
    if printed is None or (printed["verb"], printed["kind"]) != (verb, kind):
        raise TableError(Outcome.OPTION_MISMATCH, title)


def _compare(client: PerftestTable, server: PerftestTable) -> None:
    """Compare titles and last rows, because the server of `-a` prints only its last row."""
    if server.title != client.title:
        raise TableError(Outcome.OPTION_MISMATCH, server.title)
    ours, theirs = client.rows[-1], server.rows[-1]
    if ours.size_bytes != theirs.size_bytes:
        line = f"{theirs.size_bytes} bytes, the client {ours.size_bytes}"
        raise TableError(Outcome.OPTION_MISMATCH, line)
