"""Fabric: what we want, a page of YAML. Units are in the names; every default is named here."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device import Bfd
from rocefort.models.hardware import SyntaxFamily

Asn = Annotated[int, Field(ge=1, le=4294967294)]
Dscp = Annotated[int, Field(ge=0, le=63)]
Vlan = Annotated[int, Field(ge=2, le=4094)]
Mtu = Annotated[int, Field(ge=1280, le=9600)]  # V300R023C00 `mtu` ends at 9600
Id = Annotated[int, Field(ge=1)]
InterfaceName = Annotated[str, Field(pattern=r"^\d+GE\d+/\d+/\d+(:\d+)?$")]


class Capacity(Frozen):
    """How far the fabric may grow without moving anything: allocation is sized by it."""

    spines: Annotated[int, Field(ge=1, le=64)]
    leaves: Annotated[int, Field(ge=1, le=1024)]


class Pools(Frozen):
    """Where addresses come from."""

    spine_loopbacks: IPv4Network
    leaf_loopbacks: IPv4Network
    links: IPv4Network
    link_prefix_length: Literal[30, 31] = 31


class Routing(Frozen):
    """EBGP of RFC 7938: spines share an ASN, each leaf has base + id. Times in s and ms."""

    spine_asn: Asn
    leaf_asn_base: Asn
    maximum_paths: Annotated[int, Field(ge=1, le=128)]
    keepalive_s: Annotated[int, Field(ge=1, le=21845)] = 10
    hold_s: Annotated[int, Field(ge=3, le=65535)] = 30
    bfd: Bfd | None = None


class DeadlockTimers(Frozen):
    """Timers of one syntax family: milliseconds, or multiples where its unit is not known."""

    detect_ms: int | None = None
    recovery_ms: int | None = None
    detect_time: int | None = None
    recovery_time: int | None = None
    reason: Description


class Deadlock(Frozen):
    """Intended deadlock timers, milliseconds; by_family where a family cannot say them."""

    detect_ms: Annotated[int, Field(ge=1)]
    recovery_ms: Annotated[int, Field(ge=1)]
    by_family: dict[SyntaxFamily, DeadlockTimers] = Field(default_factory=dict)


class Lossless(Frozen):
    """The lossless profile: sizes in kbytes of 1024 bytes."""

    queue: Annotated[int, Field(ge=0, le=5)]
    roce_dscp: Dscp
    cnp_dscp: Dscp
    domain: Name = "roce"
    xoff_kbytes: Annotated[int, Field(ge=1)]
    xon_kbytes: Annotated[int, Field(ge=1)]
    headroom_kbytes: int | None = None  # where the family sets it by port and queue
    headroom_pool_kbytes: int | None = None
    deadlock: Deadlock
    ai_ecn_model: Literal[
        "ai_ecn_hpc", "ai_ecn_centralizedstorage", "ai_ecn_distributedfilestorage"
    ]


class Cables(Frozen):
    """Cable lengths by link class, metres."""

    fabric_m: Annotated[float, Field(gt=0, le=10000)]
    server_m: Annotated[float, Field(gt=0, le=10000)]


class SegmentIntent(Frozen):
    """A segment; each leaf that serves it has a gateway in its own part of the prefix."""

    name: Name
    role: Literal["beamline", "compute", "storage", "transfer", "management"]
    prefix: IPv4Network
    vlan: Vlan | None = None  # none: out of band, the switches' management network
    leaf_prefix_length: Annotated[int, Field(ge=8, le=30)] = 24


class SwitchPins(Frozen):
    """Values given by hand that allocation would derive otherwise."""

    asn: Asn | None = None
    loopback: IPv4Address | None = None
    management: IPv4Address | None = None
    gateways: dict[Name, IPv4Interface] = Field(default_factory=dict)  # by segment


class Switch(Frozen):
    """A spine; `id` is permanent and never given to another switch."""

    id: Id
    name: Name
    hardware: Name
    software: Name
    rack: Name | None = None
    pins: SwitchPins = SwitchPins()


class Leaf(Switch):
    """A leaf and the segments it has gateways for."""

    segments: tuple[Name, ...]


class ServerIntent(Frozen):
    """A server on one leaf port."""

    name: Name
    leaf: Name
    port: InterfaceName
    segment: Name
    description: Description | None = None
    roce: bool = True
    cable_m: Annotated[float, Field(gt=0, le=10000)] | None = None
    address: IPv4Address | None = None  # pin


class LinkPin(Frozen):
    """What is given by hand for one leaf-spine link."""

    spine: Name
    leaf: Name
    spine_port: InterfaceName | None = None
    leaf_port: InterfaceName | None = None
    subnet: IPv4Network | None = None
    cable_m: Annotated[float, Field(gt=0, le=10000)] | None = None


class User(Frozen):
    """A local user of the switches; the password is set once, at day 0, and not managed here."""

    name: Name
    level: Annotated[int, Field(ge=0, le=3)]


class Security(Frozen):
    """Who may log in."""

    users: tuple[User, ...] = ()


class Services(Frozen):
    """What the switches use."""

    ntp: tuple[IPv4Address, ...] = ()


class Rdma(Frozen):
    """What an RDMA measurement is expected to give."""

    line_rate_fraction: Annotated[float, Field(gt=0, le=1)]
    latency_us: Annotated[float, Field(gt=0)]
    latency_tolerance: Annotated[float, Field(ge=0, le=10)]  # fraction above latency_us


class Rollout(Frozen):
    """How a change reaches the switches."""

    canary: Name
    trial_s: Annotated[int, Field(ge=60, le=65535)] = 600  # `commit trial`, V300R023C00
    max_unavailable: Annotated[int, Field(ge=1)] = 1


class Fabric(Frozen):
    """One fabric, as its author writes it."""

    fabric: Name
    capacity: Capacity
    pools: Pools
    routing: Routing
    mtu: Mtu
    cables: Cables
    lossless: Lossless
    segments: tuple[SegmentIntent, ...]
    spines: Annotated[tuple[Switch, ...], Field(min_length=1)]
    leaves: Annotated[tuple[Leaf, ...], Field(min_length=1)]
    links: tuple[LinkPin, ...] = ()
    servers: tuple[ServerIntent, ...] = ()
    security: Security = Security()
    services: Services = Services()
    rdma: Rdma
    rollout: Rollout
