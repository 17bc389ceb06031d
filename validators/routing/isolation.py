"""Isolation of segments: all packets that gateways filter, compared with the segment policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.dialect import FILTERED, SUBNETS
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import FilterRule, Flow
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.network.network import Network, Node, Segment, Server
from rocefort.models.wording import listing
from rocefort.validators.routing.packet_filters import (
    PacketFilter,
    applied_policies,
    filter_of,
    unevaluated,
)
from rocefort.validators.routing.packet_sets import (
    Difference,
    FiltersOnWay,
    differences,
    server_addresses,
)
from rocefort.validators.routing.underlay import DevicePlace

IN, OUT = "filter_in", "filter_out"


@dataclass(frozen=True, slots=True)
class FilteredGateway:
    """Part of a segment with the filters of its gateway; None: no policy is applied.

    reasons: why a filter cannot be evaluated, each with its position in the Device.
    """

    segment: Segment
    inbound: PacketFilter | None
    outbound: PacketFilter | None
    reasons: Mapping[str, str]

    @classmethod
    def of(cls, segment: Segment, node: Node) -> FilteredGateway:
        """Evaluate the policies that a gateway applies."""
        interface = node.device.by_interface.get(f"Vlanif{segment.vlan}")
        reasons = dict(_unmodelled(node, interface))
        for port, field, what in unevaluated(node.device):
            if port.kind != "vlanif" or port is interface:
                reasons[f"interfaces[{port.name}].{field}"] = what
        filters: dict[str, PacketFilter] = {}
        for field, name in applied_policies(interface) if interface else ():
            if isinstance(packet_filter := filter_of(node.device.filters, name), PacketFilter):
                filters[field] = packet_filter
        return cls(segment, filters.get(IN), filters.get(OUT), reasons)

    @property
    def filters(self) -> tuple[object, ...]:
        """Equal for gateways of a segment that treat all packets alike."""
        return self.inbound, self.outbound, bool(self.reasons)


def _unmodelled(node: Node, gateway: Interface | None) -> Iterator[tuple[str, str]]:
    """Lines on filters outside the models that may concern a gateway: position and reason."""
    dialect, filters = dialect_of(node), node.device.filters
    lines = [line for line in node.unmodelled if dialect.forwarding_effect(line) == FILTERED]
    if not lines:
        return
    objects = (filters.acls, filters.classifiers, filters.behaviors, filters.policies)
    names = {row.name for rows in objects for row in rows}
    names |= {port.name for port in node.device.interfaces if port.kind == "vlanif"}
    applied = [name for _, name in applied_policies(gateway)] if gateway else []
    used = {*applied, *(part for name in applied for part in filters.parts_of(name))}
    if gateway is not None:
        used.add(gateway.name)
    for line in lines:
        named = names.intersection((*" ".join(line.path).split(), *line.text.split()))
        if not named or named & used:
            yield f"unmodelled[{line.line}]", f"`{line.shown_text}` may change {FILTERED}"


class Decision(NamedTuple):
    """Cause of a difference from the policy: position, and words on what decides there."""

    place: DevicePlace
    reason: str


@dataclass(frozen=True, slots=True)
class Isolation:
    """Policy that gateways must implement, and groups of gateways with the same filters."""

    policy: SegmentPolicy
    network: Network
    groups: Mapping[str, tuple[Sequence[FilteredGateway], ...]]  # by segment

    @classmethod
    def of(cls, policy: SegmentPolicy, network: Network) -> Isolation:
        """Evaluate all gateways."""
        alike: defaultdict[str, defaultdict[object, list[FilteredGateway]]]
        alike = defaultdict(lambda: defaultdict(list))
        for segment in network.segments or ():
            gateway = FilteredGateway.of(segment, network.by_name[segment.leaf])
            alike[segment.name][gateway.filters].append(gateway)
        groups = {name: tuple(rows.values()) for name, rows in alike.items()}
        return cls(policy, network, groups)

    @property
    def unknown(self) -> Mapping[tuple[str, str], str]:
        """Reasons why packets cannot be compared, by switch and position in its Device."""
        reasons = {
            (gateway.segment.leaf, path): reason
            for groups in self.groups.values()
            for gateway in (gateway for group in groups for gateway in group)
            for path, reason in gateway.reasons.items()
        }
        return reasons | dict(_outside_segments(self.network))

    def violations(self) -> Iterator[tuple[Decision, str]]:
        """Yield each decision against the policy, with a sentence on a packet and the segments."""
        violations: dict[Decision, tuple[str, dict[str, None]]] = {}
        for source, other, difference in self._differences():
            at = source.segment
            if difference.outbound:
                there = difference.packet.destination
                gateways = (gateway for group in self.groups[other] for gateway in group)
                at = next(g.segment for g in gateways if there in g.segment.prefix)
            decision = self._decision(
                at, difference.rule, dropped=difference.dropped, outbound=difference.outbound
            )
            _, pairs = violations.setdefault(decision, (str(difference.packet), {}))
            pairs[f"{source.segment.name} to {other}"] = None
        for decision, (packet, pairs) in violations.items():
            yield decision, f"{packet} {decision.reason} ({listing([*pairs])})"

    def decision_on(self, source: Server, destination: Server, flow: Flow) -> Decision | None:
        """Return what decides on a flow against the policy; None: filters do not cause it."""
        here, there = self._gateway(source), self._gateway(destination)
        if here is None or there is None:
            return None
        inbound, outbound = here.inbound, there.outbound
        names = source.segment, destination.segment
        packet = source.address.ip, destination.address.ip, flow
        rule = inbound.acl.first_match(*packet) if inbound else None
        dropped = bool(inbound and rule and inbound.drops(rule))
        late = outbound.denying(*packet) if outbound and not dropped else None
        if (dropped or late is not None) is not self.policy.allows(*names, flow):
            return None
        if late is not None:
            return self._decision(there.segment, late, dropped=True, outbound=True)
        return self._decision(here.segment, rule, dropped=dropped, outbound=False)

    def _gateway(self, server: Server) -> FilteredGateway | None:
        gateways = (one for group in self.groups.get(server.segment, ()) for one in group)
        return next((g for g in gateways if server.address.ip in g.segment.prefix), None)

    def _differences(self) -> Iterator[tuple[FilteredGateway, str, Difference]]:
        """Differences from the policy: gateway of the source, other segment, and packet.

        A group is judged as one, and only where it differs each of its gateways.
        """
        for name, other in product(self.groups, repeat=2):
            for sources, targets in product(self.groups[name], self.groups[other]):
                if not any(self._between(sources, targets)):
                    continue
                for source in sources:
                    others = [gateway for gateway in targets if gateway is not source]
                    for difference in self._between((source,), others):
                        yield source, other, difference

    def _between(
        self, sources: Sequence[FilteredGateway], targets: Sequence[FilteredGateway]
    ) -> Iterator[Difference]:
        if not targets:
            return
        here, there = sources[0], targets[0]
        yield from differences(
            self.policy,
            (here.segment.name, there.segment.name),
            (
                server_addresses(gateway.segment for gateway in sources),
                server_addresses(gateway.segment for gateway in targets),
            ),
            FiltersOnWay(here.inbound, there.outbound, bool(here.reasons or there.reasons)),
        )

    def _decision(
        self, at: Segment, rule: FilterRule | None, *, dropped: bool, outbound: bool
    ) -> Decision:
        """Position and words of what decides on a packet at a gateway."""
        device, svi = self.network.by_name[at.leaf].device, f"Vlanif{at.vlan}"
        field, way = (OUT, "outbound") if outbound else (IN, "inbound")
        interface = device.by_interface.get(svi)
        name = getattr(interface, field) if interface else None
        packet_filter = None if name is None else filter_of(device.filters, name)
        path = f"interfaces[{svi}]" + ("" if name is None else f".{field}")
        verb, verdict = ("is dropped by", "allows") if dropped else ("passes", "denies")
        if not isinstance(packet_filter, PacketFilter):
            what = f"{svi}, which applies no traffic policy {way}"
        elif rule is None:
            what = f"ACL {packet_filter.acl.name} {way} on {svi}, where no rule matches it"
        else:
            acl = packet_filter.acl.name
            path, what = f"filters.acls[{acl}].rules[{rule.index}]", f"rule {rule.index}"
            what += f" of ACL {acl} {way} on {svi}"
        place = DevicePlace(at.leaf, path)
        return Decision(place, f"{verb} {what}, and the policy {verdict} it")


def _outside_segments(network: Network) -> Iterator[tuple[tuple[str, str], str]]:
    """Subnets of switches that are of no segment, link or exit: the policy covers no host there."""
    gateways = {(part.leaf, f"Vlanif{part.vlan}"): part.gateway for part in network.segments or ()}
    inner = {
        (end.device, end.interface) for link in network.links or () for end in (link.a, link.b)
    }
    inner |= {(exit_.leaf, exit_.port) for exit_ in network.exits or ()}
    for node in network.nodes:
        for line in node.unmodelled:
            if dialect_of(node).forwarding_effect(line) == SUBNETS:
                reason = f"`{line.shown_text}` may change {SUBNETS}"
                yield (node.name, f"unmodelled[{line.line}]"), reason
        for port in node.device.interfaces:
            key = node.name, port.name
            if port.kind in ("loopback", "management") or port.vrf or key in inner:
                continue
            for address in port.addresses:
                if address != gateways.get(key):
                    place = node.name, f"interfaces[{port.name}].addresses"
                    yield place, f"{port.name} has {address}, which is the gateway of no segment"
