"""Changes of switches: edits, conditions and effects on traffic; equal changes are merged."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from napalm_cloudengine.masking import cut_path
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change
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
