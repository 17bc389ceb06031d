"""Result of a search for thresholds. kbytes are of 1,000 bytes, Gb/s are of payload."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.tuning.settings import Settings


class Figure(Frozen):
    """Measure of a scenario over its seeds."""

    goal: str
    unit: str
    mean: float
    lowest: float
    highest: float


class ScenarioFigures(Frozen):
    """Measures of one scenario."""

    scenario: str
    figures: tuple[Figure, ...]


class Option(Frozen):
    """Candidate, or a reference, with its measures."""

    name: str
    source: str = ""
    refused: str = Field(default="", description="Why the rules refuse it; empty: they do not.")
    settings: Settings
    values: dict[str, float] = Field(description="Value of each searched parameter, if it has one.")
    ratios: dict[str, float] = Field(
        description="Ratio to the start point by goal, below 1 is better; mean over scenarios."
    )
    scenarios: tuple[ScenarioFigures, ...]


class Parameter(Frozen):
    """Searched parameter with its values, and the share of each goal's variance that it explains.

    The shares are of the evaluated candidates, by the logarithm of the ratio, first order.
    """

    name: str
    values: tuple[float, ...]
    shares: dict[str, float]


class Certainty(Frozen):
    """Comparison of the choice with another option, seed by seed, with seeds that chose nothing."""

    against: str
    seeds: int
    better: int = Field(description="Number of these seeds in which the choice is better.")
    score: float = Field(description="Mean difference of the objective; below 0: it is better.")
    lowest: float
    highest: float


class OtherObjective(Frozen):
    """Best candidate by an objective of ByteTuning."""

    objective: str
    values: dict[str, float]
    ratios: dict[str, float]


class HeatMap(Frozen):
    """Ratio of a goal by two parameters: the best of all candidates that have both values."""

    goal: str
    x: str
    y: str
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]
    rows: tuple[tuple[float | None, ...], ...]


class QueueSeries(Frozen):
    """Mean queue of the fullest port in consecutive windows, kbytes."""

    scenario: str
    option: str
    until_us: tuple[float, ...]
    kbytes: tuple[float, ...]


class SearchResult(Frozen):
    """Result of `tune search`."""

    search: str = Field(description="Fabric, or scenarios.")
    objective: str
    method: str
    seeds: tuple[int, ...] = Field(description="The first compares all candidates, all the front.")
    fresh_seeds: tuple[int, ...] = Field(description="Seeds of the certainty; they chose nothing.")
    combinations: int
    refused: dict[str, int] = Field(description="Combinations that rules refuse, by reason.")
    evaluated: int
    notes: tuple[str, ...] = Field(
        default=(), description="Early end of the search; kind of ECN that the choice replaces."
    )
    simulated: int = Field(description="Simulations that this command ran.")
    reused: int = Field(description="Simulations whose results the folder had.")
    start: Option
    chosen: Option
    best: dict[str, Option] = Field(description="Best candidate by objective.")
    resolution_percent: float = Field(description="Members of the front differ by more.")
    front: tuple[Option, ...] = Field(description="Candidates that no other dominates.")
    references: tuple[Option, ...]
    byte_tuning: tuple[OtherObjective, ...]
    parameters: tuple[Parameter, ...]
    certainty: tuple[Certainty, ...]
    heat_maps: tuple[HeatMap, ...]
    queues: tuple[QueueSeries, ...]
    not_modelled: tuple[str, ...]
    written: tuple[str, ...] = Field(default=(), description="Profiles written to the fabric.")
