"""Results of commands on stored RDMA runs, for programs."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.results.rdma_result import EndedProcesses, RunLine


class RunList(Frozen):
    """Stored RDMA runs, the latest first."""

    runs: tuple[RunLine, ...]


class PairValue(Frozen):
    """Value of one pair of servers in a run."""

    run: str
    suite: str
    measurement: str
    value: str


class PairValues(Frozen):
    """All values of one pair of servers, the oldest first."""

    values: tuple[PairValue, ...]


class RunComparison(Frozen):
    """Run beside published figures or another run: title, notes on the whole, and lines.

    slower: whether a line is a regression; None: no criterion for a regression exists.
    """

    title: str
    notes: tuple[str, ...]
    lines: tuple[str, ...]
    slower: bool | None = None


class StoppedServers(Frozen):
    """Servers on which the processes of RDMA runs were ended."""

    servers: tuple[EndedProcesses, ...]
