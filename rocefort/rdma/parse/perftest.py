"""Judge one perftest measurement: figures only if neither end shows a fault.

A fault is a cause in the error output, an exit code, or a damaged table. Any other line of either
output changes no figure; it is a note.

Reason for the strictness: with UDP 4791 blocked, a run over a duration ends with exit code 0 and
zero iterations. If the server is killed, a latency run still prints a good table and exit code 0.
So both exit codes, both error outputs and both tables are judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.wording import line_notes
from rocefort.rdma.parse.causes import cause_of, remarks
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.parse.result_row import MessageSizeRow, TableError
from rocefort.rdma.parse.text_table import (
    TITLE,
    PerftestTable,
    has_table,
    notes_without_table,
    read_table,
)
from rocefort.rdma.rdma_plan import Program

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
            server_notes = server_table.notes
    except TableError as flaw:
        return PerftestOutcome(flaw.outcome, side, flaw.line)
    by_end = {
        "client": line_notes((*remarks(client.stderr), *table.notes)),
        "server": line_notes((*remarks(server.stderr), *server_notes)),
    }
    return PerftestOutcome(Outcome.MEASURED, rows=table.rows, notes=tuple(_with_ends(by_end)))


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
