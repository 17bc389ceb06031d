"""Capacity and pools that explain the addresses of a fabric, or others where none do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from rocefort.design.importing.links import Joined
from rocefort.design.importing.notes import Notes
from rocefort.errors import BadInput

PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))  # RFC 1918


@dataclass
class Space:
    """Networks that are taken, by what takes them; the tables are filled as pools are chosen."""

    taken: list[IPv4Network] = field(default_factory=list)

    def free(self, network: IPv4Network) -> bool:
        """Whether a network overlaps nothing that is taken."""
        return not any(network.overlaps(other) for other in self.taken)

    def take(self, network: IPv4Network) -> IPv4Network:
        """Note that a network is taken."""
        self.taken.append(network)
        return network

    def any_free(self, length: int) -> IPv4Network:
        """The first private network of a length that overlaps nothing; BadInput if none is."""
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
    """Length of the smallest network of so many addresses."""
    return 32 - (addresses - 1).bit_length()


def supernet(networks: Iterable[IPv4Network], length: int = 32) -> IPv4Network:
    """The smallest network that holds all, and is no longer than a length."""
    networks = list(networks)
    low = min(int(network.network_address) for network in networks)
    high = max(int(network.broadcast_address) for network in networks)
    length = min(length, 32 - (low ^ high).bit_length())
    return IPv4Network((low, length), strict=False)


@dataclass(frozen=True, slots=True)
class Reserve:
    """Capacity, with what the links tell of it."""

    spines: int
    leaves: int
    links_per_pair: int


@dataclass(frozen=True)
class Numbered:
    """The links of a fabric with the ids of their ends."""

    links: Sequence[Joined]
    ids: Mapping[str, int]

    def place(self, link: Joined, reserve: Reserve) -> int:
        """Number of a link's subnet in the pool, as allocation counts."""
        row = (link.number - 1) * reserve.leaves + self.ids[link.leaf.device] - 1
        return row * reserve.spines + self.ids[link.spine.device] - 1

    def index(self, link: Joined) -> int:
        """The subnet as a number, in units of its own size."""
        return int(link.subnet.network_address) >> (32 - link.subnet.prefixlen)


def reserve_of(
    numbered: Numbered,
    fabric_ports: Mapping[str, Sequence[str]],
    most: tuple[int, int],
    notes: Notes,
) -> Reserve:
    """The smallest capacity that explains the links' subnets and ports, else the highest ids.

    fabric_ports: of each switch, by place. most: spines and leaves that there is room for.
    """
    links, ids = numbered.links, numbered.ids
    spines = {link.spine.device for link in links}
    each = max(link.number for link in links)
    high = (
        max(ids[name] for name in spines),
        max(ids[link.leaf.device] for link in links),
    )
    found = _stride(numbered), _rows(numbered, fabric_ports)
    sizes = [
        guess if guess and low <= guess <= top else low
        for guess, low, top in zip(found, high, most, strict=True)
    ]
    for name, size, low in zip(("spines", "leaves"), sizes, high, strict=True):
        why = "as addresses and ports of links show" if size > low else "the highest id in use"
        notes.assume(("capacity", name), why)
    return Reserve(sizes[0], sizes[1], each)


def _stride(numbered: Numbered) -> int | None:
    """Subnets between two leaves next to each other: the spines of the capacity."""
    steps: Counter[int] = Counter()
    first: dict[str, Joined] = {}
    for link in numbered.links:
        if link.number > 1:
            continue
        other = first.setdefault(link.spine.device, link)
        ids = numbered.ids[link.leaf.device] - numbered.ids[other.leaf.device]
        gap = numbered.index(link) - numbered.index(other)
        if ids and gap % ids == 0:
            steps[gap // ids] += 1
    return steps.most_common(1)[0][0] if steps else None


def _rows(numbered: Numbered, fabric_ports: Mapping[str, Sequence[str]]) -> int | None:
    """Ports of a spine from its first to its next link to a leaf: the leaves of the capacity."""
    counts: Counter[int] = Counter()
    first: dict[tuple[str, str], int] = {}
    for link in numbered.links:
        ports = fabric_ports[link.spine.device]
        if link.spine.port.name not in ports:
            continue
        place = ports.index(link.spine.port.name)
        gap = place - first.setdefault((link.spine.device, link.leaf.device), place)
        if gap > 0 and gap % (link.number - 1) == 0:
            counts[gap // (link.number - 1)] += 1
    return counts.most_common(1)[0][0] if counts else None


def link_pool(numbered: Numbered, reserve: Reserve, space: Space) -> tuple[IPv4Network, int]:
    """(pools.links, its length of a link): one from which most subnets follow, if there is any."""
    lengths = Counter(link.subnet.prefixlen for link in numbered.links)
    length = lengths.most_common(1)[0][0]
    count = reserve.spines * reserve.leaves * reserve.links_per_pair
    whole = length_for(count << (32 - length))
    bases = Counter(
        numbered.index(link) - numbered.place(link, reserve)
        for link in numbered.links
        if link.subnet.prefixlen == length
    )
    base = bases.most_common(1)[0][0] << (32 - length)
    for network in _candidates(base, whole, numbered.links):
        if space.free(network):
            return space.take(network), length
    return space.any_free(whole), length


def _candidates(base: int, length: int, links: Sequence[Joined]) -> Iterator[IPv4Network]:
    if 0 <= base < 2**32 and base % 2 ** (32 - length) == 0:
        yield IPv4Network((base, length))
    yield supernet((link.subnet for link in links), length)


def loopback_pool(
    addresses: Mapping[int, IPv4Address], size: int, listed: IPv4Network | None, space: Space
) -> IPv4Network:
    """Pool of a role's loopbacks; addresses: by id. listed: what spines announce as the pool."""
    length = length_for(size + 1)
    if listed is not None and listed.prefixlen <= length and space.free(listed):
        return space.take(listed)
    if not addresses:
        return space.any_free(length)
    bases = Counter(int(address) - number for number, address in addresses.items())
    base = bases.most_common(1)[0][0]
    if base % 2 ** (32 - length) == 0:
        network = IPv4Network((base, length))
        if space.free(network):
            return space.take(network)
    near = supernet(map(IPv4Network, addresses.values()), length)
    return space.take(near) if space.free(near) else space.any_free(length)
