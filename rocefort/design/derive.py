"""Fabric -> Network: one Device a switch, links, servers, and where every value came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.design import lossless, management, ports, routing
from rocefort.design.consistency import check_intent
from rocefort.design.context import Context
from rocefort.design.fitting import check_fit
from rocefort.design.links import Joint, joints
from rocefort.design.load import Catalogue, Loaded, load_catalogue, load_fabric
from rocefort.documents.read import Document, YamlPath
from rocefort.models.device import Device
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_nodes import Leaf, Switch
from rocefort.models.finding import Waiver
from rocefort.models.network import Network, Node, Reserved, Role, Segment, Sources
from rocefort.models.saved_form import saved_form


@dataclass(frozen=True)
class Derived:
    """A Network and the side table of where its values came from."""

    network: Network
    sources: Sources
    fabric: Fabric
    document: Document


def derive(name: Path) -> Derived:
    """Read a fabric and derive its Network; raises BadInput stage by stage."""
    return derive_loaded(load_fabric(name), load_catalogue())


def derive_loaded(loaded: Loaded, catalogue: Catalogue) -> Derived:
    """Derive the Network of a loaded fabric; raises BadInput where it contradicts itself."""
    context = Context(loaded, catalogue)
    check_intent(context)
    found = tuple(joints(context))
    check_fit(context, found)
    network = _network(context, found)
    return Derived(network, Sources(context.table), loaded.fabric, loaded.document)


def _network(context: Context, found: Sequence[Joint]) -> Network:
    fabric = context.fabric
    of_switch: dict[str, list[Joint]] = defaultdict(list)
    for joint in found:
        of_switch[joint.spine.switch.name].append(joint)
        of_switch[joint.leaf.switch.name].append(joint)
    return Network(
        name=fabric.fabric,
        origin="fabric",
        nodes=tuple(_node(context, p, s, of_switch[s.name]) for p, s in context.switches()),
        links=tuple(joint.link for joint in found),
        servers=tuple(ports.servers(context)),
        segments=tuple(_segments(context)),
        lossless=lossless.intent(context),
        spines=len(fabric.spines),
        reserved=Reserved(spines=fabric.capacity.spines, leaves=fabric.capacity.leaves),
        oversubscription=fabric.policy.oversubscription,
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


def _node(context: Context, path: YamlPath, switch: Switch, found: Sequence[Joint]) -> Node:
    family = context.family(switch)
    return Node(
        device=saved_form(_device(context, path, switch, found), family),
        role=Role.LEAF if isinstance(switch, Leaf) else Role.SPINE,
        id=switch.id,
        hardware=context.hardware(switch),
        software=switch.software,
        family=family,
        rack=switch.rack,
        management=context.management(switch),
    )


def _device(context: Context, path: YamlPath, switch: Switch, found: Sequence[Joint]) -> Device:
    fabric, name = context.fabric, switch.name
    context.note(name, "", *path, "name")
    context.note(name, "ntp_servers", "services", "ntp")
    return Device(
        name=name,
        vlans=tuple(s.vlan for s, _ in context.gateways(switch) if s.vlan),
        lldp=True,
        bfd=fabric.routing.bfd is not None,
        domains=(lossless.domain(context, name),),
        pfc=lossless.pfc(context, switch),
        ai_ecn=lossless.ai_ecn(context, name),
        interfaces=tuple(ports.interfaces(context, path, switch, found)),
        bgp=routing.bgp(context, path, switch, found),
        prefix_lists=(routing.announced(context, switch),),
        route_policies=(routing.export_policy(switch),),
        ntp_servers=fabric.services.ntp,
        users=management.users(context, name),
        ssh=management.ssh(context, name),
        netconf=management.netconf(context, name),
        acls=management.acls(context, name),
        vty=(management.vty(context, name),),
        syslog=management.syslog(context, name),
        snmp=management.snmp(context, name),
    )
