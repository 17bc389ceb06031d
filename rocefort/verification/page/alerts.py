"""Findings that the head of the report page names: errors, and warnings of the whole fabric."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, Role
from rocefort.models.wording import count_of
from rocefort.reports.blocks import first_words
from rocefort.reports.wording import file_lines, group_items, name_ranges
from rocefort.verification.page.findings_section import VerdictGroup

MOST, MOST_NAMES, MOST_LINES = 5, 4, 3


@dataclass(frozen=True, slots=True)
class Alert:
    """Findings of one rule with their first message, the switches that they are at, and the line.

    source: lines of the intent that cause them; empty if there are many.
    """

    kind: str
    rule: str
    title: str
    message: str
    scope: str
    source: str
    fix: str


def alerts_of(
    network: Network,
    groups: Iterable[VerdictGroup],
    common: Collection[tuple[str, str]],
    titles: Mapping[str, str],
) -> tuple[Alert, ...]:
    """Return one alert a rule, the worst first. common: of `WorstVerdicts`."""
    alerts: list[Alert] = []
    for (kind, rule), alike in group_items(groups, lambda group: group.heading).items():
        whole = (kind, rule) in common or not any(_devices(alike))
        if kind == Severity.ERROR or (kind == Severity.WARNING and whole):
            first = alike[0]
            more = f" (and {count_of(len(alike) - 1, 'other message')})" if alike[1:] else ""
            alerts.append(
                Alert(
                    kind=kind,
                    rule=rule,
                    title=titles.get(rule, ""),
                    message=f"{first.message}{more}",
                    scope=_scope(network, list(dict.fromkeys(_devices(alike)))),
                    source=_source(alike),
                    fix=first.note,
                )
            )
    return tuple(alerts[:MOST])


def _devices(groups: Iterable[VerdictGroup]) -> Iterator[str]:
    places = (place.where.device for group in groups for place in group.places)
    return (device for device in places if device)


def _scope(network: Network, devices: list[str]) -> str:
    """`the fabric as a whole`, `all 120 leaves`, `leaf01 to leaf03`."""
    names = set(devices)
    if not names:
        return "the fabric as a whole"
    if names == {node.name for node in network.nodes}:
        return f"all {count_of(len(names), 'switch')}"
    for role in Role:
        if len(names) > 1 and names == {node.name for node in network.role(role)}:
            return f"all {count_of(len(names), role.value)}"
    listed = first_words(name_ranges(devices), MOST_NAMES)
    return f"{count_of(len(names), 'switch')}: {listed}" if len(names) > 1 else listed


def _source(groups: Iterable[VerdictGroup]) -> str:
    files = file_lines(place.where for group in groups for place in group.places)
    lines = [f"{file}:{line}" for file, numbers in files.items() for line in numbers]
    return ", ".join(lines) if len(lines) <= MOST_LINES else ""
