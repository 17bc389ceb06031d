"""Interface to the switch state that emulated `display` commands print.

The command line reads a `StateSource` and prints. The source is a model (`lab/state/model.py`) or a
real network (the twin). Values are those of one moment. Rates are per second; sizes are in bytes
unless the name has another unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Literal, Protocol

Physical = Literal["up", "down", "*down"]  # `*down`: administratively
Protocols = Literal["Direct", "Static", "EBGP", "IBGP"]


@dataclass(frozen=True, slots=True)
class PeerState:
    """Row of `display bgp peer` for one peer."""

    address: IPv4Address
    asn: str
    state: str = "Idle"
    prefixes: int = 0


@dataclass(frozen=True, slots=True)
class RouteState:
    """One prefix of the public table; hops: next hop and outgoing interface, all in the FIB."""

    prefix: IPv4Network
    protocol: Protocols
    preference: int
    hops: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class BgpPath:
    """One BGP path of a prefix; med None: no MED. A local route has an empty AS path."""

    prefix: IPv4Network
    next_hop: str  # 0.0.0.0 for a local route
    as_path: tuple[int, ...] = ()
    best: bool = True
    med: int | None = None


@dataclass(frozen=True, slots=True)
class NeighbourState:
    """LLDP neighbour of a port."""

    interface: str
    device: str
    port: str
    expires_s: int
    switch: str = ""  # name of the device in the lab


@dataclass(frozen=True, slots=True)
class LldpAdvertisement:
    """LLDP data that a switch sends about itself and a port; "" for a TLV that it does not send."""

    hardware: str
    software: str
    description: str = ""
    management: str = ""  # A.B.C.D


@dataclass(frozen=True, slots=True)
class EchoRequest:
    """A `ping` to send in the public instance; interface: "" for the one that the route gives."""

    host: IPv4Address
    source: IPv4Address | None = None
    interface: str = ""
    count: int = 5
    size: int = 56
    ttl: int = 255
    timeout_ms: int = 2000


@dataclass(frozen=True, slots=True)
class EchoReply:
    """One reply to a ping."""

    ttl: int
    ms: int


@dataclass(frozen=True, slots=True)
class PortCounts:
    """Counters of one port since they were cleared."""

    in_packets: int = 0
    in_bytes: int = 0
    out_packets: int = 0
    out_bytes: int = 0
    crc: int = 0
    in_discards: int = 0
    out_discards: int = 0
    in_pauses: int = 0
    out_pauses: int = 0

    @property
    def in_errors(self) -> int:
        """All input errors; only CRC errors are counted separately."""
        return self.crc


@dataclass(frozen=True, slots=True)
class InterfaceState:
    """One interface. speed_mbps None: logical, or not known; members of an Eth-Trunk by name."""

    name: str
    physical: Physical
    protocol: Literal["up", "down", "up(s)"]
    description: str = ""
    routed: bool = False
    pvid: int | None = None
    mtu: int = 1500
    frame_bytes: int = 9216
    addresses: tuple[str, ...] = ()  # A.B.C.D/length
    speed_mbps: int | None = None
    members: tuple[str, ...] = ()
    counts: PortCounts = PortCounts()


@dataclass(frozen=True, slots=True)
class VlanState:
    """One VLAN with the interfaces that carry it, without and with its tag."""

    number: int
    name: str
    untagged: tuple[str, ...] = ()
    tagged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StationState:
    """A server's Ethernet address, and the switched interface behind which it is."""

    mac: str
    interface: str
    vlan: int


@dataclass(frozen=True, slots=True)
class PfcState:
    """PFC frames of one queue of a port, and its deadlocks."""

    interface: str
    queue: int
    rx_frames: int = 0
    rx_rate: int = 0  # frames a second
    tx_frames: int = 0
    tx_rate: int = 0
    deadlocks: int = 0
    recoveries: int = 0


@dataclass(frozen=True, slots=True)
class QueueState:
    """Passed and dropped traffic of one egress queue of a port."""

    interface: str
    queue: int
    peak_kbps: int
    passed_packets: int = 0
    passed_bytes: int = 0
    passed_pps: int = 0
    dropped_packets: int = 0
    dropped_bytes: int = 0
    dropped_pps: int = 0


@dataclass(frozen=True, slots=True)
class AiEcnState:
    """AI-ECN of one queue of a port; mode `-`: it is not active, and there are no thresholds."""

    interface: str
    queue: int
    mode: Literal["NN", "BBR", "STATIC", "-"]
    model: str
    low_bytes: int
    high_bytes: int
    percent: int


@dataclass(frozen=True, slots=True)
class AlarmState:
    """One active alarm."""

    number: int
    alarm: str  # 0x8520003
    severity: str
    seconds_ago: int
    text: str


class StateSource(Protocol):
    """State of every switch of a lab, by name; an unknown name has an empty state."""

    def peers(self, switch: str) -> Sequence[PeerState]:
        """Return configured BGP peers, in the order of the configuration."""

    def peer_age_s(self, switch: str, peer: str) -> int:
        """Return the seconds that a session has been up, or down."""

    def routes(self, switch: str) -> Sequence[RouteState]:
        """Return the public routing table, sorted by prefix."""

    def bgp_paths(self, switch: str) -> Sequence[BgpPath]:
        """Return the BGP table of the public instance by prefix, the best path of each first."""

    def neighbours(self, switch: str) -> Sequence[NeighbourState]:
        """Return LLDP neighbours, by port."""

    def announced(self, neighbour: NeighbourState) -> LldpAdvertisement:
        """Return the LLDP data that a neighbour sends."""

    def ping(self, switch: str, echo: EchoRequest) -> Sequence[EchoReply | None]:
        """Return replies, None for a lost one; BadInput for a name that the lab does not have."""

    def interfaces(self, switch: str) -> Sequence[InterfaceState]:
        """Return every interface, physical ones first."""

    def vlans(self, switch: str) -> Sequence[VlanState]:
        """Return every VLAN, by number."""

    def stations(self, switch: str) -> Sequence[StationState]:
        """Return the servers behind switched interfaces that are up, by interface."""

    def pfc(self, switch: str) -> Sequence[PfcState]:
        """Return lossless queues of ports that have PFC on."""

    def queues(self, switch: str, interface: str) -> Sequence[QueueState]:
        """Return the eight egress queues of a port; none for an interface without queues."""

    def ai_ecn(self, switch: str) -> Sequence[AiEcnState]:
        """Return queues for which AI-ECN computes thresholds."""

    def alarms(self, switch: str) -> Sequence[AlarmState]:
        """Return active alarms, the newest first."""
