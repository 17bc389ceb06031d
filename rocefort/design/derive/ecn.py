"""Derive ECN of a Device: AI-ECN, or drop profiles by speed and the ports that mark by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.derive.links import LeafSpineLink
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.interface import Interface
from rocefort.models.device.lossless import AiEcn, AiEcnQueue, DropLimits, DropProfile, QueueMarking
from rocefort.models.fabric.lossless import (
    AiEcnProfile,
    EcnThresholds,
    StaticEcn,
    drop_profile_name,
)
from rocefort.models.fabric.nodes import Switch
from rocefort.models.units import KBYTE


def ai_ecn(context: Context, device: str) -> AiEcn:
    """AI-ECN on the lossless queue, if the profile has that kind."""
    profile = context.ecn
    if not isinstance(profile, AiEcnProfile):
        return AiEcn()
    context.note_ecn(device, "ai_ecn", "model" if profile.model else "kind")
    queue = AiEcnQueue(queue=context.lossless.queue, model=profile.model)
    return AiEcn(enabled=True, queues=(queue,))


def rows(scope: Scope, port: str) -> tuple[QueueMarking, ...]:
    """Marking of the lossless queue on a RoCE port, by static thresholds for its speed."""
    context, gbps = scope.context, scope.speed_gbps(port)
    if gbps is None or not isinstance(context.ecn, StaticEcn):
        return ()
    profile = drop_profile_name(context.ecn_chosen.name, gbps)
    return (QueueMarking(queue=context.lossless.queue, profile=profile, ecn=True),)


def drop_profiles(scope: Scope, interfaces: Iterable[Interface]) -> tuple[DropProfile, ...]:
    """Drop profiles that the ports of a switch use, one for each speed."""
    ecn = scope.context.ecn
    if not isinstance(ecn, StaticEcn):
        return ()
    used = {row.profile for interface in interfaces for row in interface.markings}
    profiles: list[DropProfile] = []
    for gbps, thresholds in ecn.thresholds.items():
        name = drop_profile_name(scope.context.ecn_chosen.name, int(gbps))
        if name in used:
            scope.note_ecn(f"drop_profiles[{name}]", "thresholds", gbps)
            profiles.append(DropProfile(name=name, ecn=_limits(thresholds)))
    return tuple(profiles)


def enabled(scope: Scope) -> bool:
    """Whether a switch needs `qos ecn enable`."""
    needed = isinstance(scope.context.ecn, StaticEcn) and scope.family.ecn_enable
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
    """Yield a problem for each speed of RoCE ports without thresholds in the ECN profile."""
    profile = context.ecn
    if not isinstance(profile, StaticEcn):
        return
    ports: dict[int | None, list[str]] = defaultdict(list)
    for switch, name in _roce_ports(context, joints):
        ports[context.speed_gbps(switch, name)].append(f"{switch.name} {name}")
    for gbps, names in ports.items():
        if str(gbps) not in profile.thresholds:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            have = f"{names[0]}{more} {'has' if len(names) == 1 else 'have'}"
            yield context.ecn_chosen.problem(
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
