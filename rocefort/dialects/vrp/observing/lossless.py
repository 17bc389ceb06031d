"""PFC, queues and AI-ECN as a switch shows them.

Forms: V300R023C00 command reference (DCB, QoS, AI ECN); thresholds of V200: AI Fabric best
practice, EDOC1100155250. Not confirmed: a blank interface cell in rows of one port's further
queues (shown so by `display dcb pfc deadlock trigger status` only), and how several queues of a
profile are written; both are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.observing.shown import Row, Shown
from rocefort.models.observed import (
    AiEcnSeen,
    PfcCountersSeen,
    PfcPortSeen,
    PfcProfileSeen,
    QueueSeen,
    ThresholdSeen,
)

PFC_PORTS = "display dcb"
PFC_PROFILES = "display dcb pfc-profile"
PFC_COUNTERS = "display dcb pfc"
THRESHOLDS = "display dcb pfc buffer"
QUEUES = "display qos queue statistics interface {}"
AI_ECN = "display ai-ecn calculated state"

STATUS = re.compile(r"(ENABLE|SUCCEED|FAILED|-)(?:\(([MA])\))?")
AI_ROW = re.compile(r"[0-7]( (\d+|-)){3} \S+ \S+ (-|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.ASCII)
VALUE = re.compile(r"(\d+)\(([BCDKM])\)", re.ASCII)


def pfc_ports(shown: Shown) -> tuple[PfcPortSeen, ...]:
    """`display dcb`: which ports have PFC on, by which profile."""
    found = []
    for row in shown.below(r"\s*Interface\s+PFC Name\s+PFC Status\b"):
        status = STATUS.fullmatch(row.words[2]) if len(row.words) == 6 else None
        if status is None:
            raise shown.wrong(row.number, f"{row.text.strip()!r} is no row of PFC")
        found.append(
            PfcPortSeen(
                interface=_interface(shown, row, row.words[0]),
                profile=row.words[1],
                enabled=status[1] in ("ENABLE", "SUCCEED"),
                state=row.words[2],
            )
        )
    return tuple(found)


def pfc_profiles(shown: Shown) -> tuple[PfcProfileSeen, ...]:
    """`display dcb pfc-profile`; raises DeviceFailed where not as many as announced."""
    found = []
    for row in shown.below(r"\s*PFC-profile Name\s+Priority\s*$"):
        queues = re.findall(r"\d+", " ".join(row.words[1:]), re.ASCII)
        if len(row.words) > 1 and not re.fullmatch(r"[\d, -]+", " ".join(row.words[1:])):
            raise shown.wrong(row.number, f"{row.text.strip()!r} is no PFC profile")
        found.append(PfcProfileSeen(name=row.words[0], queues=tuple(map(int, queues))))
    total = shown.head(r"\s*Total\s*:")
    announced = shown.number(total, total.text.partition(":")[2].strip())
    if announced != len(found):
        raise shown.wrong(total.number, f"{announced} profiles announced, {len(found)} read")
    return tuple(found)


def pfc_counters(shown: Shown) -> tuple[PfcCountersSeen, ...]:
    """`display dcb pfc`: two lines a queue, received above transmitted."""
    rows = list(shown.below(r"\s*Interface\s+Queue\s+Received\(Frames\)"))
    if not rows or rows[0].words[:1] != ("Transmitted(Frames)",):
        raise shown.wrong(1, "the second line of its heading is missing")
    found: list[PfcCountersSeen] = []
    name = ""
    pairs = iter(rows[1:])
    for upper in pairs:
        lower = next(pairs, None)
        if len(upper.words) == 5:
            name = _interface(shown, upper, upper.words[0])
        if not name or len(upper.words) not in (4, 5) or lower is None or len(lower.words) != 3:
            raise shown.wrong(upper.number, f"{upper.text.strip()!r} begins no pair of lines")
        queue, rx, rx_rate, deadlocks = shown.numbers(upper, upper.words[-4:])
        tx, tx_rate, recoveries = shown.numbers(lower, lower.words)
        found.append(
            PfcCountersSeen(
                interface=name,
                queue=queue,
                rx_frames=rx,
                tx_frames=tx,
                rx_rate=rx_rate,
                tx_rate=tx_rate,
                deadlocks=deadlocks,
                recoveries=recoveries,
            )
        )
    return tuple(found)


def thresholds(shown: Shown) -> tuple[ThresholdSeen, ...]:
    """`display dcb pfc buffer`: columns by name, for each family has others."""
    head = shown.head(r"\s*Interface\s+Queue\s")
    columns = head.words
    if "Xoff" not in columns:
        raise shown.wrong(head.number, f"{head.text.strip()!r} has no column Xoff")
    found: list[ThresholdSeen] = []
    name = ""
    for row in shown.below(r"\s*Interface\s+Queue\s"):
        if len(row.words) == len(columns):
            name = _interface(shown, row, row.words[0])
        elif not name or len(row.words) != len(columns) - 1:
            raise shown.wrong(row.number, f"{row.text.strip()!r} has not {len(columns)} cells")
        cells = dict(zip(columns[1:], row.words[1 - len(columns) :], strict=True))
        found.append(_threshold(shown, row, name, cells))
    return tuple(found)


def _threshold(shown: Shown, row: Row, name: str, cells: dict[str, str]) -> ThresholdSeen:
    """Where an offset is shown, xon = max(xoff - offset, Xon-Lowest), on V200 of Xon."""
    xoff, offset, xon, lowest, headroom = (
        _kbytes(shown, row, cells.get(word, "-"))
        for word in ("Xoff", "Xon-Offset", "Xon", "Xon-Lowest", "Hdrm")
    )
    if "Xon-Offset" in cells:
        floor, least = ("Xon", xon) if "Xon" in cells else ("Xon-Lowest", lowest)
        least = 0 if cells.get(floor, "-") == "-" else least
        xon = None
        if xoff is not None and offset is not None and least is not None:
            xon = max(xoff - offset, least)
    return ThresholdSeen(
        interface=name,
        queue=shown.number(row, cells["Queue"]),
        xoff_kbytes=xoff,
        xon_kbytes=xon,
        headroom_kbytes=headroom,
        dynamic=cells["Xoff"].endswith("(D)"),
        text=", ".join(f"{word} {cell}" for word, cell in cells.items() if word != "Queue"),
    )


def _kbytes(shown: Shown, row: Row, cell: str) -> int | None:
    """Whole kbytes; None for a dynamic alpha (D), for cells (C), whose size differs, and `-`."""
    if cell == "-":
        return None
    found = VALUE.fullmatch(cell)
    if found is None:
        raise shown.wrong(row.number, f"{cell!r} is no threshold")
    value = int(found[1])
    if found[2] == "B":
        return value // 1024
    return {"K": value, "M": value * 1024}.get(found[2])


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


def _interface(shown: Shown, row: Row, text: str) -> str:
    name = interface_name(text)
    if name is None:
        raise shown.wrong(row.number, f"{text!r} is no interface")
    return name
