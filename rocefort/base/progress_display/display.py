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
from typing import TYPE_CHECKING, Protocol, TextIO

from rocefort.base.progress import Phase, ProgressEvent, reported_to
from rocefort.base.progress_display.state import Clock, ProgressState
from rocefort.base.streams import for_codes, is_terminal

if TYPE_CHECKING:
    from rocefort.base.progress_display.live_line import LiveLine

AUTO, PLAIN, JSON, NONE = "auto", "plain", "json", "none"  # rocefort.base.options.ProgressOption
FIRST_LINE_S, NEXT_LINE_S = 10.0, 5.0  # a quick command in a pipe prints no line
LIVE_AFTER_S = 0.7  # a quick command neither imports rich nor flickers
LIVE_EVERY_S = 0.25
PATIENCE_S = 1.0  # a terminal that is stopped (Ctrl-S) delays a command no longer
JSON_EVERY_S = 0.5  # between two advances of a step

Write = Callable[[str], None]


class Display(Protocol):
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
        from rocefort.base.progress_display.events import event_json  # noqa: PLC0415 - pydantic is slow

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
                from rocefort.base.progress_display.live_line import LiveLine  # noqa: PLC0415 - rich is slow

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

    def __init__(self, display: Display) -> None:
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


def _display(kind: str, command: str, stream: TextIO) -> Display:
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
