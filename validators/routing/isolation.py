"""Isolation of segments: all packets that gateways filter, compared with the segment policy.

The fields of a packet are cut at every boundary that a rule or the policy names. All packets of
one part are treated alike, so one packet of each part decides for all packets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from itertools import product
from typing import NamedTuple, TypeVar

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.dialect import FILTERED, SUBNETS
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import (
    ENTROPY_PORT,
    LAST_PORT,
    ROCE_PORT,
    FilterRule,
    Flow,
    PortRange,
)
from rocefort.models.fabric.policy import PolicyRow, SegmentPolicy
from rocefort.models.network.network import Network, Node, Segment, Server
from rocefort.models.wording import listing
from rocefort.validators.routing.packet_filters import (
    PacketFilter,
    applied_policies,
    filter_of,
    unevaluated,
)
from rocefort.validators.routing.underlay import DevicePlace

Row = TypeVar("Row")

OTHER = "protocol 47"  # GRE represents every protocol that no rule names
WITH_PORTS = ("udp", "tcp")
PROTOCOLS = (*WITH_PORTS, "icmp", OTHER)
SSH_PORT = 22
LARGEST_PREFIX = 30  # longer prefixes have no network address and no broadcast address

Span = tuple[int, int]  # closed
Spans = Sequence[Span]  # sorted, disjoint
Parts = dict[int, int]  # a value of each part, by the bits of the rows that match it
ALL_PORTS: Spans = ((0, LAST_PORT),)


class Packet(NamedTuple):
    """Packet that two sets treat differently."""

    protocol: str
    source: IPv4Address
    destination: IPv4Address
    source_port: int
    destination_port: int

    def __str__(self) -> str:
        if self.protocol not in WITH_PORTS:
            return f"{self.protocol} {self.source} > {self.destination}"
        near = f"{self.source}:{self.source_port}"
        return f"{self.protocol} {near} > {self.destination}:{self.destination_port}"


@dataclass(frozen=True, slots=True)
class FiltersOnWay:
    """Filters at the source's gateway (inbound) and at the destination's (outbound).

    None: no filter. unknown: a filter there cannot be evaluated, so it may drop any packet.
    """

    inbound: PacketFilter | None = None
    outbound: PacketFilter | None = None
    unknown: bool = False


class Difference(NamedTuple):
    """Packet that the filters treat against the policy, and the rules that match it."""

    packet: Packet
    dropped: bool
    outbound: bool  # the outbound filter drops it
    rule: FilterRule | None  # which drops it, or the inbound rule that permits it


def server_addresses(segments: Iterable[Segment]) -> Spans:
    """Addresses that servers of some parts of segments may have: not those of the switch."""
    spans: list[Span] = []
    for segment in segments:
        prefix, gateway = segment.prefix, int(segment.gateway.ip)
        first, last = int(prefix.network_address), int(prefix.broadcast_address)
        if prefix.prefixlen <= LARGEST_PREFIX:
            first, last = first + 1, last - 1
        ends = ((first, min(gateway - 1, last)), (max(gateway + 1, first), last))
        spans += [(low, high) for low, high in ends if low <= high]
    return sorted(spans)


def differences(
    policy: SegmentPolicy,
    names: tuple[str, str],
    addresses: tuple[Spans, Spans],
    way: FiltersOnWay,
) -> Iterator[Difference]:
    """Yield a packet of each part that the filters treat against the policy; RDMA is first.

    names, addresses: of the source and of the destination.
    """
    if not all(addresses):
        return
    inbound = _rules_between(way.inbound, addresses)
    outbound = _rules_between(way.outbound, addresses)
    stated = policy.rows(*names)
    rules, spare = (*inbound, *outbound), (None,) * len(stated)  # the policy names segments
    rows: tuple[FilterRule | PolicyRow, ...] = (*rules, *(row for row, _ in stated))
    sources = _parts(addresses[0], (*(_span(rule.source) for rule in rules), *spare))
    destinations = _parts(addresses[1], (*(_span(rule.destination) for rule in rules), *spare))
    for protocol in PROTOCOLS:
        kinds = sum(1 << n for n, row in enumerate(rows) if row.protocol in ("ip", protocol))
        near = _port_parts(protocol, [row.source_ports for row in rows], (ENTROPY_PORT,))
        ports = (ROCE_PORT, SSH_PORT) if protocol == "udp" else (SSH_PORT,)
        far = _port_parts(protocol, [row.destination_ports for row in rows], ports)
        for one in product(sources, destinations, near, far):
            bits = kinds & one[0] & one[1] & one[2] & one[3]
            first = _first(bits, inbound)
            bits >>= len(inbound)
            second = _first(bits, outbound)
            fitting = _first(bits >> len(outbound), stated)
            allowed = fitting[1] if fitting else policy.otherwise(*names)
            stops = bool(way.inbound and first and way.inbound.drops(first))
            late = not stops and bool(way.outbound and second and way.outbound.drops(second))
            dropped = stops or late
            if dropped is not allowed or (way.unknown and not dropped):
                continue
            packet = Packet(
                protocol,
                IPv4Address(sources[one[0]]),
                IPv4Address(destinations[one[1]]),
                near[one[2]],
                far[one[3]],
            )
            yield Difference(packet, dropped, late, second if late else first)


def _rules_between(
    packet_filter: PacketFilter | None, addresses: tuple[Spans, Spans]
) -> list[FilterRule]:
    """Rules of a filter that match packets between two sets of addresses."""
    if packet_filter is None:
        return []
    sources, destinations = addresses
    return [
        rule
        for rule in packet_filter.acl.rules
        if _meets(sources, _span(rule.source)) and _meets(destinations, _span(rule.destination))
    ]


def _span(network: IPv4Network | None) -> Span | None:
    if network is None:
        return None
    return int(network.network_address), int(network.broadcast_address)


def _meets(spans: Spans, span: Span | None) -> bool:
    return span is None or _first_value(spans, *span) is not None


def _first_value(spans: Spans, low: int, high: int) -> int | None:
    """Lowest value of a set that is in a range; None: there is none."""
    at = bisect_left(spans, low, key=lambda span: span[1])
    value = max(low, spans[at][0]) if at < len(spans) else high + 1
    return value if value <= high else None


def _parts(spans: Spans, rows: Sequence[Span | None], preferred: Sequence[int] = ()) -> Parts:
    """Cut a set, which has a value, at the ends of the rows' ranges (None: all values)."""
    edges = {edge for row in rows if row for edge in (row[0], row[1] + 1)}
    starts = sorted({spans[0][0], *edges})
    pieces = zip(starts, [*(edge - 1 for edge in starts[1:]), spans[-1][1]], strict=True)
    values = (_first_value(spans, low, high) for low, high in pieces if low <= high)
    parts: Parts = {}
    for value in (*preferred, *(value for value in values if value is not None)):
        bits = sum(1 << n for n, r in enumerate(rows) if r is None or r[0] <= value <= r[1])
        parts.setdefault(bits, value)
    return parts


def _port_parts(protocol: str, rows: Sequence[PortRange | None], preferred: Sequence[int]) -> Parts:
    """Parts of all ports; packets without ports match no row that names one."""
    if protocol not in WITH_PORTS:
        return {sum(1 << n for n, row in enumerate(rows) if row is None): 0}
    return _parts(ALL_PORTS, [(row.low, row.high) if row else None for row in rows], preferred)


def _first(bits: int, rows: Sequence[Row]) -> Row | None:
    """First of some rows that matches; the lowest bits are theirs."""
    bits &= (1 << len(rows)) - 1
    return rows[(bits & -bits).bit_length() - 1] if bits else None


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
