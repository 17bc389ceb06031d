"""Network: Devices with facts that their text does not contain, and the source of every value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from itertools import chain
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen, natural
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import Flow
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.fabric.hosts import Hosts, NicProfile
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.fabric.topology import WanPath
from rocefort.models.finding import IntentLine, Waiver, Where
from rocefort.models.hardware.hardware import DialectName, Family, Hardware, port_speed_gbps
from rocefort.models.hardware.media import CableMedium
from rocefort.models.network.exits import Exit


class SwitchRole(StrEnum):
    """Role of a switch in the Clos."""

    SPINE = "spine"
    LEAF = "leaf"


class RoleEvidence(StrEnum):
    """Kind of evidence for the role of a switch in a text."""

    GATEWAYS = "gateways"
    NEIGHBOURS = "sessions and cables"
    NAME = "name"
    BGP = "BGP groups and AS number"


@dataclass(frozen=True, slots=True)
class TextLine:
    """Line of a configuration with its enclosing views; secrets in its text are masked."""

    path: tuple[str, ...]
    text: str
    line: int  # 1-based
    command: str = ""  # its command, if it is in the command table but in no model
    # Views and text for messages, if a part of the line may be a secret of an unknown form
    shown: tuple[str, ...] = field(default=(), compare=False)

    @property
    def shown_path(self) -> tuple[str, ...]:
        """The enclosing views as a message shows them."""
        return self.shown[:-1] if self.shown else self.path

    @property
    def shown_text(self) -> str:
        """The text as a message shows it."""
        return self.shown[-1] if self.shown else self.text

    @property
    def shown_whole(self) -> str:
        """The views and the text as a message shows them."""
        return " / ".join((*self.shown_path, self.shown_text))


class Node(Frozen):
    """Switch: its Device and facts that the text does not contain. None: unknown.

    read_by: dialect of its text.
    """

    device: Device
    role: SwitchRole | None = None
    # Evidence for an inferred role, and against it.
    role_by: tuple[RoleEvidence, ...] = Field(default=(), exclude_if=lambda rows: not rows)
    role_against: tuple[RoleEvidence, ...] = Field(default=(), exclude_if=lambda rows: not rows)
    id: int | None = None
    links_per_pair: int | None = None  # intended links of a leaf to each spine
    hardware: Hardware | None = None
    software: str | None = None
    family: Family | None = None
    rack: str | None = None
    management: IPv4Interface | None = None
    read_by: DialectName | None = Field(default=None, exclude_if=lambda name: name is None)
    unmodelled: tuple[TextLine, ...] = ()  # of its text; `unmodelled[LINE]` in Sources
    cut_off_at: int | None = None  # last line of a text without `return`; `cut_off` in Sources

    @property
    def name(self) -> str:
        """Sysname of the switch."""
        return self.device.name

    @cached_property
    def port_names(self) -> tuple[str, ...]:
        """Ports of the hardware in its order; parts replace split ports."""
        parts = {split.port: split.parts for split in self.device.splits}
        names = self.hardware.port_names() if self.hardware else ()
        return tuple(chain.from_iterable(parts.get(name, (name,)) for name in names))

    @property
    def fabric_places(self) -> tuple[str, ...]:
        """Ports and parts reserved for leaf-spine links, by index; none on unknown hardware."""
        splits = {split.port: split.type for split in self.device.splits}
        return self.hardware.fabric_places(splits) if self.hardware else ()

    def speed_gbps(self, interface: str) -> int | None:
        """Speed of a port by the hardware's data, or of a part by its split; None: unknown."""
        if interface in self.device.part_speeds:
            return self.device.part_speeds[interface]
        if self.hardware is None:
            return port_speed_gbps(interface)
        return self.hardware.speed_gbps(interface)

    @property
    def dialect(self) -> str | None:
        """Dialect of its family, else of its text."""
        return self.family.dialect if self.family else self.read_by

    @property
    def driver(self) -> str | None:
        """NAPALM driver of its family, if known."""
        return self.family.driver if self.family else None

    @property
    def syntax(self) -> str | None:
        """Syntax family, if known."""
        return self.family.name if self.family else None


