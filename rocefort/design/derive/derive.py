"""Derive a Network from a Fabric: Devices, links, servers, and the source of every value."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.design.derive import exits, lossless, nics
from rocefort.design.derive.check_consistency import check_intent
from rocefort.design.derive.check_exits import check_border
from rocefort.design.derive.check_overlaps import check_fit
from rocefort.design.derive.context import Context
from rocefort.design.derive.links import LeafSpineLink, joints_of
from rocefort.design.derive.switches import switches
from rocefort.design.load.load import (
    Catalogue,
    LoadedFabric,
    load_catalogue,
    load_fabric,
)
from rocefort.design.load.profiles import profiles_of
from rocefort.documents.read import Document
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.lossless import Lossless
from rocefort.models.finding import Waiver
from rocefort.models.network.network import Network, Reserved, Segment, Sources
from rocefort.progress import Step
from rocefort.site import SHIPPED, Site

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class DerivedNetwork:
    """Network with the side table of the sources of its values."""

    network: Network
    sources: Sources
    fabric: Fabric
    document: Document
    lossless: Lossless  # the fabric's profile
    site: Site = SHIPPED


def derive(name: Path, site: Site | None = None) -> DerivedNetwork:
    """Read a fabric and derive its Network; raises BadInput stage by stage.

    site: as in `load_fabric`.
    """
    return derive_loaded(load_fabric(name, site))


def derive_loaded(loaded: LoadedFabric, catalogue: Catalogue | None = None) -> DerivedNetwork:
    """Derive the Network of a loaded fabric; raises BadInput with its contradictions.

    catalogue: hardware and families; by default those of the fabric's site.
    """
    with Step("derive"):
        site = loaded.site
        context = Context(loaded, catalogue or load_catalogue(site), profiles_of(site))
        check_intent(context)
        check_border(context)
        joints = tuple(joints_of(context))
        check_fit(context, joints)
        network = _network(context, joints)
    LOG.info("derived %s: %s switches", loaded.fabric.fabric, len(network.nodes))
    return DerivedNetwork(
        network, context.sources, loaded.fabric, loaded.document, context.lossless, loaded.site
    )


def _network(context: Context, joints: Sequence[LeafSpineLink]) -> Network:
    fabric = context.fabric
    pairs = list(switches(context, joints))
    servers = {server.name: server for _, behind in pairs for server in behind}
    for index, server in enumerate(fabric.servers):
        context.note(server.name, "", "servers", index, "name")
    return Network(
        name=fabric.fabric,
        origin="fabric",
        nodes=tuple(node for node, _ in pairs),
        links=tuple(joint.link for joint in joints),
        servers=tuple(servers[server.name] for server in fabric.servers),
        segments=tuple(_segments(context)),
        exits=tuple(exits.exits(context)),
        lossless=lossless.intent(context),
        hosts=nics.hosts(context),
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
