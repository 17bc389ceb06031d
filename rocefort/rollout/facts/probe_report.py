"""Result and report of a probe: counts, wrong forms with the words of the switch, and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rocefort.models.base import Frozen
from rocefort.models.hardware.site_facts import FactEvidence, FormEvidence, FormOutcome, SwitchFacts
from rocefort.reports.blocks import Block, Items, Note, Section, Table, TableColumn, Tone


class OpenCounts(Frozen):
    """Verdicts on a fabric that are not judged, and facts of its switches that are unconfirmed."""

    not_judged: int
    facts: int


class ProbeResult(Frozen):
    """Answers of a switch, and the file that keeps them.

    before, after: of the whole fabric, before and after the file was written. notes: sentences on
    the probe.
    """

    file: str
    facts: SwitchFacts
    before: OpenCounts
    after: OpenCounts
    notes: tuple[str, ...] = ()


TITLES = {
    FormOutcome.REFUSED: "Refused",
    FormOutcome.CHANGED: "Taken, and saved otherwise",
    FormOutcome.ASKED: "Not taken without an answer to a question",
    FormOutcome.UNTRIED: "Not tried",
    FormOutcome.DISPUTED: "Taken by one probe, and not by another: not confirmed",
}


def probe_report(done: ProbeResult) -> Iterator[Block]:
    """Show the counts, each form that is not confirmed, the numbers, and what changes."""
    facts = done.facts
    yield Note(
        f"{facts.device}: {facts.model}, {facts.release}, family {facts.family}; nothing was "
        "committed"
    )
    counts = Counter(form.outcome for form in facts.forms)
    rows = [(f"forms {outcome.value}", counts[outcome]) for outcome in FormOutcome]
    settled = sum(fact.is_settled for fact in facts.facts)
    rows += [("numbers read", settled), ("numbers not shown", len(facts.facts) - settled)]
    columns = TableColumn("answer of the switch"), TableColumn("count")
    yield Section("", (Table(columns, tuple(rows)),))
    for outcome, title in TITLES.items():
        items = tuple(_form(form) for form in facts.forms if form.outcome is outcome)
        if items:
            yield Section(title, items)
    kept = tuple(
        Items((form.form,), (f"{form.outcome.value}: {form.earlier}",))
        for form in facts.forms
        if form.earlier
    )
    if kept:
        yield Section("Settled by an earlier probe alone", kept)
    if facts.facts:
        yield Section("Numbers", tuple(map(_fact, facts.facts)))
    before, after = done.before, done.after
    yield Section(
        "",
        (
            Note(f"file: {done.file}", Tone.GOOD),
            Note(f"not judged: {before.not_judged} before, {after.not_judged} after"),
            Note(f"unconfirmed facts: {before.facts} before, {after.facts} after"),
            *(Note(note, Tone.WARNING) for note in done.notes),
        ),
    )


def _form(form: FormEvidence) -> Items:
    details = [form.reply] if form.reply else []
    if form.outcome is FormOutcome.CHANGED:
        details += [f"not saved: {_lines(form.missing)}"]
        details += [f"saved: {_lines(form.saved) if form.saved else 'nothing'}"]
    return Items((form.form,), tuple(details))


def _lines(lines: tuple[str, ...]) -> str:
    return f"`{' / '.join(line.strip() for line in lines)}`"


def _fact(fact: FactEvidence) -> Items:
    if fact.is_settled:
        return Items((f"{fact.field}: {fact.text}",), (f"> {fact.asked}",))
    first = next(iter(fact.reply.splitlines()), "").strip()
    state = "disputed" if fact.disputed else "not shown"
    return Items((f"{fact.field}: {state}",), (f"> {fact.asked}", first or "no answer"))
