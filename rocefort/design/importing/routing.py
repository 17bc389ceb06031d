"""Import routing: pools, AS plan, timers, BFD, authentication, and exits of leaves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from rocefort.base.errors import BadInput
from rocefort.design.derive.exits import FIRST_ACCEPTED
from rocefort.design.importing.assumptions import Data, Notes, SwitchText, writable
from rocefort.design.importing.bgp_graph import CablingGraph, ImportedLink, is_port, loopback
from rocefort.design.importing.survey import Survey
from rocefort.models.base import NAME
from rocefort.models.device.interface import ETHERNET_MTU, NO_DOMAIN, Interface
from rocefort.models.device.routing import (
    DEFAULT_ROUTE,
    HOLD_S,
    KEEPALIVE_S,
    Bfd,
    Bgp,
    BgpPeer,
    BgpSettings,
    PrefixEntry,
)
from rocefort.models.device.secret import is_reference, reference_of
from rocefort.models.fabric.topology import MOST_ACCEPTED
from rocefort.models.fabric.underlay import BLOCKS, block_of
from rocefort.models.hardware.media import whole_port


def authentication(stated: str, name: str, notes: Notes) -> Data:
    """Return `authentication` for the state of a password; name: purpose of the variable."""
    if is_reference(stated):
        _, _, version = stated.partition(" version ")
        row: Data = {"password": reference_of(stated)}
        return row | ({"version": int(version)} if version else {})
    variable = re.sub(r"\W+", "_", f"{name}_PASSWORD", flags=re.ASCII).upper()
    reference = f"env:{variable}"
    notes.assume(("secrets", reference), f"{reference} is to hold a password that the texts hide")
    return {"password": reference}


PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))  # RFC 1918


@dataclass
class AddressSpace:
    """Networks that are in use; it grows as pools are chosen."""

    taken: list[IPv4Network] = field(default_factory=list)

    def free(self, network: IPv4Network) -> bool:
        """Whether a network overlaps no network in use."""
        return not any(network.overlaps(other) for other in self.taken)

    def take(self, network: IPv4Network) -> IPv4Network:
        """Note that a network is in use."""
        self.taken.append(network)
        return network

    def pool(
        self, bases: Iterable[int], members: Collection[IPv4Network], length: int
    ) -> IPv4Network:
        """Take the first free network: at the common base, around the members, or any."""
        candidates = [
            IPv4Network((base, length))
            for base, _ in Counter(bases).most_common(1)
            if 0 <= base < 2**32 and base % 2 ** (32 - length) == 0
        ]
        candidates += [around(members, length)] if members else []
        free = next(filter(self.free, candidates), None)
        return self.any_free(length) if free is None else self.take(free)

    def any_free(self, length: int) -> IPv4Network:
        """Take the first free private network of a length; raises BadInput without one."""
        for private in PRIVATE:
            at, size = int(private.network_address), 2 ** (32 - length)
            while length >= private.prefixlen and at < int(private.broadcast_address):
                network = IPv4Network((at, length))
                clash = [other for other in self.taken if network.overlaps(other)]
                if not clash:
                    return self.take(network)
                end = max(int(other.broadcast_address) for other in clash) + 1
                at = max(at + size, -(-end // size) * size)
        raise BadInput(f"no private network of length /{length} is free for a pool")


def length_for(addresses: int) -> int:
    """Return the length of the smallest network with so many addresses."""
    return 32 - (addresses - 1).bit_length()


def around(members: Iterable[IPv4Network], length: int = 32) -> IPv4Network:
    """Return the smallest network with all members, with at most this prefix length."""
    first, *others = members
    network = first.supernet(new_prefix=min(first.prefixlen, length))
    while not all(other.subnet_of(network) for other in others):
        network = network.supernet()
    return network


def link_pool(survey: Survey, space: AddressSpace) -> tuple[IPv4Network, int]:
    """Return (pools.links, prefix length of a link), so that most subnets follow from it."""
    capacity = survey.capacity
    length, _ = Counter(link.subnet.prefixlen for link in survey.links).most_common(1)[0]
    bases: list[int] = []
    for link in survey.links:
        if link.subnet.prefixlen == length:
            row = (link.number - 1) * capacity.leaves + survey.ids[link.leaf.device] - 1
            index = row * capacity.spines + survey.ids[link.spine.device] - 1
            bases.append((link.index - index) << (32 - length))
    count = capacity.spines * capacity.leaves * capacity.links_per_pair
    subnets = [link.subnet for link in survey.links]
    return space.pool(bases, subnets, length_for(count << (32 - length))), length


def loopback_pool(
    survey: Survey,
    members: Sequence[SwitchText],
    size: int,
    listed: IPv4Network | None,
    space: AddressSpace,
) -> IPv4Network:
    """Return the pool of a role's loopbacks. size: its capacity. listed: pool of announcements."""
    length = length_for(size + 1)
    if listed is not None and listed.prefixlen <= length and space.free(listed):
        return space.take(listed)
    own = {a: survey.ids[source.name] for source in members if (a := loopback(source))}
    bases = (int(address) - number for address, number in own.items())
    return space.pool(bases, [*map(IPv4Network, own)], length)


