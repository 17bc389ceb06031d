"""Infer a Network from configuration text alone: cables, spines and leaves."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address

from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.models.base import natural
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import (
    CablingEvidence,
    CablingSource,
    End,
    Link,
    Network,
    Node,
    RoleEvidence,
    SwitchRole,
    cables_by_address,
)

TO = re.compile(
    r"(?:link[ _-]+)?to[ _-]+(?P<device>\S+)(?: (?P<port>\d*GE ?[\d/:]+))?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class LldpNeighbour:
    """LLDP neighbour at a port of a switch; port None: not reported."""

    device: str
    local: str
    neighbour: str
    port: str | None = None


def claims_of(
    nodes: Sequence[Node], heard: Iterable[LldpNeighbour] = ()
) -> tuple[CablingEvidence, ...]:
    """Return the evidence of the far ends of ports, by port, the most reliable source first."""
    by_name = {node.name: node for node in nodes}
    claims = {*_by_lldp(by_name, heard), *_by_addresses(nodes), *_by_descriptions(by_name)}
    priority = list(CablingSource)

    def order(claim: CablingEvidence) -> tuple[object, ...]:
        at = natural(claim.at.device), natural(claim.at.interface)
        return *at, priority.index(claim.by), natural(claim.far)

    return tuple(sorted(claims, key=order))


def _by_lldp(
    by_name: Mapping[str, Node], heard: Iterable[LldpNeighbour]
) -> Iterator[CablingEvidence]:
    """Yield LLDP evidence on ports of known switches, without their management ports."""
    for one in heard:
        if one.device in by_name and one.neighbour in by_name and "GE" in one.local[:5]:
            at = End(device=one.device, interface=one.local)
            yield CablingEvidence(by=CablingSource.LLDP, at=at, device=one.neighbour, port=one.port)


def _by_addresses(nodes: Sequence[Node]) -> Iterator[CablingEvidence]:
    for ends in cables_by_address(nodes):
        for at, far in (ends, ends[::-1]):
            yield CablingEvidence(
                by=CablingSource.ADDRESSES, at=at, device=far.device, port=far.interface
            )


def _by_descriptions(by_name: Mapping[str, Node]) -> Iterator[CablingEvidence]:
    """Yield evidence of descriptions of known switches: `to leaf01 100GE1/0/1`, `to-leaf01`."""
    names = {name.casefold(): name for name in by_name}
    for name, node in by_name.items():
        for port in node.device.interfaces:
            far_end = _described_end(port.description, names) if port.kind == "ethernet" else None
            if far_end is not None and far_end[0] != name:
                at = End(device=name, interface=port.name)
                yield CablingEvidence(
                    by=CablingSource.DESCRIPTIONS, at=at, device=far_end[0], port=far_end[1]
                )


def _described_end(
    description: str | None, names: Mapping[str, str]
) -> tuple[str, str | None] | None:
    """Return switch and port in a description; None without a known switch."""
    match = TO.fullmatch(description or "")
    device = names.get(match["device"].casefold()) if match else None
    if match is None or device is None:
        return None
    return device, match["port"].upper().replace(" ", "") if match["port"] else None


def links_of(claims: Sequence[CablingEvidence]) -> tuple[Link, ...]:
    """Return the cables of the evidence, in the order of their ends.

    LLDP has priority, then addresses, then descriptions that agree in both directions. A port has
    one cable. Contradictions stay in the evidence.
    """
    by_pair: dict[tuple[End, End], dict[CablingSource, None]] = defaultdict(dict)
    for source in CablingSource:
        for pair in _pairs([claim for claim in claims if claim.by is source], source):
            by_pair[pair][source] = None
    taken: set[End] = set()
    links: list[Link] = []
    for (a, b), sources in by_pair.items():
        if not {a, b} & taken:
            taken |= {a, b}
            links.append(Link(a=a, b=b, told=tuple(sources)))
    return tuple(sorted(links, key=lambda link: (_end_order(link.a), _end_order(link.b))))


def _pairs(claims: Sequence[CablingEvidence], source: CablingSource) -> Iterator[tuple[End, End]]:
    """Yield the cables of one source, the lower end first."""
    stated = {claim.at: claim for claim in claims}
    toward: dict[tuple[str, str], list[End]] = defaultdict(list)
    for claim in claims:
        toward[claim.at.device, claim.device].append(claim.at)
    for claim in claims:
        far = _far_end(claim, toward)
        if far is None:
            continue
        back = stated.get(far)
        agrees = back is not None and back.device == claim.at.device
        agrees = agrees and back is not None and back.port in (None, claim.at.interface)
        if agrees or (source is CablingSource.LLDP and back is None):
            a, b = sorted((claim.at, far), key=_end_order)
            yield a, b


def _far_end(claim: CablingEvidence, toward: Mapping[tuple[str, str], Sequence[End]]) -> End | None:
    """Return the far end by its name, or the only port there with evidence of the way back."""
    if claim.port is not None:
        return End(device=claim.device, interface=claim.port)
    there = toward[claim.at.device, claim.device]
    back = toward.get((claim.device, claim.at.device), ())
    return back[0] if len(there) == 1 == len(back) else None


def _end_order(end: End) -> tuple[object, ...]:
    return natural(end.device), natural(end.interface)


FEWEST_LEAVES = 2  # with one, a spine looks like any other neighbour
WEIGHTS = {
    RoleEvidence.GATEWAYS: 3,
    RoleEvidence.NEIGHBOURS: 2,
    RoleEvidence.NAME: 2,
    RoleEvidence.BGP: 1,
}
NAMES = {
    SwitchRole.SPINE: re.compile("spine", re.IGNORECASE),
    SwitchRole.LEAF: re.compile("leaf|tor(?![a-z])", re.IGNORECASE),
}


@dataclass(eq=False)
class _Graph:
    """Switches with their neighbours: BGP peers, far ends of cables, and of one-sided evidence."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    claims: Sequence[CablingEvidence]
    by_name: Mapping[str, Node] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {node.name: node for node in self.nodes}

    @cached_property
    def near(self) -> Mapping[str, Set[str]]:
        owners: dict[IPv4Address, str] = {
            address.ip: node.name
            for node in self.nodes
            for interface in node.device.interfaces
            for address in interface.addresses
        }
        near: dict[str, set[str]] = defaultdict(set)
        pairs = [
            (node.name, owners[peer.address])
            for node in self.nodes
            for peer in (node.device.bgp.peers if node.device.bgp else ())
            if peer.address in owners
        ]
        pairs += [(link.a.device, link.b.device) for link in self.links]
        pairs += [(claim.at.device, claim.device) for claim in self.claims]
        for a, b in pairs:
            near[a].add(b)
            near[b].add(a)
        return near

    def groups(self, name: str) -> Set[str]:
        """Names of the BGP groups of a switch."""
        bgp = self.by_name[name].device.bgp
        return {group.name for group in bgp.groups} if bgp else set()

    def asn(self, name: str) -> int | None:
        bgp = self.by_name[name].device.bgp
        return bgp.asn if bgp else None


