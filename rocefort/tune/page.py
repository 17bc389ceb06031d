"""Page of a search, with its pictures as numbers for the template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.models.wording import count_of
from rocefort.reports.page_parts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Curve,
    Plot,
    curve_of,
    round_numbers,
)
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.tune.model import HeatMap, Option, QueueSeries, SearchResult
from rocefort.tune.report import (
    byte_tuning_table,
    comparison,
    counts,
    options_table,
    short,
)
from rocefort.tune.verdict_sentence import parameter_name

MOST_DOTS = 1200
GOODPUT = "goodput"
Candidate = tuple[Mapping[str, float], Mapping[str, float]]  # values and ratios by name


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a map; share: percent of full color."""

    text: str
    words: str
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Map:
    """Table of colored cells."""

    title: str
    corner: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def front_plots(result: SearchResult, candidates: Sequence[Candidate]) -> list[Plot]:
    """Return a plot of goodput against each other goal, with all candidates and the front."""
    goals = [goal for goal in result.start.ratios if goal not in (GOODPUT, "pauses")]
    plots = [_front(result, candidates, goal) for goal in goals]
    return [plot for plot in plots if plot is not None]


def _front(result: SearchResult, candidates: Sequence[Candidate], goal: str) -> Plot | None:
    """Goodput and a goal, both in percent of the start point."""
    every = candidates[:: max(1, len(candidates) // MOST_DOTS)]

    def coordinates(ratio: Mapping[str, float]) -> tuple[float, float]:
        return 100 / ratio[GOODPUT], 100 * ratio[goal]

    def named(option: Option, name: str = "") -> tuple[float, float, str]:
        x, y = coordinates(option.ratios)
        return x, y, f"{name or option.name}: goodput {x:.0f} %, {goal} {y:.0f} %"

    drawn = [
        (*coordinates(ratio), ", ".join(f"{parameter_name(k)} {v:g}" for k, v in values.items()))
        for values, ratio in every
        if coordinates(ratio)[0] > 1
    ]
    others = [named(option) for option in result.references]
    line = sorted(named(option) for option in result.front)
    chosen = [named(result.chosen, "choice")]
    points = [*drawn, *line, *chosen, *(o for o in others if o[1] < 400)]
    if not drawn:
        return None
    low, high = (f(x for x, _, _ in points) for f in (min, max))
    low, high = low - (high - low) * 0.05, high + (high - low) * 0.05 or high + 1
    top = max(y for _, y, _ in points) * 1.05

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / ((high - low) or 1)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(value, top) / top

    def scaled(dots: Sequence[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
        return [(x(a), y(b), words) for a, b, words in dots]

    curves = (
        _dots("candidates", "c4", scaled(drawn)),
        _dots("others' values", "c2", scaled(others)),
        curve_of("front", "c1", scaled(line)),
        _dots("choice", "c3", scaled(chosen)),
    )
    ticks = [value for value in round_numbers(high) if value >= low]
    return Plot(
        title=f"goodput (across) and {goal} (up)",
        unit="percent of the start point",
        curves=curves,
        x_ticks=tuple((x(value), f"{value:g}") for value in ticks),
        y_ticks=tuple((y(value), f"{value:g}") for value in round_numbers(top)),
        words=f"{len(drawn)} candidates, {len(line)} of them in the front",
    )


def _dots(name: str, style: str, points: Sequence[tuple[float, float, str]]) -> Curve:
    return Curve(name, style, "", curve_of(name, style, points).dots)


def heat(result: SearchResult) -> Iterator[Map]:
    """Yield a map of two parameters for each goal: the better, the stronger the color."""
    for each in result.heat_maps:
        yield _heat(each)


def _heat(each: HeatMap) -> Map:
    known = [value for row in each.rows for value in row if value is not None and value < 100]
    low, high = min(known, default=1.0), max(known, default=1.0)
    rows = []
    for value, row in zip(each.y_values, each.rows, strict=True):
        cells = tuple(
            Cell("", "refused or not evaluated")
            if ratio is None
            else Cell(
                f"{ratio:.2f}",
                f"{each.x} {x:g}, {each.y} {value:g}: {ratio:.3f} of the start point's {each.goal}",
                60 * (high - min(ratio, high)) / ((high - low) or 1),
            )
            for x, ratio in zip(each.x_values, row, strict=True)
        )
        rows.append((f"{value:g}", cells))
    return Map(
        title=f"{each.goal}: ratio to the start point, below 1 is better",
        corner=f"{parameter_name(each.y)} \\ {parameter_name(each.x)}",
        heads=tuple(f"{value:g}" for value in each.x_values),
        rows=tuple(rows),
    )


def sensitivity(result: SearchResult) -> Map | None:
    """Return the share of each parameter in the variance of each goal."""
    if not result.parameters:
        return None
    goals = tuple(result.parameters[0].shares)
    rows = tuple(
        (
            parameter_name(p.name),
            tuple(
                Cell(
                    f"{100 * p.shares[goal]:.0f}",
                    f"{parameter_name(p.name)}: {100 * p.shares[goal]:.1f} % of {goal}",
                    60 * p.shares[goal],
                )
                for goal in goals
            ),
        )
        for p in result.parameters
    )
    return Map("Share of the variance, %", "", goals, rows)


def queue_plots(result: SearchResult) -> list[Plot]:
    """Return a plot of each scenario: the queue before and after."""
    by_scenario: dict[str, list[QueueSeries]] = {}
    for series in result.queues:
        by_scenario.setdefault(series.scenario, []).append(series)
    return [_queue(name, own, result.chosen.name) for name, own in by_scenario.items()]


def _queue(name: str, both: Sequence[QueueSeries], chosen: str) -> Plot:
    top = max((max(series.kbytes) for series in both), default=0) * 1.05 or 1.0
    last = max(series.until_us[-1] for series in both)

    def x(at_us: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at_us / last

    def y(kbytes: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * kbytes / top

    curves = []
    for number, series in enumerate(both):
        pairs = zip(series.until_us, series.kbytes, strict=True)
        points = [(x(t), y(q), f"{short(q)} kbytes, {t:g} us") for t, q in pairs]
        label = "choice" if series.option == chosen else series.option
        curves.append(curve_of(label, ("c2", "c3")[number % 2], points))
    return Plot(
        title=f"{name}: mean queue of the fullest port",
        unit="kbytes",
        curves=tuple(curves),
        x_ticks=tuple((x(us), f"{us:g} us") for us in round_numbers(last)),
        y_ticks=tuple((y(value), f"{value:g}") for value in round_numbers(top)),
        words=f"{name}: queue over {last:g} us",
    )


def search_page(result: SearchResult, candidates: Sequence[Candidate]) -> str:
    """Return the page; every value is escaped by the template. Same content, same bytes."""
    shown: dict[str, object] = {
        "result": result,
        "choice": [(parameter_name(name), v) for name, v in result.chosen.values.items()],
        "certainty": result.verdict.sentence,
        "comparison": html_of(*comparison(result)),
        "fronts": front_plots(result, candidates),
        "members": html_of(options_table(result.front)),
        "heat": list(heat(result)),
        "sensitivity": sensitivity(result),
        "queues": queue_plots(result),
        "byte_tuning": html_of(byte_tuning_table(result)),
        "counts": list(counts(result)),
    }
    sections = (
        ("choice", "Choice", True),
        ("compared", "Before and after", True),
        ("front", "Front", True),
        ("heat", "Heat maps", shown["heat"]),
        ("sensitivity", "Sensitivity", True),
        ("queues", "Queues", True),
        ("byte-tuning", "ByteTuning", True),
        ("search", "Search", True),
    )
    title = f"Thresholds of {result.search} for {result.objective}"
    head = PageHead(
        title=title,
        heading=title,
        verdict="simulated, not measured",
        tone="busy",
        sizes=(
            count_of(result.combinations, "combination"),
            f"{result.evaluated} evaluated by {result.method}",
            count_of(len(result.seeds), "seed"),
        ),
        sections=[(name, words) for name, words, content in sections if content],
    )
    return framed_page("tuning.html.j2", head, shown, files=("rdma.css",))
