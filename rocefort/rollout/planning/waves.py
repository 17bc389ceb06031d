"""Waves of a plan (canary, racks, spines one by one, new leaves), and the timer of their trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil

from rocefort.base.errors import Refused
from rocefort.models.base import natural
from rocefort.models.change.plan import Gate, Plan, Wave, longest_soak_s
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.fabric.trial_time import ACT_S, SPARE_S, TrialTime
from rocefort.models.network.network import Network, Node, SwitchRole

SHORTEST_TRIAL_S, LONGEST_TRIAL_S = 60, 65535  # `commit trial`, V300R023C00


def with_trial_time(
    plan: Plan, policy: Rollout, gate_s: Callable[[Gate], float], where: str
) -> Plan:
    """Return the plan with trials as long as the policy requires, or longer for a soak.

    A trial that only its own session can end is as short as its checks, gate and soak allow: a
    switch of a dead controller stays on it. gate_s: duration of a gate. where: the fabric's file.
    Raises Refused if a timer could end a
    trial while its checks still settle, or if no trial is long enough for a soak.
    """
    times = [
        TrialTime(wave.name, policy.settle_s, gate_s(wave.gate), plan.soak_s(wave))
        for wave in plan.waves
    ]
    for time in times:
        checks = TrialTime(time.wave, time.settle_s, time.gate_s)
        if checks.whole_s > policy.trial_s:
            raise Refused(
                f"a trial of {policy.trial_s} s is too short for wave {time.wave}, which may take "
                f"{checks.whole_s:.0f} s: {checks}",
                where=f"{where}: rollout.trial_s",
                how=f"set it to {ceil(checks.whole_s)} or more, or rollout.settle_s to less",
            )
    longest = max(times, key=lambda each: each.whole_s, default=None)
    needed = ceil(longest.whole_s) if longest else 0
    if longest and needed > LONGEST_TRIAL_S:
        raise Refused(
            f"no trial can last the required {needed} s: {_soak_reason(plan, longest.wave)}",
            where=f"wave {longest.wave}",
            how=f"lower that timer first; a trial lasts {LONGEST_TRIAL_S} s at most",
        )
    trial_s = max(policy.trial_s, needed)
    plain_s = min(trial_s, max(needed + SPARE_S, SHORTEST_TRIAL_S))
    return plan.model_copy(update={"trial_s": trial_s, "plain_trial_s": plain_s})


def wave_s(plan: Plan, wave: Wave, gate_s: float) -> float:
    """Most time of a wave, s: from its first health check to its last confirmation.

    Each drain step has a trial of its own. gate_s: duration of the gate, by the switches' timers.
    """
    steps = zip_longest(*(plan.parts(wave, device) for device in wave.devices))
    soaks = [longest_soak_s(part for part in step if part) for step in steps]
    trials = [TrialTime(wave.name, plan.settle_s, gate_s, soak_s) for soak_s in soaks]
    first_check_s = plan.settle_s + ACT_S
    return first_check_s + sum(ACT_S + trial.whole_s for trial in trials)


def worst_s(plan: Plan, wave: Wave, gate_s: float) -> float:
    """Most time until a wave is confirmed or rolled back, s, from its first health check.

    At worst the last check of the last trial fails, and no session can end the trial: its timer
    does. Then each confirmed step of a drained switch is undone by a trial of its own, which may
    end by its timer, too. gate_s: as for `wave_s`.
    """
    timer_s = max(plan.trial_length)
    back = max((len(plan.parts(wave, device)) for device in wave.devices), default=1) - 1
    return (
        wave_s(plan, wave, gate_s)
        + timer_s
        + TrialTime("", plan.settle_s, 0).look_s
        + back * (ACT_S + timer_s)
    )


def _soak_reason(plan: Plan, name: str) -> str:
    """Reason for the soak of a wave."""
    wave = next(wave for wave in plan.waves if wave.name == name)
    soaks = [
        (part.soak.seconds, f"{device}: {part.soak.why}")
        for device in wave.devices
        for part in plan.parts(wave, device)
        if part.soak
    ]
    return max(soaks)[1]


# Devices of a wave, and leaves that have no route yet -> the gate that covers the devices.
GateFor = Callable[[Sequence[str], Collection[str]], Gate]
NEW_LEAVES = "new leaves"  # begin of the names of their waves


@dataclass(frozen=True, slots=True)
class RedundancyGroup:
    """Switches that back each other up: at most `most` of them may be down together."""

    what: str  # `server a`, `segment storage`, `the exits`
    members: frozenset[str]
    most: int = 1

    def allows(self, devices: Collection[str]) -> bool:
        """Whether switches may be down together."""
        return len(self.members.intersection(devices)) <= self.most


def groups_of(network: Network) -> tuple[RedundancyGroup, ...]:
    """Groups of leaves that back each other up.

    The leaves of one server, border leaves, and leaves of one segment. Half of a segment's leaves,
    rounded down, may be down together.
    """
    segments: defaultdict[str, set[str]] = defaultdict(set)
    for segment in network.segments or ():
        segments[segment.name].add(segment.leaf)
    servers = (
        RedundancyGroup(f"server {server.name}", frozenset(leaves))
        for server in network.servers or ()
        if len(leaves := {port.device for port in server.ports}) > 1
    )
    borders = frozenset(exit_.leaf for exit_ in network.exits or ())
    return (
        *servers,
        *([RedundancyGroup("the exits", borders)] if len(borders) > 1 else []),
        *(
            RedundancyGroup(f"segment {name}", frozenset(leaves), len(leaves) // 2)
            for name, leaves in sorted(segments.items(), key=lambda item: natural(item[0]))
            if len(leaves) > 1
        ),
    )


def make_waves(  # noqa: PLR0913, PLR0917 - the switches, and the rules of their order
    network: Network,
    changed: Iterable[str],
    canary: str,
    max_unavailable: int,
    gate_for: GateFor,
    new: Collection[str] = (),
) -> tuple[Wave, ...]:
    """Return the waves: one leaf, the other leaves rack by rack, one spine at a time, new leaves.

    Only changed switches are in a wave. canary: the leaf that goes first; if it does not change,
    the first changed leaf. A wave of leaves takes whole racks, if `max_unavailable` and the groups
    allow it. new: leaves without BGP so far. They are last: their gate needs the spines' sessions.
    """
    names, groups = set(changed), groups_of(network)
    leaves = [node for node in network.role(SwitchRole.LEAF) if node.name in names]
    spines = [node.name for node in network.role(SwitchRole.SPINE) if node.name in names]
    old = [node for node in leaves if node.name not in new]
    first = next((node for node in old if node.name == canary), old[0] if old else None)
    rest = [node for node in old if node is not first]
    batches = list(_batches(_racks(rest), max_unavailable, groups))
    fresh = sorted((n for n in leaves if n.name in new), key=lambda node: node.name != canary)
    last = list(_batches(_racks(fresh), max_unavailable, groups))
    parts = [("canary", [first.name])] if first else []
    parts += [(f"leaves {i} of {len(batches)}", batch) for i, batch in enumerate(batches, 1)]
    parts += [(f"spine {i} of {len(spines)}", [name]) for i, name in enumerate(spines, 1)]
    parts += [(f"{NEW_LEAVES} {i} of {len(last)}", batch) for i, batch in enumerate(last, 1)]
    waves, unrouted = [], set(new)
    for name, devices in parts:
        unrouted.difference_update(devices)
        gate = gate_for(devices, frozenset(unrouted))
        waves.append(Wave(name=name, devices=tuple(devices), gate=gate))
    return tuple(waves)


def _racks(leaves: Iterable[Node]) -> list[list[str]]:
    """Names of leaves by rack; a leaf without a rack is alone."""
    racks: defaultdict[str, list[str]] = defaultdict(list)
    for leaf in leaves:
        racks[f"rack {leaf.rack}" if leaf.rack else leaf.name].append(leaf.name)
    return list(racks.values())


def _batches(
    racks: Iterable[Sequence[str]], most: int, groups: Sequence[RedundancyGroup]
) -> Iterator[list[str]]:
    """Racks packed into waves in their order; one that does not fit begins a new wave."""
    batch: list[str] = []
    for rack in racks:
        if batch and not _together([*batch, *rack], most, groups):
            yield batch
            batch = []
        for leaf in rack:
            if batch and not _together([*batch, leaf], most, groups):
                yield batch
                batch = []
            batch.append(leaf)
    if batch:
        yield batch


def _together(devices: Sequence[str], most: int, groups: Iterable[RedundancyGroup]) -> bool:
    return len(devices) <= most and all(group.allows(devices) for group in groups)