class End(Frozen):
    """One end of a link."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device} {self.interface}"


class CablingSource(StrEnum):
    """Source of cabling evidence in a text, the most reliable first."""

    LLDP = "LLDP"
    ADDRESSES = "addresses"
    DESCRIPTIONS = "descriptions"


class CablingEvidence(Frozen):
    """Far end of a port by one source; port None: the source names the switch only."""

    by: CablingSource
    at: End
    device: str
    port: str | None = None

    @property
    def far(self) -> str:
        """Far end as text."""
        return f"{self.device} {self.port}" if self.port else self.device

    def conflicts_with(self, other: CablingEvidence) -> bool:
        """Whether two pieces of evidence about one port contradict each other."""
        ports = {self.port, other.port} - {None}
        return self.device != other.device or len(ports) > 1


class Link(Frozen):
    """Cable between two switches; cable_m in metres, None if unknown."""

    a: End
    b: End
    told: tuple[CablingSource, ...] = ()  # sources of an inferred link; empty: from intent
    cable_m: float | None = None
    medium: CableMedium | None = None


class Server(Frozen):
    """Server on one leaf.

    port: the interface that carries its VLAN, a port or the Eth-Trunk of its bond, whose cabled
    ports are `members`. speed_gbps: of all its ports together.
    """

    name: str
    port: End
    members: tuple[End, ...] = ()
    segment: str
    address: IPv4Interface
    mtu: int
    roce: bool = True
    nic: str | None = None  # name of a NIC profile; None: its settings are unknown
    cable_m: float | None = None
    medium: CableMedium | None = None
    speed_gbps: int

    @property
    def ports(self) -> tuple[End, ...]:
        """Ports that its cables end at."""
        return self.members or (self.port,)

    @property
    def flow_gbps(self) -> int:
        """Rate of one flow, Gb/s: a bond sends all packets of a flow over one member."""
        return self.speed_gbps // len(self.ports)


class Segment(Frozen):
    """Segment on one leaf."""

    name: str
    leaf: str
    vlan: int
    gateway: IPv4Interface

    @property
    def prefix(self) -> IPv4Network:
        """Subnet of the gateway."""
        return self.gateway.network


class LosslessIntent(Frozen):
    """Intended treatment of RoCE on a switch, which text alone does not contain. Times in ms."""

    profile: str = ""  # name of the lossless profile
    queue: int
    roce_dscp: int
    cnp_dscp: int
    cnp_queue: int = 6
    detect_ms: int
    recovery_ms: int
    headroom_mtu: int  # largest frame on any port, bytes


class Reserved(Frozen):
    """Capacity: most switches of each role; ports are reserved for them."""

    spines: int
    leaves: int
    links_per_pair: int = 1  # of each leaf and spine


@dataclass(frozen=True, slots=True)
class Port:
    """Switch port on a RoCE path. cable_m in metres, speed in Gb/s; None: unknown."""

    end: End
    node: Node
    interface: Interface
    cable_m: float | None
    speed_gbps: int | None


@dataclass(frozen=True, slots=True)
class Position:
    """Position in a file, 1-based."""

    file: str
    line: int
    column: int = 1
    length: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


EVERY = "*"  # instead of a device: values that all switches of a fabric share


@dataclass(frozen=True)
class Sources:
    """Side table with the source of each value.

    Keys are `device/field.path`, such as `leaf01/interfaces[100GE1/0/1].mtu`. A lookup without a
    match takes the key of EVERY, then the nearest enclosing one. A value of no configuration is
    looked up in the intent.
    """

    table: Mapping[str, Position] = field(default_factory=dict)
    intent: Sources | None = None  # lines of the fabric by which configurations are judged

    def find(self, device: str, path: str = "") -> Position | None:
        """Return the position of a device's value, or of the nearest field that encloses it."""
        owners = (device, EVERY) if device else ("",)
        for key in _enclosing(path):
            for owner in owners:
                if position := self.table.get(f"{owner}/{key}"):
                    return position
        return self.intent.find(device, path) if self.intent else None

    def where(self, device: str, path: str = "", interface: str | None = None) -> Where:
        """Return the place of a verdict, with file and line if they are known."""
        position = self.find(device, path)
        intent = self.intent.find(device, path) if self.intent and device else None
        return Where(
            device=device or None,
            interface=interface,
            file=position.file if position else None,
            line=position.line if position else None,
            intent=IntentLine(file=intent.file, line=intent.line)
            if intent and intent != position
            else None,
        )


