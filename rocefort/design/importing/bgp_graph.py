"""Graph of the fabric from BGP sessions: cables, roles and ids of switches, leaf-spine links."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.base.errors import BadInput, Problem
from rocefort.design.importing.assumptions import Data, Notes, SwitchText
from rocefort.models.base import check_name, natural
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import BgpPeer
from rocefort.models.fabric.types import MOST_LINKS_PER_PAIR, PORT_NAME
from rocefort.models.hardware.media import COPPER, FASTEST_WITH_FEC_MODE
from rocefort.models.wording import count_of, listing

LOOPBACK = "LoopBack0"


class NoFabricError(BadInput):
    """The texts are not those of one fabric of eBGP."""


@dataclass(frozen=True, slots=True)
class CableEnd:
    """End of a cable."""

    device: str
    port: Interface

    def __str__(self) -> str:
        return f"{self.device} {self.port.name}"


@dataclass(frozen=True, slots=True)
class ExternalSession:
    """Session with a peer that is in no text; port None: no port is in its subnet."""

    device: str
    peer: BgpPeer
    port: Interface | None


@dataclass(frozen=True)
class CablingGraph:
    """Switches by name, cables between them, and external sessions."""

    sources: Mapping[str, SwitchText]
    cables: tuple[tuple[CableEnd, CableEnd], ...]
    outward: tuple[ExternalSession, ...]

    def neighbours(self, name: str) -> list[str]:
        """Return the switches at the far ends of a switch's cables, each once."""
        names = dict.fromkeys(
            far.device
            for ends in self.cables
            for near, far in (ends, ends[::-1])
            if near.device == name
        )
        return list(names)


def connect(sources: Sequence[SwitchText]) -> CablingGraph:
    """Build the graph of sessions; raises BadInput if the texts are not those of one fabric."""
    ordered = sorted(sources, key=lambda source: natural(source.name))
    if not any(source.device.bgp for source in ordered):
        raise NoFabricError(
            f"nothing here looks like a fabric: none of {count_of(len(ordered), 'switch')} has BGP",
            how="give the texts of spines and leaves that peer by eBGP",
        )
    if problems := list(_names(ordered)):
        raise BadInput(problems=problems)
    if problems := list(_loopbacks(ordered)):
        raise NoFabricError(problems=problems)
    owners = {
        address.ip: CableEnd(source.name, port)
        for source in ordered
        for port in _ports(source)
        for address in port.addresses
    }
    cables: dict[frozenset[tuple[str, str]], tuple[CableEnd, CableEnd]] = {}
    outward: list[ExternalSession] = []
    for source in ordered:
        for peer in source.device.bgp.peers if source.device.bgp else ():
            own, far = _port_to(source, peer.address), owners.get(peer.address)
            if far is None:
                outward.append(ExternalSession(source.name, peer, own))
            elif own is not None and far.device != source.name:
                near = CableEnd(source.name, own)
                key = frozenset((tip.device, tip.port.name) for tip in (near, far))
                cables.setdefault(key, (near, far))
    by_name = {source.name: source for source in ordered}
    return CablingGraph(by_name, tuple(cables.values()), tuple(outward))


def _ports(source: SwitchText) -> Iterator[Interface]:
    """Yield interfaces that can be an end of a cable: routed and not logical."""
    yield from (i for i in source.device.interfaces if i.routed and not i.logical)


def _port_to(source: SwitchText, peer: IPv4Address) -> Interface | None:
    """Return the port with the subnet of a peer."""
    return next(
        (port for port in _ports(source) if any(peer in a.network for a in port.addresses)), None
    )


def loopback(source: SwitchText) -> IPv4Address | None:
    """Return the loopback address of a switch: that of LoopBack0, else its router id."""
    interface = source.device.by_interface.get(LOOPBACK)
    if interface and interface.addresses:
        return interface.addresses[0].ip
    return source.device.bgp.router_id if source.device.bgp else None


def _names(sources: Sequence[SwitchText]) -> Iterator[Problem]:
    for source in sources:
        try:
            check_name(source.name)
        except ValueError as error:
            yield Problem("sysname", str(error), file=source.file)


def _loopbacks(sources: Sequence[SwitchText]) -> Iterator[Problem]:
    first: dict[IPv4Address, SwitchText] = {}
    for source in sources:
        address = loopback(source)
        if address is not None and first.setdefault(address, source) is not source:
            other = first[address]
            yield Problem(
                "",
                f"{source.name} and {other.name} both have loopback {address}",
                f"the other text is {other.file}; each switch of a fabric has one of its own",
                source.file,
            )


Colours = dict[str, bool]


@dataclass(frozen=True)
class Roles:
    """Switches of each role, in the natural order of their names."""

    spines: tuple[SwitchText, ...]
    leaves: tuple[SwitchText, ...]


