"""Observed: state and counters that switches and NICs report at one moment; None: not known."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from pydantic import Field

from rocefort.models.base import Frozen


class StateTopic(StrEnum):
    """Part of a switch's state, read by one command or a few; the fields of DeviceSeen."""

    FACTS = "facts"
    PEERS = "peers"
    ROUTES = "routes"
    NEIGHBOURS = "neighbours"
    PORTS = "ports"
    PFC_PORTS = "pfc_ports"
    PFC_PROFILES = "pfc_profiles"
    PFC_COUNTERS = "pfc_counters"
    THRESHOLDS = "thresholds"
    QUEUES = "queues"
    AI_ECN = "ai_ecn"
    ECN_MARKS = "ecn_marks"
    CLOCK = "clock_ahead_s"
    DISK = "disk_free_kbytes"
    CPU = "cpu"
    MEMORY = "memory"
    SAVED = "saved"


class FactsSeen(Frozen):
    """Identity of a switch; serial "" if the release does not show it."""

    hostname: str
    hardware: str
    software: str
    serial: str = ""


class PeerSeen(Frozen):
    """One BGP peer; prefixes None while the session is down."""

    address: IPv4Address
    asn: int
    established: bool
    prefixes: int | None = None


class RouteSeen(Frozen):
    """One prefix of the routing table with the next hops that are in the FIB, sorted."""

    prefix: IPv4Network
    protocol: str
    next_hops: tuple[IPv4Address, ...]


class NeighbourSeen(Frozen):
    """Neighbour of a port by LLDP."""

    local: str
    device: str
    port: str


class PortCounters(Frozen):
    """Frames since the counters were cleared; None where the port does not count them."""

    rx_errors: int | None = None
    crc: int | None = None
    rx_discards: int | None = None
    tx_discards: int | None = None
    rx_pauses: int | None = None
    tx_pauses: int | None = None


class PortSeen(Frozen):
    """One interface. speed_mbps None: negotiated and down, or logical; counters of ports only."""

    name: str
    state: str  # as the switch prints it
    up: bool
    shut: bool = False  # by its administrator
    mtu: int | None = None  # of layer 3, bytes
    frame_bytes: int | None = None  # longest frame
    speed_mbps: int | None = None
    counters: PortCounters | None = None


class PfcPortSeen(Frozen):
    """PFC of one port: its profile, whether it is on, and its state as displayed."""

    interface: str
    profile: str
    enabled: bool
    state: str


class PfcProfileSeen(Frozen):
    """PFC profile and the queues that it pauses."""

    name: str
    queues: tuple[int, ...]


class PfcCountersSeen(Frozen):
    """PFC frames of one queue of a port, their rates in frames a second, and its deadlocks."""

    interface: str
    queue: int
    rx_frames: int
    tx_frames: int
    rx_rate: int
    tx_rate: int
    deadlocks: int
    recoveries: int


class ThresholdSeen(Frozen):
    """PFC thresholds of one queue of a port; None where they are not static or not in bytes."""

    interface: str
    queue: int
    xoff_kbytes: int | None
    xon_kbytes: int | None
    headroom_kbytes: int | None = None
    dynamic: bool = False  # xoff is an alpha of the free buffer, not a size
    text: str  # as displayed, for values that cannot be compared


class QueueSeen(Frozen):
    """Packets and bytes that left or were dropped by one queue of a port since it was cleared."""

    interface: str
    queue: int
    dropped_packets: int
    dropped_bytes: int | None = None
    passed_packets: int | None = None
    passed_bytes: int | None = None


class AiEcnSeen(Frozen):
    """AI-ECN of one queue of a port; mode "-" is abnormal."""

    interface: str
    queue: int
    mode: str
    model: str


class MarkedSeen(Frozen):
    """Packets that a switch port marked with ECN since its counters were cleared."""

    interface: str
    marked_packets: int


class CpuSeen(Frozen):
    """Load of a switch's CPU on average of three times, percent."""

    five_seconds: int
    one_minute: int
    five_minutes: int


class MemorySeen(Frozen):
    """Memory of a switch."""

    total_kbytes: int
    used_kbytes: int

    @property
    def percent(self) -> float:
        """Used part of it, percent."""
        return 100 * self.used_kbytes / self.total_kbytes


class UnreadSeen(Frozen):
    """Line of an output that is no row of its table.

    key: interface, address or prefix of the row that it may be; "" where it may be any row.
    """

    command: str
    line: int
    why: str
    key: str = ""


class DeviceSeen(Frozen):
    """Observed state of one switch. None: not read; `missing` has the reason, by topic.

    failed: a sentence for each failed reading (no session, an inconsistent table). A command that
    the release does not have is no failure. cures: how to fix a failure, by its sentence. unread:
    lines that were left out of a topic. at: begin of the reading, UTC.
    """

    name: str
    at: datetime
    failed: tuple[str, ...] = ()
    cures: dict[str, str] = Field(default_factory=dict)
    unread: dict[StateTopic, tuple[UnreadSeen, ...]] = Field(default_factory=dict)
    missing: dict[StateTopic, str] = Field(default_factory=dict)
    facts: FactsSeen | None = None
    peers: tuple[PeerSeen, ...] | None = None
    routes: tuple[RouteSeen, ...] | None = None
    neighbours: tuple[NeighbourSeen, ...] | None = None
    ports: tuple[PortSeen, ...] | None = None
    pfc_ports: tuple[PfcPortSeen, ...] | None = None
    pfc_profiles: tuple[PfcProfileSeen, ...] | None = None
    pfc_counters: tuple[PfcCountersSeen, ...] | None = None
    thresholds: tuple[ThresholdSeen, ...] | None = None
    queues: tuple[QueueSeen, ...] | None = None
    ai_ecn: tuple[AiEcnSeen, ...] | None = None
    ecn_marks: tuple[MarkedSeen, ...] | None = None
    clock_ahead_s: float | None = None  # of the reading machine's clock
    disk_free_kbytes: int | None = None
    cpu: CpuSeen | None = None
    memory: MemorySeen | None = None
    saved: bool | None = None  # whether startup equals running

    @cached_property
    def by_port(self) -> dict[str, PortSeen]:
        """Interfaces by name."""
        return {port.name: port for port in self.ports or ()}

    def whole(self, topic: StateTopic) -> Any:  # noqa: ANN401 - the type of the topic's field
        """Value of a topic; None if it was not read, or if a line of its output was left out."""
        return None if topic in self.unread else getattr(self, topic.value)


class Observed(Frozen):
    """Observed state of a fabric, or of some of its switches. at: begin of the reading, UTC."""

    fabric: str
    at: datetime
    devices: tuple[DeviceSeen, ...]

    @cached_property
    def by_name(self) -> dict[str, DeviceSeen]:
        """Switches by name."""
        return {device.name: device for device in self.devices}


class NicCounters(Frozen):
    """Counters of one RDMA link or interface of a server, named as by its driver."""

    server: str
    link: str  # mlx5_0/1, or eth0
    values: dict[str, int]
