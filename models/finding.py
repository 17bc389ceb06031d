"""Finding: what a rule says about a Network, and where."""

from __future__ import annotations

from enum import StrEnum

from rocefort.models.base import Frozen


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


class Report(Frozen):
    """What all rules said about one Network."""

    network: str
    rules: tuple[str, ...]  # ids that ran
    findings: tuple[Finding, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any finding is an error."""
        return any(f.severity is Severity.ERROR for f in self.findings)
