"""Soak of trials, by the timers of their switches and not by the clock of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rocefort.base.errors import DeviceFailed, RocefortError
from rocefort.rollout.controller.device_state import DeviceState
from rocefort.rollout.journal.events import SwitchState, TrialOwner

ROUNDED_S = 1.0  # a switch shows whole seconds


def too_short(
    devices: Iterable[DeviceState], left_s: Mapping[str, int]
) -> dict[str, RocefortError]:
    """Return an error for each device whose trial ends before its soak; left_s: by device."""
    short: dict[str, RocefortError] = {}
    for each in devices:
        if left_s[each.name] < each.rest_s:
            what = f"only {left_s[each.name]} s are left of its trial"
            what += f", and {each.rest_s:.0f} s are needed to soak"
            short[each.name] = DeviceFailed(what, where=each.name)
    return short


def ran_s(now: SwitchState, left_s: int) -> float:
    """Seconds since a trial had `left_s` seconds left; infinite if the trial has ended.

    It is 0 if the switch does not show the time that is left now.
    """
    if now.trouble or now.trial is not TrialOwner.THIS_RUN:
        return float("inf")
    return 0.0 if now.left_s is None else left_s - now.left_s + ROUNDED_S
