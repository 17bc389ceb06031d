"""Normal form of a Device, as a switch saves it: without values at the default of its family."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from rocefort.models.base import Frozen
from rocefort.models.device.device import Device
from rocefort.models.device.interface import DEFAULT_VLAN, ETHERNET_MTU, Interface
from rocefort.models.device.lossless import (
    DropProfile,
    Pfc,
    PfcProfile,
    PfcTimer,
    drops_as_by_default,
)
from rocefort.models.effect import KeyedRow, key_field_of
from rocefort.models.hardware.hardware import Fact, Family, SavedLine

Nested = TypeVar("Nested", bound=Frozen)
BUILT_IN = frozenset({"ethernet", "management"})  # kinds of interfaces that exist without a line


def without_defaults(device: Device, family: Family) -> Device:
    """Return the Device without default values of this family, and without default ports.

    Otherwise a plan would set again and again a value that the switch does not save. A family
    whose switches save such lines keeps them.
    """
    if family.says_defaults:
        return device
    own: dict[str, object] = {"pfc": _pfc(device.pfc, family)}
    if not family.telnet:
        own["telnet_off"] = ()
    return without_saved(device.model_copy(update=own), family.saved_lines)


def without_saved(device: Device, lines: Iterable[SavedLine]) -> Device:
    """Return the Device without defaults of every family, and without the rows of saved lines.

    lines: those that a switch saves with nothing configured.
    """
    ports = map(without_port_defaults, device.interfaces)
    device = device.model_copy(
        update={
            "vlans": tuple(vlan for vlan in device.vlans if vlan != DEFAULT_VLAN),
            "drop_profiles": tuple(map(_drop_profile, device.drop_profiles)),
            "interfaces": tuple(port for port in ports if not _is_default_port(port)),
        }
    )
    for line in lines:
        if line.row:
            device = _without_row(device, line.row)
    return device


def _without_row(model: Nested, path: str) -> Nested:
    """Return a model without a row if it has nothing but its key: `pfc.profiles[default]`."""
    name, _, rest = path.partition(".")
    if rest:
        inner = getattr(model, name)
        update = {name: _without_row(inner, rest)}
        return model if update[name] is inner else model.model_copy(update=update)
    name, _, key = name.removesuffix("]").partition("[")
    rows: tuple[KeyedRow, ...] = getattr(model, name)
    kept = tuple(row for row in rows if row.key != key or row != _bare(row))
    return model if len(kept) == len(rows) else model.model_copy(update={name: kept})


def _bare(row: KeyedRow) -> KeyedRow:
    return type(row)(**{key_field_of(type(row)): row.key})


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


def without_port_defaults(interface: Interface) -> Interface:
    """Remove the default MTU, and the VLAN that every switched port carries."""
    update: dict[str, object] = {}
    if interface.mtu == ETHERNET_MTU:
        update["mtu"] = None
    if interface.access_vlan == DEFAULT_VLAN:
        update["access_vlan"] = None
    if DEFAULT_VLAN in interface.trunk_vlans:
        update["trunk_vlans"] = tuple(v for v in interface.trunk_vlans if v != DEFAULT_VLAN)
    return interface.model_copy(update=update) if update else interface


def _drop_profile(profile: DropProfile) -> DropProfile:
    """Remove colours that drop as by default."""
    colours = tuple(row for row in profile.colours if not drops_as_by_default(row))
    return profile.model_copy(update={"colours": colours})


def _pfc(pfc: Pfc, family: Family) -> Pfc:
    default_ms, interval_ms = family.deadlock_default_ms, family.deadlock_interval_ms
    behavior = pfc.recovery_behavior
    return pfc.model_copy(
        update={
            "detect_ms": _unless(pfc.detect_ms, default_ms),
            "recovery_ms": _unless(pfc.recovery_ms, default_ms),
            "interval_ms": _unless(pfc.interval_ms, interval_ms),
            "recovery_behavior": None if behavior == family.recovery_behavior else behavior,
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
