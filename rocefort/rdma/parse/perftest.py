"""Judge one perftest measurement: figures only if neither end shows a fault.

Reason for the strictness: with UDP 4791 blocked, a run over a duration ends with exit code 0 and
zero iterations. If the server is killed, a latency run still prints a good table and exit code 0.
So both exit codes, both error outputs and both tables are judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.results.rdma_plan import Program
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.parse.result_row import MessageSizeRow, TableError
from rocefort.rdma.parse.text_table import PerftestTable, has_table, read_table

Side = Literal["client", "server"]


# Causes by pattern in stderr; the first line that matches decides. Wording of perftest 4.5 and of
# GNU timeout. Work completion statuses are those of ibv_wc_status.
CAUSES: tuple[tuple[str, Outcome], ...] = (
    (r"Couldn't connect to ", Outcome.NO_SERVER),
    (r"Unexpected CM event bl blka 8\b", Outcome.NO_SERVER),  # RDMA_CM_EVENT_REJECTED
    (r"Unexpected CM event", Outcome.NO_PATH),
    (r"Name or service not known", Outcome.BAD_ADDRESS),
    (
        r"IB device \S+ not found|Did not detect devices|Unable to find the .*device",
        Outcome.NO_DEVICE,
    ),
    (r"Couldn't get context for the device", Outcome.NO_PERMISSION),
    (r"Couldn't allocate MR", Outcome.MEMORY_LOCKED),
    (r"Gid index should be between", Outcome.BAD_GID),
    (r"Failed to modify QP \d+ to RTR", Outcome.NO_PATH),
    (r"unrecognized option|invalid option|Invalid Command or flag", Outcome.BAD_OPTION),
    (r"Failed status 12:", Outcome.RETRY_EXCEEDED),
    (r"Failed status 13:", Outcome.RECEIVER_NOT_READY),
    (r"Failed status (9|10|11):", Outcome.REMOTE_REFUSED),
    (r"Failed status \d+:", Outcome.COMPLETION_ERROR),
    (r"Couldn't read remote address|Unable to (read|write) (to|from) socket", Outcome.PEER_LOST),
    (r"Correlation coefficient", Outcome.NO_CLOCK),
    (r"(timeout: failed to run command|command not found|: not found)", Outcome.NO_PERFTEST),
    (r"No space left on device", Outcome.DISK_FULL),
    (r"^(Killed|Terminated)$", Outcome.KILLED),
)
HARMLESS = re.compile(
    r"\s*"
    r"|Device not recognized to implement inline feature\. Disabling it"
    r"| Setting burst size to tx depth = \d+"  # perftest's rate limiter
    r"| Completion with error at (client|server)"  # the status that follows decides
    r"|libibverbs: Warning: .*|\s+This will severely limit memory registrations\."
)
# Outcomes that follow from another failure, or that only report the end.
WEAK = {
    Outcome.NO_SERVER,
    Outcome.PEER_LOST,
    Outcome.TIMED_OUT,
    Outcome.KILLED,
    Outcome.EXIT_CODE,
    Outcome.UNKNOWN_LINE,
}
ENDED_BY_ITSELF = {Outcome.EXIT_CODE, Outcome.UNKNOWN_LINE}


@dataclass(frozen=True)
class PerftestOutcome:
    """Outcome, with the side and the line that decided it; rows only if it is measured."""

    outcome: Outcome
    side: Side | None = None
    line: str = ""
    rows: tuple[MessageSizeRow, ...] = ()

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
        table = _expect(read_table(client.stdout), _titles(tool))
        side = "server"
        if has_table(server.stdout):  # a server of ib_read_lat prints none
            _compare(table, _expect(read_table(server.stdout), (table.title,)))
    except TableError as flaw:
        return PerftestOutcome(flaw.outcome, side, flaw.line)
    return PerftestOutcome(Outcome.MEASURED, rows=table.rows)


def cause_of(stderr: str) -> tuple[Outcome, str] | None:
    """Return the outcome and the first line of an error output that names a cause; None: none."""
    for line in stderr.splitlines():
        for pattern, outcome in CAUSES:
            if re.search(pattern, line):
                return outcome, line.strip()
    return None


def _diagnose(result: CommandResult, side: Side) -> PerftestOutcome | None:
    """Return the failure of one end, by its error output and its exit code."""
    lines = result.stderr.splitlines()
    if cause := cause_of(result.stderr):
        return PerftestOutcome(cause[0], side, cause[1])
    if result.timed_out:
        return PerftestOutcome(Outcome.TIMED_OUT, side)
    code = result.exit_code
    if code is None or code > 128:  # a shell reports signal N as 128 + N, ssh as 255
        return PerftestOutcome(Outcome.KILLED, side, "" if code is None else f"exit code {code}")
    strange = next((line.strip() for line in lines if not HARMLESS.fullmatch(line)), None)
    if code:
        return PerftestOutcome(Outcome.EXIT_CODE, side, strange or f"exit code {code}")
    return PerftestOutcome(Outcome.UNKNOWN_LINE, side, strange) if strange is not None else None


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
        if client.outcome is Outcome.NO_SERVER and server.outcome in ENDED_BY_ITSELF:
            return server
    return client


def _titles(tool: Program) -> tuple[str, ...]:
    """Return the titles that a program may print above its table."""
    verb = {"write": "RDMA_Write", "read": "RDMA_Read", "send": "Send"}[tool.split("_")[1]]
    if tool.measures_latency:
        return (f"{verb} Latency Test",)
    return (f"{verb} BW Test", f"{verb} Bidirectional BW Test")


def _expect(table: PerftestTable, titles: tuple[str, ...]) -> PerftestTable:
    if table.title not in titles:
        raise TableError(Outcome.OPTION_MISMATCH, table.title)
    return table


def _compare(client: PerftestTable, server: PerftestTable) -> None:
    """Compare the last rows, because the server of `-a` prints only its last row."""
    ours, theirs = client.rows[-1], server.rows[-1]
    if ours.size_bytes != theirs.size_bytes:
        line = f"{theirs.size_bytes} bytes, the client {ours.size_bytes}"
        raise TableError(Outcome.OPTION_MISMATCH, line)
