"""Reports on differences: changes of switches with their effects; equal ones share a section.

`diff` shows the changes from one side to the other. `drift` shows the same changes from running to
intended, with the lines that run and the lines without an owner.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pydantic import Field

from napalm_cloudengine.masking import cut_path
from rocefort.change.results import FabricDifference, OneSided, Ownership, SwitchDifference, Unowned
from rocefort.models.base import Frozen
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change, ChangeKind
from rocefort.models.hardware.hardware import ConditionedLine
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
from rocefort.reports.wording import group_items, name_ranges, port_ranges


def changes_report(changes: Iterable[Change]) -> Iterator[Block]:
    """Show changes by device; devices with equal changes share a section."""
    alike = group_items((change for change in changes if not change.empty), _lines)
    for (head, *lines), same in alike.items():
        title = f"{', '.join(change.device for change in same)}: {head}"
        effects = Items(tuple(service_lines(same[0])), strong=True)
        yield Section(title, (Items(tuple(lines)), effects))
    if not alike:
        yield Note("nothing changes")


def _lines(change: Change) -> tuple[str, ...]:
    stay = [kept_line(change)] if change.kept else []
    edits = (*edit_lines(change.edits), *unjudged_lines(change))
    return (headline(change), *edits, *condition_lines(change), *stay)


def kept_line(change: Change) -> str:
    """`2 lines without an owner stay, 1 goes`; the effects on traffic name the one that goes."""
    gone = sum(line[0] == "-" for line in change.unowned) - sum(
        line[0] == "+" for line in change.unowned
    )
    stay = f"{count_of(len(change.kept) - gone, 'line')} without an owner stay"
    return f"{stay}, {gone} {'goes' if gone == 1 else 'go'}" if gone else stay


def edit_lines(edits: Iterable[Edit]) -> dict[str, list[int]]:
    """Return one line for equal edits on several ports, with the numbers of the edits."""
    alike: dict[tuple[str, str | None, str | None], list[tuple[int, str]]] = defaultdict(list)
    for number, edit in enumerate(edits):
        port, path = edit.port_and_rest
        alike[path, edit.before_text, edit.after_text].append((number, port))
    lines: dict[str, list[int]] = defaultdict(list)
    for (path, before, after), numbered_ports in alike.items():
        ports = [port for _, port in numbered_ports if port]
        where = f" on {count_of(len(ports), 'interface')}" if ports else ""
        line = f"{path or 'interface'}: {_arrow(before, after)}{where}"
        lines[line] += [number for number, _ in numbered_ports]
    return lines


def unjudged_lines(change: Change) -> Iterator[str]:
    """Return lines of templates, with the number of their interfaces and their stated effect."""
    ports: dict[str, list[str]] = defaultdict(list)
    effects = {each.line: f"; by the site's catalogue: {each}" for each in change.stated}
    stated: dict[str, str] = {}
    for line in change.unjudged:
        sign, views = line[:2], cut_path(line[2:]).split(" / ")
        inside = len(views) > 1 and views[0].startswith("interface ")
        shown = sign + " / ".join(views[1:] if inside else views)
        ports[shown] += views[:1] if inside else []
        stated[shown] = effects.get(line, ", not judged")
    for line, names in ports.items():
        where = f" on {count_of(len(names), 'interface')}" if names else ""
        yield f"`{line}`{where}: a line of a template{stated[line]}"


def condition_lines(change: Change) -> Iterator[str]:
    """Return each condition once, with the number of its ports."""
    counts = Counter(str(line) for line in change.conditions)
    within = {str(line) for line in change.conditions if line.view}
    for text, count in counts.items():
        yield text + (f" ({count_of(count, 'line')})" if text in within else "")


def service_lines(change: Change) -> Iterator[str]:
    """Return the effects on traffic; ports with the same effect share one line."""
    ports_of: dict[str, list[str]] = defaultdict(list)
    for reason in change.service_affecting:
        ports = re.findall(r"\b\d+GE\d+/\d+/\d+(?::\d+)?", reason)
        text = re.sub(r"\b\d+GE\d+/\d+/\d+(?::\d+)?", "a port", reason)
        ports_of[text] += ports
    for text, ports in ports_of.items():
        named = f" ({', '.join(port_ranges(ports))})" if ports else ""
        yield f"affects service: {text}{named}"


def headline(change: Change) -> str:
    """`modifying, 16 commands`."""
    commands = [line for line in change.patch if line.strip() != "quit"]
    return f"{change.kind.value}, {count_of(len(commands), 'command')}"


def _arrow(before: str | None, after: str | None) -> str:
    if before is None:
        return f"new {after}"
    return f"{before} -> {after}" if after is not None else f"{before} removed"


SHORT = 8
# Own values of a switch: addresses, ports, and the AS number in the view of BGP.
OWN = r"\d+(?:\.\d+){3}(?:/\d+)?|\d+GE\d+/\d+/[\d:]+(?:[-,][\d:]+)*|(?<=^bgp )\d+$"


@dataclass(frozen=True, slots=True)
class DescribedChange:
    """Change of one switch in words. commands: titles, each with its commands."""

    device: str
    head: str
    lines: tuple[str, ...]
    effects: tuple[str, ...]
    commands: tuple[tuple[str, tuple[str, ...]], ...]
    badge: str = ""


def change_groups(switches: Iterable[DescribedChange]) -> tuple[Section, ...]:
    """Return one section for switches with equal changes but for their own values."""
    alike = group_items(switches, lambda switch: _own_values(switch)[0])
    return tuple(map(_group, alike.values()))


def _own_values(switch: DescribedChange) -> tuple[tuple[object, ...], list[str]]:
    """Text about a change with a number for each own value of the switch, and these values.

    Texts of two switches are equal if one is the other with its values exchanged, one for one.
    """
    values: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return values.setdefault(match[0], f"<{len(values)}>")

    own = re.compile(rf"{OWN}|\b{re.escape(switch.device)}\b", re.MULTILINE)
    texts = (switch.lines, switch.effects, *(commands for _, commands in switch.commands))
    names = tuple(name for name, _ in switch.commands)
    return (switch.head, names, *(own.sub(number, "\n".join(t)) for t in texts)), list(values)


def _group(alike: Sequence[DescribedChange]) -> Section:
    first = alike[0]
    names = list(name_ranges(switch.device for switch in alike))
    size = f"{count_of(len(alike), 'switch')}: " if names[SHORT:] else ""
    blocks: list[Block] = []
    if names[SHORT:]:
        blocks.append(CollapsibleSection("all of them", (Items((", ".join(names),)),)))
    blocks.append(Items(first.lines, code=True))
    if first.effects:
        blocks.append(Items(first.effects, strong=True))
    others = tuple(_other_values(alike))
    same = ", the same for each" if alike[1:] else ""
    same += f" but for own values; these are of {first.device}" if others else ""
    if others:
        title = f"own values of the others, shown with those of {first.device}"
        blocks.append(CollapsibleSection(title, (Code(others),)))
    for name, commands in first.commands:
        if commands:
            lines = count_of(len(commands), "line")
            blocks.append(CollapsibleSection(f"{name}, {lines}{same}", (Code(commands),)))
    title = f"{size}{first_words(names, SHORT)}: {first.head}"
    return Section(title, tuple(blocks), badge=first.badge, size=len(alike))


def _other_values(alike: Sequence[DescribedChange]) -> Iterator[str]:
    """Values of each further switch that differ from those of the first."""
    _, of_first = _own_values(alike[0])
    for switch in alike[1:]:
        pairs = zip(_own_values(switch)[1], of_first, strict=True)
        differing = [f"{own} for {shown}" for own, shown in pairs if own != shown]
        if set(differing) - {f"{switch.device} for {alike[0].device}"}:
            yield f"{switch.device}: {', '.join(differing)}"


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
        lines = tuple(text for text, _ in _compared_lines(switch, difference))
        return _head(change), lines, tuple(service_lines(change)), patch, back

    for alike in group_items(difference.changed, key).values():
        change = alike[0].change
        places: dict[str, list[str]] = defaultdict(list)
        for text, at in chain.from_iterable(
            _compared_lines(switch, difference) for switch in alike
        ):
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


def _compared_lines(
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
