"""Published measurements: figures with units and conditions, for comparison with a run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.results.rdma_plan import Program

Unit = Literal["Gb/s", "us", "IOPS"]
Place = Literal["across the spines", "within a leaf", "through one switch", "back to back"]
Conditions = dict[Name, Description]


class Figure(Frozen):
    """Published figure; a value that its source does not state is left out."""

    name: Description = Field(description="What was measured, in words.")
    value: float = Field(gt=0)
    unit: Unit
    program: Program | None = Field(default=None, description="Where it was one of these.")
    collective: str = Field(default="", description="Of MPI: alltoall, allgather, ..")
    size_bytes: int | None = Field(default=None, ge=1, description="Message or block size.")
    rate_gbps: float | None = Field(default=None, gt=0, description="Speed of the ports.")
    place: Place | None = None
    conditions: Conditions = Field(default_factory=dict, description="Beside the reference's own.")
    approximate: bool = Field(default=False, description="Whether the source states `about`.")
    unconfirmed: Description | None = Field(
        default=None, description="What of it could not be confirmed, and why it is doubted."
    )
    source: Description = Field(description="Place in the source.")


class Reference(Frozen):
    """Figures of one publication, with their common conditions."""

    reference: Name
    title: Description
    source: Description
    conditions: Conditions = Field(default_factory=dict)
    caution: Description | None = Field(default=None, description="What a reader must know of it.")
    figures: tuple[Figure, ...] = Field(min_length=1)

    def conditions_of(self, figure: Figure) -> Conditions:
        """Return all conditions of one figure."""
        return self.conditions | figure.conditions
