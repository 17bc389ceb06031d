"""What a rule is: a documented, sourced generator of findings, kept in one registry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rocefort.dialects.words import in_words
from rocefort.models.finding import Finding, NotJudged, Severity, Where
from rocefort.models.hardware import Family
from rocefort.models.network import End, Link, LosslessIntent, Network, Node, Server, Sources
from rocefort.validators.overview import Overview, Switch, path_at

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
}

Verdict = Finding | NotJudged
Place = Node | End | None  # a device, a port of one, or the whole network


class Need(StrEnum):
    """Knowledge that configuration text alone does not give."""

    LINKS = "links"  # inferred ones will do
    CABLING = "cabling"  # only as somebody laid it down: text shows cables where it is right
    SERVERS = "servers"
    LOSSLESS = "lossless"
    ROLE = "role"
    HARDWARE = "hardware"
    FAMILY = "family"
    RESERVED = "reserved"
    OVERSUBSCRIPTION = "oversubscription"
    MEDIA = "media"
    NICS = "nics"
    SEGMENTS = "segments"


UNKNOWN = {
    Need.CABLING: "the cables are only inferred from addresses, which is no ground to judge them",
    Need.LINKS: "the cabling is not known, so nothing that lies between two ports can be judged",
    Need.SERVERS: "the servers are not known, so their ports cannot be judged",
    Need.LOSSLESS: "what the fabric is meant to do with RoCE is not known "
    "(queue, DSCP, timers, frame size)",
    Need.ROLE: "whether this switch is a spine or a leaf is not known",
    Need.HARDWARE: "the hardware model is not known",
    Need.FAMILY: "the syntax family is not known, so its ranges are not either",
    Need.RESERVED: "how far the fabric may grow is not known",
    Need.OVERSUBSCRIPTION: "no policy says how much oversubscription is allowed "
    "(policy.oversubscription)",
    Need.MEDIA: "no cable tells its medium (cables.fabric.medium, cables.server.medium)",
    Need.NICS: "no server tells how its NIC is set (servers.nic)",
    Need.SEGMENTS: "the segments are not known, so no server's gateway is",
}
LOOSE_END = "the addresses do not tell what is at the port's other end"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with what `rocefort rules` and `rocefort explain ID` show, terms in brackets.

    A missing need stops the rule or, where it belongs to one switch, leaves that switch out; a
    missing want leaves a part of the rule out. Either way the rule says *not judged*.
    """

    id: str
    title: str
    explanation: str
    severity: Severity
    source: str
    needs: tuple[Need, ...]
    wants: tuple[Need, ...]
    judge: Callable[..., Iterator[Verdict]]  # of a Subject, or of the kind that its registry has

    @property
    def family(self) -> str:
        """The area that it belongs to, by the first three letters of its id."""
        return self.id[:3]

    def run(self, overview: Overview) -> Iterator[Verdict]:
        """Judge a network: first what is not known, then what is."""
        yield from self.judged(Subject(overview, self))

    def judged(self, subject: Subject) -> Iterator[Verdict]:
        """What is not known of a subject, then what its function says of the rest."""
        missing = {need: subject.overview.lacking(need) for need in (*self.needs, *self.wants)}
        for need, places in missing.items():
            for place in places:
                yield subject.not_judged(place, _unknown(subject.network, need, place))
        if not any(None in missing[need] for need in self.needs):
            yield from self.judge(subject)


def _unknown(network: Network, need: Need, place: Place) -> str:
    if isinstance(place, End):
        return LOOSE_END
    if need is Need.CABLING and network.links is None:
        return UNKNOWN[Need.LINKS]
    return UNKNOWN[need]


@dataclass(frozen=True, slots=True)
class Subject:
    """A network under one rule, with the helpers that word its verdicts."""

    overview: Overview
    rule: Rule

    @property
    def network(self) -> Network:
        """What is judged."""
        return self.overview.network

    @property
    def sources(self) -> Sources:
        """Where its values come from."""
        return self.overview.sources

    @property
    def links(self) -> tuple[Link, ...]:
        """Known links; none where the cabling is not known."""
        return self.network.links or ()

    @property
    def servers(self) -> tuple[Server, ...]:
        """Known servers; none where they are not known."""
        return self.network.servers or ()

    @property
    def lossless(self) -> LosslessIntent:
        """The intent of a rule that needs it."""
        if self.network.lossless is None:
            raise TypeError(f"rule {self.rule.id} uses the lossless intent without needing it")
        return self.network.lossless

    @property
    def switches(self) -> tuple[Switch, ...]:
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
        """Build a violation at a place; `path` leads on from there to the field at fault.

        Terms in message and hint, `«BFD»`, become commands of the switch at the place.
        """
        family = self._family(place)
        return Finding(
            rule=self.rule.id,
            severity=severity or self.rule.severity,
            where=self.where(place, path),
            message=in_words(message, family),
            hint=in_words(hint, family),
        )

    def not_judged(self, place: Place, reason: str, *, path: str = "") -> NotJudged:
        """Say what could not be decided at a place; no device in the reason, so that it groups."""
        reason = in_words(reason, self._family(place))
        return NotJudged(rule=self.rule.id, where=self.where(place, path), reason=reason)

    def _family(self, place: Place) -> Family | None:
        """The syntax family of the switch at a place."""
        node = self.network.by_name.get(place.device) if isinstance(place, End) else place
        return node.family if node else None

    def where(self, place: Place, path: str = "") -> Where:
        """Device, interface, file and line of a place."""
        device, interface = "", None
        if isinstance(place, End):
            device, interface = place.device, place.interface
            path = path_at(place, path)
        elif place is not None:
            device = place.name
        return self.overview.where(device, path, interface)


REGISTRY: dict[str, Rule] = {}


def rule(
    rule_id: str,
    *,
    severity: Severity,
    source: str,
    needs: tuple[Need, ...] = (),
    wants: tuple[Need, ...] = (),
) -> Callable[[Callable[[Subject], Iterator[Verdict]]], Callable[[Subject], Iterator[Verdict]]]:
    """Register a rule; TypeError when it has no docstring or source, or its id is taken."""

    def register(
        judge: Callable[[Subject], Iterator[Verdict]],
    ) -> Callable[[Subject], Iterator[Verdict]]:
        title, explanation = words_of(judge, rule_id, source, REGISTRY, FAMILIES)
        REGISTRY[rule_id] = Rule(
            id=rule_id,
            title=title,
            explanation=explanation,
            severity=severity,
            source=source,
            needs=needs,
            wants=wants,
            judge=judge,
        )
        return judge

    return register


def words_of(
    judge: Callable[..., Iterator[Verdict]],
    rule_id: str,
    source: str,
    taken: Container[str],
    families: Container[str],
) -> tuple[str, str]:
    """Title and explanation of a rule by its docstring; TypeError when it may not be registered."""
    title, _, explanation = (inspect.getdoc(judge) or "").partition("\n")
    if not title or not source.strip():
        raise TypeError(f"rule {rule_id} has no docstring or no source")
    if rule_id in taken or rule_id[:3] not in families:
        raise TypeError(f"rule id {rule_id} is taken, or of no known family")
    return title.rstrip("."), explanation.strip()


def ordered() -> tuple[Rule, ...]:
    """All registered rules, by family and number."""
    families = list(FAMILIES)
    return tuple(sorted(REGISTRY.values(), key=lambda r: (families.index(r.family), r.id)))
