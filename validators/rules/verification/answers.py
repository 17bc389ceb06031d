"""Subject of rules on answers: of a routing engine, a study of failures, or about a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import ClassVar

from rocefort.base.errors import Refused
from rocefort.dialects.words import in_words
from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.network.network import End, Network, Sources, SwitchRole
from rocefort.models.wording import listing
from rocefort.validators.facts.overview import Overview
from rocefort.validators.facts.roce_ports import ends_of
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import FailureStudy, RoutingChange, RoutingState
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Place, Subject, registered
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
            return () if self.network.role(SwitchRole.SPINE) else (None,)
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


def verify(
    network: Network,
    state: RoutingState,
    sources: Sources | None = None,
    solution: Solution | None = None,
    today: date | None = None,
) -> Report:
    """Judge an engine's answers; findings that a waiver covers are set apart.

    `solution` saves solving again for the causes; without one, and where the embedded engine
    refuses the network, findings have no cause. Widths are not judged where roles are unknown,
    pairs not where servers are unknown; rules on exits and policy do not run where there are none.
    today: the date for waivers (default: today in UTC).
    """
    overview = Overview(network, sources or Sources())
    causes = solution or _solution(network, overview.sources)
    absent = {need for need in (Need.EXITS, Need.POLICY) if not getattr(network, need)}
    chosen = [
        EngineSubject(overview, one, state, causes)
        for one in registered(EngineSubject)
        if absent.isdisjoint(one.needs)
    ]
    report = answer_report(chosen, today)
    if network.servers is not None:
        return report
    return report.joined(verify_segments(network, state, overview.sources, causes))


def verify_segments(
    network: Network, state: RoutingState, sources: Sources, solution: Solution | None
) -> Report:
    """Judge packets between the segments of texts, beside the servers of an intent if any."""
    overview = Overview(network, sources)
    return answer_report(
        GatewaySubject(overview, one, state, solution) for one in registered(GatewaySubject)
    )


def _solution(network: Network, sources: Sources) -> Solution | None:
    try:
        return analyse(network, sources)
    except Refused:
        return None  # another engine answered: its findings have no cause


@dataclass(frozen=True)
class FailureSubject(AnswerSubject):
    """Study of failures, under one rule."""

    study: FailureStudy

    given: ClassVar[str] = "a study of failures"


def verify_failures(
    network: Network, study: FailureStudy, sources: Sources | None = None, today: date | None = None
) -> Report:
    """Judge the effects of failures. today: the date for waivers."""
    overview = Overview(network, sources or Sources())
    subjects = [FailureSubject(overview, one, study) for one in registered(FailureSubject)]
    return answer_report(subjects, today)


@dataclass(frozen=True)
class ChangeSubject(AnswerSubject):
    """Effect of a change on routing; network, solution: of the new version."""

    change: RoutingChange
    solution: Solution | None

    given: ClassVar[str] = f"the answers of a routing engine, {TWO_VERSIONS}"


def verify_change(
    network: Network,
    change: RoutingChange,
    sources: Sources | None = None,
    solution: Solution | None = None,
    today: date | None = None,
) -> Report:
    """Judge a change; network, sources, solution: of the new version."""
    overview = Overview(network, sources or Sources())
    chosen = registered(ChangeSubject)
    return answer_report([ChangeSubject(overview, one, change, solution) for one in chosen], today)


@dataclass(frozen=True)
class RedundancySubject(AnswerSubject):
    """Versions before and after a change, with their studies of failures; network: after."""

    before: Network
    studies: tuple[FailureStudy | None, FailureStudy | None]  # before and after

    given: ClassVar[str] = f"studies of failures, {TWO_VERSIONS}"

    @cached_property
    def uplinks(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """Spine at the far end of each uplink, by leaf: before and after."""
        return _uplinks(self.before), _uplinks(self.network)

    @cached_property
    def removed_spines(self) -> tuple[str, ...]:
        """Cabled spines that the change removes, if it leaves one of several; else none."""
        was, now = (dict.fromkeys(s for up in side.values() for s in up) for side in self.uplinks)
        return tuple(was.keys() - now.keys()) if len(was) > 1 and len(now) == 1 else ()

    @cached_property
    def narrowed(self) -> Mapping[str, str]:
        """Leaves that the change leaves with one uplink, or on one spine, and the message."""
        was, now = self.uplinks
        messages = {}
        for leaf, spines in now.items():
            earlier = was.get(leaf, [])
            if len(set(earlier)) > 1 and len(set(spines)) == 1:
                many = f"its {len(spines)} uplinks" if spines[1:] else "its one uplink"
                less = f"{many} to {spines[0]}, instead of uplinks to {listing(sorted({*earlier}))}"
            elif len(earlier) > 1 and len(spines) == 1:
                less = f"one uplink of {len(earlier)}, to {spines[0]}"
            else:
                continue
            messages[leaf] = f"the change leaves {leaf} {less}: the loss of {spines[0]} cuts it off"
        return {} if self.removed_spines else messages


def verify_redundancy(
    before: Network,
    after: Network,
    studies: tuple[FailureStudy | None, FailureStudy | None],
    sources: Sources | None = None,
    today: date | None = None,
) -> Report:
    """Judge what a change removes; studies, if any: of both versions. today: for waivers."""
    overview = Overview(after, sources or Sources())
    chosen = registered(RedundancySubject)
    return answer_report([RedundancySubject(overview, r, before, studies) for r in chosen], today)


def _uplinks(network: Network) -> Mapping[str, list[str]]:
    spines = {node.name for node in network.role(SwitchRole.SPINE)}
    uplinks: defaultdict[str, list[str]] = defaultdict(list)
    for near, far in (ends for link in network.links or () for ends in ends_of(link)):
        if far.device in spines and near.device not in spines:
            uplinks[near.device].append(far.device)
    return uplinks
