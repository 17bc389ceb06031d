"""ECN: AI-ECN marks on the lossless queue."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.network import Node
from rocefort.validators.ports import lossless_queue, paused_queues
from rocefort.validators.rules import Subject, Verdict, rule
from rocefort.validators.wording import listing

QUEUES_AT_MOST = 2


@rule(
    "ECN001",
    severity=Severity.ERROR,
    source="V300R023C00 command reference, AI ECN (`assign queue`: two queues at most, lossless "
    "first); HEPS: Network 2025, 5(4), 53 (ai_ecn_hpc on queue 4)",
)
def ai_ecn_on_lossless_queue(subject: Subject) -> Iterator[Verdict]:
    """AI-ECN marks the lossless queue, and lossless queues only.

    ECN slows senders before PFC has to stop them; without it every congestion becomes pauses.
    A switch takes two AI-ECN queues at most, and each must be paused by PFC first.
    """
    queue = lossless_queue(subject.network)
    if queue is None:
        yield subject.not_judged(
            None, "which queue is lossless is not known: the switches pause no single common queue"
        )
        return
    for node in subject.network.nodes:
        yield from _switch(subject, node, queue)


def _switch(subject: Subject, node: Node, queue: int) -> Iterator[Verdict]:
    ai_ecn = node.device.ai_ecn
    assigned = [row.queue for row in ai_ecn.queues]
    if not ai_ecn.enabled:
        yield subject.finding(
            node,
            f"AI-ECN is not enabled, so queue {queue} is paused before any sender slows down",
            "add `ai-ecn enable` under ai-service, ai-ecn",
            path="ai_ecn",
        )
    if queue not in assigned:
        yield subject.finding(
            node,
            f"AI-ECN does not mark lossless queue {queue}; it is assigned to "
            + (f"queue {listing(assigned)}" if assigned else "no queue"),
            f"add `assign queue {queue}` with its model under ai-ecn",
            path="ai_ecn.queues",
        )
    if len(assigned) > QUEUES_AT_MOST:
        yield subject.finding(
            node,
            f"AI-ECN is assigned to queues {listing(assigned)}; a switch takes "
            f"{QUEUES_AT_MOST} at most",
            "remove `assign queue` of the queues that are not lossless",
            path="ai_ecn.queues",
        )
    for other in sorted(set(assigned) - paused_queues(node)):
        yield subject.finding(
            node,
            f"AI-ECN is assigned to queue {other}, which PFC does not pause",
            f"pause queue {other} in the PFC profile, or remove its `assign queue`",
            path=f"ai_ecn.queues[{other}]",
        )
