"""Findings with their places and fixes, in every format, and the texts of their rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import click

from rocefort.base.json_output import write_json
from rocefort.dialects.words import in_words
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived, Where
from rocefort.reports.blocks import (
    MOST,
    Block,
    CollapsibleSection,
    Items,
    Note,
    Section,
    Tone,
    first_words,
)
from rocefort.reports.formats.ci_reports import as_junit, as_sarif
from rocefort.reports.formats.json_report import findings_output
from rocefort.reports.formats.rule_text import RulesOutput, RuleText
from rocefort.reports.output import write_blocks
from rocefort.reports.wording import (
    because,
    by_cause,
    device_ports,
    file_lines,
    group_items,
    intent_lines,
    name_ranges,
    severity_counts,
    summary,
    verdict,
)
from rocefort.reports.writers.markdown import markdown_of
from rocefort.validators.checks import selected, titles
from rocefort.validators.rules.live.switch_readings import LiveSubject
from rocefort.validators.rules.registry import Rule, Subject, SubjectKind, registered
from rocefort.validators.rules.servers.server_subject import HostSubject
from rocefort.validators.rules.site_subject import SiteRuleSubject

SELECTED_BY: Final = ("check", "health")  # commands with --select
RUN_BY: Final[Mapping[type[SubjectKind], tuple[str, ...]]] = {
    Subject: ("check", "report", "review"),
    LiveSubject: ("health",),
    HostSubject: ("host check",),
    SiteRuleSubject: ("report", "check", "review"),  # beside the rules of the site, never alone
}
OTHERS_RUN_BY: Final = ("verify", "review", "expand")


def rule_texts(*judges: type[SubjectKind]) -> tuple[RuleText, ...]:
    """Texts of the rules for these kinds of subject, by default all, by family and number."""
    return tuple(map(_text, registered(*judges)))


def rules_named(
    words: Sequence[str] = (), severities: Iterable[Severity] = tuple(Severity)
) -> RulesOutput:
    """Texts of rules by id and family, as `--select` takes them, and by severity; or BadInput."""
    shown = frozenset(severities)
    rules = selected(registered(), words)
    return RulesOutput(rules=tuple(_text(rule) for rule in rules if rule.severity in shown))


def _text(rule: Rule) -> RuleText:
    commands = RUN_BY.get(rule.judges, OTHERS_RUN_BY)
    return RuleText(
        id=rule.id,
        title=rule.title,
        severity=rule.severity,
        explanation=in_words(rule.explanation),
        example=in_words(rule.example),
        fix=in_words(rule.fix),
        source=in_words(rule.source),
        file=rule.file,
        family=rule.area,
        needs=_needs(rule),
        commands=commands,
        selectable=commands[0] in SELECTED_BY,
        waivable=rule.judges.waivable,
    )


def _needs(rule: Rule) -> tuple[str, ...]:
    """Inputs of a rule, and for a live one the number of readings of the switches."""
    given = rule.judges.given.replace(
        "a reading", "two readings" if rule.reads.twice else "a reading"
    )
    return (*map(str, (*rule.needs, *rule.wants)), *filter(None, [given]))


SEVERAL = 3  # rules that share one heading, without their titles
FAILED = " -- failed"
GROUPS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings"}
Titles = Mapping[str, str]  # a rule's title by its id


def findings_report(report: Report, titles: Titles) -> Iterator[Block]:
    """Show a section for each rule and severity, then the summary, for a terminal.

    Findings with the same message are shown once with all their places. Messages with the same
    places and fix share them.
    """
    for (rule, severity), same_rule in group_items(
        report.findings, lambda f: (f.rule, f.severity)
    ).items():
        yield _section(severity.value, rule, titles, _findings(same_rule), Tone(severity.value))
    for rule, entries in group_items(report.waived, lambda w: w.finding.rule).items():
        yield _section("waived", rule, titles, _waived(entries), Tone.QUIET)
    for title, items in _not_judged(report.not_judged, titles):
        yield Section(f"NOT JUDGED: {title}", items, tone=Tone.UNKNOWN)
    tone = Tone.ERROR if report.failed else Tone.GOOD
    yield Note(f"{report.network}: {summary(report)}{FAILED if report.failed else ''}", tone)


def findings_comment(report: Report, titles: Titles) -> Section:
    """Show errors and warnings open and the rest folded, for a comment on a pull request."""
    blocks: list[Block] = []
    for severity, count in severity_counts(report).items():
        found = [finding for finding in report.findings if finding.severity is severity]
        sections = tuple(
            Section(_titled(rule, titles), tuple(_findings(same)))
            for rule, same in group_items(found, lambda f: f.rule).items()
        )
        if sections and severity in GROUPS:
            blocks.append(Section(GROUPS[severity], sections))
        elif sections:
            blocks.append(CollapsibleSection(f"{count} info", sections))
    if report.waived:
        rules = group_items(report.waived, lambda w: w.finding.rule).items()
        sections = tuple(Section(_titled(r, titles), tuple(_waived(same))) for r, same in rules)
        blocks.append(CollapsibleSection(f"{len(report.waived)} waived", sections))
    if report.not_judged:
        sections = tuple(
            Section(title, items) for title, items in _not_judged(report.not_judged, titles)
        )
        blocks.append(
            CollapsibleSection(f"{len(report.not_judged)} not judged, which is no pass", sections)
        )
    title = f"Rocefort: {report.network}: {verdict(report)}"
    return Section(title, (Note(summary(report)), Section("", tuple(blocks))))


def _section(kind: str, rule: str, titles: Titles, blocks: Iterable[Block], tone: Tone) -> Section:
    return Section(f"{kind.upper()} {_titled(rule, titles)}", tuple(blocks), tone=tone)


def _titled(rule: str, titles: Titles) -> str:
    return f"{rule} {titles[rule]}" if rule in titles else rule


def _findings(findings: Sequence[Finding]) -> Iterator[Items]:
    """Group messages by the places and the fix that they share."""
    together: dict[tuple[str, ...], list[str]] = {}
    for (message, hint), alike in group_items(findings, lambda f: (f.message, f.hint)).items():
        fix = (f"fix: {hint}",) if hint else ()
        together.setdefault((*_places([f.where for f in alike]), *fix), []).append(message)
    for details, messages in together.items():
        yield Items(tuple(messages), details)


def _waived(entries: Sequence[Waived]) -> Iterator[Items]:
    """Show waived findings with the reason and the last day of the waiver."""
    alike = group_items(entries, lambda w: (w.finding.message, w.why, w.until))
    for (message, why, until), same in alike.items():
        places = _places([entry.finding.where for entry in same])
        yield Items((message,), (*places, f"until {until}: {why}"))


def _not_judged(
    entries: Sequence[NotJudged], titles: Titles
) -> Iterator[tuple[str, tuple[Items, ...]]]:
    """Each cause with its count, then its rules with their reasons and places."""
    for cause, same_cause in by_cause(entries).items():
        rules = group_items(same_cause, lambda entry: entry.rule)
        details = {rule: tuple(_reasons(same, cause)) for rule, same in rules.items()}
        alike = group_items(details, details.__getitem__)
        items = tuple(
            Items(tuple(_rule_titles(same, titles)), lines) for lines, same in alike.items()
        )
        yield because(len(same_cause), cause), items


def _rule_titles(rules: Sequence[str], titles: Titles) -> Iterator[str]:
    if len(rules) >= SEVERAL:
        yield ", ".join(rules)
    else:
        yield from (_titled(rule, titles) for rule in rules)


def _reasons(entries: Iterable[NotJudged], cause: str) -> Iterator[str]:
    """Reasons other than the cause, with their places and the fact that settles them.

    A place of several files names none.
    """
    by_places: dict[tuple[str, ...], list[str]] = {}
    alike = group_items(entries, lambda entry: (entry.reason, str(entry.missing)))
    for (reason, missing), same in alike.items():
        wheres = [entry.where for entry in same]
        places = tuple(_places(wheres, files=len(file_lines(wheres)) <= 1))
        by_places.setdefault((*places, f"missing: {missing}"), []).append(reason)
    for places, reasons in by_places.items():
        yield from (reason for reason in reasons if reason != cause)
        yield from places


def _places(wheres: Sequence[Where], *, files: bool = True) -> Iterator[str]:
    """Return all places of a message: devices with their ports, lines by file, and the intent's."""
    if named := _word_list(name_ranges(device_ports(wheres))):
        yield f"at: {named}"
    for label, lines in (("in", file_lines(wheres)), ("intended in", intent_lines(wheres))):
        sources = [f"{file}:{_word_list(map(str, at))}" for file, at in lines.items()]
        if sources and files:
            yield f"{label}: {'; '.join(sources)}"


def _word_list(words: Iterable[str]) -> str:
    """Return all words, or the first of many and the number of the others."""
    listed = list(words)
    return first_words(listed) + (" (all of them: --format json)" if len(listed) > MOST else "")


def write_findings(report: Report, form: str, subject: str) -> None:
    """Write a report to standard output in a format by name: text, json, sarif, junit, markdown.

    subject: the file named for a finding without a line.
    """
    if form == "text":
        write_blocks(*findings_report(report, titles()))
    elif form == "json":
        write_json(findings_output(report))
    else:
        click.echo(_for_programs(report, form, subject), nl=False)


def _for_programs(report: Report, form: str, subject: str) -> str:
    if form == "sarif":
        return as_sarif(report, rule_texts(), subject=subject)
    if form == "junit":
        return as_junit(report, rule_texts())
    return markdown_of(findings_comment(report, titles()), whole="All of them: `rocefort check`.")
