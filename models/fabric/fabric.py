"""Fabric: the intent, as its author writes it in `fabric.yaml`, with its named profiles.

Names contain the unit of a value. Every default is named here.
"""

from __future__ import annotations

from functools import cached_property

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticKnownError

from rocefort.models.base import Frozen, Name
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.fabric.bench import Bench, with_bench_values, without_replaced
from rocefort.models.fabric.calendar import Calendar
from rocefort.models.fabric.congestion_control import CongestionControl
from rocefort.models.fabric.hosts import Adapter, HostProfile, NicProfile
from rocefort.models.fabric.lossless import EcnProfile, Lossless
from rocefort.models.fabric.management_plane import Security, Services
from rocefort.models.fabric.rdma import Rdma, Window
from rocefort.models.fabric.topology import (
    Cables,
    Leaf,
    LinkPin,
    Management,
    Rack,
    SegmentIntent,
    ServerIntent,
    Switch,
    WanPath,
)
from rocefort.models.fabric.trial_time import SETTLE_S
from rocefort.models.fabric.types import MOST_PATHS, LinksPerPair, Mtu
from rocefort.models.fabric.underlay import Capacity, Pools, Routing
from rocefort.models.finding import Waiver
from rocefort.models.wording import named


class Profiles(Frozen):
    """Named profiles, one field for each kind. A new kind needs a field here, and nothing else."""

    lossless: dict[Name, Lossless] = Field(
        default_factory=dict, description="What RoCE gets on the switches, by name."
    )
    ecn: dict[Name, EcnProfile] = Field(
        default_factory=dict, description="Who marks the lossless queue, and where, by name."
    )
    congestion_control: dict[Name, CongestionControl] = Field(
        default_factory=dict, description="How the servers' NICs react to marks, by name."
    )
    nic: dict[Name, NicProfile] = Field(
        default_factory=dict, description="How the NICs of servers are set, by name."
    )
    adapter: dict[Name, Adapter] = Field(
        default_factory=dict, description="Makes of NICs and their own names of settings."
    )
    host: dict[Name, HostProfile] = Field(
        default_factory=dict, description="How servers' operating systems are tuned, by name."
    )


class Rollout(Frozen):
    """Policy of rollouts: canary, trial, soak, drain and approvals.

    A spine with a service-affecting change is drained first, if the routing engine finds that no
    server becomes unreachable. A plan is refused in three cases. Fewer than `least_ecmp_width`
    paths remain between two leaves. A pair of servers is disconnected. The demand beside the fabric
    (its peak times `peak_share`) fits the whole fabric, but not the rest of it. A demand that does
    not fit the whole fabric is only a warning, with the numbers. Leaves above
    `policy.oversubscription` during a wave are a warning, too.
    """

    canary: Name = Field(description="Name of the leaf that gets every change first.")
    trial_s: int = Field(  # range of `commit trial`, V300R023C00
        default=600,
        ge=60,
        le=65535,
        json_schema_extra=named("a trial time"),
        description="Time after which a trial ends, s: then the switch rolls back automatically. A "
        "plan raises it for a soak. It is shorter on a release without `persist`, where only the "
        "session that began a trial can end it.",
    )
    settle_s: int = Field(
        default=SETTLE_S,
        ge=1,
        le=3600,
        json_schema_extra=named("a time to settle"),
        description="Most time that sessions may need to come back after a commit, s.",
    )
    max_unavailable: int = Field(
        default=1,
        ge=1,
        json_schema_extra=named("a number of switches"),
        description="Most switches that change at the same time.",
    )
    drain: bool = Field(
        default=True,
        description="Whether a spine announces nothing during a service-affecting change.",
    )
    least_ecmp_width: int = Field(
        default=1,
        ge=0,
        le=MOST_PATHS,
        json_schema_extra=named("a number of equal-cost paths"),
        description="Fewest equal-cost paths between leaves while a spine is out of traffic; a "
        "plan that leaves fewer is refused. With 0, even a loss of service is only a warning.",
    )
    peak_share: float = Field(
        default=1,
        gt=0,
        le=1,
        json_schema_extra=named("a share of the peak", "1 is all of it"),
        description="Share of the demand's peak that flows while changes are made.",
    )
    approvals: Approvals = Field(
        default=Approvals(), description="Policy for approvals of waves, and their expiry."
    )
    calendar: Calendar | None = Field(
        default=None,
        exclude_if=lambda calendar: calendar is None,
        description="Calendar that can hold waves; otherwise waves may begin at any time.",
        examples=[{"file": "operation.ics", "time_zone": "Asia/Shanghai"}],
    )
    tuning_window: Window | None = Field(
        default=None,
        description="Time of day, on the clock of the machine that measures, when `tune measure` "
        "may try thresholds on the canary leaf; otherwise never.",
        examples=["22:00-05:30"],
    )


