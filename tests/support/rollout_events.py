"""Constructor of rollout events by their act, for tables of tests."""

from __future__ import annotations

from rocefort.rollout.journal.events import ActPhase, Event, event_of


def make_event(
    wave: str,
    device: str,
    act: str,
    phase: ActPhase,
    detail: str = "",
    code: int = 0,
    **values: object,
) -> Event:
    """Return an event of any kind; values: fields of that kind."""
    step = {"wave": wave, "device": device, "act": act, "phase": phase}
    return event_of({**step, "detail": detail, "code": code, **values})
