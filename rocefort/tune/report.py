"""Results of searches, simulations and measured candidates, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, Tone, columns
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

PARAMETERS = {
    "kmin_kbytes": "Kmin",
    "width_kbytes": "Kmax - Kmin",
    "pmax_percent": "Pmax, %",
    "alpha": "alpha",
    "xoff_kbytes": "xoff",
    "xon_gap_kbytes": "xoff - xon",
    "headroom_kbytes": "headroom",
}
LISTED = 8  # members of the front, or paused ports, in a text


def search_report(result: SearchResult) -> Iterator[Block]:
    """Show the choice beside today's values and others, the front, and how sure it is."""
    yield Note(
        f"{result.search}: the best for {result.objective} of "
        f"{count_of(result.combinations, 'combination')}, by {result.method}"
    )
    yield Section("Choice", tuple(_choice(result)), lead=certainty_sentence(result))
    yield Section("Comparison", tuple(comparison(result)))
    yield Section(
        "Front",
        (options_table(result.front[:LISTED]),),
        lead=f"{count_of(len(result.front), 'candidate')} that no other dominates by more than "
        f"{result.resolution_percent:g} %; ratios to the start point, below 1 is better",
    )
    yield Section(
        "Sensitivity",
        (sensitivity_table(result),),
        lead="Share of the variance that a parameter explains alone, %",
    )
    yield Section("Objectives of ByteTuning", (byte_tuning_table(result),))
    yield Section("Search", (Items(tuple(counts(result))),))
    yield Section("", (Note("Not modelled:"), Items(result.not_modelled)))
    for line in result.written:
        yield Note(line, Tone.GOOD)


def _choice(result: SearchResult) -> Iterator[Block]:
    yield Table(
        columns("parameter", "value"),
        tuple((parameter_name(name), value) for name, value in result.chosen.values.items()),
    )
    if result.chosen.refused:
        yield Note(result.chosen.refused, Tone.ERROR)


def certainty_sentence(result: SearchResult) -> str:
    """Return how often the choice is better with seeds that chose nothing."""
    parts = [
        f"better than {each.against!r} in {each.better} of {each.seeds} fresh seeds"
        for each in result.certainty
    ]
    doubt = next((each for each in result.certainty[1:] if each.better < each.seeds), None)
    more = "; the second-best candidate is not clearly worse" if doubt else ""
    return f"The choice is {', and '.join(parts)}{more}." if parts else ""


def comparison(result: SearchResult) -> Iterator[Block]:
    """Yield a table for each scenario: the choice, the bests, and the references."""
    bests = {f"best for {name}": option for name, option in result.best.items()}
    named = {"choice": result.chosen, **bests, **{o.name: o for o in result.references}}
    for number, scenario in enumerate(result.start.scenarios):
        goals = [(f.goal, f.unit) for f in scenario.figures]
        titles = [goal + (f", {unit}" if unit else "") for goal, unit in goals]
        rows: list[tuple[Cell, ...]] = []
        for name, option in named.items():
            own = {f.goal: spread(f) for f in option.scenarios[number].figures}
            cells = [own.get(goal) for goal, _ in goals]
            rows.append((name, *cells, "refused" if option.refused else ""))
        right = tuple(columns("", *titles, "rules"))
        yield Section(scenario.scenario, (Table(right, tuple(rows)),))


def spread(figure: Figure) -> str:
    """Return a mean with the half of its spread."""
    half = (figure.highest - figure.lowest) / 2
    return f"{short(figure.mean)} ±{short(half)}" if half else short(figure.mean)


def options_table(options: Sequence[Option]) -> Table:
    """Return candidates with their values and ratios."""
    if not options:
        return Table(columns("candidate"), ())
    names, goals = options[0].values.keys(), options[0].ratios.keys()
    rows = (_row(o.name, o.values, o.ratios) for o in options)
    return Table(columns("candidate", *map(parameter_name, names), *goals), tuple(rows))


def sensitivity_table(result: SearchResult) -> Table:
    """Return the share of each parameter in the variance of each goal, percent."""
    goals = tuple(result.parameters[0].shares) if result.parameters else ()
    rows: list[tuple[Cell, ...]] = []
    for p in result.parameters:
        shares = (round(100 * p.shares[goal], 1) for goal in goals)
        rows.append((parameter_name(p.name), *shares))
    return Table(columns("parameter", *goals), tuple(rows))


def byte_tuning_table(result: SearchResult) -> Table:
    """Return what the objectives of ByteTuning would have chosen."""
    if not result.byte_tuning:
        return Table(columns("objective"), ())
    names, goals = result.byte_tuning[0].values, result.byte_tuning[0].ratios
    rows = (_row(b.objective, b.values, b.ratios) for b in result.byte_tuning)
    return Table(columns("objective", *map(parameter_name, names), *goals), tuple(rows))


def _row(name: str, values: Mapping[str, float], ratios: Mapping[str, float]) -> tuple[Cell, ...]:
    return (name, *values.values(), *(round(ratio, 3) for ratio in ratios.values()))


def counts(result: SearchResult) -> Iterator[str]:
    """Yield the numbers of candidates and simulations."""
    yield f"{count_of(result.evaluated, 'candidate')} evaluated"
    yield from result.notes
    for reason, count in result.refused.items():
        yield f"{count_of(count, 'combination')} refused: {reason}"
    yield (
        f"{count_of(result.simulated, 'simulation')} run, "
        f"{count_of(result.reused, 'result')} of earlier searches used"
    )
    yield (
        f"candidates are compared with seed {result.seeds[0]}, the front with "
        f"{count_of(len(result.seeds), 'seed')}"
    )


def parameter_name(name: str) -> str:
    """Return a parameter as text."""
    return PARAMETERS.get(name, name.replace("nic.", "NIC "))


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
