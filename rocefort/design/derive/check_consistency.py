"""Check a Fabric for consistency in itself and with the hardware facts, before derivation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import chain, combinations

from rocefort.base.documents.read import YamlPath
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import NameFault, Problem
from rocefort.design.derive.check_beamlines import beamline_problems
from rocefort.design.derive.check_capacity import capacity_problems, check_as_numbers
from rocefort.design.derive.check_profiles import profile_problems
from rocefort.design.derive.context import Context
from rocefort.design.derive.hosts import bond_problems, dual_homed, port_paths
from rocefort.design.derive.lossless import multiples, times_ms
from rocefort.design.derive.packet_filters import policy_problems
from rocefort.design.derive.ports import (
    breakout_problems,
    fabric_port_problems,
    outward_port_problem,
    port_problem,
)
from rocefort.design.load.profiles import LosslessUse, ProfileUse
from rocefort.models.device.interface import xon_at_most_xoff
from rocefort.models.device.management import PREDEFINED_GROUPS
from rocefort.models.fabric.bench import REPLACED
from rocefort.models.fabric.topology import Leaf, ServerIntent, Switch
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.hardware.media import whole_port

USUAL_CNP_DSCP = 48  # CS6, as on HEPS


def allocation_problems(context: Context) -> Iterator[Problem]:
    """Yield inconsistencies that allocation of ports and addresses would meet.

    Rules check the rest, here and in `value_problems`. A check is here, besides a rule,
    for one of three reasons. Derivation or rendering fails without it (TOP003, ADR004 and PFC001
    check the same in texts). No switch takes the lines, and a waiver would allow them (LAG001,
    ECN004, TOP011). It checks the whole reserved capacity, and the rule only the present switches
    (ADR001, ADR002, TOP006).
    """
    of_fabrics = (capacity_problems, check_as_numbers, _pools, _links, beamline_problems)
    of_all = (
        _switches,
        breakout_problems,
        fabric_port_problems,
        profile_problems,
        _segments,
        _servers,
        bond_problems,
    )
    own = of_fabrics if context.fabric.bench is None else (_bench,)
    yield from chain.from_iterable(part(context) for part in (*of_all, *own))


def value_problems(context: Context) -> Iterator[Problem]:
    """Yield inconsistencies of values that no port and no address depends on."""
    parts = (
        _timers,
        _thresholds,
        _classes,
        _scheduling,
        _access,
        _roles,
        policy_problems,
        _wan,
        _rdma,
        _rollout,
        _waivers,
    )
    yield from chain.from_iterable(part(context) for part in parts)


def _bench(context: Context) -> Iterator[Problem]:
    """Yield problems of keys that a bench replaces."""
    document = replace(context.loaded.document, written={})
    for key in REPLACED:
        if (key,) in document.keys:
            what = f"a bench has no {key}, and bench is on line {document.key_at(('bench',)).line}"
            yield document.problem((key,), what, f"remove {key}, or bench", of_key=True)


def _switches(context: Context) -> Iterator[Problem]:
    capacity = context.fabric.capacity
    # Switches and servers are hosts for all tools, identified by name only.
    names: list[tuple[YamlPath, str]] = [(path, s.name) for path, s in context.switches()]
    elsewhere = dual_homed(context)  # bond_problems reports it
    servers = enumerate(context.fabric.servers)
    names += [(("servers", i), s.name) for i, s in servers if i not in elsewhere]
    yield from repeated(context, names, "name", "name")
    for group, limit, retired in (
        ("spines", capacity.spines, capacity.retired_spines),
        ("leaves", capacity.leaves, capacity.retired_leaves),
    ):
        members = [(path, s) for path, s in context.switches() if path[0] == group]
        yield from repeated(context, [(p, str(s.id)) for p, s in members], "id", "id")
        for path, switch in members:
            if switch.id in retired:
                yield context.problem(
                    (*path, "id"),
                    f"id {switch.id} is of a switch that is gone (capacity.retired_{group})",
                    "give it an id that no switch has had",
                )
            if switch.id > limit:
                yield context.problem(
                    (*path, "id"),
                    f"id {switch.id} is outside the reserved capacity of {limit} {group}",
                    f"use a free id up to {limit}; raising capacity.{group} moves addresses",
                )
    rows: list[tuple[YamlPath, str]] = [
        (("racks", index), rack.name) for index, rack in enumerate(context.fabric.racks)
    ]
    yield from repeated(context, rows, "name", "name")
    racks = {switch.rack for _, switch in context.switches() if switch.rack}
    for path, name in rows:
        if name not in racks:
            yield context.unknown((*path, "name"), "rack", name, racks, " with a switch")
    for path, switch in context.switches():
        yield from _hardware(context, path, switch)


def _hardware(context: Context, path: YamlPath, switch: Switch) -> Iterator[Problem]:
    hardware = context.known_hardware(switch)
    if hardware is None:
        yield context.problem(
            (*path, "hardware"),
            f"no hardware {switch.hardware!r} in inventory/hardware",
            nearest(switch.hardware, context.catalogue.hardware),
        )
        return
    if hardware.family_of(switch.software) is None:
        yield context.problem(
            (*path, "software"),
            f"{switch.hardware} has no release {switch.software!r}",
            releases_of(hardware),
        )


def releases_of(hardware: Hardware) -> str:
    """Return the fix of a wrong release: how the releases of a model begin."""
    begins = " or ".join(release.prefix for release in hardware.releases)
    return f"write one of its releases, which begin with {begins}"


def repeated(
    owner: Context | ProfileUse, items: Iterable[tuple[YamlPath, str]], field: str, word: str
) -> Iterator[Problem]:
    """Yield problems of items with the `field` of an earlier item; `word`: name of the field."""
    seen: dict[str, YamlPath] = {}
    for path, value in items:
        if value in seen:
            first = owner.at((*seen[value], field)).line
            problem = owner.problem(
                (*path, field),
                f"{word} {value!r} is given twice",
                f"write another one: the first is on line {first}",
            )
            yield replace(problem, fault=NameFault.TWICE if word == "name" else None)
        seen.setdefault(value, path)


def _timers(context: Context) -> Iterator[Problem]:
    """Yield problems of deadlock timers in a unit that a family in use does not have."""
    for profile, switches in context.lossless_profiles.items():
        used: dict[str, Switch] = {}
        for switch in switches:
            hardware = context.known_hardware(switch)
            family = hardware.family_of(switch.software) if hardware else None
            if family:
                used.setdefault(family, switch)
        for switch in used.values():
            use = context.lossless_named(profile)
            yield from _family_timers(use, context.family(switch), switch)


def _family_timers(use: LosslessUse, family: Family, switch: Switch) -> Iterator[Problem]:
    deadlock, name = use.profile.deadlock, family.name
    given = deadlock.of_family(family.name)
    counted = (given.detect_time, given.recovery_time) if given else (None, None)
    path = ("deadlock", *(("by_family", name) if given else ()))
    profile = use.use
    if family.deadlock_detect_time is None:
        if counted != (None, None):
            how = "give detect_ms and recovery_ms"
            yield profile.problem(path, f"{name} takes milliseconds, not multiples", how)
    elif None in counted and counted != (None, None):
        how = f"give by_family.{name}.detect_time and recovery_time"
        yield profile.problem(path, f"one of two multiples is given for {name}", how)
    elif None in counted and family.deadlock_interval_ms is None:
        yield profile.problem(
            path,
            f"{switch.name} is {name}, whose timer unit no source confirms",
            f"give by_family.{name}.detect_time and recovery_time as the switch counts",
        )
    elif multiples(deadlock, family) is None:
        detect_ms, recovery_ms = times_ms(deadlock, family)
        yield profile.problem(
            path,
            f"{name} cannot express {detect_ms} and {recovery_ms} ms: it counts intervals of "
            f"{family.deadlock_intervals_ms} ms",
            f"give times that are multiples of one of them, here or in by_family.{name}",
        )


def _thresholds(context: Context) -> Iterator[Problem]:
    """Yield the problem of an xon above xoff: most switches take xon as an offset below xoff."""
    for use in _lossless_uses(context):
        lossless = use.profile
        if not xon_at_most_xoff(lossless.xon_kbytes, lossless.xoff_kbytes):
            yield use.use.problem(
                ("xon_kbytes",),
                f"xon {lossless.xon_kbytes} kbytes is above xoff {lossless.xoff_kbytes} kbytes",
                f"write less than {lossless.xoff_kbytes}: pauses end two frames or more below xoff",
            )


def _classes(context: Context) -> Iterator[Problem]:
    """Yield the problem of one DSCP for RoCE and CNP: a switch puts a DSCP into one queue."""
    for use in _lossless_uses(context):
        dscp = use.profile.cnp_dscp
        if dscp == use.profile.roce_dscp:
            free = "34 for RoCE" if dscp == USUAL_CNP_DSCP else f"{USUAL_CNP_DSCP} for CNP"
            yield use.use.problem(
                ("cnp_dscp",),
                f"DSCP {dscp} is that of RoCE (roce_dscp), so CNP would use the lossless queue",
                f"write another DSCP for one of the two, such as {free}",
            )


def _scheduling(context: Context) -> Iterator[Problem]:
    for use in _lossless_uses(context):
        rows = enumerate(use.profile.scheduling)
        items = [(("scheduling", index), str(row.queue)) for index, row in rows]
        yield from repeated(use.use, items, "queue", "queue")


def _lossless_uses(context: Context) -> Iterator[LosslessUse]:
    """Yield each existing lossless profile of the fabric and its switches once."""
    yield from map(context.lossless_named, context.lossless_profiles)


def _pools(context: Context) -> Iterator[Problem]:
    fabric = context.fabric
    pools: list[tuple[YamlPath, IPv4Network]] = [
        (("pools", "spine_loopbacks"), fabric.pools.spine_loopbacks),
        (("pools", "leaf_loopbacks"), fabric.pools.leaf_loopbacks),
        (("pools", "links"), fabric.pools.links),
    ]
    pools += [(("segments", i, "prefix"), s.prefix) for i, s in enumerate(fabric.segments)]
    for (_, first), (path, second) in combinations(pools, 2):
        if first.overlaps(second):
            yield context.problem(path, f"{second} overlaps {first}", "use separate prefixes")
    needs = (fabric.capacity.spines + 1, fabric.capacity.leaves + 1)  # links: capacity_problems
    for (path, pool), need in zip(pools, needs, strict=False):
        if pool.num_addresses < need:
            yield context.problem(
                path,
                f"{pool} has {pool.num_addresses} addresses, the reserved capacity takes {need}",
                f"use a /{32 - (need - 1).bit_length()}",
            )


def _segments(context: Context) -> Iterator[Problem]:
    fabric = context.fabric
    segments = [(("segments", i), s) for i, s in enumerate(fabric.segments)]
    yield from repeated(context, [(p, s.name) for p, s in segments], "name", "name")
    tagged = [(p, str(s.vlan)) for p, s in segments if s.vlan]
    yield from repeated(context, tagged, "vlan", "VLAN")
    outside = [s for s in fabric.segments if s.vlan is None]
    if len(outside) != 1:
        yield context.problem(
            ("segments",),
            f"{len(outside)} segments without a VLAN",
            "exactly one is the out-of-band management network",
        )
    for path, segment in segments:
        parts = 2 ** max(segment.leaf_prefix_length - segment.prefix.prefixlen, 0)
        if segment.vlan and parts < fabric.capacity.leaves:
            yield context.problem(
                (*path, "prefix"),
                f"{segment.prefix} gives {parts} leaf prefixes of /{segment.leaf_prefix_length}, "
                f"the reserved capacity takes {fabric.capacity.leaves}",
                _larger_segment(segment.leaf_prefix_length, fabric.capacity.leaves),
            )
    gateways = {s.name for s in fabric.segments if s.vlan}
    for index, leaf in enumerate(fabric.leaves):
        for name in leaf.pins.gateways:
            if name not in leaf.segments:
                yield context.problem(
                    ("leaves", index, "pins", "gateways", name),
                    f"{leaf.name} does not serve segment {name!r}",
                    nearest(name, leaf.segments),
                )
        for number, name in enumerate(leaf.segments):
            if name not in gateways:
                yield context.unknown_segment(("leaves", index, "segments", number), name, gateways)


def _larger_segment(leaf_length: int, leaves: int) -> str:
    """Return the fix of a segment's prefix that has too few parts for the leaves."""
    length = leaf_length - (leaves - 1).bit_length()
    return f"use a /{length}" if length > 0 else "use a longer leaf_prefix_length"


