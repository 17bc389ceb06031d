"""Verdicts for the report page: grouped by message, and the findings that its head names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from napalm_cloudengine.text import lines_of
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived, Where
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.blocks import first_words
from rocefort.reports.wording import device_ports, file_lines, group_items, name_ranges
from rocefort.verification.page.content import PageContent

WAIVED, UNJUDGED = "waived", "unjudged"  # kinds beside the three severities; CSS classes too
SEVERITIES = tuple(severity.value for severity in Severity)
KINDS = (*SEVERITIES, WAIVED, UNJUDGED)
SHOWN = 12  # places that the page's first view names
Verdict = Finding | Waived | NotJudged


@dataclass(frozen=True, slots=True)
class VerdictPlace:
    """Place of a verdict: text_line is 1-based in the device's configuration."""

    where: Where
    text_line: int | None


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """Verdicts of one rule and kind with the same message.

    note: the fix, the reason of the waiver, or the missing fact. cause: of a verdict that was not
    judged.
    """

    number: int
    kind: str
    rule: str
    message: str
    note: str
    cause: str
    places: tuple[VerdictPlace, ...]

    @property
    def size(self) -> int:
        """Number of verdicts."""
        return len(self.places)

    @property
    def heading(self) -> tuple[str, str]:
        """Kind and rule: verdicts that share a heading."""
        return self.kind, self.rule

    @property
    def devices(self) -> str:
        """Short list of places, for a reader without the script."""
        return _word_list(device_ports(place.where for place in self.places))

    @property
    def sources(self) -> str:
        """Short list of lines in the intent or in the files."""
        files = file_lines(place.where for place in self.places)
        return "; ".join(
            f"{file}:{_word_list(list(map(str, lines)))}" for file, lines in files.items()
        )


