"""Unconfirmed facts of the switches of a fabric, and the report of their probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.design.subject import subject_of
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.open_facts import SPLIT, Concern, OpenFact, OpenFacts, of_family, of_hardware
from rocefort.emulator.switch.personality import OPEN_POINTS
from rocefort.models.base import Frozen
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.hardware.site_data import FactEvidence, FormEvidence, FormOutcome, SwitchFacts
from rocefort.models.network.network import Node
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Items, Note, Section, Table, TableColumn, Tone
from rocefort.reports.wording import name_ranges

ANY_RELEASE = "any release"


def open_facts(fabric: Path) -> OpenFacts:
    """Unconfirmed facts on a fabric's switches, limited to those that their configurations use."""
    network = subject_of(fabric, None).network
    # Families of one name differ by what switches of their models and releases answered.
    families = dict.fromkeys(node.family for node in network.nodes if node.family)
    models = {node.hardware.model: node.hardware for node in network.nodes if node.hardware}
    return OpenFacts(
        name=network.name,
        switches=len(network.nodes),
        facts=(
            *_of_trials(tuple(node.name for node in network.nodes)),
            *_once(fact for each in families for fact in _of_family(each, network.nodes)),
            *(fact for each in models.values() for fact in _of_model(each, network.nodes)),
        ),
    )


def _once(facts: Iterable[OpenFact]) -> list[OpenFact]:
    """Return each fact once, with all switches that it concerns, ordered by family."""
    used: dict[OpenFact, tuple[str, ...]] = {}
    for fact in facts:
        bare = fact.model_copy(update={"used": ()})
        used[bare] = (*used.get(bare, ()), *fact.used)
    once = [fact.model_copy(update={"used": names}) for fact, names in used.items()]
    return sorted(once, key=lambda fact: [each.of for each in once].index(fact.of))


def every_open_fact() -> OpenFacts:
    """Unconfirmed facts on all syntax families and switch models of the hardware data."""
    catalogue = load_catalogue()
    models = {each.model: each for each in catalogue.hardware.values()}
    facts = [*_of_trials(())]
    for name, family in catalogue.families.items():
        own = (m for m, each in models.items() if name in {r.family for r in each.releases})
        used = {"used": tuple(own)}
        facts += [fact.model_copy(update=used) for fact, _ in of_family(family)]
    for model, hardware in models.items():
        facts += [fact.model_copy(update={"used": (model,)}) for fact in of_hardware(hardware)]
    return OpenFacts(name="all hardware data", facts=tuple(facts))


def _of_trials(names: tuple[str, ...]) -> Iterator[OpenFact]:
    for point in OPEN_POINTS.values():
        yield OpenFact(of=ANY_RELEASE, fact=point.question, ask=point.ask, used=names)


def _of_family(family: Family, nodes: Sequence[Node]) -> Iterator[OpenFact]:
    own = [node for node in nodes if node.family == family]
    for fact, concern in of_family(family):
        names = tuple(node.name for node in own if _matters(concern, node))
        if names:
            yield fact.model_copy(update={"used": names})


def _matters(concern: Concern, node: Node) -> bool:
    if not concern.command:
        return True
    in_use = dialect_of(node).in_use(concern.command, node.device)
    return not concern.surely if in_use is None else in_use


def _of_model(hardware: Hardware, nodes: Sequence[Node]) -> Iterator[OpenFact]:
    """Unconfirmed facts on a model; those on port splits apply only where a port is split."""
    own = [node for node in nodes if node.hardware == hardware]
    split = tuple(node.name for node in own if node.device.splits)
    for fact in of_hardware(hardware):
        names = split if fact.ask.startswith(SPLIT) else tuple(node.name for node in own)
        if names:
            yield fact.model_copy(update={"used": names})


PAGE = 100  # columns of the documentation
Say = Callable[[str], str]
HEAD = """\
# Checks on a first real switch

Written by `make golden` from the data that mark a fact as not confirmed: the syntax families and
the switch models of `inventory/hardware`, and the open points of a trial
(`rocefort/emulator/switch/personality.py`). `rocefort facts FABRIC` lists the facts that the
switches of one fabric use, with the names of the switches. `rocefort facts probe SWITCH` types
most of the forms itself, and keeps the answers (`docs/how-to/probe.md`).

Take one switch of each kind before it carries traffic. Keep the outputs of «model and release»,
«state of cards», «ports in brief» and «what runs with its defaults». Then enter the commands of
the tables. Before «what runs», enter and commit the line in question. ` / ` enters a view, `?`
shows the help of the command line, P is a port. Facts that an output confirms go into the data
with their source and leave this list. Unconfirmed forms of displays are in
[lab-displays.md](lab-displays.md): compare them with what the switch prints.
"""
HOW = (
    "Enter each command on one switch of its kind without traffic, and keep the output. "
    "Before «what runs», enter and commit the line in question; "
    "` / ` enters a view, `?` shows the help of the command line, P is a port."
)


def facts_report(found: OpenFacts, say: Say) -> Iterator[Block]:
    """Show all unconfirmed facts; say: translates terms to the commands of the vendor."""
    facts, switches = count_of(len(found.facts), "fact"), count_of(found.switches, "switch")
    yield Note(f"{found.name}: {facts} of {switches} that no source confirms")
    yield Section("", (Note(say(HOW)),))
    for of, group in groupby(found.facts, key=lambda fact: fact.of):
        rows = tuple(group)
        names = tuple(dict.fromkeys(name for row in rows for name in row.used))
        items = tuple(
            Items(
                (f"> {row.ask}",),
                (row.fact, *((f"at: {_names(row.used)}",) if row.used != names else ())),
            )
            for row in rows
        )
        yield Section(f"{of}: {_names(names)}", items)


def _names(names: Sequence[str]) -> str:
    return ", ".join(name_ranges(names))


def facts_page(found: OpenFacts, say: Say) -> str:
    """Return the page of the documentation: a heading for each family and model, and its facts.

    say: as of `facts_report`.
    """
    paragraphs = HEAD.rstrip("\n").split("\n\n")
    lines = ["\n\n".join(fill(say(text), PAGE, break_on_hyphens=False) for text in paragraphs)]
    for of, group in groupby(found.facts, key=lambda fact: fact.of):
        rows = tuple(group)
        models = (
            [f"Models: {', '.join(rows[0].used)}.", ""] if rows[0].used not in ((), (of,)) else []
        )
        lines += ["", f"## {of}", "", *models, "| command | unconfirmed fact |", "|---|---|"]
        lines += [f"| `{_cell(row.ask)}` | {_cell(row.fact)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


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
