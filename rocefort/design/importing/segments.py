"""Segments of a fabric from the gateways of its leaves: one a VLAN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv4Network
from typing import get_args

from rocefort.design.importing.notes import Data, Notes, Source, nameable
from rocefort.design.importing.pools import Space, length_for, supernet
from rocefort.design.routing import FABRIC, LEAVES, SPINES
from rocefort.models.bgp import PrefixEntry
from rocefort.models.fabric_nodes import SegmentIntent
from rocefort.models.fabric_types import MOST_LEAVES, MOST_SPINES
from rocefort.models.interface import Interface, gateway_vlan

GATEWAY = "gateway "  # begins the description of a gateway that derivation writes
SHORTEST_PART, LONGEST_PART = 8, 30  # lengths of a leaf's part
VLANS = range(2, 4095)  # that a segment can have
ROLES = get_args(SegmentIntent.model_fields["role"].annotation)
FALLBACK_ROLE = "compute"


def gateways(source: Source) -> dict[int, Interface]:
    """Gateways of a switch by VLAN; one in another routing table is none of the fabric's."""
    found: dict[int, Interface] = {}
    for interface in source.device.interfaces:
        vlan = gateway_vlan(interface.name)
        usable = interface.addresses and interface.vrf is None
        if vlan is not None and vlan in VLANS and usable:
            found[vlan] = interface
    return found


@dataclass(frozen=True)
class Announced:
    """What spines announce by pool, where their list is of the form that derivation writes."""

    spine_loopbacks: IPv4Network | None = None
    leaf_loopbacks: IPv4Network | None = None
    segments: Mapping[int, PrefixEntry] = field(default_factory=dict)

    @property
    def room(self) -> tuple[int, int]:
        """Spines and leaves that the pools have addresses and parts for."""
        spines, leaves = self.spine_loopbacks, self.leaf_loopbacks
        parts = [2 ** ((r.greater_equal or 0) - r.prefix.prefixlen) for r in self.segments.values()]
        return (
            MOST_SPINES if spines is None else spines.num_addresses - 1,
            min([MOST_LEAVES if leaves is None else leaves.num_addresses - 1, *parts]),
        )


def announced(spines: Sequence[Source]) -> Announced:
    """Pools and segments in the spines' prefix list."""
    lists = (one for s in spines for one in s.device.prefix_lists if one.name == FABRIC)
    rows = {
        row.index: row
        for one in lists
        for row in one.entries
        if row.action == "permit" and row.greater_equal and row.greater_equal == row.less_equal
    }
    loopbacks = {index: row.prefix for index, row in rows.items() if row.greater_equal == 32}
    return Announced(
        loopbacks.get(SPINES),
        loopbacks.get(LEAVES),
        {
            index: row
            for index, row in rows.items()
            if SPINES < index < LEAVES and (row.greater_equal or 0) <= LONGEST_PART
        },
    )


@dataclass(frozen=True)
class Leaves:
    """Leaves with their ids, and how many there may ever be."""

    sources: Sequence[Source]
    ids: Mapping[str, int]
    capacity: int


def segments_of(
    leaves: Leaves, listed: Mapping[int, PrefixEntry], space: Space, notes: Notes
) -> list[Data]:
    """Segments with a VLAN, in order of the VLANs; `space` gets their prefixes."""
    found: dict[int, dict[str, Interface]] = {vlan: {} for vlan in listed}
    for source in leaves.sources:
        for vlan, interface in gateways(source).items():
            found.setdefault(vlan, {})[source.name] = interface
    rows: list[Data] = []
    names: set[str] = set()
    for place, vlan in enumerate(sorted(found)):
        name = _name(vlan, found[vlan], names)
        names.add(name)
        role = next((role for role in ROLES if role == name), None)
        if role is None:
            notes.assume(("segments", place, "role"), "what its servers are for")
        parts = {n: interface.addresses[0] for n, interface in found[vlan].items()}
        prefix, length = _prefix(leaves, parts, listed.get(vlan), space)
        if vlan not in listed:
            what = f"holds the gateways of VLAN {vlan}; spines announce no whole segment"
            notes.assume(("segments", place, "prefix"), what)
        rows.append(
            {
                "name": name,
                "role": role or FALLBACK_ROLE,
                "vlan": vlan,
                "prefix": prefix,
                "leaf_prefix_length": length,
            }
        )
    return rows


def _name(vlan: int, served: Mapping[str, Interface], taken: set[str]) -> str:
    """The name in the gateways' descriptions, where one is there and of no other VLAN."""
    said = Counter(
        interface.description.removeprefix(GATEWAY)
        for interface in served.values()
        if interface.description and interface.description.startswith(GATEWAY)
    )
    for name, _ in said.most_common():
        if nameable(name) and name not in taken and name != "management":
            return name
    return f"vlan{vlan}"


def _prefix(
    leaves: Leaves, parts: Mapping[str, IPv4Interface], row: PrefixEntry | None, space: Space
) -> tuple[IPv4Network, int]:
    """(prefix, length of a leaf's part): as announced, else around the gateways, else any."""
    bits = length_for(leaves.capacity)  # 32 less the bits that number the leaves
    if row is not None and row.greater_equal:
        enough = row.greater_equal - row.prefix.prefixlen >= 32 - bits
        if enough and row.greater_equal >= SHORTEST_PART and space.free(row.prefix):
            return space.take(row.prefix), row.greater_equal
    for network, length in _around(leaves, parts, 32 - bits):
        if space.free(network):
            return space.take(network), length
    return space.any_free(LONGEST_PART - (32 - bits)), LONGEST_PART


def _around(
    leaves: Leaves, parts: Mapping[str, IPv4Interface], bits: int
) -> Iterator[tuple[IPv4Network, int]]:
    """Prefixes that hold the gateways: in their plan; around all; around the first alone."""
    if not parts:
        return
    lengths = Counter(address.network.prefixlen for address in parts.values())
    length = min(max(lengths.most_common(1)[0][0], SHORTEST_PART), LONGEST_PART)
    whole = length - bits
    networks = [address.network for address in parts.values()]
    if whole >= 0:
        bases = Counter(
            int(address.network.network_address) - ((leaves.ids[name] - 1) << (32 - length))
            for name, address in parts.items()
        )
        base = bases.most_common(1)[0][0]
        if 0 <= base < 2**32 and base % 2 ** (32 - whole) == 0:
            yield IPv4Network((base, whole)), length
        yield supernet(networks, whole), length
    first = networks[0]
    if LONGEST_PART - first.prefixlen >= bits:
        yield first, LONGEST_PART
