"""Fabric under the tests of a site: read once, with routes, capacity, policy and findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.base.repository import only_fabric
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.load.documents import find_fabric
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.capacity.capacity_results import CapacityReport
from rocefort.validators.checks import check, titles
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing_results import Route, SessionStatus, Trace
from rocefort.validators.rules.verification.answers import verify
from rocefort.verification.capacity import capacity_of, demand_of
from rocefort.verification.rules_in_force import judge_by_site_rules
from rocefort.verification.trace import flow_of, trace_between, trace_report

WIDTH = 96  # columns of a path in a report of pytest
POLICY = "SEC"  # family of rules on answers that judge the policy between segments
WHOLE = "fabric"  # case of findings at no switch
Entry = Finding | NotJudged | Waived


@dataclass(frozen=True)
class Reach:
    """Packets between two ends; true if every path delivers them."""

    trace: Trace

    def __bool__(self) -> bool:
        return self.trace.delivered

    @property
    def text(self) -> str:
        """Every path, hop by hop, with the reason and the line where it ends."""
        return text_of(*trace_report(self.trace), width=WIDTH)

    @property
    def cause(self) -> str:
        """Reason of the first path that does not deliver, with its line; empty: all deliver."""
        lost = next((path for path in self.trace.paths if not path.delivered), None)
        return "" if lost is None else f"{lost.reason} ({lost.where})"

    def __repr__(self) -> str:
        ends = f"{self.trace.source.name} to {self.trace.destination.name}"
        return f"<{ends}: {self.cause or 'delivered'}>"


@dataclass(frozen=True)
class TestedRoutes:
    """BGP sessions and routes, as `rocefort verify` computes them.

    Raises BadInput for an unknown switch, and for what is no prefix.
    """

    solution: Solution = field(repr=False)
    switches: tuple[str, ...] = field(repr=False)

    @property
    def sessions_down(self) -> list[str]:
        """Sessions that do not come up: the switch and its peer."""
        sessions = self.solution.state.sessions
        down = (each for each in sessions if each.status is not SessionStatus.ESTABLISHED)
        return [f"{each.device} to {each.peer}: {each.status}" for each in down]

    def next_hops(self, switch: str, prefix: str) -> tuple[IPv4Address, ...]:
        """Equal next hops of a switch to a prefix; empty: it has no BGP route to it."""
        _require(switch, self.switches)
        try:
            network = IPv4Network(prefix)
        except ValueError as error:
            raise BadInput(f"{prefix!r} is no prefix: {error}", how="write 10.1.0.2/32") from None
        route = self._table.get((switch, network))
        return route.next_hops if route else ()

    def width(self, switch: str, prefix: str) -> int:
        """ECMP width of a switch to a prefix; 0: it has no BGP route to it."""
        return len(self.next_hops(switch, prefix))

    @cached_property
    def _table(self) -> dict[tuple[str, IPv4Network], Route]:
        return {(each.device, each.prefix): each for each in self.solution.state.routes}


@dataclass(frozen=True)
class TestedPolicy:
    """Policy between segments; violations: findings on it, each in one line."""

    intent: SegmentPolicy | None
    violations: list[str]


@dataclass(frozen=True)
class Case:
    """A rule at one switch, or at none; texts: one finding each."""

    rule: str
    place: str
    title: str
    file: str
    line: int | None
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the test case."""
        return f"{self.rule}[{self.place}]"