class Policy(Frozen):
    """Limits that the site sets for any fabric; a limit that is left out is not judged."""

    oversubscription: float | None = Field(
        default=None,
        gt=0,
        le=1000,
        json_schema_extra=named("a ratio", "3 is 3:1"),
        description="Most Gb/s of servers for each Gb/s of uplinks, on every leaf.",
        examples=[3],
    )


class Fabric(Frozen):
    """Intent of one fabric: the content of its `fabric.yaml`."""

    model_config = ConfigDict(json_schema_extra=without_replaced)

    fabric: Name = Field(description="The fabric's name.", examples=["heps"])
    capacity: Capacity = Field(description="How far it may grow; a change of it moves addresses.")
    pools: Pools = Field(description="Where addresses come from; sized for the capacity.")
    routing: Routing = Field(description="EBGP between leaves and spines.")
    mtu: Mtu = Field(description="MTU of every link and gateway, bytes of IP.", examples=[9000])
    cables: Cables = Field(description="Cable lengths, which headroom depends on.")
    lossless: Name = Field(
        description="Name of a lossless profile: what RoCE gets (PFC, AI-ECN, priorities).",
        examples=["ai-fabric-hpc"],
    )
    congestion_control: Name | None = Field(
        default=None,
        description="Name of a congestion control profile: how the servers' NICs react to marks.",
        examples=["connectx-dcqcn"],
    )
    host: Name | None = Field(
        default=None,
        description="Name of a host profile: how the servers' operating systems are tuned.",
        examples=["roce-server"],
    )
    profiles: Profiles = Field(
        default=Profiles(), description="Profiles of its own, beside those of inventory/profiles."
    )
    segments: tuple[SegmentIntent, ...] = Field(
        description="Networks of servers, and one without a VLAN for the switches' management."
    )
    wan: tuple[WanPath, ...] = Field(
        default=(), description="Paths of a long round trip between segments."
    )
    bench: Bench | None = Field(
        default=None,
        exclude_if=lambda bench: bench is None,
        description="Two hosts and at most one switch, in place of capacity, pools, routing, "
        "cables, segments, spines, leaves, servers and rollout.",
    )
    spines: tuple[Switch, ...] = Field(
        json_schema_extra={"minItems": 1}, description="Each is cabled to every leaf."
    )
    leaves: tuple[Leaf, ...] = Field(
        json_schema_extra={"minItems": 1}, description="Each is cabled to every spine."
    )
    racks: tuple[Rack, ...] = Field(
        default=(), description="Racks whose switches differ from the rest of the fabric."
    )
    links_per_pair: LinksPerPair = Field(
        default=1,
        description="Links from each leaf to each spine, of those that the capacity keeps room "
        "for; a leaf may have its own number.",
    )
    links: tuple[LinkPin, ...] = Field(
        default=(), description="Links with something given by hand; the others follow from ids."
    )
    servers: tuple[ServerIntent, ...] = Field(default=(), description="What is on leaf ports.")
    beamlines: tuple[Beamline, ...] = Field(
        default=(),
        description="Beamlines; servers, gateways, demand and policy follow from each of them.",
    )
    management: Management = Field(
        default=Management(), description="How the management ports reach the rest of the site."
    )
    security: Security = Field(default=Security(), description="Who may log in.")
    services: Services = Field(default=Services(), description="What the switches use.")
    rdma: Rdma = Field(description="What an RDMA measurement is expected to give.")
    rollout: Rollout = Field(description="Policy of rollouts.")
    policy: Policy = Field(default=Policy(), description="Limits of the site.")
    waivers: tuple[Waiver, ...] = Field(
        default=(), description="Accepted findings, each with its reason and last day."
    )

    _bench_values = model_validator(mode="before")(with_bench_values)

    @field_validator("spines", "leaves")
    @classmethod
    def _has_switches(
        cls, switches: tuple[Switch, ...], info: ValidationInfo
    ) -> tuple[Switch, ...]:
        if not switches and info.data.get("bench", "wrong") is None:
            context = {"field_type": "Tuple", "min_length": 1, "actual_length": 0}
            raise PydanticKnownError("too_short", context)
        return switches

    def lossless_of(self, switch: Switch) -> str:
        """Name of a switch's lossless profile: its own, else its rack's, else the fabric's."""
        return switch.lossless or self._of_racks.get(switch.rack or "", self.lossless)

    @cached_property
    def _of_racks(self) -> dict[str, str]:
        return {rack.name: rack.lossless for rack in self.racks}
