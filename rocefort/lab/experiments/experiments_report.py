"""Trials of a running lab: opinions, chaos, spread, failover, load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.lab.experiments.experiment_results import (
    Chaos,
    ChaosStep,
    Failover,
    FlowSpread,
    OpinionRow,
    UnderLoad,
)
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Note, Section, Table, TableColumn, columns

PAIRS = ("kernel, engine", "kernel, batfish", "engine, batfish")
ORDINAL = (
    "Timings are ordinal: they rank the faults by cost on this machine. "
    "BFD and FIB of a switch have other timings."
)


def opinions_report(rows: Sequence[OpinionRow]) -> Section:
    """One row a state, then what differs, and a sum."""
    heads = (TableColumn("fabric"), TableColumn("state"), TableColumn("sets"))
    pairs = (TableColumn(f"differ: {pair}", "right") for pair in PAIRS)
    cells = tuple(
        (row.fabric, row.state, row.compared, *(row.differing.get(pair) for pair in PAIRS))
        for row in rows
    )
    return Section("", (Table((*heads, *pairs), cells), *map(Note, _opinions(rows))))


def _opinions(rows: Sequence[OpinionRow]) -> Iterator[str]:
    yield from (f"differs: {row.fabric}, {row.state}: {row.first}" for row in rows if row.first)
    yield from dict.fromkeys(f"Batfish on {r.fabric}: {r.batfish}" for r in rows if r.batfish)
    silent = sum(not row.batfish for row in rows)
    if silent:
        yield f"Batfish has no recorded answers on {silent} of {count_of(len(rows), 'state')}: -"
    sets, differ = sum(r.compared for r in rows), sum(sum(r.differing.values()) for r in rows)
    yield f"{sets} next-hop sets in {count_of(len(rows), 'state')}, {differ} differences"


def chaos_head(found: Chaos) -> Iterator[str]:
    """Return the steps, and the conditions after each step."""
    yield f"chaos on {found.lab}: seed {found.seed}, {found.minutes:g} minutes"
    yield from (f"timers: {timers}" for timers in found.timers)
    yield (
        "after each step the kernels must have the routes that the embedded engine predicts for "
        f"the fabric with what is broken, within {found.deadline_s:.0f} s"
    )


def step_text(step: ChaosStep) -> str:
    """One line a step."""
    law = f"{step.compared} next-hop sets as predicted after {step.took_s:.1f} s"
    if step.differing:
        law = f"{step.differing} of {step.compared} differ after {step.took_s:.0f} s: {step.first}"
    return f"{step.number:>4}  {step.at_s:>7.1f} s  {step.done}: {law}"


def chaos_sum(found: Chaos) -> str:
    """Return the outcome in a sentence."""
    bad = sum(bool(step.differing) for step in found.steps)
    why = f"; stopped: {found.stopped}" if found.stopped else ""
    return (
        f"{count_of(len(found.steps), 'step')}, {bad} against the law; all faults are repaired{why}"
    )


def spread_report(found: FlowSpread) -> Section:
    """One row a path, and how likely that is."""
    lost = found.flows - sum(row.counted for row in found.rows)
    verdict = "fair" if found.chance >= found.bound else "NOT FAIR"
    freedom = "1 degree" if found.freedom == 1 else f"{found.freedom} degrees"
    rows = tuple(
        (row.spine, row.port, row.counted, f"{row.expected:.1f}", row.foretold)
        for row in found.rows
    )
    heads = (
        *columns("spine", "port", "packets"),
        TableColumn("fair", "right"),
        TableColumn("by hash"),
    )
    return Section(
        "",
        (
            Note(
                f"{found.flows} flows of UDP 4791, {found.source} to {found.destination}, each "
                f"from its own source port, over the equal paths of {found.leaf}:"
            ),
            Table(heads, rows),
            Note(f"{lost} packets did not come" if lost else "every packet came"),
            Note(
                f"chi-square {found.chi_square:.2f} with {freedom} of freedom: chance "
                f"{found.chance:.3g}, bound {found.bound:g}: {verdict}"
            ),
            Note("by hash: where the leaf's kernel sends each flow, asked of it one by one"),
        ),
    )


def failover_report(found: Failover) -> Section:
    """Losses by fault, with what they were measured under."""
    head = (
        f"{found.flows} flows of UDP 4791, {found.source} to {found.destination}, each "
        f"{found.rate} packets/s"
    )
    notes = [Note(head), *(Note(f"timers: {timers}") for timers in found.timers)]
    if not found.rows:  # the user interrupted it
        return Section("", (*notes, Note("nothing was measured")))
    figures = (TableColumn(title, "right") for title in ("longest loss", "routes rest", "mending"))
    table = Table(
        (*columns("fault", "where", "hit", "lost"), *figures),
        tuple(
            (
                row.fault,
                row.where,
                row.hit,
                row.lost,
                _ms(row.window_ms, "until repaired"),
                f"> {found.limit_s:.0f} s" if row.settled_s is None else f"{row.settled_s:.1f} s",
                _ms(row.mending_ms, "-"),
            )
            for row in found.rows
        ),
    )
    legend = Note("hit: flows that lost packets; mending: the longest loss during the repair")
    return Section("", (*notes, table, legend, Note(ORDINAL)))


def _ms(value: float | None, without: str) -> str:
    if value is None:
        return without
    return "none" if not value else f"{value:.0f} ms"


def load_report(found: UnderLoad) -> Section:
    """Show the lost packets and the reset sessions."""
    return Section("", tuple(map(Note, _load(found))))


def _load(found: UnderLoad) -> Iterator[str]:
    yield (
        f"{found.flows} flows of UDP 4791 between all servers, each {found.rate} packets/s, for "
        f"{found.seconds:.1f} s"
    )
    longest = _ms(found.longest_ms, "one that did not end")
    yield f"{found.lost} of {found.sent} packets lost, the longest loss of a flow: {longest}"
    gained = f"{found.gained} more than before"
    yield f"{len(found.reset)} of {found.sessions} BGP sessions reset, {gained}"
    yield from (f"reset: {session}" for session in found.reset)
    yield ORDINAL
