"""Open steps of a command with their times, as one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rocefort.base.progress import Phase, ProgressEvent

Clock = Callable[[], float]  # seconds
ESTIMATE_AFTER_S = 5.0  # an estimate from less is a guess
ESTIMATE_SHARE = 0.05  # least share of the items that are done
ROUND_S = 5  # an estimate is no more exact


@dataclass(slots=True)
class OpenStep:
    """Step that has begun: its newest event, and its begin."""

    event: ProgressEvent
    begun: float

    def text(self, now: float) -> str:
        """Name, count, and elapsed time with its limit."""
        event = self.event
        count = f" {event.done:,} of {event.total:,}" if event.total else ""
        limit = f" ({now - self.begun:.0f} s, limit {event.limit_s:g} s)" if event.limit_s else ""
        return f"{event.step}{count}{limit}"

    def left_s(self, now: float) -> int | None:
        """Estimate of the remaining seconds; None where it would be a guess."""
        event, elapsed = self.event, now - self.begun
        enough = elapsed >= ESTIMATE_AFTER_S and event.done >= event.total * ESTIMATE_SHARE
        if not event.even or not event.done or not enough:
            return None
        exact = elapsed * (event.total - event.done) / event.done
        return max(ROUND_S, ROUND_S * round(exact / ROUND_S))


class ProgressState:
    """Open steps of a command, the outermost first; title: the command."""

    def __init__(self, title: str, clock: Clock) -> None:
        self.title, self.clock = title, clock
        self.begun = clock()
        self.open: list[OpenStep] = []

    def take(self, event: ProgressEvent) -> None:
        """Take one event."""
        level = len(event.within)
        if event.phase is Phase.BEGIN:
            self.open.append(OpenStep(event, self.clock()))
        elif event.phase is Phase.END:
            del self.open[level:]
        elif event.phase is Phase.ADVANCE:
            self.open[level].event = event

    @property
    def elapsed_s(self) -> float:
        """Seconds since the command began."""
        return self.clock() - self.begun

    @property
    def share(self) -> float | None:
        """Done share of the innermost counted step; None: no open step is counted."""
        counted = [step.event for step in self.open if step.event.total]
        return counted[-1].done / counted[-1].total if counted else None

    def sentence(self) -> str:
        """Open steps, elapsed time of the command, and an honest estimate."""
        now, steps = self.clock(), list(self.open)
        left = next((left for step in steps if (left := step.left_s(now)) is not None), None)
        names = ": ".join([self.title, *(step.text(now) for step in steps)])
        rest = f", about {left} s left" if left is not None else ""
        return f"{names}, {now - self.begun:.0f} s{rest}"
