"""Report of an acceptance: for a terminal, as a page, and its result for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Cell, Code, Items, Note, Section, Table, Tone, columns
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.rollout.plan.acceptance import (
    Acceptance,
    AcceptanceItem,
    DoneBy,
    ItemOverride,
    ItemState,
    OverrideApproval,
    correction,
)


class AcceptanceOutput(Frozen):
    """Acceptance of a stage. file: its record. accepted: whether nothing blocks the next plan.

    blocking: failed items without an override that holds, each with what the override lacks.
    signer: allowed signer of the record; signature: its file; both empty without one.
    """

    file: str
    accepted: bool
    finished: bool
    blocking: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    signature: str = ""
    signer: str = ""
    page: str = ""
    record: Acceptance

    @property
    def short_verdict(self) -> str:
        """The acceptance in one to three words."""
        if self.blocking:
            return "not accepted"
        if not self.finished:
            return "unfinished"
        return "accepted with overrides" if self.record.failed else "accepted"

    @property
    def verdict(self) -> str:
        """The acceptance in a few words."""
        if self.blocking:
            return f"not accepted: {count_of(len(self.blocking), 'item')} failed"
        if not self.finished:
            return "unfinished"
        failed = len(self.record.failed)
        unjudged = sum(not i.failed for i in self.record.in_state(ItemState.NOT_JUDGED))
        parts = [f"{count_of(failed, 'failed item')} overridden"] if failed else []
        parts += [f"{count_of(unjudged, 'item')} not judged"] if unjudged else []
        return ", ".join(["accepted", *parts])


TONES = {
    ItemState.OPEN: Tone.QUIET,
    ItemState.PASSED: Tone.GOOD,
    ItemState.FAILED: Tone.ERROR,
    ItemState.NOT_JUDGED: Tone.UNKNOWN,
}
ORDER = (ItemState.FAILED, ItemState.OPEN, ItemState.NOT_JUDGED, ItemState.PASSED)
TITLES = {
    ItemState.FAILED: "Failed",
    ItemState.OPEN: "Not done yet",
    ItemState.NOT_JUDGED: "Not judged",
    ItemState.PASSED: "Passed",
}


def acceptance_report(done: AcceptanceOutput) -> Iterator[Block]:
    """Verdict, table of items, what each showed, overrides, files, and what comes next."""
    record = done.record
    tone = Tone.ERROR if done.blocking else Tone.GOOD if done.finished else Tone.WARNING
    number = len(record.switches)
    of_lab = f"{count_of(number, 'switch')} of a lab"
    switches = of_lab if record.emulated else count_of(number, "changed switch")
    stage = f"{record.fabric}, stage {record.plan[:12]} ({switches})"
    yield Note(f"{stage}: {done.verdict}", tone)
    yield items_table(record)
    yield from details(record)
    if overrides := override_lines(done):
        yield Section("Overrides", (Items(overrides),))
    yield Code(tuple(_files(done)))
    yield from map(Note, next_steps(done))


def items_table(record: Acceptance) -> Table:
    """Items with their results, and whether a machine or a person did them."""
    rows = tuple(
        (item.name, _result(record, item), _by(item), item.title, _when(item))
        for item in record.items
    )
    return Table(columns("item", "result", "done by", "what", "at (UTC)", wraps=("what",)), rows)


def _result(record: Acceptance, item: AcceptanceItem) -> Cell:
    before = ", failed before" if item.failed and item.state is not ItemState.FAILED else ""
    overridden = ", overridden" if record.override_of(item) else ""
    return f"{item.state}{before}{overridden}"


def _by(item: AcceptanceItem) -> Cell:
    if item.done_by is DoneBy.PERSON and item.who:
        return f"{item.done_by} {item.who}"
    return str(item.done_by)


def _when(item: AcceptanceItem) -> Cell:
    return f"{item.ended:%m-%d %H:%M}" if item.ended else ""


def details(record: Acceptance) -> Iterator[Section]:
    """Sections with what the items of each state showed."""
    for state in ORDER:
        lines = tuple(
            f"{item.name}: {sentence}" + (f" (run {item.run})" if item.run and not index else "")
            for item in record.in_state(state)
            for index, sentence in enumerate(_sentences(item))
        )
        if lines:
            yield Section(TITLES[state], (Items(lines),), tone=TONES[state], id=state.name.lower())


def _sentences(item: AcceptanceItem) -> tuple[str, ...]:
    if item.failure is None or item.state is ItemState.FAILED:
        return item.sentences
    return (*item.sentences, *(f"failed before: {each}" for each in item.failure.sentences))


def override_lines(done: AcceptanceOutput) -> tuple[str, ...]:
    """Overrides with reason and approvals, and what those that do not hold lack."""
    return tuple(
        f"{each.item}: {each.reason} ({'; '.join(map(_approval, each.approvals))})"
        + (f"; does not hold: {why}" if (why := done.blocking.get(each.item)) else "")
        for each in _current(done.record)
    )


def _current(record: Acceptance) -> Iterator[ItemOverride]:
    for item in record.failed:
        if override := record.override_of(item):
            yield override


def _approval(approval: OverrideApproval) -> str:
    signed = "signed" if approval.signature else "not signed"
    return f"approved by {approval.by} at {approval.at:%Y-%m-%d %H:%M} UTC, {signed}"


def _files(done: AcceptanceOutput) -> Iterator[str]:
    yield f"record: {done.file}"
    if done.signature:
        by = f", by {done.signer}" if done.signer else ", by no signer that the fabric names"
        yield f"signature: {done.signature}{by}"
    if done.page:
        yield f"page: {done.page}"


def next_steps(done: AcceptanceOutput) -> Iterator[str]:
    """Sentences on what is blocked, and how it continues."""
    if done.blocking:
        name = next(iter(done.blocking))
        item = next(each for each in done.record.items if each.name == name)
        yield (
            f"the next plan of this fabric is refused: correct the cause, then `{correction(item)}`"
            f"; or override it with a reason: `--override {name}=REASON`"
        )
    elif not done.finished:
        yield "the same command continues with the items that are not done yet"
    if not done.signature:
        yield "the record is not signed; `--sign KEY` signs it"


def acceptance_page(done: AcceptanceOutput) -> str:
    """The page; the template escapes every value."""
    record = done.record
    sections = [("items", "Items"), *((each.id, each.title) for each in details(record))]
    overrides = override_lines(done)
    steps = tuple(next_steps(done))
    blocks: list[Block] = [Section("Items", (items_table(record),), id="items")]
    if overrides:
        blocks.append(Section("Overrides", (Items(overrides),), id="overrides"))
        sections.insert(1, ("overrides", "Overrides"))
    blocks += details(record)
    if steps:
        blocks.append(Section("What comes next", (Items(steps),), id="next"))
        sections.append(("next", "Next"))
    head = PageHead(
        title=f"Acceptance of {record.fabric}, stage {record.plan[:12]}",
        heading=f"Acceptance of {record.fabric}",
        verdict=done.short_verdict,
        tone="failed" if done.blocking else "clean" if done.finished else "busy",
        sizes=(
            f"stage {record.plan[:12]}",
            count_of(len(record.switches), "changed switch"),
            count_of(len(record.items), "item"),
            f"soak {record.soak_s:g} s",
        ),
        tiles=list(_tiles(record)),
        provenance=list(_provenance(done)),
        sections=sections,
    )
    return framed_page("blocks_page.html.j2", head, {"blocks": html_of(*blocks)})


def _tiles(record: Acceptance) -> Iterator[tuple[str, str]]:
    kinds = {ItemState.FAILED: "error", ItemState.OPEN: "quiet", ItemState.NOT_JUDGED: "unjudged"}
    for state, kind in kinds.items():
        if number := len(record.in_state(state)):
            yield kind, f"{number} {state.lower()}"
    yield "quiet", f"{len(record.in_state(ItemState.PASSED))} passed"
    people = sum(item.done_by is DoneBy.PERSON for item in record.items)
    yield "info", f"{people} by a person"


def _provenance(done: AcceptanceOutput) -> Iterator[tuple[str, str]]:
    record = done.record
    yield "Switches", listing(record.switches)
    if record.hosts:
        where = "of a lab" if record.emulated else "of the connections file"
        yield "Hosts", f"{len(record.hosts)}, {where}"
    yield "Began", f"{record.began:%Y-%m-%d %H:%M} UTC"
    if record.ended:
        yield "Ended", f"{record.ended:%Y-%m-%d %H:%M} UTC"
    names = dict.fromkeys(filter(None, (record.author, record.author_user)))
    yield "Plan by", listing(list(names))
    yield "Record", f"{Path(done.file).name}, made by {record.tool}"
    signed = f"by {done.signer}" if done.signer else "yes, by no named signer"
    yield "Signed", signed if done.signature else "no"