def _enclosing(path: str) -> Iterator[str]:
    while path:
        yield path
        cut = max(path.rfind("."), path.rfind("["))
        if path.endswith("]"):
            cut = path.rfind("[")
        path = path[: max(cut, 0)]
    yield ""


def shared_subnets(nodes: Iterable[Node]) -> dict[IPv4Network, tuple[End, ...]]:
    """Return routed ports by subnet, in order of names; two in one subnet are ends of a cable."""
    by_subnet: dict[IPv4Network, list[End]] = {}
    for node in sorted(nodes, key=lambda node: natural(node.name)):
        for interface in node.device.interfaces:
            if interface.kind == "ethernet" and interface.routed:
                end = End(device=node.name, interface=interface.name)
                for subnet in dict.fromkeys(address.network for address in interface.addresses):
                    by_subnet.setdefault(subnet, []).append(end)
    return {subnet: tuple(ends) for subnet, ends in by_subnet.items()}


def cables_by_address(nodes: Sequence[Node]) -> Iterator[tuple[End, End]]:
    """Cables that addresses show: two ports in one subnet, or two peers with unlike masks.

    A wrong mask puts the ends of a cable into two subnets, with one port in each. They are still
    the ends of a cable if each switch peers with the other port, and one reaches it by its mask.
    """
    by_name = {node.name: node for node in nodes}
    lone: dict[IPv4Address, tuple[End, IPv4Network]] = {}
    for subnet, ends in shared_subnets(nodes).items():
        if len(ends) == 2 and ends[0].device != ends[1].device:
            yield ends[0], ends[1]
        elif len(ends) == 1:
            device, port = by_name[ends[0].device].device, ends[0].interface
            for address in device.by_interface[port].addresses:
                if address.network == subnet:
                    lone[address.ip] = ends[0], subnet
    peers = {n.name: {p.address for p in n.device.bgp.peers} for n in nodes if n.device.bgp}
    tied: set[End] = set()
    for own, (end, subnet) in lone.items():
        for other in peers.get(end.device, set()) & lone.keys():
            far = lone[other][0]
            if other in subnet and own in peers.get(far.device, ()) and not {end, far} & tied:
                tied |= {end, far}
                yield end, far


