"""Rules on deadlock: no cyclic buffer dependency, and packets of a queue in its recovery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.base.errors import Refused
from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.network.network import Network
from rocefort.models.wording import names_text
from rocefort.validators.facts.roce_ports import QUEUE_UNKNOWN, lossless_queues
from rocefort.validators.routing.buffer_dependencies import (
    components,
    cycle,
    excluded,
    gateways,
    traffic,
    words,
)
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.routing.underlay import unmodelled_forwarding
from rocefort.validators.rules.certainty import certain, readings
from rocefort.validators.rules.missing import QUEUE, Missing, Need, of_family
from rocefort.validators.rules.registry import Subject, Verdict, rule

PATHS = Missing(
    "the paths of packets between gateways", "routing table", run="rocefort verify FABRIC"
)


@rule(
    "DLK001",
    severity=Severity.ERROR,
    source="Hu et al., HotNets 2016 (deadlocks need a cyclic buffer dependency); Tagger, CoNEXT "
    "2017 (up-down paths have none, bounces make them)",
    needs=(Need.LINKS,),
)
def no_cycle(subject: Subject) -> Iterator[Verdict]:
    """No cyclic buffer dependency exists.

    A full ingress buffer waits for the buffer of the next switch. If such dependencies form a
    cycle, PFC can stop all of its buffers permanently: a PFC deadlock. Paths up to a spine and down
    again form no cycle; a path that goes up a second time can. The rule judges the paths between
    gateways without failures, as the embedded engine routes them; DLK101 judges single failures.

    Example: cyclic buffer dependency in queue 4: leaf01 > spine01 > leaf02 > spine02 > leaf01
    Fix: Remove the link, or the route, that leads up again.
    """
    queues = lossless_queues(subject.network)
    if not queues:
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    read = readings(subject.network, subject.sources)
    reports = []
    for reading in read.all:
        network = as_it_runs(reading.network, subject.sources).network
        lines = (x for node in network.nodes for x in unmodelled_forwarding(node))
        if unmodelled := next(lines, None):
            yield subject.not_judged(None, f"the paths are not known: {unmodelled[1]}", PATHS)
            return
        verdicts = () if excluded(network) else tuple(_judge(subject, reading.network, queues))
        reports.append(_report(subject, verdicts))
    merged = certain(reports, read, subject.network)
    yield from merged.findings
    yield from merged.not_judged


def _report(subject: Subject, verdicts: Iterable[Verdict]) -> Report:
    rows = tuple(verdicts)
    return Report(
        network=subject.network.name,
        rules=(subject.rule.id,),
        findings=tuple(row for row in rows if isinstance(row, Finding)),
        not_judged=tuple(row for row in rows if isinstance(row, NotJudged)),
    )


def _judge(subject: Subject, network: Network, queues: Iterable[int]) -> Iterator[Verdict]:
    try:
        solution = analyse(network, subject.sources)
    except Refused as refused:
        yield subject.not_judged(None, f"the paths are not known: {refused.problem.what}", PATHS)
        return
    forwards = traffic(solution.trips.forwarder, served := gateways(solution.underlay))
    if not forwards.by_hop:
        yield subject.not_judged(None, "no route leads from one gateway to another", PATHS)
    for queue in queues:
        graph = forwards.graph(served, queue)
        for component in components(graph):
            circle = cycle(graph, component)
            yield subject.finding(
                subject.network.by_name[circle[0][0]],
                f"cyclic buffer dependency in queue {queue}: {words(circle)}",
                "remove the link or the route by which packets go up again after coming down",
            )


@rule(
    "PFC008",
    severity=Severity.ERROR,
    source="«the vendor's guide», Configuring PFC Deadlock Detection; "
    "«the vendor's reference», DCB, «the recovery behavior»",
    wants=(Need.FAMILY,),
)
def equal_recovery(subject: Subject) -> Iterator[Verdict]:
    """All switches discard during recovery beside a G1 switch.

    While a deadlocked queue recovers, it ignores pauses. A V300 G1 switch discards its packets by
    default, and a V300 G2 switch forwards them. The vendor requires discarding on every switch of
    a PFC network that has a G1 switch. What a V200 switch does is not published.

    Example: packets of a deadlocked queue are forwarded; every switch must discard them beside
    V300 G1 (leaf01 and leaf02)
    Fix: Add «discarding during recovery» to the switch.
    """
    pausing = [n for n in subject.network.nodes if any(i.pfc for i in n.device.interfaces)]
    defaults = {n.name: n.family.recovery_behavior for n in pausing if n.family is not None}
    group_1 = [name for name, default in defaults.items() if default == "discard"]
    for node in pausing if group_1 else ():
        behavior = node.device.pfc.recovery_behavior or defaults.get(node.name)
        if node.family is not None and behavior is None:
            yield subject.not_judged(
                node,
                f"what {node.family.name} does with packets of a deadlocked queue is not published",
                of_family(node.family, "recovery_behavior", "the behavior during recovery"),
            )
        elif behavior == "forwarding":
            yield subject.finding(
                node,
                "packets of a deadlocked queue are forwarded; every switch must discard them "
                f"beside V300 G1 ({names_text(group_1)})",
                "add «discarding during recovery»",
                path="pfc.recovery_behavior",
            )
