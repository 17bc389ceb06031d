"""Infer spines and leaves from gateways, sessions, cables, BGP groups and names together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address

from rocefort.models.network.network import CablingEvidence, Link, Node, Role, RoleEvidence

FEWEST_LEAVES = 2  # with one, a spine looks like any other neighbour
WEIGHTS = {
    RoleEvidence.GATEWAYS: 3,
    RoleEvidence.NEIGHBOURS: 2,
    RoleEvidence.NAME: 2,
    RoleEvidence.BGP: 1,
}
NAMES = {
    Role.SPINE: re.compile("spine", re.IGNORECASE),
    Role.LEAF: re.compile("leaf|tor(?![a-z])", re.IGNORECASE),
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
    leaves = serving | {node.name for node in nodes if _name_says(node) is Role.LEAF}
    spines = _spines(graph, leaves)
    leaves = {name for name in leaves if name not in spines and graph.near[name] & spines}
    roles = {}
    for node in nodes:
        evidence = _evidence(graph, node, serving, spines, leaves)
        roles[node.name] = _decided(evidence), evidence
    return tuple(_with_role(node, *roles[node.name]) for node in nodes)


def _with_role(node: Node, role: Role | None, evidence: Mapping[RoleEvidence, Role]) -> Node:
    if node.role is not None or role is None:
        return node
    by = tuple(kind for kind in RoleEvidence if evidence.get(kind) is role)
    against = tuple(kind for kind in RoleEvidence if evidence.get(kind, role) is not role)
    return node.model_copy(update={"role": role, "role_by": by, "role_against": against})


def _serves(node: Node) -> bool:
    """Whether a switch has a gateway, or a port with the VLAN of servers."""
    return any(
        (i.kind == "vlanif" and i.addresses) or (i.access_vlan is not None and not i.routed)
        for i in node.device.interfaces
    )


def _name_says(node: Node) -> Role | None:
    said = [role for role, pattern in NAMES.items() if pattern.search(node.name)]
    return said[0] if len(said) == 1 else None


def _spines(graph: _Graph, leaves: Set[str]) -> set[str]:
    """Switches that connect most leaves, and serve none or have the name of a spine."""
    spines = set()
    for node in graph.nodes:
        own_leaves = leaves - {node.name}
        common = graph.near[node.name] & own_leaves
        named = _name_says(node)
        free = named is Role.SPINE or node.name not in leaves
        most = len(common) >= FEWEST_LEAVES and 2 * len(common) >= len(own_leaves)
        if free and (most or (named is Role.SPINE and common)):
            spines.add(node.name)
    return spines


def _evidence(
    graph: _Graph, node: Node, serving: Set[str], spines: Set[str], leaves: Set[str]
) -> dict[RoleEvidence, Role]:
    """Role of a switch by each kind of evidence; without known neighbours there is none."""
    near = graph.near[node.name]
    evidence: dict[RoleEvidence, Role] = {}
    if not near & (spines | leaves):
        return evidence
    if node.name in serving:
        evidence[RoleEvidence.GATEWAYS] = Role.LEAF
    if node.name in spines:
        evidence[RoleEvidence.NEIGHBOURS] = Role.SPINE
    elif near & spines and not near & leaves:
        evidence[RoleEvidence.NEIGHBOURS] = Role.LEAF
    if named := _name_says(node):
        evidence[RoleEvidence.NAME] = named
    if like := _like(graph, node.name, spines, leaves):
        evidence[RoleEvidence.BGP] = like
    return evidence


def _like(graph: _Graph, name: str, spines: Set[str], leaves: Set[str]) -> Role | None:
    """Role of the other switches with the same BGP groups, or the AS number of the spines."""
    groups = graph.groups(name)
    like = {
        role
        for role, members in ((Role.SPINE, spines), (Role.LEAF, leaves))
        for other in members - {name}
        if groups & graph.groups(other)
        or (role is Role.SPINE and None is not graph.asn(name) == graph.asn(other))
    }
    return like.pop() if len(like) == 1 else None


def _decided(evidence: Mapping[RoleEvidence, Role]) -> Role | None:
    """Role with more weight; one piece of evidence is enough only if it is not of neighbours."""
    weight = dict.fromkeys(Role, 0)
    for kind, role in evidence.items():
        weight[role] += WEIGHTS[kind]
    if weight[Role.SPINE] == weight[Role.LEAF]:
        return None
    best = max(weight, key=lambda role: weight[role])
    alone = [kind for kind, role in evidence.items() if role is best]
    # A router beside the spines has sessions with them, as a leaf has.
    return None if best is Role.LEAF and alone == [RoleEvidence.NEIGHBOURS] else best
