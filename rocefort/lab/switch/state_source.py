"""What stands behind the command lines of a lab: the state that display commands show.

A command line asks `StateSource` and prints; who answers may be a model (`lab/state/model.py`) or a
real network (the twin). Values are those of one moment. Rates are per second, sizes bytes unless
named.
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
    """What `display bgp peer` shows of one peer."""

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
    """One way to a prefix that BGP has; med None: it has none. Its own: an empty AS path."""

    prefix: IPv4Network
    next_hop: str  # 0.0.0.0 for its own
    as_path: tuple[int, ...] = ()
    best: bool = True
    med: int | None = None


@dataclass(frozen=True, slots=True)
class NeighbourState:
    """What LLDP hears at a port."""

    interface: str
    device: str
    port: str
    expires_s: int
    switch: str = ""  # what the lab calls the device


@dataclass(frozen=True, slots=True)
class LldpAdvertisement:
    """What a switch says of itself and of one of its ports by LLDP; "" for what it leaves out."""

    hardware: str
    software: str
    description: str = ""
    management: str = ""  # A.B.C.D


@dataclass(frozen=True, slots=True)
class EchoRequest:
    """A `ping` to send in the public instance; interface: "" for what the routes say."""

    host: IPv4Address
    source: IPv4Address | None = None
    interface: str = ""
    count: int = 5
    size: int = 56
    ttl: int = 255
    timeout_ms: int = 2000


@dataclass(frozen=True, slots=True)
class EchoReply:
    """One answer to a ping."""

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
        """All input errors; only CRC errors are told apart."""
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
    """What one egress queue of a port has let through and dropped."""

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
    """AI-ECN of one queue of a port; mode `-`: it does not work, and there are no thresholds."""

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
    """State of every switch of a lab, by the switch's name; an unknown name has none."""

    def peers(self, switch: str) -> Sequence[PeerState]:
        """Configured BGP peers, in the order of the configuration."""

    def peer_age_s(self, switch: str, peer: str) -> int:
        """Seconds that a session has been up, or down."""

    def routes(self, switch: str) -> Sequence[RouteState]:
        """The public routing table, sorted by prefix."""

    def bgp_paths(self, switch: str) -> Sequence[BgpPath]:
        """The BGP table of the public instance, sorted by prefix, the best way of each first."""

    def neighbours(self, switch: str) -> Sequence[NeighbourState]:
        """LLDP neighbours, by port."""

    def announced(self, neighbour: NeighbourState) -> LldpAdvertisement:
        """What a neighbour says of itself."""

    def ping(self, switch: str, echo: EchoRequest) -> Sequence[EchoReply | None]:
        """What came back, None for what was lost; BadInput for what is not known here."""

    def interfaces(self, switch: str) -> Sequence[InterfaceState]:
        """Every interface, physical ones first."""

    def pfc(self, switch: str) -> Sequence[PfcState]:
        """Lossless queues of ports that have PFC on."""

    def queues(self, switch: str, interface: str) -> Sequence[QueueState]:
        """The eight egress queues of a port; none of an interface that has no queues."""

    def ai_ecn(self, switch: str) -> Sequence[AiEcnState]:
        """Queues for which AI-ECN computes thresholds."""

    def alarms(self, switch: str) -> Sequence[AlarmState]:
        """Active alarms, the newest first."""
