"""Rules on PFC: thresholds, paused queues, the mode and deadlock timers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rocefort.models.device.interface import ETHERNET_MTU, PfcThreshold, xon_at_most_xoff
from rocefort.models.device.lossless_queue import TURN_OFF_DEADLOCKS, PfcProfile, PfcTimer
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Fact, Family, Range
from rocefort.models.network.network import End, LosslessIntent, Node
from rocefort.models.units import KBYTE
from rocefort.models.wording import listing
from rocefort.validators.facts.roce_ports import QUEUE_UNKNOWN, lossless_queues, queue_words
from rocefort.validators.rules.missing import QUEUE, Missing, Need, of_family
from rocefort.validators.rules.registry import Subject, Verdict, rule

DCB = "«the vendor's reference», DCB"
LONG_MS = 1000  # beyond it a deadlock stops a queue for longer than any vendor's default
SHOWN_BY = {"detection": "deadlock_detect_time", "recovery": "deadlock_recovery_time"}


@rule(
    "PFC001",
    severity=Severity.ERROR,
    source=f"{DCB}, «PFC thresholds»; DCQCN, SIGCOMM 2015 (resume at xoff less two MTU)",
    wants=(Need.LOSSLESS, Need.FAMILY),
)
def thresholds(subject: Subject) -> Iterator[Verdict]:
    """xon is at most xoff, two frames apart, and xoff can be set.

    A pause stops traffic above xoff, and ends below xon. If the two are less than two frames apart,
    a port pauses and resumes with every packet.

    Example: queue 4: xon 601 KB is above xoff 600 KB
    Fix: Lower xon or raise xoff.
    """
    for node in subject.network.nodes:
        intent = subject.network.lossless_of(node.name)
        mtu = intent.headroom_mtu if intent else None
        rows = [
            (interface.name, row)
            for interface in node.device.interfaces
            for row in interface.thresholds
        ]
        for interface in node.device.interfaces:
            frame = mtu or interface.mtu or ETHERNET_MTU  # the least that is known of the port
            for row in interface.thresholds:
                if row.xoff_kbytes < row.xon_kbytes + 2 * frame / KBYTE:
                    yield from _hysteresis(subject, node, interface.name, row, frame)
        for interface in node.device.interfaces:
            for other in interface.other_thresholds:
                unit = "in cells" if other.unit == "cells" else "a share of the free buffer"
                yield subject.not_judged(
                    End(device=node.name, interface=interface.name),
                    f"queue {other.queue}: its xoff is {unit}, which is not known in bytes",
                    Missing("xoff in bytes", "thresholds of ports"),
                    path=f"other_thresholds[{other.queue}]",
                )
        if rows and node.family is not None:
            yield from _xoff_range(subject, node, node.family, rows)


def _hysteresis(
    subject: Subject, node: Node, name: str, row: PfcThreshold, mtu: int
) -> Iterator[Verdict]:
    gap, path = row.xoff_kbytes - row.xon_kbytes, f"thresholds[{row.queue}]"
    if not xon_at_most_xoff(row.xon_kbytes, row.xoff_kbytes):
        yield subject.finding(
            End(device=node.name, interface=name),
            f"queue {row.queue}: xon {row.xon_kbytes} KB is above xoff {row.xoff_kbytes} KB",
            "set xon below xoff",
            path=path,
        )
    else:
        yield subject.finding(
            End(device=node.name, interface=name),
            f"queue {row.queue}: xon {row.xon_kbytes} KB and xoff {row.xoff_kbytes} KB are "
            f"{gap} KB apart; two frames of {mtu} bytes need {-(-2 * mtu // KBYTE)} KB",
            "lower xon or raise xoff",
            path=path,
        )


def _xoff_range(
    subject: Subject, node: Node, family: Family, rows: list[tuple[str, PfcThreshold]]
) -> Iterator[Verdict]:
    limits = family.xoff_kbytes
    if limits is None or not limits.confirmed:
        yield subject.not_judged(
            node,
            f"the range of xoff on {family.name} is not confirmed by the vendor",
            of_family(family, "xoff_kbytes", "the range of xoff"),
        )
        return
    for name, row in rows:
        if row.xoff_kbytes not in limits:
            yield subject.finding(
                End(device=node.name, interface=name),
                f"queue {row.queue}: xoff {row.xoff_kbytes} KB cannot be set on {family.name} "
                f"({limits.low} to {limits.high} KB)",
                "choose an xoff in that range",
                path=f"thresholds[{row.queue}].xoff_kbytes",
            )


@rule(
    "PFC002",
    severity=Severity.ERROR,
    source=f"{DCB}, «a PFC profile», «a paused queue» (queue 3 is on by default); "
    "HEPS: Network 2025, 5(4), 53 (queue 4 only)",
    wants=(Need.LINKS, Need.SERVERS, Need.FAMILY),
)
def only_lossless_queue(subject: Subject) -> Iterator[Verdict]:
    """Only the lossless queue is paused, at both ends of a cable.

    If only one end pauses a queue, the other end loses packets. A second paused queue takes buffer
    and spreads congestion. A PFC profile pauses queue 3 by default: «no pause of queue: 3».

    Example: PFC is off, and RoCE passes here; queue 4 must be paused at both ends of every cable
    Fix: Add «PFC in manual mode» to the port; pause only the lossless queue in its profile.
    """
    if not lossless_queues(subject.network):
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    for switch in subject.switches:
        node, queues = switch.node, lossless_queues(subject.network, switch.node.name)
        paused = queue_words(queues)
        for port in switch.roce_ports:
            if port.interface.pfc is None:
                yield subject.finding(
                    port.end,
                    f"PFC is off, and RoCE passes here; {paused} must be paused at both ends of "
                    "every cable",
                    "add «PFC in manual mode» to the port",
                    path="pfc",
                )
        used = _used_profiles(node)
        if None in used:
            yield from _undefined_profiles(subject, node)
        for profile in filter(None, used):
            yield from _queues(subject, node, profile, queues)
        if node.family is not None:
            yield from _queue_range(subject, node, node.family, queues)


def _queue_range(
    subject: Subject, node: Node, family: Family, queues: Sequence[int]
) -> Iterator[Verdict]:
    limits = family.pfc_queues
    if not limits.confirmed:
        yield subject.not_judged(
            node,
            f"which queues {family.name} can pause is not confirmed by the vendor",
            of_family(family, "pfc_queues", "which queues can be paused"),
        )
    elif outside := [queue for queue in queues if queue not in limits]:
        yield subject.finding(
            node,
            f"{queue_words(outside)} cannot be paused on {family.name} "
            f"(queues {limits.low} to {limits.high})",
            "choose a lossless queue that every switch can pause",
            path="pfc",
        )


def _undefined_profiles(subject: Subject, node: Node) -> Iterator[Verdict]:
    for interface in node.device.interfaces:
        if interface.pfc is not None and node.device.profile_of(interface) is None:
            yield subject.finding(
                End(device=node.name, interface=interface.name),
                f"PFC profile {interface.pfc.profile} is applied, but not defined",
                f"define it with «a PFC profile: {interface.pfc.profile}», or apply another",
                path="pfc",
            )


def _used_profiles(node: Node) -> tuple[PfcProfile | None, ...]:
    """Profiles that ports apply, by name; None for one that is not defined."""
    used = {i.pfc.profile: i for i in node.device.interfaces if i.pfc}
    return tuple(node.device.profile_of(used[name]) for name in sorted(used))


def _queues(
    subject: Subject, node: Node, profile: PfcProfile, queues: Sequence[int]
) -> Iterator[Verdict]:
    if sorted(profile.queues) == list(queues):
        return
    paused, required = queue_words(profile.queues), queue_words(queues)
    undo = [f"«no pause of queue: {q}»" for q in profile.queues if q not in queues]
    add = [f"«a paused queue: {q}»" for q in queues if q not in profile.queues]
    yield subject.finding(
        node,
        f"PFC profile {profile.name} pauses {paused}; it must pause {required} and no other",
        f"enter {listing([*add, *undo])} in the profile",
        path=f"pfc.profiles[{profile.name}].queues",
    )


@rule(
    "PFC003",
    severity=Severity.ERROR,
    source=f"{DCB}, «PFC on a port»; HEPS: Network 2025, 5(4), 53 (manual mode)",
)
def manual_mode(subject: Subject) -> Iterator[Verdict]:
    """PFC is in manual mode on every port that has it.

    In auto mode a port pauses only if DCBX agrees on it with the neighbour. Deadlock timers need a
    profile that is applied in manual mode.

    Example: PFC mode is auto, where the neighbour decides by DCBX; it must be manual
    Fix: Use «PFC in manual mode».
    """
    for node in subject.network.nodes:
        for interface in node.device.interfaces:
            if interface.pfc is not None and interface.pfc.mode != "manual":
                yield subject.finding(
                    End(device=node.name, interface=interface.name),
                    f"PFC mode is {interface.pfc.mode}, where the neighbour decides by DCBX; "
                    "it must be manual",
                    "use «PFC in manual mode»",
                    path="pfc.mode",
                )


@rule(
    "PFC005",
    severity=Severity.ERROR,
    source="IEEE 802.1Q, 36 (PFC and 802.3x PAUSE exclude each other on a link); "
    f"{DCB}, «PFC on a port» and «802.3x flow control»",
)
def no_link_pause(subject: Subject) -> Iterator[Verdict]:
    """802.3x flow control is off on every port that has PFC.

    An 802.3x pause stops the whole link, with CNPs and management traffic; a PFC pause stops one
    priority.

    Example: 802.3x flow control is on beside PFC; its pauses stop all priorities
    Fix: Remove «802.3x flow control» from the port; it is off by default.
    """
    for node in subject.network.nodes:
        for interface in node.device.interfaces:
            if interface.pfc is not None and interface.flow_control:
                yield subject.finding(
                    End(device=node.name, interface=interface.name),
                    "802.3x flow control is on beside PFC; its pauses stop all priorities",
                    "enter «no 802.3x flow control» on the port",
                    path="flow_control",
                )


@dataclass(frozen=True, slots=True)
class DeadlockTimer:
    """Deadlock timer of a switch, with its range of values. raw None: not known.

    raw is the number on the command line, or its default, in units of unit_ms.
    """

    name: str  # detection or recovery
    raw: int | None
    unit_ms: int | None
    settable: Range | None
    intent_ms: int | None
    path: str

    @property
    def limits(self) -> str:
        """Range in milliseconds, in words."""
        if self.settable is None or self.unit_ms is None:
            return "none"
        words = f"{self.settable.low * self.unit_ms} to {self.settable.high * self.unit_ms} ms"
        return words if self.unit_ms == 1 else f"{words} in intervals of {self.unit_ms} ms"


@rule(
    "PFC004",
    severity=Severity.ERROR,
    source=f"{DCB}, «deadlock detection» and «deadlock recovery» (G1: 10 to 1500 ms; "
    "G2: multiples of an interval); HEPS: Network 2025, 5(4), 53 (10 s)",
    needs=(Need.FAMILY,),
    wants=(Need.LOSSLESS,),
)
def deadlock_timers(subject: Subject) -> Iterator[Verdict]:
    """Deadlock timers are in range, and are as intended.

    HEPS publishes 10 s. A V300 G1 switch accepts 10 to 1500 ms, so that such a fabric must give the
    family a value of its own; a finding (info) then reports the difference. Above one second, a
    deadlock stops a queue for longer than any vendor's default. 10 s may also be 100 ms with a
    wrong unit: request «the deadlock lines of what runs» from the site.

    Example: deadlock detection time 10000 ms cannot be set on v300-g1 (10 to 1500 ms)
    Fix: Give the family a value of its own (lossless.deadlock.by_family).
    """
    network = subject.network
    yield from _long_intents(subject)
    for node in subject.network.nodes:
        queues, intent = lossless_queues(network, node.name), network.lossless_of(node.name)
        if node.family is None:
            continue
        if not queues:
            yield subject.not_judged(
                node, "the lossless queue, whose timers count, is not known", QUEUE
            )
            continue
        if unsettable := list(_interval(subject, node, node.family)):
            yield from unsettable  # and what counts in it cannot be judged either
            continue
        timers = chain.from_iterable(_timers(node, node.family, q, intent) for q in queues)
        for timer in dict.fromkeys(timers):
            yield from _judge_timer(subject, node, node.family, timer)


def _interval(subject: Subject, node: Node, family: Family) -> Iterator[Verdict]:
    interval, settable = node.device.pfc.interval_ms, family.deadlock_intervals_ms
    if interval is not None and settable is not None and interval not in settable:
        yield subject.finding(
            node,
            f"the deadlock timers count intervals of {interval} ms, which cannot be set on "
            f"{family.name} ({settable} ms)",
            "choose one of these intervals, and the multiples that give the intended times",
            path="pfc.interval_ms",
        )


def _long_intents(subject: Subject) -> Iterator[Verdict]:
    """Report long times once, and on switches with a profile of their own that has others."""
    common, by_name = subject.network.lossless, subject.network.by_name
    usual = _times(common) if common else {}
    rows: list[tuple[Node | None, str, int]] = [(None, *row) for row in usual.items()]
    for switch, own in subject.network.own_lossless.items():
        others = (row for row in _times(own).items() if row not in usual.items())
        rows += [(by_name.get(switch), *row) for row in others]
    for place, name, time_ms in rows:
        if time_ms > LONG_MS:
            path = "lossless.detect_ms" if name == "detection" else "lossless.recovery_ms"
            message, hint = _too_long(f"the intended deadlock {name} time", time_ms)
            yield subject.finding(place, message, hint, path=path, severity=Severity.WARNING)


def _times(intent: LosslessIntent) -> dict[str, int]:
    return {"detection": intent.detect_ms, "recovery": intent.recovery_ms}


def _too_long(what: str, time_ms: int) -> tuple[str, str]:
    """Message and hint."""
    message = (
        f"{what} is {time_ms} ms; over {LONG_MS} ms a deadlock stops a queue for long, "
        "and the unit may be wrong"
    )
    return message, "confirm the time and its unit on a switch; the vendor's default is 100 ms"


def _timers(
    node: Node, family: Family, queue: int, intent: LosslessIntent | None
) -> Iterator[DeadlockTimer]:
    """Both timers, in the form of the family."""
    pfc = node.device.pfc
    detect_ms, recovery_ms = (intent.detect_ms, intent.recovery_ms) if intent else (None, None)
    if family.deadlock_detect_ms is not None:
        times = _defaulted((pfc.detect_ms, pfc.recovery_ms), family.deadlock_default_ms)
        in_ms = family.deadlock_detect_ms, family.deadlock_recovery_ms
        yield DeadlockTimer("detection", times[0], 1, in_ms[0], detect_ms, "pfc.detect_ms")
        yield DeadlockTimer("recovery", times[1], 1, in_ms[1], recovery_ms, "pfc.recovery_ms")
        return
    interval = family.deadlock_interval_ms
    # An interval has no meaning where the family's unit is not known (V200).
    unit = None if interval is None else pfc.interval_ms or interval.value
    profile, row = _timer_row(node, queue)
    path = f"pfc.profiles[{profile}].timers[{queue}]" if row else "pfc"
    saved = (row.detect_time, row.recovery_time) if row else (None, None)
    times = _defaulted(saved, family.deadlock_default_time)
    settable = family.deadlock_detect_time, family.deadlock_recovery_time
    yield DeadlockTimer("detection", times[0], unit, settable[0], detect_ms, path)
    yield DeadlockTimer("recovery", times[1], unit, settable[1], recovery_ms, path)


def _defaulted(
    saved: tuple[int | None, int | None], default: Fact | None
) -> tuple[int | None, int | None]:
    """Saved values, or the default, which a switch does not save, where it is confirmed."""
    value = default.value if default and default.confirmed else None
    detect, recovery = saved
    return value if detect is None else detect, value if recovery is None else recovery


def _timer_row(node: Node, queue: int) -> tuple[str, PfcTimer | None]:
    rows = (
        (p.name, t)
        for p in filter(None, _used_profiles(node))
        for t in p.timers
        if t.queue == queue
    )
    return next(rows, ("", None))


def _judge_timer(
    subject: Subject, node: Node, family: Family, timer: DeadlockTimer
) -> Iterator[Verdict]:
    name, settable = timer.name, timer.settable
    if settable is None or timer.unit_ms is None or not settable.confirmed:
        facts = "unit and range on {} are" if timer.unit_ms is None else "range on {} is"
        yield subject.not_judged(
            node,
            f"deadlock {name} time: its {facts.format(family.name)} not confirmed by the vendor",
            of_family(family, SHOWN_BY[name], f"unit and range of the deadlock {name} time"),
            path=timer.path,
        )
        return
    if timer.raw is None:
        yield from _unset(subject, node, family, timer)
        return
    time_ms = timer.raw * timer.unit_ms
    if timer.raw not in settable:
        yield from _unsettable(subject, node, family, timer, time_ms)
        return
    if timer.intent_ms not in (None, time_ms):
        yield subject.finding(
            node,
            f"deadlock {name} time is {time_ms} ms on {family.name}; intended {timer.intent_ms} ms",
            "nothing, if the family has its own value on purpose",
            path=timer.path,
            severity=Severity.INFO,
        )
    if time_ms > LONG_MS and time_ms != timer.intent_ms:  # else reported once, above
        message, hint = _too_long(f"deadlock {name} time", time_ms)
        yield subject.finding(node, message, hint, path=timer.path, severity=Severity.WARNING)


def _unset(subject: Subject, node: Node, family: Family, timer: DeadlockTimer) -> Iterator[Verdict]:
    if timer.intent_ms is not None:
        yield subject.finding(
            node,
            f"deadlock {timer.name} time is not set, and the default of {family.name} is not "
            f"known; intended {timer.intent_ms} ms",
            f"set it ({timer.limits}), or lossless.deadlock.by_family.{family.name}",
            path=timer.path,
        )


def _unsettable(
    subject: Subject, node: Node, family: Family, timer: DeadlockTimer, time_ms: int
) -> Iterator[Verdict]:
    yield subject.finding(
        node,
        f"deadlock {timer.name} time {time_ms} ms cannot be set on {family.name} ({timer.limits})",
        f"give the family a value of its own (lossless.deadlock.by_family.{family.name})",
        path=timer.path,
    )


@rule(
    "PFC007",
    severity=Severity.INFO,
    source=f"{DCB}, «the limit of deadlocks of a queue», «the limit of deadlocks of a port»; "
    "typed on V200 switches",
)
def keeps_pfc(subject: Subject) -> Iterator[Verdict]:
    """No port turns PFC off sooner than by the switch's default.

    After this number of deadlocks within 20 s, a port continues without PFC and drops the frames
    that PFC would hold back. PFC stays off, although the configuration still has «PFC on a port».
    LIV014 counts the deadlocks of such a port, and «where PFC was turned off» shows TurnOff.

    Example: PFC profile default: 20 deadlocks of queue 4 within 20 s turn PFC off, by default 30 do
    Fix: Find the device that pauses without end, and stop it. Then enter «no PFC on a port»,
    commit, enter «PFC in manual mode», commit: only these steps restore PFC.
    """
    for node in subject.network.nodes:
        yield from _gives_up(subject, node)


def _gives_up(subject: Subject, node: Node) -> Iterator[Verdict]:
    for profile in filter(None, _used_profiles(node)):
        for row in profile.turn_off:
            if row.deadlocks < TURN_OFF_DEADLOCKS:
                yield subject.finding(
                    node,
                    f"PFC profile {profile.name}: {row.deadlocks} deadlocks of queue {row.queue} "
                    f"within 20 s turn PFC off, by default {TURN_OFF_DEADLOCKS} do",
                    "raise it, or plan who restores PFC",
                    path=f"pfc.profiles[{profile.name}].turn_off[{row.queue}]",
                )
