"""Match renamed switches and servers: the base of a review under the names of the head.

Role and permanent id identify a switch, also under another name. A server has no id: its ports,
segment, address and NIC identify it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from rocefort.change.difference import ComparedSide
from rocefort.change.sides import ReviewSide, ReviewSides
from rocefort.models.network.network import End, Network, Node, Server, Sources

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
