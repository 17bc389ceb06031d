"""`display interface [brief]`, `lldp neighbor [brief]` and `eth-trunk`.

Samples: V300R023C00 command reference, Interface Management, LLDP, Eth-Trunk; V200's forms: outputs
of CloudEngine switches that public drivers test with. Rates, peaks and utilization are always zero.
LACP states of single members are not modelled and shown as working.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from napalm_cloudengine.displays import lldp as displays
from napalm_cloudengine.displays.interfaces import (
    BRIEF,
    LOGICAL,
    MANAGEMENT,
    MEMBERS,
    PORT_V200,
    PORT_V300,
)
from rocefort.dialects.vrp.commands.catalogue import family_of
from rocefort.emulator.show.context import NO_INTERFACE, interface_of, state_source_of
from rocefort.emulator.show.hardware import described
from rocefort.emulator.switch.state_source import InterfaceState, NeighbourState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.device.interface import MANUAL, NO_BOND, Bond, kind_of, trunk_number
from rocefort.models.hardware.hardware import SyntaxFamily, port_speed_gbps
from rocefort.models.hardware.media import whole_port

STATES = {"up": "UP", "down": "DOWN", "*down": "Administratively DOWN"}
PROTOCOLS = {"up": "UP", "down": "DOWN", "up(s)": "UP (spoofing)"}
TRUNK_HEAD = "ActorPortName              Status   PortType PortPri PortNo PortKey PortState Weight"
PARTNER_HEAD = "ActorPortName              SysPri    SystemID  PortPri PortNo  PortKey   PortState"
HARDWARE_ADDRESS = "00e0-fc12-3456"  # from the samples: Ethernet addresses are not modelled
SETTINGS = {  # of every port
    "loopback": "NONE",
    "maximal_bandwidth": "1000M",  # of a management port
    "bandwidth": "1000M",
    "duplex": "FULL",
    "negotiation": "-",
    "flow_control_in": "DISABLE",
    "flow_control_out": "DISABLE",
    "mdi": "-",
    "fec": "-",
    "cleared_at": "never",
    "rx_peak_at": "-",
    "tx_peak_at": "-",
    "rx_threshold": "90.00%",
    "tx_threshold": "90.00%",
    "rx_utility": "0.00%",
    "tx_utility": "0.00%",
}
# Rates and counters that are not modelled.
ZEROS: dict[str, object] = {
    cell.name: 0
    for block in (PORT_V300, MANAGEMENT)
    for line in block.lines
    for cell in line.cells
    if cell.name.startswith(("rx_", "tx_")) and cell.name not in SETTINGS
}
ACTIVE, INACTIVE = "10111100", "10100000"  # port states of selected members and others


def brief(switch: EmulatedSwitch) -> str:
    """`display interface brief`: members below their Eth-Trunk, in lexicographic order."""
    rows = []
    states = state_source_of(switch).interfaces(switch.name)
    members = {name for state in states for name in state.members}
    by_name = {state.name: state for state in states}
    for state in states:
        if state.name not in members:
            rows.append(_brief_row(state, ""))
            below = sorted(name for name in state.members if name in by_name)
            rows += [_brief_row(by_name[name], "  ") for name in below]
    return BRIEF.write(rows, family_of(switch.family).value)


def _brief_row(state: InterfaceState, indent: str) -> dict[str, object]:
    return {
        "interface": indent + _with_speed(state),
        "physical": state.physical,
        "protocol": state.protocol,
        "rx_utility": "0%",
        "tx_utility": "0%",
        "rx_errors": state.counts.in_errors,
        "tx_errors": state.counts.out_discards,
    }


def _with_speed(state: InterfaceState) -> str:
    """Return the name, followed by a speed that differs from the name's: `400GE1/1/1:1(200GE)`."""
    promised = port_speed_gbps(whole_port(state.name))
    if not state.speed_mbps or not promised or state.speed_mbps == promised * 1000:
        return state.name
    return f"{state.name}({state.speed_mbps // 1000}GE)"


def show_interface(switch: EmulatedSwitch, name: str) -> str:
    """`display interface X`."""
    states = enumerate(state_source_of(switch).interfaces(switch.name), 6)
    return next((_interface_text(switch, x, n) for n, x in states if x.name == name), NO_INTERFACE)


def all_of(switch: EmulatedSwitch) -> str:
    """`display interface`: every interface, one below the other."""
    states = state_source_of(switch).interfaces(switch.name)
    return "\n".join(_interface_text(switch, state, index) for index, state in enumerate(states, 6))


