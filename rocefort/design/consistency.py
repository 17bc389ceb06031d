"""Whether a Fabric is consistent with itself and with the hardware facts, before derivation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network
from itertools import chain, combinations

from rocefort.design.load import Catalogue, Loaded
from rocefort.documents.nearest import nearest
from rocefort.documents.read import YamlPath
from rocefort.errors import BadInput, Problem
from rocefort.models.fabric import Leaf, ServerIntent, Switch
from rocefort.models.hardware import Hardware, SyntaxFamily, port_speed_gbps

Placed = tuple[YamlPath, Switch]


def check_intent(loaded: Loaded, catalogue: Catalogue) -> None:
    """Raise BadInput with every inconsistency of this stage."""
    parts = (_switches, _timers, _pools, _segments, _servers, _links, _rollout)
    problems = list(chain.from_iterable(part(loaded, catalogue) for part in parts))
    if problems:
        raise BadInput(problems=sorted(problems, key=lambda problem: problem.line))


def switches(loaded: Loaded) -> Iterator[Placed]:
    """All switches with their YAML paths."""
    fabric = loaded.fabric
    for group, members in (("spines", fabric.spines), ("leaves", fabric.leaves)):
        for index, switch in enumerate(members):
            yield (group, index), switch


def _switches(loaded: Loaded, catalogue: Catalogue) -> Iterator[Problem]:
    capacity = loaded.fabric.capacity
    yield from _repeated(loaded, [(path, s.name) for path, s in switches(loaded)], "name", "name")
    for group, limit in (("spines", capacity.spines), ("leaves", capacity.leaves)):
        members = [(path, s) for path, s in switches(loaded) if path[0] == group]
        yield from _repeated(loaded, [(p, str(s.id)) for p, s in members], "id", "id")
        for path, switch in members:
            if switch.id > limit:
                yield loaded.problem(
                    (*path, "id"),
                    f"id {switch.id} is outside the reserved capacity of {limit} {group}",
                    f"use a free id up to {limit}; raising capacity.{group} moves addresses",
                )
    for path, switch in switches(loaded):
        yield from _hardware(loaded, catalogue, path, switch)


def _hardware(
    loaded: Loaded, catalogue: Catalogue, path: YamlPath, switch: Switch
) -> Iterator[Problem]:
    hardware = catalogue.hardware.get(switch.hardware)
    if hardware is None:
        yield loaded.problem(
            (*path, "hardware"),
            f"no hardware {switch.hardware!r} in inventory/hardware",
            nearest(switch.hardware, catalogue.hardware),
        )
        return
    if hardware.family_of(switch.software) is None:
        known = ", ".join(f"{r.prefix}.." for r in hardware.releases)
        yield loaded.problem(
            (*path, "software"),
            f"no syntax family known for {switch.hardware} with {switch.software!r}",
            f"its releases: {known}",
        )
    needed = loaded.fabric.capacity.spines if isinstance(switch, Leaf) else None
    ports = len(hardware.fabric_port_names())
    needed = needed or loaded.fabric.capacity.leaves
    if ports < needed:
        yield loaded.problem(
            (*path, "hardware"),
            f"{switch.hardware} has {ports} fabric ports, the reserved capacity takes {needed}",
            "choose other hardware or reserve less",
        )


def _repeated(
    loaded: Loaded, items: Iterable[tuple[YamlPath, str]], field: str, word: str
) -> Iterator[Problem]:
    seen: dict[str, YamlPath] = {}
    for path, value in items:
        if value in seen:
            first = loaded.document.at((*seen[value], field)).line
            yield loaded.problem(
                (*path, field),
                f"{word} {value!r} is given twice",
                f"the first is on line {first}",
            )
        seen.setdefault(value, path)


def _timers(loaded: Loaded, catalogue: Catalogue) -> Iterator[Problem]:
    """A family whose unit is unknown cannot be derived from milliseconds."""
    given = loaded.fabric.lossless.deadlock.by_family
    used: dict[SyntaxFamily, Switch] = {}
    for _, switch in switches(loaded):
        hardware = catalogue.hardware.get(switch.hardware)
        family = hardware.family_of(switch.software) if hardware else None
        if family:
            used.setdefault(family, switch)
    for family, switch in used.items():
        facts = catalogue.families[family]
        blind = facts.deadlock_detect_time and not facts.deadlock_interval_ms
        if blind and (family not in given or given[family].detect_time is None):
            yield loaded.problem(
                ("lossless", "deadlock"),
                f"{switch.name} is {family.value}, whose timer unit no source confirms",
                f"give by_family.{family.value}.detect_time and recovery_time as the switch counts",
            )


def _pools(loaded: Loaded, _catalogue: Catalogue) -> Iterator[Problem]:
    fabric = loaded.fabric
    pools: list[tuple[YamlPath, IPv4Network]] = [
        (("pools", "spine_loopbacks"), fabric.pools.spine_loopbacks),
        (("pools", "leaf_loopbacks"), fabric.pools.leaf_loopbacks),
        (("pools", "links"), fabric.pools.links),
    ]
    pools += [(("segments", i, "prefix"), s.prefix) for i, s in enumerate(fabric.segments)]
    for (_, first), (path, second) in combinations(pools, 2):
        if first.overlaps(second):
            yield loaded.problem(path, f"{second} overlaps {first}", "use separate prefixes")
    capacity = fabric.capacity
    links = capacity.spines * capacity.leaves * 2 ** (32 - fabric.pools.link_prefix_length)
    needs = (capacity.spines + 1, capacity.leaves + 1, links)
    for (path, pool), need in zip(pools, needs, strict=False):
        if pool.num_addresses < need:
            yield loaded.problem(
                path,
                f"{pool} has {pool.num_addresses} addresses, the reserved capacity takes {need}",
                "use a larger prefix",
            )


def _segments(loaded: Loaded, _catalogue: Catalogue) -> Iterator[Problem]:
    fabric = loaded.fabric
    named = [(("segments", i), s) for i, s in enumerate(fabric.segments)]
    yield from _repeated(loaded, [(p, s.name) for p, s in named], "name", "name")
    tagged = [(p, str(s.vlan)) for p, s in named if s.vlan]
    yield from _repeated(loaded, tagged, "vlan", "VLAN")
    outside = [s for s in fabric.segments if s.vlan is None]
    if len(outside) != 1:
        yield loaded.problem(
            ("segments",),
            f"{len(outside)} segments without a VLAN",
            "exactly one is the out-of-band management network",
        )
    for path, segment in named:
        parts = 2 ** max(segment.leaf_prefix_length - segment.prefix.prefixlen, 0)
        if segment.vlan and parts < fabric.capacity.leaves:
            yield loaded.problem(
                (*path, "prefix"),
                f"{segment.prefix} gives {parts} leaf prefixes of /{segment.leaf_prefix_length}, "
                f"the reserved capacity takes {fabric.capacity.leaves}",
                "use a larger prefix",
            )
    gateways = {s.name for s in fabric.segments if s.vlan}
    for index, leaf in enumerate(fabric.leaves):
        for place, name in enumerate(leaf.segments):
            if name not in gateways:
                yield loaded.problem(
                    ("leaves", index, "segments", place),
                    f"no segment {name!r} with a VLAN",
                    nearest(name, gateways),
                )


def _servers(loaded: Loaded, catalogue: Catalogue) -> Iterator[Problem]:
    fabric = loaded.fabric
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    named = [(("servers", i), s) for i, s in enumerate(fabric.servers)]
    yield from _repeated(loaded, [(p, s.name) for p, s in named], "name", "name")
    used: dict[tuple[str, str], ServerIntent] = {}
    for path, server in named:
        leaf = leaves.get(server.leaf)
        if leaf is None:
            how = nearest(server.leaf, leaves)
            yield loaded.problem((*path, "leaf"), f"no leaf {server.leaf!r}", how)
            continue
        if server.segment not in leaf.segments:
            yield loaded.problem(
                (*path, "segment"),
                f"{leaf.name} has no gateway for segment {server.segment!r}",
                f"add it to the leaf's segments, or use one of: {', '.join(leaf.segments)}",
            )
        other = used.setdefault((server.leaf, server.port), server)
        if other is not server:
            yield loaded.problem(
                (*path, "port"),
                f"{server.leaf} {server.port} is used twice, by {other.name} and {server.name}",
                "give each server a port of its own",
            )
        yield from _server_port(loaded, path, server, catalogue.hardware.get(leaf.hardware))


def _server_port(
    loaded: Loaded, path: YamlPath, server: ServerIntent, hardware: Hardware | None
) -> Iterator[Problem]:
    if hardware is None:
        return
    if server.port not in hardware.port_names():
        yield loaded.problem(
            (*path, "port"),
            f"{hardware.model} has no port {server.port}",
            f"its ports: {', '.join(hardware.ports)}",
        )
    elif server.port in hardware.fabric_port_names():
        yield loaded.problem(
            (*path, "port"),
            f"{server.leaf} {server.port} is reserved for spines",
            f"fabric ports of {hardware.model}: {', '.join(hardware.fabric_ports)}",
        )


def _links(loaded: Loaded, catalogue: Catalogue) -> Iterator[Problem]:
    fabric = loaded.fabric
    known: dict[str, dict[str, Switch]] = {
        "spine": {s.name: s for s in fabric.spines},
        "leaf": {s.name: s for s in fabric.leaves},
    }
    for index, pin in enumerate(fabric.links):
        for role, port in (("spine", pin.spine_port), ("leaf", pin.leaf_port)):
            name = getattr(pin, role)
            switch = known[role].get(name)
            if switch is None:
                how = nearest(name, known[role])
                yield loaded.problem(("links", index, role), f"no {role} {name!r}", how)
                continue
            hardware = catalogue.hardware.get(switch.hardware)
            if port and hardware and port not in hardware.port_names():
                yield loaded.problem(
                    ("links", index, f"{role}_port"),
                    f"{hardware.model} has no port {port}",
                    f"its ports: {', '.join(hardware.ports)}",
                )
        if pin.spine_port and pin.leaf_port:
            yield from _speeds(loaded, index, pin.spine_port, pin.leaf_port)


def _speeds(loaded: Loaded, index: int, spine_port: str, leaf_port: str) -> Iterator[Problem]:
    if port_speed_gbps(spine_port) != port_speed_gbps(leaf_port):
        yield loaded.problem(
            ("links", index, "leaf_port"),
            f"{spine_port} and {leaf_port} differ in speed",
            "join ports of one speed",
        )


def _rollout(loaded: Loaded, _catalogue: Catalogue) -> Iterator[Problem]:
    canary = loaded.fabric.rollout.canary
    leaves = [leaf.name for leaf in loaded.fabric.leaves]
    if canary not in leaves:
        yield loaded.problem(("rollout", "canary"), f"no leaf {canary!r}", nearest(canary, leaves))
