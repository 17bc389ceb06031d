"""Live rules on what keeps RoCE lossless: PFC, its thresholds and counters, queues, AI-ECN."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.device.interface import PfcThreshold
from rocefort.models.device.lossless import AiEcnQueue, PfcProfile
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node, Port
from rocefort.models.network.observed import AiEcnSeen, DeviceSeen, StateTopic, ThresholdSeen
from rocefort.models.wording import listing
from rocefort.validators.rules.live.subject import LiveSubject, reading
from rocefort.validators.rules.registry import Need, Verdict, rule

DCB = "«the vendor's reference», DCB: "
LONGEST_PAUSE_BITS = 65535 * 512  # IEEE 802.1Qbb: a quantum is 512 bit times, 65535 at most
LOST = (  # of a port with as many deadlocks as turn PFC off
    "it may have lost PFC, see «where PFC was turned off»; find who pauses without end, then "
    "«no PFC on a port» and «PFC on a port»: nothing else brings it back"
)
DEFAULT_MODEL = "AI_ECN_DistributedStorage"  # `assign queue` without a model, V300R023C00


@rule(
    "LIV012",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=DCB + "«PFC of ports», «queues of PFC profiles»",
    reads=reading(StateTopic.PFC_PORTS, StateTopic.PFC_PROFILES),
)
def pfc_on(subject: LiveSubject) -> Iterator[Verdict]:
    """PFC is on where RoCE passes, for the intended queues.

    One port without PFC drops what all others would have held back. Enter «PFC in manual mode»
    again (it may be refused while the port is congested), and see which queues
    «queues of PFC profiles» names: queue 3 is paused by default until «no pause of queue: 3».

    Example: PFC: it is -, intended on with profile default
    Fix: Enter «PFC on a port» in its view, when it is idle.
    """
    for node, seen in subject.answering_switches:
        rows = {row.interface: row for row in seen.pfc_ports or ()}
        for port in subject.roce_ports(node):
            row, pfc = rows.get(port.end.interface), port.interface.pfc
            if pfc is None:
                continue  # PFC002 tells
            if row is None or not row.enabled:
                shown = row.state if row else "not shown"
                message = f"PFC: it is {shown}, intended on with profile {pfc.profile}"
                hint = "«PFC on a port» in its view, when it is idle"
                yield subject.finding(port.end, message, hint, path="pfc")
            elif row.profile != pfc.profile:
                message = f"PFC: profile {row.profile} is applied, intended {pfc.profile}"
                yield subject.finding(port.end, message, "apply the intended profile", path="pfc")
        yield from _profiles(subject, node, seen)


def _profiles(subject: LiveSubject, node: Node, seen: DeviceSeen) -> Iterator[Verdict]:
    known = {profile.name: profile.queues for profile in seen.pfc_profiles or ()}
    ports = (port.interface for port in subject.roce_ports(node))
    wanted = {p.name: p for port in ports if (p := node.device.profile_of(port))}
    for name, profile in wanted.items():
        queues = known.get(name)
        if queues is None or set(queues) != set(profile.queues):
            pauses = f"pauses {_queues(queues)}" if queues is not None else "is not there"
            message = f"PFC profile {name}: it {pauses}, intended {_queues(profile.queues)}"
            path = f"pfc.profiles[{name}]"
            yield subject.finding(node, message, "correct its «a paused queue» lines", path=path)


def _queues(queues: tuple[int, ...]) -> str:
    words = "queue" if len(queues) == 1 else "queues"
    return f"{words} {listing(sorted(queues))}" if queues else "no queue"


@rule(
    "LIV013",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=DCB + "«thresholds of ports»; columns of V200: EDOC1100155250",
    reads=reading(StateTopic.THRESHOLDS),
)
def thresholds(subject: LiveSubject) -> Iterator[Verdict]:
    """The PFC thresholds that a switch shows are those of the fabric.

    What was entered and what the chip took may differ (G2 rounds up to blocks of 320 bytes), and
    somebody may have changed one by hand. Thresholds in cells cannot be compared: the size of a
    cell is not told.

    Example: queue 4: xoff 640 KB and xon 550 KB, intended xoff 600 KB and xon 550 KB
    Fix: Enter the intended ones again while the port is idle, or correct the fabric.
    """
    for node, seen in subject.answering_switches:
        rows = {(row.interface, row.queue): row for row in seen.thresholds or ()}
        for port in subject.roce_ports(node):
            for wanted in port.interface.thresholds:
                row = rows.get((port.end.interface, wanted.queue))
                yield from _threshold(subject, port, wanted, row)


def _threshold(
    subject: LiveSubject, port: Port, wanted: PfcThreshold, row: ThresholdSeen | None
) -> Iterator[Verdict]:
    queue = f"queue {wanted.queue}"
    hint = "enter the intended thresholds again while the port is idle, or correct the fabric"
    static = f"xoff {wanted.xoff_kbytes} KB and xon {wanted.xon_kbytes} KB"
    path = "thresholds"
    if row is None:
        message = f"{queue}: the switch shows no threshold, intended {static}"
        yield subject.finding(port.end, message, hint, path=path)
    elif row.dynamic:
        message = f"{queue}: its threshold is dynamic ({row.text}), intended {static}"
        yield subject.finding(port.end, message, hint, path=path)
    elif row.xoff_kbytes is None or row.xon_kbytes is None:
        reason = "its thresholds are not shown in bytes, and the size of a cell is not told"
        yield subject.not_judged(port.end, reason)
    elif (row.xoff_kbytes, row.xon_kbytes) != (wanted.xoff_kbytes, wanted.xon_kbytes):
        shown = f"xoff {row.xoff_kbytes} KB and xon {row.xon_kbytes} KB"
        yield subject.finding(port.end, f"{queue}: {shown}, intended {static}", hint, path=path)
    elif wanted.headroom_kbytes and row.headroom_kbytes not in (None, wanted.headroom_kbytes):
        message = (
            f"{queue}: headroom {row.headroom_kbytes} KB, intended {wanted.headroom_kbytes} KB"
        )
        yield subject.finding(port.end, message, hint, path=path)


@rule(
    "LIV014",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=DCB + "«counters of PFC» (DeadlockNum)",
    reads=reading(StateTopic.PFC_COUNTERS),
)
def deadlocks(subject: LiveSubject) -> Iterator[Verdict]:
    """No queue of a port has met a PFC deadlock.

    A deadlock means that a port was held in pause for the whole detection time: a NIC that pauses
    without end, or switches that wait for each other in a circle (DLK001). One that rises is an
    error; an old one a warning, until «clear the counters of PFC» clears it. After many within
    20 s the port goes on without PFC (PFC007): see «where PFC was turned off».

    Example: queue 4 deadlocks: 2 since they were cleared
    Fix: Find who pauses without end; «clear the counters of PFC» clears the counter.
    """
    earlier = _earlier_deadlocks(subject)
    for node, seen in subject.answering_switches:
        for row in seen.pfc_counters or ():
            end = End(device=node.name, interface=row.interface)
            was = earlier.get((node.name, row.interface, row.queue))
            hint, lost = (
                "find who pauses without end; «clear the counters of PFC» clears the counter",
                "",
            )
            limit = _turn_off(node, row.interface, row.queue)
            if row.deadlocks - (was or 0) >= limit:
                hint, lost = LOST, f"; {limit} within 20 s turn PFC off"
            if was is not None and row.deadlocks > was:
                message = f"queue {row.queue} deadlocks: {row.deadlocks}, and {was} before{lost}"
                yield subject.finding(end, message, hint)
            elif row.deadlocks:
                message = f"queue {row.queue} deadlocks: {row.deadlocks} since they were cleared"
                message += lost
                yield subject.finding(end, message, hint, severity=Severity.WARNING)


def _turn_off(node: Node, interface: str, queue: int) -> int:
    """Deadlocks after which a port goes on without PFC."""
    port = node.device.by_interface.get(interface)
    profile = node.device.profile_of(port) if port else None
    return (profile or PfcProfile()).turn_off_of(queue)


def _earlier_deadlocks(subject: LiveSubject) -> dict[tuple[str, str, int], int]:
    devices = subject.before.devices if subject.before else ()
    return {
        (seen.name, row.interface, row.queue): row.deadlocks
        for seen in devices
        for row in seen.pfc_counters or ()
    }


@rule(
    "LIV015",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «counters of queues»",
    reads=reading(StateTopic.QUEUES),
    needs=(Need.LOSSLESS,),
)
def lossless_drops(subject: LiveSubject) -> Iterator[Verdict]:
    """The lossless queue drops nothing.

    A drop there says that a sender was not held back in time: PFC is off at the other end, headroom
    is too small for the cable, or the queue's drop threshold is below what PFC lets in. Drops that
    rise are an error; old ones a warning, until «clear the counters of queues» clears them.

    Example: queue 4 drops: 3 packets since it was cleared
    Fix: See PFC at the other end, headroom (BUF002) and drop profiles.
    """
    queue = subject.lossless.queue
    devices = subject.before.devices if subject.before else ()
    earlier = {
        (d.name, r.interface, r.queue): r.dropped_packets for d in devices for r in d.queues or ()
    }
    for node, seen in subject.answering_switches:
        for row in (row for row in seen.queues or () if row.queue == queue):
            end = End(device=node.name, interface=row.interface)
            was = earlier.get((node.name, row.interface, queue))
            hint = "see PFC at the other end, headroom (BUF002) and drop profiles"
            if was is not None and row.dropped_packets > was:
                message = f"queue {queue} drops: {row.dropped_packets} packets, and {was} before"
                yield subject.finding(end, message, hint)
            elif row.dropped_packets:
                message = f"queue {queue} drops: {row.dropped_packets} packets since it was cleared"
                yield subject.finding(end, message, hint, severity=Severity.WARNING)


@rule(
    "LIV016",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=DCB + "«counters of PFC»; pause time: IEEE 802.1Qbb; the limit is a choice",
    reads=reading(StateTopic.PFC_COUNTERS),
    needs=(Need.LOSSLESS,),
)
def pause_rate(subject: LiveSubject) -> Iterator[Verdict]:
    """PFC pauses the lossless queue seldom.

    ECN is meant to slow senders down before PFC has to: many pauses mean that marks come too late,
    or that one slow receiver holds up everybody.

    Example: queue 4 pauses received: 1001 a second, limit 1000; they stop the port up to 34% of the
    time
    Fix: Follow the pauses: the port that receives them leads to the next switch, down to the NIC
    that cannot keep up.
    """
    queue, limit = subject.lossless.queue, subject.limits.pause_rate
    for node, seen in subject.answering_switches:
        for row in (row for row in seen.pfc_counters or () if row.queue == queue):
            end = End(device=node.name, interface=row.interface)
            for way, rate in (("received", row.rx_rate), ("transmitted", row.tx_rate)):
                if rate > limit:
                    message = f"queue {queue} pauses {way}: {rate} a second, limit {limit}"
                    message += _share(subject, end, rate)
                    hint = "follow the pauses to the receiver that cannot keep up; see ECN"
                    yield subject.finding(end, message, hint)


def _share(subject: LiveSubject, end: End, rate: int) -> str:
    """How much of the time such pauses stop the port at most, each as long as can be."""
    gbps = subject.network.speed_gbps(end)
    if gbps is None:
        return ""
    share = min(1.0, rate * LONGEST_PAUSE_BITS / (gbps * 1e9))
    return f"; they stop the port up to {share:.0%} of the time"


@rule(
    "LIV017",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «state of AI-ECN»; whether V200 has it is not confirmed",
    reads=reading(StateTopic.AI_ECN, StateTopic.PORTS),
)
def ai_ecn(subject: LiveSubject) -> Iterator[Verdict]:
    """AI-ECN works on ports that are up, with the intended model.

    Mode `-` is abnormal: the queue marks by no model, and PFC does all the work. It needs PFC on
    the queue first. Another active model was tuned for other traffic. See «models of AI-ECN» and
    «state of AI-ECN».

    Example: queue 4 AI-ECN: its mode is abnormal (-), intended ai_ecn_hpc
    Fix: See «models of AI-ECN», and PFC of the queue.
    """
    for node, seen in subject.answering_switches:
        rows = {(row.interface, row.queue): row for row in seen.ai_ecn or ()}
        for port in subject.roce_ports(node) if node.device.ai_ecn.enabled else ():
            state = seen.by_port.get(port.end.interface)
            if state is None or not state.up:
                continue  # it works on ports that are up
            profile = node.device.profile_of(port.interface)
            paused = profile.queues if profile else ()  # a port without PFC: PFC002 tells
            for assigned in (queue for queue in node.device.ai_ecn.queues if queue.queue in paused):
                row = rows.get((port.end.interface, assigned.queue))
                yield from _model(subject, port, assigned, row)


def _model(
    subject: LiveSubject, port: Port, assigned: AiEcnQueue, row: AiEcnSeen | None
) -> Iterator[Verdict]:
    where, model = f"queue {assigned.queue} AI-ECN", assigned.model or DEFAULT_MODEL
    hint = "see «models of AI-ECN», and PFC of the queue"
    if row is None:
        message = f"{where}: the switch does not show it, intended {model}"
    elif row.mode == "-":
        message = f"{where}: its mode is abnormal (-), intended {model}"
    elif row.model.casefold() != model.casefold():
        message = f"{where}: model {row.model} is active, intended {model}"
    else:
        return
    yield subject.finding(port.end, message, hint)
