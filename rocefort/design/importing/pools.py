"""Import pools that give most addresses of a fabric; the others become pins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from rocefort.base.errors import BadInput
from rocefort.design.importing.assumptions import SwitchText
from rocefort.design.importing.bgp_graph import loopback
from rocefort.design.importing.survey import Survey

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
