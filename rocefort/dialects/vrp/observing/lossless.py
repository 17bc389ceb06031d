"""Queues and AI-ECN as a switch shows them; forms: V300R023C00 command reference (QoS, AI ECN)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.observing.shown import Row, Shown
from rocefort.models.observed import AiEcnSeen, QueueSeen

QUEUES = "display qos queue statistics interface {}"
AI_ECN = "display ai-ecn calculated state"

AI_ROW = re.compile(r"[0-7]( (\d+|-)){3} \S+ \S+ (-|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.ASCII)


def queue_drops(shown: Shown, interface: str) -> tuple[QueueSeen, ...]:
    """`display qos queue statistics interface X`: two lines a queue, packets above bytes."""
    found: list[QueueSeen] = []
    for upper in _queue_rows(shown):
        queue = shown.number(upper, upper.words[0])
        dropped = shown.number(upper, upper.words[4])
        if any(other.queue == queue for other in found):
            raise shown.wrong(upper.number, f"queue {queue} is shown twice")
        found.append(QueueSeen(interface=interface, queue=queue, dropped_packets=dropped))
    if not found:
        raise shown.wrong(1, f"no queue of {interface}")
    return tuple(found)


def queue_passed(shown: Shown) -> dict[int, int]:
    """Packets that each queue has let through, of the same command."""
    return {
        shown.number(upper, upper.words[0]): shown.number(upper, upper.words[2])
        for upper in _queue_rows(shown)
    }


def _queue_rows(shown: Shown) -> Iterator[Row]:
    """The upper line of each queue."""
    rows = list(shown.below(r"\s*Queue\s+CIR/PIR\s+Passed\s"))
    if rows and rows[0].text.lstrip().startswith("("):
        rows = rows[1:]  # units
    pairs = iter(rows)
    for upper in pairs:
        lower = next(pairs, None)
        if len(upper.words) not in (7, 8) or lower is None or len(lower.words) != 5:
            raise shown.wrong(upper.number, f"{upper.text.strip()!r} begins no pair of lines")
        yield upper


def ai_ecn(shown: Shown) -> tuple[AiEcnSeen, ...]:
    """`display ai-ecn calculated state`: the mode and the active model of each queue."""
    found = []
    name = ""
    for row in _ai_ecn_rows(shown):
        words = row.words
        if interface := interface_name(words[0]):
            name, words = interface, words[1:]
        if not name or not AI_ROW.fullmatch(" ".join(words)):
            raise shown.wrong(row.number, f"{row.text.strip()!r} is no queue of AI-ECN")
        found.append(AiEcnSeen(interface=name, queue=int(words[0]), mode=words[4], model=words[5]))
    return tuple(found)


def _ai_ecn_rows(shown: Shown) -> Iterator[Row]:
    for row in shown.below(r"\s*Interface\s+Queue\s+Low-Threshold\s"):
        if not row.text.lstrip().startswith("("):  # units
            yield row
