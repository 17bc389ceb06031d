"""Intent for traffic between segments: allowed and denied conversations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from rocefort.models.base import Frozen, Name
from rocefort.models.device.packet_filters import (
    ENTROPY_PORT,
    ROCE_PORT,
    Flow,
    PortRange,
    Protocol,
)
from rocefort.models.fabric.types import unique_by
from rocefort.models.wording import named

LAST_ENTRY = 9999  # so that numbers of rules stay readable: entry 12 to VLAN 130 is rule 120130
FREE_PORTS = (22, *range(1024, ENTROPY_PORT + 1))  # of flows that no entry names
Action = Literal["allow", "deny"]
Port = Annotated[int, Field(ge=0, le=65535, json_schema_extra=named("a TCP or UDP port"))]


class PolicyRow(NamedTuple):
    """Packets of one direction that an entry is about; None: all ports."""

    protocol: Protocol
    source_ports: PortRange | None
    destination_ports: PortRange | None

    def matches(self, flow: Flow) -> bool:
        """Whether packets of a flow are among them."""
        return (
            self.protocol in ("ip", flow.protocol)
            and (self.source_ports is None or flow.source_port in self.source_ports)
            and (self.destination_ports is None or flow.destination_port in self.destination_ports)
        )


class PolicyEntry(Frozen):
    """Traffic from some segments to others; `id` is permanent and never reused.

    An entry applies to conversations: packets that the source sends, and replies to them.
    """

    id: int = Field(
        ge=1,
        le=LAST_ENTRY,
        json_schema_extra=named("an id"),
        examples=[10],
        description="Permanent number; the lowest entry that fits decides, and ACL rules follow.",
    )
    action: Action = Field(description="What happens to it.")
    source: Annotated[tuple[Name, ...], unique_by(str)] = Field(
        min_length=1, description="Segments whose servers begin to talk.", examples=[["compute"]]
    )
    destination: Annotated[tuple[Name, ...], unique_by(str)] = Field(
        min_length=1, description="Segments whose servers are talked to.", examples=[["storage"]]
    )
    protocol: Literal["any", "rdma", "tcp", "udp", "icmp"] = Field(
        default="any", description="What it is about; rdma is UDP 4791 (RoCEv2)."
    )
    ports: tuple[Port, ...] = Field(
        default=(),
        max_length=2,
        description="Port of the destination, or the first and the last; none: all. TCP and UDP.",
        examples=[[2049], [8000, 8999]],
    )

    @model_validator(mode="after")
    def _ports_fit(self) -> Self:
        if not self.ports:
            return self
        if self.protocol not in ("tcp", "udp"):
            raise ValueError(f"ports with protocol {self.protocol}; give them with tcp or udp")
        if self.ports[0] > self.ports[-1]:
            raise ValueError(
                f"ports {self.ports[0]} to {self.ports[-1]}; the lower one comes first"
            )
        return self

    @property
    def wire_protocol(self) -> Protocol:
        """Protocol as an ACL names it."""
        names: dict[str, Protocol] = {"any": "ip", "rdma": "udp"}
        return names.get(self.protocol) or self.protocol  # type: ignore[return-value]  # the rest

    @property
    def service(self) -> PortRange | None:
        """Ports of the destination."""
        if self.protocol == "rdma":
            return PortRange(low=ROCE_PORT, high=ROCE_PORT)
        return None if not self.ports else PortRange(low=self.ports[0], high=self.ports[-1])

    @property
    def symmetric(self) -> bool:
        """Whether replies match as requests do: RoCEv2 replies go to port 4791, too."""
        return self.service is None or self.protocol == "rdma"

    @property
    def flows(self) -> Iterator[tuple[Flow, Flow]]:
        """Examples of requests with their replies, at the ends of a range of ports."""
        if self.protocol in ("tcp", "udp") and self.service:
            kind: Literal["tcp", "udp"] = "tcp" if self.protocol == "tcp" else "udp"
            for port in sorted({self.service.low, self.service.high}):
                there = Flow(protocol=kind, destination_port=port)
                back = Flow(protocol=kind, source_port=port, destination_port=there.source_port)
                yield there, back

    def rows(self, source: str, destination: str) -> Iterator[PolicyRow]:
        """Packets from one segment to another that the entry is about: requests and replies."""
        request = PolicyRow(self.wire_protocol, None, self.service)
        reply = request if self.symmetric else PolicyRow(self.wire_protocol, self.service, None)
        if source in self.source and destination in self.destination:
            yield request
        if source in self.destination and destination in self.source:
            yield reply


class SegmentPolicy(Frozen):
    """Policy between segments: the lowest entry that fits decides, else the default."""

    default: Action = Field(
        default="allow",
        description="For traffic between different segments that no entry is about.",
    )
    entries: tuple[PolicyEntry, ...] = Field(default=(), description="What differs from it.")

    @property
    def ordered(self) -> tuple[PolicyEntry, ...]:
        """Entries in the order in which they decide."""
        return tuple(sorted(self.entries, key=lambda entry: entry.id))

    def rows(self, source: str, destination: str) -> tuple[tuple[PolicyRow, bool], ...]:
        """Packets from one segment to another by entry, each with whether they may go."""
        return tuple(
            (row, entry.action == "allow")
            for entry in self.ordered
            for row in entry.rows(source, destination)
        )

    def otherwise(self, source: str, destination: str) -> bool:
        """Whether packets may go that no entry is about; the default leaves a segment whole."""
        return source == destination or self.default == "allow"

    def allows(self, source: str, destination: str, flow: Flow) -> bool:
        """Whether packets of a flow may go from one segment to another, or within one."""
        rows = self.rows(source, destination)
        return next(
            (allowed for row, allowed in rows if row.matches(flow)),
            self.otherwise(source, destination),
        )

    def examples(self, segments: Collection[str]) -> Iterator[tuple[str, str, Flow]]:
        """Flows beside RDMA that show each part of the policy, as from, to, flow.

        Those of the entries, requests and replies, and between all segments those that only an
        entry without ports or the default decides: ICMP, TCP and UDP at ports that no entry names.
        """
        rows: dict[tuple[str, str, Flow], None] = {}
        for entry in self.ordered:
            for source, destination in product(entry.source, entry.destination):
                for request, reply in entry.flows:
                    rows[source, destination, request] = rows[destination, source, reply] = None
        probes = tuple(self._unnamed_flows())
        for source, destination in product(segments, repeat=2):
            rows |= {(source, destination, flow): None for flow in probes}
        yield from (example for example in rows if example[2] != Flow())

    def _unnamed_flows(self) -> Iterator[Flow]:
        """ICMP, and TCP and UDP whose ports no entry names, if any are left."""
        protocols: tuple[Literal["tcp", "udp"], ...] = ("tcp", "udp")
        for protocol in protocols:
            services = [e.service for e in self.entries if e.wire_protocol == protocol]
            free = [port for port in FREE_PORTS if not any(s and port in s for s in services)]
            if len(free) > 1:
                yield Flow(protocol=protocol, source_port=free[-1], destination_port=free[0])
        yield Flow(protocol="icmp")
