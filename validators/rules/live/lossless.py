"""Live rules on lossless state: PFC, its thresholds and counters, queues, AI-ECN."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.device.interface import PfcThreshold
from rocefort.models.device.lossless_queue import AiEcnQueue, PfcProfile
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node, Port
from rocefort.models.network.observed import AiEcnSeen, DeviceSeen, StateTopic, ThresholdSeen
from rocefort.models.wording import listing
from rocefort.validators.rules.live.switch_readings import LiveSubject, of_topic, reading
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Verdict, rule

DCB = "«the vendor's reference», DCB: "
LONGEST_PAUSE_BITS = 65535 * 512  # IEEE 802.1Qbb: a quantum is 512 bit times, 65535 at most
LOST = (  # hint for a port with as many deadlocks as turn PFC off
    "check «where PFC was turned off»; find the device that pauses without end, then enter "
    "«no PFC on a port» and «PFC on a port»: only these restore PFC"
)
DEADLOCKED = (
    "find the device that pauses without end; «clear the counters of PFC» clears the counter"
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

    One port without PFC drops packets that all other ports would hold back. Enter «PFC in manual
    mode» again (the switch may refuse it while the port is congested). Then check the queues in
    «queues of PFC profiles»: a profile pauses queue 3 by default until «no pause of queue: 3».

    Example: PFC: it is -, intended on with profile default
    Fix: Enter «PFC on a port» in the port's view while the port is idle.
    """
    for node, seen in subject.answering_switches:
        rows = {row.interface: row for row in seen.pfc_ports or ()}
        for port in subject.roce_ports(node):
            row, pfc = rows.get(port.end.interface), port.interface.pfc
            if pfc is None:
                continue  # PFC002 reports it
            name, topic = port.end.interface, StateTopic.PFC_PORTS
            if row is None and subject.may_be_unread(node, seen, topic, name):
                continue
            if row is None or not row.enabled:
                shown = row.state if row else "not shown"
                message = f"PFC: it is {shown}, intended on with profile {pfc.profile}"
                hint = "enter «PFC on a port» in its view while it is idle"
                yield subject.finding(port.end, message, hint, path="pfc")
            elif row.profile != pfc.profile:
                message = f"PFC: profile {row.profile} is applied, intended {pfc.profile}"
                yield subject.finding(port.end, message, f"apply profile {pfc.profile}", path="pfc")
        yield from _profiles(subject, node, seen)


def _profiles(subject: LiveSubject, node: Node, seen: DeviceSeen) -> Iterator[Verdict]:
    reported = {profile.name: profile.queues for profile in seen.pfc_profiles or ()}
    ports = (port.interface for port in subject.roce_ports(node))
    intended = {p.name: p for port in ports if (p := node.device.profile_of(port))}
    for name, profile in intended.items():
        queues = reported.get(name)
        if queues is None and subject.may_be_unread(node, seen, StateTopic.PFC_PROFILES, name):
            continue
        if queues is None or set(queues) != set(profile.queues):
            pauses = f"pauses {_queues(queues)}" if queues is not None else "does not exist"
            message = f"PFC profile {name}: it {pauses}, intended {_queues(profile.queues)}"
            path = f"pfc.profiles[{name}]"
            yield subject.finding(
                node,
                message,
                f"make the profile pause {_queues(profile.queues)}: «a paused queue»",
                path=path,
            )


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
    """The PFC thresholds of a switch are those of the fabric.

    The chip may use other values than the configuration (G2 rounds up to blocks of 320 bytes), or
    an operator changed a threshold by hand. Thresholds in cells cannot be compared: the switch
    does not show the size of a cell.

    Example: queue 4: xoff 640 KB and xon 550 KB, intended xoff 600 KB and xon 550 KB
    Fix: Enter the intended thresholds again while the port is idle, or correct the fabric.
    """
    for node, seen in subject.answering_switches:
        rows = {(row.interface, row.queue): row for row in seen.thresholds or ()}
        for port in subject.roce_ports(node):
            for intended in port.interface.thresholds:
                row = rows.get((name := port.end.interface, intended.queue))
                topic = StateTopic.THRESHOLDS
                if row is None and subject.may_be_unread(node, seen, topic, name):
                    continue
                yield from _threshold(subject, port, intended, row)


