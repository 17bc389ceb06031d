"""Run rules on a network, on live readings or on servers, and build the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TypeVar

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.base.progress import tracked
from rocefort.models.base import natural
from rocefort.models.finding import Finding, NotJudged, Report, Severity, family_of
from rocefort.models.network.network import Network, Sources
from rocefort.models.network.servers import HostPlan, HostsSeen
from rocefort.validators.facts.overview import Overview
from rocefort.validators.rules.live.switch_readings import (
    IntendedState,
    LiveSubject,
    SwitchReadings,
    intended_of,
)
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import SITE_ID, Rule, Subject, registered
from rocefort.validators.rules.running.running_subject import (
    RunningComparison,
    RunningSubject,
    VoteSubject,
)
from rocefort.validators.rules.servers.server_subject import HostSubject
from rocefort.validators.rules.site_subject import JudgedSubject, SiteRuleSubject
from rocefort.validators.rules.waivers import check_waivers, sort_out
from rocefort.validators.site_rules import run_site_rules, site_rules_in_force


def rules(
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    judges: type[Subject] | tuple[type[Subject], ...] = Subject,
) -> tuple[Rule, ...]:
    """Rules on a network, or on other subjects, in the order of reports.

    All, or by id and family as `selected` takes them.
    """
    kinds = judges if isinstance(judges, tuple) else (judges,)
    site = site_rules_in_force()
    unread = site.files.settings.prefix if site and site.failures else ""
    return selected(registered(*kinds), select, ignore, unread)


def titles() -> dict[str, str]:
    """Title of every rule by id."""
    return {rule.id: rule.title for rule in registered()}


def check(
    network: Network,
    sources: Sources | None = None,
    *,
    run: Sequence[Rule] | None = None,
    today: date | None = None,
    running: RunningComparison | None = None,
) -> Report:
    """Run rules on a network; the report has findings, waived findings and not judged places.

    run: these rules only (default: all, with those of the site in force). today: the date for
    waivers (default: today in UTC). running: configurations beside a fabric, for rules that compare
    both.
    Raises BadInput for a waiver of a rule that does not exist.
    """
    origins, ran = sources or Sources(), rules() if run is None else tuple(run)
    _check_waivers(network, origins)
    overview = Overview(network, origins)
    subjects = [*_subjects(overview, ran, running), *_site_subjects(overview, ran)]
    return _report(overview, subjects, today)


# What a bench has no part of: roles of a Clos, and room for its growth.
CYCLE = "DLK001"  # of buffers of several switches
SWITCH_PORTS = "TOP003"
OF_FABRICS = frozenset({Need.ROLE, Need.RESERVED, Need.OVERSUBSCRIPTION})


def applies(rule: Rule, network: Network) -> bool:
    """Whether a rule applies to a network: to a bench only without routing, roles and growth.

    To one without a switch, only rules on servers apply.
    """
    if not network.is_bench or rule.of_site:
        return True
    if rule.family == "BGP" or rule.id == CYCLE or OF_FABRICS & {*rule.needs}:
        return False
    on_servers = rule.family == "HST" or Need.SERVERS in (*rule.needs, *rule.wants)
    return bool(network.nodes) or (on_servers and rule.id != SWITCH_PORTS)


def _site_subjects(overview: Overview, ran: Iterable[Rule]) -> Iterator[Subject]:
    """Run the rules of the site among these, and yield subjects with their verdicts.

    Rules on the code of a site's rules follow, whatever was selected.
    """
    site = site_rules_in_force()
    if site is None:
        return
    chosen = [rule for rule in ran if rule.of_site]
    ids = [rule.id for rule in chosen]
    made = run_site_rules(site, overview.network, overview.sources, ids)
    for rule in chosen:
        yield JudgedSubject(overview, rule, tuple(made.by_rule[rule.id]))
    failures = (*site.failures, *made.failures)
    for rule in registered(SiteRuleSubject):
        yield SiteRuleSubject(overview, rule, failures)


def _subjects(
    overview: Overview, ran: Iterable[Rule], running: RunningComparison | None
) -> Iterator[Subject]:
    for rule in ran:
        if rule.of_site:
            continue
        if rule.judges is VoteSubject:
            yield VoteSubject(overview, rule)
        elif rule.judges is not RunningSubject:
            yield Subject(overview, rule)
        elif running is not None:
            yield RunningSubject(overview, rule, running)


def check_live(  # noqa: PLR0913 - network, readings, rules and options
    network: Network,
    readings: SwitchReadings,
    sources: Sources | None = None,
    *,
    run: Sequence[Rule] | None = None,
    today: date | None = None,
    intended: IntendedState | None = None,
) -> Report:
    """Run the live rules on the switches that were read; otherwise as `check`.

    network: the intended state at this moment. Without an earlier reading, rules on rising counters
    are not judged. intended: the intended state of this network, if it is already computed.
    """
    origins, ran = sources or Sources(), rules(judges=LiveSubject) if run is None else tuple(run)
    _check_waivers(network, origins)
    intended = intended_of(network) if intended is None else intended
    overview = Overview(network, origins)
    subjects = [LiveSubject(overview, rule, readings, intended) for rule in ran]
    return _report(overview, subjects, today)


def check_hosts(
    network: Network,
    plans: Mapping[str, HostPlan],
    seen: HostsSeen,
    sources: Sources | None = None,
    *,
    today: date | None = None,
) -> Report:
    """Run the rules on servers on their readings; otherwise as `check`.

    plans: required settings of each server, by name; a server without a reading is skipped.
    """
    overview = Overview(network, sources or Sources())
    _check_waivers(network, overview.sources)
    ran = rules(judges=HostSubject)
    return _report(overview, [HostSubject(overview, rule, plans, seen) for rule in ran], today)


def _check_waivers(network: Network, sources: Sources) -> None:
    ids = [rule.id for rule in registered() if rule.judges.waivable]
    site = site_rules_in_force()
    if site is None or site.failures:  # rules that are not loaded have waivers, too
        ids += [waiver.rule for waiver in network.waivers if SITE_ID.fullmatch(waiver.rule)]
    check_waivers(network, sources, ids)


def _report(overview: Overview, subjects: Sequence[Subject], today: date | None) -> Report:
    """Verdicts on subjects, one for each rule, sorted into a report; waived findings apart."""
    network, sources = overview.network, overview.sources
    subjects = [subject for subject in subjects if applies(subject.rule, network)]
    verdicts = [each for subject in tracked(subjects, "rules") for each in subject.verdicts()]
    findings = [verdict for verdict in verdicts if isinstance(verdict, Finding)]
    not_judged = [verdict for verdict in verdicts if isinstance(verdict, NotJudged)]
    order = {subject.rule.id: index for index, subject in enumerate(subjects)}
    findings.sort(key=lambda f: _severity_place(f, order))
    report = Report(
        network=network.name,
        rules=tuple(order),
        findings=tuple(findings),
        not_judged=tuple(
            sorted(not_judged, key=lambda n: (order[n.rule], *_verdict_order(n), n.reason))
        ),
    )
    sorted_report = sort_out(report, network, sources, today)
    if not network.waivers:
        return sorted_report
    standing = sorted(sorted_report.findings, key=lambda f: _severity_place(f, order))
    return sorted_report.model_copy(update={"findings": tuple(standing)})


LIST = "`rocefort rules` lists them"
GRADES = {severity: grade for grade, severity in enumerate(Severity)}


def _severity_place(finding: Finding, order: Mapping[str, int]) -> tuple[object, ...]:
    grade, line = GRADES[finding.severity], finding.where.line or 0
    return order[finding.rule], grade, *_verdict_order(finding), line, finding.message


def _verdict_order(verdict: Finding | NotJudged) -> tuple[object, ...]:
    return natural(verdict.where.device or ""), natural(verdict.where.interface or "")


Some = TypeVar("Some", bound=Rule)


def selected(
    rules: Sequence[Some],
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    unread: str = "",
) -> tuple[Some, ...]:
    """Rules of the ids and families in `select` (none: all), without those in `ignore`.

    Each item may hold several words in any case, with commas between them: `PFC,buf001`. Raises
    BadInput for words that are neither an id nor a family, all of them together, and when no rule
    is left. unread: prefix of rules that do not load, so that any id of it may be one.
    """
    included, excluded = _words(select), _words(ignore)
    unknown = {word for word in (*included, *excluded) if unread and family_of(word) == unread}
    valid = {*(rule.family for rule in rules), *(rule.id for rule in rules), *unknown}
    problems = [
        Problem("", f"no rule or family {word!r}", nearest(word, valid, LIST))
        for word in (*included, *excluded)
        if word not in valid
    ]
    if problems:
        raise BadInput(problems=problems)
    chosen = tuple(
        rule
        for rule in rules
        if (not included or _is_named(rule, included)) and not _is_named(rule, excluded)
    )
    if not chosen and not unknown:
        raise BadInput("no rule is left to run", how="select more, or ignore less")
    return chosen


def _words(items: Iterable[str]) -> tuple[str, ...]:
    words = (word.strip().upper() for item in items for word in item.split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def _is_named(rule: Rule, words: Sequence[str]) -> bool:
    return rule.id in words or rule.family in words
