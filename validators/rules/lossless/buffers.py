"""Rules on buffers: headroom of each port by formula, and the sum against the switch's buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Fact, Family
from rocefort.models.network.network import LosslessIntent, Node, Port
from rocefort.models.units import KBYTE, kbytes
from rocefort.models.wording import count_of
from rocefort.validators.facts.ecn_grades import static_xoff_limit
from rocefort.validators.facts.headroom import (
    RESPONSE_QUANTA,
    CellBuffer,
    cell_headroom,
    headroom_bytes,
    port_demand,
)
from rocefort.validators.facts.overview import LosslessSwitch
from rocefort.validators.rules.missing import (
    LENGTH,
    SPEED,
    XOFF,
    Missing,
    Need,
    fabric_key,
    of_family,
    of_hardware,
)
from rocefort.validators.rules.registry import Subject, Verdict, rule

BUFFERS_UNCONFIRMED = "the buffer size of the switch model is unconfirmed"
FORMULA = "IEEE 802.1Qbb annex O and 802.3 31B.3.7 (headroom terms)"
POOL = Missing(
    "the headroom that the ports have",
    "thresholds of ports",
    key=fabric_key("headroom_pool_kbytes of the lossless profile"),
)


class HeadroomDemand(NamedTuple):
    """Required headroom of one port, in bytes."""

    port: Port
    needed_bytes: int

    @property
    def why(self) -> str:
        """The port's rate and cable in words."""
        return f"{self.port.speed_gbps} Gb/s over {self.port.cable_m:g} m"


def _demands(
    subject: Subject, switch: LosslessSwitch, intent: LosslessIntent
) -> Iterator[HeadroomDemand | Verdict]:
    """Required headroom of each port, or the reason why it is not known."""
    mtu = intent.headroom_mtu
    for port in switch.roce_ports:
        if port.cable_m is None:
            yield subject.not_judged(port.end, "the length of the cable is not known", LENGTH)
        elif port.speed_gbps not in RESPONSE_QUANTA:
            reason = "no response time to a pause is known at its speed"
            yield subject.not_judged(port.end, reason, SPEED)
        else:
            yield HeadroomDemand(port, headroom_bytes(mtu, mtu, port.speed_gbps, port.cable_m))


@rule(
    "BUF001",
    severity=Severity.ERROR,
    source=f"{FORMULA}; «the vendor's reference», «headroom of queue: ..» and «a headroom pool»",
    needs=(Need.LINKS, Need.SERVERS, Need.LOSSLESS, Need.FAMILY),
)
def headroom(subject: Subject) -> Iterator[Verdict]:
    """Headroom holds the frames that arrive after a pause is sent.

    The frame that crosses xoff is in the headroom. After it, frames in transmission, the bits on
    the cable, frames from the peer's response time and from the delay of the port's own MAC and
    PHY still arrive. V300 G2 sets headroom by port and queue, out of a pool; G1 has a pool at
    most; on V200 no form is confirmed. A pool that is the largest of its family, and too small
    for all ports at once, is a warning. Where the cell size of the buffer is confirmed, a second
    finding (info) gives the need of the smallest packets, which fill a cell each. It uses SONiC's
    formula with the terms of another vendor's chips.

    Example: headroom of queue 4 is 88 KB; 100 Gb/s over 100 m and frames of 9216 bytes need 89 KB
    Fix: Raise «headroom» or the pool, shorten the cable or lower the MTU.
    """
    for switch in subject.switches:
        intent = subject.lossless_of(switch.name)
        family, demands = switch.node.family, list[HeadroomDemand]()
        if family is None:
            continue
        for item in _demands(subject, switch, intent):
            if isinstance(item, HeadroomDemand):
                demands.append(item)
            else:
                yield item
        if demands:
            yield from _judge_headroom(subject, switch.node, intent, family, demands)


