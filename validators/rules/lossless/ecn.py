"""Rules on ECN: AI-ECN or static thresholds mark the lossless queue, before PFC pauses it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rocefort.models.device.lossless import MOST_AI_ECN_QUEUES
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.facts.ecn_grades import strict_kmin_limit
from rocefort.validators.facts.roce_ports import QUEUE_UNKNOWN, lossless_queues, paused_queues
from rocefort.validators.rules.lossless.ecn_margin import judge_static, static_rows
from rocefort.validators.rules.missing import QUEUE, Missing
from rocefort.validators.rules.registry import Subject, Verdict, rule

CHOSEN = Missing(
    "Kmin of the queue, as AI-ECN chose it",
    "the limits that AI-ECN chose",
    cause="AI-ECN chooses Kmin and Kmax",
)


@rule(
    "ECN001",
    severity=Severity.ERROR,
    source="«the vendor's reference», AI ECN («queue of AI-ECN»: two queues at most, lossless "
    "first); HEPS: Network 2025, 5(4), 53 (ai_ecn_hpc on queue 4)",
)
def ai_ecn_on_lossless_queue(subject: Subject) -> Iterator[Verdict]:
    """ECN marks the lossless queue, and lossless queues only.

    ECN slows senders down before PFC has to stop them. Without ECN every congestion causes pauses.
    AI-ECN marks on all ports, static thresholds on ports with a drop profile. A switch has two
    AI-ECN queues at most, and PFC must pause each of them first.

    Example: AI-ECN is not enabled, so queue 4 is paused before any sender slows down
    Fix: Assign the lossless queue to AI-ECN, or give its ports a drop profile and static ECN;
    remove other queues.
    """
    queues = lossless_queues(subject.network)
    if not queues:
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    for node in subject.network.nodes:
        for queue in queues:
            yield from _marked(subject, node, queue)
        yield from _beyond(subject, node)


def _marked(subject: Subject, node: Node, queue: int) -> Iterator[Verdict]:
    ai_ecn = node.device.ai_ecn
    assigned = [row.queue for row in ai_ecn.queues]
    static = list(static_rows(node))
    marked = {interface.name for interface, row in static if row.queue == queue}
    learned = ai_ecn.enabled and queue in assigned
    if marked and not learned:
        yield from _unmarked_ports(subject, node, queue, marked)
    if not ai_ecn.enabled and not marked:
        yield subject.finding(
            node,
            f"AI-ECN is not enabled, so queue {queue} is paused before any sender slows down",
            "add «AI-ECN» under «the AI service», «its AI-ECN»",
            path="ai_ecn",
        )
    if queue not in assigned and not marked:
        yield subject.finding(
            node,
            f"AI-ECN does not mark lossless queue {queue}; it is assigned to "
            + (f"queue {listing(assigned)}" if assigned else "no queue"),
            f"add «queue of AI-ECN: {queue}» with its model under ai-ecn",
            path="ai_ecn.queues",
        )


def _beyond(subject: Subject, node: Node) -> Iterator[Verdict]:
    """Marks of more queues than AI-ECN takes, and of queues that are not lossless."""
    assigned = [row.queue for row in node.device.ai_ecn.queues]
    static = list(static_rows(node))
    if len(assigned) > MOST_AI_ECN_QUEUES:
        yield subject.finding(
            node,
            f"AI-ECN is assigned to queues {listing(assigned)}; a switch takes "
            f"{MOST_AI_ECN_QUEUES} at most",
            "remove «queue of AI-ECN» of the queues that are not lossless",
            path="ai_ecn.queues",
        )
    for other in sorted(set(assigned) - paused_queues(node)):
        yield subject.finding(
            node,
            f"AI-ECN is assigned to queue {other}, which PFC does not pause",
            f"pause queue {other} in the PFC profile, or remove its «queue of AI-ECN»",
            path=f"ai_ecn.queues[{other}]",
        )
    for other in sorted({row.queue for _, row in static} - paused_queues(node)):
        ports = [interface.name for interface, row in static if row.queue == other]
        yield subject.finding(
            node,
            f"static ECN marks queue {other}, which PFC does not pause, on {_port_list(ports)}",
            f"pause queue {other} in the PFC profile, or remove its «ECN of queue: {other}»",
            path=f"interfaces[{ports[0]}].markings[{other}]",
            severity=Severity.WARNING,  # TCP may be marked on purpose
        )


def _unmarked_ports(
    subject: Subject, node: Node, queue: int, marked: set[str]
) -> Iterator[Verdict]:
    bare = [i.name for i in node.device.interfaces if i.pfc and i.name not in marked]
    if bare:
        yield subject.finding(
            node,
            f"static ECN does not mark lossless queue {queue} on {_port_list(bare)}",
            f"add «drop profile of queue: {queue}» and «ECN of queue: {queue}» there",
            path=f"interfaces[{bare[0]}].markings",
        )


def _port_list(ports: list[str]) -> str:
    return ports[0] + (f" and {len(ports) - 1} more" if len(ports) > 1 else "")


@rule(
    "ECN002",
    severity=Severity.WARNING,
    source="DCQCN, SIGCOMM 2015, section 4 (ECN before PFC); «the vendor's reference», AI ECN "
    "(the model chooses the thresholds)",
)
def marks_before_pauses(subject: Subject) -> Iterator[Verdict]:
    """ECN marks before PFC pauses.

    Senders should slow down before PFC stops them. The traffic of one ingress may spread over all
    egresses of a switch, and each egress may hold just under Kmin unmarked. Marks can come first
    for any traffic only if Kmin is below xoff divided by the number of lossless ports. AI-ECN
    chooses its thresholds while it runs: compare «the limits that AI-ECN chose» on the switch with
    the limit in the message.

    Static thresholds get one of three grades. Strict: Kmin is below that limit, so that
    marks may begin before a pause; there is no finding. It promises no mark: the chance of one
    rises from 0 at Kmin to Pmax at Kmax, and is 1 above it. Single-egress: Kmax is below xoff, so
    that marks come first where the traffic of an ingress leaves by one egress. Dynamic: marks slow
    down a many-to-one from all other lossless ports before the queue exceeds the sum of their
    xoff, if senders are marked at Kmin and slow down within 20 us.

    Example: Kmin 200 KB, Kmax 600 KB: PFC may pause before ECN marks (no grade holds)
    Fix: Lower Kmax below xoff, and Kmin with it; or accept the grade.
    """
    queues = lossless_queues(subject.network)
    if not queues:
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    intent = subject.network.lossless
    for switch, queue in product(subject.switches, queues):
        node = switch.node
        ai_ecn = node.device.ai_ecn
        assigned = next((row for row in ai_ecn.queues if row.queue == queue), None)
        if ai_ecn.enabled and assigned is not None:  # else ECN001 reports it
            yield subject.not_judged(
                node,
                f"AI-ECN ({assigned.model or 'its default model'}) chooses Kmin and Kmax"
                f"{_limit(node, queue)}",
                CHOSEN,
                path="ai_ecn",
            )
        else:
            yield from judge_static(subject, switch, queue, intent)


def _limit(node: Node, queue: int) -> str:
    """Limit of Kmin to compare with the switch's output; empty without a static xoff."""
    ports = [interface for interface in node.device.interfaces if interface.pfc]
    rows = (row for port in ports for row in port.thresholds if row.queue == queue)
    xoff = min((row.xoff_kbytes for row in rows), default=None)
    if xoff is None:
        return ""
    limit = float(strict_kmin_limit(xoff, len(ports)))
    return (
        f"; marks can come first for any traffic only while Kmin is below {limit:.4g} KB "
        f"(xoff {xoff} KB over {count_of(len(ports), 'lossless port')})"
    )
