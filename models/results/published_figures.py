"""A published measurement as data: figures with units and conditions, to compare a run with."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.results.rdma_plan import Program

Unit = Literal["Gb/s", "us", "IOPS"]
Place = Literal["across the spines", "within a leaf", "through one switch", "back to back"]
Conditions = dict[Name, Description]


class Figure(Frozen):
    """One published figure. What its source does not say is left out."""

    name: Description = Field(description="What was measured, in words.")
    value: float = Field(gt=0)
    unit: Unit
    program: Program | None = Field(default=None, description="Where it was one of these.")
    collective: str = Field(default="", description="Of MPI: alltoall, allgather, ..")
    size_bytes: int | None = Field(default=None, ge=1, description="Message or block size.")
    rate_gbps: float | None = Field(default=None, gt=0, description="Speed of the ports.")
    place: Place | None = None
    conditions: Conditions = Field(default_factory=dict, description="Beside the reference's own.")
    approximate: bool = Field(default=False, description="Whether the source says `about`.")
    unconfirmed: Description | None = Field(
        default=None, description="What of it could not be confirmed, and why it is doubted."
    )
    source: Description = Field(description="Where in the source it stands.")


class Reference(Frozen):
    """Figures of one publication, with the conditions that all of them share."""

    reference: Name
    title: Description
    source: Description
    conditions: Conditions = Field(default_factory=dict)
    caution: Description | None = Field(default=None, description="What a reader must know of it.")
    figures: tuple[Figure, ...] = Field(min_length=1)

    def conditions_of(self, figure: Figure) -> Conditions:
        """All conditions of one figure."""
        return self.conditions | figure.conditions
