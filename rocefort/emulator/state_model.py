"""State source of a lab's switches: its model, its sessions, and the embedded routing engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from rocefort.base.errors import BadInput, Refused
from rocefort.emulator.state.model import ComputedRoutes, EmulatedState, Routing, no_routing
from rocefort.emulator.state.ports import Cabling, Config, PortsOfSwitch, read_running
from rocefort.emulator.state.routing_state import (
    BgpRoute,
    PeerEnd,
    SessionFacts,
    authentication,
    closed_peers,
)
from rocefort.emulator.state.state_faults import Port
from rocefort.emulator.switch.state_source import BgpPath, PeerState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.device.device import Device
from rocefort.models.device.interface import ETHERNET_MTU
from rocefort.models.device.routing import HOLD_S
from rocefort.models.network.network import End, Network, Node
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.sessions import ConfiguredSession
from rocefort.validators.routing_results import RoutingState, SessionStatus

UPDATE_BYTES = 60  # of one prefix with attributes of its own: an UPDATE of RFC 4271, assumed


def session_facts(solution: Solution, running: Mapping[str, Config]) -> Iterator[SessionFacts]:
    """Yield every established session between two switches of the lab, once."""
    keys = {name: authentication(lines) for name, lines in running.items()}
    routes = Counter((r.device, hop) for r in solution.state.routes for hop in r.next_hops)
    for session in solution.sessions:
        far = session.far
        if far is None or not session.device < far[0] or far[0] not in running:
            continue
        near_end, far_end = (session.device, str(session.peer)), (far[0], str(far[1]))
        ports = (
            _session_port(solution, session),
            solution.underlay.far[_session_port(solution, session)],
        )
        small, large = sorted(
            solution.underlay.interface(port).mtu or ETHERNET_MTU for port in ports
        )
        yield SessionFacts(
            ends=(near_end, far_end),
            port=ports[0],
            authenticated=keys[near_end[0]].get(near_end[1]) == keys[far_end[0]].get(far_end[1]),
            hold_s=min(
                HOLD_S if hold_s is None else hold_s
                for hold_s in (
                    solution.peerings.settings(session.device, session.peer).hold_s,
                    solution.peerings.settings(*far).hold_s,
                )
            ),
            mtus=(small, large),
            burst_bytes=UPDATE_BYTES * max(routes[session.device, session.peer], routes[far]),
        )


def _session_port(solution: Solution, session: ConfiguredSession) -> tuple[str, str]:
    local = solution.peerings.ends[session.device][int(session.peer)].local
    assert local is not None  # noqa: S101 - it is established
    return local[0]


def orphaned_ends(solution: Solution) -> Iterator[PeerEnd]:
    """Yield ends that are ready, but whose peer's address is on no switch."""
    addresses = {
        address.ip
        for node in solution.underlay.network.nodes
        for interface in node.device.interfaces
        for address in interface.addresses
    }
    for session in solution.sessions:
        end = solution.peerings.ends[session.device][int(session.peer)]
        up = end.local is not None and end.local[0] in solution.underlay.up
        if session.far is None and end.ready and up and session.peer not in addresses:
            yield session.device, str(session.peer)


def without_closed(device: Device, config: Config) -> Device:
    """Return a Device with its closed sessions not enabled."""
    closed = closed_peers(config)
    if not closed or device.bgp is None:
        return device
    bgp = device.bgp
    peers = tuple(  # without its group, which would enable it
        p.model_copy(update={**vars(bgp.settings(p)), "active": False, "group": None})
        if closed & {str(p.address), p.group}
        else p
        for p in bgp.peers
    )
    bgp = bgp.model_copy(update={"peers": peers})
    return device.model_copy(update={"bgp": bgp})


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
