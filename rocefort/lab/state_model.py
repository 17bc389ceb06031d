"""State source of a lab's switches: its model, joined to the embedded routing engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from rocefort.base.errors import BadInput, Refused
from rocefort.emulator.state.model import ComputedRoutes, EmulatedState, Routing, no_routing
from rocefort.emulator.state.ports import Cabling, Config, PortsOfSwitch, read_running
from rocefort.emulator.state.routes import BgpRoute
from rocefort.emulator.state.state_faults import Port
from rocefort.emulator.switch.state_source import BgpPath, PeerState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.lab.sessions import orphaned_ends, session_facts, without_closed
from rocefort.models.device.device import Device
from rocefort.models.network.network import End, Network, Node
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import RoutingState, SessionStatus

OWN_HOP = "0.0.0.0"  # noqa: S104 - what a BGP table shows; nothing listens there
OUTSIDE = "outside"  # far end of exit cables, which is outside of the lab


def model_of(network: Network, switches: Mapping[str, EmulatedSwitch]) -> EmulatedState:
    """Return the model of a fabric: cabled as designed, with the ports of its hardware."""
    return EmulatedState(
        switches,
        cabling=None if network.links is None else _cabling(network),
        ports={
            node.name: _ports(tuple((name, node.speed_gbps(name)) for name in node.port_names))
            for node in network.nodes
        },
        routing=routing_of(network),
    )


def _cabling(network: Network) -> Cabling:
    cables = dict(_cables(network))
    return cables | {far: near for near, far in cables.items()}


def _cables(network: Network) -> Iterator[tuple[Port, Port]]:
    for link in network.links or ():
        yield _port(link.a), _port(link.b)
    for server in network.servers or ():
        for number, end in enumerate(server.ports, 1):
            yield _port(end), (server.name, f"port {number}")
    for exit_ in network.exits or ():
        yield (exit_.leaf, exit_.port), (OUTSIDE, exit_.name)


def _port(end: End) -> Port:
    return end.device, end.interface


@lru_cache(maxsize=256)
def _ports(speeds: tuple[tuple[str, int | None], ...]) -> PortsOfSwitch:
    """Return one table for all switches with the same ports."""
    return {name: gbps * 1000 if gbps else None for name, gbps in speeds}


def routing_of(network: Network) -> Routing:
    """Return BGP as computed by the embedded engine, from the running configurations of the lab."""
    # Without the designed devices: the running ones replace them, and both would be much memory.
    nodes = {
        node.name: node.model_copy(update={"device": Device(name=node.name)})
        for node in network.nodes
    }
    bare = network.model_copy(update={"nodes": (), "servers": None, "policy": None})
    read: dict[str, Config] = {}

    def at(running: Mapping[str, Config], dead: frozenset[Port]) -> Network:
        for name, node in nodes.items():
            config = running[name]
            if read.get(name) is not config:
                device = without_closed(read_running(name, config), config)
                nodes[name] = node.model_copy(update={"device": device})
                read[name] = config
        return bare.model_copy(
            update={"nodes": tuple(_node_without(node, dead) for node in nodes.values())}
        )

    def routed(running: Mapping[str, Config], dead: frozenset[Port]) -> ComputedRoutes:
        try:
            now = at(running, dead)
            solution = analyse(now)
            routed = _routed(now, solution.state, lambda switch: _paths(at(running, dead), switch))
            return replace(
                routed,
                sessions=tuple(session_facts(solution, running)),
                orphaned=frozenset(orphaned_ends(solution)),
            )
        except (Refused, BadInput):  # not modelled: no session is reported as up
            return no_routing(running, dead)

    return routed


def _node_without(node: Node, dead: frozenset[Port]) -> Node:
    """Return the node with its ports shut that have no working cable."""
    own = {interface for switch, interface in dead if switch == node.name}
    if not own:
        return node
    interfaces = tuple(
        port.model_copy(update={"enabled": False}) if port.name in own else port
        for port in node.device.interfaces
    )
    return node.model_copy(
        update={"device": node.device.model_copy(update={"interfaces": interfaces})}
    )


def _paths(network: Network, switch: str) -> list[BgpPath]:
    """Return the BGP table of a switch: its own prefixes, and every path that it uses.

    A next hop announces its own best path, so that and its AS are the path. A MED is not sent
    beyond the next AS (RFC 4271), and the origin of a `network` is 0.
    """
    solution = analyse(network)
    far = {session.peer: session.far[0] for session in solution.sessions
           if session.device == switch and session.far}  # fmt: skip
    asns = {node.name: node.device.bgp.asn for node in network.nodes if node.device.bgp}
    paths: list[BgpPath] = []
    for prefix, group in solution.by_prefix:
        if switch in group.origins:
            paths.append(BgpPath(prefix, OWN_HOP, med=0))
            continue
        selection = group.selections.get(switch)
        for index, hop in enumerate(selection.next_hops if selection else ()):
            sender = far[hop]
            path = (asns[sender], *group.selections[sender].as_path)
            med = 0 if len(path) == 1 else None
            paths.append(BgpPath(prefix, str(hop), path, best=index == 0, med=med))
    return paths


def _routed(
    network: Network, state: RoutingState, paths: Callable[[str], Sequence[BgpPath]]
) -> ComputedRoutes:
    learned = Counter((r.device, hop) for r in state.routes for hop in r.next_hops)
    peers: dict[str, list[PeerState]] = {node.name: [] for node in network.nodes}
    routes: dict[str, list[BgpRoute]] = {node.name: [] for node in network.nodes}
    for route in state.routes:
        if route.device in routes:  # others: the other end of an exit, outside of the lab
            routes[route.device].append(BgpRoute(route.prefix, route.next_hops))
    for session in state.sessions:
        if session.device in peers:
            bgp = network.by_name[session.device].device.bgp
            peer = next((p for p in bgp.peers if p.address == session.peer), None) if bgp else None
            asn = bgp.settings(peer).asn if bgp and peer else None
            up = session.status is SessionStatus.ESTABLISHED
            peers[session.device].append(
                PeerState(
                    address=session.peer,
                    asn=str(asn or 0),
                    state="Established" if up else "Idle",
                    prefixes=learned[session.device, session.peer],
                )
            )
    return ComputedRoutes(peers, routes, paths)
