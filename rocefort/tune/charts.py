"""Pictures of a search as numbers for its page: front, heat maps, sensitivity, queues.

Scales have a least range, and cells no color below the noise, so that equal figures look equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from rocefort.models.wording import count_of, listing
from rocefort.reports.page_parts import (
    Curve,
    EffectChart,
    EffectRow,
    LinearScale,
    Plot,
    PlotAxis,
    PlotLevel,
    curve_of,
)
from rocefort.tune.model import (
    HeatMap,
    MeasureEffect,
    Option,
    QueueSeries,
    SearchResult,
    SearchVerdict,
)
from rocefort.tune.report import (
    GOALS_BY_NAME,
    against,
    change_words,
    percent,
    short,
)
from rocefort.tune.search.comparison import TriedCandidate
from rocefort.tune.search.objectives import GOODPUT, PAUSES
from rocefort.tune.verdict_sentence import parameter_name, signed

BEST = "best candidate"
MOST_DOTS = 1200
LEAST_PERCENT = 4.0  # range of an axis, percent of the start point
LEAST_UNITS = 2.0  # range of an axis, in a measure's unit
LEAST_KBYTES = 5.0  # range of an axis of queues
FULL_PERCENT = 10.0  # least difference that has the full color
FULL = 60.0  # percent of the color in a cell
EDGE = 0.95  # share of the candidates that an axis contains; others are at its end
CLOSE = 8.0  # percent of a plot's height that the words of two levels need


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a map; kind: its CSS class; share: percent of full color."""

    text: str
    words: str
    share: float = 0.0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """Table of colored cells; note: how to read it."""

    title: str
    note: str
    corner: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]

    @property
    def colored(self) -> bool:
        """Whether a cell differs from the start point by more than the noise."""
        return any(cell.kind not in ("equal", "none") for _, cells in self.rows for cell in cells)


# --- effects --------------------------------------------------------------------------------------


KINDS = {"better": "better", "worse": "worse", "within noise": "equal"}


def effect_charts(verdict: SearchVerdict) -> list[EffectChart]:
    """Return the changes with their intervals, of each measure that differs in a scenario."""
    moved: dict[str, list[MeasureEffect]] = {}
    for effect in verdict.effects:
        if effect.difference.low or effect.difference.high:
            moved.setdefault(effect.measure, []).append(effect)
    return [_effects(measure, own) for measure, own in moved.items()]


def _effects(measure: str, effects: Sequence[MeasureEffect]) -> EffectChart:
    """Return a chart in percent of today, or in the unit where today has 0."""
    relative = all(effect.today for effect in effects)
    unit = "%" if relative else effects[0].unit
    three = [
        [x * (100 / effect.today if relative else 1.0) for x in (e.low, e.mean, e.high)]
        for effect in effects
        for e in (effect.difference,)
    ]
    least = LEAST_PERCENT if relative else LEAST_UNITS
    scale = LinearScale.over([0.0, *(x for own in three for x in own)], least)
    better = "higher" if effects[0].higher_is_better else "lower"
    return EffectChart(
        title=f"{measure} against today, {unit} ({better} is better)",
        zero=scale.percent(0),
        ticks=scale.ticks,
        rows=tuple(
            EffectRow(
                scenario=effect.scenario,
                low=scale.percent(low),
                mean=scale.percent(mean),
                high=scale.percent(high),
                kind=KINDS[effect.judgement],
                words=f"{short(effect.today)} today, {short(effect.new)} {effect.unit} with the "
                f"best candidate: {signed(mean)} {unit}, {signed(low)} to {signed(high)}, "
                f"{effect.judgement}",
            )
            for effect, (low, mean, high) in zip(effects, three, strict=True)
        ),
    )


# --- front ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Dot:
    """Candidate or reference, percent more than the start point."""

    x: float
    y: float
    words: str


def front_plots(result: SearchResult, candidates: Sequence[TriedCandidate]) -> list[Plot]:
    """Return a plot of goodput against each other goal, with all candidates and the front."""
    goals = [goal for goal in result.start.ratios if goal not in (GOODPUT, PAUSES)]
    plots = [_front(result, candidates, goal) for goal in goals]
    return [plot for plot in plots if plot is not None]