def _interface_text(switch: EmulatedSwitch, state: InterfaceState, index: int) -> str:
    kind = kind_of(state.name)
    block = MANAGEMENT if kind == "management" else LOGICAL
    if kind == "ethernet":
        block = PORT_V200 if family_of(switch.family) is SyntaxFamily.V200 else PORT_V300
    shown = block.write(_state(switch, state, index) | _counts(state))
    if not state.members:
        return shown
    rows = ({"name": name, "status": "-", "weight": 1} for name in state.members)
    total = f"The Number of Ports in Trunk : {len(state.members)}"
    return "\n".join([shown, MEMBERS.write(rows), total])


def _state(switch: EmulatedSwitch, state: InterfaceState, index: int) -> dict[str, object]:
    """Return state and settings of a port."""
    physical, split = kind_of(state.name) in ("ethernet", "management"), "-"
    if (
        family_of(switch.family) is SyntaxFamily.V200
    ):  # V200 prints whether a port is part of a split one
        split = "ENABLE" if state.name != whole_port(state.name) else "DISABLE"
    values: dict[str, object] = {
        "name": state.name,
        "state": STATES[state.physical],
        "ifindex": index,
        "protocol": PROTOCOLS[state.protocol],
        "description": state.description,
        "frame_bytes": state.frame_bytes,
        "mac": HARDWARE_ADDRESS,
        "speed": str(state.speed_mbps) if state.physical == "up" and state.speed_mbps else "AUTO",
        "split": split,
        "physical_up_at": "-",
        "physical_down_at": "-",
        "system_time": f"{switch.now():%Y-%m-%d %H:%M:%S}",
        **SETTINGS,
    }
    if state.pvid is None:
        values["mtu"] = state.mtu
        if physical and state.protocol == "up":
            values["protocol_up_at"] = "-"
    else:
        values["pvid"] = state.pvid
    if state.addresses:
        values["address"] = list(state.addresses)
    else:
        values["processing"] = "disabled"
    return values


def _counts(state: InterfaceState) -> dict[str, object]:
    """Return counters; a logical interface has only packet and octet counts, an Eth-Trunk none."""
    if kind_of(state.name) not in ("ethernet", "management"):
        names = () if state.members else ("rx_packets", "rx_octets", "tx_packets", "tx_octets")
        return dict.fromkeys(names, 0)
    counts = state.counts
    return ZEROS | {
        "rx_octets": counts.in_bytes,
        "rx_packets": counts.in_packets,
        "tx_octets": counts.out_bytes,
        "tx_packets": counts.out_packets,
        "rx_unicast": counts.in_packets,
        "rx_discards": counts.in_discards,
        "rx_pauses": counts.in_pauses,
        "rx_errors": counts.in_errors,
        "crc": counts.crc,
        "tx_unicast": counts.out_packets,
        "tx_discards": counts.out_discards,
        "tx_pauses": counts.out_pauses,
    }


def lldp(switch: EmulatedSwitch) -> str:
    """`display lldp neighbor brief`."""
    heard = state_source_of(switch).neighbours(switch.name)
    return displays.BRIEF.write({"local": seen.interface, **asdict(seen)} for seen in heard)


def lldp_detail(switch: EmulatedSwitch, interface: str = "") -> str | None:
    """`display lldp neighbor [interface X]`; None: X is not a port. Empty if LLDP is off."""
    names = [state.name for state in state_source_of(switch).interfaces(switch.name)]
    if interface and interface not in names:
        return NO_INTERFACE
    by_port: dict[str, list[NeighbourState]] = {
        name: []
        for name in names
        if interface in ("", name) and kind_of(name) in ("ethernet", "management")
    }
    for seen in state_source_of(switch).neighbours(switch.name):
        if seen.interface in by_port:
            by_port[seen.interface].append(seen)
    if not by_port:
        return None
    if not any(line.text == "lldp enable" for line in switch.running):
        return ""
    paragraphs = {name: _paragraphs(switch, seen) for name, seen in by_port.items()}
    return displays.write_detail(paragraphs)


