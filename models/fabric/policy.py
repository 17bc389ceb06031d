"""Intent for traffic between segments: allowed and denied conversations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Frozen, Name
from rocefort.models.device.packet_filters import ROCE_PORT, Flow, PortRange, Protocol
from rocefort.models.fabric.unique import unique_by
from rocefort.models.wording import named

LAST_ENTRY = 9999  # so that numbers of rules stay readable: entry 12 to VLAN 130 is rule 120130
Action = Literal["allow", "deny"]
Port = Annotated[int, Field(ge=0, le=65535, json_schema_extra=named("a TCP or UDP port"))]


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
    def flows(self) -> tuple[Flow, Flow]:
        """Example of a request, and of the reply to it."""
        if self.protocol in ("any", "rdma"):
            return Flow(), Flow()
        service = self.service.low if self.service else 0
        kind = self.protocol
        there = Flow(protocol=kind, destination_port=service)
        back = Flow(
            protocol=there.protocol,
            source_port=there.destination_port,
            destination_port=there.source_port,
        )
        return there, back

    def fits(self, source: str, destination: str, flow: Flow) -> bool:
        """Whether the entry applies to packets of a flow from one segment to another."""
        if self.wire_protocol not in ("ip", flow.protocol):
            return False
        ports, forward = self.service, source in self.source and destination in self.destination
        if forward and (ports is None or flow.destination_port in ports):
            return True
        reply = flow.destination_port if self.symmetric else flow.source_port
        backward = source in self.destination and destination in self.source
        return backward and (ports is None or reply in ports)


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

    def allows(self, source: str, destination: str, flow: Flow) -> bool:
        """Whether packets of a flow may go from one segment to another, or within one."""
        for entry in self.ordered:
            if entry.fits(source, destination, flow):
                return entry.action == "allow"
        return source == destination or self.default == "allow"

    def examples(self) -> Iterator[tuple[str, str, Flow]]:
        """Flows of its entries besides RDMA, as from, to, flow; requests and replies."""
        rows = dict.fromkeys(
            (*pair, flow)
            for entry in self.ordered
            for source in entry.source
            for destination in entry.destination
            for pair, flow in zip(
                ((source, destination), (destination, source)), entry.flows, strict=True
            )
        )
        yield from (example for example in rows if example[2] != Flow())