def _servers(context: Context) -> Iterator[Problem]:
    fabric = context.fabric
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    used: dict[tuple[str, str], ServerIntent] = {}
    for index, server in enumerate(fabric.servers):
        path = ("servers", index)
        leaf = leaves.get(server.leaf)
        if fabric.bench is not None and fabric.bench.switch is None:
            continue  # its port is that of the other host
        if leaf is None:
            yield context.unknown((*path, "leaf"), "leaf", server.leaf, leaves)
            continue
        if server.segment not in leaf.segments:
            yield context.problem(
                (*path, "segment"),
                f"{leaf.name} has no gateway for segment {server.segment!r}",
                f"add {server.segment} to the segments of {leaf.name}, or write one of: "
                f"{', '.join(leaf.segments)}",
            )
        for below, port in port_paths(server):
            at = (*path, *below)
            if other := used.get((server.leaf, port)):
                yield context.problem(
                    at,
                    f"{server.leaf} {port} is used twice, by {_conflicting_servers(other, server)}",
                    "give each server a port of its own",
                )
            used.setdefault((server.leaf, port), server)
            yield from _server_port(context, at, server, leaf, port)


def _conflicting_servers(one: ServerIntent, other: ServerIntent) -> str:
    """Return names of two servers with the same port, or of one bond that has it twice."""
    return f"the bond of {one.name}" if one is other else f"{one.name} and {other.name}"


