"""Finding: one result of a rule, with place, severity, message and hint."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Description, Frozen, Name


class Severity(StrEnum):
    """Severity of a finding: an error stops a rollout, a warning needs a decision."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def family_of(rule_id: str) -> str:
    """Letters of a rule's id: its subject area, or the prefix of a site."""
    return rule_id.rstrip("0123456789")


class IntentLine(Frozen):
    """Line of the fabric that intends the judged value."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Where(Frozen):
    """Place: device, interface, and the line of YAML or of configuration text.

    intent: line of the fabric, for a configuration that is judged by a fabric's intent.
    """

    device: str | None = None
    interface: str | None = None
    file: str | None = None
    line: int | None = None
    intent: IntentLine | None = Field(default=None, exclude_if=lambda line: line is None)

    def __str__(self) -> str:
        place = " ".join(part for part in (self.device, self.interface) if part)
        source = f"{self.file}:{self.line}" if self.file else ""
        source += f", intended in {self.intent}" if source and self.intent else ""
        return f"{place} ({source})" if place and source else place or source


class Finding(Frozen):
    """Violation of a rule: what is wrong, where, and how to fix it."""

    rule: str
    severity: Severity
    where: Where
    message: str
    hint: str = ""


class MissingFact(Frozen):
    """The one fact that settles a verdict, and the ways to find it out.

    ask: input for the switch; `?` is the help of its command line, ` / ` enters a view. key: to
    fill in, with its file. run: command of Rocefort. Each may be empty.
    """

    fact: str
    ask: str = ""
    key: str = ""
    run: str = ""

    def __str__(self) -> str:
        ask, run = (text and f"`{text}`" for text in (self.ask, self.run))
        ways = {"ask a switch": ask, "state": self.key, "run": run}
        return "; ".join((self.fact, *(f"{way}: {text}" for way, text in ways.items() if text)))


class NotJudged(Frozen):
    """Verdict that a rule could not reach, and the reason; it never counts as passed."""

    rule: str
    where: Where
    reason: str
    missing: MissingFact
    shared_cause: str = Field(default="", exclude=True)  # of verdicts with different reasons

    @property
    def cause(self) -> str:
        """Cause by which reports group verdicts: the shared one, or the reason."""
        return self.shared_cause or self.reason


def check_day(value: object) -> date:
    """Accept a day as YYYY-MM-DD, without a time of day."""
    if isinstance(value, date):
        return value  # a model built by code
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError(f"{value!r} is not a day; write YYYY-MM-DD")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"there is no day {value}; check month and day") from None


DAY_SCHEMA = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
Day = Annotated[date, BeforeValidator(check_day), WithJsonSchema(DAY_SCHEMA)]


class Waiver(Frozen):
    """Accepted findings of one rule at one place, until a day."""

    rule: Name = Field(description="Id of the rule.", examples=["BUF002"])
    device: Name | None = Field(
        default=None, examples=["leaf01"], description="This switch only; none: everywhere."
    )
    interface: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9/:.-]{1,63}$",
        description="This port of the device only.",
        examples=["100GE1/0/1"],
    )
    why: Description = Field(
        examples=["the cable is replaced in the next shutdown"],
        description="Why the finding is accepted.",
    )
    until: Day = Field(
        examples=["2027-03-31"], description="Last day on which it holds, YYYY-MM-DD."
    )

    @model_validator(mode="after")
    def _port_of_a_device(self) -> Self:
        """Refuse a port without its device."""
        if self.interface is not None and self.device is None:
            raise ValueError("a waiver names an interface, but no device; add device")
        return self

    @property
    def place_text(self) -> str:
        """Place as text; empty for everywhere."""
        return " ".join(part for part in (self.device, self.interface) if part)

    def covers(self, finding: Finding) -> bool:
        """Whether the waiver covers a finding, by rule and place."""
        return (
            finding.rule == self.rule
            and self.device in (None, finding.where.device)
            and self.interface in (None, finding.where.interface)
        )


class Waived(Frozen):
    """Finding that a waiver covers: it is still true, but does not fail the check."""

    finding: Finding
    why: str
    until: date


class Report(Frozen):
    """Results of all rules on one Network."""

    network: str
    rules: tuple[str, ...]  # ids that ran
    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    waived: tuple[Waived, ...] = ()

    def joined(self, other: Report) -> Self:
        """Append the report of other rules on the same Network."""
        return self.model_copy(
            update={
                "rules": (*self.rules, *other.rules),
                "findings": (*self.findings, *other.findings),
                "not_judged": (*self.not_judged, *other.not_judged),
                "waived": (*self.waived, *other.waived),
            }
        )

    @property
    def failed(self) -> bool:
        """Whether any finding is an error."""
        return any(f.severity is Severity.ERROR for f in self.findings)


def new_findings(report: Report, baseline: Report, severity: Severity) -> tuple[Finding, ...]:
    """Findings of a severity that a baseline does not have with it.

    Two findings are the same if rule, subject and position are equal; numbers may differ.
    """
    old, new = (
        [finding for finding in each.findings if finding.severity is severity]
        for each in (baseline, report)
    )
    identities = set(map(_identity, old))
    return tuple(finding for finding in new if _identity(finding) not in identities)


def _identity(finding: Finding) -> tuple[str, ...]:
    """Identity of a finding; its subject is the part of the message before the first colon."""
    about, _, _ = finding.message.partition(": ")
    where = finding.where
    return finding.rule, where.device or "", where.interface or "", about
