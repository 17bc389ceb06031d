"""Progress of a command: steps that begin, advance and end, reported to one listener.

Code reports with `Step` or `tracked` where it needs time, and never prints. The listener is a
context variable and no argument: the path to a slow loop has up to ten functions of five packages,
and no result depends on it. Without a listener a step costs one look-up. A new thread has no
listener, so that only the thread of the command begins steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from threading import RLock
from types import TracebackType
from typing import Protocol, Self, TypeVar

Item = TypeVar("Item")


class Phase(StrEnum):
    """Phase of a step; a note is a sentence beside the steps."""

    BEGIN = "begin"
    ADVANCE = "advance"
    END = "end"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """Event of a step. within: open steps that contain it, the outermost first.

    total: number of items; 0: they are not counted. limit_s: time limit of the step; 0: none. even:
    items take similar times, so that the remaining time can be estimated. A step that was
    interrupted ends with fewer items than its total. detail: the sentence of a note.
    """

    phase: Phase
    step: str
    within: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    limit_s: float = 0.0
    even: bool = False
    detail: str = ""


class ProgressListener(Protocol):
    """Receiver of the events of a command."""

    def __call__(self, event: ProgressEvent, /) -> None:
        """Take one event."""


class _Run:
    """Open steps of a command: an outer step ends after all steps in it."""

    def __init__(self, listener: ProgressListener) -> None:
        self._listener = listener
        self._open: list[Step] = []
        self._lock = RLock()  # a step of several hosts advances in their threads

    def begin(self, step: Step) -> None:
        self._open.append(step)
        self._report(Phase.BEGIN, len(self._open) - 1)

    def advance(self, step: Step, count: int) -> None:
        with self._lock:
            if step in self._open:
                step.done += count
                self._report(Phase.ADVANCE, self._open.index(step))

    def end(self, step: Step, *, complete: bool) -> None:
        """End a step and the open steps in it; one that has ended already has no further event."""
        if step not in self._open:
            return
        while self._open[-1] is not step:
            self._end_last()
        self._end_last()
        if complete and step.counted and self._open:
            self.advance(self._open[-1], 1)

    def note(self, text: str) -> None:
        within = tuple(each.name for each in self._open)
        self._listener(ProgressEvent(Phase.NOTE, "", within, detail=text))

    def close(self) -> None:
        while self._open:
            self._end_last()

    def _end_last(self) -> None:
        self._report(Phase.END, len(self._open) - 1)
        self._open.pop()

    def _report(self, phase: Phase, level: int) -> None:
        step = self._open[level]
        within = tuple(each.name for each in self._open[:level])
        self._listener(
            ProgressEvent(phase, step.name, within, step.done, step.total, step.limit_s, step.even)
        )


_RUN: ContextVar[_Run | None] = ContextVar("progress", default=None)


@contextmanager
def reported_to(listener: ProgressListener) -> Iterator[None]:
    """Report the steps of the block to a listener; steps still open end with the block."""
    run = _Run(listener)
    _RUN.set(run)
    try:
        yield
    finally:
        run.close()
        _RUN.set(None)


class Step:
    """Step of a command, used as a context manager; parameters as in ProgressEvent.

    counted: its end is an item of the step around it.
    """

    __slots__ = ("_run", "counted", "done", "even", "limit_s", "name", "total")

    def __init__(
        self,
        name: str,
        total: int = 0,
        *,
        limit_s: float = 0.0,
        even: bool = False,
        counted: bool = False,
    ) -> None:
        self.name, self.total, self.done = name, total, 0
        self.limit_s, self.even, self.counted = limit_s, even, counted
        self._run: _Run | None = None

    def __enter__(self) -> Self:
        self._run = _RUN.get()
        if self._run is not None:
            self._run.begin(self)
        return self

    def advance(self, count: int = 1) -> None:
        """Report that further items are done."""
        if self._run is not None:
            self._run.advance(self, count)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._run is not None:
            self._run.end(self, complete=kind is None)


def tracked(items: Collection[Item], name: str, *, even: bool = False) -> Iterator[Item]:
    """Iterate over items as a step of this name, which advances after each."""
    return iter(items) if _RUN.get() is None else _tracked(items, name, even=even)


def _tracked(items: Collection[Item], name: str, *, even: bool) -> Iterator[Item]:
    with Step(name, len(items), even=even) as step:
        for item in items:
            yield item
            step.advance()


def note(text: str) -> None:
    """Report a sentence beside the steps, such as a fallback; the result has it, too."""
    run = _RUN.get()
    if run is not None:
        run.note(text)
