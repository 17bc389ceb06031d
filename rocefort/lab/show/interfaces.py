"""`display interface [brief]`, `lldp neighbor [brief]` and `eth-trunk`.

Samples: V300R023C00 command reference, Interface Management, LLDP, Eth-Trunk; V200's forms: outputs
of CloudEngine switches that public drivers test with. Rates, peaks and utilization are always zero;
LACP's states of single members are not modelled and shown as working.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from napalm_cloudengine.displays import lldp as displays
from rocefort.lab.behind import InterfaceState, NeighbourState, PortCounts
from rocefort.lab.show.asked import NO_INTERFACE, behind_of, interface_of
from rocefort.lab.show.hardware import described
from rocefort.lab.switch import EmulatedSwitch
from rocefort.models.bond import MANUAL, NO_BOND, Bond, trunk_number
from rocefort.models.breakout import whole_port
from rocefort.models.hardware import SyntaxFamily, port_speed_gbps
from rocefort.models.interface import kind_of

BRIEF_LEGEND = """\
PHY: Physical
*down: administratively down
^down: standby
(l): loopback
(s): spoofing
(b): BFD down
(e): ETHOAM down
(d): Dampening Suppressed
(p): port alarm down
(dl): DLDP down
(c): CFM down
"""
BRIEF_V300 = """\
(sd): STP instance discarding
(ms): MACsec down
"""
BRIEF_HEAD = """\
(ed): error down
InUti/OutUti: input utility rate/output utility rate
Interface                  PHY      Protocol  InUti OutUti   inErrors  outErrors"""
STATES = {"up": "UP", "down": "DOWN", "*down": "Administratively DOWN"}
PROTOCOLS = {"up": "UP", "down": "DOWN", "up(s)": "UP (spoofing)"}
TRUNK_HEAD = "ActorPortName              Status   PortType PortPri PortNo PortKey PortState Weight"
PARTNER_HEAD = "ActorPortName              SysPri    SystemID  PortPri PortNo  PortKey   PortState"
HARDWARE_ADDRESS = "00e0-fc12-3456"  # the samples' own: addresses of Ethernet are not modelled
UTILITY = (
    "    Last 300 seconds input utility rate:  0.00%",
    "    Last 300 seconds output utility rate: 0.00%",
)
MANAGEMENT = (  # MEth0/0/0
    "Media type: COMMON COPPER, Link type: auto negotiation",
    "Loopback: NONE, Maximal BW: 1000M, Current BW: 1000M, Full-duplex mode",
)
ACTIVE, INACTIVE = "10111100", "10100000"  # port states of selected members and others


def brief(switch: EmulatedSwitch) -> str:
    """`display interface brief`: members below their Eth-Trunk, in lexicographic order."""
    rows = []
    states = behind_of(switch).interfaces(switch.name)
    members = {name for state in states for name in state.members}
    by_name = {state.name: state for state in states}
    for state in states:
        if state.name not in members:
            rows.append(_brief_row(state, ""))
            below = sorted(name for name in state.members if name in by_name)
            rows += [_brief_row(by_name[name], "  ") for name in below]
    own = "" if switch.family is SyntaxFamily.V200 else BRIEF_V300
    return "\n".join([BRIEF_LEGEND + own + BRIEF_HEAD, *rows])


def _brief_row(state: InterfaceState, indent: str) -> str:
    counts = state.counts
    return (
        f"{indent + _with_speed(state):<25}{state.physical:<9}{state.protocol:<10}{'0%':>5}"
        f"{'0%':>7}{counts.in_errors:>11}{counts.out_discards:>11}"
    )


def _with_speed(state: InterfaceState) -> str:
    """The name, and behind it the speed where that is not the name's: `400GE1/1/1:1(200GE)`."""
    promised = port_speed_gbps(whole_port(state.name))
    if not state.speed_mbps or not promised or state.speed_mbps == promised * 1000:
        return state.name
    return f"{state.name}({state.speed_mbps // 1000}GE)"


def one(switch: EmulatedSwitch, name: str) -> str:
    """`display interface X`."""
    state = interface_of(switch, name)
    return _shown(switch, state, _index(switch, name)) if state else NO_INTERFACE


def all_of(switch: EmulatedSwitch) -> str:
    """`display interface`: every interface, one below the other."""
    states = behind_of(switch).interfaces(switch.name)
    return "\n".join(_shown(switch, state, index) for index, state in enumerate(states, 6))


def _index(switch: EmulatedSwitch, name: str) -> int:
    states = behind_of(switch).interfaces(switch.name)
    return next((index for index, state in enumerate(states, 6) if state.name == name), 6)


