"""Import segments of a fabric from the gateways of its leaves, one for each VLAN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from ipaddress import IPv4Interface, IPv4Network
from typing import get_args

from rocefort.design.importing.assumptions import Data, SwitchText, nameable
from rocefort.design.importing.pools import AddressSpace, length_for
from rocefort.design.importing.survey import LONGEST_PART, Survey
from rocefort.models.device.bgp import PrefixEntry
from rocefort.models.device.interface import Interface, gateway_vlan
from rocefort.models.fabric.nodes import SegmentIntent

GATEWAY = "gateway "  # prefix of the description of a gateway that derivation writes
SHORTEST_PART = 8  # length of a leaf's part
VLANS = range(2, 4095)  # that a segment can have
ROLES = get_args(SegmentIntent.model_fields["role"].annotation)
FALLBACK_ROLE = "compute"


def gateways(source: SwitchText) -> dict[int, Interface]:
    """Return gateways of a switch by VLAN, without those in a VRF."""
    by_vlan: dict[int, Interface] = {}
    for interface in source.device.interfaces:
        vlan = gateway_vlan(interface.name)
        usable = interface.addresses and interface.vrf is None
        if vlan is not None and vlan in VLANS and usable:
            by_vlan[vlan] = interface
    return by_vlan


def segments_of(survey: Survey, space: AddressSpace) -> list[Data]:
    """Return segments with a VLAN, in order of the VLANs; `space` gets their prefixes."""
    listed, notes = survey.announced.segments, survey.notes
    by_vlan: dict[int, dict[str, Interface]] = {vlan: {} for vlan in listed}
    for source in survey.roles.leaves:
        for vlan, interface in gateways(source).items():
            by_vlan.setdefault(vlan, {})[source.name] = interface
    rows: list[Data] = []
    names: set[str] = set()
    for index, vlan in enumerate(sorted(by_vlan)):
        name = _name(vlan, by_vlan[vlan], names)
        names.add(name)
        role = next((role for role in ROLES if role == name), None)
        if role is None:
            notes.assume(("segments", index, "role"), "what its servers are for")
        parts = {n: interface.addresses[0] for n, interface in by_vlan[vlan].items()}
        prefix, length = _prefix(survey, parts, listed.get(vlan), space)
        if vlan not in listed:
            what = f"holds the gateways of VLAN {vlan}; spines announce no whole segment"
            notes.assume(("segments", index, "prefix"), what)
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
    """Return the name in the gateways' descriptions, if it is unique; else one by VLAN."""
    described = Counter(
        interface.description.removeprefix(GATEWAY)
        for interface in served.values()
        if interface.description and interface.description.startswith(GATEWAY)
    )
    for name, _ in described.most_common():
        if nameable(name) and name not in taken and name != "management":
            return name
    return f"vlan{vlan}"


def _prefix(
    survey: Survey, parts: Mapping[str, IPv4Interface], row: PrefixEntry | None, space: AddressSpace
) -> tuple[IPv4Network, int]:
    """Return (prefix, length of a leaf's part): as announced, around the gateways, or any."""
    bits = 32 - length_for(survey.capacity.leaves)  # that number the leaves
    if row is not None and row.greater_equal:
        enough = row.greater_equal - row.prefix.prefixlen >= bits
        if enough and row.greater_equal >= SHORTEST_PART and space.free(row.prefix):
            return space.take(row.prefix), row.greater_equal
    lengths = Counter(address.network.prefixlen for address in parts.values())
    common = lengths.most_common(1)[0][0] if parts else LONGEST_PART
    length = min(max(common, SHORTEST_PART, bits), LONGEST_PART)
    bases = (
        int(address.network.network_address) - ((survey.ids[name] - 1) << (32 - length))
        for name, address in parts.items()
    )
    networks = [address.network for address in parts.values()]
    return space.pool(bases, networks, length - bits), length
