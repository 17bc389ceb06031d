"""Fabric -> Network: one Device a switch, links, servers, and where every value came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.design import (
    border,
    breakout,
    hosts,
    lossless,
    management,
    marking,
    ports,
    routing,
    traffic,
)
from rocefort.design.border_checks import check_border
from rocefort.design.capacity import links_of
from rocefort.design.consistency import check_intent
from rocefort.design.context import Context
from rocefort.design.fitting import check_fit
from rocefort.design.links import Joint, joints
from rocefort.design.load import Catalogue, Loaded, load_catalogue, load_fabric
from rocefort.design.profiles import Library, shipped_profiles
from rocefort.documents.read import Document, YamlPath
from rocefort.models.device import Device
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_lossless import Lossless
from rocefort.models.fabric_nodes import Leaf, Switch
from rocefort.models.finding import Waiver
from rocefort.models.network import EVERY, Network, Node, Reserved, Role, Segment, Sources
from rocefort.models.saved_form import saved_form

Fields = Mapping[str, object]  # of a Device


@dataclass(frozen=True)
class Derived:
    """A Network and the side table of where its values came from."""

    network: Network
    sources: Sources
    fabric: Fabric
    document: Document
    lossless: Lossless  # the profile that the fabric names


def derive(name: Path) -> Derived:
    """Read a fabric and derive its Network; raises BadInput stage by stage."""
    return derive_loaded(load_fabric(name), load_catalogue())


def derive_loaded(
    loaded: Loaded,
    catalogue: Catalogue,
    profiles: Library | None = None,
    known: Network | None = None,
) -> Derived:
    """Derive the Network of a loaded fabric; raises BadInput where it contradicts itself.

    profiles: those that the fabric may name beside its own; by default those that ship. known:
    another version, whose ports and peers are taken where this one would make the same.
    """
    devices = {node.name: node.device for node in known.nodes} if known else {}
    context = Context(loaded, catalogue, shipped=profiles or shipped_profiles(), known=devices)
    check_intent(context)
    check_border(context)
    found = tuple(joints(context))
    check_fit(context, found)
    network = _network(context, found)
    return Derived(network, context.sources, loaded.fabric, loaded.document, context.lossless)


def _network(context: Context, found: Sequence[Joint]) -> Network:
    fabric = context.fabric
    of_switch: dict[str, list[Joint]] = defaultdict(list)
    shared = _shared(context)
    for joint in found:
        of_switch[joint.spine.switch.name].append(joint)
        of_switch[joint.leaf.switch.name].append(joint)
    return Network(
        name=fabric.fabric,
        origin="fabric",
        nodes=tuple(_node(context, p, s, of_switch[s.name], shared) for p, s in context.switches()),
        links=tuple(joint.link for joint in found),
        servers=tuple(ports.servers(context)),
        segments=tuple(_segments(context)),
        exits=tuple(border.exits(context)),
        lossless=lossless.intent(context),
        hosts=hosts.hosts(context),
        spines=len(fabric.spines),
        reserved=Reserved(
            spines=fabric.capacity.spines,
            leaves=fabric.capacity.leaves,
            links_per_pair=fabric.capacity.links_per_pair,
        ),
        oversubscription=fabric.policy.oversubscription,
        policy=fabric.security.policy,
        waivers=_waivers(context),
    )


def _waivers(context: Context) -> tuple[Waiver, ...]:
    for index, _ in enumerate(context.fabric.waivers):
        context.note("", f"waivers[{index}]", "waivers", index)
    return context.fabric.waivers


def _segments(context: Context) -> Iterator[Segment]:
    for leaf in context.fabric.leaves:
        for segment, gateway in context.gateways(leaf):
            yield Segment(
                name=segment.name, leaf=leaf.name, vlan=segment.vlan or 0, gateway=gateway
            )


def _node(
    context: Context, path: YamlPath, switch: Switch, found: Sequence[Joint], shared: Fields
) -> Node:
    family = context.family(switch)
    return Node(
        device=saved_form(_device(context, path, switch, found, shared), family),
        role=Role.LEAF if isinstance(switch, Leaf) else Role.SPINE,
        id=switch.id,
        links_per_pair=links_of(context.fabric, switch) if isinstance(switch, Leaf) else None,
        hardware=context.hardware(switch),
        software=switch.software,
        family=family,
        rack=switch.rack,
        management=context.management(switch),
    )


def _shared(context: Context) -> Fields:
    """Fields that all Devices have alike: they are made once, and noted once."""
    services = context.fabric.services
    context.note(EVERY, "ntp_servers", "services", "ntp")
    return {
        "lldp": True,
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


def _device(
    context: Context, path: YamlPath, switch: Switch, found: Sequence[Joint], shared: Fields
) -> Device:
    fabric, name = context.fabric, switch.name
    context.note(name, "", *path, "name")
    interfaces = tuple(ports.interfaces(context, path, switch, found))
    return Device(
        name=name,
        splits=breakout.splits(context, path, switch) if switch.breakout else (),
        vlans=tuple(s.vlan for s, _ in context.gateways(switch) if s.vlan),
        bfd=fabric.routing.bfd is not None or any(e.bfd for e in border.exits_of(switch)),
        pfc=lossless.pfc(context, switch),
        drop_profiles=marking.drop_profiles(context, switch, interfaces),
        ecn_enabled=marking.enabled(context, switch),
        interfaces=interfaces,
        bgp=routing.bgp(context, path, switch, found),
        static_routes=(
            *management.static_routes(context, EVERY),
            *border.static_routes(context, switch),
        ),
        prefix_lists=(
            routing.announced(context, switch),
            *border.prefix_lists(context, switch),
        ),
        route_policies=(routing.export_policy(switch), *border.route_policies(switch)),
        filters=traffic.filters(context, switch),
        **shared,
    )
