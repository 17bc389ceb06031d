"""Import exits of leaves: sessions and static default routes that lead out of the fabric."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.design.derive.exits import FIRST_ACCEPTED
from rocefort.design.importing.assumptions import Data, SwitchText, writable
from rocefort.design.importing.bgp_graph import CablingGraph
from rocefort.design.importing.links import is_port
from rocefort.design.importing.secrets import authentication
from rocefort.design.importing.survey import Survey
from rocefort.models.base import NAME
from rocefort.models.device.interface import ETHERNET_MTU, NO_DOMAIN, Interface
from rocefort.models.device.routing import DEFAULT_ROUTE, BgpPeer, PrefixEntry
from rocefort.models.fabric.exits import MOST_ACCEPTED
from rocefort.models.hardware.media import whole_port

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