class Network(Frozen):
    """All Devices of a fabric with links, servers and hardware facts. None: unknown, not empty."""

    name: str
    origin: Literal["fabric", "text"]  # text: links, if any, are inferred
    nodes: tuple[Node, ...]
    links: tuple[Link, ...] | None = None
    servers: tuple[Server, ...] | None = None
    beamlines: tuple[Beamline, ...] = ()  # by id; their servers are among `servers`
    segments: tuple[Segment, ...] | None = None
    wan: tuple[WanPath, ...] = Field(default=(), exclude_if=lambda paths: not paths)
    exits: tuple[Exit, ...] | None = None  # cables out of the fabric
    lossless: LosslessIntent | None = None  # of all switches but those of `own_lossless`
    own_lossless: dict[str, LosslessIntent] = Field(
        default_factory=dict, exclude_if=lambda own: not own
    )
    hosts: Hosts | None = None
    # BGP prefixes by switch as the fabric intends them, beside Devices that switches run.
    announced: tuple[tuple[str, IPv4Network], ...] = ()
    spines: int | None = None  # number that each leaf should have links to
    reserved: Reserved | None = None
    policy: SegmentPolicy | None = None  # allowed traffic between segments
    oversubscription: float | None = None  # highest that policy allows: servers to uplinks
    claims: tuple[CablingEvidence, ...] = ()  # evidence of inferred links, by end
    waivers: tuple[Waiver, ...] = ()  # `waivers[INDEX]` of no device in Sources

    @cached_property
    def media(self) -> frozenset[CableMedium] | None:
        """Media of all cables that have one; None where none has."""
        links = (link.medium for link in self.links or ())
        servers = (server.medium for server in self.servers or ())
        exits = (exit_.medium for exit_ in self.exits or ())
        return frozenset(medium for medium in chain(links, servers, exits) if medium) or None

    @property
    def is_bench(self) -> bool:
        """Whether it is a bench: two hosts, and at most one switch."""
        return self.spines == 0

    @property
    def lack_of_switches(self) -> str:
        """Reason why nothing is configured or forwarded; empty: it has switches."""
        back_to_back = self.is_bench and not self.nodes
        return "its hosts are back to back, without a switch" if back_to_back else ""

    @cached_property
    def cabling(self) -> tuple[Link, ...] | None:
        """Cables from a source besides addresses: intent, LLDP or both descriptions.

        None if a cable has no source except addresses, or a routed port's far end is unknown.
        """
        if self.origin == "fabric":
            return self.links
        has_source = self.links and all(
            set(link.told) - {CablingSource.ADDRESSES} for link in self.links
        )
        return self.links if has_source and not self.loose_ends else None

    def lossless_of(self, switch: str) -> LosslessIntent | None:
        """Intended treatment of RoCE on a switch; None: not known."""
        return self.own_lossless.get(switch, self.lossless)

    def lets_rdma(self, one: Server, other: Server) -> bool:
        """Whether the policy lets RDMA pass between two servers, in both directions."""
        ends = (one.segment, other.segment), (other.segment, one.segment)
        return self.policy is None or all(self.policy.allows(*pair, Flow()) for pair in ends)

    @property
    def nics(self) -> Mapping[str, NicProfile] | None:
        """NIC profiles of servers; None if no server has one."""
        return (self.hosts.nics or None) if self.hosts else None

    @cached_property
    def loose_ends(self) -> tuple[End, ...]:
        """Routed ports with an address but without a link; none if intent defines the cabling.

        The far end is a switch whose text is missing, or a port with a wrong address.
        """
        if self.links is None or self.origin == "fabric":
            return ()
        tied = {end for link in self.links for end in (link.a, link.b)}
        ports = (end for ends in shared_subnets(self.nodes).values() for end in ends)
        return tuple(dict.fromkeys(end for end in ports if end not in tied))

    @cached_property
    def by_name(self) -> dict[str, Node]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    def speed_gbps(self, end: End) -> int | None:
        """Speed of a port of a switch, Gb/s; None: unknown."""
        node = self.by_name.get(end.device)
        return node.speed_gbps(end.interface) if node else port_speed_gbps(end.interface)

    @cached_property
    def roce_ports(self) -> tuple[Port, ...]:
        """Ports on RoCE paths: both ends of links, ports of RoCE servers and lossless exits.

        Half of all rules iterate over them. A port that its device does not have is left out;
        TOP003 reports it.
        """
        ends = [(end, link.cable_m, None) for link in self.links or () for end in (link.a, link.b)]
        servers = (server for server in self.servers or () if server.roce)
        hosts = ((port, s.cable_m, s.flow_gbps) for s in servers for port in s.ports)
        outside = (
            (End(device=exit_.leaf, interface=exit_.port), exit_.cable_m, None)
            for exit_ in self.exits or ()
            if exit_.lossless
        )
        candidates = chain(ends, hosts, outside)
        return tuple(
            Port(
                end,
                self.by_name[end.device],
                interface,
                cable_m,
                speed_gbps or self.speed_gbps(end),
            )
            for end, cable_m, speed_gbps in candidates
            if (interface := self.interface(end)) is not None
        )

    def role(self, role: SwitchRole) -> tuple[Node, ...]:
        """Nodes of one role, in order of id, then of name, whatever the order of `nodes`."""
        return self._by_role.get(role, ())

    @cached_property
    def _by_role(self) -> dict[SwitchRole | None, tuple[Node, ...]]:
        by_role: dict[SwitchRole | None, list[Node]] = defaultdict(list)
        for node in sorted(self.nodes, key=lambda n: (n.id is None, n.id or 0, natural(n.name))):
            by_role[node.role].append(node)
        return {role: tuple(nodes) for role, nodes in by_role.items()}

    def interface(self, end: End) -> Interface | None:
        """Interface at a link end, if its device has it."""
        node = self.by_name.get(end.device)
        return node.device.by_interface.get(end.interface) if node else None