def _judge_headroom(
    subject: Subject,
    node: Node,
    intent: LosslessIntent,
    family: Family,
    demands: list[HeadroomDemand],
) -> Iterator[Verdict]:
    per_queue, pool = family.headroom_kbytes, family.headroom_pool_kbytes
    if not any(limits is not None and limits.confirmed for limits in (per_queue, pool)):
        yield subject.not_judged(
            node,
            f"headroom on {family.name} is not confirmed by the vendor; {_summary(demands)}",
            of_family(family, "headroom_kbytes", "whether headroom is set by queue"),
        )
        return
    if per_queue is not None:
        for demand in demands:
            yield from _port_headroom(subject, intent, family, demand)
    yield from _pool(subject, node, family, demands)


def _summary(demands: list[HeadroomDemand]) -> str:
    worst = max(demands, key=lambda demand: demand.needed_bytes)
    total = sum(demand.needed_bytes for demand in demands)
    return (
        f"{kbytes(total)} KB are needed for {count_of(len(demands), 'port')}, "
        f"at most {kbytes(worst.needed_bytes)} KB for one ({worst.why})"
    )


def _port_headroom(
    subject: Subject, intent: LosslessIntent, family: Family, demand: HeadroomDemand
) -> Iterator[Verdict]:
    queue, limits, port = intent.queue, family.headroom_kbytes, demand.port
    row = next((t for t in port.interface.thresholds if t.queue == queue), None)
    configured, default = row.headroom_kbytes if row else None, family.headroom_default_kbytes
    path = f"thresholds[{queue}].headroom_kbytes"
    size = configured if configured is not None else default.value if default else None
    if size is None or (configured is None and default and not default.confirmed):
        yield subject.not_judged(
            port.end,
            f"the default headroom of {family.name} is not known",
            of_family(family, "thresholds of ports", "the default headroom"),
            path=path,
        )
    elif configured is not None and limits is not None and configured not in limits:
        yield subject.finding(
            port.end,
            f"headroom of queue {queue} is {configured} KB; {family.name} takes "
            f"{limits.low} to {limits.high} KB",
            "choose a headroom in that range",
            path=path,
        )
    elif size * KBYTE < demand.needed_bytes:
        default_word = "" if configured is not None else " by default"
        yield subject.finding(
            port.end,
            f"headroom of queue {queue} is {size} KB{default_word}; {demand.why} and frames of "
            f"{intent.headroom_mtu} bytes need {kbytes(demand.needed_bytes)} KB",
            f"set «headroom of queue: {queue}, {kbytes(demand.needed_bytes)}» or more",
            path=path,
        )
    else:
        yield from _in_cells(subject, intent, family.cell_bytes, demand, size)


def _in_cells(
    subject: Subject,
    intent: LosslessIntent,
    cell: Fact | None,
    demand: HeadroomDemand,
    size_kbytes: int,
) -> Iterator[Verdict]:
    """Report headroom that is enough in bytes, but too small for small packets in cells."""
    port, mtu = demand.port, intent.headroom_mtu
    if cell is None or not cell.confirmed or port.speed_gbps is None or port.cable_m is None:
        return
    needed = cell_headroom(
        CellBuffer(cell=cell.value), port.speed_gbps, port.cable_m, port_mtu=mtu, lossless_mtu=mtu
    )
    if size_kbytes * KBYTE < needed.xoff:
        yield subject.finding(
            port.end,
            f"headroom of queue {intent.queue} is {size_kbytes} KB; if only the smallest "
            f"packets arrive, they fill {kbytes(needed.xoff)} KB in cells of {cell.value} bytes "
            f"({demand.why}, by SONiC's formula)",
            f"set {kbytes(needed.xoff)} KB where a server may send many small packets",
            path=f"thresholds[{intent.queue}].headroom_kbytes",
            severity=Severity.INFO,
        )


