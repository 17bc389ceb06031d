"""Comparison of static ECN with PFC on one switch, queue by queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.models.device.interface import Interface
from rocefort.models.device.lossless_queue import DropLimits, QueueMarking, low_at_most_high
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import End, LosslessIntent, Node
from rocefort.models.units import KBYTE
from rocefort.models.wording import count_of
from rocefort.validators.facts.ecn_grades import (
    LOOP_US,
    Congestion,
    Grade,
    Thresholds,
    congestions_of,
    dynamic_kmin_limit,
    grades,
    strict_kmin_limit,
)
from rocefort.validators.facts.headroom import port_demand
from rocefort.validators.facts.overview import LosslessSwitch
from rocefort.validators.rules.missing import XOFF, Missing
from rocefort.validators.rules.registry import Subject, Verdict

WHOLE_FROM = 1000  # kbytes from which on no fraction is printed


def static_rows(node: Node) -> Iterator[tuple[Interface, QueueMarking]]:
    """Queues of ports that have ECN by a drop profile."""
    for interface in node.device.interfaces:
        for row in interface.markings:
            if row.ecn:
                yield interface, row


def limits_of(node: Node, row: QueueMarking) -> DropLimits | None:
    """Kmin, Kmax and Pmax of a queue's ECN; None where its profile has none."""
    profile = node.device.drop_profile(row.profile) if row.profile is not None else None
    return profile.ecn if profile else None


def in_bytes(limits: DropLimits, family: Family | None) -> tuple[int, int] | None:
    """Kmin and Kmax in bytes; None where the unit is not known in bytes."""
    if limits.unit == "bytes":
        return limits.low, limits.high
    if limits.unit == "cells" and family and family.cell_bytes:
        cell = family.cell_bytes.value
        return limits.low * cell, limits.high * cell
    return None  # percent of a queue whose depth changes with the load


def end_of(node: Node, interface: Interface) -> End:
    """A port as the place of a verdict."""
    return End(device=node.name, interface=interface.name)


def kb(size_bytes: float) -> str:
    """Size in kbytes as text: `7 KB`, `18.75 KB`, `19367 KB`."""
    size = size_bytes / KBYTE
    return f"{size:.0f} KB" if size >= WHOLE_FROM else f"{size:.4g} KB"


PAPER_BETA = 8  # DCQCN, SIGCOMM 2015: share of the free buffer that a dynamic xoff takes
MEANING = {
    Grade.SINGLE_EGRESS: "where the traffic of an ingress leaves by one egress",
    Grade.DYNAMIC: f"where marks slow senders down within {LOOP_US} us",
}
IN_BYTES = Missing("Kmin and Kmax in bytes", "thresholds of ECN")


@dataclass(frozen=True, slots=True)
class Egresses:
    """Lossless ports of one speed that mark at the same depths. None: speed not known."""

    profile: str
    limits: DropLimits
    speed_gbps: int | None


@dataclass(frozen=True, slots=True)
class Ingress:
    """Lossless ports of a switch with their depth before a pause."""

    ports: tuple[Interface, ...]
    xoff_bytes: int  # the smallest of all
    speeds_gbps: tuple[int | None, ...]


def judge_static(
    subject: Subject, switch: LosslessSwitch, queue: int, intent: LosslessIntent | None
) -> Iterator[Verdict]:
    """Grade of each pair of thresholds that marks the lossless queue of a switch."""
    node = switch.node
    groups = _egresses(node, queue)
    if not groups:
        return
    lossless = tuple(i for i in node.device.interfaces if i.pfc)
    rows = [row for port in lossless for row in port.thresholds if row.queue == queue]
    if len(rows) < len(lossless) or not rows:
        yield _unknown_xoff(subject, switch, intent, len(lossless) - len(rows))
        return
    speeds = tuple(node.speed_gbps(port.name) for port in lossless)
    ingress = Ingress(lossless, min(row.xoff_kbytes for row in rows) * KBYTE, speeds)
    for egresses, ports in groups.items():
        yield from _judge(subject, node, egresses, ports, ingress)


