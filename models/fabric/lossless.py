"""Intent for RoCE: priorities, PFC, ECN, scheduling, deadlock timers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device.lossless_queue import LONGEST_DROP_PROFILE
from rocefort.models.fabric.types import Dscp, Sourced
from rocefort.models.hardware.hardware import RecoveryBehavior, SyntaxFamily
from rocefort.models.wording import named

AiModel = Literal["ai_ecn_hpc", "ai_ecn_centralizedstorage", "ai_ecn_distributedfilestorage"]
SpeedGbps = Literal["10", "25", "40", "50", "100", "200", "400", "800"]
LONGEST_ECN_PROFILE = LONGEST_DROP_PROFILE - len("-400g")


class EcnThresholds(Frozen):
    """Thresholds for ports of one speed; sizes in kbytes of 1024 bytes."""

    kmin_kbytes: int = Field(
        ge=1,
        json_schema_extra=named("a threshold"),
        description="From this depth of the queue on some packets are marked, kbytes.",
    )
    kmax_kbytes: int = Field(
        ge=1,
        json_schema_extra=named("a threshold"),
        description="From this depth of the queue on all packets are marked, kbytes.",
    )
    pmax_percent: int = Field(  # `discard-percentage`, V300R023C00
        ge=1,
        le=100,
        json_schema_extra=named("a percentage"),
        description="Chance of a mark just below kmax_kbytes, %.",
    )


class StaticEcn(Sourced):
    """Fixed thresholds in the configuration, by the speed of a port."""

    kind: Literal["static"] = Field(description="Who chooses the thresholds.")
    thresholds: dict[SpeedGbps, EcnThresholds] = Field(
        min_length=1, description="Thresholds by the speed of a port, Gb/s."
    )


class AiEcnProfile(Sourced):
    """Thresholds that the switch adapts while it runs."""

    kind: Literal["ai-ecn"] = Field(description="Who chooses the thresholds.")
    model: AiModel | None = Field(
        default=None, description="The model that it loads; none: that of distributed storage."
    )


EcnProfile = Annotated[StaticEcn | AiEcnProfile, Field(discriminator="kind")]


def drop_profile_name(profile: str, speed_gbps: int) -> str:
    """Name of the drop profile for ports of one speed; both are in it, so growth renames none."""
    return f"{profile}-{speed_gbps}g"


class DeadlockTimers(Frozen):
    """Timers of one syntax family: milliseconds, or multiples of an unknown unit."""

    detect_ms: int | None = Field(default=None, examples=[500], description="Detection time, ms.")
    recovery_ms: int | None = Field(default=None, examples=[500], description="Recovery time, ms.")
    detect_time: int | None = Field(
        default=None, description="Detection time as the switch counts it, not in ms."
    )
    recovery_time: int | None = Field(
        default=None, description="Recovery time as the switch counts it, not in ms."
    )
    reason: Description = Field(description="Why this family has values of its own.")


class Deadlock(Frozen):
    """Intended deadlock timers, ms; `by_family` for families that cannot express them."""

    detect_ms: int = Field(
        ge=1,
        json_schema_extra=named("a detection time"),
        description="A queue paused for so long is deadlocked, ms.",
    )
    recovery_ms: int = Field(
        ge=1,
        json_schema_extra=named("a recovery time"),
        description="How long a deadlocked queue ignores pauses, ms.",
    )
    turn_off: int | None = Field(  # range of `priority turn-off`, V300R023C00
        default=None,
        ge=1,
        le=300,
        json_schema_extra=named("a number of deadlocks"),
        examples=[10],
        description="Number of deadlocks within 20 s after which a port turns PFC off until an "
        "operator restores it; none: the switch's default (30 on V300).",
    )
    recovery_behavior: RecoveryBehavior | None = Field(
        default=None,
        examples=["discard"],
        description="What a V300 switch does with the packets of a deadlocked queue; none: discard "
        "where a switch of V300 G1 takes part, as the vendor requires, else the switch's default.",
    )
    by_family: dict[SyntaxFamily, DeadlockTimers] = Field(
        default_factory=dict, description="Timers of families that cannot express the ones above."
    )

    def of_family(self, name: str) -> DeadlockTimers | None:
        """Timers of one family; None: the common ones apply."""
        return next((timers for family, timers in self.by_family.items() if family == name), None)


class QueueWeight(Frozen):
    """Queue that is served by weight."""

    queue: int = Field(
        ge=0, le=7, json_schema_extra=named("a queue", "a port has eight"), description="The queue."
    )
    weight: int = Field(  # range of `qos queue drr`, V300R023C00
        ge=1,
        le=100,
        json_schema_extra=named("a DRR weight"),
        description="Its share against the other weighted queues.",
        examples=[65],
    )


class Lossless(Sourced):
    """Lossless profile: queues, PFC, scheduling and ECN; sizes in kbytes of 1024 bytes."""

    queue: int = Field(
        ge=0,
        le=5,
        json_schema_extra=named("a lossless queue"),
        description="The queue that PFC pauses, and no other.",
    )
    roce_dscp: Dscp = Field(description="DSCP of RoCE packets.", examples=[34])
    cnp_dscp: Dscp = Field(description="DSCP of congestion notifications (CNP).", examples=[48])
    cnp_queue: int = Field(
        default=6,
        ge=0,
        le=7,
        json_schema_extra=named("a queue", "a port has eight"),
        description="Queue of CNP, of strict priority and never paused.",
    )
    domain: Name = Field(default="roce", description="Name of the diffserv domain.")
    xoff_kbytes: int = Field(
        ge=1,
        json_schema_extra=named("a threshold"),
        description="A port pauses its peer at this depth of the queue, kbytes.",
    )
    xon_kbytes: int = Field(
        ge=1,
        json_schema_extra=named("a threshold"),
        description="The peer sends again below this, kbytes; two frames or more under xoff.",
    )
    headroom_kbytes: int | None = Field(
        default=None,
        examples=[80],
        description="Headroom of a port and queue, kbytes; for families that set it so (V300 G2).",
    )
    headroom_pool_kbytes: int | None = Field(
        default=None,
        examples=[5120],
        description="Headroom that all ports share, kbytes; V300 G1 and G2.",
    )
    scheduling: tuple[QueueWeight, ...] = Field(
        default=(),
        description="Queues of RoCE ports served by weight (DRR); the others, that of CNP among "
        "them, have strict priority.",
    )
    deadlock: Deadlock = Field(description="When a paused queue counts as deadlocked.")
    ecn: Name = Field(
        description="Name of an ECN profile: who marks the lossless queue.", examples=["ai-ecn-hpc"]
    )

    @field_validator("queue", mode="before")
    @classmethod
    def _is_one_queue(cls, queue: object) -> object:
        """Refuse several queues, which intent does not have."""
        if isinstance(queue, list | tuple):
            what = "one lossless queue is supported; write the queue of RoCE alone"
            raise ValueError(what)  # noqa: TRY004 - pydantic reports no TypeError
        return queue
