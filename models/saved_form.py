"""The form in which a switch saves a Device: what equals a default of its family is not said."""

from __future__ import annotations

from rocefort.models.device import Device
from rocefort.models.hardware import Fact, Family
from rocefort.models.interface import ETHERNET_MTU, Interface
from rocefort.models.lossless import Pfc, PfcProfile, PfcTimer


def saved_form(device: Device, family: Family) -> Device:
    """The same Device without the values that hold anyway on this family.

    Without this a plan would want to set, for ever, what the switch does not repeat.
    """
    return device.model_copy(
        update={
            "pfc": _pfc(device.pfc, family),
            "interfaces": tuple(_interface(interface) for interface in device.interfaces),
        }
    )


def _interface(interface: Interface) -> Interface:
    if interface.mtu != ETHERNET_MTU:
        return interface
    return interface.model_copy(update={"mtu": None})


def _pfc(pfc: Pfc, family: Family) -> Pfc:
    default_ms, interval_ms = family.deadlock_default_ms, family.deadlock_interval_ms
    return pfc.model_copy(
        update={
            "detect_ms": _unless(pfc.detect_ms, default_ms),
            "recovery_ms": _unless(pfc.recovery_ms, default_ms),
            "interval_ms": _unless(pfc.interval_ms, interval_ms),
            "profiles": tuple(_profile(profile, family) for profile in pfc.profiles),
        }
    )


def _profile(profile: PfcProfile, family: Family) -> PfcProfile:
    default = family.deadlock_default_time
    timers = (
        PfcTimer(
            queue=timer.queue,
            detect_time=_unless(timer.detect_time, default),
            recovery_time=_unless(timer.recovery_time, default),
        )
        for timer in profile.timers
    )
    said = tuple(t for t in timers if t.detect_time is not None or t.recovery_time is not None)
    return profile.model_copy(update={"timers": said})


def _unless(value: int | None, default: Fact | None) -> int | None:
    return None if default is not None and value == default.value else value
