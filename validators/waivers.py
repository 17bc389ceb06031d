"""Waivers: findings that somebody answers for until a day are kept apart, not left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from rocefort.documents.nearest import nearest
from rocefort.errors import BadInput, Problem
from rocefort.models.finding import Finding, Severity, Waived, Waiver
from rocefort.models.network import Network, Sources
from rocefort.validators.rules import Rule


@dataclass(frozen=True, slots=True)
class Sorted:
    """Findings that stand, those about the waivers themselves among them, and waived ones."""

    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]


def check_waivers(network: Network, sources: Sources, rules: Sequence[Rule]) -> None:
    """Raise BadInput with every waiver of a rule that does not exist."""
    known = [rule.id for rule in rules]
    problems = [
        Problem(f"{sources.find('', path) or path}", f"no rule {waiver.rule!r}", how)
        for index, waiver in enumerate(network.waivers)
        if waiver.rule not in known
        for path, how in [(f"waivers[{index}]", nearest(waiver.rule, known))]
    ]
    if problems:
        raise BadInput(problems=problems)


def sort_out(
    findings: Sequence[Finding],
    network: Network,
    sources: Sources,
    ran: Sequence[Rule],
    today: date,
) -> Sorted:
    """Set waived findings apart; the first waiver that covers a finding takes it.

    What is wrong with a waiver is a finding of the rule that it waives: an error from the day
    after `until`, a warning when it covers nothing. A rule that did not run is not asked for.
    """
    ids = {rule.id for rule in ran}
    asked = [(index, w) for index, w in enumerate(network.waivers) if w.rule in ids]
    valid = [(index, waiver) for index, waiver in asked if today <= waiver.until]
    standing: list[Finding] = []
    waived: list[Waived] = []
    used: set[int] = set()
    for finding in findings:
        covering = [(index, waiver) for index, waiver in valid if waiver.covers(finding)]
        used.update(index for index, _ in covering)
        if covering:
            _, waiver = covering[0]
            waived.append(Waived(finding=finding, why=waiver.why, until=waiver.until))
        else:
            standing.append(finding)
    for index, waiver in asked:
        standing += _about(waiver, sources, index, today=today, used=index in used)
    return Sorted(tuple(standing), tuple(waived))


def _about(
    waiver: Waiver, sources: Sources, index: int, *, today: date, used: bool
) -> Iterator[Finding]:
    """What is wrong with a waiver."""
    at = f" at {waiver.place}" if waiver.place else ""
    if today > waiver.until:
        severity = Severity.ERROR
        message = f"the waiver of {waiver.rule}{at} expired after {waiver.until} ({waiver.why})"
        hint = "mend what it waived, or decide again and set a later day"
    elif not used:
        severity = Severity.WARNING
        message = f"the waiver of {waiver.rule}{at} covers no finding ({waiver.why})"
        hint = "remove it, or correct its rule, device and interface"
    else:
        return
    where = sources.where("", f"waivers[{index}]")
    yield Finding(rule=waiver.rule, severity=severity, where=where, message=message, hint=hint)
