"""Values that a search tries, and one choice of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocefort.models.base import Frozen

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
