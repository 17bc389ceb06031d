"""Results of commands that write files, print procedures, or act, for programs."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.results.growth import Growth, Removal, Renaming
from rocefort.models.results.rdma_result import EndedProcesses, RunLine
from rocefort.models.results.twin import LabStatus
from rocefort.models.rollout.plan import Plan
from rocefort.models.rollout.plan_policy import PlanPolicy


class Done(Frozen):
    """Act of a command, in one or more sentences."""

    message: str


class WrittenFiles(Frozen):
    """Files that a command has written; notes: sentences on their content."""

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


class RenderedTexts(Frozen):
    """Configurations by name of switch, or files by name of server; empty if they are in files."""

    texts: dict[str, str] = Field(default_factory=dict)
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ImportedFabric(Frozen):
    """Fabric that was made from configurations, and the points that its author must review.

    designs: other designs in the texts. left: lines that the fabric does not have; equal ones of
    several switches are together, and lines_left is their number. whole: nothing is left. notes: on
    files and columns that were not read.
    """

    file: str
    whole: bool
    designs: tuple[str, ...]
    assumed: tuple[str, ...]
    differences: tuple[str, ...]
    left: tuple[str, ...]
    lines_left: int
    added: tuple[str, ...]
    notes: tuple[str, ...] = ()


class GrowthOutput(Growth):
    """Growth of a fabric; written: whether the file has it."""

    written: bool


class RemovalOutput(Removal):
    """Removal from a fabric; written: whether the file has it."""

    written: bool


class RenamingOutput(Renaming):
    """New name in a fabric; written: whether the file has it."""

    written: bool


class PlanOutput(Frozen):
    """Sealed plan, its file, and the files of its signature and its page, "" without one.

    policy: the approval policy that `apply` uses, and where it comes from.
    """

    file: str
    signature: str
    page: str = ""
    policy: PlanPolicy
    plan: Plan


class ProcedureStep(Frozen):
    """Manual step: a sentence, and the lines to type."""

    what: str
    commands: tuple[str, ...] = ()


class Procedure(Frozen):
    """Manual steps for one switch, in their order."""

    title: str
    steps: tuple[ProcedureStep, ...]


class Procedures(Frozen):
    """Manual procedures."""

    procedures: tuple[Procedure, ...]


class Approval(Frozen):
    """Approval of a wave; policy, rehearsal: of its run and its plan, as sentences."""

    plan: str
    wave: str
    by: str
    policy: str
    rehearsal: str


class HostKeyRow(Frozen):
    """SSH host key of a switch or server; record: whether it is in the file of host keys."""

    host: str
    address: str
    key: str
    fingerprint: str
    record: str


class TrustedKeys(Frozen):
    """Host keys that were collected; added: number of new ones in the file.

    silent: switches and servers that did not answer.
    """

    known_hosts: str
    added: int
    keys: tuple[HostKeyRow, ...]
    silent: tuple[str, ...] = ()


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


class Labs(Frozen):
    """Labs on this machine."""

    labs: tuple[LabStatus, ...]


class FaultKind(Frozen):
    """Fault that a lab can inject, and its effect."""

    name: str
    effect: str


class FaultKinds(Frozen):
    """Faults that a lab can inject."""

    faults: tuple[FaultKind, ...]


class RepairedFaults(Frozen):
    """Faults of a lab that were repaired."""

    repaired: tuple[str, ...]


class LabGrowth(Frozen):
    """Nodes that a running lab got; cables: their number."""

    lab: str
    switches: tuple[str, ...]
    servers: tuple[str, ...]
    cables: int


class LabAccess(Frozen):
    """SSH access of an emulated switch or server."""

    name: str
    host: str
    port: int
    user: str


class LabAccesses(Frozen):
    """Command lines of a lab that runs; connections: file for the other commands."""

    connections: str
    accesses: tuple[LabAccess, ...]
    notes: tuple[str, ...]


class BackgroundProcess(Frozen):
    """Process that continues without this terminal; log: the file with its output."""

    process: int
    log: str
    message: str


class GuestImage(Frozen):
    """Image of the guests; packages: their number."""

    kernel: str
    packages: int