def _shown(switch: EmulatedSwitch, state: InterfaceState, index: int) -> str:
    at = f"{switch.now():%Y-%m-%d %H:%M:%S}"
    kind = kind_of(state.name)
    physical = kind in ("ethernet", "management")
    routed_up = physical and state.pvid is None and state.protocol == "up"
    head = [
        f"{state.name} current state : {STATES[state.physical]} (ifindex: {index})",
        f"Line protocol current state : {PROTOCOLS[state.protocol]}",
        *(["Last line protocol up time : -"] if routed_up else []),
        f"Description: {state.description}".rstrip(),
        _layer(state),
        *_addresses(state),
    ]
    if kind == "ethernet":
        tail = [*_port(switch.family, state), *_times(at), *_rates(state)]
        tail += _port_counters(switch.family, state.counts)
    elif kind == "management":
        tail = [*MANAGEMENT, *_times(at), *_rates(state), *_management_counters(state)]
    else:
        tail = [f"Current system time: {at}", *_logical_counters(state)]
    return "\n".join([*head, *tail])


def _layer(state: InterfaceState) -> str:
    frame = f"The Maximum Frame Length is {state.frame_bytes}"
    if state.pvid is not None:
        return f"Switch Port, PVID : {state.pvid:>4}, TPID : 8100(Hex), {frame}"
    mtu = f"Route Port,The Maximum Transmit Unit is {state.mtu}"
    return f"{mtu},{frame}" if kind_of(state.name) == "ethernet" else mtu


def _addresses(state: InterfaceState) -> list[str]:
    hardware = (
        f"IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is {HARDWARE_ADDRESS}"
    )
    if not state.addresses:
        return ["Internet protocol processing : disabled", hardware]
    return [f"Internet Address is {address}" for address in state.addresses] + [hardware]


def _port(family: SyntaxFamily, state: InterfaceState) -> list[str]:
    """Lines of the medium; V200 tells splitting alone, and no FEC."""
    speed = str(state.speed_mbps) if state.physical == "up" and state.speed_mbps else "AUTO"
    v200 = family is SyntaxFamily.V200
    split = "ENABLE" if state.name != whole_port(state.name) else "DISABLE"
    return [
        f"Port Mode:     COMMON FIBER,     Port Split:{split:>26}"
        if v200
        else "Port Mode:     COMMON FIBER,     Port Split/Aggregate:               -",
        f"Speed:{speed:>21},     Loopback:                        NONE",
        "Duplex:                FULL,     Negotiation:                        -",
        "Input Flow-control: DISABLE,     Output Flow-control:          DISABLE",
        "Mdi:                      -"
        + ("" if v200 else ",     Fec:                                -"),
    ]


def _times(at: str) -> list[str]:
    return [
        "Last physical up time   : -",
        "Last physical down time : -",
        f"Current system time: {at}",
        "Statistics last cleared:never",
    ]


def _rates(state: InterfaceState) -> list[str]:
    counts = state.counts
    return [
        "    Last 300 seconds input rate: 0 bits/sec, 0 packets/sec",
        "    Last 300 seconds output rate: 0 bits/sec, 0 packets/sec",
        "    Input peak rate 0 bits/sec, Record time: -",
        "    Output peak rate 0 bits/sec, Record time: -",
        f"    Input :{counts.in_bytes:>19} bytes,{counts.in_packets:>19} packets",
        f"    Output:{counts.out_bytes:>19} bytes,{counts.out_packets:>19} packets",
    ]


@lru_cache(maxsize=64)  # most ports have counted nothing
def _port_counters(family: SyntaxFamily, counts: PortCounts) -> tuple[str, ...]:
    """Counters; V200 tells other MAC control frames (`Ignoreds`) at the end of the errors."""
    v200 = family is SyntaxFamily.V200
    return (
        "    Input:",
        _pair(("Unicast", counts.in_packets), ("Multicast", 0)),
        _pair(("Broadcast", 0), ("Jumbo", 0)),
        _pair(("Discard", counts.in_discards), ("Frames", 0)),
        _pair(("Pause", counts.in_pauses), *([] if v200 else [("Ignoreds", 0)])),
        "",
        _pair(("Total Error", counts.in_errors)),
        _pair(("CRC", counts.crc), ("Giants", 0)),
        _pair(("Jabbers", 0), ("Fragments", 0)),
        _pair(("Runts", 0), ("DropEvents", 0)),
        _pair(("Alignments", 0), ("Symbols", 0)),
        *([_pair(("Ignoreds", 0))] if v200 else []),
        "",
        "    Output:",
        _pair(("Unicast", counts.out_packets), ("Multicast", 0)),
        _pair(("Broadcast", 0), ("Jumbo", 0)),
        _pair(("Discard", counts.out_discards), ("Buffers Purged", 0)),
        _pair(("Pause", counts.out_pauses)),
        "",
        "    Input bandwidth utilization threshold : 90.00%",
        "    Output bandwidth utilization threshold: 90.00%",
        *UTILITY,
    )


