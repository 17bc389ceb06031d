"""Rules on failures: losses of routing that the remaining cabling would avoid.

Failures with one consequence at one device make one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.network.network import SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.validators.facts.roce_ports import lossless_queues, queue_words
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import FailureEffect, PairLoss, WidthLoss
from rocefort.validators.rules.missing import QUEUE, Missing, Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.answers import MULTIPATH, FailureSubject

NO_CYCLE = Missing(
    "the buffers' dependencies without that cycle, by the embedded engine",
    run="rocefort verify FABRIC --engine embedded",
)


def _after(effects: list[FailureEffect]) -> str:
    """Failures in words: the first, and the number of others."""
    more = f" (and after {count_of(len(effects) - 1, 'other failure')})" if effects[1:] else ""
    return f"{_words(effects[0])}{more}"


def _words(effect: FailureEffect) -> str:
    return f"after loss of {effect.failure}"


@rule(
    "TOP102",
    judges=FailureSubject,
    severity=Severity.WARNING,
    source="a choice: a fabric survives the loss of any one cable or spine",
    needs=(Need.ROLE,),
)
def last_connection(subject: FailureSubject) -> Iterator[Verdict]:
    """No single failure cuts a leaf off by cabling.

    A fabric with one spine, or a leaf with cables to one spine, has no redundancy. The loss of that
    spine, or its maintenance, separates the leaf's servers from all others. BGP108 reports leaves
    that cables still connect, and a failed leaf cuts off nothing but its own servers.

    Example: the loss of spine1 cuts off leaf1, leaf2 and leaf3, and no other cable leads there
    Fix: Cable every leaf to two spines, or accept the risk with a waiver.
    """
    leaves = {node.name for node in subject.network.role(SwitchRole.LEAF)}
    single = [e for e in subject.study.effects if len(e.failure.links) + len(e.failure.nodes) == 1]
    reported: set[str] = set()
    for effect in sorted(single, key=lambda e: not e.failure.nodes):  # switches first
        connected = {loss.source for loss in effect.lost if not loss.expected}
        cut_off = [leaf for leaf in effect.cut_off if leaf not in reported | connected]
        if cut_off and leaves.isdisjoint(effect.failure.nodes):
            reported.update(cut_off)
            more = [f"{len(cut_off) - 3} more"] if len(cut_off) > 3 else []
            yield subject.at(
                DevicePlace((*effect.failure.nodes, *cut_off)[0], ""),
                f"the loss of {effect.failure} cuts off {listing([*cut_off[:3], *more])}, "
                "and no other cable leads there",
                "cable every leaf to two spines, or accept the risk with a waiver",
            )


@rule(
    "BGP108",
    judges=FailureSubject,
    severity=Severity.ERROR,
    source="a choice: routing must use all remaining cables",
    needs=(Need.ROLE, Need.SERVERS),
)
def lost_pairs(subject: FailureSubject) -> Iterator[Verdict]:
    """No failure interrupts server pairs that cabling still connects.

    After one failure a leaf loses servers to which cables still lead: routing does not use the
    redundancy of the cabling. On the remaining path a session is missing, a policy denies the
    prefix, or an AS number is there twice. The finding names the first such failure, and the number
    of others with the same consequence.

    Example: leaf1 loses 1 pair to compute of leaf2, which cabling still connects: leaf1 has no
    route to 10.2.10.0/24
    Fix: Check the sessions, policies and AS numbers of the remaining path.
    """
    by_cause: defaultdict[tuple[str, str], list[tuple[FailureEffect, PairLoss]]] = defaultdict(list)
    for effect in subject.study.effects:
        for loss in effect.lost:
            if not loss.expected:
                by_cause[loss.source, loss.reason].append((effect, loss))
    for (source, reason), losses in by_cause.items():
        loss = losses[0][1]
        effects = list(dict.fromkeys(effect for effect, _ in losses))
        message = f"{_after(effects)} {source} loses {count_of(loss.pairs, 'pair')} to "
        message += f"{loss.segment} of {loss.destination}, which cabling still connects: {reason}"
        hint = "check the sessions, policies and AS numbers of the remaining path"
        yield subject.at(DevicePlace(source, "bgp"), message, hint)


@rule(
    "BGP109",
    judges=FailureSubject,
    severity=Severity.ERROR,
    source=f"{MULTIPATH}; a choice: as many paths as the remaining cabling has",
    needs=(Need.ROLE,),
)
def fewer_paths(subject: FailureSubject) -> Iterator[Verdict]:
    """After a failure every leaf has all paths of the remaining cabling.

    After one failure a leaf should keep every equal path of the remaining cables. With fewer paths,
    the remaining links carry more load than the failure alone requires.

    Example: after loss of leaf1 100GE1/0/2 - spine1 100GE1/0/2 leaf2 has 2 of 4 paths left to
    10.1.10.0/24 and 1 more prefix
    Fix: Check for sessions that are down, «equal paths over unlike ASNs» and «equal paths of BGP».
    """
    by_leaf: defaultdict[str, list[tuple[FailureEffect, WidthLoss]]] = defaultdict(list)
    for effect in subject.study.effects:
        for loss in effect.widths:
            for leaf in loss.leaves if loss.expected is not None else ():
                by_leaf[leaf].append((effect, loss))
    for leaf, losses in by_leaf.items():
        loss = losses[0][1]
        effects = list(dict.fromkeys(effect for effect, _ in losses))
        paths = f"{loss.now} of {count_of(loss.expected or 0, 'path')}"
        message = f"{_after(effects)} {leaf} has {paths} left to {loss.prefixes[0]}"
        if more := len(loss.prefixes) - 1:
            message += f" and {more} more prefix{'es' if more > 1 else ''}"
        hint = (
            "check for sessions that are down, «equal paths over unlike ASNs» and "
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
    """No failure causes a cyclic buffer dependency.

    After a failure packets may go up again after coming down. Lossless buffers can then wait for
    each other in a cycle, and PFC stops all of them permanently. All lossless queues take the same
    paths. DLK001 judges the fabric without failures.

    Example: cyclic buffer dependency in queue 4: leaf3 > spine1 > leaf4 > spine2 > leaf3
    Fix: Let leaves announce only their own prefixes, by an export policy, or let all spines share
    one AS.
    """
    study, queues = subject.study, lossless_queues(subject.network)
    if study.circles.startswith("not judged: "):
        reason = study.circles.removeprefix("not judged: ")
        yield subject.not_judged(None, reason, NO_CYCLE if queues else QUEUE)
    by_cycle: defaultdict[str, list[FailureEffect]] = defaultdict(list)
    for effect in study.effects:
        if effect.circle:
            by_cycle[effect.circle].append(effect)
    for circle, effects in by_cycle.items():
        message = f"{_after(effects)} there is a cyclic buffer dependency in "
        message += f"{queue_words(queues)}: {circle}"
        hint = "let leaves announce only their own prefixes: an export policy"
        yield subject.at(DevicePlace(circle.partition(" ")[0], "bgp"), message, hint)
