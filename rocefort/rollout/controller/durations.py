"""Time in a rollout: the limit of an act, and the soak of trials by the timers of switches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Thread
from typing import TypeVar

from rocefort.base.errors import DeviceFailed, RocefortError
from rocefort.rollout.controller.device_state import DeviceState
from rocefort.rollout.journal.events import Act, SwitchState, TrialOwner

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


def gate_left_s(left_s: float | None, devices: Iterable[DeviceState], scale: float) -> float | None:
    """Return the seconds of this machine in which a gate must end, before a soak of its wave.

    left_s: of its trials until their confirmation; None: no trial runs. scale: seconds of the
    switches in one of this machine.
    """
    if left_s is None:
        return None
    soaks = (each for each in devices if each.soak and Act.SOAK not in each.progress.done)
    return (left_s - max((each.rest_s - each.margin_s for each in soaks), default=0.0)) / scale


def ran_s(now: SwitchState, left_s: int) -> float:
    """Seconds since a trial had `left_s` seconds left; infinite if the trial has ended.

    It is 0 if the switch does not show the time that is left now.
    """
    if now.trouble or now.trial is not TrialOwner.THIS_RUN:
        return float("inf")
    return 0.0 if now.left_s is None else left_s - now.left_s + ROUNDED_S


T = TypeVar("T")
GRACE_S = 2.0  # for a hanging act to notice that its sessions are closed


def nothing() -> None:
    """Do nothing, as the end of an act without sessions."""


def result_within(
    seconds: float | None, what: str, act: Callable[[], T], end: Callable[[], None] = nothing
) -> T:
    """Return the result of an act; raises its exception, or DeviceFailed after the time limit.

    seconds: None for no limit; with none left the act does not begin. end: closes all sessions of
    the act with switches and servers. It is called before DeviceFailed is raised, so that the act
    does nothing beside the caller. The thread of the act cannot be stopped; it is a daemon, so the
    process can still exit.
    """
    if seconds is None:
        return act()
    if seconds <= 0:
        raise DeviceFailed(f"{what} did not begin: the trial has no time left for it")
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(act())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=run, name=what, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        end()
        thread.join(GRACE_S)
        raise DeviceFailed(f"{what} did not end within the {seconds:.0f} s that its trial leaves")
    if errors:
        raise errors[0]
    return results[0]