def _pool(
    subject: Subject, node: Node, family: Family, demands: list[HeadroomDemand]
) -> Iterator[Verdict]:
    size, limits = node.device.pfc.headroom_pool_kbytes, family.headroom_pool_kbytes
    path = "pfc.headroom_pool_kbytes"
    if size is None and family.headroom_kbytes is None:
        yield subject.not_judged(
            node,
            f"{family.name} has no headroom by queue, and no pool is configured; "
            f"{_summary(demands)}",
            replace(POOL, cause=f"no headroom pool is configured on {family.name}"),
            path=path,
        )
    elif size is None:
        yield subject.finding(
            node,
            f"no headroom pool is configured, which {family.name} must have; {_summary(demands)}",
            "set «the size of the headroom pool» (lossless.headroom_pool_kbytes)",
            path=path,
        )
    elif limits is not None and size not in limits:
        yield subject.finding(
            node,
            f"the headroom pool is {size} KB; {family.name} takes {limits.low} to {limits.high} KB",
            "choose a pool in that range",
            path=path,
        )
    elif size * KBYTE < sum(demand.needed_bytes for demand in demands):
        largest = limits is not None and size == limits.high
        most, severity = "", Severity.ERROR
        way = "enlarge the pool (lossless.headroom_pool_kbytes), shorten cables or lower the MTU"
        if largest:  # it is too small only if its ports pause together
            most, severity = f", the most of {family.name}", Severity.WARNING
            way = "shorten cables, lower the MTU, or use fewer lossless ports"
        what = f"the headroom pool is {size} KB{most}; {_summary(demands)}"
        yield subject.finding(node, what, way, path=path, severity=severity)


@rule(
    "BUF002",
    severity=Severity.ERROR,
    source=f"«the vendor's reference», «PFC thresholds» (sum of xoff and headroom); {FORMULA}",
    needs=(Need.LINKS, Need.SERVERS, Need.LOSSLESS, Need.HARDWARE),
)
def buffer_budget(subject: Subject) -> Iterator[Verdict]:
    """xoff and headroom of all lossless ports fit into the buffer.

    A static xoff reserves buffer for each port. If the sum exceeds the buffer, some port loses
    packets before it pauses. A buffer of unknown size is not judged. A size that no vendor source
    confirms is judged only if the sum exceeds it.

    Example: xoff and headroom of 3 lossless ports add up to 2055 KB; the buffer of CE8851-32CQ8DQ-P
    is 2054 KB
    Fix: Lower xoff, or use fewer lossless ports.
    """
    for switch in subject.switches:
        yield from _budget(subject, switch, subject.lossless_of(switch.name))


def _budget(subject: Subject, switch: LosslessSwitch, intent: LosslessIntent) -> Iterator[Verdict]:
    node, ports, hardware = switch.node, switch.roce_ports, switch.node.hardware
    if hardware is None or not ports:
        return
    fact = hardware.buffer_kbytes
    size = of_hardware(hardware, "buffer_kbytes", "the buffer size", BUFFERS_UNCONFIRMED)
    if fact is None:
        yield subject.not_judged(node, f"the buffer of {hardware.model} is not known", size)
        return
    demands = []
    for item in _demands(subject, switch, intent):
        if not isinstance(item, HeadroomDemand):
            yield item
            continue
        demands.append(item)
    if len(demands) < len(ports):
        return
    sizes = [port_demand(intent, demand.port).promised_kbytes for demand in demands]
    if None in sizes:
        yield subject.not_judged(
            node,
            "ports without a static xoff share the buffer dynamically; no sum can be given",
            XOFF,
        )
        return
    total = sum(size for size in sizes if size is not None)
    promise = f"xoff and headroom of {count_of(len(ports), 'lossless port')} add up to {total} KB"
    doubt = "" if fact.confirmed else f", not confirmed by the vendor ({fact.source})"
    if total > fact.value:
        yield subject.finding(
            node,
            f"{promise}; the buffer of {hardware.model} is {fact.value} KB{doubt}",
            f"lower xoff{_to_at_most(intent, fact.value, demands)}, or spread the ports over more "
            "switches",
        )
    elif not fact.confirmed:
        yield subject.not_judged(
            node,
            f"{promise} and would fit; the buffer of {hardware.model} is {fact.value} KB{doubt}",
            size,
        )


def _to_at_most(intent: LosslessIntent, buffer_kbytes: int, demands: list[HeadroomDemand]) -> str:
    """Hint: highest xoff that all ports can have together, with the largest headroom of any."""
    headrooms = [port_demand(intent, demand.port).kept_kbytes or 0 for demand in demands]
    limit = int(static_xoff_limit(buffer_kbytes, len(demands), 1, max(headrooms)))
    return f" to {limit} KB at most" if limit > 0 else ""
