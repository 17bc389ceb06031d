"""An RDMA run as one HTML page: pictures and sentences; no script, nothing fetched."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of, listing
from rocefort.rdma.judge.rounds import failed_at_s, loss_over_time, size_effects
from rocefort.rdma.plan.site import PLACES
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.rdma_report import WORDS, figure, spread_cells, verdict_words
from rocefort.rdma.record_report import record_report
from rocefort.rdma.results import Figures, Measurement, MeasurementVerdict, RdmaResult
from rocefort.reports.page_parts import LinearScale, Plot, PlotAxis, curve_of
from rocefort.reports.wording import bytes_words
from rocefort.reports.writers.pages import PageHead, framed_page, html_of

MOST_SERVERS = 64  # in a heat map
MOST_ROWS = 60  # of percentiles, and of histories


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One client against one server; share: percent of full colour, by what it can reach.

    run: id of its run, in the table of all runs.
    """

    text: str
    words: str
    share: float = 0.0
    kind: str = ""  # "", slow, lost, none
    run: str = ""


@dataclass(frozen=True, slots=True)
class BandwidthMatrix:
    """Bandwidth from each client (row) to each server (column)."""

    program: str
    size: str
    names: tuple[str, ...]
    rows: tuple[tuple[HeatCell, ...], ...]


def heat_maps(result: RdmaResult) -> list[BandwidthMatrix]:
    """A map for each bandwidth program, of its largest size."""
    kinds: dict[Program, dict[int | None, list[Measurement]]] = {}
    for each in result.measurements:
        run = each.run
        pairwise = len(run.servers) == 2 and run.server and not run.program.measures_latency
        if pairwise and run.every_s is None:  # a run through a failure is drawn over time
            kinds.setdefault(run.program, {}).setdefault(run.size_bytes, []).append(each)
    largest = {program: max(sizes, key=lambda size: size or 0) for program, sizes in kinds.items()}
    return [_heat(program, size, kinds[program][size]) for program, size in largest.items()]


def _heat(program: Program, size: int | None, found: Sequence[Measurement]) -> BandwidthMatrix:
    names = sorted({name for each in found for name in each.run.servers})[:MOST_SERVERS]
    by_pair: dict[tuple[str, str], Measurement] = {}
    for each in found:  # of a pair that was measured more than once, the worst
        pair = (each.run.client, each.run.server)
        known = by_pair.get(pair)
        if known is None or (each.value or 0) < (known.value or 0):
            by_pair[pair] = each
    best = max((each.value or 0 for each in found), default=0)
    rows = tuple(tuple(_cell(by_pair.get((a, b)), best) for b in names) for a in names)
    return BandwidthMatrix(program.value, bytes_words(size), tuple(names), rows)


def _cell(each: Measurement | None, best: float) -> HeatCell:
    if each is None:
        return HeatCell("", "not planned", kind="none")
    if each.value is None:
        return HeatCell("x", each.sentence, kind="lost", run=each.run.id)
    whole = each.run.reach_gbps or best or 1
    kind = "slow" if each.verdict is MeasurementVerdict.TOO_SLOW else ""
    share = 60 * min(1.0, each.value / whole) ** 3  # so that a tenth less can be seen
    of = f"{each.value / whole:.0%} of the {whole:.3g} Gb/s that it can reach"
    return HeatCell(f"{each.value:.3g}", f"{each.sentence}; {of}", share, kind, each.run.id)


# --- percentiles ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LatencyBar:
    """Latency of one pair, x in percent of the drawing, on a scale of powers of ten."""

    name: str
    least: float
    typical: float
    average: float
    p99: float
    p999: float
    words: str
    slow: bool


@dataclass(frozen=True, slots=True)
class LatencyChart:
    """All pairs on one scale; more: how many faster ones are not drawn."""

    rows: tuple[LatencyBar, ...]
    ticks: tuple[tuple[float, str], ...]
    more: int


