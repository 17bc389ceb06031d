"""Derive lossless parts of a Device: priority map, PFC, deadlock timers, AI-ECN, thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from rocefort.design.derive import ecn
from rocefort.design.derive.context import Context
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.interface import (
    FRAME_OVERHEAD_BYTES,
    JUMBO_FRAME_BYTES,
    DrrQueue,
    InterfacePfc,
    PfcThreshold,
)
from rocefort.models.device.lossless import (
    DSCPS,
    QUEUE_PHB,
    DiffservDomain,
    DscpMap,
    Pfc,
    PfcProfile,
    PfcTimer,
    PfcTurnOff,
    default_queue,
)
from rocefort.models.fabric.lossless import Deadlock, DeadlockTimers
from rocefort.models.hardware.hardware import Family, RecoveryBehavior
from rocefort.models.network.network import LosslessIntent


def intent(context: Context) -> LosslessIntent:
    """Intended treatment of RoCE, which no text contains."""
    lossless = context.lossless
    for name in ("queue", "roce_dscp", "cnp_dscp"):
        context.note_lossless("", f"lossless.{name}", name)
    for name in ("detect_ms", "recovery_ms"):
        context.note_lossless("", f"lossless.{name}", "deadlock", name)
    return LosslessIntent(
        queue=lossless.queue,
        roce_dscp=lossless.roce_dscp,
        cnp_dscp=lossless.cnp_dscp,
        cnp_queue=lossless.cnp_queue,
        detect_ms=lossless.deadlock.detect_ms,
        recovery_ms=lossless.deadlock.recovery_ms,
        headroom_mtu=max(JUMBO_FRAME_BYTES, context.fabric.mtu + FRAME_OVERHEAD_BYTES),
    )


def domain(context: Context, device: str) -> DiffservDomain:
    """Priority map with only differences from the default map, as a switch saves it."""
    lossless = context.lossless
    queues = dict.fromkeys((d for d in DSCPS if default_queue(d) == lossless.queue), 0)
    queues[lossless.cnp_dscp] = lossless.cnp_queue
    queues[lossless.roce_dscp] = lossless.queue
    rows = [
        DscpMap(value=dscp, phb=QUEUE_PHB[queue])
        for dscp, queue in queues.items()
        if queue != default_queue(dscp)
    ]
    context.note_lossless(device, f"domains[{lossless.domain}]", "roce_dscp")
    dot1p = DscpMap(value=lossless.queue, phb=QUEUE_PHB[0])
    return DiffservDomain(name=lossless.domain, dscp=tuple(rows), dot1p=(dot1p,))


def port(scope: Scope, name: str) -> dict[str, object]:
    """Fields of an Interface with RoCE traffic."""
    lossless = scope.context.lossless
    threshold = PfcThreshold(
        queue=lossless.queue,
        xoff_kbytes=lossless.xoff_kbytes,
        xon_kbytes=lossless.xon_kbytes,
        headroom_kbytes=lossless.headroom_kbytes if scope.family.headroom_kbytes else None,
    )
    return {
        "pfc": InterfacePfc(),
        "thresholds": (threshold,),
        "drr": tuple(DrrQueue(queue=row.queue, weight=row.weight) for row in lossless.scheduling),
        "markings": ecn.rows(scope, name),
    }


def note_port(scope: Scope, name: str) -> None:
    """Note a port with RoCE traffic; the sources of its fields are the same for all such ports."""
    scope.context.ports.append(f"{scope.switch.name}/interfaces[{name}]")


def pfc(scope: Scope) -> Pfc:
    """PFC of the whole switch, with the timers in the unit of its family."""
    lossless, family = scope.context.lossless, scope.family
    given = lossless.deadlock.of_family(family.name)
    path = ("deadlock", *(("by_family", str(family.name)) if given else ()))
    for part in ("detect_ms", "recovery_ms", "interval_ms", "profiles[default].timers"):
        scope.note_lossless(f"pfc.{part}", *path)
    timers = f"pfc.profiles[default].timers[{lossless.queue}]"
    for part in ("detect", "recovery"):
        own = _own_time(given, part)
        at = (*path, own) if own else ("deadlock", f"{part}_ms")
        for field in (f"pfc.{part}_ms", f"{timers}.{part}_time"):
            scope.note_lossless(field, *at)
    scope.note_lossless("pfc.profiles[default]", "queue")
    deadlocks = lossless.deadlock.turn_off
    turn_off = (PfcTurnOff(queue=lossless.queue, deadlocks=deadlocks),) if deadlocks else ()
    scope.note_lossless("pfc.profiles[default].turn_off", "deadlock", "turn_off")
    profile = PfcProfile(queues=(lossless.queue,), turn_off=turn_off)
    scope.note_lossless("pfc.recovery_behavior", "deadlock", "recovery_behavior")
    common = Pfc(
        profiles=(profile,),
        recovery_behavior=_recovery_behavior(scope),
        dscp_mapping=family.headroom_kbytes is not None,
        headroom_pool_kbytes=lossless.headroom_pool_kbytes if family.headroom_pool_kbytes else None,
    )
    if family.deadlock_detect_time is None:
        detect_ms, recovery_ms = times_ms(lossless.deadlock, family)
        return common.model_copy(update={"detect_ms": detect_ms, "recovery_ms": recovery_ms})
    counted = multiples(lossless.deadlock, family)
    if counted is None:  # allocation_problems reports it
        raise LookupError(family.name)
    timer = PfcTimer(
        queue=lossless.queue, detect_time=counted.detect, recovery_time=counted.recovery
    )
    profiles = (profile.model_copy(update={"timers": (timer,)}),)
    return common.model_copy(update={"profiles": profiles, "interval_ms": counted.interval_ms})


def _recovery_behavior(scope: Scope) -> RecoveryBehavior | None:
    """Return what the switch needs a line for: nothing that it does by default."""
    default = scope.family.recovery_behavior
    required: RecoveryBehavior | None = "discard" if scope.context.discards_on_recovery else default
    behavior = scope.context.lossless.deadlock.recovery_behavior or required
    return None if default in (None, behavior) else behavior


def _own_time(given: DeadlockTimers | None, part: str) -> str:
    """Return the key of a family's own time; empty: the common time applies."""
    keys = (f"{part}_time", f"{part}_ms")
    return next((key for key in keys if getattr(given, key, None) is not None), "")


