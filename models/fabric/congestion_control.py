"""Intent for congestion control of the servers' NICs: named profiles, each of one kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Frozen, Name
from rocefort.models.fabric.types import Sourced
from rocefort.models.wording import named

Micros = Annotated[int, Field(ge=0, le=1_000_000, json_schema_extra=named("a time"))]
Mbps = Annotated[int, Field(ge=0, le=1_600_000, json_schema_extra=named("a rate in Mb/s"))]
Of1024 = Annotated[int, Field(ge=0, le=1024, json_schema_extra=named("a share of 1024"))]


class Reaction(Sourced):
    """Fields of all kinds: the lossless profile whose ECN marks a NIC answers."""

    lossless: Name | None = Field(
        default=None,
        examples=["ai-fabric-hpc"],
        description="Name of the lossless profile whose ECN marks it is made for; none: any.",
    )

    def parameters(self) -> dict[str, int]:
        """Values of this profile by key, without those that it leaves out."""
        own = type(self).model_fields.keys() - Reaction.model_fields.keys() - {"kind"}
        keys = [name for name in type(self).model_fields if name in own]
        return {n: int(v) for n in keys if (v := getattr(self, n)) is not None}


class PfcOnly(Reaction):
    """Senders ignore ECN marks; only PFC pauses slow them."""

    kind: Literal["pfc_only"] = Field(description="How NICs react to marks.")


class DcqcnParameters(Frozen):
    """Parameters of DCQCN; a parameter that is left out keeps the value of the NIC.

    Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, and
    NVIDIA, "DCQCN CC Parameters".
    """

    increase_timer_us: Micros | None = Field(
        default=None, description="Time between two increases of the rate (T), us.", examples=[300]
    )
    byte_counter_bytes: int | None = Field(
        default=None,
        ge=0,
        le=1_000_000_000,
        json_schema_extra=named("a number of bytes"),
        examples=[32767],
        description="Bytes between two increases (B).",
    )
    recovery_stages: int | None = Field(
        default=None,
        ge=1,
        le=31,
        json_schema_extra=named("a number of increases"),
        examples=[1],
        description="Increases of fast recovery before additive ones (F).",
    )
    additive_increase_mbps: Mbps | None = Field(
        default=None, examples=[5], description="Step of additive increase, Mb/s."
    )
    hyper_increase_mbps: Mbps | None = Field(
        default=None, examples=[50], description="Step of hyper increase, Mb/s."
    )
    max_rate_mbps: Mbps | None = Field(
        default=None, examples=[0], description="Highest rate, Mb/s; 0: line rate."
    )
    min_rate_mbps: Mbps | None = Field(default=None, examples=[1], description="Lowest rate, Mb/s.")
    alpha_divisor_log2: int | None = Field(
        default=None,
        ge=0,
        le=31,
        json_schema_extra=named("a power of 2"),
        examples=[11],
        description="A cut is alpha (of 1024) divided by 2 to this power; 11: half of alpha.",
    )
    min_decrease_percent: int | None = Field(
        default=None,
        ge=0,
        le=100,
        json_schema_extra=named("a percentage"),
        examples=[50],
        description="A cut leaves at least so much of the rate, %.",
    )
    decrease_period_us: Micros | None = Field(
        default=None, examples=[4], description="Shortest time between two cuts, us."
    )
    first_cnp_rate_mbps: Mbps | None = Field(
        default=None,
        examples=[0],
        description="Rate set at a flow's first CNP, Mb/s; 0: cut as usual.",
    )
    clamp_target_rate: bool | None = Field(
        default=None,
        examples=[False],
        description="Whether every cut also lowers the target to the current rate.",
    )
    clamp_target_after_timer: bool | None = Field(
        default=None,
        examples=[True],
        description="The same, where the last increase was by the timer.",
    )
    alpha_kept_of_1024: Of1024 | None = Field(
        default=None,
        examples=[1019],
        description="Share of the old alpha that is kept, of 1024: 1024 (1 - g).",
    )
    alpha_period_us: Micros | None = Field(
        default=None, examples=[1], description="Period of the update of alpha (K), us."
    )
    initial_alpha_of_1024: Of1024 | None = Field(
        default=None, examples=[1023], description="Alpha at a flow's first CNP, of 1024."
    )
    cnp_interval_us: Micros | None = Field(
        default=None,
        examples=[4],
        description="Shortest time between two CNPs of a receiver (N), us.",
    )


class Dcqcn(DcqcnParameters, Reaction):
    """Senders reduce their rate at ECN marks, by DCQCN."""

    kind: Literal["dcqcn"] = Field(description="How NICs react to marks.")


CongestionControl = Annotated[PfcOnly | Dcqcn, Field(discriminator="kind")]