class LinkSession(NamedTuple):
    """Session of a link at one of its ends; settings: the effective ones."""

    ends: str
    link: ImportedLink
    bgp: Bgp
    peer: BgpPeer
    settings: BgpSettings


def _sessions(survey: Survey) -> Iterator[LinkSession]:
    """Yield every session of the links, from both ends."""
    for link in survey.links:
        for near, far in ((link.spine, link.leaf), (link.leaf, link.spine)):
            bgp = survey.graph.sources[near.device].device.bgp
            far_addresses = {address.ip for address in far.port.addresses}
            peer = (
                next((peer for peer in bgp.peers if peer.address in far_addresses), None)
                if bgp
                else None
            )
            if bgp is not None and peer is not None:
                ends = f"{near.device} to {far.device}"
                yield LinkSession(ends, link, bgp, peer, bgp.settings(peer))


def routing_of(survey: Survey) -> Data:
    """Return `routing` without pins."""
    notes, routing = survey.notes, _plan(survey)
    own = {s.name: s.device.bgp.maximum_paths for s in survey.switches if s.device.bgp}
    routing["maximum_paths"] = notes.majority("maximum load-balancing", own) or 1
    ends = {session.ends: session.settings for session in _sessions(survey)}
    timers = notes.majority(
        "BGP timers, s",
        {name: (s.keepalive_s or KEEPALIVE_S, s.hold_s or HOLD_S) for name, s in ends.items()},
    )
    routing["keepalive_s"], routing["hold_s"] = timers or (KEEPALIVE_S, HOLD_S)
    enabled = {n: (s.bfd or Bfd()) if s.bfd_enabled else None for n, s in ends.items()}
    if bfd := notes.majority("BFD", enabled):
        routing["bfd"] = bfd.model_dump()
    lent = {session.ends: _lent(session) for session in _sessions(survey)}
    if password := notes.majority("BGP passwords", lent):
        routing["authentication"] = authentication(password, "BGP", notes)
    return routing


def _lent(session: LinkSession) -> str | None:
    """Return the password of a session's group; without a group its own."""
    groups = session.bgp.groups
    if not groups:
        return session.settings.password
    return next((group.password for group in groups if group.password), None)


def own_passwords(survey: Survey) -> dict[tuple[str, str, int], Data]:
    """Return authentication of single links: peers with a group and a password of their own."""
    passwords: dict[tuple[str, str, int], Data] = {}
    for _, link, _, peer, _ in _sessions(survey):
        key = link.spine.device, link.leaf.device, link.number
        if peer.password and peer.group and key not in passwords:
            name = f"BGP_{link.spine.device}_{link.leaf.device}"
            passwords[key] = authentication(peer.password, name, survey.notes)
    return passwords


def asn_of(source: SwitchText) -> int:
    """Return the AS number of a switch; raises BadInput without BGP."""
    if source.device.bgp is None:
        raise BadInput(f"{source.name} has no BGP", file=source.file)
    return source.device.bgp.asn


def _plan(survey: Survey) -> Data:
    """Return the AS plan by ids that needs the fewest pins.

    Leaves can mix AS paths although all spines have one AS. Then later spines will have other ones.
    """
    roles, capacity = survey.roles, survey.capacity
    spines = {survey.ids[s.name]: asn_of(s) for s in roles.spines}
    leaves = {survey.ids[s.name]: asn_of(s) for s in roles.leaves}
    base = _base(spines, {*leaves.values()}, capacity.spines)
    each = all(asn == base + number for number, asn in spines.items())
    if len({*spines.values()}) == 1:
        relaxed, outside = (
            any(s.device.bgp and s.device.bgp.as_path_relax for s in members)
            for members in (roles.leaves, roles.spines)
        )
        each = relaxed and not outside
    shared = Counter(spines.values()).most_common(1)[0][0]
    plan: Data = {"spine_asn": base, "spine_asns": "each"} if each else {"spine_asn": shared}
    reserved = {*range(base + 1, base + capacity.spines + 1)} if each else {shared}
    return {**plan, "leaf_asn_base": _base(leaves, reserved | {*spines.values()}, capacity.leaves)}


