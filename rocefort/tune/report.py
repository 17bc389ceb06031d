"""Results of searches, simulations and measured candidates, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import (
    Block,
    Cell,
    Items,
    Note,
    Section,
    Table,
    TableColumn,
    Tone,
    columns,
)
from rocefort.tune.model import (
    Figure,
    MeasuredFigures,
    MeasuredSearch,
    MeasuredTrial,
    Measures,
    Option,
    SearchResult,
    Simulation,
)
from rocefort.tune.search.objectives import BESIDE, DROPS, GOALS, P50, P99
from rocefort.tune.verdict_report import verdict_report
from rocefort.tune.verdict_sentence import parameter_name

LISTED = 8  # members of the front, or paused ports, in a text


def search_report(result: SearchResult) -> Iterator[Block]:
    """Show the verdict, then the comparison with others, the front, and the sensitivity."""
    yield from verdict_report(result)
    yield Section("Comparison", tuple(comparison(result)), lead=comparison_lead(result))
    yield Section("Front", tuple(option_tables(result.front[:LISTED])), lead=front_lead(result))
    yield Section("Sensitivity", (sensitivity_table(result),), lead=SENSITIVITY_LEAD)
    table = byte_tuning_table(result)
    yield Section("Objectives of ByteTuning", (table,), lead=byte_tuning_lead(result))
    yield Section("Search", (Items(tuple(counts(result))),))
    yield Section("", (Note("Not modelled:"), Items(result.not_modelled)))
    for line in result.written:
        yield Note(line, Tone.GOOD)


SENSITIVITY_LEAD = (
    "Share of the variance that a parameter explains alone, %; -: the candidates differ by less "
    "than the seeds"
)


def comparison_lead(result: SearchResult) -> str:
    """Return what the tables of figures show."""
    beside = "; beside: goodput of the groups beside" if BESIDE in result.start.ratios else ""
    return (
        f"Means over {count_of(len(result.seeds), 'seed')}: goodput in Gb/s, completion times in "
        f"us, queues in kbytes of 1,000 bytes{beside}; ↑ higher is better, ↓ lower is better"
    )


def front_lead(result: SearchResult) -> str:
    """Return what the table of the front shows."""
    scenarios = len(result.start.scenarios)
    mean = f", mean of {scenarios} scenarios" if scenarios > 1 else ""
    still = [each.scenario for each in result.verdict.independent if each.every]
    if still and scenarios > 1:
        mean += f" ({listing(still)} change nothing)"
    return (
        f"{count_of(len(result.front), 'candidate')} that no other dominates by more than "
        f"{result.resolution_percent:g} %; change against today, %{mean}; ↑ higher is better, "
        "↓ lower is better"
    )


# --- figures --------------------------------------------------------------------------------------


GOALS_BY_NAME = {goal.name: goal for goal in (*GOALS, DROPS)}
SHORT_NAMES = {BESIDE: "beside", P50: "p50", P99: "p99"}


def goal_title(name: str, unit: str = "") -> str:
    """Return the head of a column: the goal, its unit, and an arrow to what is better."""
    arrow = "↑" if GOALS_BY_NAME[name].raised else "↓"
    title = SHORT_NAMES.get(name, name)
    return f"{title}, {unit} {arrow}" if unit else f"{title}{arrow}"


def percent(ratio: float) -> float:
    """Return how much more than the start point's a figure is, percent."""
    return 100 * (ratio - 1)


def against(ratio: float | None) -> str:
    """Return a ratio to the start point as a difference in percent, or as a multiple of it."""
    if ratio is None:
        return "from 0"
    if ratio >= MULTIPLE:
        return f"{short(ratio)} x"
    change = f"{percent(ratio):+.1f}"
    return "0.0" if float(change) == 0 else change


MULTIPLE = 10  # of the start point: from here on a percentage is hard to read


