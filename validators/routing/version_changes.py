"""Difference of the answers of one engine about two versions of a network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from rocefort.models.network.network import End, Network, Server
from rocefort.validators.routing.engine import Solution, moved_routes
from rocefort.validators.routing_results import Route, RouteChange, RoutingChange, RoutingState


def change_of(before: RoutingState, after: RoutingState, common: Set[str]) -> RoutingChange:
    """Difference between one engine's answers about two versions; common: switches of both.

    The caller gives them, because a switch that lost its whole BGP process is in no answer.
    """
    return _change(before, after, _moved_routes(before, after, common))


def change_since(
    before: Solution, state: RoutingState, solution: Solution | None, common: Set[str]
) -> RoutingChange:
    """Difference as in `change_of`; solution: source of the state, if it is the embedded engine."""
    if solution is None or solution.state is not state:
        return change_of(before.state, state, common)
    return _change(before.state, state, moved_routes(before, solution, common))


def _change(
    before: RoutingState, after: RoutingState, moved: Iterable[tuple[Route, Route]]
) -> RoutingChange:
    was, now = before.reachability, after.reachability
    servers = was.servers & now.servers if was.lost or now.lost else frozenset()
    lost = (p for p in now.lost_pairs() if servers.issuperset(p) and was.delivers(*p))
    gained = (p for p in was.lost_pairs() if servers.issuperset(p) and now.delivers(*p))
    return RoutingChange(
        engine=after.engine,
        lost=tuple(sorted(lost)),
        gained=tuple(sorted(gained)),
        routes=tuple(
            RouteChange(device=new.device, prefix=new.prefix, was=old.width, now=new.width)
            for old, new in sorted(moved, key=_by_place)
        ),
    )


def common_switches(before: Network, after: Network) -> Set[str]:
    """Switches that both versions have."""
    return before.by_name.keys() & after.by_name.keys()


def _moved_routes(
    before: RoutingState, after: RoutingState, common: Set[str]
) -> Iterator[tuple[Route, Route]]:
    """Routes whose next hops differ; a route that one version lacks has none there."""
    was, now = (
        {(route.device, route.prefix): route.next_hops for route in side.routes}
        for side in (before, after)
    )
    for device, prefix in was.keys() | now.keys():
        old, new = (side.get((device, prefix), ()) for side in (was, now))
        if old != new and device in common:
            yield Route(device, prefix, old), Route(device, prefix, new)


def _by_place(routes: tuple[Route, Route]) -> tuple[str, int, int]:
    route = routes[0]
    return route.device, int(route.prefix.network_address), route.prefix.prefixlen


def with_servers_of(network: Network, other: Network) -> Network:
    """The other version, with the servers and cables of this one if its text has no servers.

    A directory of configurations is then verified for the same pairs as its fabric.
    """
    if other.servers is not None or network.servers is None:
        return other
    ports = {(node.name, i.name) for node in other.nodes for i in node.device.interfaces}
    servers = [s for s in network.servers or () if all(_has(ports, end) for end in _ends(s))]
    links = [x for x in network.links or () if _has(ports, x.a) and _has(ports, x.b)]
    leaves = {server.port.device for server in servers}
    segments = [segment for segment in network.segments or () if segment.leaf in leaves]
    update: dict[str, object] = {"servers": tuple(servers), "segments": tuple(segments)}
    if network.origin == "fabric":
        update |= {"links": tuple(links), "origin": "fabric"}
    return other.model_copy(update=update)


def _has(ports: set[tuple[str, str]], end: End) -> bool:
    return (end.device, end.interface) in ports


def _ends(server: Server) -> Iterable[End]:
    return (server.port, *server.members)
