"""A leaf with a bonded server, and two spines: texts, cables and routes for emulated displays."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network

from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.state.model import ComputedRoutes
from rocefort.emulator.state.routing_state import BgpRoute
from rocefort.emulator.state.state_faults import Port
from rocefort.emulator.switch.state_source import PeerState

LEAF = """\
sysname leaf01
vlan batch 10
lldp enable
dcb pfc
 priority 4
 undo priority 3
ai-service
 ai-ecn
  ai-ecn enable
  assign queue 4 model ai_ecn_hpc
interface Eth-Trunk10
 port default vlan 10
 mode lacp-static
 lacp timeout fast
interface 100GE1/0/1
 eth-trunk 10
 dcb pfc enable mode manual
 dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes
interface 100GE1/0/2
 eth-trunk 10
interface 100GE1/0/25
 description to spine01
 undo portswitch
 mtu 9000
 ip address 10.1.0.1 255.255.255.254
 dcb pfc enable mode manual
interface 100GE1/0/26
 description to spine02
 undo portswitch
 ip address 10.1.0.3 255.255.255.254
interface 100GE1/0/3
 shutdown
interface Vlanif10
 ip address 10.7.0.1 255.255.255.0
interface LoopBack0
 ip address 10.0.0.11 255.255.255.255
bgp 65101
 timer keepalive 10 hold 30
 peer 10.1.0.0 as-number 65001
 peer 10.1.0.2 as-number 65001
 ipv4-family unicast
  peer 10.1.0.0 enable
  peer 10.1.0.2 enable
ip route-static 10.99.0.0 255.255.0.0 NULL0
"""
SPINE = """\
sysname {name}
lldp enable
interface 100GE1/0/1
 undo portswitch
 ip address {address} 255.255.255.254
"""
CABLES: dict[Port, Port] = {
    ("leaf01", "100GE1/0/1"): ("server01", "port 1"),
    ("leaf01", "100GE1/0/2"): ("server01", "port 2"),
    ("leaf01", "100GE1/0/25"): ("spine01", "100GE1/0/1"),
    ("leaf01", "100GE1/0/26"): ("spine02", "100GE1/0/1"),
}
PORTS = {f"100GE1/0/{number}": 100_000 for number in (1, 2, 3, 4, 25, 26)}
UPLINK = "100GE1/0/25"


def routed(running: Mapping[str, Lines], dead: frozenset[Port]) -> ComputedRoutes:
    """Sessions of the leaf are up unless their port is dead; both bring one prefix."""
    hops = {"100GE1/0/25": "10.1.0.0", "100GE1/0/26": "10.1.0.2"}
    up = [hop for port, hop in hops.items() if ("leaf01", port) not in dead]
    peers = [
        PeerState(IPv4Address(hop), "65001", "Established" if hop in up else "Idle", hop in up)
        for hop in hops.values()
    ]
    route = BgpRoute(IPv4Network("10.8.0.0/24"), tuple(map(IPv4Address, up)))
    return ComputedRoutes({"leaf01": peers}, {"leaf01": [route] if up else []})
