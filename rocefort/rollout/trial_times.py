"""Whether the trials of a plan last long enough for what is done while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil

from rocefort.errors import Refused
from rocefort.models.change import Gate, Wave
from rocefort.models.fabric import Rollout
from rocefort.models.trial_time import TrialTime


def refuse_short_trials(
    waves: Iterable[Wave], policy: Rollout, gate_s: Callable[[Gate], float], where: str
) -> None:
    """Raise Refused where a timer could end a trial while its checks still settle.

    gate_s: how long a gate takes. where: the fabric's file.
    """
    times = [TrialTime(wave.name, policy.settle_s, gate_s(wave.gate)) for wave in waves]
    longest = max(times, key=lambda each: each.whole_s, default=None)
    if longest is None or longest.whole_s <= policy.trial_s:
        return
    raise Refused(
        f"a trial of {policy.trial_s} s is too short for wave {longest.wave}, which may take "
        f"{longest.whole_s:.0f} s: {longest}",
        where=f"{where}: rollout.trial_s",
        how=f"set it to {ceil(longest.whole_s)} or more, or rollout.settle_s to less",
    )
