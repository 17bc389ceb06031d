"""What failures cost beyond what cabling says: findings with a device and a line.

BGP108  one failure loses server pairs that cabling still joins
BGP109  after one failure a leaf has fewer equal-cost paths than cabling leaves
DLK101  after one failure buffers can wait for each other in a circle

Failures with one consequence at one place make one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from rocefort.dialects.words import in_words
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.models.network import Network, Role, Sources
from rocefort.models.routing import Effect, FailureStudy, PairLoss, WidthLoss
from rocefort.models.wording import counted
from rocefort.validators.waivers import sort_out

LOSS, NARROW, CIRCLE = "BGP108", "BGP109", "DLK101"
FAILURE_TITLES = {
    LOSS: "No failure loses server pairs that cabling still joins",
    NARROW: "After a failure every leaf has all paths that cabling leaves",
    CIRCLE: "No failure makes buffers wait for each other in a circle",
}


def verify_failures(
    network: Network, study: FailureStudy, sources: Sources | None = None, today: date | None = None
) -> Report:
    """Judge the effects of failures. today: the day that waivers are held against."""
    known = sources or Sources()
    report = Report(
        network=network.name,
        rules=tuple(FAILURE_TITLES),
        findings=(
            *(_lost(study, known) if network.role(Role.SPINE) else ()),
            *_narrow(study, known),
            *_circles(study, known),
        ),
        not_judged=tuple(_not_judged(network, study)),
    )
    return sort_out(report, network, known, today)


def _after(effects: list[Effect]) -> str:
    """The failures in words: the first, and how many there are beside it."""
    more = f" (and after {counted(len(effects) - 1, 'other failure')})" if effects[1:] else ""
    return f"{_words(effects[0])}{more}"


def _words(effect: Effect) -> str:
    return f"after loss of {effect.failure}"


def _lost(study: FailureStudy, sources: Sources) -> Iterator[Finding]:
    """By leaf and destination, what is lost though a spine still joins them."""
    found: defaultdict[tuple[str, str], list[tuple[Effect, PairLoss]]] = defaultdict(list)
    for effect in study.effects:
        for loss in effect.lost:
            if not loss.expected:
                found[loss.source, loss.reason].append((effect, loss))
    for (source, reason), losses in found.items():
        loss = losses[0][1]
        effects = list(dict.fromkeys(effect for effect, _ in losses))
        message = f"{_after(effects)} {source} loses {counted(loss.pairs, 'pair')} to "
        message += f"{loss.segment} of {loss.destination}, which cabling still joins: {reason}"
        hint = "look at the sessions, policies and AS numbers of the way that is left"
        yield _error(LOSS, source, sources, message, hint)


def _narrow(study: FailureStudy, sources: Sources) -> Iterator[Finding]:
    """By leaf, widths below what cabling leaves."""
    found: defaultdict[str, list[tuple[Effect, WidthLoss]]] = defaultdict(list)
    for effect in study.effects:
        for loss in effect.widths:
            for leaf in loss.leaves if loss.expected is not None else ():
                found[leaf].append((effect, loss))
    for leaf, losses in found.items():
        loss = losses[0][1]
        effects = list(dict.fromkeys(effect for effect, _ in losses))
        paths = f"{loss.now} of {counted(loss.expected or 0, 'path')}"
        message = f"{_after(effects)} {leaf} has {paths} left to {loss.prefixes[0]}"
        if more := len(loss.prefixes) - 1:
            message += f" and {more} more prefix{'es' if more > 1 else ''}"
        hint = (
            "look for a session that is down, «equal paths over unlike ASNs» and "
            "«equal paths of BGP»"
        )
        yield _error(NARROW, leaf, sources, message, hint)


def _circles(study: FailureStudy, sources: Sources) -> Iterator[Finding]:
    found: defaultdict[str, list[Effect]] = defaultdict(list)
    for effect in study.effects:
        if effect.circle:
            found[effect.circle].append(effect)
    for circle, effects in found.items():
        message = f"{_after(effects)} buffers can wait for each other in a circle: {circle}"
        hint = "let leaves announce only their own prefixes: an export policy"
        yield _error(CIRCLE, circle.partition(" ")[0], sources, message, hint)


def _error(rule: str, device: str, sources: Sources, message: str, hint: str) -> Finding:
    where, hint = sources.where(device, "bgp"), in_words(hint)
    return Finding(rule=rule, severity=Severity.ERROR, where=where, message=message, hint=hint)


def _not_judged(network: Network, study: FailureStudy) -> Iterator[NotJudged]:
    if not network.role(Role.SPINE):  # so nobody knows what cabling leaves
        reason = "which switches are spines and leaves is not known"
        yield from (NotJudged(rule=rule, where=Where(), reason=reason) for rule in (LOSS, NARROW))
    if study.circles.startswith("not judged: "):
        reason = study.circles.removeprefix("not judged: ")
        yield NotJudged(rule=CIRCLE, where=Where(), reason=reason)
