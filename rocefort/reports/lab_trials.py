"""How trials of a running lab are written for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import TypeAdapter

from rocefort.models.lab_trials import (
    Chaos,
    ChaosStep,
    Failover,
    FailoverRow,
    OpinionRow,
    Spread,
    UnderLoad,
)
from rocefort.models.wording import counted

PAIRS = ("kernel, engine", "kernel, batfish", "engine, batfish")
ORDINAL = (
    "Timings are ordinal: they tell which fault costs more than which other, on this machine. "
    "A switch's own BFD and FIB have others."
)


def opinions_text(rows: Sequence[OpinionRow]) -> str:
    """One line a state, then what differs, and a sum."""
    return "\n".join(_opinions(rows)) + "\n"


def rows_json(rows: Sequence[OpinionRow]) -> str:
    """As JSON."""
    return TypeAdapter(list[OpinionRow]).dump_json(list(rows), indent=2).decode()


def _opinions(rows: Sequence[OpinionRow]) -> Iterator[str]:
    fabric, state = (max(map(len, words)) for words in zip(*map(_words, rows), strict=True))
    head = "  ".join(f"{'differ: ' + pair:>23}" for pair in PAIRS)
    yield f"{'fabric':<{fabric}}  {'state':<{state}}  {'sets':>6}  {head}"
    for row in rows:
        counts = "  ".join(f"{row.differing.get(pair, '-'):>23}" for pair in PAIRS)
        yield f"{row.fabric:<{fabric}}  {row.state:<{state}}  {row.compared:>6}  {counts}"
    yield from (f"differs: {row.fabric}, {row.state}: {row.first}" for row in rows if row.first)
    yield from dict.fromkeys(f"Batfish on {r.fabric}: {r.batfish}" for r in rows if r.batfish)
    silent = sum(not row.batfish for row in rows)
    if silent:
        yield f"Batfish has no recorded answers on {silent} of {counted(len(rows), 'state')}: -"
    sets, differ = sum(r.compared for r in rows), sum(sum(r.differing.values()) for r in rows)
    yield f"{sets} next-hop sets in {counted(len(rows), 'state')}, {differ} differences"


def _words(row: OpinionRow) -> tuple[str, str]:
    return row.fabric, row.state


def chaos_head(found: Chaos) -> str:
    """What is done, and what has to hold after each step."""
    return "\n".join(_chaos_head(found))


def _chaos_head(found: Chaos) -> Iterator[str]:
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
    """How it ended."""
    bad = sum(bool(step.differing) for step in found.steps)
    why = f"; stopped: {found.stopped}" if found.stopped else ""
    return f"{counted(len(found.steps), 'step')}, {bad} against the law; all is mended{why}"


def spread_text(found: Spread) -> str:
    """One line a path, and how likely that is."""
    return "\n".join(_spread(found)) + "\n"


def _spread(found: Spread) -> Iterator[str]:
    yield f"{found.flows} flows of UDP 4791, {found.source} to {found.destination}, each from its"
    yield f"own source port, over the equal paths of {found.leaf}:"
    yield f"{'spine':<16} {'port':<14} {'packets':>8} {'fair':>8} {'by hash':>8}"
    for row in found.rows:
        counts = f"{row.counted:>8} {row.expected:>8.1f} {row.foretold:>8}"
        yield f"{row.spine:<16} {row.port:<14} {counts}"
    lost = found.flows - sum(row.counted for row in found.rows)
    yield f"{lost} packets did not come" if lost else "every packet came"
    verdict = "fair" if found.chance >= found.bound else "NOT FAIR"
    freedom = "1 degree" if found.freedom == 1 else f"{found.freedom} degrees"
    yield (
        f"chi-square {found.chi_square:.2f} with {freedom} of freedom: chance "
        f"{found.chance:.3g}, bound {found.bound:g}: {verdict}"
    )
    yield "by hash: where the leaf's kernel says that each flow goes, asked of it one by one"


def failover_text(found: Failover) -> str:
    """The table, with what it was measured under."""
    return "\n".join(_failover(found)) + "\n"


def _failover(found: Failover) -> Iterator[str]:
    yield (
        f"{found.flows} flows of UDP 4791, {found.source} to {found.destination}, each "
        f"{found.rate} packets/s"
    )
    yield from (f"timers: {timers}" for timers in found.timers)
    if not found.rows:  # somebody did not want to wait
        yield "nothing was measured"
        return
    where = max(len(row.where) for row in found.rows)
    fault = max(len(row.fault) for row in found.rows)
    head = f"{'hit':>5}  {'lost':>6}  {'longest loss':>14}  {'routes rest':>11}  {'mending':>9}"
    yield f"{'fault':<{fault}}  {'where':<{where}}  {head}"
    for row in found.rows:
        yield f"{row.fault:<{fault}}  {row.where:<{where}}  {_failover_row(row, found.limit_s)}"
    yield "hit: flows that lost packets; mending: the longest loss while it was mended"
    yield ORDINAL


def _failover_row(row: FailoverRow, limit_s: float) -> str:
    rest = f"> {limit_s:.0f} s" if row.settled_s is None else f"{row.settled_s:.1f} s"
    window = _ms(row.window_ms, "until mended")
    return f"{row.hit:>5}  {row.lost:>6}  {window:>14}  {rest:>11}  {_ms(row.mending_ms, '-'):>9}"


def _ms(value: float | None, without: str) -> str:
    if value is None:
        return without
    return "none" if not value else f"{value:.0f} ms"


def load_text(found: UnderLoad) -> str:
    """What was lost, and which sessions."""
    return "\n".join(_load(found)) + "\n"


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