def _word_list(words: list[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def groups_of(content: PageContent) -> tuple[VerdictGroup, ...]:
    """Return all verdicts, the worst kind first, grouped as in the terminal."""
    in_order = sorted(_verdicts(content.report), key=lambda verdict: KINDS.index(kind_of(verdict)))
    lines = _TextLines(content)
    return tuple(
        VerdictGroup(
            number,
            *told,
            places=tuple(VerdictPlace(_verdict_where(v), lines.find(v)) for v in alike),
        )
        for number, (told, alike) in enumerate(group_items(in_order, _verdict_text).items())
    )


def kind_of(verdict: Verdict) -> str:
    """`error`, `warning`, `info`, `waived` or `unjudged`."""
    if isinstance(verdict, Waived):
        return WAIVED
    return verdict.severity.value if isinstance(verdict, Finding) else UNJUDGED


def _verdict_where(verdict: Verdict) -> Where:
    return verdict.finding.where if isinstance(verdict, Waived) else verdict.where


def _verdict_text(verdict: Verdict) -> tuple[str, str, str, str, str]:
    if isinstance(verdict, Finding):
        note = f"Fix: {verdict.hint}" if verdict.hint else ""
        return kind_of(verdict), verdict.rule, verdict.message, note, ""
    if isinstance(verdict, Waived):
        note = f"Waived until {verdict.until}: {verdict.why}"
        return WAIVED, verdict.finding.rule, verdict.finding.message, note, ""
    note = f"Missing: {verdict.missing}"
    return UNJUDGED, verdict.rule, verdict.reason, note, verdict.cause


class _TextLines:
    """Line of a device's configuration at which a verdict is shown."""

    def __init__(self, content: PageContent) -> None:
        own = content.report if content.network.origin == "text" else content.text_report
        self._known: dict[object, list[int]] = defaultdict(list)
        for verdict in _verdicts(own):
            if (line := _verdict_where(verdict).line) is not None:
                self._known[_identity(verdict)].append(line)
        self._texts = content.texts
        self._views: dict[str, dict[str, int]] = {}

    def find(self, verdict: Verdict) -> int | None:
        """Return the line of a verdict; equal verdicts get one line each; None without a text."""
        where = _verdict_where(verdict)
        device = where.device
        if device is None or device not in self._texts:
            return None
        if known := self._known.get(_identity(verdict)):
            return min(known.pop(0) if len(known) > 1 else known[0], self._length(device))
        if device not in self._views:
            self._views[device] = views_of(self._texts[device])
        views = self._views[device]
        return views.get(where.interface or "") or views.get("", 1)

    def _length(self, device: str) -> int:
        return max(len(lines_of(self._texts[device])), 1)


def _verdicts(report: Report | None) -> Iterator[Verdict]:
    if report is not None:
        yield from report.findings
        yield from report.waived
        yield from report.not_judged


def _identity(verdict: Verdict) -> object:
    where = _verdict_where(verdict)
    return (*_verdict_text(verdict), where.device, where.interface)


def views_of(text: str) -> dict[str, int]:
    """Return the line of each interface's view by its name, and of the sysname under `""`."""
    lines: dict[str, int] = {}
    for number, line in enumerate(lines_of(text), 1):
        if match := re.match(r"interface (\S.*)|sysname ", line):
            lines.setdefault("".join((match[1] or "").split()), number)
    return lines


@dataclass(frozen=True, slots=True)
class WorstVerdicts:
    """Worst own finding by device and port, and the counts of all verdicts of each device.

    common: kind and rule of the findings that every switch has, or every one of a role. They
    belong to no single switch and colour nothing.
    """

    devices: Mapping[str, str]
    ports: Mapping[tuple[str, str], str]
    counts: Mapping[str, Mapping[str, int]]
    common: tuple[tuple[str, str], ...] = ()

    def of_device(self, device: str) -> str:
        """Return the worst own finding of a device or `none`."""
        return self.devices.get(device, "none")

    def of_link(self, *ends: tuple[str, str]) -> str:
        """Return the worst finding at the ports of a link."""
        found = {self.ports.get(end) for end in ends}
        return next((kind for kind in SEVERITIES if kind in found), "none")


def worst_of(network: Network, groups: tuple[VerdictGroup, ...]) -> WorstVerdicts:
    """Return the colours of the picture, and the counts next to each configuration."""
    devices: dict[str, str] = {}
    ports: dict[tuple[str, str], str] = {}
    common = tuple(_common(network, groups))
    counts: dict[str, dict[str, int]] = {node.name: {} for node in network.nodes}
    for group in groups:  # the worst kinds come first
        for place in group.places:
            device, interface = place.where.device, place.where.interface
            if device in counts:
                counts[device][group.kind] = counts[device].get(group.kind, 0) + 1
            if device is None or group.kind not in SEVERITIES or group.heading in common:
                continue
            devices.setdefault(device, group.kind)
            if interface:
                ports.setdefault((device, interface), group.kind)
    return WorstVerdicts(devices, ports, counts, common)


def _common(network: Network, groups: Iterable[VerdictGroup]) -> Iterator[tuple[str, str]]:
    """Kind and rule of findings that every switch has, or every one of a role of several."""
    roles = [
        {node.name for node in alike} for alike in map(network.role, SwitchRole) if len(alike) > 2
    ]
    sets = [*roles, {node.name for node in network.nodes}]
    for key, alike in group_items(groups, lambda group: group.heading).items():
        devices = {place.where.device for group in alike for place in group.places}
        if key[0] in SEVERITIES and any(members <= devices for members in sets if len(members) > 1):
            yield key


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
    for role in SwitchRole:
        if len(names) > 1 and names == {node.name for node in network.role(role)}:
            return f"all {count_of(len(names), role.value)}"
    listed = first_words(name_ranges(devices), MOST_NAMES)
    return f"{count_of(len(names), 'switch')}: {listed}" if len(names) > 1 else listed


def _source(groups: Iterable[VerdictGroup]) -> str:
    files = file_lines(place.where for group in groups for place in group.places)
    lines = [f"{file}:{line}" for file, numbers in files.items() for line in numbers]
    return ", ".join(lines) if len(lines) <= MOST_LINES else ""
