"""Normal form of a Device, as a switch saves it: without values at the default of its family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.models.device.device import Device
from rocefort.models.device.drop_profile import DEFAULT_PROFILE, DropProfile, drops_as_by_default
from rocefort.models.device.interface import DEFAULT_DOMAIN, DEFAULT_VLAN, ETHERNET_MTU, Interface
from rocefort.models.device.lossless import DiffservDomain, Pfc, PfcProfile, PfcTimer
from rocefort.models.hardware.hardware import Fact, Family

# Defined by the system (V300R023C00, `diffserv domain`); V100 and V200 save a line for it.
BUILT_IN_DOMAIN = DiffservDomain(name=DEFAULT_DOMAIN)
BUILT_IN = frozenset({"ethernet", "management"})  # kinds of interfaces that exist without a line


def without_defaults(device: Device, family: Family) -> Device:
    """Return the Device without default values of this family, and without default ports.

    Otherwise a plan would set again and again a value that the switch does not save. A family
    whose switches save such lines keeps them.
    """
    if family.says_defaults:
        return device
    return device.model_copy(
        update={
            "vlans": tuple(vlan for vlan in device.vlans if vlan != DEFAULT_VLAN),
            **_without_built_in(device),
            "pfc": _pfc(device.pfc, family),
            "telnet_off": device.telnet_off if family.telnet else (),
            "interfaces": tuple(
                i for i in map(_interface, device.interfaces) if not _is_default_port(i)
            ),
        }
    )


def _without_built_in(device: Device) -> dict[str, object]:
    return {
        "domains": tuple(d for d in device.domains if d != BUILT_IN_DOMAIN),
        "drop_profiles": tuple(_drop_profiles(device.drop_profiles)),
    }


def without_built_in(device: Device) -> Device:
    """Return the Device without what every switch has, and some releases save as a line.

    Published texts of a CE8850 (V200R002C50) and a CE6850 (V100R005C10) have a PFC profile, the
    default drop profile and the default DiffServ domain with nothing below them.
    """
    pfc = device.pfc.model_copy(
        update={"profiles": tuple(row for row in device.pfc.profiles if row != PfcProfile())}
    )
    return device.model_copy(update=_without_built_in(device) | {"pfc": pfc})


def _is_default_port(interface: Interface) -> bool:
    """Whether an interface has only default values; a switch saves its line for every port.

    A subinterface exists only by its line, so it counts as configured.
    """
    if interface.description is not None or interface.addresses:  # most ports; a fast check
        return False
    if interface != Interface(name=interface.name):
        return False
    name = interface.name
    return name == "NULL0" or (interface.kind in BUILT_IN and "." not in name)


def _interface(interface: Interface) -> Interface:
    """Remove the default MTU, and the VLAN that every switched port carries."""
    update: dict[str, object] = {}
    if interface.mtu == ETHERNET_MTU:
        update["mtu"] = None
    if interface.access_vlan == DEFAULT_VLAN:
        update["access_vlan"] = None
    if DEFAULT_VLAN in interface.trunk_vlans:
        update["trunk_vlans"] = tuple(v for v in interface.trunk_vlans if v != DEFAULT_VLAN)
    return interface.model_copy(update=update) if update else interface


def _drop_profiles(profiles: Iterable[DropProfile]) -> Iterator[DropProfile]:
    """Remove colours that drop as by default, and a built-in profile at its defaults."""
    for profile in profiles:
        colours = tuple(row for row in profile.colours if not drops_as_by_default(row))
        if profile.name != DEFAULT_PROFILE or colours or profile.ecn is not None:
            yield profile.model_copy(update={"colours": colours})


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
    stated = tuple(t for t in timers if t.detect_time is not None or t.recovery_time is not None)
    return profile.model_copy(update={"timers": stated})


def _unless(value: int | None, default: Fact | None) -> int | None:
    return None if default is not None and value == default.value else value