def latency_spreads(result: RdmaResult) -> LatencyChart | None:
    """Percentiles of every latency run of the smallest size; None: there is none."""
    found = [(m, m.figures) for m in result.measurements if m.figures and _whole(m)]
    if not found:
        return None
    smallest = min(m.run.size_bytes or 0 for m, _ in found)
    found = [(m, f) for m, f in found if (m.run.size_bytes or 0) == smallest]
    found.sort(key=lambda row: -(row[1].p999_us or 0))
    low = min(f.least_us or 1 for _, f in found)
    high = max(f.p999_us or 1 for _, f in found)
    scale = _LogScale(low * 0.9, high * 1.1)
    rows = tuple(_spread(m, f, scale) for m, f in found[:MOST_ROWS])
    return LatencyChart(rows, scale.ticks, max(0, len(found) - MOST_ROWS))


def _whole(each: Measurement) -> bool:
    got = each.figures
    if got is None or not each.run.program.is_perftest:
        return False
    needed = (got.least_us, got.typical_us, got.latency_us, got.p99_us, got.p999_us)
    return all(value is not None and value > 0 for value in needed)


def _spread(each: Measurement, got: Figures, scale: _LogScale) -> LatencyBar:
    values = (got.least_us, got.typical_us, got.latency_us, got.p99_us, got.p999_us)
    least, typical, average, p99, p999 = (value or 0.0 for value in values)
    return LatencyBar(
        name=each.run.pair,
        least=scale.percent(least),
        typical=scale.percent(typical),
        average=scale.percent(average),
        p99=scale.percent(p99),
        p999=scale.percent(p999),
        words=f"typical {typical:.2f} us, average {average:.2f}, 99 % {p99:.2f}, "
        f"99.9 % {p999:.2f}, least {least:.2f}",
        slow=each.verdict is MeasurementVerdict.TOO_SLOW,
    )


