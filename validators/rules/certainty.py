"""Verdicts on a network whose texts have several readings: those of all readings are certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.models.finding import Finding, NotJudged, Report, Where
from rocefort.models.network.network import Network
from rocefort.models.wording import listing
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.readings import Doubt, NetworkReadings
from rocefort.validators.routing_results import NotCertain
from rocefort.validators.rules.missing import ROUTES

_Key = tuple[str, Where]


def certain(reports: Sequence[Report], readings: NetworkReadings, network: Network) -> Report:
    """Report of the verdicts that all readings share; `reports` in the order of the readings.

    A finding that only some readings have is not judged, with the line as its cause: it may be
    right or wrong. So is one whose extent differs.
    """
    if len(reports) == 1:
        return reports[0]
    keyed = [_by_key(report) for report in reports]
    shared = set.intersection(*map(set, keyed))
    findings = []
    for key, messages in keyed[0].items():
        if key in shared:
            same = [finding for finding in messages.values() if _in_all(finding, keyed)]
            findings += same or [min((x for own in keyed for x in own[key].values()), key=_extent)]
    kept = {(_key(finding), finding.message) for finding in findings}
    doubtful: dict[tuple[_Key, str], NotJudged] = {}
    for at, found in enumerate(keyed):
        for key, messages in found.items():
            for finding in messages.values():
                if (key, finding.message) not in kept | doubtful.keys():
                    causes = _causes(at, finding, keyed, readings)
                    doubtful[key, finding.message] = _not_judged(finding, causes, network)
    waived = {(_key(one.finding), one.finding.message) for one in reports[0].waived}
    unjudged = dict.fromkeys(row for report in reports for row in report.not_judged)
    return reports[0].model_copy(
        update={
            "findings": tuple(f for f in findings if (_key(f), f.message) not in waived),
            "not_judged": (*unjudged, *doubtful.values()),
        }
    )


def _by_key(report: Report) -> dict[_Key, dict[str, Finding]]:
    """Findings, waived or not, by rule and place, and by message."""
    found: dict[_Key, dict[str, Finding]] = {}
    for finding in (*report.findings, *(one.finding for one in report.waived)):
        found.setdefault(_key(finding), {})[finding.message] = finding
    return found


def _key(finding: Finding) -> _Key:
    return finding.rule, finding.where


def _in_all(finding: Finding, keyed: Sequence[dict[_Key, dict[str, Finding]]]) -> bool:
    return all(finding.message in own[_key(finding)] for own in keyed)


def _extent(finding: Finding) -> tuple[int, str]:
    return len(finding.message), finding.message


def _causes(
    at: int,
    finding: Finding,
    keyed: Sequence[dict[_Key, dict[str, Finding]]],
    readings: NetworkReadings,
) -> Sequence[Doubt]:
    """Doubts by which a finding comes or goes: of the first reading that shows it alone."""
    if of := readings.all[at].of:
        return of
    key = _key(finding)
    without = (
        reading.of
        for reading, own in zip(readings.all, keyed, strict=True)
        if finding.message not in own.get(key, {})
    )
    return next(without, readings.doubts)


def _not_judged(finding: Finding, causes: Sequence[Doubt], network: Network) -> NotJudged:
    node = network.by_name.get(finding.where.device or "")
    return NotJudged(
        rule=finding.rule,
        where=finding.where,
        reason=f"{finding.message}, depending on {listing([cause.name for cause in causes])}",
        missing=ROUTES.of_switch(node),
        shared_cause="; ".join(cause.words for cause in causes),
    )


def uncertain(solutions: Sequence[Solution]) -> NotCertain:
    """Numbers of good answers of the first solution that not all solutions share."""
    first = solutions[0]
    up = [{(s.device, s.peer) for s in solved.sessions if s.far} for solved in solutions]
    lost = [{(one.source, one.gateway) for one in solved.gateways.lost} for solved in solutions]
    sources = first.gateways.by_device
    least = min(solved.reachability.delivered for solved in solutions)
    return NotCertain(
        sessions=len(up[0].difference(up[0].intersection(*up))),
        pairs=first.reachability.delivered - least,
        segment_pairs=sum(sources[source] for source, _ in lost[0].union(*lost) - lost[0]),
    )


def sentences(readings: NetworkReadings) -> Iterator[str]:
    """Notes on the lines through which a verification has several readings."""
    for doubt in readings.doubts:
        yield f"{doubt.words}: answers that it may change are not judged"
