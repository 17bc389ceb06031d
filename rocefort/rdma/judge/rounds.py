"""Results of several runs together: repetitions, runs at the same time, a cable taken away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from rocefort.models.wording import count_of, listing
from rocefort.rdma.parse.outcome import TableError
from rocefort.rdma.parse.perftest import BASE_POINTS, WHOLE, outage
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round
from rocefort.rdma.results import (
    DerivedVerdict,
    FigureSpread,
    Measurement,
    Point,
    RdmaResult,
    SpreadUnit,
)

LOAD_ROUND = -1  # of a load that is the same in every round
CONNECT_S = 2.0  # least that is taken off before a run sends; assumed
SLOWER = 1.5  # a time is longer by this factor; assumed
LEAST_OF_STATED = 0.95  # of a stated rate of TCP; assumed

Overlap = tuple[float, float]  # seconds of MPI, and those beside TCP
# Key of one figure: round and run within a repetition, message size, and name with unit.
Key = tuple[int, int, int | None, str, SpreadUnit]


def figure_spreads(result: RdmaResult) -> tuple[FigureSpread, ...]:
    """Return a spread of each figure; none of a plan that is run once.

    A run that was not measured has no figure; `runs` counts those that have one.
    """
    if result.plan.repeat < 2:
        return ()
    places = _places(result.plan)
    values: dict[Key, list[float]] = {}
    first: dict[Key, Measurement] = {}
    for each in result.measurements:
        if each.run.id not in places:
            continue
        for size, name, unit, value in _figures(each):
            key = (*places[each.run.id], size, name, unit)
            values.setdefault(key, []).append(value)
            first.setdefault(key, each)
    notes = {number: each.note for number, each in enumerate(result.plan.rounds)}
    return tuple(
        FigureSpread(
            program=first[key].run.label,
            pair=first[key].run.pair,
            beside=notes.get(key[0], ""),
            size_bytes=key[2],
            figure=key[3],
            unit=key[4],
            runs=len(numbers),
            minimum=min(numbers),
            median=median(numbers),
            maximum=max(numbers),
        )
        for key, numbers in values.items()
    )


def _places(plan: RdmaPlan) -> dict[str, tuple[int, int]]:
    """Position of each run within its repetition, by the id of the run."""
    once = len(plan.rounds) // plan.repeat
    return {
        run.id: (LOAD_ROUND if _is_load(run, each) else number % once, index)
        for number, each in enumerate(plan.rounds)
        for index, run in enumerate(each.runs)
    }


def _is_load(run: RdmaRun, each: Round) -> bool:
    """Whether a run is the same load in every round: TCP beside MPI."""
    return run.program is Program.IPERF3 and any(other.ranks for other in each.runs)


def _figures(each: Measurement) -> Iterator[tuple[int | None, str, SpreadUnit, float]]:
    """Yield size, name, unit and value of the figures that a publication prints."""
    for point in each.sizes:
        yield point.size_bytes, "average", "us", point.average_us
    if each.sizes or each.figures is None or each.value is None:
        return
    size, figures = each.run.size_bytes, each.figures
    if each.run.program.measures_latency:
        yield size, "average", "us", each.value
    else:
        yield size, "rate", "Gb/s", each.value
    if figures.iops is not None:
        yield size, "operations", "IOPS", figures.iops
    if each.run.program is Program.FIO and figures.latency_us is not None:
        yield size, "average", "us", figures.latency_us
    if figures.p99_us is not None:
        yield size, "99 % within", "us", figures.p99_us


# --- runs at the same time ------------------------------------------------------------------------


def simultaneous(result: RdmaResult) -> Iterator[DerivedVerdict]:
    """Report whether the loads of a round ran at the same time, and at the stated rate."""
    by_run = {each.run.id: each for each in result.measurements}
    loads: list[Measurement] = []
    overlaps: list[Overlap] = []
    for each in result.plan.rounds:
        found = [by_run[run.id] for run in each.runs if run.id in by_run]
        work = [m for m in found if m.run.ranks]
        if len(work) > 1:
            yield from _groups_together(each, work)
        load = [m for m in found if m.run.program is Program.IPERF3 and m.run.limit_gbps]
        loads += load
        if work and load and (overlap := _overlap(work, load)):
            overlaps.append(overlap)
    if loads:
        yield from _stated_rate(loads, emulated="servers" in result.conditions)
    if overlaps:
        yield _beside_load(overlaps)


def _span(each: Measurement) -> tuple[float, float] | None:
    """Begin and end of a measured run, s of the clock; None: not known."""
    if each.at is None or each.seconds is None or each.value is None:
        return None
    begin = each.at.timestamp()
    return begin, begin + each.seconds


def _groups_together(each: Round, work: Sequence[Measurement]) -> Iterator[DerivedVerdict]:
    spans = [span for m in work if (span := _span(m)) is not None]
    if len(spans) < len(work):
        return  # the missing one is reported
    both = max(0.0, min(end for _, end in spans) - max(begin for begin, _ in spans))
    longest = max(end - begin for begin, end in spans)
    yield DerivedVerdict(
        subject="groups",
        ok=None,
        sentence=f"{each.note}: all groups ran at the same time for {both:.1f} s, the longest "
        f"for {longest:.1f} s",
    )


def _stated_rate(loads: Sequence[Measurement], *, emulated: bool) -> Iterator[DerivedVerdict]:
    rates = [m.value for m in loads if m.value is not None]
    if not rates:
        return
    stated = max(m.run.limit_gbps or 0.0 for m in loads)
    reached = min(rates) >= LEAST_OF_STATED * stated
    low, high = f"{min(rates):.2f}", f"{max(rates):.2f}"
    span = low if low == high else f"{low} to {high}"
    lacking = "" if reached else ": the load was lower than stated"
    yield DerivedVerdict(
        subject="TCP",
        ok=None if emulated or reached else False,
        sentence=f"{count_of(len({m.run.client for m in loads}), 'TCP sender')}: {span} Gb/s each "
        f"in {count_of(len(rates), 'run')}, {stated:g} stated{lacking}",
    )


def _overlap(work: Sequence[Measurement], load: Sequence[Measurement]) -> Overlap | None:
    """Seconds of MPI, and those of them in which every TCP sender ran; None: not known."""
    spans = [[span for m in part if (span := _span(m)) is not None] for part in (work, load)]
    if not all(spans):
        return None
    begin, end = min(b for b, _ in spans[0]), max(e for _, e in spans[0])
    first, last = max(b for b, _ in spans[1]), min(e for _, e in spans[1])
    return end - begin, max(0.0, min(end, last) - max(begin, first))


def _beside_load(overlaps: Sequence[Overlap]) -> DerivedVerdict:
    """Report whether TCP ran from before MPI until after it, in every round."""
    short = [each for each in overlaps if each[1] < each[0]]
    rounds = count_of(len(overlaps), "round")
    if not short:
        sentence = f"TCP ran during all of MPI, in {rounds}"
        return DerivedVerdict(subject="TCP", ok=None, sentence=sentence)
    whole, both = min(short, key=lambda each: each[1] / each[0])
    return DerivedVerdict(
        subject="TCP",
        ok=False,
        sentence=f"TCP did not run during all of MPI in {len(short)} of {rounds}, at worst for "
        f"{both:.1f} s of {whole:.1f} s: lengthen TCP with --duration",
    )


# --- a cable taken away ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SizeEffect:
    """Average times of one message size, us, without the failure and through it."""

    size_bytes: int
    usual_us: float
    failed_us: float

    @property
    def times(self) -> float:
        """Quotient of both times."""
        return self.failed_us / self.usual_us


def failed_at_s(result: RdmaResult, each: Measurement) -> float | None:
    """Time of a failure on the clock of a run with periodic rows; None: no known time."""
    event = result.cable_event(each.run.id)
    if event is None or event.taken_at is None or each.at is None:
        return None
    # Without rows at its beginning it connected. A slow guest needs more than a real server.
    whole = each.seconds or 0.0
    silent = whole - (each.series[-1].at_s if each.series else whole)
    since = (event.taken_at - each.at).total_seconds() - max(CONNECT_S, silent)
    return max(BASE_POINTS * float(each.run.every_s or 1), since)


def loss_over_time(result: RdmaResult, each: Measurement) -> tuple[tuple[Point, float], ...]:
    """Rows around a failure, each with the Gbit that were not sent in its interval.

    They begin two rows before the first loss, and end two rows after the last.
    """
    at_s = failed_at_s(result, each)
    if at_s is None:
        return ()
    try:
        usual = outage(each.series, at_s).usual_gbps
    except TableError:
        return ()
    every = float(each.run.every_s or 1)
    rows = [
        (point, max(0.0, usual - point.gbps) * every if point.at_s > at_s else 0.0)
        for point in each.series
    ]
    low = [n for n, (point, _) in enumerate(rows) if point.gbps < WHOLE * usual]
    low = [n for n in low if rows[n][0].at_s > at_s]
    return tuple(rows[max(0, low[0] - 2) : low[-1] + 3]) if low else ()


def size_effects(result: RdmaResult) -> Iterator[tuple[Measurement, tuple[SizeEffect, ...]]]:
    """Yield each MPI run through a failure, with its sizes beside those of the run before it.

    A run that ended before a cable was away is left out.
    """
    usual: dict[tuple[str, tuple[str, ...], tuple[int, ...], int], Measurement] = {}
    rounds = {run.id: each for each in result.plan.rounds for run in each.runs}
    for each in (m for m in result.measurements if m.sizes and m.run.id in rounds):
        run = each.run
        key = (run.collective, run.ranks, run.sizes, rounds[run.id].repetition)
        if rounds[run.id].cable_by is None:
            usual[key] = each
        elif key in usual and _was_away(result, each):
            before = {point.size_bytes: point.average_us for point in usual[key].sizes}
            yield (
                each,
                tuple(
                    SizeEffect(point.size_bytes, before[point.size_bytes], point.average_us)
                    for point in each.sizes
                    if before.get(point.size_bytes)
                ),
            )


def _was_away(result: RdmaResult, each: Measurement) -> bool:
    event = result.cable_event(each.run.id)
    return event is not None and event.taken_at is not None and not event.problem


def cable_verdicts(result: RdmaResult) -> Iterator[DerivedVerdict]:
    """Report what a cable taken away did, and whether it was taken away while a run measured."""
    notes = {each.number: each.note for each in result.plan.rounds}
    for planned in result.cables:
        note = notes.get(planned.round, "")
        if planned.problem:
            sentence = f"{note}: the cables were not taken away and put back: {planned.problem}"
            yield DerivedVerdict(subject="cable", ok=False, sentence=sentence)
        elif planned.taken_at is None:
            sentence = f"{note}: the round ended before a cable was taken away"
            how = "use an earlier --cable-at, or more --iterations"
            yield DerivedVerdict(subject="cable", ok=False, sentence=f"{sentence}: {how}")
    for each, effects in size_effects(result):
        slow = [effect for effect in effects if effect.times >= SLOWER]
        worst = max(slow, key=lambda effect: effect.times, default=None)
        found = f"no size took {SLOWER:g} times as long as without the failure"
        if worst is not None:
            found = (
                f"{len(slow)} of {count_of(len(effects), 'size')} took {SLOWER:g} times as long "
                f"or longer, {worst.size_bytes} bytes {worst.times:.1f} times"
            )
        event = result.cable_event(each.run.id)
        away = listing(event.cables if event else ())
        what = f"{each.run.collective} over {each.run.pair}, {away} away"
        yield DerivedVerdict(subject="cable", ok=None, sentence=f"{what}: {found}")