def with_roles(
    nodes: Sequence[Node], links: Sequence[Link], claims: Sequence[CablingEvidence]
) -> tuple[Node, ...]:
    """Set roles with their evidence: a leaf has gateways, a spine connects most leaves.

    Pieces of evidence have weights, so that one missing cable, session or gateway does not hide a
    role. A switch gets none where they are equal, or where no neighbour confirms it.
    """
    graph = _Graph(nodes, links, claims)
    serving = {node.name for node in nodes if _serves(node)}
    leaves = serving | {node.name for node in nodes if _name_says(node) is SwitchRole.LEAF}
    spines = _spines(graph, leaves)
    leaves = {name for name in leaves if name not in spines and graph.near[name] & spines}
    roles = {}
    for node in nodes:
        evidence = _evidence(graph, node, serving, spines, leaves)
        roles[node.name] = _decided(evidence), evidence
    return tuple(_with_role(node, *roles[node.name]) for node in nodes)


def _with_role(
    node: Node, role: SwitchRole | None, evidence: Mapping[RoleEvidence, SwitchRole]
) -> Node:
    if node.role is not None or role is None:
        return node
    by = tuple(kind for kind in RoleEvidence if evidence.get(kind) is role)
    against = tuple(kind for kind in RoleEvidence if evidence.get(kind, role) is not role)
    hardware = node.hardware and node.hardware.in_role(spine=role is SwitchRole.SPINE)
    update = {"role": role, "role_by": by, "role_against": against, "hardware": hardware}
    return node.model_copy(update=update)


def _serves(node: Node) -> bool:
    """Whether a switch has a gateway, or a port with the VLAN of servers."""
    return any(
        (i.kind == "vlanif" and i.addresses) or (i.access_vlan is not None and not i.routed)
        for i in node.device.interfaces
    )


def _name_says(node: Node) -> SwitchRole | None:
    said = [role for role, pattern in NAMES.items() if pattern.search(node.name)]
    return said[0] if len(said) == 1 else None