def _threshold(
    subject: LiveSubject, port: Port, intended: PfcThreshold, row: ThresholdSeen | None
) -> Iterator[Verdict]:
    queue = f"queue {intended.queue}"
    hint = "enter the intended thresholds again while the port is idle, or correct the fabric"
    static = f"xoff {intended.xoff_kbytes} KB and xon {intended.xon_kbytes} KB"
    path = "thresholds"
    if row is None:
        message = f"{queue}: the switch shows no threshold, intended {static}"
        yield subject.finding(port.end, message, hint, path=path)
    elif row.dynamic:
        message = f"{queue}: its threshold is dynamic ({row.text}), intended {static}"
        yield subject.finding(port.end, message, hint, path=path)
    elif row.xoff_kbytes is None or row.xon_kbytes is None:
        reason = "its thresholds are not shown in bytes, and the size of a cell is not known"
        yield subject.not_judged(port.end, reason, of_topic(StateTopic.THRESHOLDS))
    elif (row.xoff_kbytes, row.xon_kbytes) != (intended.xoff_kbytes, intended.xon_kbytes):
        shown = f"xoff {row.xoff_kbytes} KB and xon {row.xon_kbytes} KB"
        yield subject.finding(port.end, f"{queue}: {shown}, intended {static}", hint, path=path)
    elif intended.headroom_kbytes and row.headroom_kbytes not in (None, intended.headroom_kbytes):
        message = (
            f"{queue}: headroom {row.headroom_kbytes} KB, intended {intended.headroom_kbytes} KB"
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
    """No queue of a port has had a PFC deadlock.

    A deadlock means that a port was paused for the whole detection time. The cause is a NIC that
    pauses without end, or a cyclic buffer dependency (DLK001). A rising counter is an error; an old
    deadlock is a warning, until «clear the counters of PFC» clears it. After many deadlocks within
    20 s the port continues without PFC (PFC007): see «where PFC was turned off».

    Example: queue 4 deadlocks: 2 since they were cleared
    Fix: Find the device that pauses without end; «clear the counters of PFC» clears the counter.
    """
    earlier = _earlier_deadlocks(subject)
    for node, seen in subject.answering_switches:
        for row in seen.pfc_counters or ():
            end = End(device=node.name, interface=row.interface)
            was = earlier.get((node.name, row.interface, row.queue))
            hint, lost = DEADLOCKED, ""
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
    """Number of deadlocks after which a port turns PFC off."""
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

    A drop there means that a pause did not stop a sender in time. PFC is off at the other end,
    headroom is too small for the cable, or the queue's drop threshold is below the depth that PFC
    allows. Rising drops are an error; old drops are a warning, until «clear the counters of queues»
    clears them.

    Example: queue 4 drops: 3 packets since it was cleared
    Fix: Check PFC at the other end, headroom (BUF001) and drop profiles.
    """
    devices = subject.before.devices if subject.before else ()
    earlier = {
        (d.name, r.interface, r.queue): r.dropped_packets for d in devices for r in d.queues or ()
    }
    for node, seen in subject.answering_switches:
        queue = subject.lossless_of(node.name).queue
        for row in (row for row in seen.queues or () if row.queue == queue):
            end = End(device=node.name, interface=row.interface)
            was = earlier.get((node.name, row.interface, queue))
            hint = "check PFC at the other end, headroom (BUF001) and drop profiles"
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
    """The rate of PFC pauses of the lossless queue is low.

    ECN should slow senders down before PFC has to stop them. Many pauses mean that marks come too
    late, or that one slow receiver delays all others.

    Example: queue 4 pauses received: 1001 a second, limit 1000; they stop the port up to 34% of the
    time
    Fix: Follow the pauses from each port that receives them to the next switch, down to the NIC
    that cannot keep up.
    """
    limit = subject.limits.pause_rate
    for node, seen in subject.answering_switches:
        queue = subject.lossless_of(node.name).queue
        for row in (row for row in seen.pfc_counters or () if row.queue == queue):
            end = End(device=node.name, interface=row.interface)
            for direction, rate in (("received", row.rx_rate), ("transmitted", row.tx_rate)):
                if rate > limit:
                    message = f"queue {queue} pauses {direction}: {rate} a second, limit {limit}"
                    message += _share(subject, end, rate)
                    hint = "follow the pauses to the receiver that cannot keep up; see ECN"
                    yield subject.finding(end, message, hint)


def _share(subject: LiveSubject, end: End, rate: int) -> str:
    """Largest share of the time that such pauses stop the port, in words."""
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
    """AI-ECN runs on ports that are up, with the intended model.

    Mode `-` is abnormal: no model marks the queue, and only PFC controls congestion. AI-ECN needs
    PFC on the queue first. Another model was tuned for other traffic. See «models of AI-ECN» and
    «state of AI-ECN».

    Example: queue 4 AI-ECN: its mode is abnormal (-), intended ai_ecn_hpc
    Fix: Check «models of AI-ECN», and PFC of the queue.
    """
    for node, seen in subject.answering_switches:
        rows = {(row.interface, row.queue): row for row in seen.ai_ecn or ()}
        for port in subject.roce_ports(node) if node.device.ai_ecn.enabled else ():
            state = seen.by_port.get(port.end.interface)
            if state is None or not state.up:
                continue  # AI-ECN runs only on ports that are up
            profile = node.device.profile_of(port.interface)
            paused = profile.queues if profile else ()  # PFC002 reports a port without PFC
            for assigned in (queue for queue in node.device.ai_ecn.queues if queue.queue in paused):
                row = rows.get((name := port.end.interface, assigned.queue))
                if row is None and subject.may_be_unread(node, seen, StateTopic.AI_ECN, name):
                    continue
                yield from _model(subject, port, assigned, row)


def _model(
    subject: LiveSubject, port: Port, assigned: AiEcnQueue, row: AiEcnSeen | None
) -> Iterator[Verdict]:
    where, model = f"queue {assigned.queue} AI-ECN", assigned.model or DEFAULT_MODEL
    hint = "check «models of AI-ECN», and PFC of the queue"
    if row is None:
        message = f"{where}: the switch does not show it, intended {model}"
    elif row.mode == "-":
        message = f"{where}: its mode is abnormal (-), intended {model}"
    elif row.model.casefold() != model.casefold():
        message = f"{where}: model {row.model} is active, intended {model}"
    else:
        return
    yield subject.finding(port.end, message, hint)
