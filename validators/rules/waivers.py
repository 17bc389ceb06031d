"""Waivers: set accepted findings apart in a report until the date of the waiver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.models.finding import Finding, Report, Severity, Waived, Waiver
from rocefort.models.network.network import Network, Position, Sources


def check_waivers(network: Network, sources: Sources, ids: Sequence[str]) -> None:
    """Raise BadInput with every waiver of a rule that is not among the known ids."""
    problems = [
        _problem(sources.find("", f"waivers[{index}]"), index, waiver.rule, ids)
        for index, waiver in enumerate(network.waivers)
        if waiver.rule not in ids
    ]
    if problems:
        raise BadInput(problems=problems)


def _problem(position: Position | None, index: int, rule: str, ids: Sequence[str]) -> Problem:
    what, how = f"no rule {rule!r}", nearest(rule, ids, "`rocefort rules` lists them")
    if position is None:
        return Problem(f"waivers[{index}]", what, how)
    return Problem("", what, how, position.file, position.line, position.column)


def sort_out(
    report: Report, network: Network, sources: Sources, today: date | None = None
) -> Report:
    """Report with waived findings set apart; the first waiver that covers a finding applies.

    A fault of a waiver is a finding of its rule: an error from the day after `until`, a warning if
    the waiver covers no finding although the rule could judge its place. Waivers of rules that did
    not run are skipped. today: the date to compare with `until` (default: today in UTC).
    """
    today = today or datetime.now(UTC).date()
    applicable = [(index, w) for index, w in enumerate(network.waivers) if w.rule in report.rules]
    valid = [(index, waiver) for index, waiver in applicable if today <= waiver.until]
    standing: list[Finding] = []
    waived: list[Waived] = []
    used: set[int] = set()
    for finding in report.findings:
        covering = [(index, waiver) for index, waiver in valid if waiver.covers(finding)]
        used.update(index for index, _ in covering)
        if covering:
            _, waiver = covering[0]
            waived.append(Waived(finding=finding, why=waiver.why, until=waiver.until))
        else:
            standing.append(finding)
    for index, waiver in applicable:
        needed = index in used or _undecided(waiver, report)
        standing += _about(waiver, sources, index, today=today, needed=needed)
    return report.model_copy(update={"findings": tuple(standing), "waived": tuple(waived)})


def _undecided(waiver: Waiver, report: Report) -> bool:
    """Whether the rule could not judge the waiver's place, so that its use is not known."""
    return any(
        entry.rule == waiver.rule
        and (waiver.device is None or entry.where.device in (None, waiver.device))
        and (
            None in (waiver.interface, entry.where.interface, entry.where.device)
            or entry.where.interface == waiver.interface
        )
        for entry in report.not_judged
    )


def _about(
    waiver: Waiver, sources: Sources, index: int, *, today: date, needed: bool
) -> Iterator[Finding]:
    """Fault of a waiver: expired, or without a finding."""
    at = f" at {waiver.place_text}" if waiver.place_text else ""
    if today > waiver.until:
        severity = Severity.ERROR
        message = f"the waiver of {waiver.rule}{at} expired after {waiver.until} ({waiver.why})"
        hint = "fix the waived finding, or review the waiver and set a later date"
    elif not needed:
        severity = Severity.WARNING
        message = f"the waiver of {waiver.rule}{at} covers no finding ({waiver.why})"
        hint = "remove it, or correct its rule, device and interface"
    else:
        return
    where = sources.where("", f"waivers[{index}]")
    yield Finding(rule=waiver.rule, severity=severity, where=where, message=message, hint=hint)
