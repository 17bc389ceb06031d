"""Events of progress as lines of JSON."""

from __future__ import annotations

from rocefort.json_output import json_text
from rocefort.models.base import Frozen
from rocefort.progress import Phase, ProgressEvent


class ProgressOutput(Frozen):
    """Event of a step, one line of JSON on standard error.

    within: the steps that contain it. total 0: items are not counted. limit_s 0: no time limit.
    """

    elapsed_s: float
    phase: Phase
    step: str
    within: tuple[str, ...]
    done: int
    total: int
    limit_s: float
    detail: str


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
