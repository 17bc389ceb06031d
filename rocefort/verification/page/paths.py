"""Next hops for the report page: which links a packet may take, per switch and class of prefixes.

Prefixes that the same leaves announce, and to which every switch has the same next hops, are one
class; so a healthy fabric has one class a leaf, and servers share the class of their subnet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.network.network import Network, SwitchRole
from rocefort.validators.routing_results import RoutingState

OWN_KINDS = ("loopback", "vlanif")  # interface kinds whose networks belong to the leaf
OUTSIDE = -1  # in place of a link that no known cable is, or of a switch that is not known

Links = tuple[int, ...]  # numbers in Network.links, sorted
Table = dict[int, int]  # number of a set of links by number of a switch
Origins = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PrefixGroup:
    """Prefixes of one class, the switches that announce them, and the set of each other switch."""

    prefixes: tuple[IPv4Network, ...]
    origins: Origins
    sets: Mapping[int, int]


@dataclass(frozen=True)
class Paths:
    """Next hops of all switches: switches, links and sets of links go by their numbers."""

    nodes: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    leaves: tuple[int, ...]
    groups: tuple[PrefixGroup, ...]
    sets: tuple[Links, ...]
    servers: tuple[tuple[int, int, str, tuple[str, ...]], ...]  # leaf, group, subnet, names
    lost: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # classes of servers: from, to

    def as_json_value(self) -> dict[str, object]:
        """For the script: of each switch the most frequent set, and the groups that differ."""
        return {
            "nodes": self.nodes,
            "links": self.links,
            "leaves": self.leaves,
            "groups": [[_prefixes_text(group.prefixes), group.origins] for group in self.groups],
            "sets": self.sets,
            "hops": [self._hops(number) for number in range(len(self.nodes))],
            "servers": self.servers,
            "lost": self.lost,
        }

    def _hops(self, node: int) -> tuple[int | None, dict[str, int | None]]:
        found = {
            number: group.sets.get(node)
            for number, group in enumerate(self.groups)
            if node not in group.origins
        }
        most = Counter(found.values()).most_common(1)
        usual = most[0][0] if most else None
        return usual, {str(n): links for n, links in found.items() if links != usual}


def _prefixes_text(prefixes: Sequence[IPv4Network]) -> str:
    more = len(prefixes) - 1
    return f"{prefixes[0]}" + (f" and {more} more" if more else "")


def paths_of(network: Network, state: RoutingState | None) -> Paths | None:
    """Next hops towards all that leaves announce; None without routes or without cabling."""
    if state is None or network.links is None:
        return None
    numbers = {node.name: number for number, node in enumerate(network.nodes)}
    announced = _announced_networks(network, numbers)
    for one in state.reachability.classes:
        if one.leaf in numbers:
            announced.setdefault(one.subnet, {})[numbers[one.leaf]] = None
    sets, tables = _tables(network, state, numbers, announced)
    groups, group_of = _groups(announced, tables)
    known = {one.leaf for one in state.reachability.classes} <= numbers.keys()
    return Paths(
        nodes=tuple(numbers),
        links=tuple(
            (numbers.get(link.a.device, OUTSIDE), numbers.get(link.b.device, OUTSIDE))
            for link in network.links
        ),
        leaves=tuple(numbers[node.name] for node in network.role(SwitchRole.LEAF)),
        groups=groups,
        sets=sets,
        servers=tuple(
            (numbers[one.leaf], group_of[one.subnet], str(one.subnet), one.servers)
            for one in state.reachability.classes
            if known
        ),
        lost=tuple((one.sources, one.destinations) for one in state.reachability.lost if known),
    )


def _announced_networks(
    network: Network, numbers: Mapping[str, int]
) -> dict[IPv4Network, dict[int, None]]:
    """Networks of loopbacks and gateways that leaves bring into BGP, and the leaves.

    Those of exits are for the outside, and may be kept from other leaves on purpose.
    """
    found: dict[IPv4Network, dict[int, None]] = defaultdict(dict)
    for node in network.role(SwitchRole.LEAF):
        own = {
            address.network
            for interface in node.device.interfaces
            if interface.kind in OWN_KINDS
            for address in interface.addresses
        }
        for prefix in node.device.bgp.networks if node.device.bgp else ():
            if prefix in own:
                found[prefix][numbers[node.name]] = None
    return found


def _tables(
    network: Network,
    state: RoutingState,
    numbers: Mapping[str, int],
    wanted: Mapping[IPv4Network, object],
) -> tuple[tuple[Links, ...], dict[IPv4Network, Table]]:
    """All sets of links, and the set of each switch by prefix."""
    link_of = _links_by_far_address(network)
    sets: dict[Links, int] = {}
    tables: dict[IPv4Network, Table] = {prefix: {} for prefix in wanted}
    seen: dict[tuple[str, tuple[IPv4Address, ...]], int] = {}
    for route in state.routes:
        table = tables.get(route.prefix)
        number = numbers.get(route.device)
        if table is None or number is None:
            continue
        key = (route.device, route.next_hops)
        if key not in seen:
            hops = (link_of.get((route.device, hop), OUTSIDE) for hop in route.next_hops)
            seen[key] = sets.setdefault(tuple(sorted(hops)), len(sets))
        table[number] = seen[key]
    return tuple(sets), tables


def _links_by_far_address(network: Network) -> dict[tuple[str, IPv4Address], int]:
    """Number of the link that joins a switch with an address of its neighbour."""
    found: dict[tuple[str, IPv4Address], int] = {}
    for number, link in enumerate(network.links or ()):
        for near, far in ((link.a, link.b), (link.b, link.a)):
            interface = network.interface(far)
            for address in interface.addresses if interface else ():
                found[near.device, address.ip] = number
    return found


def _groups(
    announced: Mapping[IPv4Network, Mapping[int, None]], tables: Mapping[IPv4Network, Table]
) -> tuple[tuple[PrefixGroup, ...], dict[IPv4Network, int]]:
    alike: dict[tuple[Origins, tuple[tuple[int, int], ...]], list[IPv4Network]] = {}
    for prefix, origins in announced.items():
        key = tuple(sorted(origins)), tuple(sorted(tables[prefix].items()))
        alike.setdefault(key, []).append(prefix)
    groups = tuple(
        PrefixGroup(tuple(sorted(prefixes)), origins, dict(table))
        for (origins, table), prefixes in alike.items()
    )
    return groups, {prefix: n for n, group in enumerate(groups) for prefix in group.prefixes}


def widths_between(paths: Paths) -> list[Sequence[int | None]]:
    """ECMP width from leaf to leaf, in the order of `leaves`: the least of all their prefixes.

    0: a prefix without a route, or a leaf that announces nothing; None: a leaf and itself, and
    two that announce the same.
    """
    sizes = [len(links) for links in paths.sets]
    of_leaf: dict[int, list[PrefixGroup]] = {leaf: [] for leaf in paths.leaves}
    for group in paths.groups:
        for origin in group.origins:
            of_leaf.get(origin, []).append(group)
    return [[_width(of_leaf[to], leaf, to, sizes) for to in paths.leaves] for leaf in paths.leaves]


def _width(groups: Sequence[PrefixGroup], leaf: int, to: int, sizes: Sequence[int]) -> int | None:
    if leaf == to:
        return None
    if not groups:
        return 0
    found = [
        sizes[group.sets[leaf]] if leaf in group.sets else 0
        for group in groups
        if leaf not in group.origins
    ]
    return min(found, default=None)
