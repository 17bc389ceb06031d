"""Exact comparison of a policy between two segments with the packet filters between them.

The fields of a packet are cut at every boundary that a rule or the policy names. All packets of
one part are treated alike, so one packet of each part decides for all packets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from itertools import product
from typing import NamedTuple, TypeVar

from rocefort.models.device.packet_filters import (
    ENTROPY_PORT,
    LAST_PORT,
    ROCE_PORT,
    FilterRule,
    PortRange,
)
from rocefort.models.fabric.policy import PolicyRow, SegmentPolicy
from rocefort.models.network.network import Segment
from rocefort.validators.routing.packet_filters import PacketFilter

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
