"""Network: Devices with what their text does not say, and where every value came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network
from itertools import chain
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.device import Device
from rocefort.models.finding import Waiver, Where
from rocefort.models.hardware import Family, Hardware, SyntaxFamily, port_speed_gbps
from rocefort.models.interface import Interface
from rocefort.models.keyed import natural


class Role(StrEnum):
    """Place of a switch in the Clos."""

    SPINE = "spine"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a configuration: the views that enclose it, its text with secrets masked."""

    path: tuple[str, ...]
    text: str
    line: int  # 1-based


class Node(Frozen):
    """One switch: its Device and what the text does not say. None: not known."""

    device: Device
    role: Role | None = None
    id: int | None = None
    hardware: Hardware | None = None
    software: str | None = None
    family: Family | None = None
    rack: str | None = None
    management: IPv4Interface | None = None
    unmodelled: tuple[TextLine, ...] = ()  # of its text; `unmodelled[LINE]` in Sources

    @property
    def name(self) -> str:
        """The switch's sysname."""
        return self.device.name

    @property
    def syntax(self) -> SyntaxFamily | None:
        """Syntax family, if known."""
        return self.family.name if self.family else None


class End(Frozen):
    """One end of a link."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device} {self.interface}"


class Link(Frozen):
    """A cable between two switches; cable_m in metres, None if unknown."""

    a: End
    b: End
    cable_m: float | None = None


class Server(Frozen):
    """A server on one leaf port."""

    name: str
    port: End
    segment: str
    address: IPv4Interface
    mtu: int
    roce: bool = True
    cable_m: float | None = None
    speed_gbps: int


class Segment(Frozen):
    """One segment as one leaf serves it."""

    name: str
    leaf: str
    vlan: int
    gateway: IPv4Interface

    @property
    def prefix(self) -> IPv4Network:
        """The subnet behind the gateway."""
        return self.gateway.network


class LosslessIntent(Frozen):
    """What the fabric is meant to do with RoCE; text alone does not say it. Times in ms."""

    queue: int
    roce_dscp: int
    cnp_dscp: int
    detect_ms: int
    recovery_ms: int
    headroom_mtu: int  # largest frame on any port, bytes


class Reserved(Frozen):
    """How many switches of each role there may ever be; ports are kept for them."""

    spines: int
    leaves: int


@dataclass(frozen=True, slots=True)
class Port:
    """One switch port on a RoCE path. cable_m in metres, speed in Gb/s; None: not known."""

    end: End
    node: Node
    interface: Interface
    cable_m: float | None
    speed_gbps: int | None


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file, 1-based."""

    file: str
    line: int
    column: int = 1
    length: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Sources:
    """The side table: where each value came from.

    Keys are `device/field.path`, such as `leaf01/interfaces[100GE1/0/1].mtu`; a lookup that finds
    no such key takes the nearest enclosing one.
    """

    table: Mapping[str, Position] = field(default_factory=dict)

    def find(self, device: str, path: str = "") -> Position | None:
        """Position of the value at a path of a device, or of what encloses it."""
        for key in _enclosing(path):
            if position := self.table.get(f"{device}/{key}"):
                return position
        return None

    def where(self, device: str, path: str = "", interface: str | None = None) -> Where:
        """The place of a verdict, with file and line as far as they are known."""
        position = self.find(device, path)
        return Where(
            device=device or None,
            interface=interface,
            file=position.file if position else None,
            line=position.line if position else None,
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
    """Routed ports by subnet, in order of names: two in one subnet are the ends of a cable."""
    found: dict[IPv4Network, list[End]] = {}
    for node in sorted(nodes, key=lambda node: natural(node.name)):
        for interface in node.device.interfaces:
            if interface.kind == "ethernet" and interface.routed:
                end = End(device=node.name, interface=interface.name)
                for subnet in dict.fromkeys(address.network for address in interface.addresses):
                    found.setdefault(subnet, []).append(end)
    return {subnet: tuple(ends) for subnet, ends in found.items()}


class Network(Frozen):
    """A fabric as rules see it. None means unknown, not empty."""

    name: str
    origin: Literal["fabric", "text"]  # text: links, if any, are inferred from addresses
    nodes: tuple[Node, ...]
    links: tuple[Link, ...] | None = None
    servers: tuple[Server, ...] | None = None
    segments: tuple[Segment, ...] | None = None
    lossless: LosslessIntent | None = None
    spines: int | None = None  # how many each leaf should see
    reserved: Reserved | None = None
    oversubscription: float | None = None  # highest that policy allows: servers to uplinks
    waivers: tuple[Waiver, ...] = ()  # `waivers[INDEX]` of no device in Sources

    @property
    def cabling(self) -> tuple[Link, ...] | None:
        """Cables that somebody laid down; None where links were only inferred from addresses."""
        return self.links if self.origin == "fabric" else None

    @cached_property
    def loose_ends(self) -> tuple[End, ...]:
        """Routed ports with an address whose cable no text tells; where cabling is laid down none.

        Their far end is a switch whose text is missing, or one with a wrong address.
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

    @cached_property
    def roce_ports(self) -> tuple[Port, ...]:
        """Both ends of every link, then the ports of RoCE servers: half of all rules go over them.

        A port that its device does not have is left out: TOP003 reports it.
        """
        ends = [(end, link.cable_m, None) for link in self.links or () for end in (link.a, link.b)]
        servers = (server for server in self.servers or () if server.roce)
        wanted = chain(ends, ((s.port, s.cable_m, s.speed_gbps) for s in servers))
        return tuple(
            Port(
                end,
                self.by_name[end.device],
                interface,
                cable_m,
                speed_gbps or port_speed_gbps(end.interface),
            )
            for end, cable_m, speed_gbps in wanted
            if (interface := self.interface(end)) is not None
        )

    def role(self, role: Role) -> tuple[Node, ...]:
        """Nodes of one role, in order of id, then of name, whatever the order of `nodes`."""
        return self._by_role.get(role, ())

    @cached_property
    def _by_role(self) -> dict[Role | None, tuple[Node, ...]]:
        found: dict[Role | None, list[Node]] = defaultdict(list)
        for node in sorted(self.nodes, key=lambda n: (n.id is None, n.id or 0, natural(n.name))):
            found[node.role].append(node)
        return {role: tuple(nodes) for role, nodes in found.items()}

    def interface(self, end: End) -> Interface | None:
        """The interface at a link end, if its device has it."""
        node = self.by_name.get(end.device)
        return node.device.by_interface.get(end.interface) if node else None
