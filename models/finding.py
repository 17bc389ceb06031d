"""Finding: what a rule says about a Network, and where."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rocefort.models.base import Description, Frozen, Name


class Severity(StrEnum):
    """An error stops a rollout; a warning asks for a decision; info tells."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Where(Frozen):
    """A place: device, interface, and the line of YAML or of configuration text."""

    device: str | None = None
    interface: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = " ".join(part for part in (self.device, self.interface) if part)
        source = f"{self.file}:{self.line}" if self.file else ""
        return f"{place} ({source})" if place and source else place or source


class Finding(Frozen):
    """One violation: what is wrong, where, and how to mend it."""

    rule: str
    severity: Severity
    where: Where
    message: str
    hint: str = ""


class NotJudged(Frozen):
    """What a rule could not decide, and why: never the same as passed."""

    rule: str
    where: Where
    reason: str


def check_day(value: object) -> date:
    """Accept a day as it is written: YYYY-MM-DD, no other form, no time of day."""
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
    """Findings of one rule at one place that somebody answers for until a day."""

    rule: Name = Field(description="Id of the rule.", examples=["BUF002"])
    device: Name | None = Field(default=None, description="This switch only; none: everywhere.")
    interface: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9/:.-]{1,63}$",
        description="This port of the device only.",
        examples=["100GE1/0/1"],
    )
    why: Description = Field(description="Why the finding is accepted.")
    until: Day = Field(description="Last day on which it holds, YYYY-MM-DD.")

    @model_validator(mode="after")
    def _port_of_a_device(self) -> Self:
        """A port alone names no place."""
        if self.interface is not None and self.device is None:
            raise ValueError("a waiver names an interface, but no device; add device")
        return self

    @property
    def place(self) -> str:
        """The place in words, empty for everywhere."""
        return " ".join(part for part in (self.device, self.interface) if part)

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is of its rule and at its place."""
        return (
            finding.rule == self.rule
            and self.device in (None, finding.where.device)
            and self.interface in (None, finding.where.interface)
        )


class Waived(Frozen):
    """A finding that a waiver covers: it is still true, but does not fail the check."""

    finding: Finding
    why: str
    until: date


class Report(Frozen):
    """What all rules said about one Network."""

    network: str
    rules: tuple[str, ...]  # ids that ran
    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    waived: tuple[Waived, ...] = ()

    def joined(self, other: Report) -> Self:
        """This report with what other rules said about the same Network after it."""
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
