"""Interface states of an emulated switch, from its running configuration and its cables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.text.config_tree import ConfigLine, tree_text
from rocefort.emulator.state.state_faults import Port
from rocefort.emulator.switch.state_source import (
    InterfaceState,
    LldpAdvertisement,
    Physical,
    StationState,
    VlanState,
)
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.base import natural
from rocefort.models.device.device import Device
from rocefort.models.device.interface import (
    DEFAULT_VLAN,
    ETHERNET_MTU,
    JUMBO_FRAME_BYTES,
    Interface,
    gateway_vlan,
    kind_of,
    trunk_name,
    trunk_number,
)
from rocefort.models.hardware.hardware import port_speed_gbps
from rocefort.models.hardware.media import part_speed_gbps

Cabling = Mapping[Port, Port]
PortsOfSwitch = Mapping[str, int | None]  # name -> speed in Mb/s, in the hardware's order
ORDER = ("ethernet", "eth-trunk", "loopback", "management", "other", "vlanif")
NULL = "NULL0"
# Interfaces with the address that LLDP advertises, the first one that has one: own choice, not
# confirmed.
MANAGED_AT = ("MEth0/0/0", "LoopBack0")


@dataclass(frozen=True)
class PortContext:
    """Inputs for the interfaces of one switch. dead: whether an end sends nothing."""

    switch: str
    device: Device
    ports: PortsOfSwitch
    cabling: Cabling | None
    dead: Callable[[Port], bool]


def is_port(name: str) -> bool:
    """Whether an interface is a front-panel port or a part of one."""
    return kind_of(name) == "ethernet"


Config = Lines  # the running lines of one switch


def has_line(config: Lines, text: str) -> bool:
    """Whether the system view has a line."""
    return any(line.text == text for line in config)


def read_running(name: str, running: Lines) -> Device:
    """Parse a running configuration, under the switch's name in the lab. Raises BadInput."""
    lines = [line for line in running if not line.text.startswith("sysname ")]
    text = tree_text((ConfigLine(f"sysname {name}"), *lines))
    return parse(text, f"{name} (running)").device


def shut_ports(config: Lines) -> frozenset[str]:
    """Return interfaces that are administratively down."""
    views = (line for line in config if line.text.startswith("interface "))
    return frozenset(
        v.text.removeprefix("interface ") for v in views if has_line(v.children, "shutdown")
    )


def lldp_advertisement(switch: EmulatedSwitch, port: str) -> LldpAdvertisement:
    """Return LLDP data of a switch and a port; it reads lines, which is faster than a Device."""
    headings = (f"interface {port}", *(f"interface {name}" for name in MANAGED_AT))
    views = {line.text: line.children for line in switch.running if line.text in headings}
    described = (line.text for line in views.get(headings[0], ()))
    addresses = (
        line.text.split()[2]
        for name in headings[1:]
        for line in views.get(name, ())
        if re.match(r"ip address \d", line.text)
    )
    return LldpAdvertisement(
        hardware=switch.hardware,
        software=switch.software,
        description=next((t[12:] for t in described if t.startswith("description ")), ""),
        management=next(addresses, ""),
    )


def replugged(cabling: Cabling, wrong: Mapping[Port, Port]) -> Cabling:
    """Return the cabling after some ports are plugged elsewhere; replaced cables are loose."""
    cables = dict(cabling)
    for end, far in wrong.items():
        for loose in (end, far):
            other = cables.pop(loose, None)
            if other is not None:
                cables.pop(other, None)
        cables[end], cables[far] = far, end
    return cables


def interfaces(context: PortContext) -> list[InterfaceState]:
    """Return every interface: the hardware's ports, those of the configuration, and NULL0."""
    configured = context.device.by_interface
    names = [*context.ports, *(name for name in configured if name not in context.ports)]
    if context.ports:
        names.append(NULL)
    physical = {name: _port(context, name) for name in names if is_port(name)}
    up = frozenset(name for name, state in physical.items() if state == "up")
    ordered = sorted(names, key=lambda name: (ORDER.index(kind_of(name)), natural(name)))
    return [
        _state(context, configured.get(name) or Interface(name=name), physical.get(name), up)
        for name in ordered
    ]


