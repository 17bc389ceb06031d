"""Renames of switches and servers, and servers that move to another port.

Role and permanent id identify a switch, also under another name. A server has no id: its ports,
segment, address and NIC identify it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

from rocefort.change.advice.drain_steps import DrainStudy, apply_steps, windows
from rocefort.change.difference import ComparedSide
from rocefort.change.results import Advice, AdviceKind, AdviceStep
from rocefort.change.sides import ReviewSide, ReviewSides
from rocefort.models.network.network import End, Network, Node, Server, Sources
from rocefort.models.wording import listing

Renames = Mapping[str, str]  # the name at the base, by the one at the head


def renames_of(before: Network, after: Network) -> Renames:
    """Switches with the same role and id on both sides, and a name that only one side has."""
    was = {(node.role, node.id): node.name for node in before.nodes}
    return {
        node.name: was[node.role, node.id]
        for node in after.nodes
        if node.id is not None
        and (node.role, node.id) in was
        and node.name not in before.by_name
        and was[node.role, node.id] not in after.by_name
    }


def server_renames_of(before: Network, after: Network) -> Renames:
    """Servers with the same place on both sides, and a name that only one side has.

    Names that change hands are no renames: whether machines move with them is not known.
    """
    old, new = (
        {place_of(server): server.name for server in side.servers or ()} for side in (before, after)
    )
    was, will = set(old.values()), set(new.values())
    return {
        name: old[place]
        for place, name in new.items()
        if place in old and name not in was and old[place] not in will
    }


def place_of(server: Server) -> Hashable:
    """Everything that identifies a server beside its name."""
    return server.ports, server.segment, server.address, server.nic


def under_new_names(sides: ReviewSides) -> tuple[ReviewSides, Renames, Renames]:
    """The sides, with switches and servers of the base under their names at the head."""
    base, head = sides.base, sides.head
    if base is None or base.derived is None or head.derived is None:
        return sides, {}, {}
    after = head.derived.network
    names = renames_of(base.derived.network, after)
    base = _renamed_side(base, names) if names else base
    network = base.derived.network if base.derived else after
    servers = server_renames_of(network, after)
    base = _with_servers(base, servers) if servers else base
    return replace(sides, base=base), names, servers


def _with_servers(side: ReviewSide, renames: Renames) -> ReviewSide:
    if side.derived is None:
        return side
    later = {old: new for new, old in renames.items()}
    network = with_new_servers(side.derived.network, later)
    return replace(side, derived=replace(side.derived, network=network))


def with_new_servers(network: Network, later: Mapping[str, str]) -> Network:
    """A Network with servers under their new names, by the old ones."""
    servers = tuple(
        server.model_copy(update={"name": later.get(server.name, server.name)})
        for server in network.servers or ()
    )
    return network.model_copy(update={"servers": servers})


def with_old_sysnames(side: ComparedSide, names: Renames) -> ComparedSide:
    """A side whose Devices have the switches' present names, before the rename."""
    switches = {
        name: replace(switch, device=switch.device.model_copy(update={"name": names[name]}))
        if name in names
        else switch
        for name, switch in side.switches.items()
    }
    return replace(side, switches=switches)


def _renamed_side(side: ReviewSide, names: Renames) -> ReviewSide:
    derived = side.derived
    if derived is None:
        return side
    later = {old: new for new, old in names.items()}
    sources = Sources({_key(key, later): at for key, at in derived.sources.table.items()})
    network = renamed_network(derived.network, later)
    return replace(side, derived=replace(derived, network=network, sources=sources))


def _key(key: str, later: Mapping[str, str]) -> str:
    device, slash, path = key.partition("/")
    return later.get(device, device) + slash + path


def renamed_network(network: Network, later: Mapping[str, str]) -> Network:
    """A Network with its switches renamed everywhere except in descriptions."""

    def end(old: End) -> End:
        name = later.get(old.device)
        return End(device=name, interface=old.interface) if name else old

    links = network.links and tuple(
        link.model_copy(update={"a": end(link.a), "b": end(link.b)}) for link in network.links
    )
    servers = network.servers and tuple(
        server.model_copy(
            update={"port": end(server.port), "members": tuple(map(end, server.members))}
        )
        for server in network.servers
    )
    segments = network.segments and tuple(
        segment.model_copy(update={"leaf": later.get(segment.leaf, segment.leaf)})
        for segment in network.segments
    )
    exits = network.exits and tuple(
        way.model_copy(update={"leaf": later.get(way.leaf, way.leaf)}) for way in network.exits
    )
    waivers = tuple(
        waiver.model_copy(update={"device": later.get(waiver.device or "", waiver.device)})
        for waiver in network.waivers
    )
    return network.model_copy(
        update={
            "nodes": tuple(
                _renamed_node(node, later.get(node.name, node.name)) for node in network.nodes
            ),
            "links": links,
            "servers": servers,
            "segments": segments,
            "exits": exits,
            "waivers": waivers,
        }
    )


