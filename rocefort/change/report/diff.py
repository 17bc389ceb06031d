"""Differences for users and programs: switches with equal differences share a section.

`diff` shows the changes from one side to the other. `drift` shows the same changes from running to
intended, with the lines that run and the lines without an owner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pydantic import Field

from rocefort.change.report.changes import (
    condition_lines,
    edit_lines,
    headline,
    service_lines,
    unjudged_lines,
)
from rocefort.change.results import FabricDifference, OneSided, Ownership, SwitchDifference, Unowned
from rocefort.models.base import Frozen
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change, ChangeKind
from rocefort.models.hardware.commit_conditions import ConditionedLine
from rocefort.models.wording import count_of
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Section,
    first_words,
)
from rocefort.reports.wording import group_items, name_ranges

MOST_PLACES = 3  # of a line on many switches


@dataclass(frozen=True)
class DifferenceOptions:
    """Optional parts of a report on differences."""

    patch: bool = False
    back: bool = False
    places: bool = False  # file and line of each difference


def diff_report(difference: FabricDifference, shown: DifferenceOptions) -> Iterator[Block]:
    """Show the changes from one side to the other."""
    yield from _switches(difference, shown)
    yield from _one_sided(difference.only_before, "removed", f"only in {difference.before}")
    yield from _one_sided(difference.only_after, "added", f"only in {difference.after}")
    yield from _notes(difference)


def drift_report(difference: FabricDifference, shown: DifferenceOptions) -> Iterator[Block]:
    """Show the differences of the running configurations from the intent."""
    yield from _switches(_owned_difference(difference), shown)
    unowned = (line for switch in difference.switches for line in switch.unowned)
    items = (
        Items((text,), (_places_text(line.where for line in alike),), code=True)
        for text, alike in group_items(unowned, lambda line: line.text).items()
    )
    if lines := tuple(items):
        yield Section("lines without an owner", lines)
    configs, fabric = difference.before, difference.after
    yield from _one_sided(difference.only_after, "missing", f"no configuration in {configs}")
    yield from _one_sided(difference.only_before, "unknown", f"not in {fabric}")
    yield from _notes(difference)


def drift_summary(difference: FabricDifference) -> str:
    """Return the number of switches that drift, in one line."""
    total = difference.compared + len(difference.only_after)
    if not difference.drifts:
        return f"no drift: {count_of(total, 'switch')} as intended"
    drifting = len(difference.switches)
    ends = (
        (len(difference.only_after), "missing"),
        (len(difference.only_before), "not in the fabric"),
    )
    words = [f"{number} {what}" for number, what in ends if number]
    return ", ".join([f"drift: {drifting} of {count_of(difference.compared, 'switch')}", *words])


def _owned_difference(difference: FabricDifference) -> FabricDifference:
    """Return the difference without lines that have no owner; another section lists those."""
    switches = (switch.model_copy(update={"unowned": ()}) for switch in difference.switches)
    return difference.model_copy(update={"switches": tuple(switches)})


def _switches(difference: FabricDifference, shown: DifferenceOptions) -> Iterator[Section]:
    """Show switches; those with equal differences share a section."""

    def key(switch: SwitchDifference) -> tuple[object, ...]:
        change = switch.change
        patch, back = change.patch * shown.patch, change.reverse * shown.back
        lines = tuple(text for text, _ in _lines(switch, difference))
        return _head(change), lines, tuple(service_lines(change)), patch, back

    for alike in group_items(difference.changed, key).values():
        change = alike[0].change
        places: dict[str, list[str]] = defaultdict(list)
        for text, at in chain.from_iterable(_lines(switch, difference) for switch in alike):
            places[text] += at if shown.places else ()
        lines = (
            Items((text,), (_places_text(at),) if at else (), code=True)
            for text, at in places.items()
        )
        effects = Items(tuple(service_lines(change)), strong=True)
        scripts = (("patch", change.patch * shown.patch), ("back", change.reverse * shown.back))
        folds = (
            CollapsibleSection(name, (Code(commands),)) for name, commands in scripts if commands
        )
        names = ", ".join(name_ranges(switch.device for switch in alike))
        yield Section(f"{names}: {_head(change)}", (*lines, effects, *folds))


def _head(change: Change) -> str:
    if change.patch:
        return headline(change)
    return change.kind.value if change.edits else "modelled configuration stays"


def _lines(
    switch: SwitchDifference, difference: FabricDifference
) -> Iterator[tuple[str, list[str]]]:
    """Return each difference as a line, with the places of the lines that go."""
    for fact in switch.facts:
        yield fact, []
    for text, numbers in edit_lines(switch.change.edits).items():
        yield text, [place for n in numbers if (place := switch.places[n].before)]
    for text in unjudged_lines(switch.change):
        yield text, []
    for condition in condition_lines(switch.change):
        yield condition, []
    if switch.no_patch:
        yield f"no patch: {switch.no_patch}", []
    only = {Ownership.GOES: difference.before, Ownership.COMES: difference.after}
    for line in switch.unowned:
        if line.ownership in only:
            yield f"only in {only[line.ownership]}, without an owner: {line.text}", [line.where]
    stay = sum(line.ownership is Ownership.STAYS for line in switch.unowned)
    if stay:
        yield f"{count_of(stay, 'line')} without an owner stay", []


def _places_text(places: Iterable[str]) -> str:
    return f"at: {first_words(dict.fromkeys(places), MOST_PLACES)}"


def _one_sided(switches: Sequence[OneSided], what: str, why: str) -> Iterator[Note]:
    if switches:
        counts = sorted({switch.lines for switch in switches})
        size = count_of(counts[-1], "line")
        size = size if len(counts) == 1 else f"{counts[0]} to {size}"
        names = ", ".join(name_ranges(switch.device for switch in switches))
        yield Note(f"{names}: {what}, {size} ({why})")


def _notes(difference: FabricDifference) -> Iterator[Note]:
    for note in dict.fromkeys(note for switch in difference.switches for note in switch.notes):
        yield Note(f"note: {note}")


class EditOutput(Edit):
    """Difference of one value, with its place on each side: file:line."""

    before_at: str
    after_at: str


class SwitchOutput(Frozen):
    """Switch on both sides: its patch, and the patch back."""

    device: str
    changes: bool
    kind: ChangeKind | None = Field(serialization_alias="class")
    service_affecting: tuple[str, ...]
    edits: tuple[EditOutput, ...]
    facts: tuple[str, ...]
    patch: tuple[str, ...]
    back: tuple[str, ...]
    no_patch: str
    conditions: tuple[ConditionedLine, ...]
    unowned: tuple[Unowned, ...]
    notes: tuple[str, ...]


class DifferenceOutput(Frozen):
    """Difference of two sides."""

    before: str
    after: str
    differs: bool
    compared: int
    switches: tuple[SwitchOutput, ...]
    only_before: tuple[OneSided, ...]
    only_after: tuple[OneSided, ...]


def difference_output(difference: FabricDifference) -> DifferenceOutput:
    """Return all switches with their patches and the patches back; the output is deterministic."""
    values = dict(difference) | {
        "differs": difference.differs,
        "switches": tuple(map(_switch_output, difference.switches)),
    }
    return DifferenceOutput(**values)


def _switch_output(switch: SwitchDifference) -> SwitchOutput:
    change: Change = switch.change
    pairs = zip(change.edits, switch.places, strict=True)
    return SwitchOutput(
        device=change.device,
        changes=switch.changes,
        kind=change.kind if change.has_lines else None,
        service_affecting=change.service_affecting,
        edits=tuple(
            EditOutput(**vars(edit), before_at=at.before, after_at=at.after) for edit, at in pairs
        ),
        facts=switch.facts,
        patch=change.patch,
        back=change.reverse,
        no_patch=switch.no_patch,
        conditions=change.conditions,
        unowned=switch.unowned,
        notes=switch.notes,
    )
