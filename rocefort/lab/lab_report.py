"""Results of commands on labs, for programs and as reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.lab.twin.status import LabHop, LabStatus, LabTrace
from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Code, Items, Note, Section, Table, TableColumn, columns


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


class GuestImage(Frozen):
    """Image of the guests; packages: their number."""

    kernel: str
    packages: int


HEADS = (TableColumn("lab"), TableColumn("fabric"), TableColumn("state", wraps=True))


def labs_report(labs: Iterable[LabStatus]) -> Iterator[Block]:
    """One row a lab."""
    rows = tuple((lab.name, lab.fabric, _state(lab)) for lab in labs)
    yield Table(HEADS, rows) if rows else Note("no twin is up")


def _state(lab: LabStatus) -> str:
    if not lab.whole:
        return f"not whole: {'; '.join(lab.wrong)}"
    nodes = f"{count_of(lab.switches, 'switch')}, {count_of(lab.servers, 'server')}"
    return f"{nodes}, {lab.established} of {lab.sessions} sessions up"


def status_report(lab: LabStatus) -> Section:
    """A lab with what is wrong in it, and what its kernel lacks."""
    title = f"{lab.name}: fabric {lab.fabric}, {_state(lab)}"
    return Section(title, (Items(tuple(_status(lab))),))


def _status(lab: LabStatus) -> Iterator[str]:
    if lab.whole:
        cables = count_of(lab.cables, "cable")
        yield f"up since {lab.started:%Y-%m-%d %H:%M:%S} UTC, FRR {lab.frr}, {cables}"
        yield from (f"guest {text}" for text in lab.guests)
        if lab.connections:
            yield f"connections: {lab.connections}"
        yield from (f"wrong: {text}" for text in lab.wrong)
    yield from (f"this kernel has {text}" for text in lab.lacks)


def lab_trace_report(trace: LabTrace) -> Iterator[Block]:
    """One row a hop."""
    flow = f"UDP {trace.source}:{trace.source_port} to {trace.destination}"
    rows = tuple((number, hop.node, _hop(hop)) for number, hop in enumerate(trace.hops))
    end = Note(f"stops at {trace.stopped}" if trace.stopped else "arrives")
    yield Section(f"{flow}:{trace.destination_port}", (Table((TableColumn(),) * 3, rows), end))


def fault_kinds(faults: Iterable[tuple[str, str]]) -> FaultKinds:
    """Return faults by name and effect, for programs."""
    return FaultKinds(faults=tuple(FaultKind(name=name, effect=text) for name, text in faults))


def faults_report(found: FaultKinds) -> Table:
    """One row a fault: how it is named, and what it does."""
    rows = tuple((fault.name, fault.effect) for fault in found.faults)
    return Table((TableColumn(), TableColumn(wraps=True)), rows)


def repaired_report(done: RepairedFaults) -> Code:
    """Show one line a fault."""
    lines = tuple(f"repaired: {fault}" for fault in done.repaired)
    return Code(lines or ("no fault is injected",))


def lab_growth_report(done: LabGrowth) -> Code:
    """Show the nodes that a lab got."""
    named = ", ".join((*done.switches, *done.servers)) or "no node"
    added = f"lab {done.lab}: added {named} and {count_of(done.cables, 'cable')}"
    rest = "existing nodes are unchanged; `rocefort plan` and `apply` configure the rest"
    return Code((added, rest))


def guest_report(image: GuestImage) -> Code:
    """Show the kernel of an image."""
    return Code((f"guest with kernel {image.kernel}, {image.packages} packages",))


def accesses_report(running: LabAccesses) -> Iterator[Block]:
    """Show the SSH command of each switch and server."""
    rows = tuple((a.name, f"ssh -p {a.port} {a.user}@{a.host}") for a in running.accesses)
    yield Table(columns("", ""), rows)
    yield Code(running.notes)


def _hop(hop: LabHop) -> str:
    words = [f"in {hop.arrives}"] if hop.arrives else []
    words += [f"out {hop.leaves}"] if hop.leaves else []
    words += [f"to {hop.via}"] if hop.via else []
    return " ".join(words)
