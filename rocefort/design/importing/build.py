"""A fabric as data, from the Devices of its switches: everything that texts say of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface

from rocefort.design.catalogue import Catalogue
from rocefort.design.importing import management
from rocefort.design.importing.exits import Inside, Way, exits_of, ways_out
from rocefort.design.importing.graph import Graph, connect, loopback
from rocefort.design.importing.hardware import Facts, Model, Ports, check_facts, model_of
from rocefort.design.importing.links import Joined, cables, joined, per_pair
from rocefort.design.importing.notes import Data, Notes, Source
from rocefort.design.importing.pins import PinSources, pinned
from rocefort.design.importing.policy import policy_of
from rocefort.design.importing.pools import (
    Numbered,
    Reserve,
    Space,
    link_pool,
    loopback_pool,
    reserve_of,
)
from rocefort.design.importing.profile import Lossy, profiles_of
from rocefort.design.importing.roles import Roles, ids_of, roles_of
from rocefort.design.importing.routing import Sessions, own_passwords, routing_of
from rocefort.design.importing.segments import (
    Announced,
    Leaves,
    announced,
    gateways,
    segments_of,
)
from rocefort.design.importing.servers import Place, carried, server_kind, servers_of
from rocefort.design.profiles import Library
from rocefort.documents.read import YamlPath
from rocefort.models.breakout import whole_port
from rocefort.models.fabric_nodes import SegmentIntent
from rocefort.models.fabric_types import MOST_LEAVES, MOST_SPINES
from rocefort.models.interface import ETHERNET_MTU

RDMA = {"line_rate_fraction": 0.9, "latency_us": 5, "latency_tolerance": 0.5}


@dataclass(frozen=True)
class Draft:
    """A fabric as data in the order of its YAML, and what was taken for granted."""

    data: Data
    notes: Notes


def draft(
    name: str, sources: Sequence[Source], facts: Facts, catalogue: Catalogue, library: Library
) -> Draft:
    """Read a fabric from its switches; BadInput where they are not those of one fabric."""
    graph = connect(sources)
    check_facts(facts, graph.sources.keys(), catalogue)
    return _Builder(name, graph, facts, catalogue, library).draft()


@dataclass
class _Builder:
    """The parts of a fabric, each read once."""

    name: str
    graph: Graph
    facts: Facts
    catalogue: Catalogue
    shipped: Library
    notes: Notes = field(default_factory=Notes)
    space: Space = field(default_factory=Space)

    @cached_property
    def roles(self) -> Roles:
        return roles_of(self.graph)

    @cached_property
    def links(self) -> tuple[Joined, ...]:
        return joined(self.graph, self.roles)

    @cached_property
    def cabled(self) -> set[tuple[str, str]]:
        tips = (tip for link in self.links for tip in (link.spine, link.leaf))
        return {(tip.device, tip.port.name) for tip in tips}

    @cached_property
    def ways(self) -> list[Way]:
        found = ways_out(self.graph, self.roles.leaves, self.cabled)
        hardware = {leaf.name: self.models[leaf.name].hardware for leaf in self.roles.leaves}
        free = {n: {*h.port_names()} - {*h.fabric_port_names()} for n, h in hardware.items()}
        return [way for way in found if whole_port(way.port.name) in free[way.leaf]]

    @cached_property
    def models(self) -> dict[str, Model]:
        return {
            source.name: model_of(
                source, self._ports(source), self.facts, self.catalogue, self.notes
            )
            for source in self.graph.sources.values()
        }

    def _ports(self, source: Source) -> Ports:
        """Its ports as they are used; one with an access VLAN is a server's."""
        fabric = [port for name, port in self.cabled if name == source.name]
        others = [
            i.name
            for i in source.device.interfaces
            if i.kind == "ethernet" and i.access_vlan is not None and i.name not in fabric
        ]
        return Ports(fabric, others)

    def speed(self, name: str, port: str) -> int | None:
        """Speed of a switch's port, Gb/s."""
        splits = {split.port: split.type for split in self.graph.sources[name].device.splits}
        return self.models[name].hardware.speed_gbps(port, splits.get(whole_port(port)))

    @cached_property
    def fabric_ports(self) -> dict[str, tuple[str, ...]]:
        splits = {
            name: {split.port: split.type for split in source.device.splits}
            for name, source in self.graph.sources.items()
        }
        return {n: self.models[n].hardware.fabric_places(split) for n, split in splits.items()}

    @cached_property
    def listed(self) -> Announced:
        return announced(self.roles.spines)

    @cached_property
    def most(self) -> tuple[int, int]:
        """Spines and leaves that there is room for: ports of the other role, announced pools."""
        each = max(link.number for link in self.links)
        room = {name: len(ports) // each for name, ports in self.fabric_ports.items()}
        spine_room, leaf_room = self.listed.room
        return (
            min(MOST_SPINES, spine_room, *(room[leaf.name] for leaf in self.roles.leaves)),
            min(MOST_LEAVES, leaf_room, *(room[spine.name] for spine in self.roles.spines)),
        )

    @cached_property
    def ids(self) -> dict[str, int]:
        return {
            **ids_of(self.roles.spines, self.most[0], "spines", self.notes),
            **ids_of(self.roles.leaves, self.most[1], "leaves", self.notes),
        }

    @cached_property
    def reserve(self) -> Reserve:
        numbered = Numbered(self.links, self.ids)
        return reserve_of(numbered, self.fabric_ports, self.most, self.notes)

    @cached_property
    def mtu(self) -> int:
        ports = {
            f"{tip.device} {tip.port.name}": tip.port.mtu or ETHERNET_MTU
            for link in self.links
            for tip in (link.spine, link.leaf)
        }
        vlanifs = {
            f"{leaf.name} {gateway.name}": gateway.mtu or ETHERNET_MTU
            for leaf in self.roles.leaves
            for gateway in gateways(leaf).values()
        }
        return self.notes.agreed("MTU", ports | vlanifs) or ETHERNET_MTU

    def draft(self) -> Draft:
        """All parts in the order of the YAML."""
        spines, leaves, notes = self.roles.spines, self.roles.leaves, self.notes
        known = [*spines, *leaves]
        addresses = management.addresses(known)
        pools, segments = self._networks(addresses)
        found = [one for place in self._places(segments) for one in carried(place)]
        sessions = Sessions(self.graph, self.links)
        capacity = self.reserve.spines, self.reserve.leaves
        each = per_pair(self.links)
        common = max(each.values(), key=lambda number: list(each.values()).count(number))
        data: Data = {
            "fabric": self.name,
            "capacity": self._capacity(),
            "pools": pools,
            "routing": routing_of(sessions, self.roles, self.ids, capacity, notes),
            "mtu": self.mtu,
            "cables": cables(
                self.links, [server_kind(one, self.speed) for one in found], self.speed, notes
            ),
            "lossless": "site",
            "profiles": profiles_of(Lossy(known, self.models, self.speed, self.shipped), notes),
            "segments": segments,
            "spines": [self._switch(source) for source in spines],
            "leaves": [self._leaf(source, segments, each, common) for source in leaves],
        }
        if common > 1:
            data["links_per_pair"] = common
        servers = servers_of(found, self.graph.sources, self.speed, notes)
        security = management.security_of(known, notes)
        tagged = [SegmentIntent.model_validate(row) for row in segments]
        if policy := policy_of(leaves, tagged):
            security["policy"] = policy
        data |= {
            "servers": servers,
            "management": management.management_of(known, segments[-1]["prefix"], notes),
            "security": security,
            "services": management.services_of(known, notes),
            "rdma": dict(RDMA),
            "rollout": {"canary": leaves[-1].name},
        }
        self._assume_the_rest()
        self._exits(data)
        made = pinned(data, self._pin_sources(addresses, sessions))
        self._place_notes(made)
        return Draft(made, notes)

    def _networks(self, addresses: Mapping[str, IPv4Interface]) -> tuple[Data, list[Data]]:
        """(pools, segments with that of management last): none overlaps another."""
        spines, leaves, listed = self.roles.spines, self.roles.leaves, self.listed
        for way in self.ways:
            self.space.take(next(a.network for a in way.port.addresses if way.peer in a.network))
        vlans = {vlan for leaf in leaves for vlan in gateways(leaf)} | {*listed.segments}
        outside = management.management_prefix(
            addresses, len(self.graph.sources), self.space, self.notes, len(vlans)
        )
        pools: Data = {
            "spine_loopbacks": loopback_pool(
                self._loopbacks(spines), self.reserve.spines, listed.spine_loopbacks, self.space
            ),
            "leaf_loopbacks": loopback_pool(
                self._loopbacks(leaves), self.reserve.leaves, listed.leaf_loopbacks, self.space
            ),
        }
        numbered = Leaves(leaves, self.ids, self.reserve.leaves)
        segments = segments_of(numbered, listed.segments, self.space, self.notes)
        segments.append({"name": "management", "role": "management", "prefix": outside})
        pools["links"], pools["link_prefix_length"] = link_pool(
            Numbered(self.links, self.ids), self.reserve, self.space
        )
        return pools, segments

    def _loopbacks(self, members: Sequence[Source]) -> dict[int, IPv4Address]:
        found = {self.ids[s.name]: loopback(s) for s in members}
        return {number: address for number, address in found.items() if address is not None}

    def _capacity(self) -> Data:
        reserve = self.reserve
        found: Data = {"spines": reserve.spines, "leaves": reserve.leaves}
        return found | (
            {"links_per_pair": reserve.links_per_pair} if reserve.links_per_pair > 1 else {}
        )

    def _places(self, segments: Sequence[Data]) -> list[Place]:
        """Leaves as servers see them; what exits use is no server's."""
        names = {row["vlan"]: row["name"] for row in segments if "vlan" in row}
        used = self.cabled | {(way.leaf, way.port.name) for way in self.ways}
        return [
            Place(
                leaf,
                self.models[leaf.name].hardware,
                {vlan: names[vlan] for vlan in gateways(leaf) if vlan in names},
                [port for name, port in used if name == leaf.name],
            )
            for leaf in self.roles.leaves
        ]

    def _switch(self, source: Source) -> Data:
        model = self.models[source.name]
        found: Data = {
            "id": self.ids[source.name],
            "name": source.name,
            "hardware": model.hardware.model,
            "software": model.software,
        }
        if rack := self.facts.rack.get(source.name):
            found["rack"] = rack
        if source.device.splits:
            found["breakout"] = {split.port: split.type for split in source.device.splits}
        return found

    def _leaf(
        self, source: Source, segments: Sequence[Data], each: Mapping[str, int], common: int
    ) -> Data:
        found = self._switch(source)
        served = gateways(source)
        found["segments"] = [row["name"] for row in segments if row.get("vlan") in served]
        if each[source.name] != common:
            found["links_per_pair"] = each[source.name]
        return found

    def _exits(self, data: Data) -> None:
        """Give each leaf its exits."""
        segments = {row["prefix"]: row["name"] for row in data["segments"] if "vlan" in row}
        inside = Inside(segments, self.mtu)
        exits = exits_of(self.graph, self.ways, inside, self.notes)
        for leaf in data["leaves"]:
            if leaf["name"] in exits:
                leaf["exits"] = exits[leaf["name"]]

    def _assume_the_rest(self) -> None:
        """What no configuration says of any fabric."""
        for key in RDMA:
            self.notes.assume(("rdma", key), "measure it")
        self.notes.assume(("rollout", "canary"), "the last leaf")
        if not self.facts.rack:
            self.notes.assume(("leaves",), "racks, owners and what NICs servers have are not known")

    def _pin_sources(
        self, addresses: Mapping[str, IPv4Interface], sessions: Sessions
    ) -> PinSources:
        return PinSources(
            sources=self.graph.sources,
            hardware={name: model.hardware for name, model in self.models.items()},
            fabric_ports=self.fabric_ports,
            links=self.links,
            management={name: address.ip for name, address in addresses.items()},
            passwords=own_passwords(sessions, self.notes),
            speed=self.speed,
        )

    def _place_notes(self, data: Data) -> None:
        """Move notes about a switch, by its name, to where its values stand."""
        places = {
            row["name"]: (group, index)
            for group in ("spines", "leaves")
            for index, row in enumerate(data[group])
        }
        moved: dict[YamlPath, str] = {}
        for path, why in self.notes.assumed.items():
            key, name = path[0], path[-1]
            if key in ("hardware", "software") and isinstance(name, str):
                moved[*places[name], key] = why
            else:
                moved[path] = why
        self.notes.assumed = moved
