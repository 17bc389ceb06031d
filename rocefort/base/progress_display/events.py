"""Events of progress as lines of JSON."""

from __future__ import annotations

from pydantic import Field

from rocefort.base.json_output import json_text
from rocefort.base.progress import Phase, ProgressEvent
from rocefort.models.base import Frozen


class ProgressOutput(Frozen):
    """Event of a step, one line of JSON on standard error."""

    elapsed_s: float = Field(description="Time since the command began, s.", examples=[1.204])
    phase: Phase = Field(description="Begin, advance or end of a step, or a note beside the steps.")
    step: str = Field(description="Name of the step.", examples=["failures"])
    within: tuple[str, ...] = Field(
        description="Steps that contain it, the outermost first.", examples=[["verify"]]
    )
    done: int = Field(description="Items that are done.", examples=[400])
    total: int = Field(description="Number of items; 0: they are not counted.", examples=[1088])
    limit_s: float = Field(description="Time limit of the step, s; 0: none.", examples=[0])
    detail: str = Field(description="Sentence of a note.", examples=["verified by: embedded"])


def event_json(event: ProgressEvent, elapsed_s: float) -> str:
    """Return an event as JSON without a line end."""
    content = ProgressOutput(
        elapsed_s=round(elapsed_s, 3),
        phase=event.phase,
        step=event.step,
        within=event.within,
        done=event.done,
        total=event.total,
        limit_s=event.limit_s,
        detail=event.detail,
    )
    return json_text(content, indent=None)
