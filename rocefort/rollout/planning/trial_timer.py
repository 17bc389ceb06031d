"""Timer of a plan's trials: long enough for the checks and soaks that run meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from math import ceil

from rocefort.base.errors import Refused
from rocefort.models.change.plan import Gate, Plan, Wave, longest_soak_s
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.fabric.trial_time import ACT_S, SPARE_S, TrialTime

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