def _front(result: SearchResult, candidates: Sequence[TriedCandidate], goal: str) -> Plot | None:
    """Goodput and a goal, both in percent more than the start point."""

    def dot(ratios: dict[str, float | None], name: str) -> Iterator[_Dot]:
        across, up = ratios[GOODPUT], ratios[goal]
        if across is not None and up is not None:
            words = (change_words(each, ratios[each]) for each in (GOODPUT, goal))
            yield _Dot(percent(across), percent(up), f"{name}: {', '.join(words)}")

    def dots(options: Sequence[Option], name: str = "") -> list[_Dot]:
        return [d for option in options for d in dot(option.ratios, name or option.name)]

    lossless = [each for each in candidates if not each.lossy]
    every = lossless[:: max(1, len(lossless) // MOST_DOTS)]
    drawn = [d for each in every for d in dot(each.ratios, values_words(each.values))]
    best = dots(result.front)
    others, chosen = dots(result.references[1:]), dots([result.chosen], BEST)
    today = dots([result.start], f"today, {result.start.name}")
    if not drawn:
        return None
    whole = [*_most(drawn), *best, *chosen]
    x = LinearScale.over([0.0, *(d.x for d in whole)], LEAST_PERCENT)
    y = LinearScale.over([0.0, *(d.y for d in whole)], LEAST_PERCENT)

    def curve(name: str, style: str, dots: Sequence[_Dot]) -> Curve:
        places = [(x.percent(d.x), y.percent(d.y), d.words) for d in dots]
        return Curve(name, style, "", curve_of(name, style, places).dots)

    beyond = sum(not (x.low <= d.x <= x.high and y.low <= d.y <= y.high) for d in [*drawn, *others])
    raised = GOALS_BY_NAME[goal].better
    return Plot(
        title=f"Goodput and {goal}",
        x=PlotAxis("goodput against today, % (right is better)", x.ticks),
        y=PlotAxis(f"{goal} against today, % ({raised} is better)", y.ticks),
        curves=(
            curve("candidates", "c4", drawn),
            curve("others' values", "c2", others),
            curve("front", "c1", best),
            curve("today", "c5 large", today),
            curve(BEST, "c3 large", chosen),
        ),
        words=f"{count_of(len(drawn), 'candidate')}, {len(best)} in the front",
        notes=(f"{count_of(beyond, 'value')} beyond an end of an axis, drawn at it",)
        if beyond
        else (),
    )


def _most(dots: Sequence[_Dot]) -> list[_Dot]:
    """Return the dots without the largest values of y."""
    return sorted(dots, key=lambda d: d.y)[: max(1, round(len(dots) * EDGE))]


def values_words(values: Mapping[str, float]) -> str:
    """Return the values of a candidate in words."""
    return ", ".join(f"{parameter_name(name)} {value:g}" for name, value in values.items())


# --- maps -----------------------------------------------------------------------------------------


def heat(result: SearchResult) -> dict[str, Map]:
    """Return a map of two parameters for each goal, in percent against the start point."""
    noise = result.noise_percent
    return {each.goal: _heat(each, noise.get(each.goal, 0.0)) for each in result.heat_maps}


EMPTY = {
    "lossy": ("drops", "drops packets, or flows do not end", "lost"),
    "from 0": ("from 0", "today has none", "worse"),
    "none": ("", "refused or not tried", "none"),
}


def _heat(each: HeatMap, noise: float) -> Map:
    known = [ratio for row in each.rows for ratio in row if ratio]
    full = max([abs(log(r)) for r in known] + [log(1 + max(FULL_PERCENT, 2 * noise) / 100)])
    goal, rows = GOALS_BY_NAME[each.goal], []
    for value, row, kinds in zip(each.y_values, each.rows, each.kinds, strict=True):
        cells = []
        for x, ratio, kind in zip(each.x_values, row, kinds, strict=True):
            at = values_words({each.x: x, each.y: value})
            if ratio is None:
                text, words, style = EMPTY[kind]
                cells.append(Cell(text, f"{at}: {words}", FULL, style))
            else:
                words = f"{at}: {change_words(each.goal, ratio)}"
                cells.append(_cell(ratio, words, noise, full, raised=goal.raised))
        rows.append((f"{value:g}", tuple(cells)))
    return Map(
        title=f"{each.goal} against today, % ({goal.better} is better)",
        note=f"No color: less than {short(noise)} % from today, the noise of the seeds.",
        corner=f"{parameter_name(each.y)} \\ {parameter_name(each.x)}",
        heads=tuple(f"{value:g}" for value in each.x_values),
        rows=tuple(rows),
    )


def _cell(ratio: float, words: str, noise: float, full: float, *, raised: bool) -> Cell:
    if abs(percent(ratio)) <= noise:
        return Cell(against(ratio), f"{words}, within noise", kind="equal")
    share = FULL * min(1.0, abs(log(ratio)) / full) if ratio else FULL
    return Cell(against(ratio), words, share, "better" if (ratio > 1) == raised else "worse")


def sensitivity(result: SearchResult) -> Map | None:
    """Return the share of each parameter in the variance of each goal."""
    if not result.parameters:
        return None
    goals = tuple(result.parameters[0].shares)
    rows = tuple(
        (parameter_name(p.name), tuple(_share(p.name, goal, p.shares[goal]) for goal in goals))
        for p in result.parameters
    )
    note = "-: the candidates differ by less than the seeds."
    return Map("Share of the variance that a parameter explains alone, %", note, "", goals, rows)


def _share(name: str, goal: str, share: float | None) -> Cell:
    if share is None:
        return Cell("-", f"{goal} of the candidates differs by less than the seeds", kind="equal")
    words = f"{parameter_name(name)}: {100 * share:.1f} % of {goal}"
    return Cell(f"{100 * share:.0f}", words, FULL * share, "better")


# --- queues ---------------------------------------------------------------------------------------


def queue_plots(result: SearchResult) -> list[Plot]:
    """Return a plot of each scenario: the queue with today's values and with the choice."""
    by_scenario: dict[str, list[QueueSeries]] = {}
    for series in result.queues:
        by_scenario.setdefault(series.scenario, []).append(series)
    return [_queue(name, own, result.chosen.name) for name, own in by_scenario.items()]


def _queue(name: str, both: Sequence[QueueSeries], chosen: str) -> Plot:
    longest = max((max(series.kbytes) for series in both), default=0)
    levels = [
        (series.option == chosen, threshold, kbytes)
        for series in both
        for threshold, kbytes in series.thresholds.items()
    ]
    near = [kbytes for *_, kbytes in levels if kbytes <= 1.6 * max(longest, LEAST_KBYTES)]
    y = LinearScale(0, max(longest, *near, LEAST_KBYTES) * 1.08)
    x = LinearScale(0, max(series.until_us[-1] for series in both))
    curves = []
    for series in both:
        pairs = zip(series.until_us, series.kbytes, strict=True)
        points = [
            (x.percent(t), y.percent(q), f"{short(q)} kbytes until {t:g} us") for t, q in pairs
        ]
        choice = series.option == chosen
        curves.append(curve_of(BEST if choice else "today", "c3" if choice else "c2", points))
    above: dict[bool, list[str]] = {}
    for choice, threshold, kbytes in levels:
        if kbytes > y.high:
            above.setdefault(choice, []).append(f"{threshold} {kbytes:g}")
    return Plot(
        title=f"{name}: mean queue at {listing(dict.fromkeys(series.port for series in both))}",
        x=PlotAxis("time, us", x.ticks),
        y=PlotAxis("queue, kbytes of 1,000 bytes", y.ticks),
        curves=tuple(curves),
        words=f"{name}: queue over {x.high:g} us, at most {short(longest)} kbytes",
        levels=tuple(_levels(levels, y)),
        notes=tuple(
            f"Above the chart, kbytes: {', '.join(words)} ({BEST if choice else 'today'})."
            for choice, words in above.items()
        ),
    )


def _levels(levels: Sequence[tuple[bool, str, float]], y: LinearScale) -> Iterator[PlotLevel]:
    """Yield the levels within the plot: today's left, the choice's right."""
    for choice in (False, True):
        own = sorted(
            (y.percent(kbytes), f"{name} {kbytes:g}")
            for of_choice, name, kbytes in levels
            if of_choice == choice and kbytes <= y.high
        )
        words: list[str] = []
        for number, (place, name) in enumerate(own):
            words.append(name)
            last = number + 1 == len(own) or own[number + 1][0] - place > CLOSE
            shown = ", ".join(words) if last else ""
            yield PlotLevel(shown, "c3" if choice else "c2", place, "right" if choice else "left")
            words = [] if last else words
