"""Intent for ECN: named profiles that mark the lossless queue by static thresholds or AI-ECN."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.device.drop_profile import LONGEST_DROP_PROFILE
from rocefort.models.fabric.sourced import Sourced
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
