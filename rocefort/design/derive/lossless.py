"""Derive lossless parts of a Device: priority map, PFC, deadlock timers, ECN, thresholds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.derive.switch_context import LeafSpineLink, Scope
from rocefort.design.load.profiles import LosslessUse
from rocefort.models.device.interface import (
    FRAME_OVERHEAD_BYTES,
    JUMBO_FRAME_BYTES,
    DrrQueue,
    Interface,
    InterfacePfc,
    PfcThreshold,
)
from rocefort.models.device.lossless_queue import (
    DSCPS,
    QUEUE_PHB,
    AiEcn,
    AiEcnQueue,
    DiffservDomain,
    DropLimits,
    DropProfile,
    DscpMap,
    Pfc,
    PfcProfile,
    PfcTimer,
    PfcTurnOff,
    QueueMarking,
    default_queue,
)
from rocefort.models.fabric.lossless import (
    AiEcnProfile,
    Deadlock,
    DeadlockTimers,
    EcnThresholds,
    StaticEcn,
    drop_profile_name,
)
from rocefort.models.fabric.topology import Switch
from rocefort.models.hardware.hardware import Family, RecoveryBehavior
from rocefort.models.network.network import LosslessIntent
from rocefort.models.units import KBYTE


def ai_ecn(context: Context, device: str, use: LosslessUse) -> AiEcn:
    """AI-ECN on the lossless queue, if the profile has that kind."""
    profile = use.ecn
    if not isinstance(profile, AiEcnProfile):
        return AiEcn()
    position = use.ecn_use.key_at(("model" if profile.model else "kind",))
    context.note_position(device, "ai_ecn", position)
    queue = AiEcnQueue(queue=use.profile.queue, model=profile.model)
    return AiEcn(enabled=True, queues=(queue,))


def port_markings(scope: Scope, port: str) -> tuple[QueueMarking, ...]:
    """Marking of the lossless queue on a RoCE port, by static thresholds for its speed."""
    use, gbps = scope.lossless, scope.speed_gbps(port)
    if gbps is None or not isinstance(use.ecn, StaticEcn):
        return ()
    profile = drop_profile_name(use.ecn_use.name, gbps)
    return (QueueMarking(queue=use.profile.queue, profile=profile, ecn=True),)


def drop_profiles(scope: Scope, interfaces: Iterable[Interface]) -> tuple[DropProfile, ...]:
    """Drop profiles that the ports of a switch use, one for each speed."""
    ecn = scope.lossless.ecn
    if not isinstance(ecn, StaticEcn):
        return ()
    used = {row.profile for interface in interfaces for row in interface.markings}
    profiles: list[DropProfile] = []
    for gbps, thresholds in ecn.thresholds.items():
        name = drop_profile_name(scope.lossless.ecn_use.name, int(gbps))
        if name in used:
            scope.note_ecn(f"drop_profiles[{name}]", "thresholds", gbps)
            profiles.append(DropProfile(name=name, ecn=_limits(thresholds)))
    return tuple(profiles)


def enabled(scope: Scope) -> bool:
    """Whether a switch needs `qos ecn enable`."""
    needed = isinstance(scope.lossless.ecn, StaticEcn) and scope.family.ecn_enable
    if needed:
        scope.note_ecn("ecn_enabled", "kind")
    return needed


def _limits(thresholds: EcnThresholds) -> DropLimits:
    return DropLimits(
        low=thresholds.kmin_kbytes * KBYTE,
        high=thresholds.kmax_kbytes * KBYTE,
        percent=thresholds.pmax_percent,
        unit="bytes",
    )


def speed_problems(context: Context, joints: Sequence[LeafSpineLink]) -> Iterator[Problem]:
    """Yield a problem for each speed of RoCE ports without thresholds in their ECN profile."""
    ports: dict[tuple[str, int | None], list[str]] = defaultdict(list)
    for switch, name in _roce_ports(context, joints):
        at = context.fabric.lossless_of(switch), context.speed_gbps(switch, name)
        ports[at].append(f"{switch.name} {name}")
    for (profile, gbps), names in ports.items():
        use = context.lossless_named(profile)
        if isinstance(use.ecn, StaticEcn) and str(gbps) not in use.ecn.thresholds:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            have = f"{names[0]}{more} {'has' if len(names) == 1 else 'have'}"
            yield use.ecn_use.problem(
                ("thresholds",),
                f"no thresholds for ports of {gbps} Gb/s, which {have}",
                f"add {gbps}, or name another ECN profile in the lossless profile",
            )


def _roce_ports(context: Context, joints: Iterable[LeafSpineLink]) -> Iterator[tuple[Switch, str]]:
    for joint in joints:
        yield joint.spine.switch, joint.spine.port
        yield joint.leaf.switch, joint.leaf.port
    for leaf in context.fabric.leaves:
        for _, server in context.servers_of.get(leaf.name, ()):
            if server.roce:
                yield from ((leaf, port) for port in server.ports)
        yield from ((leaf, exit_.port) for exit_ in leaf.exits if exit_.lossless)


def intent(context: Context, device: str, use: LosslessUse) -> LosslessIntent:
    """Intended treatment of RoCE on a switch, which no text contains; device empty: on most."""
    lossless = use.profile
    for name in ("queue", "roce_dscp", "cnp_dscp"):
        context.note_position(device, f"lossless.{name}", use.use.key_at((name,)))
    for name in ("detect_ms", "recovery_ms"):
        context.note_position(device, f"lossless.{name}", use.use.key_at(("deadlock", name)))
    return LosslessIntent(
        profile=use.name,
        queue=lossless.queue,
        roce_dscp=lossless.roce_dscp,
        cnp_dscp=lossless.cnp_dscp,
        cnp_queue=lossless.cnp_queue,
        detect_ms=lossless.deadlock.detect_ms,
        recovery_ms=lossless.deadlock.recovery_ms,
        headroom_mtu=max(JUMBO_FRAME_BYTES, context.fabric.mtu + FRAME_OVERHEAD_BYTES),
    )


def own_intents(context: Context) -> dict[str, LosslessIntent]:
    """Intended treatment of RoCE on switches whose profile is not the fabric's."""
    return {
        switch.name: intent(context, switch.name, context.lossless_of(switch))
        for _, switch in context.switches()
        if context.has_own_lossless(switch)
    }


