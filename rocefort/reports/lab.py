"""How a lab's state and the way of a flow through it are written for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.models.twin import LabHop, LabStatus, LabTrace
from rocefort.models.wording import counted


def labs_text(labs: Iterable[LabStatus]) -> str:
    """One line a lab."""
    return "".join(f"{_line(lab)}\n" for lab in labs) or "no lab is up\n"


def _line(lab: LabStatus) -> str:
    if not lab.whole:
        return f"{lab.name:<16} fabric {lab.fabric}, not whole: {'; '.join(lab.wrong)}"
    nodes = f"{counted(lab.switches, 'switch')}, {counted(lab.servers, 'server')}"
    sessions = f"{lab.established} of {lab.sessions} sessions up"
    return f"{lab.name:<16} fabric {lab.fabric}, {nodes}, {sessions}"


def status_text(lab: LabStatus) -> str:
    """A lab with what is wrong in it, and what its kernel lacks."""
    return "\n".join(_status(lab)) + "\n"


def _status(lab: LabStatus) -> Iterator[str]:
    yield _line(lab)
    if lab.whole:
        cables = counted(lab.cables, "cable")
        yield f"  up since {lab.started:%Y-%m-%d %H:%M:%S} UTC, FRR {lab.frr}, {cables}"
        yield from (f"  guest {text}" for text in lab.guests)
        if lab.connections:
            yield f"  connections: {lab.connections}"
        yield from (f"  wrong: {text}" for text in lab.wrong)
    yield from (f"  this kernel has {text}" for text in lab.lacks)


def lab_trace_text(trace: LabTrace) -> str:
    """One line a hop."""
    flow = f"UDP {trace.source}:{trace.source_port} to {trace.destination}"
    lines = [f"{flow}:{trace.destination_port}"]
    lines += [f"  {number} {_hop(hop)}" for number, hop in enumerate(trace.hops)]
    lines.append(f"  stops at {trace.stopped}" if trace.stopped else "  arrives")
    return "\n".join(lines) + "\n"


def _hop(hop: LabHop) -> str:
    words = [f"{hop.node:<16}"]
    words += [f"in {hop.arrives}"] if hop.arrives else []
    words += [f"out {hop.leaves}"] if hop.leaves else []
    words += [f"to {hop.via}"] if hop.via else []
    return " ".join(words).rstrip()
