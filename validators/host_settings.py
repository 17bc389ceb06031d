"""Rules on what the servers say of themselves: the third registry, each against its leaf port."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rocefort.models.finding import Finding, NotJudged, Severity
from rocefort.models.host import HostPlan, HostSeen, HostsSeen, NicSeen
from rocefort.validators.rules import FAMILIES, REGISTRY, Rule, Subject, Verdict, words_of

SILENT = "it could not be read (HST101)"
NO_INTERFACE = "its interface is not known (HST102)"


@dataclass(frozen=True)
class HostRule(Rule):
    """A rule on a reading of servers."""


@dataclass(frozen=True)
class HostSubject(Subject):
    """What servers must have, and what they say, under one rule."""

    plans: Mapping[str, HostPlan]
    seen: HostsSeen

    @property
    def asked(self) -> Iterator[tuple[HostPlan, HostSeen]]:
        """Servers that were asked, in the order of the fabric."""
        for name, plan in self.plans.items():
            if name in self.seen.by_name:
                yield plan, self.seen.by_name[name]

    @property
    def told(self) -> Iterator[tuple[HostPlan, HostSeen]]:
        """Servers that answered."""
        return ((plan, host) for plan, host in self.asked if not host.failed)

    @property
    def nics(self) -> Iterator[tuple[HostPlan, HostSeen, NicSeen]]:
        """Physical ports of servers that answered."""
        for plan, host in self.told:
            for nic in host.nics:
                yield plan, host, nic

    def silent(self) -> Iterator[NotJudged]:
        """Servers that no rule on an interface can judge."""
        for plan, host in self.asked:
            if host.failed:
                yield self.unsaid(plan, SILENT)
            elif not host.interface:
                yield self.unsaid(plan, NO_INTERFACE)

    def wrong(
        self,
        plan: HostPlan,
        message: str,
        hint: str,
        *,
        interface: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """Build a violation of a server, or of an interface of it."""
        return Finding(
            rule=self.rule.id,
            severity=severity or self.rule.severity,
            where=self.sources.where(plan.server, "", interface),
            message=message,
            hint=hint,
        )

    def unsaid(self, plan: HostPlan, reason: str, interface: str | None = None) -> NotJudged:
        """Say what a server does not tell."""
        where = self.sources.where(plan.server, "", interface)
        return NotJudged(rule=self.rule.id, where=where, reason=reason)


HOST_REGISTRY: dict[str, HostRule] = {}
Judge = TypeVar("Judge", bound=Callable[[HostSubject], Iterator[Verdict]])


def host_rule(rule_id: str, *, severity: Severity, source: str) -> Callable[[Judge], Judge]:
    """Register a rule on a reading of servers, as `rule` does one on a network."""

    def register(judge: Judge) -> Judge:
        taken = {*REGISTRY, *HOST_REGISTRY}
        title, explanation = words_of(judge, rule_id, source, taken, FAMILIES)
        HOST_REGISTRY[rule_id] = HostRule(
            id=rule_id,
            title=title,
            explanation=explanation,
            severity=severity,
            source=source,
            needs=(),
            wants=(),
            judge=judge,
        )
        return judge

    return register
