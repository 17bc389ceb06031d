"""State of a twin's switches for display commands: FRR, the kernel's tables, the actual cables.

The simple model supplies what a kernel does not have (PFC, queues, AI-ECN, alarm numbers); the
greeting of a login states this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from rocefort.base.errors import ServiceFailed
from rocefort.dialects.frr import kernel_name
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.ports import Cabling
from rocefort.emulator.state.routes import BgpRoute, table_of
from rocefort.emulator.switch.state_source import (
    BgpPath,
    EchoReply,
    EchoRequest,
    InterfaceState,
    PeerState,
    Physical,
    PortCounts,
    QueueState,
    RouteState,
)
from rocefort.lab.twin.kernel_routes import prefix_of, read_fib
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.topology import TwinTopology
from rocefort.lab.twin.traffic.ping import echoes
from rocefort.lab.twin.traffic.queues import queues_of
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.device import Device
from rocefort.models.device.interface import kind_of

GREETING = (
    "This is an emulator of a CloudEngine command line, not a switch.\n"
    "Behind it are FRR and a Linux kernel: BGP, routes, ports, MTU, counters and LLDP are theirs.\n"
    "PFC, queues and AI-ECN are those of a model: a kernel has none of them. What passed\n"
    "a queue is what the kernel counted, by the switch's own priority map.\n"
    "What else it leaves out: docs/reference/emulator.md and lab-displays.md\n"
)
NOT_BY_A_KERNEL = ("loopback", "other")  # all loopbacks are one link; NULL0 is none
ASN = re.compile(r"\d+")  # of a path; a set of them is in braces
STATES = {"Established", "Idle", "Active", "Connect", "OpenSent", "OpenConfirm"}


@dataclass
class TwinStateSource(EmulatedState):
    """`StateSource` for the switches of a lab that is up; registry, lab: its place and name."""

    registry: Registry = field(default_factory=Registry)
    lab: str = ""
    _twin: Twin | None = None
    _written: int = 0

    def twin(self) -> Twin:
        """Return the lab as it is now; read again after another process has changed it."""
        record = self.registry.find(self.lab)
        written = (self.registry.directory(record.id) / "topology.json").stat().st_mtime_ns
        if self._twin is None or written != self._written:
            self._twin, self._written = Twin.find(self.lab, self.registry), written
        return self._twin

    def _ip(self, switch: str, *words: str) -> Any:  # noqa: ANN401 - JSON
        code, text = self.twin().run(switch, ["ip", "-j", *words])
        if code != 0:
            raise ServiceFailed(f"the kernel does not answer: {text.strip()}", where=switch)
        return json.loads(text or "[]")

    def interfaces(self, switch: str) -> Sequence[InterfaceState]:
        """Return every interface with the state of its link in the kernel."""
        states = super().interfaces(switch)
        if not states:
            return ()
        links = {row["ifname"]: row for row in self._ip(switch, "-s", "address", "show")}
        device = self.device(switch)
        return [
            _linked_state(state, links.get(kernel_name(state.name)), device) for state in states
        ]

    def queues(self, switch: str, interface: str) -> Sequence[QueueState]:
        """Return eight queues of a port with sent packets (`rocefort.lab.twin.traffic.queues`)."""
        rows = super().queues(switch, interface)
        if not rows:
            return rows
        sent = queues_of(self.twin(), switch, self.device(switch)).get(kernel_name(interface), {})
        nothing = (0, 0)
        return [
            replace(
                row,
                passed_packets=row.passed_packets + sent.get(row.queue, nothing)[0],
                passed_bytes=row.passed_bytes + sent.get(row.queue, nothing)[1],
            )
            for row in rows
        ]

    def _plugged(self, switch: str) -> Cabling:
        """Return the actual cables."""
        topology = self.twin().topology
        ports = topology.by_switch[switch].ports.items()
        ends = ((name, far_end(topology, switch, port)) for name, port in ports)
        return {(switch, name): far for name, far in ends if far is not None}

    def ping(self, switch: str, echo: EchoRequest) -> Sequence[EchoReply | None]:
        """Return real replies, over the kernels' tables; servers also reply."""
        device = kernel_name(echo.interface) if echo.interface else ""
        return self.twin().within(switch, partial(echoes, echo, device))

    def peers(self, switch: str) -> Sequence[PeerState]:
        """Return BGP peers with their state in bgpd; Idle if it does not run."""
        bgp = self.device(switch).bgp if switch in self.switches else None
        if bgp is None:
            return ()
        seen = self._summary(switch)
        peers = []
        for peer in bgp.peers:
            if (asn := bgp.settings(peer).asn) is not None:
                row = seen.get(str(peer.address), {})
                state = str(row.get("state", "Idle")).partition(" ")[0]
                shown = state if state in STATES else "Idle"
                peers.append(PeerState(peer.address, str(asn), shown, int(row.get("pfxRcd", 0))))
        return peers

    def peer_age_s(self, switch: str, peer: str) -> int:
        """Return the seconds since bgpd saw the session come up or go down."""
        row = self._summary(switch).get(peer, {}) if switch in self.switches else {}
        return int(row.get("peerUptimeMsec", 0)) // 1000

    def _summary(self, switch: str) -> Mapping[str, Any]:
        peers: Mapping[str, Any] = self._bgp(switch, "summary json").get("peers", {})
        return peers

    def _bgp(self, switch: str, what: str) -> Mapping[str, Any]:
        """Return the answer of bgpd; empty if it was killed: then no session is up."""
        try:
            with self.twin().daemons(switch).vty("bgpd") as vty:
                answer: Mapping[str, Any] = vty.read(f"show bgp ipv4 unicast {what}")
        except ServiceFailed:
            return {}
        return answer

    def routes(self, switch: str) -> Sequence[RouteState]:
        """Return the kernel's table, with the switch's own addresses."""
        if switch not in self.switches:
            return ()
        rows = self._ip(switch, "-4", "route", "show")
        by_bgp = read_fib(json.dumps(rows), ["bgp"])
        inside = self._internal(switch)
        learned = [
            BgpRoute(prefix, tuple(sorted(hops)), external=prefix not in inside)
            for prefix, hops in by_bgp.items()
        ]
        in_kernel = {prefix_of(row["dst"]) for row in rows}
        device, states = self.device(switch), self.interfaces(switch)
        static = tuple(
            r for r in device.static_routes if r.prefix in in_kernel and r.prefix not in by_bgp
        )
        table = table_of(device.model_copy(update={"static_routes": static}), states, learned)
        own = {prefix for prefix in in_kernel if prefix not in by_bgp}
        return [
            r
            for r in table
            if r.protocol != "Direct"
            or r.prefix.prefixlen == 32  # own addresses are in a table that is not read
            or r.prefix.network_address.is_loopback
            or r.prefix in own
        ]

    def bgp_paths(self, switch: str) -> Sequence[BgpPath]:
        """Return every path that bgpd has, also unused ones."""
        if switch not in self.switches or self.device(switch).bgp is None:
            return ()
        paths_of_table = [
            BgpPath(
                prefix_of(text),
                path["nexthops"][0]["ip"],
                tuple(map(int, ASN.findall(path["path"]))),
                best=bool(path.get("bestpath")),
                med=path.get("metric"),
            )
            for text, paths in self._bgp(switch, "json").get("routes", {}).items()
            for path in paths
            if path.get("valid")
        ]
        return sorted(paths_of_table, key=lambda p: (p.prefix, not p.best, IPv4Address(p.next_hop)))

    def _internal(self, switch: str) -> set[IPv4Network]:
        """Return prefixes that came from peers of the switch's own AS."""
        bgp = self.device(switch).bgp
        if bgp is None or all(bgp.settings(peer).asn != bgp.asn for peer in bgp.peers):
            return set()
        return {
            prefix_of(text)
            for text, paths in self._bgp(switch, "json").get("routes", {}).items()
            if any(p.get("bestpath") and p.get("pathFrom") == "internal" for p in paths)
        }


