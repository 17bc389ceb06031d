"""Derive each switch of a fabric: Device, Node and servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rocefort.design.derive import (
    bgp,
    breakout,
    ecn,
    exits,
    lossless,
    management,
    packet_filters,
    ports,
)
from rocefort.design.derive.check_capacity import links_of
from rocefort.design.derive.context import Context
from rocefort.design.derive.links import LeafSpineLink
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.defaults import without_defaults
from rocefort.models.device.device import Device
from rocefort.models.device.routing import StaticRoute
from rocefort.models.fabric.nodes import Leaf
from rocefort.models.network.network import EVERY, Node, Server, SwitchRole

Fields = Mapping[str, object]  # of a model


def switches(
    context: Context, joints: Sequence[LeafSpineLink]
) -> Iterator[tuple[Node, tuple[Server, ...]]]:
    """Yield every switch with its servers, spines first."""
    shared, static_routes = _shared(context), management.static_routes(context, EVERY)
    for scope in _scopes(context, joints):
        yield _node(scope, shared, static_routes), tuple(ports.servers(scope))


def _scopes(context: Context, joints: Sequence[LeafSpineLink]) -> Iterator[Scope]:
    of_switch: dict[str, list[LeafSpineLink]] = {
        switch.name: [] for _, switch in context.switches()
    }
    for joint in joints:
        of_switch[joint.spine.switch.name].append(joint)
        of_switch[joint.leaf.switch.name].append(joint)
    for path, switch in context.switches():
        servers = context.servers_of.get(switch.name, ())
        yield Scope(context, switch, path, of_switch[switch.name], servers)


def _shared(context: Context) -> Fields:
    """Return the fields that are equal in all Devices; they are built and noted once."""
    services = context.fabric.services
    context.note(EVERY, "ntp_servers", "services", "ntp")
    return {
        "lldp": True,
        "telnet_off": management.telnet_off(context, EVERY),
        "domains": (lossless.domain(context, EVERY),),
        "ai_ecn": ecn.ai_ecn(context, EVERY),
        "vrfs": management.vrfs(context, EVERY),
        "ntp_servers": services.ntp,
        "ntp_vrf": context.fabric.management.vrf if services.ntp else None,
        "user_groups": management.user_groups(context, EVERY),
        "users": management.users(context, EVERY),
        "ssh": management.ssh(context, EVERY),
        "netconf": management.netconf(context, EVERY),
        "acls": management.acls(context, EVERY),
        "vty": (management.vty(context, EVERY),),
        "syslog": management.syslog(context, EVERY),
        "snmp": management.snmp(context, EVERY),
        "telemetry": management.telemetry(context, EVERY),
    }


def _node(scope: Scope, shared: Fields, static_routes: Sequence[StaticRoute]) -> Node:
    switch, is_leaf = scope.switch, isinstance(scope.switch, Leaf)
    return Node(
        device=without_defaults(_device(scope, shared, static_routes), scope.family),
        role=SwitchRole.LEAF if is_leaf else SwitchRole.SPINE,
        id=switch.id,
        links_per_pair=links_of(scope.fabric, switch) if isinstance(switch, Leaf) else None,
        hardware=scope.hardware,
        software=switch.software,
        family=scope.family,
        rack=switch.rack,
        management=scope.management,
    )


def _device(scope: Scope, shared: Fields, static_routes: Sequence[StaticRoute]) -> Device:
    fabric, switch = scope.fabric, scope.switch
    scope.note("", *scope.path, "name")
    interfaces = tuple(ports.interfaces(scope))
    return Device(
        name=switch.name,
        splits=breakout.splits(scope) if switch.breakout else (),
        vlans=tuple(s.vlan for s, _ in scope.gateways if s.vlan),
        bfd=fabric.routing.bfd is not None or any(e.bfd for e in exits.exits_of(switch)),
        pfc=lossless.pfc(scope),
        drop_profiles=ecn.drop_profiles(scope, interfaces),
        ecn_enabled=ecn.enabled(scope),
        interfaces=interfaces,
        bgp=bgp.bgp(scope),
        static_routes=(*static_routes, *exits.static_routes(scope)),
        prefix_lists=(bgp.announced_prefixes(scope), *exits.prefix_lists(scope)),
        route_policies=(bgp.export_policy(switch), *exits.route_policies(switch)),
        filters=packet_filters.filters(scope),
        **shared,
    )
