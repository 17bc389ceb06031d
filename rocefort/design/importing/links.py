"""Import leaf-spine links from a graph: numbers, ports, subnets and kinds of cables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from rocefort.base.errors import BadInput, Problem
from rocefort.design.importing.assumptions import Data, Notes
from rocefort.design.importing.bgp_graph import CableEnd, CablingGraph
from rocefort.design.importing.roles import Roles
from rocefort.models.base import natural
from rocefort.models.device.interface import Interface
from rocefort.models.fabric.types import MOST_LINKS_PER_PAIR, PORT_NAME
from rocefort.models.hardware.media import COPPER, FASTEST_WITH_FEC_MODE
from rocefort.models.wording import count_of

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
