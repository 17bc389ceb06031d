"""Traffic of a scenario: groups of flows between servers, and TCP beside RoCE."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Frozen, Name

PATTERNS = (
    "incast: `count` servers send to one more. pairs: each of `count` servers sends to one of its "
    "own. all_to_all: each of `count` servers sends to all others. write: each of `count` clients "
    "sends to each of `targets` storage servers. read: the reverse. between: each of `senders` "
    "sends to each of `receivers`, which may be the same servers. demand: of a fabric, as its "
    "demand.yaml has it, each flow at most at its rate."
)


class Flows(Frozen):
    """Group of flows: which servers send to which, how much, and when."""

    pattern: Literal["incast", "pairs", "all_to_all", "write", "read", "between", "demand"] = Field(
        default="incast", description=PATTERNS
    )
    count: int | None = Field(
        default=None,
        ge=1,
        le=512,
        examples=[2],
        description="Number of sending servers, or of clients; not with `between` and `demand`.",
    )
    senders: tuple[Name, ...] = Field(
        default=(),
        examples=[["readout01", "readout02"]],
        description="Servers that send; of `between`. Outside of a fabric, a name that no other "
        "group has is a further server.",
    )
    receivers: tuple[Name, ...] = Field(
        default=(), examples=[["storage01"]], description="Servers that receive; of `between`."
    )
    targets: int = Field(
        default=1, ge=1, le=512, description="Number of storage servers of `read` and `write`."
    )
    queue_pairs: int = Field(
        default=1,
        ge=1,
        le=256,
        description="Number of flows from each sender to each of its receivers; each has its own "
        "path through the spines.",
    )
    bytes: int | None = Field(
        default=None,
        ge=1,
        le=10**12,
        examples=[2_000_000],
        description="Payload of each flow, bytes; none: flows that send until the end.",
    )
    start_spread_us: float = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Flows start at random times within this span, us; 0: all at once, at time 0.",
    )

    transport: Literal["roce", "tcp"] = Field(
        default="roce",
        description="roce: of the lossless queue, by `congestion_control`. tcp: of the lossy queue "
        "of `tcp`.",
    )
    gbps: float | None = Field(
        default=None,
        ge=0.001,
        le=800,
        examples=[10],
        description="Highest rate of each flow, Gb/s of whole packets; none: that of its port.",
    )
    burst_us: float | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        examples=[100],
        description="Length of the bursts of a flow, which sends them at `gbps`, or at its port's "
        "rate, us; none: it sends without breaks. A burst that is late is made up, as a detector "
        "buffers it.",
    )
    duty_percent: float | None = Field(
        default=None,
        ge=0.1,
        le=100,
        examples=[50],
        description="Share of the time that bursts take, percent; with `burst_us`.",
    )

    @property
    def has_names(self) -> bool:
        """Whether the group names servers, or has those of a demand."""
        return self.pattern in ("between", "demand")

    @property
    def bursts_us(self) -> tuple[float, float] | None:
        """Length and period of the bursts; None: the flows send without breaks."""
        if self.burst_us is None or self.duty_percent is None:
            return None
        return self.burst_us, self.burst_us * 100 / self.duty_percent

    @model_validator(mode="after")
    def _fits_its_pattern(self) -> Self:
        if self.has_names == (self.count is not None):
            raise ValueError(
                f"pattern {self.pattern} "
                + ("has no count; remove it" if self.has_names else "needs count; add it")
            )
        if (self.pattern == "between") != bool(self.senders and self.receivers):
            raise ValueError(
                "senders and receivers belong to pattern between; give both with it, or none"
            )
        if self.pattern == "between" and len({*self.senders, *self.receivers}) == 1:
            raise ValueError("senders and receivers are one server; name another one")
        if (self.burst_us is None) != (self.duty_percent is None):
            raise ValueError("burst_us and duty_percent belong together; give both or none")
        return self


class Tcp(Frozen):
    """Lossy queue of TCP on every port, beside that of RoCE; kbytes of 1,000 bytes.

    Its flows have slow start and congestion avoidance (RFC 5681), and find losses as RACK does
    (RFC 8985). Their ports have no ECN.
    """

    weight: int = Field(
        default=15,
        ge=1,
        le=100,
        description="Weight of TCP's queue (DWRR); those of a CloudEngine in the vendor's AI "
        "Fabric HPC case are 15 and 65.",
    )
    roce_weight: int = Field(default=65, ge=1, le=100, description="Weight of RoCE's queue.")
    alpha: float = Field(
        default=1,
        gt=0,
        le=1024,
        description="Dynamic threshold: TCP's queue of a port may have alpha times the free shared "
        "pool; packets beyond are dropped.",
    )
    packet_bytes: int = Field(
        default=1500,
        ge=128,
        le=9300,
        description="Size of a full packet of TCP with 70 bytes of headers, bytes.",
    )
    min_rto_ms: float = Field(
        default=200,
        gt=0,
        le=10_000,
        description="Shortest retransmission timeout, ms; Linux has 200, RFC 6298 1,000. That of "
        "a flow before its first acknowledgment is 1,000.",
    )