def _server_port(
    context: Context, path: YamlPath, server: ServerIntent, leaf: Leaf, port: str
) -> Iterator[Problem]:
    hardware = context.known_hardware(leaf)
    if hardware is None:
        return
    speed = hardware.speed_gbps(port, leaf.splits.get(whole_port(port)))
    bench = context.fabric.bench  # it reserves no port for spines
    wrong = (outward_port_problem if bench is None else port_problem)(hardware, leaf, port)
    if wrong:
        yield context.problem(path, *wrong)
    elif bench is not None:
        if speed and bench.speed_gbps > speed:
            what = f"the NICs have {bench.speed_gbps} Gb/s, ports of {leaf.name} have {speed} Gb/s"
            how = "use faster ports, or fix speed_gbps"
            yield context.problem((*path[:2], "speed_gbps"), what, how)
    elif server.speed_gbps not in (None, speed):
        yield context.problem(
            path,
            f"{server.name} has a NIC of {server.speed_gbps} Gb/s, {server.leaf} {port} is "
            f"a port of {speed} Gb/s",
            "use a port of the NIC's speed, or fix speed_gbps",
        )


def _links(context: Context) -> Iterator[Problem]:
    fabric = context.fabric
    switches: dict[str, dict[str, Switch]] = {
        "spine": {s.name: s for s in fabric.spines},
        "leaf": {s.name: s for s in fabric.leaves},
    }
    first: dict[tuple[str, str, int], int] = {}
    for index, pin in enumerate(fabric.links):
        earlier = first.setdefault((pin.spine, pin.leaf, pin.number), index)
        if earlier != index:
            line = context.loaded.document.at(("links", earlier)).line
            what = f"the link {pin.spine} - {pin.leaf} is given twice"
            yield context.problem(
                ("links", index), what, f"remove one: the first is on line {line}"
            )
        for role, port in (("spine", pin.spine_port), ("leaf", pin.leaf_port)):
            name = getattr(pin, role)
            switch = switches[role].get(name)
            if switch is None:
                yield context.unknown(("links", index, role), role, name, switches[role])
                continue
            hardware = context.known_hardware(switch)
            if port and hardware and (wrong := port_problem(hardware, switch, port)):
                yield context.problem(("links", index, f"{role}_port"), *wrong)