def _port(context: PortContext, name: str) -> Physical:
    interface = context.device.by_interface.get(name)
    if interface is not None and not interface.enabled:
        return "*down"
    here = (context.switch, name)
    if context.dead(here):
        return "down"
    if context.cabling is None:
        return "up"
    far = context.cabling.get(here)
    return "down" if far is None or context.dead(far) else "up"


def _state(
    context: PortContext, interface: Interface, physical: Physical | None, up: frozenset[str]
) -> InterfaceState:
    state = physical or _logical(context.device, interface, up)
    addressed = bool(interface.addresses) or not interface.layer3
    works = state == "up" and (addressed or interface.kind == "other")
    name = interface.name
    number = trunk_number(name)
    members = context.device.members.get(number, ()) if number is not None else ()
    return InterfaceState(
        name=name,
        physical=state,
        protocol="up(s)" if name == NULL else "up" if works else "down",
        description=interface.description or "",
        routed=interface.layer3,
        pvid=None if interface.layer3 or interface.kind == "other" else interface.access_vlan or 1,
        mtu=interface.mtu or ETHERNET_MTU,
        frame_bytes=JUMBO_FRAME_BYTES,
        addresses=tuple(str(address) for address in interface.addresses),
        speed_mbps=_speed(context, name) if physical else None,
        members=tuple(member.name for member in members),
    )


def _speed(context: PortContext, name: str) -> int | None:
    if name in context.ports:
        return context.ports[name]
    splits = {part: split.type for split in context.device.splits for part in split.parts}
    gbps = part_speed_gbps(splits[name]) if name in splits else port_speed_gbps(name)
    return gbps * 1000 if gbps else None


def _logical(device: Device, interface: Interface, up: frozenset[str]) -> Physical:
    if not interface.enabled:
        return "*down"
    if interface.kind == "eth-trunk":
        return "up" if device.bundles(interface, up) else "down"
    if interface.kind == "vlanif":
        vlan = gateway_vlan(interface.name)
        exists = vlan == 1 or vlan in device.vlans
        return "up" if vlan and exists and any(_carrying(device, vlan, up)) else "down"
    return "up"


def _carrying(device: Device, vlan: int, up: frozenset[str]) -> Iterator[bool]:
    for interface in device.interfaces:
        if interface.carries(vlan):
            trunk = interface.kind == "eth-trunk"
            yield device.bundles(interface, up) if trunk else interface.name in up


def vlans(device: Device, states: Sequence[InterfaceState], running: Config) -> list[VlanState]:
    """Return every VLAN with its description, `VLAN 0010` by default, and its interfaces."""
    described = {
        line.text: child.text.removeprefix("description ")
        for line in running
        if line.text.startswith("vlan ")
        for child in line.children
        if child.text.startswith("description ")
    }
    interfaces = [device.by_interface.get(s.name) or Interface(name=s.name) for s in states]
    rows = []
    for vlan in sorted({DEFAULT_VLAN, *device.vlans}):
        carrying = [interface for interface in interfaces if interface.carries(vlan)]
        tagged = [i.name for i in carrying if i.link_type == "trunk" and vlan != DEFAULT_VLAN]
        untagged = tuple(i.name for i in carrying if i.name not in tagged)
        name = described.get(f"vlan {vlan}", f"VLAN {vlan:04}")
        rows.append(VlanState(vlan, name, untagged, tuple(tagged)))
    return rows


def stations(
    device: Device, states: Sequence[InterfaceState], servers: Mapping[str, Port]
) -> list[StationState]:
    """Return servers behind switched interfaces; servers: by port, with the port of the server.

    A server with a bond has one address.
    """
    rows: dict[StationState, None] = {}
    for state in states:
        far = servers.get(state.name)
        if far is None or state.physical != "up":
            continue
        interface = device.by_interface.get(state.name) or Interface(name=state.name)
        name = interface.name if interface.eth_trunk is None else trunk_name(interface.eth_trunk)
        carrier = device.by_interface.get(name) or interface
        if not carrier.layer3:
            whole = far[0] if interface.eth_trunk is not None else "/".join(far)
            vlan = carrier.access_vlan or DEFAULT_VLAN
            rows[StationState(ethernet_address(whole), name, vlan)] = None
    return list(rows)


def ethernet_address(name: str) -> str:
    """Return an address for a name, in the range of the vendor's documents: `00e0-fcNN-NNNN`."""
    digits = sha256(name.encode()).hexdigest()
    return f"00e0-fc{digits[:2]}-{digits[2:6]}"
