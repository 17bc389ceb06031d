"""Derive exits of border leaves: ports, peers, policies, and entries in every switch's lists.

Growth changes no index. An index follows from the permanent ids of the exit and of the accepted
prefix. That of a segment is its VLAN, and the default route has one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from rocefort.design.derive import lossless, transceivers
from rocefort.design.derive.context import Context
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.interface import NO_DOMAIN, Interface
from rocefort.models.device.routing import (
    DEFAULT_ROUTE,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    StaticRoute,
)
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import MOST_ACCEPTED, ExitIntent, Leaf, SegmentIntent, Switch
from rocefort.models.network.exits import Exit, PrefixRange

# Above the indexes of pools and VLANs, in a leaf's and in a spine's list.
DEFAULT_INDEX, FIRST_ACCEPTED = 5000, 10000
NOTHING = PrefixEntry(
    index=DEFAULT_INDEX, action="deny", prefix=DEFAULT_ROUTE, greater_equal=0, less_equal=32
)


def exits_of(switch: Switch) -> tuple[ExitIntent, ...]:
    """Exits of a switch; only leaves have exits."""
    return switch.exits if isinstance(switch, Leaf) else ()


def announced_segments(fabric: Fabric, exit_: ExitIntent) -> tuple[SegmentIntent, ...]:
    """Segments whose whole prefix an exit announces."""
    if exit_.asn is None:
        return ()
    return tuple(
        segment
        for segment in fabric.segments
        if segment.vlan and (exit_.announces is None or segment.name in exit_.announces)
    )


def policy_name(exit_: ExitIntent, direction: str) -> str:
    """Name of the prefix list and the route-policy of one direction, IN or OUT."""
    return f"EXIT-{exit_.name}-{direction}"


def exits(context: Context) -> Iterator[Exit]:
    """Yield all exits, in the form for rules."""
    for leaf in context.fabric.leaves:
        for exit_ in leaf.exits:
            yield Exit(
                name=exit_.name,
                leaf=leaf.name,
                port=exit_.port,
                address=exit_.address,
                peer=exit_.peer,
                asn=exit_.asn,
                default=exit_.default,
                accepts=tuple(
                    PrefixRange(prefix=row.prefix, longest=row.longest or row.prefix.prefixlen)
                    for row in exit_.accepts
                ),
                announces=tuple(s.prefix for s in announced_segments(context.fabric, exit_)),
                lossless=exit_.lossless,
                cable_m=exit_.cable_m,
                medium=exit_.cable.medium if exit_.cable else None,
            )


def ports(scope: Scope) -> Iterator[Interface]:
    """Yield ports to the outside; a port that is not lossless has no PFC and no priority map.

    Otherwise packets from outside could enter the lossless queue by their DSCP, and a pause from
    outside could stop the fabric.
    """
    for index, exit_ in enumerate(exits_of(scope.switch)):
        path = (*scope.path, "exits", index)
        scope.note(f"interfaces[{exit_.port}]", *path)
        transceivers.note_cable(scope, exit_.port, exit_.cable, (*path, "cable"))
        roce_fields: dict[str, object] = {"domain": NO_DOMAIN}
        if exit_.lossless:
            lossless.note_port(scope, exit_.port)
            roce_fields = {"domain": scope.lossless.profile.domain}
            roce_fields.update(lossless.port(scope, exit_.port))
        yield Interface.model_validate(
            {
                "name": exit_.port,
                "description": exit_.description or f"exit {exit_.name}",
                "routed": True,
                "addresses": (exit_.address,),
                "mtu": exit_.mtu or scope.fabric.mtu,
                **transceivers.port_fields(scope, exit_.port, exit_.cable),
                **roce_fields,
            }
        )


def peers(scope: Scope) -> Iterator[BgpPeer]:
    """Yield external BGP peers, each with a policy in both directions."""
    for index, exit_ in enumerate(exits_of(scope.switch)):
        if exit_.asn is None:
            continue
        scope.note(f"bgp.peers[{exit_.peer}]", *scope.path, "exits", index)
        yield BgpPeer(
            address=exit_.peer,
            asn=exit_.asn,
            description=exit_.description or f"exit {exit_.name}",
            bfd_enabled=exit_.bfd is not None,
            bfd=exit_.bfd,
            password=exit_.authentication.stated if exit_.authentication else None,
            active=True,
            import_policy=policy_name(exit_, "IN"),
            export_policy=policy_name(exit_, "OUT"),
        )


def _originated(scope: Scope) -> dict[IPv4Network, None]:
    """Whole segments that a border leaf originates; those on its gateways need no route."""
    exits_here = exits_of(scope.switch)
    announced = (s for exit_ in exits_here for s in announced_segments(scope.fabric, exit_))
    connected = {gateway.network for _, gateway in scope.gateways} if exits_here else ()
    return {s.prefix: None for s in announced if s.prefix not in connected}


def networks(scope: Scope) -> tuple[IPv4Network, ...]:
    """Prefixes that a border leaf originates besides its own: whole segments, static default."""
    static = any(exit_.default == "static" for exit_ in exits_of(scope.switch))
    return (*_originated(scope), *((DEFAULT_ROUTE,) if static else ()))


def static_routes(scope: Scope) -> Iterator[StaticRoute]:
    """Yield static routes of announced segments; packets to unused addresses are dropped here."""
    if not exits_of(scope.switch):
        return
    scope.note("static_routes", *scope.path, "exits")
    for prefix in _originated(scope):
        yield StaticRoute(prefix=prefix, description="announced outside")
    for exit_ in exits_of(scope.switch):
        if exit_.default == "static":
            yield StaticRoute(
                prefix=DEFAULT_ROUTE, next_hop=exit_.peer, description=f"exit {exit_.name}"
            )


def passed_on(scope: Scope) -> Iterator[PrefixEntry]:
    """Yield prefixes from outside that a switch announces inside the fabric.

    A border leaf announces those of its own exits; a spine those of all exits.
    """
    is_leaf = isinstance(scope.switch, Leaf)
    mine = exits_of(scope.switch) if is_leaf else scope.context.exits
    if any(exit_.default != "none" for exit_ in mine):
        yield PrefixEntry(index=DEFAULT_INDEX, prefix=DEFAULT_ROUTE)
    for exit_ in mine:
        base = FIRST_ACCEPTED + exit_.id * (MOST_ACCEPTED + 1)
        yield from _accepted(exit_, base)


def _accepted(exit_: ExitIntent, base: int) -> Iterator[PrefixEntry]:
    for row in exit_.accepts:
        yield PrefixEntry(
            index=base + row.id,
            prefix=row.prefix,
            greater_equal=row.prefix.prefixlen if row.longest else None,
            less_equal=row.longest,
        )


def prefix_lists(scope: Scope) -> Iterator[PrefixList]:
    """Yield prefix lists of both directions at exits with BGP; without entries they deny all."""
    for exit_ in exits_of(scope.switch):
        if exit_.asn is None:
            continue
        inside = [*_accepted(exit_, FIRST_ACCEPTED)]
        if exit_.default == "accept":
            inside.insert(0, PrefixEntry(index=DEFAULT_INDEX, prefix=DEFAULT_ROUTE))
        outside = [
            PrefixEntry(index=segment.vlan or 0, prefix=segment.prefix)
            for segment in announced_segments(scope.fabric, exit_)
        ]
        yield PrefixList(name=policy_name(exit_, "IN"), entries=tuple(inside or [NOTHING]))
        yield PrefixList(name=policy_name(exit_, "OUT"), entries=tuple(outside or [NOTHING]))


def route_policies(switch: Switch) -> Iterator[RoutePolicy]:
    """Yield the route-policies of each exit with BGP."""
    for exit_ in exits_of(switch):
        for direction in ("IN", "OUT") if exit_.asn else ():
            name = policy_name(exit_, direction)
            yield RoutePolicy(name=name, nodes=(PolicyNode(node=10, match_prefix_list=name),))
