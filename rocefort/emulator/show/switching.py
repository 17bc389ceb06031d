"""`display arp`, `mac-address` and `vlan`, and VPN instances.

Forms: `napalm_cloudengine/displays/switching.py` and `routing_details.py`. Lifetimes and ages are
constants; Ethernet addresses of switches are those of the samples, and those of servers follow from
their names. Addresses are learned from the switches at the other ends of routed cables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from napalm_cloudengine.displays import routing_details, switching
from rocefort.dialects.vrp.commands.catalogue import family_of
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.emulator.show.context import state_source_of
from rocefort.emulator.show.interfaces import HARDWARE_ADDRESS
from rocefort.emulator.switch.state_source import VlanState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

LIFETIME_MINUTES = 17  # of the sample
LEARNED_S = 544  # an age in a public output
OF_INSTANCE = "ip binding vpn-instance "
VLAN_SETTINGS = {
    "type": "common",
    "status": "enable",
    "property": "default",
    "learning": "enable",
    "statistics": "disable",
    **dict.fromkeys(("broadcast", "multicast", "unicast"), "FWD"),
}


def arp(switch: EmulatedSwitch, instance: str | None = None) -> str | None:
    """`display arp [vpn-instance NAME]`; None: there is no such instance."""
    bound = _bindings(switch)
    if instance is not None and instance not in _instances(switch):
        return None
    rows = [row | {"instance": bound.get(row["interface"], "")} for row in _arp_rows(switch)]
    return switching.write_arp([row for row in rows if instance in (None, row["instance"])])


def _arp_rows(switch: EmulatedSwitch) -> Iterator[dict[str, Any]]:
    source = state_source_of(switch)
    far_ends = {each.interface: each for each in source.neighbours(switch.name)}
    for state in source.interfaces(switch.name):
        if state.protocol != "up" or state.name.startswith("LoopBack"):
            continue
        for address in state.addresses:
            yield _arp_row(address, state.name)
        far = far_ends.get(state.name)
        for other in source.interfaces(far.switch) if far and state.addresses else ():
            if far and other.name == far.port:
                learned = {"minutes": str(LIFETIME_MINUTES), "kind": "D"}
                yield from (_arp_row(each, state.name) | learned for each in other.addresses)


def _arp_row(address: str, interface: str) -> dict[str, Any]:
    host = address.partition("/")[0]
    common = {"mac": HARDWARE_ADDRESS, "minutes": "", "kind": "I"}
    return {"address": host, "interface": interface, **common}


def mac_addresses(switch: EmulatedSwitch) -> str:
    """`display mac-address`: the servers behind switched interfaces."""
    return switching.write_mac_addresses(
        [
            {
                "mac": station.mac,
                "where": f"{station.vlan}/-/-",
                "interface": station.interface,
                "kind": "dynamic",
                "age": LEARNED_S,
            }
            for station in state_source_of(switch).stations(switch.name)
        ]
    )


def vlans(switch: EmulatedSwitch, number: str | None = None) -> str:
    """`display vlan [N]`; V200 prints no total, and the error of an unknown VLAN is our wording."""
    states = {s.name: s.physical for s in state_source_of(switch).interfaces(switch.name)}
    rows = state_source_of(switch).vlans(switch.name)
    if number is not None:
        rows = [row for row in rows if row.number == int(number)]
        if not rows:
            return "Error: The VLAN does not exist."
    total = number is None and family_of(switch.family) is not SyntaxFamily.V200
    return switching.write_vlans([_vlan_row(row, states) for row in rows], total=total)


def _vlan_row(vlan: VlanState, states: dict[str, Any]) -> dict[str, Any]:
    untagged, tagged = (
        [f"{name}({'U' if states.get(name) == 'up' else 'D'})" for name in names]
        for names in (vlan.untagged, vlan.tagged)
    )
    own = {"vlan": vlan.number, "name": vlan.name, "untagged": untagged, "tagged": tagged}
    return {**VLAN_SETTINGS, **own}


def instances(switch: EmulatedSwitch) -> str:
    """`display ip vpn-instance verbose`: no output without an instance, which is not confirmed."""
    lines = _instances(switch)
    if not lines:
        return ""
    bound = _bindings(switch)
    names = [family.text for line in lines.values() for family in _families(line)]
    head = routing_details.INSTANCES_HEAD.format(
        total=len(lines), ipv4=names.count("ipv4-family"), ipv6=names.count("ipv6-family")
    )
    blocks = [
        _instance(number, name, line, [port for port, own in bound.items() if own == name])
        for number, (name, line) in enumerate(lines.items(), 1)
    ]
    return "\n".join([head, "\n\n".join(blocks)])


def _instance(number: int, name: str, line: ConfigLine, ports: list[str]) -> str:
    values: dict[str, object] = {"name": name, "id": number}
    values |= {"interfaces": ", ".join(ports)} if ports else {}
    blocks = [routing_details.INSTANCE.write(values)]
    for family in _families(line):
        own: dict[str, object] = {"family": family.text.partition("-")[0], "status": "UP"}
        for child in family.children:
            if child.text.startswith("route-distinguisher "):
                own["distinguisher"] = child.text.split()[1]
        blocks.append(routing_details.INSTANCE.write(own))
    return "\n".join(blocks)


def _families(line: ConfigLine) -> list[ConfigLine]:
    return [child for child in line.children if child.text in ("ipv4-family", "ipv6-family")]


def _instances(switch: EmulatedSwitch) -> dict[str, ConfigLine]:
    """Return the lines of VPN instances, by name."""
    start = "ip vpn-instance "
    lines = (line for line in switch.running if line.text.startswith(start))
    return {line.text.removeprefix(start): line for line in lines}


def _bindings(switch: EmulatedSwitch) -> dict[str, str]:
    """Return the VPN instance of each interface that has one."""
    return {
        line.text.removeprefix("interface "): child.text.removeprefix(OF_INSTANCE)
        for line in switch.running
        if line.text.startswith("interface ")
        for child in line.children
        if child.text.startswith(OF_INSTANCE)
    }