def far_end(topology: TwinTopology, switch: str, port: str) -> tuple[str, str] | None:
    """Return the other end of a cable, its port by the switch's name; None: not a switch."""
    far = topology.far(switch, port)
    plan = topology.by_switch.get(far[0]) if far is not None else None
    if far is None or plan is None:
        return None
    own = {link: name for name, link in plan.ports.items()}
    return (far[0], own[far[1]]) if far[1] in own else None


def _linked_state(
    state: InterfaceState, link: Mapping[str, Any] | None, device: Device
) -> InterfaceState:
    """Return a configured interface with the state of its link."""
    if link is None or kind_of(state.name) in NOT_BY_A_KERNEL:
        return state
    carrier = "LOWER_UP" in link["flags"] and link["operstate"] in ("UP", "UNKNOWN")
    physical: Physical = "*down" if state.physical == "*down" else "up" if carrier else "down"
    addresses_in_kernel = {
        f"{row['local']}/{row['prefixlen']}" for row in link["addr_info"] if "local" in row
    }
    interface = device.by_interface.get(state.name)
    left_out = interface is not None and interface.vrf is not None
    addresses = tuple(text for text in state.addresses if left_out or text in addresses_in_kernel)
    return replace(
        state,
        physical=physical,
        protocol="up" if physical == "up" and (addresses or not state.routed) else "down",
        mtu=link["mtu"] if state.routed else state.mtu,
        addresses=addresses,
        counts=_counts(link["stats64"], state.counts),
    )


def _counts(stats: Mapping[str, Mapping[str, int]], fault_counts: PortCounts) -> PortCounts:
    """Return the kernel's counters plus those of faults."""
    received, sent = stats["rx"], stats["tx"]
    return replace(
        fault_counts,
        in_packets=fault_counts.in_packets + received["packets"],
        in_bytes=fault_counts.in_bytes + received["bytes"],
        out_packets=fault_counts.out_packets + sent["packets"],
        out_bytes=fault_counts.out_bytes + sent["bytes"],
        crc=fault_counts.crc + received["errors"],
        in_discards=fault_counts.in_discards + received["dropped"],
        out_discards=fault_counts.out_discards + sent["dropped"],
    )
