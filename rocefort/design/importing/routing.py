"""Import `routing` of a fabric: pools, AS plan, timers, BFD and authentication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import NamedTuple

from rocefort.base.errors import BadInput
from rocefort.design.importing.assumptions import Data, SwitchText
from rocefort.design.importing.bgp_graph import loopback
from rocefort.design.importing.links import ImportedLink
from rocefort.design.importing.secrets import authentication
from rocefort.design.importing.survey import Survey
from rocefort.models.device.routing import HOLD_S, KEEPALIVE_S, Bfd, Bgp, BgpPeer, BgpSettings
from rocefort.models.fabric.routing import BLOCKS, block_of

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
