"""Scenario of a packet simulation: traffic, topology, buffers, ECN, NICs, and values of a search.

Sizes in keys that end in `_kbytes` are of 1,000 bytes, as in the HPCC simulator and in the DCQCN
paper; a CloudEngine's kbyte is taken as 1,024 (`rocefort.models.units`). Gb/s are 10^9 bit/s of
whole packets, without preamble and gap between frames.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.fabric.congestion_control import DcqcnParameters, Mbps
from rocefort.models.fabric.lossless import SpeedGbps
from rocefort.tune.traffic import Flows, Tcp

KB = 1000  # bytes of a kbyte in scenarios and settings
Size = Annotated[float, Field(ge=0, le=1_000_000)]
Percent = Annotated[float, Field(ge=0, le=100)]
NicKey = Literal[
    "increase_timer_us",
    "recovery_stages",
    "additive_increase_mbps",
    "hyper_increase_mbps",
    "alpha_divisor_log2",
    "min_decrease_percent",
    "decrease_period_us",
    "alpha_kept_of_1024",
    "alpha_period_us",
    "cnp_interval_us",
    "min_rate_mbps",
]


class SearchSpace(Frozen):
    """Values of each parameter that a search tries; an empty list: as the scenario has it."""

    kmin_kbytes: tuple[Size, ...] = Field(
        default=(),
        examples=[[100, 200, 400]],
        max_length=200,
        description="Lower thresholds of ECN (Kmin), kbytes.",
    )
    width_kbytes: tuple[Size, ...] = Field(
        default=(),
        examples=[[100, 400]],
        max_length=200,
        description="Distances from Kmin to Kmax, kbytes.",
    )
    pmax_percent: tuple[Percent, ...] = Field(
        default=(),
        examples=[[1, 10, 20]],
        max_length=200,
        description="Shares of marked packets at Kmax (Pmax), percent.",
    )
    alpha: tuple[Annotated[float, Field(gt=0, le=1024)], ...] = Field(
        default=(),
        examples=[[1, 3, 5, 11, 20]],
        max_length=200,
        description="Dynamic thresholds of PFC.",
    )
    xoff_kbytes: tuple[Size, ...] = Field(
        default=(),
        examples=[[400, 600]],
        max_length=200,
        description="Static thresholds of PFC, kbytes; instead of alpha.",
    )
    xon_gap_kbytes: tuple[Size, ...] = Field(
        default=(),
        examples=[[50]],
        max_length=200,
        description="Distances from xon to xoff, kbytes.",
    )
    headroom_kbytes: tuple[Size, ...] = Field(
        default=(), examples=[[100, 200]], max_length=200, description="Headroom of a port, kbytes."
    )
    nic: dict[NicKey, tuple[Annotated[int, Field(ge=0, le=1_600_000)], ...]] = Field(
        default_factory=dict,
        examples=[{"cnp_interval_us": [4, 50]}],
        description="Values of the NICs' parameters of DCQCN, by key.",
    )


Control = Literal["dcqcn", "dctcp", "hpcc", "timely", "pfc_only"]
PortGbps = Literal[10, 25, 40, 50, 100, 200, 400, 800]
Kbytes = Annotated[float, Field(ge=0, le=1_000_000)]
DEFAULT_SEEDS = (1, 2, 3, 4, 5)
MAIN_GROUP = "flows"


class Limits(Frozen):
    """ECN of a port: no marks up to Kmin, Pmax at Kmax, all packets above."""

    kmin_kbytes: Kbytes = Field(
        examples=[41.6], description="Lower threshold (Kmin), kbytes of 1,000 bytes."
    )
    kmax_kbytes: Kbytes = Field(
        examples=[249.6], description="Upper threshold (Kmax), kbytes of 1,000 bytes."
    )
    pmax_percent: float = Field(
        ge=0,
        le=100,
        examples=[20],
        description="Share of packets that are marked at Kmax (Pmax), percent.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.kmin_kbytes > self.kmax_kbytes:
            raise ValueError("kmin_kbytes is above kmax_kbytes; exchange them")
        return self

    def times(self, factor: float) -> Limits:
        """Thresholds of a port that is so many times as fast."""
        return Limits.model_construct(
            kmin_kbytes=self.kmin_kbytes * factor,
            kmax_kbytes=self.kmax_kbytes * factor,
            pmax_percent=self.pmax_percent,
        )


class Marking(Limits):
    """ECN of every switch port."""

    scale_with_speed: bool = Field(
        default=False,
        description="Whether the thresholds are of a port of `port_gbps`, and grow with the speed "
        "of faster ports; false: they are of every port.",
    )
    by_speed: dict[SpeedGbps, Limits] = Field(
        default_factory=dict, description="Thresholds of ports of other speeds, Gb/s."
    )

    def of_port(self, gbps: int, base_gbps: int) -> Limits:
        """Thresholds of a port. base_gbps: `port_gbps` of the scenario."""
        own = next((x for speed, x in self.by_speed.items() if int(speed) == gbps), None)
        if own is not None:
            return own
        return self.times(gbps / base_gbps if self.scale_with_speed else 1)


class Buffer(Frozen):
    """Buffer of every switch, with PFC; kbytes of 1,000 bytes."""

    total_kbytes: float | None = Field(
        default=None,
        gt=0,
        le=10_000_000,
        examples=[8388],
        description="Buffer of a switch, kbytes; none: 16/50 MiB for each Gb/s of `port_gbps`, as "
        "the HPCC simulator has it: 8 MiB at 25 Gb/s.",
    )
    pfc: bool = Field(
        default=True, description="Whether PFC pauses the sender; without it packets are dropped."
    )
    alpha: float = Field(
        default=0.125,
        gt=0,
        le=1024,
        description="Dynamic threshold: a port may use alpha times the free shared pool.",
    )
    scale_alpha_with_speed: bool = Field(
        default=True,
        description="Whether alpha is of a port of `port_gbps`, and doubles with the speed of "
        "faster ports, up to 1.",
    )
    xoff_kbytes: Kbytes | None = Field(
        default=None,
        examples=[614.4],
        description="Static threshold instead of alpha: a port pauses here, kbytes.",
    )
    xon_kbytes: Kbytes | None = Field(
        default=None,
        examples=[563.2],
        description="The peer sends again at this fill, kbytes; with `xoff_kbytes`.",
    )
    xon_offset_kbytes: Kbytes = Field(
        default=3.072,
        description="With alpha: the peer sends again so far below the threshold, kbytes.",
    )
    reserve_kbytes: Kbytes = Field(
        default=4.096, description="Buffer of each port before it uses the shared pool, kbytes."
    )
    headroom_kbytes: Kbytes | None = Field(
        default=None,
        examples=[29.12],
        description="Buffer of each port beyond xoff, kbytes; none: what the formula of rule "
        "BUF001 gives for the port's speed, delay and packets.",
    )
    response_quanta: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        examples=[118],
        description="Time between the arrival of a pause frame and its effect, in 512 bit times; "
        "none: the longest that IEEE 802.3 (31B.3.7) allows at the port's speed. The HPCC "
        "simulator has 0.",
    )
    interface_quanta: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        examples=[0],
        description="Delay of the pausing port's own MAC and PHY, out and in, in 512 bit times; "
        "none: the same bound of IEEE 802.3. The HPCC simulator has 0.",
    )
    cnp_queue: Literal["strict", "data"] = Field(
        default="strict",
        description="Queue of CNPs and ACKs: of strict priority and never paused, or the data's.",
    )

    @model_validator(mode="after")
    def _both_thresholds(self) -> Self:
        if (self.xoff_kbytes is None) != (self.xon_kbytes is None):
            raise ValueError("xoff_kbytes and xon_kbytes belong together; give both or none")
        if (self.xon_kbytes or 0) > (self.xoff_kbytes or 0):
            raise ValueError("xon_kbytes is above xoff_kbytes; exchange them")
        return self


class Nic(DcqcnParameters):
    """Congestion control of the NICs; a key that is left out has the profile's value."""

    profile: Name = Field(
        default="hpcc-simulator",
        description="Profile of DCQCN with the values of omitted keys: a name of "
        "inventory/profiles/congestion_control.yaml.",
        examples=["connectx-dcqcn", "paper-dcqcn"],
    )
    byte_counter: bool = Field(
        default=False,
        description="Whether `byte_counter_bytes` raises rates, besides the timer; simulators "
        "leave it out.",
    )
    step_mbps: Mbps | None = Field(
        default=None,
        examples=[50],
        description="Additive increase of DCTCP, HPCC or TIMELY, Mb/s; none: the HPCC "
        "simulator's, which is 615 for DCTCP, 10 per 25 Gb/s for HPCC, and 10 per 10 Gb/s for "
        "TIMELY.",
    )
    window: bool | None = Field(
        default=None,
        examples=[False],
        description="Whether a flow has at most the product of line rate and round trip under "
        "way; none: as in the HPCC simulator, only with DCTCP and HPCC.",
    )
    utilisation_percent: float = Field(
        default=95,
        gt=0,
        le=100,
        description="Target of HPCC (eta), percent of the fullest link.",
    )
    acks: Literal["auto", "every_packet"] = Field(
        default="auto",
        description="auto: every packet has an ACK, but those of DCQCN are left out where no data "
        "shares their way, so that they delay nothing.",
    )