def _access(context: Context) -> Iterator[Problem]:
    users, services = context.fabric.security.users, context.fabric.services
    items = [(("security", "users", i), user.name) for i, user in enumerate(users)]
    yield from repeated(context, items, "name", "user")
    for key, word, hosts in (("ntp", "NTP", services.ntp), ("syslog", "syslog", services.syslog)):
        for index, host in enumerate(hosts):
            if host in hosts[:index]:
                what = f"{word} server {host} is given twice"
                yield context.problem(("services", key, index), what, "remove one")
    readers = enumerate(services.snmp)
    yield from repeated(
        context, [(("services", "snmp", i), u.name) for i, u in readers], "name", "SNMP user"
    )
    networks = enumerate(context.fabric.security.management_access)
    yield from repeated(
        context,
        [(("security", "management_access", i), str(n.id)) for i, n in networks],
        "id",
        "id",
    )


def _roles(context: Context) -> Iterator[Problem]:
    """Yield problems of duplicate roles and subscriptions, and of users with an unknown role."""
    security = context.fabric.security
    items = [(("security", "roles", i), role.name) for i, role in enumerate(security.roles)]
    yield from repeated(context, items, "name", "role")
    for path, name in items:
        if name in PREDEFINED_GROUPS:
            what = f"role {name!r} is one that every switch has, and cannot be changed"
            yield context.problem((*path, "name"), what, "give the role a name of its own")
    role_names = [*PREDEFINED_GROUPS, *(name for _, name in items)]
    for index, user in enumerate(security.users):
        if user.role is not None and user.role not in role_names:
            at = ("security", "users", index, "role")
            yield context.problem(at, f"no role {user.role!r}", nearest(user.role, role_names))
    rows = enumerate(context.fabric.services.telemetry)
    subscriptions = [(("services", "telemetry", i), row.name) for i, row in rows]
    yield from repeated(context, subscriptions, "name", "subscription")