def change_words(name: str, ratio: float | None) -> str:
    """Return a change of a goal in words: `goodput 0.9 % more than today`."""
    title = name.removeprefix("completion ")
    if ratio is None:
        return f"{title} more than today's 0"
    if ratio >= MULTIPLE:
        return f"{title} {short(ratio)} times today's"
    change = f"{abs(percent(ratio)):.1f}"
    if float(change) == 0:
        return f"{title} as today"
    return f"{title} {change} % {'more' if ratio > 1 else 'less'} than today"


def comparison(result: SearchResult, *, spreads: bool = False) -> Iterator[Block]:
    """Yield a table for each scenario: today, the best candidates, and the references.

    spreads: with half of the range over the seeds, for a page; without them for 80 columns.
    """
    names = _labels(result)
    for number, scenario in enumerate(result.start.scenarios):
        goals = [
            (f.goal, f.unit if spreads else "") for f in scenario.figures if f.goal != DROPS.name
        ]
        show = spread if spreads else lambda figure: short(figure.mean)
        rows: list[tuple[Cell, ...]] = []
        for label, option in names.items():
            own = {f.goal: f for f in option.scenarios[number].figures}
            dropped = own[DROPS.name].mean
            words = [label, *(["refused"] if option.refused else [])]
            words += [f"drops {short(dropped)} packets"] if dropped else []
            cells = (show(own[goal]) if goal in own else None for goal, _ in goals)
            rows.append((", ".join(words), *cells))
        heads = [TableColumn(goal_title(*goal), align="right") for goal in goals]
        table = Table((TableColumn(wraps=True), *heads), tuple(rows))
        if spreads:
            yield Section(scenario.scenario, (table,))
        else:
            yield from (Note(scenario.scenario, Tone.INFO), table)


def _labels(result: SearchResult) -> dict[str, Option]:
    """Return options by their name in tables; an option that is several things is once there."""
    start = result.start.name
    labels, options = {start: [f"today: {start}"]}, {start: result.start}
    bests = {f"best for {name}": option for name, option in result.best.items()}
    for label, option in {"best candidate": result.chosen, **bests}.items():
        labels.setdefault(option.name, []).append(label)
        options[option.name] = option
    for option in result.references[1:]:
        labels.setdefault(option.name, []).append(option.name)
        options[option.name] = option
    return {", ".join(words): options[name] for name, words in labels.items()}


def spread(figure: Figure) -> str:
    """Return a mean with the half of its spread."""
    half = short((figure.highest - figure.lowest) / 2)
    return short(figure.mean) + (f" ±{half}" if half != "0" else "")


Measured = tuple[str, Mapping[str, float], Mapping[str, float | None]]  # name, values, ratios


def option_tables(options: Sequence[Option]) -> Iterator[Table]:
    """Yield tables of candidates: their changes against today, then their values."""
    yield from _tables("candidate", [(o.name, o.values, o.ratios) for o in options])


VALUES = 5  # of a table that fits 80 columns


def _tables(title: str, options: Sequence[Measured]) -> Iterator[Table]:
    """Yield a table of ratios, and tables of at most `VALUES` parameters."""
    if not options:
        return
    _, values, ratios = options[0]
    heads = [TableColumn(f"{goal_title(name)}", align="right") for name in ratios]
    rows = tuple((name, *map(against, own.values())) for name, _, own in options)
    yield Table((TableColumn(title), *heads), rows)
    names = list(values)
    for first in range(0, len(names), VALUES):
        own_names = names[first : first + VALUES]
        heads = [TableColumn(parameter_name(n), "right", wraps=n[:4] == "nic.") for n in own_names]
        cells: list[tuple[Cell, ...]] = [
            (name, *(own[n] for n in own_names)) for name, own, _ in options
        ]
        yield Table((TableColumn(title), *heads), tuple(cells))


