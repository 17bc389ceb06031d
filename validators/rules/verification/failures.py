"""What failures cost beyond what cabling says: findings with a device and a line.

Failures with one consequence at one place make one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from rocefort.models.finding import Report, Severity
from rocefort.models.network.network import Network, Sources
from rocefort.models.results.routing import FailureEffect, FailureStudy, PairLoss, WidthLoss
from rocefort.models.wording import count_of
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.rules.facts import Overview
from rocefort.validators.rules.registry import Need, Verdict, registered, rule
from rocefort.validators.rules.verification.subject import MULTIPATH, AnswerSubject, answer_report


@dataclass(frozen=True)
class FailureSubject(AnswerSubject):
    """A study of failures."""

    study: FailureStudy

    given: ClassVar[str] = "a study of failures"


def verify_failures(
    network: Network, study: FailureStudy, sources: Sources | None = None, today: date | None = None
) -> Report:
    """Judge the effects of failures. today: the day that waivers are held against."""
    overview = Overview(network, sources or Sources())
    subjects = [FailureSubject(overview, one, study) for one in registered(FailureSubject)]
    return answer_report(subjects, today)


def _after(effects: list[FailureEffect]) -> str:
    """The failures in words: the first, and how many there are beside it."""
    more = f" (and after {count_of(len(effects) - 1, 'other failure')})" if effects[1:] else ""
    return f"{_words(effects[0])}{more}"


def _words(effect: FailureEffect) -> str:
    return f"after loss of {effect.failure}"


@rule(
    "BGP108",
    judges=FailureSubject,
    severity=Severity.ERROR,
    source="a choice: routing has to use what cabling leaves",
    needs=(Need.ROLE, Need.SERVERS),
)
def lost_pairs(subject: FailureSubject) -> Iterator[Verdict]:
    """No failure loses server pairs that cabling still joins.

    After one failure a leaf loses servers to which a cable still leads. So routing wastes the
    redundancy that was paid for: a session on the way that is left is missing, a policy stops
    the prefix, or an AS number is met twice. The first such failure is named, and how many
    others do the same.

    Example: leaf1 loses 1 pair to compute of leaf2, which cabling still joins: leaf1 has no route
    to 10.2.10.0/24
    Fix: Look at the sessions, policies and AS numbers of the way that is left.
    """
    found: defaultdict[tuple[str, str], list[tuple[FailureEffect, PairLoss]]] = defaultdict(list)
    for effect in subject.study.effects:
        for loss in effect.lost:
            if not loss.expected:
                found[loss.source, loss.reason].append((effect, loss))
    for (source, reason), losses in found.items():
        loss = losses[0][1]
        effects = list(dict.fromkeys(effect for effect, _ in losses))
        message = f"{_after(effects)} {source} loses {count_of(loss.pairs, 'pair')} to "
        message += f"{loss.segment} of {loss.destination}, which cabling still joins: {reason}"
        hint = "look at the sessions, policies and AS numbers of the way that is left"
        yield subject.at(DevicePlace(source, "bgp"), message, hint)


@rule(
    "BGP109",
    judges=FailureSubject,
    severity=Severity.ERROR,
    source=f"{MULTIPATH}; a choice: as many paths as cabling leaves",
    needs=(Need.ROLE,),
)
def fewer_paths(subject: FailureSubject) -> Iterator[Verdict]:
    """After a failure every leaf has all paths that cabling leaves.

    After one failure a leaf should keep every equal path that the cables still give. With fewer,
    the links that are left are crowded more than the failure makes necessary.

    Example: after loss of leaf1 100GE1/0/2 - spine1 100GE1/0/2 leaf2 has 2 of 4 paths left to
    10.1.10.0/24 and 1 more prefix
    Fix: Look for a session that is down, for «equal paths over unlike ASNs» and «equal paths of
    BGP».
    """
    found: defaultdict[str, list[tuple[FailureEffect, WidthLoss]]] = defaultdict(list)
    for effect in subject.study.effects:
        for loss in effect.widths:
            for leaf in loss.leaves if loss.expected is not None else ():
                found[leaf].append((effect, loss))
    for leaf, losses in found.items():
        loss = losses[0][1]
        effects = list(dict.fromkeys(effect for effect, _ in losses))
        paths = f"{loss.now} of {count_of(loss.expected or 0, 'path')}"
        message = f"{_after(effects)} {leaf} has {paths} left to {loss.prefixes[0]}"
        if more := len(loss.prefixes) - 1:
            message += f" and {more} more prefix{'es' if more > 1 else ''}"
        hint = (
            "look for a session that is down, «equal paths over unlike ASNs» and "
            "«equal paths of BGP»"
        )
        yield subject.at(DevicePlace(leaf, "bgp"), message, hint)


@rule(
    "DLK101",
    judges=FailureSubject,
    severity=Severity.ERROR,
    source="Hu et al., HotNets 2016 (deadlocks need a cyclic buffer dependency)",
)
def circles(subject: FailureSubject) -> Iterator[Verdict]:
    """No failure makes buffers wait for each other in a circle.

    After a failure packets may take a way up again after they came down. Then lossless buffers can
    wait for each other in a circle, and PFC stops them all for good. DLK001 asks the same of the
    whole fabric.

    Example: buffers can wait for each other in a circle: leaf3 > spine1 > leaf4 > spine2 > leaf3
    Fix: Let leaves announce only their own prefixes, by an export policy, or let all spines share
    one AS.
    """
    study = subject.study
    if study.circles.startswith("not judged: "):
        yield subject.not_judged(None, study.circles.removeprefix("not judged: "))
    found: defaultdict[str, list[FailureEffect]] = defaultdict(list)
    for effect in study.effects:
        if effect.circle:
            found[effect.circle].append(effect)
    for circle, effects in found.items():
        message = f"{_after(effects)} buffers can wait for each other in a circle: {circle}"
        hint = "let leaves announce only their own prefixes: an export policy"
        yield subject.at(DevicePlace(circle.partition(" ")[0], "bgp"), message, hint)
