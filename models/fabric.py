"""Fabric: what we want, a page of YAML. Units are in the names; every default is named here."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from rocefort.models.base import Description, Frozen, Name, Reference
from rocefort.models.device import Bfd
from rocefort.models.finding import Waiver
from rocefort.models.hardware import SyntaxFamily

MOST_SPINES, MOST_LEAVES = 64, 2048

Asn = Annotated[int, Field(ge=1, le=4294967294)]
Dscp = Annotated[int, Field(ge=0, le=63)]
Vlan = Annotated[int, Field(ge=2, le=4094)]
Mtu = Annotated[int, Field(ge=1280, le=9600)]  # V300R023C00 `mtu` ends at 9600
Id = Annotated[int, Field(ge=1)]
PORT_NAME = r"\d+GE\d+/\d+/\d+(:\d+)?"
Metres = Annotated[float, Field(gt=0, le=10000)]


def check_link_subnet(value: IPv4Network) -> IPv4Network:
    """Accept a subnet with two usable addresses."""
    if value.prefixlen not in (30, 31):
        raise ValueError(f"{value} is not a link's subnet; use a /30 or a /31")
    return value


def check_port(value: str) -> str:
    """Accept the name of a port in the form in which a switch saves it."""
    if not re.fullmatch(PORT_NAME, value, re.ASCII):
        raise ValueError(f"{value[:60]!r} is not a port; write it as the switch does: 100GE1/0/1")
    return value


InterfaceName = Annotated[
    str,
    AfterValidator(check_port),
    WithJsonSchema({"type": "string", "pattern": f"^{PORT_NAME}$"}),
]
LinkSubnet = Annotated[IPv4Network, AfterValidator(check_link_subnet)]


class Capacity(Frozen):
    """How far the fabric may grow without moving anything: allocation is sized by it."""

    spines: int = Field(
        ge=1, le=MOST_SPINES, description="Highest spine id that there will ever be."
    )
    leaves: int = Field(
        ge=1, le=MOST_LEAVES, description="Highest leaf id that there will ever be."
    )


class Pools(Frozen):
    """Where addresses come from."""

    spine_loopbacks: IPv4Network = Field(
        description="Loopbacks of spines: address number `id`.", examples=["10.0.0.0/26"]
    )
    leaf_loopbacks: IPv4Network = Field(
        description="Loopbacks of leaves: address number `id`.", examples=["10.0.1.0/24"]
    )
    links: IPv4Network = Field(
        description="Leaf-spine links, one subnet for each pair of the capacity.",
        examples=["10.1.0.0/22"],
    )
    link_prefix_length: Literal[30, 31] = Field(
        default=31, description="31 (RFC 3021), or 30 where a release refuses 31-bit masks."
    )


class Routing(Frozen):
    """EBGP of RFC 7938: spines share an ASN, each leaf has base + id. Times in s and ms."""

    spine_asn: Asn = Field(description="AS number of all spines.", examples=[65000])
    leaf_asn_base: Asn = Field(description="A leaf's AS number less its id.", examples=[65100])
    maximum_paths: int = Field(
        ge=1, le=128, description="`maximum load-balancing`: at least the spines of the capacity."
    )
    keepalive_s: int = Field(default=10, ge=1, le=21845, description="BGP keepalive, s.")
    hold_s: int = Field(
        default=30, ge=3, le=65535, description="BGP hold time, s; usually three keepalives."
    )
    bfd: Bfd | None = Field(default=None, description="BFD of all BGP peers; none: no BFD.")


class DeadlockTimers(Frozen):
    """Timers of one syntax family: milliseconds, or multiples where its unit is not known."""

    detect_ms: int | None = Field(default=None, description="Detection time, ms.")
    recovery_ms: int | None = Field(default=None, description="Recovery time, ms.")
    detect_time: int | None = Field(
        default=None, description="Detection time as the switch counts it, not in ms."
    )
    recovery_time: int | None = Field(
        default=None, description="Recovery time as the switch counts it, not in ms."
    )
    reason: Description = Field(description="Why this family has values of its own.")


class Deadlock(Frozen):
    """Intended deadlock timers, milliseconds; by_family where a family cannot say them."""

    detect_ms: int = Field(ge=1, description="A queue paused for so long is deadlocked, ms.")
    recovery_ms: int = Field(ge=1, description="How long a deadlocked queue ignores pauses, ms.")
    by_family: dict[SyntaxFamily, DeadlockTimers] = Field(
        default_factory=dict, description="Timers of families that cannot say the ones above."
    )


class QueueWeight(Frozen):
    """One queue that is served by weight."""

    queue: int = Field(ge=0, le=7, description="The queue.")
    weight: int = Field(  # range of `qos queue drr`, V300R023C00
        ge=1, le=100, description="Its share against the other weighted queues.", examples=[65]
    )


class Lossless(Frozen):
    """The lossless profile: sizes in kbytes of 1024 bytes."""

    queue: int = Field(ge=0, le=5, description="The queue that PFC pauses, and no other.")
    roce_dscp: Dscp = Field(description="DSCP of RoCE packets.", examples=[34])
    cnp_dscp: Dscp = Field(description="DSCP of congestion notifications (CNP).", examples=[48])
    domain: Name = Field(default="roce", description="Name of the diffserv domain.")
    xoff_kbytes: int = Field(
        ge=1, description="A port pauses its peer at this depth of the queue, kbytes."
    )
    xon_kbytes: int = Field(
        ge=1, description="The peer goes on below this, kbytes; two frames or more under xoff."
    )
    headroom_kbytes: int | None = Field(
        default=None,
        description="Headroom of a port and queue, kbytes; for families that set it so (V300 G2).",
    )
    headroom_pool_kbytes: int | None = Field(
        default=None, description="Headroom that all ports share, kbytes; V300 G1 and G2."
    )
    scheduling: tuple[QueueWeight, ...] = Field(
        default=(),
        description="Queues of RoCE ports served by weight (DRR); the others, that of CNP among "
        "them, have strict priority.",
    )
    deadlock: Deadlock = Field(description="When a paused queue counts as deadlocked.")
    ai_ecn_model: Literal[
        "ai_ecn_hpc", "ai_ecn_centralizedstorage", "ai_ecn_distributedfilestorage"
    ] = Field(description="The AI-ECN model that marks the lossless queue.")


class Cables(Frozen):
    """Cable lengths by link class, metres."""

    fabric_m: float = Field(gt=0, le=10000, description="Leaf to spine, m.")
    server_m: float = Field(gt=0, le=10000, description="Leaf to server, m.")


class SegmentIntent(Frozen):
    """A segment; each leaf that serves it has a gateway in its own part of the prefix."""

    name: Name = Field(description="The segment's name.", examples=["compute"])
    role: Literal["beamline", "compute", "storage", "transfer", "management"] = Field(
        description="What its servers are for."
    )
    prefix: IPv4Network = Field(
        description="All its addresses; leaf number `id` takes part number `id`.",
        examples=["10.65.0.0/16"],
    )
    vlan: Vlan | None = Field(
        default=None, description="VLAN on the leaves; none: the switches' out-of-band network."
    )
    leaf_prefix_length: int = Field(
        default=24, ge=8, le=30, description="Length of one leaf's part of the prefix."
    )


class SwitchPins(Frozen):
    """Values given by hand that allocation would derive otherwise."""

    asn: Asn | None = Field(default=None, description="AS number.")
    loopback: IPv4Address | None = Field(
        default=None, description="Loopback address and router id."
    )
    management: IPv4Address | None = Field(default=None, description="Address of MEth0/0/0.")
    gateways: dict[Name, IPv4Interface] = Field(
        default_factory=dict,
        description="Gateway address with its prefix length, by segment.",
        examples=[{"compute": "10.65.1.1/24"}],
    )


class Switch(Frozen):
    """A spine; `id` is permanent and never given to another switch."""

    id: Id = Field(description="Permanent number; addresses, AS number and ports follow from it.")
    name: Name = Field(description="The switch's sysname.", examples=["leaf01"])
    hardware: Name = Field(
        description="A model of inventory/hardware.", examples=["CE8850-64CQ-EI"]
    )
    software: Name = Field(description="The release that it runs.", examples=["V200R022C00"])
    rack: Name | None = Field(default=None, description="Where it stands.")
    pins: SwitchPins = Field(default=SwitchPins(), description="Values given by hand.")


class Leaf(Switch):
    """A leaf and the segments it has gateways for."""

    segments: tuple[Name, ...] = Field(description="Names of segments that it has gateways for.")


class ServerIntent(Frozen):
    """A server on one leaf port."""

    name: Name = Field(description="The server's name; no switch has the same.")
    leaf: Name = Field(description="Name of its leaf.")
    port: InterfaceName = Field(
        description="Its port on the leaf, none of those kept for spines.",
        examples=["100GE1/0/1"],
    )
    speed_gbps: int | None = Field(
        default=None,
        ge=1,
        description="Speed of its NIC, Gb/s, which must be its port's; otherwise not checked.",
        examples=[100],
    )
    segment: Name = Field(description="Name of a segment that the leaf has a gateway for.")
    description: Description | None = Field(
        default=None, description="Description of the leaf's port; otherwise `to NAME`."
    )
    roce: bool = Field(default=True, description="Whether its port is lossless.")
    cable_m: Metres | None = Field(
        default=None, description="Length of its cable, m; otherwise cables.server_m."
    )
    address: IPv4Address | None = Field(
        default=None, description="Its address, given by hand; otherwise by its port."
    )


class LinkPin(Frozen):
    """What is given by hand for one leaf-spine link."""

    spine: Name = Field(description="Name of the spine.")
    leaf: Name = Field(description="Name of the leaf.")
    spine_port: InterfaceName | None = Field(
        default=None, description="Port on the spine; otherwise by the leaf's id."
    )
    leaf_port: InterfaceName | None = Field(
        default=None, description="Port on the leaf; otherwise by the spine's id."
    )
    subnet: LinkSubnet | None = Field(
        default=None,
        description="A /31 or /30, its lower address at the spine; otherwise from pools.links.",
        examples=["10.1.0.0/31"],
    )
    cable_m: Metres | None = Field(
        default=None, description="Length of the cable, m; otherwise cables.fabric_m."
    )


class User(Frozen):
    """A local user of the switches; the password is set once, at day 0, and not managed here."""

    name: Name = Field(description="Login name.")
    level: int = Field(ge=0, le=3, description="Privilege level: 3 is everything, 1 monitoring.")


class ManagementAccess(Frozen):
    """A network that may reach the command line; `id` is permanent and never given again."""

    id: Id = Field(le=800_000_000, description="Permanent number; its ACL rule follows from it.")
    prefix: IPv4Network = Field(description="Its addresses.", examples=["10.255.0.0/24"])


class Security(Frozen):
    """Who may log in, and from where."""

    users: tuple[User, ...] = Field(default=(), description="Local users of every switch.")
    management_access: tuple[ManagementAccess, ...] = Field(
        default=(),
        description="Networks from which the command line may be reached (VTY); none: from all. "
        "NETCONF has no such filter yet.",
    )
    idle_timeout_min: int | None = Field(  # range of `idle-timeout`, V300R023C00
        default=None, ge=1, le=35791, description="A session idle for so long is closed, minutes."
    )


class SnmpUserIntent(Frozen):
    """A user of SNMPv3, authenticated and encrypted; its keys are set once on each switch."""

    name: Name = Field(max_length=32, description="User name.", examples=["monitor"])
    authentication: Reference = Field(
        description="Where its authentication key is: never the key itself.",
        examples=["env:SNMP_AUTHENTICATION"],
    )
    privacy: Reference = Field(
        description="Where its privacy key is: never the key itself.",
        examples=["env:SNMP_PRIVACY"],
    )


class Services(Frozen):
    """What the switches use, and what they offer for management."""

    ntp: tuple[IPv4Address, ...] = Field(default=(), description="Addresses of NTP servers.")
    syslog: tuple[IPv4Address, ...] = Field(default=(), description="Addresses of syslog servers.")
    netconf: bool = Field(
        default=False, description="Whether NETCONF is served, on port 830, to all users."
    )
    snmp: tuple[SnmpUserIntent, ...] = Field(
        default=(), description="Users of SNMPv3, who may read everything; none: no SNMP."
    )


class Rdma(Frozen):
    """What an RDMA measurement is expected to give."""

    line_rate_fraction: float = Field(
        gt=0, le=1, description="Bandwidth that must come through, as a fraction of line rate."
    )
    latency_us: float = Field(gt=0, description="Latency of small messages across spines, us.")
    latency_tolerance: float = Field(
        ge=0, le=10, description="How far above latency_us it may be, as a fraction of it."
    )


class Rollout(Frozen):
    """How a change reaches the switches."""

    canary: Name = Field(description="Name of the leaf that takes every change first.")
    trial_s: int = Field(  # range of `commit trial`, V300R023C00
        default=600, ge=60, le=65535, description="Time of `commit trial`, s: then it rolls back."
    )
    max_unavailable: int = Field(
        default=1, ge=1, description="How many switches may be changed at the same time."
    )


class Policy(Frozen):
    """What the site asks of any fabric; what is not given is not judged."""

    oversubscription: float | None = Field(
        default=None,
        gt=0,
        le=1000,
        description="Most Gb/s of servers for each Gb/s of uplinks, on every leaf.",
        examples=[3],
    )


class Fabric(Frozen):
    """One fabric, as its author writes it."""

    fabric: Name = Field(description="The fabric's name.", examples=["heps"])
    capacity: Capacity = Field(description="How far it may grow; a change of it moves addresses.")
    pools: Pools = Field(description="Where addresses come from; sized for the capacity.")
    routing: Routing = Field(description="EBGP between leaves and spines.")
    mtu: Mtu = Field(description="MTU of every link and gateway, bytes of IP.", examples=[9000])
    cables: Cables = Field(description="Cable lengths, which headroom depends on.")
    lossless: Lossless = Field(description="What RoCE gets: PFC, AI-ECN, priorities.")
    segments: tuple[SegmentIntent, ...] = Field(
        description="Networks of servers, and one without a VLAN for the switches' management."
    )
    spines: tuple[Switch, ...] = Field(min_length=1, description="Each is cabled to every leaf.")
    leaves: tuple[Leaf, ...] = Field(min_length=1, description="Each is cabled to every spine.")
    links: tuple[LinkPin, ...] = Field(
        default=(), description="Links with something given by hand; the others follow from ids."
    )
    servers: tuple[ServerIntent, ...] = Field(default=(), description="What is on leaf ports.")
    security: Security = Field(default=Security(), description="Who may log in.")
    services: Services = Field(default=Services(), description="What the switches use.")
    rdma: Rdma = Field(description="What an RDMA measurement is expected to give.")
    rollout: Rollout = Field(description="How a change reaches the switches.")
    policy: Policy = Field(default=Policy(), description="What the site asks of any fabric.")
    waivers: tuple[Waiver, ...] = Field(
        default=(), description="Findings that somebody answers for, until a day."
    )
