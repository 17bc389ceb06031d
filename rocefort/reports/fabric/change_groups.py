"""Changed switches as sections: those with equal changes but for their own values share one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.models.wording import count_of
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Section,
    first_words,
)
from rocefort.reports.wording import group_items, name_ranges

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
