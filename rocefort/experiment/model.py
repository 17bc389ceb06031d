"""Plan, runs and result of an experiment."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen

End = Literal["", "low", "high"]
PROCESSES = (1, 36)  # a server, simulated; EANTC's test does not state them


class Level(Frozen):
    """Level of the factor, with the fabric that has it."""

    name: str = Field(description="As --factor names it; simulated AI-ECN has one for each end.")
    text: str = Field(description="Profile or value that the level has, and its source.")
    fabric: str = Field(description="SHA-256 of its fabric.yaml, network and profiles.")
    file: str = Field(description="Its fabric.yaml, relative to the folder of the experiment.")
    end: End = Field(
        default="", description="Simulated AI-ECN: end of its thresholds; empty: it has no ends."
    )

    @property
    def word(self) -> str:
        """Value of the factor, without the end."""
        return self.name.removesuffix(f"-{self.end}") if self.end else self.name


class PlannedRun(Frozen):
    """Run of one level; the runs of a repetition are a pair."""

    number: int = Field(description="Place in the order of all runs, from 1.")
    level: str
    repetition: int


class ExperimentPlan(Frozen):
    """All that decides the runs of an experiment; another one needs another folder."""

    fabric: str = Field(description="Name of the fabric.")
    source: str = Field(description="Its file.")
    fabric_digest: str = Field(
        description="SHA-256 of its text, network and profiles when the experiment began."
    )
    version: str = Field(description="Version of Rocefort that began the experiment.")
    factor: str = Field(description="Key of a profile.")
    suite: str
    simulated: bool
    repeat: int = Field(description="Number of runs of each level.")
    levels: tuple[Level, ...]
    options: dict[str, str] = Field(description="Options that decide what a run measures.")
    runs: tuple[PlannedRun, ...] = Field(description="All runs in their order.")


class CellValue(Frozen):
    """Value of one cell of a run; null: it was not measured."""

    cell: str = Field(description="Measured test, such as a collective with its size.")
    value: float | None
    unit: str
    higher_is_better: bool = False
    counters: dict[str, float] = Field(
        default_factory=dict, description="Counters beside it, such as marks and pauses."
    )


class ExperimentRun(Frozen):
    """Run that has ended, with its values."""

    run: PlannedRun
    id: str = Field(description="Id in the database of RDMA runs, or the seed of a simulation.")
    began: datetime
    ended: datetime
    values: tuple[CellValue, ...]
    notes: tuple[str, ...] = ()
    not_compared: str = Field(
        default="", description="Why its figures enter no table; empty: they do."
    )


class LevelFigures(Frozen):
    """Values of one cell at one level, over its repetitions."""

    level: str
    minimum: float
    mean: float
    maximum: float
    values: tuple[float, ...] = Field(description="In the order of the repetitions.")
    counters: dict[str, float] = Field(description="Means of its counters.")


class CellComparison(Frozen):
    """One cell at two levels; a change is that of the later level, percent of the first."""

    cell: str
    unit: str
    higher_is_better: bool
    first: LevelFigures
    other: LevelFigures
    change_percent: float = Field(description="Of the means.")
    changes_percent: tuple[float, ...] = Field(description="Of each pair.")
    improved: bool = Field(description="Whether the mean is better.")
    p_one_sided: float | None = Field(
        description="Signed-rank test: chance of a change so far to this side; null: no change."
    )
    p_two_sided: float | None


class LevelComparison(Frozen):
    """Two levels over all cells."""

    first: str
    other: str
    improved: int
    cells: tuple[CellComparison, ...]
    p_one_sided: float | None = Field(
        description="Signed-rank test over all tests, by the logarithm of the ratio of the means."
    )
    p_two_sided: float | None
    sentence: str


class ExperimentResult(Frozen):
    """Result of `experiment`."""

    plan: ExperimentPlan
    directory: str
    state: Literal["complete", "stopped"]
    runs: tuple[ExperimentRun, ...]
    comparisons: tuple[LevelComparison, ...] = Field(
        description="The first level with each other one, of two with AI-ECN equal ends; empty: "
        "their figures do not compare."
    )
    not_compared: str = Field(description="Why figures enter no table; empty: they do.")
    unmeasured: tuple[str, ...] = Field(
        description="Cells that were left out or not compared, with the reason."
    )
    assumptions: tuple[str, ...]
    not_modelled: tuple[str, ...]
    notes: tuple[str, ...] = ()
    page: str = Field(description="HTML page, relative to the folder.")
