"""Events of a rollout by their act, as a table of a test writes them."""

from __future__ import annotations

from rocefort.models.rollout.events import Event, Phase, event_of


def make_event(
    wave: str,
    device: str,
    act: str,
    phase: Phase,
    detail: str = "",
    code: int = 0,
    **values: object,
) -> Event:
    """An event of any kind; values: of its own kind."""
    step = {"wave": wave, "device": device, "act": act, "phase": phase}
    return event_of({**step, "detail": detail, "code": code, **values})