def _base(asns: Mapping[int, int], taken: set[int], count: int) -> int:
    """Return the base of most AS numbers, by id; else the first of the last private block.

    None of the `count` numbers above it is in use by another switch or id.
    """
    block = BLOCKS[-1]
    common = Counter(asn - number for number, asn in asns.items()).most_common(1)[0][0]
    used = {asn for asn in {*asns.values()} | taken if block.first <= asn <= block.last}
    spare = [block.first - 1, *sorted(used)]
    for base in (common, *spare):
        others = taken | {asn for number, asn in asns.items() if asn != base + number}
        kind = block_of(base + 1) if base >= 1 else None
        if kind and base + count <= kind.last and not others & {*range(base + 1, base + count + 1)}:
            return base
    return spare[0]


EXIT = "exit "  # prefix of the description that derivation writes
POLICY = re.compile(r"EXIT-(?P<name>.+)-(IN|OUT)")
LONGEST = 40  # characters of an exit's name


@dataclass(frozen=True, slots=True)
class ExitPort:
    """Port out of the fabric, with its peer; session None: a static default route only."""

    leaf: str
    port: Interface
    peer: IPv4Address
    session: BgpPeer | None


def ways_out(survey: Survey) -> list[ExitPort]:
    """Return every possible exit of a fabric, leaf by leaf."""
    exit_ports: list[ExitPort] = []
    for leaf in survey.roles.leaves:
        own = [
            ExitPort(leaf.name, out.port, out.peer.address, out.peer)
            for out in survey.graph.outward
            if out.device == leaf.name and out.port and out.peer.asn and is_port(out.port)
        ]
        cabled = {port for name, port in survey.cabled if name == leaf.name}
        own += _static(leaf, {exit_port.port.name for exit_port in own} | cabled)
        free = survey.free_ports(leaf.name)
        seen: set[str] = set()
        for exit_port in own:
            name = exit_port.port.name
            if name not in seen | cabled:
                seen.add(name)
                exit_ports += [exit_port] if whole_port(name) in free else []
    return exit_ports


def _static(leaf: SwitchText, used: Collection[str]) -> Iterator[ExitPort]:
    hops = _default_hops(leaf)
    for port in leaf.device.interfaces:
        if port.kind != "ethernet" or not port.routed or port.name in used:
            continue
        peer = next((hop for hop in hops for a in port.addresses if hop in a.network), None)
        if peer is not None and is_port(port):
            yield ExitPort(leaf.name, port, peer, None)


def _default_hops(leaf: SwitchText) -> list[IPv4Address]:
    """Next hops of a leaf's static default routes in the public table."""
    return [
        route.next_hop
        for route in leaf.device.static_routes
        if route.prefix == DEFAULT_ROUTE and route.vrf is None and route.next_hop
    ]


def exits_of(
    survey: Survey, exit_ports: Sequence[ExitPort], segments: Mapping[IPv4Network, str], mtu: int
) -> dict[str, list[Data]]:
    """Return exits by leaf, each with a unique id and name. segments: by prefix."""
    graph, notes = survey.graph, survey.notes
    ids = _ids(graph, exit_ports)
    by_leaf: dict[str, list[Data]] = {}
    names: set[str] = set()
    for index, exit_port in enumerate(exit_ports):
        source = graph.sources[exit_port.leaf]
        number, name = ids[index], _name(source, exit_port, index, names)
        names.add(name)
        row: Data = {"id": number, "name": name, "port": exit_port.port.name}
        address = next(a for a in exit_port.port.addresses if exit_port.peer in a.network)
        row |= {"address": address, "peer": exit_port.peer}
        row |= _routes(source, exit_port, segments)
        if exit_port.port.description != f"{EXIT}{name}" and writable(exit_port.port.description):
            row["description"] = exit_port.port.description
        if exit_port.session and exit_port.session.bfd_enabled:
            row["bfd"] = exit_port.session.bfd.model_dump() if exit_port.session.bfd else {}
        if exit_port.session and exit_port.session.password:
            row["authentication"] = authentication(
                exit_port.session.password, f"EXIT_{name}", notes
            )
        if (own := exit_port.port.mtu or ETHERNET_MTU) != mtu:
            row["mtu"] = own
        if exit_port.port.domain not in (None, NO_DOMAIN):
            row["lossless"] = True
        by_leaf.setdefault(exit_port.leaf, []).append(row)
    return by_leaf


