"""Texts of the rules (requirement, reason, fix) for `explain`, the page of rules and SARIF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rocefort.dialects.words import in_words
from rocefort.models.finding import Severity
from rocefort.reports.formats.rule_text import RulesOutput, RuleText
from rocefort.validators.checks import selected
from rocefort.validators.rules.live.subject import LiveSubject
from rocefort.validators.rules.registry import FAMILIES, Rule, Subject, SubjectKind, registered
from rocefort.validators.rules.servers.subject import HostSubject

SELECTED_BY: Final = ("check", "health")  # commands with --select
RUN_BY: Final[Mapping[type[SubjectKind], tuple[str, ...]]] = {
    Subject: ("check", "report", "review"),
    LiveSubject: ("health",),
    HostSubject: ("host check",),
}
OTHERS_RUN_BY: Final = ("verify", "review", "expand")


def rule_texts(*judges: type[SubjectKind]) -> tuple[RuleText, ...]:
    """Texts of the rules for these kinds of subject, by default all, by family and number."""
    return tuple(map(_text, registered(*judges)))


def rules_named(
    words: Sequence[str] = (), severities: Iterable[Severity] = tuple(Severity)
) -> RulesOutput:
    """Texts of rules by id and family, as `--select` takes them, and by severity; or BadInput."""
    wanted = frozenset(severities)
    rules = selected(registered(), words)
    return RulesOutput(rules=tuple(_text(rule) for rule in rules if rule.severity in wanted))


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
        family=FAMILIES[rule.family],
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
