"""Display of progress on standard error: a live line, plain lines, or JSON.

A thread writes the line and the lines, so that also a long step without events shows its elapsed
time. No display hides the cursor: a killed command leaves the terminal usable. A closed standard
error, a full disk or a lost terminal silences a display and ends no command.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from pydantic import Field

from rocefort.base.json_output import json_text
from rocefort.base.progress import Phase, ProgressEvent, reported_to
from rocefort.base.streams import for_codes, is_terminal
from rocefort.models.base import Frozen

if TYPE_CHECKING:
    from rocefort.base.live_line import LiveLine


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


AUTO, PLAIN, JSON, NONE = "auto", "plain", "json", "none"  # rocefort.base.options.ProgressOption
FIRST_LINE_S, NEXT_LINE_S = 10.0, 5.0  # a quick command in a pipe prints no line
LIVE_AFTER_S = 0.7  # a quick command neither imports rich nor flickers
LIVE_EVERY_S = 0.25
PATIENCE_S = 1.0  # a terminal that is stopped (Ctrl-S) delays a command no longer
JSON_EVERY_S = 0.5  # between two advances of a step

Write = Callable[[str], None]


class ProgressDisplay(Protocol):
    """Display of events. every_s: interval of `tick`, which a thread calls; 0: no thread."""

    every_s: float

    def __call__(self, event: ProgressEvent, /) -> None:
        """Take one event."""

    def tick(self) -> None:
        """Show the present state."""

    def clear(self) -> None:
        """Remove what only shows the present state."""


class PlainLines:
    """Display of a line at most every few seconds, for a log."""

    every_s = 1.0

    def __init__(self, state: ProgressState, write: Write) -> None:
        self._state, self._write = state, write
        self._next_s = FIRST_LINE_S

    def __call__(self, event: ProgressEvent, /) -> None:
        """Take one event; `tick` shows it."""
        self._state.take(event)

    def tick(self) -> None:
        """Write a line if the time has come."""
        if self._state.open and self._state.elapsed_s >= self._next_s:
            self._next_s = self._state.elapsed_s + NEXT_LINE_S
            self._write(f"{self._state.sentence()}\n")

    def clear(self) -> None:
        """Keep every line."""


class JsonEvents:
    """Display of each event as a line of JSON; of many advances, one in half a second."""

    every_s = 0.0

    def __init__(self, write: Write, clock: Clock = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._begun = clock()
        self._last_s = 0.0

    def __call__(self, event: ProgressEvent, /) -> None:
        """Take one event."""
        elapsed = self._clock() - self._begun
        if event.phase is Phase.ADVANCE:
            if event.done < event.total and elapsed - self._last_s < JSON_EVERY_S:
                return
            self._last_s = elapsed

        self._write(f"{event_json(event, elapsed)}\n")

    def tick(self) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Keep every line."""


class LateLine:
    """Display of one live line on a terminal, drawn only once the command has lasted."""

    every_s = LIVE_EVERY_S

    def __init__(self, state: ProgressState, write: Write) -> None:
        self._state, self._write = state, write
        self._lock = threading.Lock()  # the thread draws, the command clears
        self._line: LiveLine | None = None

    def __call__(self, event: ProgressEvent, /) -> None:
        """Take one event; the line is gone before the command writes a result."""
        self._state.take(event)
        if not self._state.open:
            self.clear()

    def tick(self) -> None:
        """Draw the line again."""
        with self._lock:
            if not self._state.open or self._state.elapsed_s < LIVE_AFTER_S:
                return
            if self._line is None:
                from rocefort.base.live_line import LiveLine  # noqa: PLC0415 - rich is slow

                self._line = LiveLine(self._write)
            self._line.draw(self._state.sentence(), self._state.share)

    def clear(self) -> None:
        """Remove the line."""
        if self._lock.acquire(timeout=PATIENCE_S):
            try:
                if self._line is not None:
                    self._line.clear()
            finally:
                self._lock.release()


class Ticking:
    """Listener of a display; its thread begins with the first event."""

    def __init__(self, display: ProgressDisplay) -> None:
        self._display = display
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, event: ProgressEvent, /) -> None:
        """Take one event."""
        if self._thread is None and self._display.every_s:
            self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
            self._thread.start()
        self._display(event)

    def _run(self) -> None:
        while not self._over.wait(self._display.every_s):
            self._display.tick()

    def close(self) -> None:
        """End the thread, and clear the display."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
        self._display.clear()


@contextmanager
def progress_display(kind: str, command: str) -> Iterator[None]:
    """Show the progress of the block; kind: a value of rocefort.base.options.ProgressOption."""
    stream = sys.stderr
    if kind == NONE:
        yield
        return
    ticking = Ticking(_display(kind, command, stream))
    try:
        with reported_to(ticking):
            yield
    finally:
        ticking.close()


def _display(kind: str, command: str, stream: TextIO) -> ProgressDisplay:
    if kind == JSON:
        return JsonEvents(_lasting_write(stream))
    state = ProgressState(command, time.monotonic)
    if kind == AUTO and is_live(stream):
        return LateLine(state, _lasting_write(for_codes(stream)))
    return PlainLines(state, _lasting_write(stream))


def is_live(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can draw a line again."""
    return is_terminal(stream) and os.environ.get("TERM", "dumb") not in {"dumb", "unknown"}


def _lasting_write(stream: TextIO | None) -> Write:
    """Write to a stream until the first write that fails; a closed one has none."""
    lost = stream is None

    def write(text: str) -> None:
        nonlocal lost
        if lost or stream is None:
            return
        encoding = stream.encoding or "utf-8"
        try:
            stream.write(text.encode(encoding, "replace").decode(encoding))
            stream.flush()
        except (OSError, ValueError):
            lost = True

    return write