def _wan(context: Context) -> Iterator[Problem]:
    """Yield problems of paths that do not join two segments of servers, or that are there twice."""
    segments = {s.name for s in context.fabric.segments if s.vlan}
    pairs: set[frozenset[str]] = set()
    for index, path in enumerate(context.fabric.wan):
        at: YamlPath = ("wan", index, "between")
        for number, name in enumerate(path.between):
            if name not in segments:
                yield context.unknown_segment((*at, number), name, segments)
        pair = frozenset(path.between)
        both = " and ".join(path.between)
        if len(pair) < 2:
            yield context.problem(at, f"{both} are one segment", "name two segments")
        elif pair in pairs:
            yield context.problem(at, f"the path between {both} is given twice", "remove one")
        pairs.add(pair)


def _rdma(context: Context) -> Iterator[Problem]:
    """Yield problems of servers for RDMA tests: unknown, or without a lossless port."""
    by_name = {server.name: server for server in context.fabric.servers}
    for index, name in enumerate(context.fabric.rdma.servers):
        path = ("rdma", "servers", index)
        if name not in by_name:
            yield context.unknown(path, "server", name, by_name)
        elif not by_name[name].roce:
            how = "keep another one for tests"
            yield context.problem(path, f"{name} does not speak RoCE", how)


def _rollout(context: Context) -> Iterator[Problem]:
    canary = context.fabric.rollout.canary
    if context.fabric.bench is not None:
        return
    leaves = [leaf.name for leaf in context.fabric.leaves]
    if canary not in leaves:
        yield context.unknown(("rollout", "canary"), "leaf", canary, leaves)


def _waivers(context: Context) -> Iterator[Problem]:
    """Yield problems of waivers for unknown switches; the registry of rules checks rule ids."""
    names = [switch.name for _, switch in context.switches()]
    for index, waiver in enumerate(context.fabric.waivers):
        if waiver.device is not None and waiver.device not in names:
            path = ("waivers", index, "device")
            yield context.unknown(path, "switch", waiver.device, names)