@dataclass(frozen=True, slots=True)
class Multiples:
    """Deadlock timers as multiples of an interval; None: the family's default interval."""

    interval_ms: int | None
    detect: int
    recovery: int | None


def times_ms(deadlock: Deadlock, family: Family) -> tuple[int, int]:
    """Return (detection, recovery) in milliseconds: the family's own if given, else the common."""
    given = deadlock.of_family(family.name)
    detect_ms, recovery_ms = (given.detect_ms, given.recovery_ms) if given else (None, None)
    return (
        deadlock.detect_ms if detect_ms is None else detect_ms,
        deadlock.recovery_ms if recovery_ms is None else recovery_ms,
    )


def multiples(deadlock: Deadlock, family: Family) -> Multiples | None:
    """Return timers as multiples: as given, or of the smallest interval that fits both times.

    If no interval fits both, the smallest one is used. Then one timer is outside its range, and
    rule PFC004 reports it. None: the unit is unknown, or the times are no multiples of it.
    """
    given = deadlock.of_family(family.name)
    if given is not None and given.detect_time is not None:
        return Multiples(None, given.detect_time, given.recovery_time)
    intervals = family.deadlock_intervals_ms.values if family.deadlock_intervals_ms else ()
    detect_ms, recovery_ms = times_ms(deadlock, family)
    exact = [
        Multiples(interval, detect_ms // interval, recovery_ms // interval)
        for interval in intervals
        if detect_ms % interval == 0 and recovery_ms % interval == 0
    ]
    return next((timers for timers in exact if _settable(timers, family)), next(iter(exact), None))


def _settable(timers: Multiples, family: Family) -> bool:
    detect, recovery = family.deadlock_detect_time, family.deadlock_recovery_time
    return (
        detect is not None
        and timers.detect in detect
        and recovery is not None
        and timers.recovery is not None
        and timers.recovery in recovery
    )
