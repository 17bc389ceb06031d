"""Registry of rules: each rule is a documented function with a source that generates findings.

A module of this package registers its rules when it is imported. `registered` imports all modules.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import ClassVar, Protocol, TypeVar, overload

from rocefort.dialects.data import ForeignDesign
from rocefort.dialects.words import in_words
from rocefort.models.finding import Finding, NotJudged, Severity, Where, family_of
from rocefort.models.network.network import (
    End,
    Link,
    LosslessIntent,
    Network,
    Node,
    Server,
    Sources,
)
from rocefort.models.network.observed import StateTopic
from rocefort.validators import rules
from rocefort.validators.facts.overview import ROUTING, LosslessSwitch, Overview, path_at
from rocefort.validators.rules.missing import (
    LOOSE_END,
    MISSING,
    ROLE_BY_DESIGN,
    UNKNOWN,
    Missing,
    Need,
)

FAMILIES = {  # in the order of reports
    "TOP": "topology and cabling",
    "LAG": "bonds of servers",
    "ADR": "addresses, AS numbers and names",
    "BGP": "routing",
    "PFC": "priority flow control",
    "ECN": "congestion marks",
    "BUF": "headroom and buffer",
    "QOS": "priorities and scheduling",
    "DLK": "deadlock",
    "SEC": "management access",
    "HST": "servers",
    "TXT": "the text itself",
    "CHG": "what a change does",
    "RUL": "the rules of the site",
    "LIV": "the state of the switches",
}
OF_SITE = "rules of the site"  # family of every prefix below
# Prefix of a site: longer than an area of Rocefort, so that no later area has the same letters.
SITE_ID = re.compile(r"[A-Z]{4,8}[0-9]{3}")

Verdict = Finding | NotJudged
Place = Node | End | None  # a device, a port of one, or the whole network


SECTION = re.compile(r"^(Example|Fix): ", re.MULTILINE)


class SubjectKind(Protocol):
    """Kind of subject; given: its data beside the network, in words."""

    given: ClassVar[str]
    waivable: ClassVar[bool]


@dataclass(frozen=True, slots=True)
class RuleTopics:
    """Topics that a live rule reads from a switch; twice: it needs an earlier reading, too."""

    topics: tuple[StateTopic, ...] = ()
    twice: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule with its documentation for `rocefort rules` and `rocefort explain ID`.

    The texts have terms in «», which become commands. A missing need stops the rule, or excludes
    the switch that lacks it. A missing want excludes a part of the rule. In both cases the rule
    reports *not judged*.
    """

    id: str
    title: str
    explanation: str
    example: str  # a message of its findings
    fix: str
    severity: Severity
    source: str
    needs: tuple[Need, ...]
    wants: tuple[Need, ...]
    judge: Callable[..., Iterator[Verdict]]  # of a subject of the kind that it judges
    judges: type[SubjectKind]
    reads: RuleTopics
    file: str  # its module, from the top of the repository of Rocefort or of the site

    @property
    def family(self) -> str:
        """Subject area of the rule, or the prefix of its site: the letters of its id."""
        return family_of(self.id)

    @property
    def area(self) -> str:
        """Subject area in words."""
        return FAMILIES.get(self.family, OF_SITE)

    @property
    def of_site(self) -> bool:
        """Whether it is a rule of a site: its code runs in a process of its own."""
        return self.family not in FAMILIES