def lowest_rate_mbps(nic: DcqcnParameters) -> float:
    """Return the rate below which DCQCN does not cut a flow, Mb/s.

    1, the default of a ConnectX (NVIDIA, DCQCN CC Parameters), where the profile names none.
    """
    return 1 if nic.min_rate_mbps is None else max(1, nic.min_rate_mbps)


class Topology(Frozen):
    """Servers and switches: one switch, or leaves and spines."""

    kind: Literal["one_switch", "leaf_spine", "fabric"] = Field(
        default="one_switch",
        description="One switch with all servers; leaves and spines; or those of a fabric with "
        "their speeds, cable lengths and buffers.",
    )
    fabric: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        examples=["heps"],
        description="A fabric.yaml, its directory, or a name; of kind fabric.",
    )
    leaves: int = Field(default=2, ge=1, le=64, description="Number of leaves.")
    spines: int = Field(default=2, ge=1, le=64, description="Number of spines.")
    uplink_gbps: PortGbps = Field(default=100, description="Speed between leaf and spine, Gb/s.")
    uplink_delay_us: float | None = Field(
        default=None,
        ge=0,
        le=10_000,
        examples=[0.5],
        description="Delay of a cable between leaf and spine, us; none: `link_delay_us`.",
    )


class Scenario(Frozen):
    """Scenario that `rocefort tune simulate` runs."""

    scenario: Description = Field(
        default="unnamed", description="Name of the scenario.", examples=["two-to-one"]
    )
    congestion_control: Control = Field(
        default="dcqcn", description="Congestion control of the NICs."
    )
    flows: Flows = Field(description="Traffic; its group has the name `flows`.")
    beside: dict[Name, Flows] = Field(
        default_factory=dict,
        max_length=16,
        description="Further groups of flows by name, such as victims of a congestion, or TCP. "
        "Each has its own goodput and completion in the result.",
    )
    tcp: Tcp = Field(default_factory=Tcp, description="Lossy queue of groups with transport tcp.")
    port_gbps: PortGbps = Field(
        default=25,
        description="Speed of servers' ports, Gb/s; it carries whole packets, without preamble "
        "and gap.",
    )
    link_delay_us: float = Field(
        default=1, ge=0, le=10_000, description="Delay of each cable, one way, us."
    )
    packet_bytes: int = Field(
        default=1048,
        ge=128,
        le=9300,
        description="Size of a full data packet with its headers, bytes.",
    )
    header_bytes: int = Field(
        default=48,
        ge=0,
        le=127,
        description="Headers in it, bytes; the rest is the payload that goodput counts. HPCC adds "
        "42 bytes of telemetry.",
    )
    ecn: Marking | None = Field(
        default=None,
        description="ECN; none: as the HPCC simulator has it. DCQCN: 100 and 400 kbytes per 25 "
        "Gb/s, 20 %; DCTCP: all packets above 30 kbytes per 10 Gb/s; none with the others.",
    )
    buffer: Buffer = Field(default_factory=Buffer, description="Buffer of the switches, and PFC.")
    nic: Nic = Field(default_factory=Nic, description="Congestion control of the NICs.")
    topology: Topology = Field(default_factory=Topology, description="Servers and switches.")
    corrupted_percent: Percent = Field(
        default=0,
        examples=[0.1],
        description="Share of RoCE's data packets that arrive corrupted, percent: the receiver "
        "discards them, and go-back-N sends again from there.",
    )
    duration_ms: float | None = Field(
        default=None,
        gt=0,
        le=10_000,
        examples=[20],
        description="End of the simulation, ms; none: 10 ms, and with `flows.bytes` the last "
        "flow's end, at most 1,000 ms.",
    )
    measure_from_ms: float | None = Field(
        default=None,
        ge=0,
        le=10_000,
        examples=[2],
        description="Goodput of endless flows, queues, marks, pauses and drops count from "
        "here, ms; none: a tenth of the duration, and 0 with `flows.bytes`.",
    )
    seeds: tuple[int, ...] = Field(
        default=DEFAULT_SEEDS,
        min_length=1,
        max_length=100,
        examples=[[1, 2, 3]],
        description="One run for each; results are means over the runs.",
    )

    search: SearchSpace | None = Field(
        default=None,
        description="Values that `rocefort tune search --scenario` tries; none: the published grid "
        "of ByteTuning, in proportion to `port_gbps`. `tune simulate` ignores it.",
    )

    @property
    def groups(self) -> dict[str, Flows]:
        """All groups of flows by name."""
        return {MAIN_GROUP: self.flows, **self.beside}

    @property
    def has_tcp(self) -> bool:
        """Whether a group is of TCP."""
        return any(group.transport == "tcp" for group in self.groups.values())

    @property
    def end_ms(self) -> float:
        """Latest end of the simulation."""
        return self.duration_ms or (10 if self.flows.bytes is None else 1_000)

    @property
    def begin_ms(self) -> float:
        """Begin of the measured time."""
        if self.measure_from_ms is not None:
            return self.measure_from_ms
        return self.end_ms / 10 if self.flows.bytes is None else 0

    @model_validator(mode="after")
    def _measures_something(self) -> Self:
        if self.begin_ms >= self.end_ms:
            raise ValueError("measure_from_ms is not before the end; reduce it")
        if (self.topology.kind == "fabric") != bool(self.topology.fabric):
            raise ValueError(
                "topology.kind fabric and topology.fabric belong together; give both or none"
            )
        if MAIN_GROUP in self.beside:
            raise ValueError(f"beside.{MAIN_GROUP} is the name of the first group; rename it")
        for name, group in self.groups.items():
            key = MAIN_GROUP if name == MAIN_GROUP else f"beside.{name}"
            if error := self._misfit(group, key):
                raise ValueError(error)
        if self.tcp != Tcp() and not self.has_tcp:
            raise ValueError("tcp has no flows; give a group transport: tcp, or remove the key")
        if any(not 0 <= seed < 2**63 for seed in self.seeds):
            raise ValueError("a seed is out of range; write 0 to 9223372036854775807")
        return self

    def _misfit(self, group: Flows, key: str) -> str:
        """Return why a group does not fit the topology; empty if it does."""
        is_fabric = self.topology.kind == "fabric"
        if is_fabric and not group.has_names:
            return f"{key}: a fabric has pattern between or demand; write one of them"
        if group.pattern == "demand" and not is_fabric:
            return f"{key}: pattern demand needs topology.kind fabric; add it"
        if group.pattern == "all_to_all" and group.count == 1:
            return f"{key}: all_to_all needs two servers or more; raise {key}.count"
        if name := next((n for n in (*group.senders, *group.receivers) if self._is_switch(n)), ""):
            return f"{key}: {name} is a switch of the topology; rename the server"
        return ""

    def _is_switch(self, name: str) -> bool:
        """Whether a topology that is not a fabric's has a switch of a name."""
        topology = self.topology
        if topology.kind == "leaf_spine":
            return name in {
                *(f"leaf{n + 1}" for n in range(topology.leaves)),
                *(f"spine{n + 1}" for n in range(topology.spines)),
            }
        return topology.kind == "one_switch" and name == "switch"
