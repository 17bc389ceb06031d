"""Is it right? Rules over a Network, one module an area, one function a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.host import HostPlan, HostsSeen
from rocefort.models.keyed import natural
from rocefort.models.network import Network, Sources
from rocefort.validators.host_settings import HOST_REGISTRY, HostRule, HostSubject
from rocefort.validators.live import (
    LIVE_REGISTRY,
    Intended,
    LiveRule,
    LiveSubject,
    Readings,
    intended_of,
    watched,
)
from rocefort.validators.overview import Overview
from rocefort.validators.rules import (
    FAMILIES,
    Rule,
    Verdict,
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
    host_rules,
    host_tuning,
    hosts,
    isolation,
    live_cabling,
    live_lossless,
    live_routing,
    live_system,
    optics,
    ordered,
    pfc,
    qos,
    security,
    static_ecn,
    text,
    topology,
)
from rocefort.validators.rules.additive import TITLES as GROWTH_TITLES
from rocefort.validators.rules.batfish_verification import BATFISH_TITLES
from rocefort.validators.rules.change_verification import CHANGE_TITLES
from rocefort.validators.rules.failure_verification import FAILURE_TITLES
from rocefort.validators.rules.verification import TITLES
from rocefort.validators.selection import selected
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
LIVE_AREAS = (live_system, live_routing, live_cabling, live_lossless)
HOST_AREAS = (host_rules, host_tuning)


def rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Rules in the order of reports: all, or by id and family as `selected` takes them."""
    return selected(ordered(), select, ignore)


def live_rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[LiveRule, ...]:
    """Rules on the state of switches, by number: all, or some as `selected` takes them."""
    return selected(tuple(LIVE_REGISTRY[name] for name in sorted(LIVE_REGISTRY)), select, ignore)


def host_rules_of(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[HostRule, ...]:
    """Rules on what servers say, by number: all, or some as `selected` takes them."""
    return selected(tuple(HOST_REGISTRY[name] for name in sorted(HOST_REGISTRY)), select, ignore)


def every_rule() -> tuple[Rule, ...]:
    """Rules on the network and on servers' own words by family, then on the state of switches."""
    families = list(FAMILIES)
    told = sorted((*rules(), *host_rules_of()), key=lambda r: (families.index(r.family), r.id))
    return (*told, *live_rules())


def titles() -> dict[str, str]:
    """Title of every rule by id, those of verification and of growth among them."""
    return {rule.id: rule.title for rule in every_rule()} | VERIFICATION_TITLES | GROWTH_TITLES


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
    _check_waivers(network, known)
    overview = Overview(network, known)
    verdicts = [verdict for rule in ran for verdict in rule.run(overview)]
    return _report(network, known, ran, verdicts, today)


def check_live(  # noqa: PLR0913 - what, against what, by which rules
    network: Network,
    readings: Readings,
    sources: Sources | None = None,
    *,
    run: Sequence[LiveRule] | None = None,
    today: date | None = None,
    intended: Intended | None = None,
) -> Report:
    """Run the live rules on the switches that were read; otherwise as `check`.

    network: as it is meant to be at this moment. Without an earlier reading nothing that rises is
    judged. intended: of this network, where that is known already.
    """
    known, ran = sources or Sources(), live_rules() if run is None else tuple(run)
    _check_waivers(network, known)
    intended = intended_of(network) if intended is None else intended
    overview = Overview(network, known)
    verdicts = [
        verdict
        for rule in ran
        for verdict in watched(rule, LiveSubject(overview, rule, readings, intended))
    ]
    return _report(network, known, ran, verdicts, today)


def check_hosts(
    network: Network,
    plans: Mapping[str, HostPlan],
    seen: HostsSeen,
    sources: Sources | None = None,
    *,
    today: date | None = None,
) -> Report:
    """Run the rules on servers against what they say; otherwise as `check`.

    plans: what each server must have, by name; a server without a reading is not judged here.
    """
    known, ran = sources or Sources(), host_rules_of()
    _check_waivers(network, known)
    overview = Overview(network, known)
    subjects = (HostSubject(overview, rule, plans, seen) for rule in ran)
    verdicts = [v for subject in subjects for v in subject.rule.judge(subject)]
    return _report(network, known, ran, verdicts, today)


def _check_waivers(network: Network, sources: Sources) -> None:
    check_waivers(network, sources, [*(r.id for r in every_rule()), *VERIFICATION_TITLES])


def _report(
    network: Network,
    sources: Sources,
    ran: Sequence[Rule],
    verdicts: Sequence[Verdict],
    today: date | None,
) -> Report:
    """Sort verdicts into a report, waived findings apart."""
    findings = [verdict for verdict in verdicts if isinstance(verdict, Finding)]
    not_judged = [verdict for verdict in verdicts if isinstance(verdict, NotJudged)]
    order = {rule.id: index for index, rule in enumerate(ran)}
    findings.sort(key=lambda f: _severity_place(f, order))
    report = Report(
        network=network.name,
        rules=tuple(order),
        findings=tuple(findings),
        not_judged=tuple(sorted(not_judged, key=lambda n: (order[n.rule], *_place(n), n.reason))),
    )
    found = sort_out(report, network, sources, today)
    if not network.waivers:
        return found
    standing = sorted(found.findings, key=lambda f: _severity_place(f, order))
    return found.model_copy(update={"findings": tuple(standing)})


GRADES = {severity: grade for grade, severity in enumerate(Severity)}


def _severity_place(finding: Finding, order: Mapping[str, int]) -> tuple[object, ...]:
    grade, line = GRADES[finding.severity], finding.where.line or 0
    return order[finding.rule], grade, *_place(finding), line, finding.message


def _place(verdict: Finding | NotJudged) -> tuple[object, ...]:
    return natural(verdict.where.device or ""), natural(verdict.where.interface or "")