def _paragraphs(
    switch: EmulatedSwitch, neighbours: list[NeighbourState]
) -> Iterator[dict[str, object]]:
    """Yield the LLDP data of each neighbour of a port, up to `Expired time`."""
    for number, seen in enumerate(neighbours, 1):
        lldp_data = state_source_of(switch).announced(seen)
        yield {
            "index": number,
            "chassis_type": "MAC Address",
            "chassis_id": HARDWARE_ADDRESS,
            "port_id_subtype": displays.INTERFACE_NAME,
            "port_id": seen.port,
            "port_description": lldp_data.description or "--",
            "system_name": seen.device,
            "system_description": described(lldp_data.hardware, lldp_data.software),
            "capabilities": "bridge router",
            "enabled_capabilities": "bridge router",
            **(
                {"address_type": "IPv4", "address": lldp_data.management}
                if lldp_data.management
                else {}
            ),
            "expires": f"{seen.expires_s}s",
        }


def trunks(switch: EmulatedSwitch) -> str:
    """`display eth-trunk`: every Eth-Trunk, one below the other."""
    names = [state.name for state in state_source_of(switch).interfaces(switch.name)]
    return "\n".join(trunk(switch, name) for name in names if trunk_number(name) is not None)


def trunk(switch: EmulatedSwitch, name: str) -> str:
    """`display eth-trunk N`: the form with LACP, or the one without it."""
    state = interface_of(switch, name)
    if state is None:
        return NO_INTERFACE
    states = {
        state_of_port.name: state_of_port
        for state_of_port in state_source_of(switch).interfaces(switch.name)
    }
    members = [(name, states[name].physical == "up") for name in state.members]
    bond = _bond(switch, name)
    manual = bond.mode == MANUAL
    return _manual(state, bond, members) if manual else _lacp(state, bond, members)


def _bond(switch: EmulatedSwitch, name: str) -> Bond:
    """Return the running settings of an Eth-Trunk."""
    lines = next((x.children for x in switch.running if x.text == f"interface {name}"), ())
    texts = {line.text for line in lines}
    mode = next((t.removeprefix("mode ") for t in texts if t.startswith("mode lacp")), MANUAL)
    least = next((t for t in texts if t.startswith("least active-linknumber ")), "")
    return Bond(
        mode="lacp-static"
        if mode == "lacp-static"
        else "lacp-dynamic"
        if mode != MANUAL
        else MANUAL,
        lacp_timeout="fast" if any(t.startswith("lacp timeout fast") for t in texts) else "slow",
        minimum_links=int(least.split()[-1]) if least else NO_BOND.minimum_links,
    )


def _manual(state: InterfaceState, bond: Bond, members: list[tuple[str, bool]]) -> str:
    up = sum(works for _, works in members)
    least = f"Least Active-linknumber: {bond.minimum_links}"
    return "\n".join(
        [
            f"{state.name}'s state information is:",
            "WorkingMode: NORMAL         Hash arithmetic: According to flow",
            f"{least:<27} Max Bandwidth-affected-linknumber: 16",
            f"Operate status: {state.physical:<11} Number Of Up Ports In Trunk: {up}",
            "-" * 80,
            "PortName                      Status      Weight",
            *(f"{name:<29} {'Up' if works else 'Down':<11} 1" for name, works in members),
        ]
    )


def _lacp(state: InterfaceState, bond: Bond, members: list[tuple[str, bool]]) -> str:
    number = trunk_number(state.name)
    mode = "STATIC" if bond.mode == "lacp-static" else "DYNAMIC"
    rule = "-" * 84
    rows = [
        f"{name:<26} {'Selected' if works else 'Unselect'} {_kind(name):<8} 32768   {position:<6} "
        f"{number:<7} {ACTIVE if works else INACTIVE}  1"
        for position, (name, works) in enumerate(members, 1)
    ]
    partners = [
        f"{name:<26} 32768  {HARDWARE_ADDRESS}  32768  {position:<5} {number:<9} "
        f"{ACTIVE if works else INACTIVE}"
        for position, (name, works) in enumerate(members, 1)
    ]
    return "\n".join(
        [
            f"{state.name}'s state information is:",
            "(h): high priority",
            "(r): reference port",
            "Local:",
            f"LAG ID: {number:<19} WorkingMode: {mode}",
            "Preempt Delay Time: 10      Hash arithmetic: According to flow",
            f"System Priority: 32768      System ID: {HARDWARE_ADDRESS}",
            f"Least Active-linknumber: {bond.minimum_links:<2} Max Active-linknumber: 8",
            f"Operate status: {state.physical:<11} Ports: {len(members)}",
            f"Timeout Period: {bond.lacp_timeout.capitalize()}",
            "PortKeyMode: Auto",
            rule,
            TRUNK_HEAD,
            *rows,
            "",
            "Partner:",
            rule,
            PARTNER_HEAD,
            *partners,
        ]
    )


def _kind(name: str) -> str:
    return name.partition("GE")[0] + "GE"