def roles_of(graph: CablingGraph) -> Roles:
    """Separate spines and leaves; raises BadInput if the cabling is not leaf-spine."""
    if not graph.cables:
        raise NoFabricError(
            "no spines: none of these switches peers with another",
            where=listing(source.file for source in list(graph.sources.values())[:3]),
            how="add the texts of the spines",
        )
    alone = [s for s in graph.sources.values() if not graph.neighbours(s.name)]
    if alone:
        raise NoFabricError(
            problems=[
                Problem(
                    "",
                    f"{source.name} peers with none of the other switches",
                    "take its text out of the directory, or add those of its neighbours",
                    source.file,
                )
                for source in alone
            ]
        )
    spines = _spines(graph)
    roles = Roles(
        tuple(s for s in graph.sources.values() if s.name in spines),
        tuple(s for s in graph.sources.values() if s.name not in spines),
    )
    if problems := list(_incomplete(graph, roles)):
        raise NoFabricError(problems=problems)
    return roles


def _evident(graph: CablingGraph) -> set[str]:
    """Return switches that must be leaves: with gateways, servers or external sessions."""
    outside = {out.device for out in graph.outward}
    return outside | {
        source.name
        for source in graph.sources.values()
        if any(
            (i.kind == "vlanif" and i.addresses) or i.access_vlan is not None
            for i in source.device.interfaces
        )
    }


def _spines(graph: CablingGraph) -> set[str]:
    leaves, spines = _evident(graph), set[str]()
    colours: Colours = {}
    for name in graph.sources:
        if name in colours:
            continue
        sides = _sides(graph, name, colours)
        if sides is None or all(side & leaves for side in sides):
            raise NoFabricError(problems=list(_same_role(graph, leaves)))
        spines |= _spine_side(graph, sides, leaves)
    return spines


def _sides(graph: CablingGraph, first: str, colours: Colours) -> tuple[set[str], set[str]] | None:
    """Return the two sides of a connected graph; None if two switches of one side are cabled."""
    colours[first] = True
    open_, seen = [first], [first]
    while open_:
        name = open_.pop()
        for other in graph.neighbours(name):
            if colours.setdefault(other, not colours[name]) == colours[name]:
                return None
            if other not in seen:
                seen.append(other)
                open_.append(other)
    return {n for n in seen if colours[n]}, {n for n in seen if not colours[n]}


def _spine_side(
    graph: CablingGraph, sides: tuple[set[str], set[str]], leaves: set[str]
) -> set[str]:
    """Return the side without gateways; else with most `spine` in names; else the smaller one."""
    for one, other in (sides, sides[::-1]):
        if other & leaves:
            return one
    called = [sum("spine" in name.lower() for name in side) for side in sides]
    if called[0] != called[1]:
        return sides[called[1] > called[0]]
    if len(sides[0]) != len(sides[1]):
        return min(sides, key=len)
    first, second = (listing(sorted(side)) for side in sides)
    raise BadInput(
        f"the texts do not show which are the spines: {first}, or {second}",
        where=graph.sources[min(sides[0])].file,
        how="none of them has a gateway or a server; give one a sysname with `spine` in it",
    )


def _same_role(graph: CablingGraph, leaves: set[str]) -> Iterator[Problem]:
    for near, far in graph.cables:
        if (near.device in leaves) == (far.device in leaves):
            role = "leaves" if near.device in leaves else "spines"
            yield Problem(
                graph.sources[near.device].file,
                f"{near} - {far} joins two {role}",
                "a fabric has links between leaves and spines only",
            )


def _incomplete(graph: CablingGraph, roles: Roles) -> Iterator[Problem]:
    """Yield problems of leaves with fewer links to one spine than to another."""
    count: dict[tuple[str, str], int] = {}
    for ends in graph.cables:
        for near, far in (ends, ends[::-1]):
            pair = near.device, far.device
            count[pair] = count.get(pair, 0) + 1
    for leaf in roles.leaves:
        links = {spine.name: count.get((leaf.name, spine.name), 0) for spine in roles.spines}
        most = max(links.values())
        for spine, number in links.items():
            if number < most:
                best = max(links, key=lambda name: links[name])
                yield Problem(
                    leaf.file,
                    f"{leaf.name} has {count_of(number, 'session')} with {spine} and {most} with "
                    f"{best}",
                    "a fabric has as many links from a leaf to each spine; fix the text, or leave "
                    "the switch out",
                )


def ids_of(members: Sequence[SwitchText], limit: int, role: str, notes: Notes) -> Mapping[str, int]:
    """Return ids by name: the last number in the name if it is unique, else the index in order.

    limit: the highest id for which the other role's switches have ports.
    """
    numbers = [_number(source.name) for source in members]
    if len({*numbers}) == len(numbers) and all(1 <= number <= limit for number in numbers):
        return {source.name: number for source, number in zip(members, numbers, strict=True)}
    notes.assume((role,), "ids are given in order of names, which do not number them")
    return {source.name: id_ for id_, source in enumerate(members, 1)}


def _number(name: str) -> int:
    match = re.search(r"(\d{1,9})\D*$", name)
    return int(match[1]) if match else 0


