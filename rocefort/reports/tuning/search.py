"""Result of a search for thresholds, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rocefort.models.results.search import Figure, Option, SearchResult
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, Tone, columns
from rocefort.reports.tuning.simulation import short

PARAMETERS = {
    "kmin_kbytes": "Kmin",
    "width_kbytes": "Kmax - Kmin",
    "pmax_percent": "Pmax, %",
    "alpha": "alpha",
    "xoff_kbytes": "xoff",
    "xon_gap_kbytes": "xoff - xon",
    "headroom_kbytes": "headroom",
}
LISTED = 8  # members of the front in a text


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