@dataclass(frozen=True)
class _LogScale:
    low: float
    high: float

    def percent(self, value: float) -> float:
        """Return the position of a value, 0 to 100."""
        whole = math.log10(self.high / self.low) or 1
        return 100 * math.log10(max(value, self.low) / self.low) / whole

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """1, 2 and 5 times powers of ten, as many as there is room for."""
        inside = self._steps(1, 2, 5)
        if len(inside) < 3:
            inside = self._steps(1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
        if len(inside) > 7:
            inside = [v for v in inside if math.log10(v) % 1 < 1e-9]
        return tuple((self.percent(v), f"{v:g}") for v in inside)

    def _steps(self, *factors: float) -> list[float]:
        steps = [factor * 10.0**power for power in range(-2, 7) for factor in factors]
        return [step for step in steps if self.low <= step <= self.high]


# --- curves ---------------------------------------------------------------------------------------


def sweeps(result: RdmaResult) -> list[Plot]:
    """A plot for each program that was measured at several sizes: a line for each way.

    Of MPI a line for each collective.
    """
    kinds: dict[Program, dict[str, list[tuple[float, float, str]]]] = {}
    for each in result.measurements:
        for point in (p for p in each.sizes if p.size_bytes):
            away = ", cables away" if result.cable_event(each.run.id) else ""
            name = f"{each.run.collective}{away}"
            line = kinds.setdefault(each.run.program, {}).setdefault(name, [])
            words = f"{point.average_us:.2f} us, {bytes_words(point.size_bytes)}"
            line.append((point.size_bytes, point.average_us, words))
        if each.value is not None and each.run.size_bytes and each.run.program is not Program.FIO:
            place = "" if each.run.switches is None else PLACES[each.run.switches]
            line = kinds.setdefault(each.run.program, {}).setdefault(place, [])
            line.append((each.run.size_bytes, each.value, each.sentence))
    return [
        size_plot(program, lines)
        for program, lines in kinds.items()
        if max(len({size for size, *_ in line}) for line in lines.values()) > 2
    ]


SizeLine = Sequence[tuple[float, float, str]]  # size in bytes, us or Gb/s, words


def size_plot(program: Program, lines: Mapping[str, SizeLine], title: str = "") -> Plot:
    """Return a plot of latency or rate by message size, with a curve for each line."""
    times = program.measures_latency
    sizes = sorted({size for line in lines.values() for size, *_ in line})
    values = [value for line in lines.values() for _, value, _ in line]
    powers = LinearScale(math.log2(sizes[0]), math.log2(sizes[-1]))
    scale = (
        _LogScale(min(values) * 0.8, max(values) * 1.2)
        if times
        else LinearScale(0, max(values) * 1.05)
    )

    def x(size: float) -> float:
        return powers.percent(math.log2(size))

    curves = [
        curve_of(
            name,
            f"c{number % 5 + 1}",
            [(x(size), scale.percent(value), words) for size, value, words in sorted(line)],
        )
        for number, (name, line) in enumerate(sorted(lines.items()))
    ]
    shown = sizes[:: max(1, math.ceil(len(sizes) / 8))]
    unit = "us" if times else "Gb/s"
    return Plot(
        title=title or program.value,
        x=PlotAxis("size of a message", tuple((x(n), bytes_words(int(n))) for n in shown)),
        y=PlotAxis(f"latency, {unit}" if times else f"rate, {unit}", scale.ticks),
        curves=tuple(curves),
        words=f"{program.value} over {len(sizes)} sizes, "
        f"{min(values):.2f} to {max(values):.2f} {unit}",
    )


def over_time(result: RdmaResult) -> list[Plot]:
    """A plot for each run that printed as it went: a failure and what it cost."""
    plots = []
    notes = {run.id: each.note for each in result.plan.rounds for run in each.runs}
    for each in result.measurements:
        if len(each.series) < 2:
            continue
        y = LinearScale(0, max(p.gbps for p in each.series) * 1.05 or 1.0)
        x = LinearScale(0, each.series[-1].at_s)
        points = [
            (x.percent(p.at_s), y.percent(p.gbps), f"{p.gbps:.2f} Gb/s, {p.at_s:g} s")
            for p in each.series
        ]
        plots.append(
            Plot(
                title=f"{each.run.pair}, {notes.get(each.run.id, '')}",
                x=PlotAxis("time, s", x.ticks),
                y=PlotAxis("rate, Gb/s", y.ticks),
                curves=(curve_of("", "c1", points),),
                words=each.sentence,
                notes=_cable_notes(result, each),
            )
        )
    return plots


def _cable_notes(result: RdmaResult, each: Measurement) -> tuple[str, ...]:
    event, at_s = result.cable_event(each.run.id), failed_at_s(result, each)
    if event is None or at_s is None:
        return ()
    lost = sum(gbit for _, gbit in loss_over_time(result, each))
    told = "were taken away" if event.by == "lab" else "were to be taken away"
    return (f"{listing(event.cables)} {told} at about {at_s:.0f} s: {lost:.1f} Gbit not sent",)


# --- history --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Values of one pair over its runs, x and y in percent of the drawing; the last is this one."""

    name: str
    points: str
    dots: tuple[tuple[float, float, str, str], ...]  # x, y, kind, words
    words: str


Value = tuple[str, datetime, float, bool]  # run, when, value, good


def spark(
    program: Program, label: str, pair: str, size: int | None, values: Sequence[Value]
) -> HistoryLine:
    """One pair's history as a line."""
    unit = "us" if program.measures_latency else "Gb/s"
    numbers = [value for _, _, value, _ in values]
    low, high = min(numbers), max(numbers)
    margin = (high - low) * 0.15 or high * 0.05 or 1.0
    low, high = low - margin, high + margin
    places = [
        (100 * i / max(1, len(values) - 1), 100 - 100 * (v - low) / (high - low))
        for i, v in enumerate(numbers)
    ]
    dots = tuple(
        (round(x, 2), round(y, 2), "" if good else "bad", f"{v:.2f} {unit}, {at:%Y-%m-%d %H:%M}")
        for (x, y), (_, at, v, good) in zip(places, values, strict=True)
    )
    middle = sorted(numbers)[len(numbers) // 2]
    what = f"{label} {bytes_words(size)}".strip()
    return HistoryLine(
        f"{pair}, {what}",
        " ".join(f"{x:.2f},{y:.2f}" for x, y in places),
        dots,
        f"{len(values)} runs, median {middle:.2f} {unit}, last {numbers[-1]:.2f} {unit}",
    )


def sparks(
    series: Iterable[tuple[Program, str, str, int | None, Sequence[Value]]],
) -> tuple[tuple[HistoryLine, ...], int]:
    """Histories, and how many more there are."""
    drawn = [spark(*each) for each in series]
    return tuple(drawn[:MOST_ROWS]), max(0, len(drawn) - MOST_ROWS)


OUTLIERS = "slow pairs"  # subject of what is judged of them
MOST_LINES = 2000


class Series(Frozen):
    """All values of one program, pair, size and load: run, when, value, whether it was good.

    what: the program in words, distinct from its other runs.
    """

    program: Program
    what: str = ""
    pair: str
    size_bytes: int | None
    points: tuple[tuple[str, datetime, float, bool], ...]


class RdmaPageContent(Frozen):
    """Content of the page: a run, and the earlier values of its pairs.

    made: time and version; stored_in: database of the runs.
    """

    result: RdmaResult
    made: str = ""
    stored_in: str = ""
    history: tuple[Series, ...] = ()


def rdma_page(content: RdmaPageContent) -> str:
    """The page; every value is escaped by the template. Same content, same bytes."""
    result = content.result
    drawn, more = sparks(
        (s.program, s.what or s.program.value, s.pair, s.size_bytes, s.points)
        for s in content.history
    )
    slow = [m for m in result.measurements if m.verdict is MeasurementVerdict.TOO_SLOW]
    lost = [m for m in result.measurements if m.verdict is MeasurementVerdict.NOT_MEASURED]
    listed = result.measurements[:MOST_LINES]
    plan = result.plan
    shown: dict[str, object] = {
        "result": result,
        "plan": plan,
        "heat": heat_maps(result),
        "spreads": latency_spreads(result),
        "repeated": [(each, spread_cells(each)) for each in result.spreads[:MOST_LINES]],
        "sweeps": sweeps(result),
        "over_time": over_time(result),
        "effects": [(m.run.collective, m.run.pair, rows) for m, rows in size_effects(result)],
        "sparks": drawn,
        "more_sparks": more,
        "outliers": [j.sentence for j in result.judged if j.subject == OUTLIERS],
        "slow": slow,
        "lost": [*result.unmeasured, *(m.sentence for m in lost)],
        "notes": Counter(note for m in result.measurements for note in m.notes).most_common(),
        "judged": [j for j in result.judged if j.subject != OUTLIERS],
        "rows": [
            (m.run.id, m.run.pair, m.run.label, _size(m), figure(m), WORDS[m.verdict])
            for m in listed
        ],
        "listed": {m.run.id for m in listed},
        "record": html_of(*record_report(result.record), level=3) if result.record else "",
    }
    sections = (
        ("outliers", "Outliers", shown["outliers"] or slow),
        ("bandwidth", "Bandwidth", shown["heat"]),
        ("latency", "Latency", shown["spreads"]),
        ("repetitions", "Repetitions", result.spreads),
        ("sweep", "Sizes", shown["sweeps"]),
        ("time", "Over time", shown["over_time"]),
        ("cable", "Cable away", shown["effects"]),
        ("history", "History", drawn),
        ("judged", "Judged", True),
        ("record", "Record", result.record is not None),
        ("all", "All runs", True),
    )
    words = verdict_words(result)
    conditions = (f"{name.replace('_', ' ')}: {value}" for name, value in result.conditions.items())
    head = PageHead(
        title=f"RDMA run {result.id} of {plan.fabric}: {words}",
        heading=f"RDMA on {plan.fabric}, {plan.suite.value}",
        verdict=words,
        tone="clean" if result.passed else "failed",
        sizes=(
            f"run {result.id}",
            f"{result.began:%Y-%m-%d %H:%M} UTC",
            count_of(len(plan.rounds), "round"),
            *([f"{plan.repeat} repetitions"] if plan.repeat > 1 else []),
            count_of(len(result.measurements), "run"),
            *conditions,
        ),
        provenance=[
            *([("Made", content.made)] if content.made else []),
            *([("From", f"run {result.id} of {content.stored_in}")] if content.stored_in else []),
        ],
        sections=[(name, title) for name, title, content in sections if content],
    )
    return framed_page("rdma.html.j2", head, shown, files=("rdma.css",))


def _size(each: Measurement) -> int | None:
    """Of MPI the size that the figure is of."""
    return each.sizes[0].size_bytes if each.sizes else each.run.size_bytes
