"""Result of `tune measure`: candidates of a search on a canary leaf, judged by real servers."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen


class MeasuredFigures(Frozen):
    """Figures of one incast to a server behind the canary leaf.

    A transfer of equal size lasts as long as its rate is low, so the median and the slowest sender
    stand for completion times.
    """

    goodput_gbps: float = Field(description="Rate of all senders together.")
    median_gbps: float = Field(description="Rate of the median sender.")
    slowest_gbps: float = Field(description="Rate of the slowest sender.")
    pauses: int | None = Field(description="PFC frames that the leaf sent; null: not read.")


class MeasuredTrial(Frozen):
    """One trial of one candidate, or a measurement of today's values without a trial."""

    name: str
    values: dict[str, float]
    run: str = Field(default="", description="Id of the run in the database of runs.")
    figures: MeasuredFigures | None = None
    ratios: dict[str, float] = Field(
        default_factory=dict, description="Ratio to today's values by goal, below 1 is better."
    )
    problem: str = Field(default="", description="Why there are no figures.")


class MeasuredSearch(Frozen):
    """Result of `tune measure`."""

    search: str = Field(description="Fabric.")
    objective: str
    canary: str
    target: str = Field(description="Server that receives.")
    senders: tuple[str, ...]
    window: str
    trial_s: int = Field(description="Timer of each trial, s of the switch.")
    today: tuple[MeasuredTrial, ...] = Field(description="Today's values, before and after.")
    trials: tuple[MeasuredTrial, ...]
    noise_percent: float | None = Field(
        description="Difference of the objective between the two measurements of today's values."
    )
    chosen: str = Field(description="Name of the best candidate; empty: none is clearly better.")
    verdict: str
    not_measured: tuple[str, ...]
    stopped: bool = Field(default=False, description="Whether an operator stopped it.")
    written: tuple[str, ...] = Field(default=(), description="Profiles written to the fabric.")