def _routes(source: SwitchText, exit_port: ExitPort, segments: Mapping[IPv4Network, str]) -> Data:
    """Return AS number, default route, accepted and announced prefixes."""
    static = exit_port.peer in _default_hops(source)
    if exit_port.session is None:
        return {"default": "static"}
    incoming = _rows(source, exit_port.session.import_policy)
    outgoing = _rows(source, exit_port.session.export_policy)
    accepted = any(row.prefix == DEFAULT_ROUTE and row.greater_equal is None for row in incoming)
    row: Data = {"asn": exit_port.session.asn}
    row["default"] = "static" if static else "accept" if accepted else "none"
    if accepts := list(_accepts(incoming)):
        row["accepts"] = accepts
    sent = {segments[entry.prefix] for entry in outgoing if entry.prefix in segments}
    if sent != set(segments.values()):
        row["announces"] = sorted(sent)
    return row


def _rows(source: SwitchText, policy: str | None) -> list[PrefixEntry]:
    """Return the prefixes that a route-policy permits: permitted rows of its prefix lists."""
    nodes = next((p.nodes for p in source.device.route_policies if p.name == policy), ())
    names = {node.match_prefix_list for node in nodes if node.action == "permit"}
    lists = (one for one in source.device.prefix_lists if one.name in names)
    return [row for one in lists for row in one.entries if row.action == "permit"]


def _accepts(rows: Sequence[PrefixEntry]) -> Iterator[Data]:
    for row in rows:
        number = row.index - FIRST_ACCEPTED
        if row.prefix.prefixlen == 0 or not 1 <= number <= MOST_ACCEPTED:
            continue
        accepted: Data = {"id": number, "prefix": row.prefix}
        if row.less_equal is not None and row.less_equal > row.prefix.prefixlen:
            accepted["longest"] = row.less_equal
        yield accepted


def _name(source: SwitchText, exit_port: ExitPort, index: int, taken: Collection[str]) -> str:
    """Return a name by its session's policies, its static route, or its port; else by number."""
    policy = POLICY.fullmatch(exit_port.session.import_policy or "") if exit_port.session else None
    routes = (r for r in source.device.static_routes if r.next_hop == exit_port.peer)
    route = next((r.description for r in routes if r.vrf is None), None)
    port = exit_port.port.description
    for text in (policy["name"] if policy else None, route, port):
        name = (text or "").removeprefix(EXIT)
        if NAME.fullmatch(name) and ".." not in name and len(name) <= LONGEST and name not in taken:
            return name
    return f"{exit_port.leaf}-exit{index + 1}"[-LONGEST:].lstrip("-._")


def _ids(graph: CablingGraph, exit_ports: Sequence[ExitPort]) -> list[int]:
    """Return ids by the indexes in a leaf's list of announcements; else free ones."""
    ids: list[int | None] = []
    for exit_port in exit_ports:
        rows = _listed_exits(graph.sources[exit_port.leaf], exit_port)
        ids.append(next((number for number in rows if number not in ids), None))
    free = (number for number in range(1, 1000) if number not in ids)
    return [next(free) if number is None else number for number in ids]


def _listed_exits(source: SwitchText, exit_port: ExitPort) -> list[int]:
    """Return ids of exits in a leaf's other lists with the prefixes that this exit accepts."""
    if exit_port.session is None:
        return []
    accepted = {
        (row.index - FIRST_ACCEPTED, row.prefix, row.less_equal)
        for row in _rows(source, exit_port.session.import_policy)
        if row.prefix.prefixlen
    }
    blocks: dict[int, set[tuple[int, IPv4Network, int | None]]] = {}
    for one in source.device.prefix_lists:
        if POLICY.fullmatch(one.name):
            continue
        for row in one.entries:
            exit_id, number = divmod(row.index - FIRST_ACCEPTED, MOST_ACCEPTED + 1)
            if exit_id >= 1:
                blocks.setdefault(exit_id, set()).add((number, row.prefix, row.less_equal))
    return [exit_id for exit_id, rows in blocks.items() if rows == accepted]