def _management_counters(state: InterfaceState) -> list[str]:
    counts = state.counts
    return [
        "    Input:",
        _pair(("Unicast", counts.in_packets), ("Multicast", 0)),
        _pair(("Broadcast", 0), ("Overrun", 0)),
        _pair(("Over-car-pps", 0)),
        "",
        _pair(("Total Error", counts.in_errors), ("CRC", counts.crc)),
        _pair(("Giants", 0), ("Jabbers", 0)),
        _pair(("Runts", 0), ("Fragments", 0)),
        "",
        "    Output:",
        _pair(("Unicast", counts.out_packets), ("Multicast", 0)),
        _pair(("Broadcast", 0), ("Underrun", 0)),
        *UTILITY,
    ]


def _pair(*cells: tuple[str, int]) -> str:
    widths = (31, 34)
    texts = (
        f"{name}:{value:>{w - len(name) - 1}}"
        for (name, value), w in zip(cells, widths, strict=False)
    )
    return "      " + ",   ".join(texts)


def _logical_counters(state: InterfaceState) -> list[str]:
    if not state.members:
        return ["    Input: 0 packets,0 bytes", "    Output:0 packets,0 bytes"]
    rule = "-" * 58
    return [
        rule,
        "PortName                      Status              Weight",
        rule,
        *(f"{name:<29} {'-':<19} 1" for name in state.members),
        rule,
        f"The Number of Ports in Trunk : {len(state.members)}",
    ]


def lldp(switch: EmulatedSwitch) -> str:
    """`display lldp neighbor brief`."""
    rows = [
        {
            "local": seen.interface,
            "expires_s": seen.expires_s,
            "port": seen.port,
            "device": seen.device,
        }
        for seen in behind_of(switch).neighbours(switch.name)
    ]
    return displays.BRIEF.write(rows)


def lldp_detail(switch: EmulatedSwitch, interface: str = "") -> str | None:
    """`display lldp neighbor [interface X]`; None: that is no port. Nothing where LLDP is off."""
    names = [state.name for state in behind_of(switch).interfaces(switch.name)]
    if interface and interface not in names:
        return NO_INTERFACE
    heard: dict[str, list[NeighbourState]] = {
        name: []
        for name in names
        if interface in ("", name) and kind_of(name) in ("ethernet", "management")
    }
    for seen in behind_of(switch).neighbours(switch.name):
        if seen.interface in heard:
            heard[seen.interface].append(seen)
    if not heard:
        return None
    if not any(line.text == "lldp enable" for line in switch.running):
        return ""
    said = {name: _paragraphs(switch, seen) for name, seen in heard.items()}
    return displays.write_detail(said)


def _paragraphs(
    switch: EmulatedSwitch, neighbours: list[NeighbourState]
) -> Iterator[dict[str, object]]:
    """What each neighbour of a port says of itself, as far as `Expired time`."""
    for number, seen in enumerate(neighbours, 1):
        said = behind_of(switch).announced(seen)
        yield {
            "index": number,
            "chassis_type": "MAC Address",
            "chassis_id": HARDWARE_ADDRESS,
            "port_id_subtype": displays.INTERFACE_NAME,
            "port_id": seen.port,
            "port_description": said.description or "--",
            "system_name": seen.device,
            "system_description": described(said.hardware, said.software),
            "capabilities": "bridge router",
            "enabled_capabilities": "bridge router",
            **({"address_type": "IPv4", "address": said.management} if said.management else {}),
            "expires": f"{seen.expires_s}s",
        }


def trunks(switch: EmulatedSwitch) -> str:
    """`display eth-trunk`: every Eth-Trunk, one below the other."""
    names = [state.name for state in behind_of(switch).interfaces(switch.name)]
    return "\n".join(trunk(switch, name) for name in names if trunk_number(name) is not None)


def trunk(switch: EmulatedSwitch, name: str) -> str:
    """`display eth-trunk N`: LACP's form, or that of one without it."""
    state = interface_of(switch, name)
    if state is None:
        return NO_INTERFACE
    states = {one.name: one for one in behind_of(switch).interfaces(switch.name)}
    members = [(name, states[name].physical == "up") for name in state.members]
    bond = _bond(switch, name)
    manual = bond.mode == MANUAL
    return _manual(state, bond, members) if manual else _lacp(state, bond, members)


def _bond(switch: EmulatedSwitch, name: str) -> Bond:
    """Settings of an Eth-Trunk as it runs."""
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
        f"{name:<26} {'Selected' if works else 'Unselect'} {_kind(name):<8} 32768   {place:<6} "
        f"{number:<7} {ACTIVE if works else INACTIVE}  1"
        for place, (name, works) in enumerate(members, 1)
    ]
    partners = [
        f"{name:<26} 32768  {HARDWARE_ADDRESS}  32768  {place:<5} {number:<9} "
        f"{ACTIVE if works else INACTIVE}"
        for place, (name, works) in enumerate(members, 1)
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
