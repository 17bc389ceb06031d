"""Switch by switch: inputs -> Device, Node and servers; what another version has made is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from rocefort.design import (
    border,
    breakout,
    lossless,
    management,
    marking,
    ports,
    routing,
    traffic,
)
from rocefort.design.capacity import links_of
from rocefort.design.context import Context
from rocefort.design.inputs import (
    Common,
    DeviceInputs,
    Fields,
    Known,
    Made,
    MadeEnd,
    SwitchInputs,
)
from rocefort.design.links import Joint, LeafLinks
from rocefort.design.scope import Scope
from rocefort.models.device import Device
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_nodes import Leaf, Switch
from rocefort.models.fabric_profiles import Profiles
from rocefort.models.hardware import Family, Hardware
from rocefort.models.network import EVERY, Node, Role
from rocefort.models.saved_form import saved_form


class Named(Protocol):
    """A row of intent that has a name."""

    @property
    def name(self) -> str:
        """Tells it from the others of its list."""
        ...


Row = TypeVar("Row", bound=Named)
T = TypeVar("T")


def sharing_rows(fabric: Fabric, other: Fabric) -> Fabric:
    """A fabric with the very rows of another version where they say the same."""
    return fabric.model_copy(
        update={
            "spines": _shared_rows(fabric.spines, other.spines),
            "leaves": _shared_rows(fabric.leaves, other.leaves),
            "servers": _shared_rows(fabric.servers, other.servers),
        }
    )


def _shared_rows(rows: tuple[Row, ...], others: tuple[Row, ...]) -> tuple[Row, ...]:
    known = {row.name: row for row in others}
    return tuple(_same(row, known.get(row.name)) for row in rows)


def _same(one: T, other: T | None) -> T:
    """The other where the two are equal: one object, so what holds it is soon compared."""
    return other if other is not None and one == other else one


def bare_of(fabric: Fabric, known: Known | None) -> Fabric:
    """A fabric without what switches have by themselves or not at all."""
    gone = {"spines": (), "leaves": (), "servers": (), "links": (), "waivers": ()}
    # The profile that it names is an input of its own.
    bare = fabric.model_copy(update={**gone, "profiles": Profiles()})
    return _same(bare, known.common.bare if known else None)


def make(
    context: Context, bare: Fabric, links: Mapping[str, LeafLinks], known: Known | None
) -> Known:
    """Everything of each switch; of the other version what has equal inputs."""
    common = _same(_common(context, bare), known.common if known else None)
    others = known.switches if known else {}
    made = {
        inputs.own.switch.name: _made(inputs, others.get(inputs.own.switch.name))
        for inputs in _inputs(context, common, links, others)
    }
    return Known(context.fabric, common, links, made)


def _common(context: Context, bare: Fabric) -> Common:
    return Common(
        bare=bare,
        lossless=context.lossless,
        ecn_name=context.ecn_chosen.name,
        ecn=context.ecn,
        exits=tuple(exit_ for leaf in context.fabric.leaves for exit_ in leaf.exits),
        spines_differ=context.spines_differ,
        shared=_shared(context),
        static_routes=management.static_routes(context, EVERY),
    )


def _shared(context: Context) -> Fields:
    """Fields that all Devices have alike: they are made once, and noted once."""
    services = context.fabric.services
    context.note(EVERY, "ntp_servers", "services", "ntp")
    return {
        "lldp": True,
        "telnet_off": management.telnet_off(context, EVERY),
        "domains": (lossless.domain(context, EVERY),),
        "ai_ecn": marking.ai_ecn(context, EVERY),
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


def _inputs(
    context: Context, common: Common, links: Mapping[str, LeafLinks], others: Mapping[str, Made]
) -> Iterator[DeviceInputs]:
    """Inputs of each switch, spines first."""
    of_spine: dict[str, list[Joint]] = {spine.name: [] for spine in context.fabric.spines}
    for leaf in links.values():
        for joint in leaf.joints:
            of_spine[joint.spine.switch.name].append(joint)
    facts = _Facts(context, others)
    for _, switch in context.switches():
        hardware, family = facts.of(switch)
        is_leaf = isinstance(switch, Leaf)
        joints = links[switch.name].joints if is_leaf else tuple(of_spine[switch.name])
        servers = tuple(server for _, server in context.servers_of.get(switch.name, ()))
        own = SwitchInputs(common, switch, hardware, family)
        yield DeviceInputs(own, joints, servers)


class _Facts:
    """Hardware and family of switches: the very ones of another version where they are equal."""

    def __init__(self, context: Context, others: Mapping[str, Made]) -> None:
        self._context = context
        used = [made.inputs.own for made in others.values()]
        self._known = {(own.switch.hardware, own.switch.software): own for own in used}
        self._found: dict[tuple[str, str], tuple[Hardware, Family]] = {}

    def of(self, switch: Switch) -> tuple[Hardware, Family]:
        """Facts of a model and a release; each is compared once."""
        key = switch.hardware, switch.software
        if key not in self._found:
            hardware, family = self._context.hardware(switch), self._context.family(switch)
            if other := self._known.get(key):
                hardware, family = _same(hardware, other.hardware), _same(family, other.family)
            self._found[key] = hardware, family
        return self._found[key]


def _made(inputs: DeviceInputs, known: Made | None) -> Made:
    if known is not None and known.inputs == inputs:
        return known
    scope = Scope(inputs, known)
    ends = tuple(_ends(scope))
    return Made(
        inputs=inputs,
        node=_node(scope, ends),
        ends={end.joint.ends(scope.switch)[0].port: end for end in ends},
        servers=tuple(ports.servers(scope)),
        notes=scope.notes,
        lossless_ports=tuple(scope.lossless_ports),
    )


def _ends(scope: Scope) -> Iterator[MadeEnd]:
    for joint in scope.inputs.joints:
        known = scope.made_end(joint)
        yield known or MadeEnd(
            joint,
            scope.shared_port(ports.fabric_port(scope.own, joint)),
            scope.shared_peer(routing.fabric_peer(scope.own, joint)),
        )


def _node(scope: Scope, ends: tuple[MadeEnd, ...]) -> Node:
    switch, is_leaf = scope.switch, isinstance(scope.switch, Leaf)
    return Node(
        device=saved_form(_device(scope, ends), scope.family),
        role=Role.LEAF if is_leaf else Role.SPINE,
        id=switch.id,
        links_per_pair=links_of(scope.fabric, switch) if isinstance(switch, Leaf) else None,
        hardware=scope.hardware,
        software=switch.software,
        family=scope.family,
        rack=switch.rack,
        management=scope.management,
    )


def _device(scope: Scope, ends: tuple[MadeEnd, ...]) -> Device:
    fabric, switch = scope.fabric, scope.switch
    scope.note("", *scope.path, "name")
    interfaces = tuple(ports.interfaces(scope, ends))
    return Device(
        name=switch.name,
        splits=breakout.splits(scope) if switch.breakout else (),
        vlans=tuple(s.vlan for s, _ in scope.gateways if s.vlan),
        bfd=fabric.routing.bfd is not None or any(e.bfd for e in border.exits_of(switch)),
        pfc=lossless.pfc(scope),
        drop_profiles=marking.drop_profiles(scope, interfaces),
        ecn_enabled=marking.enabled(scope),
        interfaces=interfaces,
        bgp=routing.bgp(scope, ends),
        static_routes=(*scope.common.static_routes, *border.static_routes(scope)),
        prefix_lists=(routing.announced(scope), *border.prefix_lists(scope)),
        route_policies=(routing.export_policy(switch), *border.route_policies(switch)),
        filters=traffic.filters(scope),
        **scope.common.shared,
    )
