"""Subject of rules on servers: the reading of each server, compared with its leaf port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from rocefort.models.finding import Finding, MissingFact, NotJudged, Severity
from rocefort.models.network.servers import (
    HostPlan,
    HostSeen,
    HostsSeen,
    NicSeen,
)
from rocefort.validators.rules.registry import Subject

DSCP2PRIO = "NVIDIA MLNX_OFED documentation, mlnx_qos (trust, dscp2prio, pfc)"
CNPS = "DCQCN, SIGCOMM 2015 (CNPs go in a priority of their own, never paused)"
APPLY = "run rocefort-host --apply there (rocefort host render)"
SILENT = "it could not be read (HST101)"
NO_INTERFACE = "its interface is not known (HST102)"
SETTING = MissingFact(fact="the setting, as the server shows it", run="rocefort host check FABRIC")


@dataclass(frozen=True)
class HostSubject(Subject):
    """Required and reported settings of servers, under one rule."""

    plans: Mapping[str, HostPlan]
    seen: HostsSeen

    given: ClassVar[str] = "a reading of the servers"

    @property
    def queried_servers(self) -> Iterator[tuple[HostPlan, HostSeen]]:
        """Servers that were read, in the order of the fabric."""
        for name, plan in self.plans.items():
            if name in self.seen.by_name:
                yield plan, self.seen.by_name[name]

    @property
    def answering_servers(self) -> Iterator[tuple[HostPlan, HostSeen]]:
        """Servers that answered."""
        return ((plan, host) for plan, host in self.queried_servers if not host.failed)

    @property
    def nics(self) -> Iterator[tuple[HostPlan, HostSeen, NicSeen]]:
        """Physical ports of servers that answered."""
        for plan, host in self.answering_servers:
            for nic in host.nics:
                yield plan, host, nic

    def silent(self) -> Iterator[NotJudged]:
        """Servers that no rule on an interface can judge."""
        for plan, host in self.queried_servers:
            if host.failed:
                yield self.missing_value(plan, SILENT)
            elif not host.interface:
                yield self.missing_value(plan, NO_INTERFACE)

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

    def missing_value(self, plan: HostPlan, reason: str, interface: str | None = None) -> NotJudged:
        """Build a verdict (not judged) on a value that a server does not report."""
        where = self.sources.where(plan.server, "", interface)
        return NotJudged(rule=self.rule.id, where=where, reason=reason, missing=SETTING)