ANY_OPTICS = "aoc"  # the medium without a standard FEC: it adds nothing to the text
SpeedOf = Callable[[str, str], int | None]  # of a switch's port, Gb/s


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """Link of a leaf and a spine; number: among those of its pair, in order of the leaf's ports."""

    spine: CableEnd
    leaf: CableEnd
    number: int
    subnet: IPv4Network

    @property
    def index(self) -> int:
        """Index of the subnet, in units of its own size."""
        return int(self.subnet.network_address) >> (32 - self.subnet.prefixlen)


def imported_links(graph: CablingGraph, roles: Roles) -> tuple[ImportedLink, ...]:
    """Return all links, by leaf, spine and number; raises BadInput for links no fabric can have."""
    spines = {spine.name for spine in roles.spines}
    pairs: dict[tuple[str, str], list[tuple[CableEnd, CableEnd]]] = defaultdict(list)
    for ends in graph.cables:
        spine, leaf = sorted(ends, key=lambda tip: tip.device not in spines)
        pairs[leaf.device, spine.device].append((spine, leaf))
    if problems := list(_impossible(graph, pairs.values())):
        raise BadInput(problems=problems)
    return tuple(
        ImportedLink(spine, leaf, number, _subnet(spine, leaf))
        for pair in sorted(pairs, key=lambda pair: (natural(pair[0]), natural(pair[1])))
        for number, (spine, leaf) in enumerate(
            sorted(pairs[pair], key=lambda ends: natural(ends[1].port.name)), 1
        )
    )


def _impossible(
    graph: CablingGraph, pairs: Iterable[Sequence[tuple[CableEnd, CableEnd]]]
) -> Iterator[Problem]:
    for ends in pairs:
        if len(ends) > MOST_LINKS_PER_PAIR:
            spine, leaf = ends[0]
            what = f"{leaf.device} has {count_of(len(ends), 'link')} to {spine.device}"
            how = f"a fabric has {MOST_LINKS_PER_PAIR} at most"
            yield Problem("", what, how, graph.sources[leaf.device].file)
        for spine, leaf in ends:
            file = graph.sources[leaf.device].file
            for tip in (spine, leaf):
                if not is_port(tip.port):
                    what = f"{leaf} - {spine}: {tip.port.name} is no port"
                    yield Problem("", what, "a link of a fabric joins two ports", file)
            subnet = _subnet(spine, leaf)
            if subnet.prefixlen not in (30, 31):
                what = f"{leaf} - {spine} has subnet {subnet}"
                yield Problem("", what, "a link of a fabric has a /30 or a /31", file)


def is_port(interface: Interface) -> bool:
    """Whether an interface has a port name that a fabric accepts."""
    return re.fullmatch(PORT_NAME, interface.name, re.ASCII) is not None


def _subnet(spine: CableEnd, leaf: CableEnd) -> IPv4Network:
    far = {address.network for address in spine.port.addresses}
    shared = [a.network for a in leaf.port.addresses if a.network in far]
    return shared[0] if shared else leaf.port.addresses[0].network


def per_pair(links: Sequence[ImportedLink]) -> dict[str, int]:
    """Return the number of links to each spine, by leaf."""
    ascending = sorted(links, key=lambda link: link.number)
    return {link.leaf.device: link.number for link in ascending}  # the last counts


def kind_of(port: Interface, speed_gbps: int | None) -> Data | None:
    """Return the kind of a cable by FEC and autonegotiation of its port; None: unknown."""
    fec = port.fec
    if fec is None:
        alone = not port.autonegotiation and (speed_gbps or 0) > FASTEST_WITH_FEC_MODE
        return {"medium": COPPER, "autonegotiation": "off"} if alone else None
    impossible = (speed_gbps or 0) > FASTEST_WITH_FEC_MODE or (
        fec == "base-r" and speed_gbps not in (25, 50)
    )
    if impossible:
        return None
    return {"medium": ANY_OPTICS if port.autonegotiation else COPPER, "fec": fec}


def common_kind(kinds: Sequence[Data | None]) -> Data | None:
    """Return the kind of most cables; None if one is unknown: a link cannot unset the default."""
    counts = Counter(tuple(kind.items()) for kind in kinds if kind is not None)
    if not kinds or counts.total() < len(kinds):
        return None
    return dict(counts.most_common(1)[0][0])


def cables(
    links: Sequence[ImportedLink], servers: Sequence[Data | None], speed: SpeedOf, notes: Notes
) -> Data:
    """Return `cables` of a fabric; servers: the kind of each server's cable."""
    row: Data = {"fabric_m": 50, "server_m": 5}
    for name, what in (("fabric_m", "leaf-spine"), ("server_m", "server")):
        notes.assume(("cables", name), f"the length of {what} cables, m, which no text contains")
    kinds = {"fabric": [link_kind(link, speed) for link in links], "server": list(servers)}
    for name, of_class in kinds.items():
        if kind := common_kind(of_class):
            row[name] = kind
            notes.assume(("cables", name, "medium"), "the texts contain its FEC only")
    return row


def link_kind(link: ImportedLink, speed: SpeedOf) -> Data | None:
    """Return the kind of a link's cable, by its leaf's port."""
    return kind_of(link.leaf.port, speed(link.leaf.device, link.leaf.port.name))
