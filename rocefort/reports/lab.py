"""State of labs, and the path of a flow through one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.models.results.twin import LabHop, LabStatus, LabTrace
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Items, Note, Section, Table, TableColumn

HEADS = (TableColumn("lab"), TableColumn("fabric"), TableColumn("state", wraps=True))


def labs_report(labs: Iterable[LabStatus]) -> Iterator[Block]:
    """One row a lab."""
    rows = tuple((lab.name, lab.fabric, _state(lab)) for lab in labs)
    yield Table(HEADS, rows) if rows else Note("no lab is up")


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


def faults_report(faults: Iterable[tuple[str, str]]) -> Table:
    """One row a fault: how it is named, and what it does."""
    return Table((TableColumn(), TableColumn(wraps=True)), tuple(faults))


def _hop(hop: LabHop) -> str:
    words = [f"in {hop.arrives}"] if hop.arrives else []
    words += [f"out {hop.leaves}"] if hop.leaves else []
    words += [f"to {hop.via}"] if hop.via else []
    return " ".join(words)