def sensitivity_table(result: SearchResult) -> Table:
    """Return the share of each parameter in the variance of each goal, percent."""
    goals = tuple(result.parameters[0].shares) if result.parameters else ()
    rows: list[tuple[Cell, ...]] = []
    for p in result.parameters:
        shares = (None if (own := p.shares[g]) is None else round(100 * own, 1) for g in goals)
        rows.append((parameter_name(p.name), *shares))
    names = (SHORT_NAMES.get(goal, goal) for goal in goals)
    return Table(columns("parameter", *names), tuple(rows))


def byte_tuning_lead(result: SearchResult) -> str:
    """Return what the figures of ByteTuning's objectives are."""
    gamma = f"{result.byte_tuning[0].gamma:g}" if result.byte_tuning else "-"
    return (
        "Best candidates by the published objectives, 0 to 1, more is better; maximum and smallest "
        f"of {count_of(result.evaluated, 'candidate')}, gamma {gamma}"
    )


def byte_tuning_table(result: SearchResult) -> Table:
    """Return what the objectives of ByteTuning choose, by the weight of throughput."""
    rows = (
        (
            each.objective.removeprefix("bytetuning-"),
            weights_text(each.betas),
            round(each.value, 3),
            round(each.start, 3),
            ", ".join(f"{parameter_name(name)} {value:g}" for name, value in each.values.items()),
        )
        for each in result.byte_tuning
    )
    titles = ("objective", "beta", "best", "start")
    return Table((*columns(*titles), TableColumn("candidate", wraps=True)), tuple(rows))


def weights_text(betas: Sequence[float]) -> str:
    """Return weights as text: the first and the last of several."""
    return f"{betas[0]:g}" + (f" to {betas[-1]:g}" if len(betas) > 1 else "")


def counts(result: SearchResult) -> Iterator[str]:
    """Yield the numbers of candidates and simulations."""
    for reason, count in result.refused.items():
        yield f"{count_of(count, 'combination')} refused: {reason}"
    yield (
        f"{count_of(result.simulated, 'simulation')} run, "
        f"{count_of(result.reused, 'result')} of earlier searches used"
    )
    yield (
        f"comparison and front: {count_of(len(result.seeds), 'seed')}; sensitivity: seed "
        f"{result.seeds[0]}"
    )


Reader = Callable[[Measures], float | None]


def _completion(name: str) -> Reader:
    """Return a reader of a completion time; None if no flow ended."""
    return lambda m: None if m.completion_us is None else float(getattr(m.completion_us, name))


ROWS: dict[str, Reader] = {
    "goodput, Gb/s": lambda m: m.goodput_gbps,
    "fairness (Jain)": lambda m: m.fairness,
    "queue, mean, kbytes": lambda m: m.queue_kbytes.mean,
    "queue, p50": lambda m: m.queue_kbytes.p50,
    "queue, p95": lambda m: m.queue_kbytes.p95,
    "queue, p99": lambda m: m.queue_kbytes.p99,
    "queue, max": lambda m: m.queue_kbytes.max,
    "completion, min, us": _completion("min"),
    "completion, mean": _completion("mean"),
    "completion, p50": _completion("p50"),
    "completion, p99": _completion("p99"),
    "completion, max": _completion("max"),
    "flows that did not end": lambda m: m.unfinished,
    "packets marked": lambda m: m.marks,
    "pause frames": lambda m: m.pauses,
    "paused, us": lambda m: m.paused_us,
    "packets dropped": lambda m: m.drops,
    "packets of TCP dropped": lambda m: m.tcp_drops if m.groups or m.tcp_drops else None,
}


