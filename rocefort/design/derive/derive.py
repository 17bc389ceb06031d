"""Derive a Network from a Fabric: switches, links, servers, and the source of every value."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from rocefort.base.documents.read import Document, YamlPath, path_text, read_document
from rocefort.base.documents.validate import examine
from rocefort.base.errors import BadInput, NameFault, Problem
from rocefort.base.progress import Step
from rocefort.base.repository import SHIPPED, Site, site_of
from rocefort.design.derive import bgp, exits, hosts, lossless, management, packet_filters, ports
from rocefort.design.derive.check_capacity import links_of
from rocefort.design.derive.check_conflicts import border_problems, fit_problems
from rocefort.design.derive.check_consistency import allocation_problems, value_problems
from rocefort.design.derive.context import Context
from rocefort.design.derive.switch_context import LeafSpineLink, Scope, joints_of
from rocefort.design.load.documents import (
    Catalogue,
    LoadedFabric,
    fabric_of,
    find_fabric,
    load_catalogue,
)
from rocefort.design.load.profiles import Library, LosslessUse, library_of, profiles_of
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.device.routing import StaticRoute
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.lossless import Lossless
from rocefort.models.fabric.topology import Leaf, WanPath
from rocefort.models.finding import Waiver
from rocefort.models.network.network import (
    EVERY,
    Network,
    Node,
    Reserved,
    Segment,
    Server,
    Sources,
    SwitchRole,
)

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
        **lossless.shared_fields(context, EVERY, context.lossless),
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
    if scope.context.has_own_lossless(switch):
        own = lossless.shared_fields(scope.context, switch.name, scope.lossless)
        shared = {**shared, **own}
    return Device(
        name=switch.name,
        splits=ports.splits(scope) if switch.breakout else (),
        vlans=tuple(s.vlan for s, _ in scope.gateways if s.vlan),
        bfd=fabric.routing.bfd is not None or any(e.bfd for e in exits.exits_of(switch)),
        pfc=lossless.pfc(scope),
        drop_profiles=lossless.drop_profiles(scope, interfaces),
        ecn_enabled=lossless.enabled(scope),
        interfaces=interfaces,
        static_routes=(*static_routes, *exits.static_routes(scope)),
        **(_routing(scope) if fabric.bench is None else {}),
        filters=packet_filters.filters(scope),
        **shared,
    )


def _routing(scope: Scope) -> dict[str, Any]:
    """Return BGP with its lists and policies; the switch of a bench has none."""
    return {
        "bgp": bgp.bgp(scope),
        "prefix_lists": (bgp.announced_prefixes(scope), *exits.prefix_lists(scope)),
        "route_policies": (bgp.export_policy(scope.switch), *exits.route_policies(scope.switch)),
    }


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

    @property
    def profiles(self) -> Library:
        """Profiles that the fabric can name: those of its site, and its own."""
        own = library_of(self.fabric.profiles, self.document, ("profiles",))
        return profiles_of(self.site).joined(own)

    def lossless_of(self, switch: str) -> LosslessUse:
        """Lossless profile of a switch; raises LookupError for a switch that is not there."""
        return self._lossless[switch]

    @cached_property
    def _lossless(self) -> Mapping[str, LosslessUse]:
        fabric, library = self.fabric, self.profiles
        switches = (*fabric.spines, *fabric.leaves)
        own = {one.name: library.lossless(fabric.lossless_of(one)) for one in switches}
        if fabric.bench is None or fabric.bench.switch is not None:
            return own
        # Back to back, a host is cabled to the other one, and both have the fabric's profile.
        return {server.name: library.lossless(fabric.lossless) for server in fabric.servers}


def derive(name: Path, site: Site | None = None) -> DerivedNetwork:
    """Read a fabric and derive its Network; raises BadInput with all its problems.

    site: as in `load_fabric`.
    """
    return derive_document(read_document(find_fabric(name)), site)


def derive_document(document: Document, site: Site | None = None) -> DerivedNetwork:
    """Derive the Network of a document; raises BadInput with the problems of all files.

    A value of the wrong type does not hide contradictions of other values.
    """
    of_file = site or site_of(Path(document.file)) or SHIPPED
    examined = examine(Fabric, document)
    copies = [fabric_of(fabric, copy, of_file) for fabric, copy in examined.copies]
    if not examined.problems:
        return derive_loaded(copies[0])
    problems = list(examined.problems)
    try:
        contexts = [_context(loaded, load_catalogue(of_file)) for loaded in copies]
    except BadInput as error:  # of another file
        problems += error.problems
    else:
        problems += _independent(contexts, examined.replaced)
    raise BadInput(
        problems=sorted(problems, key=lambda p: (p.file != document.file, p.file, p.line))
    )


def derive_loaded(loaded: LoadedFabric, catalogue: Catalogue | None = None) -> DerivedNetwork:
    """Derive the Network of a loaded fabric; raises BadInput with its contradictions.

    catalogue: hardware and families; by default those of the fabric's site.
    """
    with Step("derive"):
        context = _context(loaded, catalogue or load_catalogue(loaded.site))
        problems, joints = _contradictions(context)
        if problems:
            raise BadInput(problems=problems)
        network = _network(context, joints)
    LOG.info("derived %s: %s switches", loaded.fabric.fabric, len(network.nodes))
    own = context.lossless.profile
    return DerivedNetwork(
        network, context.sources, loaded.fabric, loaded.document, own, loaded.site
    )


def _contradictions(context: Context) -> tuple[list[Problem], tuple[LeafSpineLink, ...]]:
    """Return problems of a fabric in itself and with its hardware and profiles, and its links.

    Ports and addresses are allocated, and then compared, if nothing contradicts the allocation.
    """
    problems = [*allocation_problems(context), *border_problems(context)]
    joints: tuple[LeafSpineLink, ...] = ()
    if not problems:
        joints = tuple(joints_of(context))
        problems = list(fit_problems(context, joints))
    problems = list(dict.fromkeys([*problems, *value_problems(context)]))
    if any(problem.fault is NameFault.TWICE for problem in problems):  # one of the two is unknown
        problems = [problem for problem in problems if problem.fault is not NameFault.UNKNOWN]
    return sorted(problems, key=lambda problem: problem.line), joints


def _independent(contexts: Sequence[Context], replaced: Iterable[YamlPath]) -> Iterator[Problem]:
    """Yield problems of both copies of a fabric that do not follow from replaced values."""
    first, *others = [_contradictions(context)[0] for context in contexts] or [[]]
    common = set(first).intersection(*others)
    above = [path_text(path) for path in replaced]
    nameless = any(len(path) == 1 or path[-1] == "name" for path in replaced)
    for problem in first:
        below = any(_is_below(problem.subject, one) for one in above)
        # An unknown name may be the replaced one.
        unknown = nameless and problem.fault is NameFault.UNKNOWN
        if problem in common and not below and not unknown:
            yield problem


def _is_below(subject: str, above: str) -> bool:
    return subject == above or subject.startswith((f"{above}.", f"{above}["))


def _context(loaded: LoadedFabric, catalogue: Catalogue) -> Context:
    """Return the context of a fabric; raises BadInput with all problems of the other files."""
    problems: list[Problem] = []
    for model in dict.fromkeys(s.hardware for s in (*loaded.fabric.spines, *loaded.fabric.leaves)):
        try:
            catalogue.hardware.get(model)
        except BadInput as error:
            problems += error.problems
    try:
        profiles = profiles_of(loaded.site)
    except BadInput as error:
        raise BadInput(problems=[*problems, *error.problems]) from None
    if problems:
        raise BadInput(problems=problems)
    return Context(loaded, catalogue, profiles)


def _network(context: Context, joints: Sequence[LeafSpineLink]) -> Network:
    fabric = context.fabric
    pairs = list(switches(context, joints))
    behind = chain.from_iterable(servers for _, servers in pairs)
    servers = {server.name: server for server in (*behind, *ports.hosts_back_to_back(context))}
    for index, server in enumerate(fabric.servers):
        context.note(server.name, "", "servers", index, "name")
    return Network(
        name=fabric.fabric,
        origin="fabric",
        nodes=tuple(node for node, _ in pairs),
        links=tuple(joint.link for joint in joints),
        servers=tuple(servers[server.name] for server in fabric.servers),
        beamlines=tuple(sorted(fabric.beamlines, key=lambda beamline: beamline.id)),
        segments=tuple(_segments(context)),
        wan=_wan(context),
        exits=tuple(exits.exits(context)),
        lossless=lossless.intent(context, "", context.lossless),
        own_lossless=lossless.own_intents(context),
        hosts=hosts.hosts(context),
        spines=len(fabric.spines),
        reserved=Reserved(
            spines=fabric.capacity.spines,
            leaves=fabric.capacity.leaves,
            links_per_pair=fabric.capacity.links_per_pair,
        )
        if fabric.bench is None
        else None,
        oversubscription=fabric.policy.oversubscription,
        policy=fabric.security.policy,
        waivers=_waivers(context),
    )


def _waivers(context: Context) -> tuple[Waiver, ...]:
    for index, _ in enumerate(context.fabric.waivers):
        context.note("", f"waivers[{index}]", "waivers", index)
    return context.fabric.waivers


def _wan(context: Context) -> tuple[WanPath, ...]:
    for index, _ in enumerate(context.fabric.wan):
        context.note("", f"wan[{index}]", "wan", index)
    return context.fabric.wan


def _segments(context: Context) -> Iterator[Segment]:
    for leaf in context.fabric.leaves:
        for segment, gateway in context.gateways(leaf):
            yield Segment(
                name=segment.name, leaf=leaf.name, vlan=segment.vlan or 0, gateway=gateway
            )