class TestedFabric:
    """Fabric with what is computed from it, each once; raises RocefortError where it cannot be."""

    __test__ = False

    def __init__(self, path: Path) -> None:
        self.path = find_fabric(path).absolute()
        judge_by_site_rules()
        self._derived: DerivedNetwork = derive(self.path)
        self.subject: ReadNetwork = subject_of_derived(self._derived)

    @property
    def name(self) -> str:
        """Name of the fabric."""
        return self.subject.network.name

    @property
    def fabric(self) -> Fabric:
        """Intent."""
        return self._derived.fabric

    @cached_property
    def solution(self) -> Solution:
        """Results of the embedded engine."""
        return analyse(self.subject.network, self.subject.sources)

    @cached_property
    def routes(self) -> TestedRoutes:
        """Sessions and routes."""
        return TestedRoutes(self.solution, tuple(self.subject.texts))

    @cached_property
    def capacity(self) -> CapacityReport:
        """Demand compared with the fabric."""
        given = demand_of(self.path, None, self.subject.network)
        return capacity_of(self.subject, given, self.solution)

    @cached_property
    def checked(self) -> Report:
        """Findings of all rules on the network, with those of the site."""
        return check(self.subject.network, self.subject.sources)

    @cached_property
    def verified(self) -> Report:
        """Findings on the answers of the engine."""
        state = self.solution.state
        return verify(self.subject.network, state, self.subject.sources, self.solution)

    @cached_property
    def policy(self) -> TestedPolicy:
        """Policy between segments, and its violations."""
        found = (f for f in self.verified.findings if f.rule.startswith(POLICY))
        return TestedPolicy(self.subject.network.policy, [_text(each) for each in found])

    def config(self, switch: str) -> str:
        """Configuration of a switch; raises BadInput for an unknown name."""
        _require(switch, self.subject.texts)
        return self.subject.texts[switch]

    def reach(
        self, a: str, b: str, protocol: str, port: int | None, down: tuple[str, ...]
    ) -> Reach:
        """Packets between two ends; raises BadInput for unknown names."""
        flow = flow_of(protocol, port)
        return Reach(trace_between(self.subject, (a, b), flow, down, self.solution))

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """A case for each rule and switch, and for each rule at no switch."""
        report = self.checked.joined(self.verified)
        switches = [node.name for node in self.subject.network.nodes]
        by_place: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        entries: list[Entry] = [*report.findings, *report.not_judged, *report.waived]
        for each in entries:
            verdict = each.finding if isinstance(each, Waived) else each
            place = verdict.where.device or WHOLE
            by_place[verdict.rule, place if place in switches else WHOLE].append(each)
        named = titles()
        return tuple(
            self._case(rule, place, named.get(rule, rule), by_place.get((rule, place), []))
            for rule in report.rules
            for place in (*switches, WHOLE)
        )

    def _case(self, rule: str, place: str, title: str, entries: list[Entry]) -> Case:
        findings = [each for each in entries if isinstance(each, Finding)]
        errors = [each for each in findings if each.severity is Severity.ERROR]
        places = [each.where for each in (errors or findings)[:1]]
        lines = [where.line - 1 for where in places if where.file and where.line]
        return Case(
            rule=rule,
            place=place,
            title=title,
            file=next((where.file for where in places if where.file), str(self.path)),
            line=next(iter(lines), None),  # pytest counts from 0
            errors=tuple(map(_text, errors)),
            warnings=tuple(_text(each) for each in findings if each not in errors),
            skipped=tuple(_skipped(entries)),
        )


def _require(switch: str, switches: Collection[str]) -> None:
    """Raise BadInput for an unknown switch."""
    if switch not in switches:
        raise BadInput(f"no switch {switch!r}", how=nearest(switch, switches))


def _text(finding: Finding) -> str:
    """A finding in one line: place, message and fix."""
    fix = f"; fix: {finding.hint}" if finding.hint else ""
    place = f"{finding.where}: " if str(finding.where) else ""
    return f"{place}{finding.message}{fix}"


def _skipped(entries: list[Entry]) -> Iterator[str]:
    for each in entries:
        if isinstance(each, NotJudged):
            yield f"not judged: {each.reason}"
        elif isinstance(each, Waived):
            yield f"waived until {each.until}: {each.why}"


def tested_fabric(name: str | None) -> TestedFabric:
    """Return a fabric by name, or the only one of this repository; raises BadInput."""
    return TestedFabric(Path(name) if name else only_fabric())