def shared_fields(context: Context, device: str, use: LosslessUse) -> dict[str, object]:
    """Fields of a Device that are equal on all switches with a profile."""
    return {
        "domains": (domain(context, device, use),),
        "ai_ecn": ai_ecn(context, device, use),
    }


def domain(context: Context, device: str, use: LosslessUse) -> DiffservDomain:
    """Priority map with only differences from the default map, as a switch saves it."""
    lossless = use.profile
    queues = dict.fromkeys((d for d in DSCPS if default_queue(d) == lossless.queue), 0)
    queues[lossless.cnp_dscp] = lossless.cnp_queue
    queues[lossless.roce_dscp] = lossless.queue
    rows = [
        DscpMap(value=dscp, phb=QUEUE_PHB[queue])
        for dscp, queue in queues.items()
        if queue != default_queue(dscp)
    ]
    position = use.use.key_at(("roce_dscp",))
    context.note_position(device, f"domains[{lossless.domain}]", position)
    dot1p = DscpMap(value=lossless.queue, phb=QUEUE_PHB[0])
    return DiffservDomain(name=lossless.domain, dscp=tuple(rows), dot1p=(dot1p,))


def port(scope: Scope, name: str) -> dict[str, object]:
    """Fields of an Interface with RoCE traffic."""
    lossless = scope.lossless.profile
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
        "markings": port_markings(scope, name),
    }


def note_port(scope: Scope, name: str) -> None:
    """Note a port with RoCE traffic; its fields have the sources of all ports with its profile."""
    port_key = f"{scope.switch.name}/interfaces[{name}]"
    scope.context.ports[port_key] = scope.lossless.port_places


def pfc(scope: Scope) -> Pfc:
    """PFC of the whole switch, with the timers in the unit of its family."""
    lossless, family = scope.lossless.profile, scope.family
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
    behavior = scope.lossless.profile.deadlock.recovery_behavior or required
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