def simulation_report(result: Simulation) -> Iterator[Block]:
    """Show the means of all measures, with their lowest and highest run."""
    runs = count_of(len(result.runs), "run")
    control = result.congestion_control
    yield Note(f"{result.scenario}: {control}, {runs}; kbytes of 1,000 bytes")
    rows = []
    for name, value in ROWS.items():
        mean = value(result)
        if mean is None:
            continue
        of_runs = [number for run in result.runs if (number := value(run)) is not None]
        rows.append((name, short(mean), short(min(of_runs)), short(max(of_runs))))
    yield Table(columns("measure", "mean", "lowest run", "highest run"), tuple(rows))
    ports = ", ".join(dict.fromkeys(run.queue_port for run in result.runs))
    yield Note(f"The queue is that of the port with the longest one: {ports}.")
    if result.groups:
        yield Section("Groups of flows", (groups_table(result),))
    if result.paused_ports:
        lead = f"of {count_of(len(result.paused_ports), 'port')} that peers paused"
        yield Section("Pauses by port", (pauses_table(result),), lead=lead)
    yield Section("", (Note("Not modelled:"), Items(result.not_modelled)))


def groups_table(result: Measures) -> Table:
    """Return the goodput and the completion of each group of flows."""
    rows: list[tuple[Cell, ...]] = []
    for name, own in result.groups.items():
        times = own.completion_us
        ends = (short(times.p50), short(times.p99)) if times else (None, None)
        rows.append((name, short(own.goodput_gbps), short(own.slowest_gbps), *ends, own.unfinished))
    titles = ("goodput, Gb/s", "slowest flow", "completion p50, us", "p99", "not ended")
    return Table(columns("group", *titles), tuple(rows))


def pauses_table(result: Measures) -> Table:
    """Return the pauses of the ports that were paused longest."""
    longest = sorted(result.paused_ports.items(), key=lambda item: -item[1].paused_us)
    rows = [(name, short(own.pauses), short(own.paused_us)) for name, own in longest[:LISTED]]
    return Table(columns("port", "pause frames", "paused, us"), tuple(rows))


def short(value: float) -> str:
    """Return a number with about four digits."""
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:,.{digits}f}".removesuffix(".00")


def measured_report(result: MeasuredSearch) -> Iterator[Block]:
    """Show the verdict, the measured candidates beside today's values, and what is not measured."""
    count = count_of(len(result.trials), "candidate")
    yield Note(f"{result.search}: {count} for {result.objective} on {result.canary}")
    yield Note(result.verdict, Tone.GOOD if result.chosen else Tone.PLAIN)
    lead = f"{listing(result.senders)} send to {result.target}, one RDMA write each"
    yield Section("Measured", (_table(result),), lead=lead)
    problems = tuple(f"{t.name}: {t.problem}" for t in _every(result) if t.problem)
    if problems:
        yield Section("Without figures", (Items(problems),))
    yield Section("", (Note("Not measured:"), Items(result.not_measured)))
    if result.noise_percent is not None:
        noise = f"the two measurements of today's values differ by {result.noise_percent:g} %"
        yield Note(f"{noise} in the objective")
    yield Note(f"{result.canary} runs the values that it had; a trial lasts {result.trial_s} s")
    if result.outside:
        yield Note(f"measured outside the windows of its calendar {result.outside}", Tone.WARNING)
    for line in result.written:
        yield Note(line, Tone.GOOD)


def _every(result: MeasuredSearch) -> tuple[MeasuredTrial, ...]:
    return (*result.today[:1], *result.trials, *result.today[1:])


def _table(result: MeasuredSearch) -> Table:
    names = next((tuple(t.values) for t in result.trials if t.values), ())
    titles = ("all, Gb/s", "median sender", "slowest sender", "pauses")
    rows: list[tuple[Cell, ...]] = []
    for trial in _every(result):
        values = (trial.values.get(name) for name in names)
        rows.append((trial.name, *values, *_figures(trial.figures)))
    return Table(columns("candidate", *map(parameter_name, names), *titles), tuple(rows))


def _figures(figures: MeasuredFigures | None) -> Iterator[Cell]:
    if figures is not None:
        yield from map(short, (figures.goodput_gbps, figures.median_gbps, figures.slowest_gbps))
        yield figures.pauses
    else:
        yield from (None,) * 4
