"""Subject of the rules on the code of a site's rules: how each of them ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from rocefort.models.finding import Finding, MissingFact, NotJudged, Where
from rocefort.validators.rules.registry import Subject


class Failing(StrEnum):
    """Way in which a rule of a site fails."""

    LOADING = "loading"  # its file, before any rule of it runs
    ENDING = "ending"  # an exception, an exit, a result that is none
    TIME = "time"
    ACT = "act"  # it prints, opens a file, or acts on the system in another way


@dataclass(frozen=True)
class RuleFailure:
    """Failure of a rule of the site, or of a file with rules, at its line."""

    kind: Failing
    subject: str  # id of the rule, or the file
    what: str
    file: str
    line: int


@dataclass(frozen=True)
class SiteRuleSubject(Subject):
    """Failures of the rules of the site, under one rule."""

    failures: tuple[RuleFailure, ...]

    given: ClassVar[str] = "rules of the site"
    waivable: ClassVar[bool] = False

    def failed(self, kind: Failing, hint: str) -> Iterator[Finding]:
        """Yield a finding for each failure of a kind, at the line of the rule's file."""
        for each in self.failures:
            if each.kind is kind:
                yield Finding(
                    rule=self.rule.id,
                    severity=self.rule.severity,
                    where=Where(file=each.file, line=each.line),
                    message=f"{each.subject}: {each.what}",
                    hint=hint,
                )


@dataclass(frozen=True)
class JudgedSubject(Subject):
    """Verdicts of a rule of the site, which its own process has made."""

    made: tuple[Finding | NotJudged, ...]

    def verdicts(self) -> Iterator[Finding | NotJudged]:
        """Return the verdicts of the process."""
        yield from self.made


RESULT = MissingFact(fact="the result of the rule", run="rocefort explain RUL")


def without_result(rule_id: str, failure: RuleFailure) -> NotJudged:
    """Return the verdict of a rule that failed: its other findings are not known."""
    reason = f"the rule of the site failed ({failure.file})"
    return NotJudged(rule=rule_id, where=Where(), reason=reason, missing=RESULT)
