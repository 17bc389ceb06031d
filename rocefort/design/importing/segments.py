"""Import segments from gateways, the policy between them, and servers from access ports.

It is the inverse of `design.derive.segment_acls`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from typing import get_args

from rocefort.design.derive.segment_acls import (
    DEFAULT,
    ENTRY_STEP,
    REPLY,
    filter_name,
    segment_acls,
)
from rocefort.design.importing.assumptions import Data, SwitchText, nameable, writable
from rocefort.design.importing.bgp_graph import SpeedOf, is_port, kind_of
from rocefort.design.importing.routing import AddressSpace, ExitPort, length_for
from rocefort.design.importing.survey import LONGEST_PART, Survey
from rocefort.models.base import LONGEST_NAME, NAME
from rocefort.models.device.interface import MANUAL, Interface, gateway_vlan, trunk_number
from rocefort.models.device.packet_filters import ROCE_PORT, FilterAcl, FilterRule
from rocefort.models.device.routing import PrefixEntry
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.fabric.topology import SegmentIntent
from rocefort.models.hardware.media import whole_port

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


TO = "to "  # prefix of the description of a server's port that derivation writes


@dataclass(frozen=True, slots=True)
class AccessInterface:
    """Interface of a server on a leaf, with the ports that its cables end at."""

    leaf: str
    interface: Interface
    ports: tuple[Interface, ...]
    segment: str


def access_interfaces(
    survey: Survey, segments: Mapping[int, str], exit_ports: Sequence[ExitPort]
) -> Iterator[AccessInterface]:
    """Yield access ports and Eth-Trunks of leaves for servers; segments: by VLAN."""
    used = survey.cabled | {(exit_port.leaf, exit_port.port.name) for exit_port in exit_ports}
    for leaf in survey.roles.leaves:
        served, free = gateways(leaf), survey.free_ports(leaf.name)
        for interface in leaf.device.interfaces:
            vlan = interface.access_vlan
            segment = segments.get(vlan or 0) if vlan in served else None
            switched = not interface.routed and interface.link_type == "access"
            if segment is None or not switched or interface.eth_trunk is not None:
                continue
            number = trunk_number(interface.name)
            ports = (interface,) if number is None else leaf.device.members.get(number, ())
            usable = all(
                is_port(port)
                and whole_port(port.name) in free
                and (leaf.name, port.name) not in used
                for port in ports
            )
            if ports and usable:
                yield AccessInterface(leaf.name, interface, ports, segment)


def servers_of(survey: Survey, interfaces: Sequence[AccessInterface]) -> list[Data]:
    """Return servers of a fabric, each with a unique name."""
    names = {name.lower() for name in survey.graph.sources}
    rows: list[Data] = []
    for index, one in enumerate(interfaces):
        description = one.interface.description
        name = _server_name(one, names)
        names.add(name.lower())
        row: Data = {"name": name, "leaf": one.leaf}
        if description is None:
            survey.notes.assume(("servers", index, "name"), "its port has no description")
        row |= _ports(one)
        row["segment"] = one.segment
        if description != f"{TO}{name}" and writable(description):
            row["description"] = description
        if not any(port.pfc for port in one.ports):
            row["roce"] = False
        if kind := server_kind(one, survey.speed):
            row["cable"] = kind
        rows.append(row)
    return rows


def server_kind(one: AccessInterface, speed: SpeedOf) -> Data | None:
    """Return the kind of a server's cable, by its first port."""
    return kind_of(one.ports[0], speed(one.leaf, one.ports[0].name))


def _ports(one: AccessInterface) -> Data:
    number = trunk_number(one.interface.name)
    if number is None:
        return {"port": one.interface.name}
    bond = one.interface.bond
    row: Data = {"ports": [port.name for port in one.ports]}
    if bond.mode == MANUAL:
        row["mode"] = "manual"
    else:
        row["mode"] = bond.mode
        if bond.mode == "lacp-static" and bond.lacp_timeout == "slow":
            row["timeout"] = "slow"
    if bond.minimum_links > 1:
        row["minimum_links"] = bond.minimum_links
    return {"bond": {**row, "id": number}}