def _renamed_node(node: Node, name: str) -> Node:
    if node.name == name:
        return node
    return node.model_copy(update={"device": node.device.model_copy(update={"name": name})})


def moves(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for each server that is on other ports at the head."""
    later = {server.name: server for server in sight.after.servers or ()}
    for server in sight.before.servers or ():
        new = later.get(server.name)
        if new is not None and new.ports != server.ports:
            yield _move(sight, server, new)


def server_renames(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for each server that has another name, and the same place."""
    servers = {server.name: server for server in sight.after.servers or ()}
    for new, old in sight.server_renames.items():
        server = servers[new]
        yield Advice(
            kind=AdviceKind.SERVER_RENAME,
            title=f"{old} is renamed {new} ({_ports(server)})",
            servers=(new,),
            traffic=(
                f"Port, segment, address {server.address} and NIC stay: its pairs are {old}'s.",
                "No traffic is touched: a switch changes at most the description of its port.",
                f"If {new} is another machine, its work stops until it has replaced {old}.",
            ),
        )


def _move(sight: DrainStudy, old: Server, new: Server) -> Advice:
    was, will = _ports(old), _ports(new)
    cable = f"{new.cable_m:g} m" if new.cable_m is not None else "length not known"
    medium = f" {new.medium}" if new.medium else ""
    owner = next(windows(sight, [old]))
    return Advice(
        kind=AdviceKind.MOVE,
        title=f"{old.name} moves: {was} -> {will}",
        devices=tuple(dict.fromkeys((old.port.device, new.port.device))),
        servers=(old.name,),
        traffic=tuple(_traffic(sight, old, new)),
        steps=(
            AdviceStep(text=f"Agree the time with the owner, and stop its work ({owner})."),
            apply_steps(
                sight, f"Apply the change: {was} no longer serves {old.name}, {will} does."
            ),
            AdviceStep(text=f"Move the cable from {was} to {will} ({cable}{medium})."),
            *_readdress(sight, old, new),
            AdviceStep(
                text="Start its work again once its gateway answers and a pair is measured."
            ),
        ),
    )


def _ports(server: Server) -> str:
    leaf = server.port.device
    return f"{leaf} {listing(end.interface for end in server.ports)}"


def _traffic(sight: DrainStudy, old: Server, new: Server) -> Iterator[str]:
    yield (
        f"All traffic of {old.name} stops, from the moment at which {old.port.device} changes "
        "until it is replugged"
        + (" and has its new address." if old.address != new.address else ".")
    )
    yield "Its RDMA connections break and must be set up again."
    was, will = _gateway(sight.before, old), _gateway(sight.after, new)
    if (old.address, was) == (new.address, will):
        yield f"Its address stays {old.address}, and its gateway {was}."
    else:
        yield f"Its address changes: {old.address} -> {new.address}, gateway {was} -> {will}."
    if old.speed_gbps != new.speed_gbps:
        yield f"Its ports change speed: {old.speed_gbps} -> {new.speed_gbps} Gb/s."
    before, after = (
        {place_of(server): server.name for server in side.servers or ()}
        for side in (sight.before, sight.after)
    )
    if place_of(new) in before and place_of(old) in after:
        yield (
            f"{_ports(new)} was the place of {before[place_of(new)]}, and {_ports(old)} is that of "
            f"{after[place_of(old)]}: if only their names change hands, no cable moves, and no "
            "traffic is touched."
        )


def _gateway(network: Network, server: Server) -> str:
    gateways = (
        str(segment.gateway.ip)
        for segment in network.segments or ()
        if (segment.leaf, segment.name) == (server.port.device, server.segment)
    )
    return next(gateways, "none")


def _readdress(sight: DrainStudy, old: Server, new: Server) -> Iterator[AdviceStep]:
    gateway = _gateway(sight.after, new)
    if old.address != new.address:
        yield AdviceStep(
            text=f"On {old.name}, set address {new.address} and gateway {gateway} (MTU {new.mtu}), "
            "and update all systems that use its old address."
        )
