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
from rocefort.models.device.bgp import BgpPeer, PrefixEntry
from rocefort.models.device.interface import ETHERNET_MTU, NO_DOMAIN, Interface
from rocefort.models.device.static_routes import DEFAULT_ROUTE
from rocefort.models.fabric.exits import MOST_ACCEPTED
from rocefort.models.hardware.breakout import whole_port

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
    found: list[ExitPort] = []
    for leaf in survey.roles.leaves:
        own = [
            ExitPort(leaf.name, out.port, out.peer.address, out.peer)
            for out in survey.graph.outward
            if out.device == leaf.name and out.port and out.peer.asn and is_port(out.port)
        ]
        cabled = {port for name, port in survey.cabled if name == leaf.name}
        own += _static(leaf, {way.port.name for way in own} | cabled)
        free = survey.free_ports(leaf.name)
        seen: set[str] = set()
        for way in own:
            name = way.port.name
            if name not in seen | cabled:
                seen.add(name)
                found += [way] if whole_port(name) in free else []
    return found


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
    survey: Survey, ways: Sequence[ExitPort], segments: Mapping[IPv4Network, str], mtu: int
) -> dict[str, list[Data]]:
    """Return exits by leaf, each with a unique id and name. segments: by prefix."""
    graph, notes = survey.graph, survey.notes
    ids = _ids(graph, ways)
    found: dict[str, list[Data]] = {}
    names: set[str] = set()
    for place, way in enumerate(ways):
        source = graph.sources[way.leaf]
        number, name = ids[place], _name(source, way, place, names)
        names.add(name)
        row: Data = {"id": number, "name": name, "port": way.port.name}
        address = next(a for a in way.port.addresses if way.peer in a.network)
        row |= {"address": address, "peer": way.peer}
        row |= _routes(source, way, segments)
        if way.port.description != f"{EXIT}{name}" and writable(way.port.description):
            row["description"] = way.port.description
        if way.session and way.session.bfd_enabled:
            row["bfd"] = way.session.bfd.model_dump() if way.session.bfd else {}
        if way.session and way.session.password:
            row["authentication"] = authentication(way.session.password, f"EXIT_{name}", notes)
        if (own := way.port.mtu or ETHERNET_MTU) != mtu:
            row["mtu"] = own
        if way.port.domain not in (None, NO_DOMAIN):
            row["lossless"] = True
        found.setdefault(way.leaf, []).append(row)
    return found


def _routes(source: SwitchText, way: ExitPort, segments: Mapping[IPv4Network, str]) -> Data:
    """Return AS number, default route, accepted and announced prefixes."""
    static = way.peer in _default_hops(source)
    if way.session is None:
        return {"default": "static"}
    incoming = _rows(source, way.session.import_policy)
    outgoing = _rows(source, way.session.export_policy)
    accepted = any(row.prefix == DEFAULT_ROUTE and row.greater_equal is None for row in incoming)
    row: Data = {"asn": way.session.asn}
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
    wanted = {node.match_prefix_list for node in nodes if node.action == "permit"}
    lists = (one for one in source.device.prefix_lists if one.name in wanted)
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


def _name(source: SwitchText, way: ExitPort, place: int, taken: Collection[str]) -> str:
    """Return a name by its session's policies, its static route, or its port; else by number."""
    policy = POLICY.fullmatch(way.session.import_policy or "") if way.session else None
    routes = (r for r in source.device.static_routes if r.next_hop == way.peer)
    route = next((r.description for r in routes if r.vrf is None), None)
    port = way.port.description
    for text in (policy["name"] if policy else None, route, port):
        name = (text or "").removeprefix(EXIT)
        if NAME.fullmatch(name) and ".." not in name and len(name) <= LONGEST and name not in taken:
            return name
    return f"{way.leaf}-exit{place + 1}"[-LONGEST:].lstrip("-._")


def _ids(graph: CablingGraph, ways: Sequence[ExitPort]) -> list[int]:
    """Return ids by the indexes in a leaf's list of announcements; else free ones."""
    ids: list[int | None] = []
    for way in ways:
        rows = _listed_exits(graph.sources[way.leaf], way)
        ids.append(next((number for number in rows if number not in ids), None))
    free = (number for number in range(1, 1000) if number not in ids)
    return [next(free) if number is None else number for number in ids]


def _listed_exits(source: SwitchText, way: ExitPort) -> list[int]:
    """Return ids of exits in a leaf's other lists with the prefixes that this exit accepts."""
    if way.session is None:
        return []
    wanted = {
        (row.index - FIRST_ACCEPTED, row.prefix, row.less_equal)
        for row in _rows(source, way.session.import_policy)
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
    return [exit_id for exit_id, rows in blocks.items() if rows == wanted]