def _server_name(one: AccessInterface, taken: Collection[str]) -> str:
    """Return the name in a description `to NAME` or `NAME`; else one from leaf and port."""
    described = (one.interface.description or "").removeprefix(TO)
    port_text = re.sub(r"[^A-Za-z0-9]+", "-", one.interface.name)
    fallback = f"{one.leaf}-{port_text}"[-LONGEST_NAME:].lstrip("-._")
    for name in (described, fallback):
        if NAME.fullmatch(name) and ".." not in name and name.lower() not in taken:
            return name
    number = next(n for n in range(2, 10**6) if f"{fallback[:50]}-{n}".lower() not in taken)
    return f"{fallback[:50]}-{number}"


Row = tuple[int, bool, str, str, FilterRule]  # entry, reply, own segment, other segment, rule


def policy_of(sources: Sequence[SwitchText], segments: Iterable[SegmentIntent]) -> Data | None:
    """Return the `security.policy` that derives exactly the texts' ACLs; None if none does."""
    tagged = {segment.vlan: segment for segment in segments if segment.vlan}
    names = {filter_name(segment): segment.name for segment in tagged.values()}
    acls: dict[str, FilterAcl] = {}
    for source in sources:
        for acl in source.device.filters.acls:
            if acl.name not in names or acls.setdefault(names[acl.name], acl) != acl:
                return None
    if not acls:
        return None
    by_vlan = {vlan: segment.name for vlan, segment in tagged.items() if vlan}
    deny = any(rule.index >= DEFAULT for acl in acls.values() for rule in acl.rules)
    rows = _rows(acls, by_vlan)
    entries = [_entry(number, rows) for number in sorted({row[0] for row in rows})]
    data: Data = {"default": "deny" if deny else "allow", "entries": entries}
    return data if _implements_policy(data, acls, tagged.values()) else None


def _rows(acls: Mapping[str, FilterAcl], by_vlan: Mapping[int, str]) -> list[Row]:
    rows = []
    for own, acl in acls.items():
        for rule in acl.rules:
            entry, rest = divmod(rule.index, ENTRY_STEP)
            other = by_vlan.get(rest % REPLY)
            if rule.index < DEFAULT and other is not None:
                rows.append((entry, rest >= REPLY, own, other, rule))
    return rows


def _entry(number: int, rows: Sequence[Row]) -> Data:
    mine = [row for row in rows if row[0] == number]
    source = {own if not reply else other for _, reply, own, other, _ in mine}
    destination = {other if not reply else own for _, reply, own, other, _ in mine}
    rule = mine[0][4]
    entry: Data = {
        "id": number,
        "action": "allow" if rule.action == "permit" else "deny",
        "source": sorted(source),
        "destination": sorted(destination),
    }
    return entry | _service([row[4] for row in mine])


def _service(rules: Sequence[FilterRule]) -> Data:
    """Return protocol and ports; RDMA's replies go to its port, too, others come from theirs."""
    protocol = rules[0].protocol
    ports = next((p for r in rules if (p := r.destination_ports or r.source_ports)), None)
    if ports is None:
        return {} if protocol == "ip" else {"protocol": protocol}
    to_port = not any(rule.source_ports for rule in rules)
    if protocol == "udp" and to_port and ports.low == ports.high == ROCE_PORT:
        return {"protocol": "rdma"}
    both = [ports.low] if ports.low == ports.high else [ports.low, ports.high]
    return {"protocol": protocol, "ports": both}


def _implements_policy(
    data: Data, acls: Mapping[str, FilterAcl], segments: Iterable[SegmentIntent]
) -> bool:
    try:
        policy = SegmentPolicy.model_validate(data)
    except ValueError:
        return False
    derived = segment_acls(policy, segments)
    return all(derived.get(name) == acl for name, acl in acls.items())
