"""Subject of rules on answers: of a routing engine, a study of failures, or about a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import ClassVar

from rocefort.dialects.words import in_words
from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.network.network import End, Role
from rocefort.models.results.routing import RoutingState
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Place, Subject
from rocefort.validators.rules.waivers import sort_out

BGP = "RFC 4271, 8 (when a session is established)"
MULTIPATH = "RFC 7938, 6.1 (ECMP of a Clos)"
TWO_VERSIONS = "two versions of the fabric"
UNKNOWN = {
    Need.ROLE: "which switches are spines and leaves is not known",
    Need.SERVERS: "the servers are not known",
}


@dataclass(frozen=True)
class AnswerSubject(Subject):
    """Network and an answer about it, under one rule."""

    def lacking(self, need: Need) -> tuple[Place, ...]:
        """Positions without a need; roles are known where the network has a spine."""
        if need is Need.ROLE:
            return () if self.network.role(Role.SPINE) else (None,)
        return self.overview.lacking(need)

    def unknown(self, need: Need, place: Place) -> str:
        """Reason why no answer can be judged."""
        return UNKNOWN.get(need) or super().unknown(need, place)

    def at(
        self, place: DevicePlace, message: str, hint: str = "", severity: Severity | None = None
    ) -> Finding:
        """Build a violation at an engine's position, with the commands of that switch."""
        node = self.network.by_name.get(place.device)
        return Finding(
            rule=self.rule.id,
            severity=severity or self.rule.severity,
            where=self.sources.where(place.device, place.path, place.interface),
            message=in_words(message, node),
            hint=in_words(hint, node),
        )

    def port_of(self, server: str) -> DevicePlace:
        """Leaf port of a server."""
        port = self._ports[server]
        return DevicePlace(port.device, f"interfaces[{port.interface}]", port.interface)

    @cached_property
    def _ports(self) -> Mapping[str, End]:
        return {server.name: server.port for server in self.network.servers or ()}


@dataclass(frozen=True)
class EngineSubject(AnswerSubject):
    """Answers of a routing engine; solution: of the embedded engine, for causes."""

    state: RoutingState
    solution: Solution | None

    given: ClassVar[str] = "the answers of a routing engine"


@dataclass(frozen=True)
class GatewaySubject(EngineSubject):
    """Answers of a routing engine on texts of switches, whose servers the texts do not contain."""

    given: ClassVar[str] = "the answers of a routing engine on texts of switches"


def answer_report(subjects: Iterable[AnswerSubject], today: date | None = None) -> Report:
    """Verdicts on subjects of one network, one for each rule, in the order of the rules.

    Findings that a waiver covers are set apart. today: the date for waivers.
    """
    results = [(subject, tuple(subject.verdicts())) for subject in subjects]
    network, sources = results[0][0].network, results[0][0].sources
    verdicts = [verdict for _, some in results for verdict in some]
    report = Report(
        network=network.name,
        rules=tuple(subject.rule.id for subject, _ in results),
        findings=tuple(v for v in verdicts if isinstance(v, Finding)),
        not_judged=tuple(v for v in verdicts if isinstance(v, NotJudged)),
    )
    return sort_out(report, network, sources, today)
