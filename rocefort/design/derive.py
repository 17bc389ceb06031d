"""Fabric -> Network: one Device a switch, links, servers, and where every value came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocefort.design import border, hosts, lossless
from rocefort.design.border_checks import check_border
from rocefort.design.consistency import check_intent
from rocefort.design.context import Context
from rocefort.design.fitting import check_fit
from rocefort.design.inputs import Known
from rocefort.design.links import links_of_leaves
from rocefort.design.load import Catalogue, Loaded, load_catalogue, load_fabric
from rocefort.design.making import bare_of, make, sharing_rows
from rocefort.design.notes import Origin
from rocefort.design.profiles import Library, shipped_profiles
from rocefort.documents.read import Document
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_lossless import Lossless
from rocefort.models.finding import Waiver
from rocefort.models.network import Network, Reserved, Segment, Sources


@dataclass(frozen=True)
class Derived:
    """A Network and the side table of where its values came from."""

    network: Network
    sources: Sources
    fabric: Fabric
    document: Document
    lossless: Lossless  # the profile that the fabric names
    made: Known | None = field(default=None, repr=False, compare=False)  # for another version


def derive(name: Path) -> Derived:
    """Read a fabric and derive its Network; raises BadInput stage by stage."""
    return derive_loaded(load_fabric(name), load_catalogue())


def derive_loaded(
    loaded: Loaded,
    catalogue: Catalogue,
    profiles: Library | None = None,
    known: Derived | None = None,
) -> Derived:
    """Derive the Network of a loaded fabric; raises BadInput where it contradicts itself.

    profiles: those that the fabric may name beside its own; by default those that ship. known:
    another version, of which all is taken that this one would make the same.
    """
    other = known.made if known else None
    if other:
        loaded = replace(loaded, fabric=sharing_rows(loaded.fabric, other.fabric))
    context = Context(loaded, catalogue, shipped=profiles or shipped_profiles())
    check_intent(context)
    check_border(context)
    bare = bare_of(loaded.fabric, other)
    links = links_of_leaves(context, bare, other.links if other else {})
    check_fit(context, [joint for leaf in links.values() for joint in leaf.joints])
    made = make(context, bare, links, other)
    network = _network(context, made)
    return Derived(network, context.sources, loaded.fabric, loaded.document, context.lossless, made)


def _network(context: Context, made: Known) -> Network:
    fabric = context.fabric
    for switch in made.switches.values():
        context.notes[switch.node.name] = switch.notes
    servers = {server.name: server for m in made.switches.values() for server in m.servers}
    _note_shared(context, made)
    return Network(
        name=fabric.fabric,
        origin="fabric",
        nodes=tuple(made.switches[switch.name].node for _, switch in context.switches()),
        links=tuple(link for leaf in made.links.values() for link in leaf.links),
        servers=tuple(servers[server.name] for server in fabric.servers),
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


def _note_shared(context: Context, made: Known) -> None:
    """Remember where servers stand, and what all lossless ports say alike: both once."""
    for server in context.fabric.servers:
        context.notes[server.name] = {"": (Origin.FABRIC, ("servers", server.name, "name"))}
    places = dict(lossless.port_places(context))
    for switch in made.switches.values():
        context.ports.update(dict.fromkeys(switch.lossless_ports, places))


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