def _egresses(node: Node, queue: int) -> dict[Egresses, list[Interface]]:
    groups: dict[Egresses, list[Interface]] = defaultdict(list)
    for port in node.device.interfaces:
        for row in port.markings:
            limits = limits_of(node, row) if row.ecn and row.queue == queue else None
            if limits is None or not port.pfc:
                continue  # ECN001 and ECN004 report it
            if low_at_most_high(limits.low, limits.high):  # ECN003 reports the others
                speed = node.speed_gbps(port.name)
                groups[Egresses(row.profile or "", limits, speed)].append(port)
    return groups


def _judge(
    subject: Subject, node: Node, egresses: Egresses, ports: list[Interface], ingress: Ingress
) -> Iterator[Verdict]:
    word = f"drop profile {egresses.profile} on {_ports(egresses, ports)}"
    path = f"drop_profiles[{egresses.profile}].ecn"
    sizes = in_bytes(egresses.limits, node.family)
    if sizes is None:
        what = "a share of a queue whose depth changes with the load"
        if egresses.limits.unit == "cells":
            what = f"in cells, whose size is not known on {node.syntax or 'its family'}"
        reason = f"{word}: Kmin and Kmax are {what}"
        yield subject.not_judged(node, reason, IN_BYTES, path=path)
        return
    thresholds = Thresholds(*sizes, ingress.xoff_bytes)
    number = len(ingress.ports)
    held = grades(thresholds, number, _congestions(egresses, ingress))
    if held[0] is Grade.STRICT:
        return
    limit = strict_kmin_limit(ingress.xoff_bytes, number)
    figures = f"{word}: Kmin {kb(sizes[0])}, Kmax {kb(sizes[1])}"
    bound = (
        f"for any traffic Kmin would have to be below {kb(float(limit))} "
        f"(xoff {kb(ingress.xoff_bytes)} over {count_of(number, 'lossless port')})"
    )
    hint = f"lower Kmin below {kb(float(limit))}, or accept the grade"
    if held[0] is Grade.NONE:
        message = f"{figures}: PFC may pause before ECN marks (no grade holds); {bound}"
        yield subject.finding(node, message, "lower Kmax below xoff, and Kmin with it", path=path)
        return
    names = " and ".join(grade.value for grade in held)
    where = ", and ".join(MEANING[grade] for grade in held)
    message = f"{figures}: marks come before pauses {where} (grade {names}); {bound}"
    yield subject.finding(node, message, hint, path=path, severity=Severity.INFO)


def _ports(egresses: Egresses, ports: list[Interface]) -> str:
    speed = f" of {egresses.speed_gbps} Gb/s" if egresses.speed_gbps else ""
    return f"{count_of(len(ports), 'port')}{speed}"


def _congestions(egresses: Egresses, ingress: Ingress) -> list[Congestion]:
    speeds = [speed for speed in ingress.speeds_gbps if speed is not None]
    if egresses.speed_gbps is None or len(speeds) < len(ingress.speeds_gbps):
        return []
    return congestions_of(egresses.speed_gbps, speeds)


def _unknown_xoff(
    subject: Subject, switch: LosslessSwitch, intent: LosslessIntent | None, number: int
) -> Verdict:
    """Report ports without a static xoff; with the limit by the paper's beta if possible."""
    node, ports = switch.node, switch.roce_ports
    what = f"{count_of(number, 'lossless port')} without a static xoff share the buffer dynamically"
    buffer = node.hardware.buffer_kbytes if node.hardware else None
    headrooms = [port_demand(intent, port).kept_kbytes for port in ports] if intent else []
    if buffer is not None and headrooms and None not in headrooms:
        flight = max(size for size in headrooms if size is not None) * KBYTE
        limit = dynamic_kmin_limit(buffer.value * KBYTE, len(ports), 1, flight, PAPER_BETA)
        what += (
            f"; were their share that of the DCQCN paper (beta {PAPER_BETA}), Kmin would have to "
            f"be below {kb(float(limit))}"
        )
    return subject.not_judged(node, what, XOFF, path="drop_profiles")
