"""Survey of an import: roles, links, hardware, ids and capacity, for all other parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.design.derive.bgp import FABRIC, LEAVES, SPINES
from rocefort.design.importing.assumptions import Notes, SwitchText
from rocefort.design.importing.bgp_graph import (
    CablingGraph,
    ImportedLink,
    Roles,
    ids_of,
    imported_links,
    roles_of,
)
from rocefort.design.importing.hardware import ImportedHardware, SwitchInputs, UsedPorts, models_of
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.models.device.routing import PrefixEntry
from rocefort.models.fabric.types import MOST_LEAVES, MOST_SPINES
from rocefort.models.hardware.media import whole_port

LONGEST_PART = 30  # length of a leaf's part of a segment


@dataclass(frozen=True, slots=True)
class ReservedCapacity:
    """Capacity that allocation reserves."""

    spines: int
    leaves: int
    links_per_pair: int


@dataclass(frozen=True)
class AnnouncedPools:
    """Pools that spines announce, if their prefix list has the form of derivation."""

    spine_loopbacks: IPv4Network | None = None
    leaf_loopbacks: IPv4Network | None = None
    segments: Mapping[int, PrefixEntry] = field(default_factory=dict)


@dataclass
class Survey:
    """Survey of the switches as one fabric, each part computed once; notes get assumptions."""

    graph: CablingGraph
    facts: SwitchInputs
    catalogue: Catalogue
    notes: Notes = field(default_factory=Notes)

    @cached_property
    def roles(self) -> Roles:
        """Spines and leaves."""
        return roles_of(self.graph)

    @property
    def switches(self) -> list[SwitchText]:
        """Spines, then leaves."""
        return [*self.roles.spines, *self.roles.leaves]

    @cached_property
    def links(self) -> tuple[ImportedLink, ...]:
        """All leaf-spine links."""
        return imported_links(self.graph, self.roles)

    @cached_property
    def cabled(self) -> set[tuple[str, str]]:
        """Set of (switch, port) of both ends of all links."""
        tips = (tip for link in self.links for tip in (link.spine, link.leaf))
        return {(tip.device, tip.port.name) for tip in tips}

    @cached_property
    def models(self) -> dict[str, ImportedHardware]:
        """Hardware, release and family by switch; a port with an access VLAN is a server's."""
        switches: list[tuple[SwitchText, UsedPorts]] = []
        spines = {spine.name for spine in self.roles.spines}
        for source in self.graph.sources.values():
            fabric = [port for name, port in self.cabled if name == source.name]
            others = [
                i.name
                for i in source.device.interfaces
                if i.kind == "ethernet" and i.access_vlan is not None and i.name not in fabric
            ]
            switches.append((source, UsedPorts(fabric, others, source.name in spines)))
        return models_of(switches, self.facts, self.catalogue, self.notes)

    @cached_property
    def splits(self) -> dict[str, dict[str, str]]:
        """Type of each split port, by switch."""
        return {
            name: {split.port: split.type for split in source.device.splits}
            for name, source in self.graph.sources.items()
        }

    def speed(self, name: str, port: str) -> int | None:
        """Speed of a switch's port, Gb/s."""
        split = self.splits[name].get(whole_port(port))
        return self.models[name].hardware.speed_gbps(port, split)

    def free_ports(self, name: str) -> set[str]:
        """Ports of a switch, without splits, that are not fabric ports."""
        hardware = self.models[name].hardware
        return {*hardware.port_names()} - {*hardware.fabric_port_names()}

    @cached_property
    def fabric_ports(self) -> dict[str, tuple[str, ...]]:
        """Fabric ports of each switch, by index."""
        return {n: self.models[n].hardware.fabric_places(split) for n, split in self.splits.items()}

    @cached_property
    def announced(self) -> AnnouncedPools:
        """Pools and segments in the spines' prefix list."""
        lists = (
            one for s in self.roles.spines for one in s.device.prefix_lists if one.name == FABRIC
        )
        rows = {
            row.index: row
            for one in lists
            for row in one.entries
            if row.action == "permit" and row.greater_equal and row.greater_equal == row.less_equal
        }
        loopbacks = {index: row.prefix for index, row in rows.items() if row.greater_equal == 32}
        return AnnouncedPools(
            loopbacks.get(SPINES),
            loopbacks.get(LEAVES),
            {
                index: row
                for index, row in rows.items()
                if SPINES < index < LEAVES and (row.greater_equal or 0) <= LONGEST_PART
            },
        )

    @cached_property
    def most(self) -> tuple[int, int]:
        """Most spines and leaves, by ports of the other role and announced pools."""
        each = max(link.number for link in self.links)
        room = {name: len(ports) // each for name, ports in self.fabric_ports.items()}
        spines, leaves = self.announced.spine_loopbacks, self.announced.leaf_loopbacks
        rows = self.announced.segments.values()
        return (
            min(
                MOST_SPINES if spines is None else spines.num_addresses - 1,
                *(room[leaf.name] for leaf in self.roles.leaves),
            ),
            min(
                MOST_LEAVES if leaves is None else leaves.num_addresses - 1,
                *(2 ** ((row.greater_equal or 0) - row.prefix.prefixlen) for row in rows),
                *(room[spine.name] for spine in self.roles.spines),
            ),
        )

    @cached_property
    def ids(self) -> dict[str, int]:
        """Ids by name of a switch."""
        return {
            **ids_of(self.roles.spines, self.most[0], "spines", self.notes),
            **ids_of(self.roles.leaves, self.most[1], "leaves", self.notes),
        }

    @cached_property
    def capacity(self) -> ReservedCapacity:
        """Smallest capacity that fits the links' subnets and ports, else the highest ids."""
        at_spine: dict[str, list[tuple[int, int]]] = defaultdict(list)  # ids of leaves, subnets
        of_pair: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)  # links, ports
        for link in self.links:
            spine, leaf = link.spine.device, link.leaf.device
            if link.number == 1:
                at_spine[spine].append((self.ids[leaf], link.index))
            if link.spine.port.name in self.fabric_ports[spine]:
                index = self.fabric_ports[spine].index(link.spine.port.name)
                of_pair[spine, leaf].append((link.number, index))
        spines = self._room("spines", self.roles.spines, _step(at_spine.values()), self.most[0])
        leaves = self._room("leaves", self.roles.leaves, _step(of_pair.values()), self.most[1])
        return ReservedCapacity(spines, leaves, max(link.number for link in self.links))

    def _room(self, name: str, members: Iterable[SwitchText], guess: int | None, top: int) -> int:
        """Return the guess if the ids in use and the ports allow it, else the highest id."""
        highest = max(self.ids[source.name] for source in members)
        room = guess if guess and highest <= guess <= top else highest
        shown = "as addresses and ports of links show"
        self.notes.assume(("capacity", name), shown if room > highest else "the highest id in use")
        return room


def _step(series: Iterable[Sequence[tuple[int, int]]]) -> int | None:
    """Return the most common step of values by number; series: of (number, value)."""
    steps = Counter(
        (value - start) // (number - first)
        for (first, start), *others in series
        for number, value in others
        if number != first and (value - start) % (number - first) == 0
    )
    return steps.most_common(1)[0][0] if steps else None
