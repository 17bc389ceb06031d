"""Verdict of a search as text: what to do, what it costs, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, Tone, columns
from rocefort.tune.model import MeasureEffect, SearchResult, SearchVerdict
from rocefort.tune.search.verdict import LOOKS, best_reference
from rocefort.tune.verdict_sentence import (
    key_name,
    number,
    parameter_name,
    signed,
    signed_percent,
)


def verdict_report(result: SearchResult) -> Iterator[Block]:
    """Show the verdict, what it rests on, the keys that change, and every effect."""
    verdict = result.verdict
    change = verdict.decision == "change"
    yield Note(verdict.sentence, Tone.GOOD if change else Tone.PLAIN)
    yield Section("", (Items(tuple(grounds(result))),))
    if verdict.changes:
        title = "Changed values" if change else "Values of the best candidate, not recommended"
        lead = "Kbytes of 1,024 bytes, as a switch takes them"
        yield Section(title, (changes_table(verdict),), lead=lead)
    tables = (
        Section(name, (effects_table([e for e in verdict.effects if e.scenario == name]),))
        for name in verdict.scenarios
    )
    yield Section(
        "Today's values and the best candidate", tuple(tables), lead=effects_lead(verdict)
    )
    if verdict.references:
        lead = f"How much better the best candidate is, over the first {LOOKS[0]} fresh seeds"
        yield Section("Shipped references", (references_table(verdict),), lead=lead)


def effects_lead(verdict: SearchVerdict) -> str:
    """Return what the effects are means and intervals of."""
    return (
        f"Means over {count_of(len(verdict.seeds), 'fresh seed')}; intervals of "
        f"{verdict.confidence_percent:g} % of paired differences"
    )


def grounds(result: SearchResult) -> Iterator[str]:
    """Yield what the verdict rests on: candidates, seeds, dependence, and borders."""
    verdict = result.verdict
    refused = sum(result.refused.values())
    yield (
        f"{verdict.tried:,} of {count_of(result.combinations, 'combination')} tried by "
        f"{result.method}, {refused:,} refused by rules, "
        f"{verdict.candidates - verdict.tried:,} not tried"
    )
    rounds = (f"{each.candidates:,} with {count_of(each.seeds, 'seed')}" for each in verdict.race)
    yield f"race: {', '.join(rounds)}; the fresh seeds chose nothing"
    if better := best_reference(verdict.references):
        yield f"the shipped reference {better[0]} is {better[1]:.1f} % better than it"
    for each in verdict.independent:
        what = "any searched parameter" if each.every else _names(each.parameters)
        yield f"{each.scenario} does not depend on {what}"
    if forced := _forced(result):
        yield f"{_names(forced)} change all the same: the rules refuse the rest with today's values"
    for hit in verdict.border:
        yield (
            f"border: {_names([hit.parameter])} {number(hit.value)} is the {hit.end} value tried, "
            "so a better one may lie beyond"
        )
    yield from result.notes


def _names(parameters: Iterable[str]) -> str:
    return listing(parameter_name(name).removesuffix(", %") for name in parameters)


def _forced(result: SearchResult) -> list[str]:
    """Return parameters that a recommended change needs though no scenario depends on them."""
    verdict = result.verdict
    free = [set(each.parameters) for each in verdict.independent]
    if verdict.decision == "keep" or len(free) < len(verdict.scenarios):
        return []
    return [name for name in result.chosen.values if all(name in own for own in free)]


def changes_table(verdict: SearchVerdict) -> Table:
    """Return the keys that the best candidate changes, at each port speed."""
    rows: list[tuple[Cell, ...]] = [
        (
            "all" if row.gbps is None else f"{row.gbps} Gb/s",
            key_name(row.key),
            number(row.today),
            number(row.new),
            row.unit,
        )
        for row in verdict.changes
    ]
    titles = columns("ports", "key", "today", "new", "unit")
    return Table(titles, tuple(rows))


def effects_table(effects: Sequence[MeasureEffect]) -> Table:
    """Return the measures of a scenario: both means, the change, and whether it is noise."""
    rows: list[tuple[Cell, ...]] = []
    for effect in effects:
        name = effect.measure + (f", {effect.unit}" if effect.unit else "")
        change = "" if effect.percent is None else signed_percent(effect.percent)
        ends = effect.difference.low, effect.difference.high
        if effect.today:
            ends = ends[0] / effect.today * 100, ends[1] / effect.today * 100
        between = " to ".join(signed(end) for end in ends) + (" %" if effect.today else "")
        judged = effect.judgement.removeprefix("within ")
        still = ends == (0, 0)
        rows.append(
            (
                name,
                number(effect.today),
                number(effect.new),
                "" if still else change,
                "" if still else between,
                "equal" if still else judged,
            )
        )
    return Table(columns("measure", "today", "new", "change", "interval", ""), tuple(rows))


def references_table(verdict: SearchVerdict) -> Table:
    """Return how much better the best candidate is than each shipped reference."""
    rows: list[tuple[Cell, ...]] = []
    for each in verdict.references:
        gain = each.gain_percent
        notes = [
            *(["refused"] if each.refused else []),
            *([f"drops {number(each.drops)}"] if each.drops else []),
            *(["better on all"] if each.dominates else []),
        ]
        between = f"{gain.low:+.1f} to {gain.high:+.1f} %"
        rows.append((each.reference, f"{gain.mean:+.1f} %", between, ", ".join(notes)))
    return Table(columns("reference", "better by", "interval", "note"), tuple(rows))
