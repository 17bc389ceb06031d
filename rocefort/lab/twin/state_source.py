"""State of a twin's switches for display commands: FRR, kernel tables, cables, queues, pings.

Requests follow each other at once, and no wait is longer than 2 s: the command lines of the whole
lab are blocked meanwhile, and replies here take milliseconds.

A kernel has no such queues. nftables counts packets that leave each port, by input port and DSCP.
The switch's configuration maps them to a queue: the trust of the input port, and its diffserv
domain.

The simple model supplies what a kernel does not have (PFC, queues, AI-ECN, alarm numbers); the
greeting of a login states this.
"""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.dialects.frr import kernel_name
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.ports import Cabling
from rocefort.emulator.state.routing_state import BgpRoute, table_of
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
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.device import Device
from rocefort.models.device.interface import kind_of
from rocefort.models.device.lossless_queue import PHB_QUEUE, default_queue

REQUEST, REPLY = 8, 0  # types of ICMP, RFC 792
HEADER = struct.Struct("!BBHHH")
LONGEST_WAIT_S = 2.0
TTL_AT = 8  # octet of an IPv4 header


def echoes(echo: EchoRequest, device: str = "") -> Sequence[EchoReply | None]:
    """Send all requests in the caller's namespace, out of a device if one is given.

    Raises BadInput if the kernel refuses the source or the device.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as link:
            link.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, echo.ttl)
            if device:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            if echo.source is not None:
                link.bind((str(echo.source), 0))
            return _exchange(link, echo)
    except OSError as error:
        raise BadInput(f"the kernel reports: {error.strerror or error}") from None


def _exchange(link: socket.socket, echo: EchoRequest) -> Sequence[EchoReply | None]:
    identity = int.from_bytes(os.urandom(2), "big")
    sent: dict[int, float] = {}
    came: dict[int, EchoReply] = {}
    for number in range(1, echo.count + 1):
        try:
            link.sendto(request(identity, number, echo.size), (str(echo.host), 0))
        except OSError:
            continue  # no route: lost, as one without a reply
        sent[number] = time.monotonic()
        _receive_answers(link, identity, sent, came, 0.0)
    wait = min(echo.timeout_ms / 1000, LONGEST_WAIT_S)
    _receive_answers(link, identity, sent, came, wait)
    return [came.get(number) for number in range(1, echo.count + 1)]


def _receive_answers(
    link: socket.socket,
    identity: int,
    sent: dict[int, float],
    came: dict[int, EchoReply],
    wait_s: float,
) -> None:
    """Receive replies until all are there or the time is over; without a wait only queued ones."""
    end = time.monotonic() + wait_s
    while len(came) < len(sent):
        link.settimeout(max(end - time.monotonic(), 0.000_1))
        try:
            packet = link.recv(65_535)
        except TimeoutError:
            return
        number = answered(packet, identity)
        if number in sent and number not in came:
            took = int((time.monotonic() - sent[number]) * 1000)
            came[number] = EchoReply(packet[TTL_AT], max(took, 1))


def answered(packet: bytes, identity: int) -> int | None:
    """Return the number of the request that an IPv4 packet answers; None: another packet."""
    start = (packet[0] & 15) * 4
    if len(packet) < start + HEADER.size:
        return None
    kind, _, _, owner, number = HEADER.unpack_from(packet, start)
    return number if (kind, owner) == (REPLY, identity) else None


def request(identity: int, number: int, size: int) -> bytes:
    """Return an echo request with some octets of data."""
    data = bytes(index & 255 for index in range(size))
    bare = HEADER.pack(REQUEST, 0, 0, identity, number) + data
    return HEADER.pack(REQUEST, 0, checksum(bare), identity, number) + data


def checksum(octets: bytes) -> int:
    """Return the checksum of RFC 1071."""
    padded = octets + b"\0" * (len(octets) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


TABLE = "queues"
DIRECTIONS = ("in", "out")
BEHIND_FAULTS = 10  # priority of a chain: packets dropped by a fault are not counted
UNTAGGED = 0  # queue of a packet without an 802.1p priority
OWN = 6  # queue of packets from the switch itself
NAMED = {"be": 0, "df": 0, "lephb": 1, "va": 44, "ef": 46}  # nftables, beside csN and afNN
Counts = Mapping[int, tuple[int, int]]  # by queue: packets, bytes


@dataclass(frozen=True)
class PortCount:
    """Packets that have left a port, by input port (empty: from the switch itself) and DSCP."""

    port: str
    came_in: str
    dscp: int
    packets: int
    octets: int


def queues_of(twin: Twin, switch: str, device: Device) -> Mapping[str, Counts]:
    """Return sent packets by kernel name of a port and by queue, since the first call."""
    by_port: dict[str, dict[int, tuple[int, int]]] = {}
    for row in _new_counts(twin, switch):
        counts = by_port.setdefault(row.port, {})
        queue = queue_of(device, row.came_in, row.dscp)
        packets, octets = counts.get(queue, (0, 0))
        counts[queue] = packets + row.packets, octets + row.octets
    return by_port


def queue_of(device: Device, came_in: str, dscp: int) -> int:
    """Return the queue of a packet; came_in: kernel name of the input port."""
    if not came_in:
        return OWN
    port = next((i for i in device.interfaces if kernel_name(i.name) == came_in), None)
    if port is None or not (port.layer3 or device.carrier(port).trust_dscp):
        return UNTAGGED
    domain = device.domain_of(port)
    if domain is None:
        return UNTAGGED
    entry = domain.by_dscp.get(dscp)
    return PHB_QUEUE[entry.phb] if entry else default_queue(dscp)


def _new_counts(twin: Twin, switch: str) -> Iterator[PortCount]:
    """Read the counters; the first call, and one after a port was created again, starts them."""
    cables = [c for c in twin.topology.cables if BACKSTAGE not in (c.a, c.b)]  # not to nowhere
    ports = sorted({port for cable in cables for node, port in cable.ends if node == switch})
    rows = _raw_counters(twin, switch)
    present = {row["chain"]["name"] for row in rows if "chain" in row}
    required = {f"{direction}_{port}" for direction in DIRECTIONS for port in ports}
    if present != required:  # a chain goes with its port
        code, output = twin.run(switch, ["nft", "-f", "-"], _rules(ports))
        if code != 0:
            raise ServiceFailed(f"queues cannot be counted: {output.strip()}", where=switch)
        return
    for row in rows:
        if "set" in row:
            port = row["set"]["name"].removeprefix("left_")
            yield from _of_set(port, ports, row["set"].get("elem", ()))


def _of_set(port: str, ports: list[str], elements: Collection[Any]) -> Iterator[PortCount]:
    for each in elements:
        mark, dscp = each["elem"]["val"]["concat"]
        counter = each["elem"]["counter"]
        # Else the switch sent it: a kernel marks some of its own replies with other numbers.
        came_in = ports[mark - 1] if 0 < mark <= len(ports) else ""
        yield PortCount(port, came_in, dscp_number(dscp), counter["packets"], counter["bytes"])


def dscp_number(word: str | int) -> int:
    """Return the number of a DSCP, which nftables may write as a name."""
    if isinstance(word, int):
        return word
    if word.startswith("cs"):
        return int(word[2:]) * 8
    if word.startswith("af"):
        return int(word[2]) * 8 + int(word[3]) * 2
    return NAMED[word] if word in NAMED else int(word, 0)


def _raw_counters(twin: Twin, switch: str) -> list[dict[str, Any]]:
    code, output = twin.run(switch, ["nft", "-j", "list", "table", "netdev", TABLE])
    if code != 0:
        return []
    rows: list[dict[str, Any]] = json.loads(output)["nftables"]
    return rows


def _rules(ports: list[str]) -> str:
    """Return rules that mark packets by input port, and count them at output."""
    parts = [f"table netdev {TABLE} {{}}\ndelete table netdev {TABLE}\ntable netdev {TABLE} {{"]
    for number, port in enumerate(ports):
        at = f'device "{port}" priority {BEHIND_FAULTS};'
        parts += [
            f"set left_{port} {{ type mark . dscp; size 4096; flags dynamic; counter; }}",
            f"chain in_{port} {{ type filter hook ingress {at} meta mark set {number + 1}; }}",
            f"chain out_{port} {{ type filter hook egress {at}",
            f"  update @left_{port} {{ meta mark . ip dscp }}; }}",
        ]
    return "\n".join([*parts, "}\n"])


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
        """Return eight queues of a port with sent packets (`rocefort.lab.twin.state_source`)."""
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
