"""Context of a derivation: the fabric, its hardware facts, and the positions of its values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import IPv4Interface

from rocefort.base.documents.read import YamlPath
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import NameFault, Problem
from rocefort.design import allocation
from rocefort.design.derive.segment_acls import segment_acls
from rocefort.design.load.documents import Catalogue, LoadedFabric
from rocefort.design.load.profiles import Library, LosslessUse, library_of
from rocefort.models.device.packet_filters import FilterAcl
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import ExitIntent, Leaf, SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.network import Position, Sources
from rocefort.models.network.sources import SideTable

Placed = tuple[YamlPath, Switch]


@dataclass(eq=False)
class Context:
    """Fabric with its hardware; derivation of Devices fills the tables."""

    loaded: LoadedFabric
    catalogue: Catalogue
    of_site: Library  # profiles besides the fabric's own
    table: dict[str, Position] = field(default_factory=dict)
    # `device/interfaces[NAME]` that RoCE passes, with the positions of its lossless profile
    ports: dict[str, Mapping[str, Position]] = field(default_factory=dict)
    uses: dict[str, LosslessUse] = field(default_factory=dict)  # lossless profiles by name
    roles: dict[tuple[str, bool, tuple[str, ...]], Hardware] = field(default_factory=dict)

    @property
    def fabric(self) -> Fabric:
        """Intent of the fabric."""
        return self.loaded.fabric

    def note(self, device: str, field_path: str, *path: str | int) -> None:
        """Note a YAML path as the source of a device's field."""
        self.note_position(device, field_path, self.loaded.document.key_at(path))

    def note_position(self, device: str, field_path: str, position: Position) -> None:
        """Note the source of a device's field."""
        self.table[f"{device}/{field_path}"] = position

    @property
    def sources(self) -> Sources:
        """All noted sources."""
        return Sources(SideTable(self.table, self.ports))

    @cached_property
    def own_profiles(self) -> Library:
        """Profiles of the fabric's own block."""
        return library_of(self.fabric.profiles, self.loaded.document, ("profiles",))

    @cached_property
    def profiles(self) -> Library:
        """All profiles that the fabric can use."""
        return self.of_site.joined(self.own_profiles)

    @cached_property
    def lossless(self) -> LosslessUse:
        """Lossless profile of the fabric; raises LookupError if there is none."""
        return self.lossless_named(self.fabric.lossless)

    def lossless_of(self, switch: Switch) -> LosslessUse:
        """Lossless profile of a switch; raises LookupError if there is none."""
        return self.lossless_named(self.fabric.lossless_of(switch))

    def has_own_lossless(self, switch: Switch) -> bool:
        """Whether a switch has another lossless profile than the fabric."""
        return self.fabric.lossless_of(switch) != self.fabric.lossless

    @cached_property
    def lossless_profiles(self) -> Mapping[str, Sequence[Switch]]:
        """Switches by the name of their lossless profile, for profiles that exist."""
        names: dict[str, list[Switch]] = {self.fabric.lossless: []}
        for _, switch in self.switches():
            names.setdefault(self.fabric.lossless_of(switch), []).append(switch)
        return {n: some for n, some in names.items() if self.profiles.get("lossless", n)}

    def lossless_named(self, name: str) -> LosslessUse:
        """Lossless profile of a name; raises LookupError if there is none."""
        if name not in self.uses:
            self.uses[name] = self.profiles.lossless(name)
        return self.uses[name]

    def at(self, path: YamlPath) -> Position:
        """Return the position of the value at a YAML path."""
        return self.loaded.document.at(path)

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """Return a problem at a YAML path."""
        return self.loaded.problem(path, what, how)

    def unknown(
        self, path: YamlPath, kind: str, name: str, names: Iterable[str], rest: str = ""
    ) -> Problem:
        """Return the problem of a name that none of its kind has; names: those that exist."""
        problem = self.problem(path, f"no {kind} {name!r}{rest}", nearest(name, names))
        return replace(problem, fault=NameFault.UNKNOWN)

    def unknown_segment(self, path: YamlPath, name: str, names: Iterable[str]) -> Problem:
        """Return the problem of a name that no segment of servers has."""
        return self.unknown(path, "segment", name, names, " with a VLAN")

    def switches(self) -> Iterator[Placed]:
        """All switches with their YAML paths."""
        for group, members in (("spines", self.fabric.spines), ("leaves", self.fabric.leaves)):
            for index, switch in enumerate(members):
                yield (group, index), switch

    @cached_property
    def servers_of(self) -> Mapping[str, Sequence[tuple[int, ServerIntent]]]:
        """Servers of each leaf that has any, with their index in the fabric."""
        by_leaf: dict[str, list[tuple[int, ServerIntent]]] = defaultdict(list)
        for index, server in enumerate(self.fabric.servers):
            by_leaf[server.leaf].append((index, server))
        return dict(by_leaf)

    def known_hardware(self, switch: Switch) -> Hardware | None:
        """Facts of a switch's model in its role; None: inventory/hardware has no such model."""
        model = self.catalogue.hardware.get(switch.hardware)
        if model is None:
            return None
        role = switch.hardware, isinstance(switch, Leaf), switch.fabric_ports
        if role not in self.roles:
            self.roles[role] = switch.hardware_in_role(model)
        return self.roles[role]

    def hardware(self, switch: Switch) -> Hardware:
        """Facts of a switch's model in its role."""
        hardware = self.known_hardware(switch)
        if hardware is None:  # allocation_problems reports it
            raise LookupError(switch.hardware)
        return hardware

    def fabric_ports(self, switch: Switch) -> tuple[str, ...]:
        """Ports of a switch for leaf-spine links, by index."""
        return self.hardware(switch).fabric_places(switch.splits)

    def speed_gbps(self, switch: Switch, port: str) -> int | None:
        """Speed of a port, or of a part of a split one, Gb/s."""
        return self.hardware(switch).speed_gbps(port, switch.splits.get(whole_port(port)))

    def family(self, switch: Switch) -> Family:
        """Syntax family of a switch's model and release."""
        family = self.catalogue.family(switch.hardware, switch.software)
        if family is None:  # allocation_problems reports it
            raise LookupError(switch.software)
        return family

    @cached_property
    def discards_on_recovery(self) -> bool:
        """Whether a switch takes part that discards the packets of a deadlocked queue by default.

        Then all switches of a PFC network must (V300R023C00, Configuring PFC Deadlock Detection).
        """
        defaults = {self.family(switch).recovery_behavior for _, switch in self.switches()}
        return "discard" in defaults

    @cached_property
    def spines_differ(self) -> bool:
        """Whether paths over different spines have different AS numbers, now or after growth."""
        numbers = {allocation.asn(self.fabric, spine) for spine in self.fabric.spines}
        return self.fabric.routing.spine_asns == "each" or len(numbers) > 1

    @cached_property
    def exits(self) -> tuple[ExitIntent, ...]:
        """Exits of all leaves."""
        return tuple(exit_ for leaf in self.fabric.leaves for exit_ in leaf.exits)

    @cached_property
    def segment_acls(self) -> Mapping[str, FilterAcl]:
        """ACLs of the policy, by segment; they are the same on every leaf."""
        return segment_acls(self.fabric.security.policy, self.fabric.segments)

    def out_of_band(self) -> SegmentIntent:
        """Management segment: the one without a VLAN."""
        return allocation.out_of_band(self.fabric)

    def management(self, switch: Switch) -> IPv4Interface:
        """Management address of a switch."""
        return allocation.management(self.fabric, switch)

    def gateways(self, switch: Switch) -> Sequence[tuple[SegmentIntent, IPv4Interface]]:
        """Segments of a leaf, each with its gateway; a spine has none."""
        return self._gateways.get(switch.name, ())

    @cached_property
    def _gateways(self) -> Mapping[str, Sequence[tuple[SegmentIntent, IPv4Interface]]]:
        return {leaf.name: allocation.gateways(self.fabric, leaf) for leaf in self.fabric.leaves}

    def gateway_of(self, server: ServerIntent) -> IPv4Interface:
        """Gateway of a server's segment on its leaf."""
        return next(g for s, g in self._gateways[server.leaf] if s.name == server.segment)

    @cached_property
    def server_addresses(self) -> Sequence[IPv4Interface]:
        """Address of each server of the fabric."""
        leaves = {leaf.name: leaf for leaf in self.fabric.leaves}
        return tuple(
            allocation.server_address(s, self.gateway_of(s), self.hardware(leaves[s.leaf]))
            for s in self.fabric.servers
            if s.leaf in leaves  # no switch has the hosts of a bench back to back
        )
