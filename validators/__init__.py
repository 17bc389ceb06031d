"""Is it right? Rules over a Network, one module an area, one function a rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.keyed import natural
from rocefort.models.network import Network, Sources
from rocefort.validators import (
    addressing,
    as_numbers,
    bgp,
    bgp_authentication,
    bonds,
    border,
    buffers,
    cabling,
    conditions,
    deadlock,
    ecn,
    growth,
    hosts,
    isolation,
    optics,
    pfc,
    qos,
    security,
    static_ecn,
    text,
    topology,
)
from rocefort.validators.additive import TITLES as GROWTH_TITLES
from rocefort.validators.batfish_verification import BATFISH_TITLES
from rocefort.validators.change_verification import CHANGE_TITLES
from rocefort.validators.failure_verification import FAILURE_TITLES
from rocefort.validators.rules import Rule, ordered
from rocefort.validators.selection import selected
from rocefort.validators.verification import TITLES
from rocefort.validators.waivers import check_waivers, sort_out

VERIFICATION_TITLES = TITLES | FAILURE_TITLES | BATFISH_TITLES | CHANGE_TITLES

# Importing them registers their rules.
AREAS = (
    topology,
    cabling,
    growth,
    bonds,
    optics,
    addressing,
    as_numbers,
    bgp,
    border,
    pfc,
    ecn,
    static_ecn,
    conditions,
    buffers,
    qos,
    deadlock,
    security,
    isolation,
    bgp_authentication,
    hosts,
    text,
)


def rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Rules in the order of reports: all, or by id and family as `selected` takes them."""
    return selected(ordered(), select, ignore)


def titles() -> dict[str, str]:
    """Title of every rule by id, those of verification and of growth among them."""
    return {rule.id: rule.title for rule in rules()} | VERIFICATION_TITLES | GROWTH_TITLES


def check(
    network: Network,
    sources: Sources | None = None,
    *,
    run: Sequence[Rule] | None = None,
    today: date | None = None,
) -> Report:
    """Run rules on a network; what cannot be judged, and what is waived, is in the report too.

    run: these rules only (default: all). today: the day that waivers are held against (default:
    today in UTC). Raises BadInput for a waiver of a rule that does not exist.
    """
    known, ran = sources or Sources(), rules() if run is None else tuple(run)
    check_waivers(network, known, [rule.id for rule in ordered()] + list(VERIFICATION_TITLES))
    findings: list[Finding] = []
    not_judged: list[NotJudged] = []
    for rule in ran:
        for verdict in rule.run(network, known):
            if isinstance(verdict, Finding):
                findings.append(verdict)
            else:
                not_judged.append(verdict)
    order = {rule.id: index for index, rule in enumerate(ran)}
    findings.sort(key=lambda f: (order[f.rule], *_severity_place(f)))
    report = Report(
        network=network.name,
        rules=tuple(order),
        findings=tuple(findings),
        not_judged=tuple(sorted(not_judged, key=lambda n: (order[n.rule], *_place(n), n.reason))),
    )
    found = sort_out(report, network, known, today)
    standing = sorted(found.findings, key=lambda f: (order[f.rule], *_severity_place(f)))
    return found.model_copy(update={"findings": tuple(standing)})


def _severity_place(finding: Finding) -> tuple[object, ...]:
    line = finding.where.line or 0
    return list(Severity).index(finding.severity), *_place(finding), line, finding.message


def _place(verdict: Finding | NotJudged) -> tuple[object, ...]:
    return natural(verdict.where.device or ""), natural(verdict.where.interface or "")