@dataclass(frozen=True, slots=True)
class Subject:
    """Network under one rule, with methods that build verdicts.

    Rules that need other data beside the network have a subject of a derived class; `given` names
    these data in words.
    """

    overview: Overview
    rule: Rule

    given: ClassVar[str] = ""
    waivable: ClassVar[bool] = True

    def verdicts(self) -> Iterator[Verdict]:
        """Verdicts on missing information first, then those of the rule."""
        rule = self.rule
        missing = {need: self.lacking(need) for need in (*rule.needs, *rule.wants)}
        for need, places in missing.items():
            for place in places:
                design = self._routing_of(place) if need is Need.ROLE else None
                reason = self.unknown(need, place)
                if design is None:
                    yield self.not_judged(place, reason, MISSING[need])
                else:
                    reason = f"{reason}: {design} is not modelled"
                    yield self.not_judged(place, reason, ROLE_BY_DESIGN)
        if not any(None in missing[need] for need in rule.needs):
            yield from rule.judge(self)

    def lacking(self, need: Need) -> tuple[Place, ...]:
        """Positions without a need: a switch, a port, or None for the whole network."""
        return self.overview.lacking(need)

    def _routing_of(self, place: Place) -> ForeignDesign | None:
        """Another routing protocol than BGP in the text of a switch."""
        return self.overview.design_of(place, *ROUTING) if isinstance(place, Node) else None

    def unknown(self, need: Need, place: Place) -> str:
        """Reason why a need is not met at a place."""
        if isinstance(place, End):
            return LOOSE_END
        if need is Need.CABLING and self.network.links is None:
            return UNKNOWN[Need.LINKS]
        return UNKNOWN[need]

    @property
    def network(self) -> Network:
        """Network that the rule judges."""
        return self.overview.network

    @property
    def sources(self) -> Sources:
        """Origins of the network's values: files and lines."""
        return self.overview.sources

    @property
    def links(self) -> tuple[Link, ...]:
        """Known links; none where the cabling is not known."""
        return self.network.links or ()

    @property
    def servers(self) -> tuple[Server, ...]:
        """Known servers; none where they are not known."""
        return self.network.servers or ()

    def lossless_of(self, switch: str) -> LosslessIntent:
        """The intent on a switch, for a rule that needs it."""
        intent = self.network.lossless_of(switch)
        if intent is None:
            raise TypeError(f"rule {self.rule.id} uses the lossless intent without needing it")
        return intent

    @property
    def switches(self) -> tuple[LosslessSwitch, ...]:
        """All switches with their ports that RoCE passes, in the network's order."""
        return self.overview.switches

    def finding(
        self,
        place: Place,
        message: str,
        hint: str,
        *,
        path: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """Build a violation at a place; `path` leads from there to the faulty field.

        Terms in message and hint, `«BFD»`, become commands of the switch at the place.
        """
        node = self._node(place)
        return Finding(
            rule=self.rule.id,
            severity=severity or self.rule.severity,
            where=self.where(place, path),
            message=in_words(message, node),
            hint=in_words(hint, node),
        )

    def not_judged(
        self, place: Place, reason: str, missing: Missing, *, path: str = ""
    ) -> NotJudged:
        """Build a verdict (not judged) at a place; missing: the fact that settles it.

        Equal reasons form a group in reports, so that a reason names no device.
        """
        node = self._node(place)
        return NotJudged(
            rule=self.rule.id,
            where=self.where(place, path),
            reason=in_words(reason, node),
            missing=missing.of_switch(node, from_text=self.network.origin == "text"),
            shared_cause=missing.cause,
        )

    def _node(self, place: Place) -> Node | None:
        """The switch at a place."""
        return self.network.by_name.get(place.device) if isinstance(place, End) else place

    def where(self, place: Place, path: str = "") -> Where:
        """Device, interface, file and line of a place."""
        device, interface = "", None
        if isinstance(place, End):
            device, interface = place.device, place.interface
            path = path_at(place, path)
        elif place is not None:
            device = place.name
        return self.overview.where(device, path, interface)


S = TypeVar("S", bound=SubjectKind)
V = TypeVar("V", bound=Verdict)
Judge = Callable[[S], Iterator[V]]
_registered: dict[str, Rule] = {}
_in_force: list[Rule] = []  # rules of the site, as long as a command judges by them


@overload
def rule(
    rule_id: str,
    *,
    severity: Severity,
    source: str,
    needs: tuple[Need, ...] = (),
    wants: tuple[Need, ...] = (),
) -> Callable[[Judge[Subject, V]], Judge[Subject, V]]: ...


@overload
def rule(
    rule_id: str,
    *,
    judges: type[S],
    severity: Severity,
    source: str,
    needs: tuple[Need, ...] = (),
    reads: RuleTopics = RuleTopics(),
) -> Callable[[Judge[S, V]], Judge[S, V]]: ...


def rule(  # noqa: PLR0913 - fields of a rule
    rule_id: str,
    *,
    judges: type[SubjectKind] = Subject,
    severity: Severity,
    source: str,
    needs: tuple[Need, ...] = (),
    wants: tuple[Need, ...] = (),
    reads: RuleTopics = RuleTopics(),
) -> Callable[[Judge[S, V]], Judge[S, V]]:
    """Register a rule; TypeError when it has no docstring or source, or its id is taken.

    The id is an area of Rocefort with a number, or the prefix of a site with one: `HEPS001`.

    judges: class of the subject that its function gets; by default a network alone.
    """

    def register(judge: Judge[S, V]) -> Judge[S, V]:
        title, explanation, sections = sections_of(inspect.getdoc(judge) or "")
        if not title or not source.strip():
            raise TypeError(f"rule {rule_id} has no docstring or no source")
        known = family_of(rule_id) in FAMILIES or SITE_ID.fullmatch(rule_id)
        if rule_id in _registered or not known:
            raise TypeError(f"rule id {rule_id} is taken, or of no known family")
        _registered[rule_id] = Rule(
            id=rule_id,
            title=title,
            explanation=explanation,
            example=sections.get("Example", ""),
            fix=sections.get("Fix", ""),
            severity=severity,
            source=source,
            needs=needs,
            wants=wants,
            judge=judge,
            judges=judges,
            reads=reads,
            file=f"{judge.__module__.removeprefix('rocefort.').replace('.', '/')}.py",
        )
        return judge

    return register


def sections_of(docstring: str) -> tuple[str, str, Mapping[str, str]]:
    """Title, explanation and the sections `Example:` and `Fix:` of a rule's docstring."""
    text, *parts = SECTION.split(docstring)
    title, _, explanation = text.partition("\n")
    sections = dict(zip(parts[::2], (" ".join(part.split()) for part in parts[1::2]), strict=True))
    return title.rstrip("."), explanation.strip(), sections


def registered(*judges: type[SubjectKind]) -> tuple[Rule, ...]:
    """Rules that judge one of these classes of subject, by default all, by family and number.

    Those of the site that are in force come last.
    """
    _import_modules()
    families = list(FAMILIES)
    shipped = (one for one in _registered.values() if not one.of_site)
    ordered = sorted(shipped, key=lambda one: (families.index(one.family), one.id))
    return tuple(one for one in (*ordered, *_in_force) if not judges or one.judges in judges)


def put_in_force(rules_of_site: Iterable[Rule]) -> None:
    """Judge by these rules of a site, in the order of their ids, instead of the former ones."""
    _in_force[:] = sorted(rules_of_site, key=lambda one: one.id)


def decorated() -> Mapping[str, Rule]:
    """Rules that modules have registered in this process so far, by id."""
    return _registered


@cache
def _import_modules() -> None:
    for module in walk_packages(rules.__path__, f"{rules.__name__}."):
        import_module(module.name)