def _spines(graph: _Graph, leaves: Set[str]) -> set[str]:
    """Switches that connect most leaves, and serve none or have the name of a spine."""
    spines = set()
    for node in graph.nodes:
        own_leaves = leaves - {node.name}
        common = graph.near[node.name] & own_leaves
        named = _name_says(node)
        free = named is SwitchRole.SPINE or node.name not in leaves
        most = len(common) >= FEWEST_LEAVES and 2 * len(common) >= len(own_leaves)
        if free and (most or (named is SwitchRole.SPINE and common)):
            spines.add(node.name)
    return spines


def _evidence(
    graph: _Graph, node: Node, serving: Set[str], spines: Set[str], leaves: Set[str]
) -> dict[RoleEvidence, SwitchRole]:
    """Role of a switch by each kind of evidence; without known neighbours there is none."""
    near = graph.near[node.name]
    evidence: dict[RoleEvidence, SwitchRole] = {}
    if not near & (spines | leaves):
        return evidence
    if node.name in serving:
        evidence[RoleEvidence.GATEWAYS] = SwitchRole.LEAF
    if node.name in spines:
        evidence[RoleEvidence.NEIGHBOURS] = SwitchRole.SPINE
    elif near & spines and not near & leaves:
        evidence[RoleEvidence.NEIGHBOURS] = SwitchRole.LEAF
    if named := _name_says(node):
        evidence[RoleEvidence.NAME] = named
    if like := _like(graph, node.name, spines, leaves):
        evidence[RoleEvidence.BGP] = like
    return evidence


def _like(graph: _Graph, name: str, spines: Set[str], leaves: Set[str]) -> SwitchRole | None:
    """Role of the other switches with the same BGP groups, or the AS number of the spines."""
    groups = graph.groups(name)
    like = {
        role
        for role, members in ((SwitchRole.SPINE, spines), (SwitchRole.LEAF, leaves))
        for other in members - {name}
        if groups & graph.groups(other)
        or (role is SwitchRole.SPINE and None is not graph.asn(name) == graph.asn(other))
    }
    return like.pop() if len(like) == 1 else None


def _decided(evidence: Mapping[RoleEvidence, SwitchRole]) -> SwitchRole | None:
    """Role with more weight; one piece of evidence is enough only if it is not of neighbours."""
    weight = dict.fromkeys(SwitchRole, 0)
    for kind, role in evidence.items():
        weight[role] += WEIGHTS[kind]
    if weight[SwitchRole.SPINE] == weight[SwitchRole.LEAF]:
        return None
    best = max(weight, key=lambda role: weight[role])
    alone = [kind for kind, role in evidence.items() if role is best]
    # A router beside the spines has sessions with them, as a leaf has.
    return None if best is SwitchRole.LEAF and alone == [RoleEvidence.NEIGHBOURS] else best


def infer(name: str, nodes: Iterable[Node], heard: Sequence[LldpNeighbour] = ()) -> Network:
    """Infer a Network from parsed text, with its cables and roles if the text shows them.

    heard: LLDP neighbours, if they were dumped. Servers, cable lengths and intent stay unknown. So
    do cabling without evidence, and ambiguous roles. Hardware is that of the nodes.
    """
    nodes = tuple(sorted(nodes, key=lambda node: node.name))
    claims = claims_of(nodes, heard)
    links = links_of(claims)
    nodes = with_roles(nodes, links, claims)
    return Network(name=name, origin="text", nodes=nodes, links=links or None, claims=claims)


# --- hardware and syntax family, by the model and the release that a text names ---------------


def with_hardware(
    node: Node, model: str | None, software: str | None, catalogue: Catalogue
) -> Node:
    """Add the hardware facts of a model and a release to a node; others stay unknown.

    model: as the switch prints it, CE8851-32CQ8DQ-P; software: its release, V300R023C00.
    """
    return node.model_copy(
        update={
            "software": software,
            "hardware": catalogue.hardware.get(model) if model else None,
            "family": _family(catalogue, model, software),
        }
    )


def _family(catalogue: Catalogue, model: str | None, software: str | None) -> Family | None:
    """Family of a release on a model; for an unknown model, the common one of all models."""
    if software is None:
        return None
    if model is not None and model in catalogue.hardware:
        return catalogue.family(model, software)
    names = {name for each in catalogue.hardware.values() if (name := each.family_of(software))}
    return catalogue.families.get(names.pop()) if len(names) == 1 else None
