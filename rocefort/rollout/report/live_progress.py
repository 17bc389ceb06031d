"""Live display of a rollout on a terminal: waves, switches, and remaining time of trials."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from napalm_cloudengine.text import visible, visible_line
from rocefort.base.streams import for_codes, visible_streams
from rocefort.models.change.plan import Plan, Wave
from rocefort.models.wording import count_of
from rocefort.rollout.journal import history as words
from rocefort.rollout.journal.events import Event
from rocefort.rollout.journal.history import RunProgress

BAR = 20  # characters of a full timer
MOST_DEVICES, MOST_WAVES = 12, 6  # shown one by one
STYLES = {
    words.DONE: "green",
    words.SAVED: "green",
    words.CONFIRMED: "green",
    words.UNDER_WAY: "cyan",
    words.BACK: "yellow",
    words.FAILED: "bold red",
    words.UNKNOWN: "bold red",
    words.NEEDS_APPROVAL: "yellow",
}


class LiveProgress:
    """Listener of a rollout that redraws it twice a second; use it as a context manager."""

    def __init__(
        self,
        plan: Plan,
        progress: RunProgress | None = None,
        console: Console | None = None,
        clock: Callable[[], float] = time.time,  # same clock as the journal, for a resumed run
    ) -> None:
        self.progress = progress or RunProgress(plan)
        self._title = f"plan {plan.digest[:12]} of {plan.fabric}"
        self._clock = clock
        console = console or Console(highlight=False, file=for_codes(sys.stdout))
        self._streams = ExitStack()
        self._live = Live(get_renderable=self.drawn, console=console, refresh_per_second=2)

    def __call__(self, event: Event, /) -> None:
        """Take one event."""
        history = self.progress.history.after(event, self._clock())
        self.progress = replace(self.progress, history=history)

    def __enter__(self) -> Self:
        self._live.start()  # it puts streams of its own in the place of standard output and error
        self._streams.enter_context(visible_streams())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._streams.close()
        self._live.stop()

    def drawn(self) -> Group:
        """Return the current display."""
        return Group(*(line for line in self._lines()))

    def _lines(self) -> Iterator[Text]:
        now, shown = self.progress, self._clock()
        names = [name for wave in now.plan.waves for name in wave.devices]
        ended = sum(now.word(name) == words.SAVED for name in names)
        of = count_of(len(names), "switch")
        yield _line(f"{self._title}: {ended} of {of} done", "bold")
        yield from _waves(now, shown)
        if now.history.asks:
            yield Text(visible(f"  {now.history.asks}"), "yellow")
        for note in (*now.history.notes[-2:], *now.history.failures[-2:]):
            yield _line(f"  {note}", "yellow")


def _waves(progress: RunProgress, now: float) -> Iterator[Text]:
    """Show completed waves in one line, then the others; the current wave with its devices."""
    states = [progress.state_of(wave) for wave in progress.plan.waves]
    first = next((i for i, state in enumerate(states) if state != words.DONE), len(states))
    hidden = max(0, first - 1)
    if hidden:
        yield _line(f"  {count_of(hidden, 'wave')} done", STYLES[words.DONE])
    shown = list(zip(progress.plan.waves, states, strict=True))[hidden:]
    for wave, state in shown[:MOST_WAVES]:
        gate = f"  gate: {progress.gate(wave)}" if progress.gate(wave) else ""
        yield _line(f"  {wave.name:<16} {state:<14}{gate}", STYLES.get(state, "dim"))
        if state not in (words.DONE, words.WAITING, words.NEEDS_APPROVAL):
            yield from _devices(progress, wave, now)
    if (more := len(shown) - MOST_WAVES) > 0:
        yield _line(f"  and {count_of(more, 'wave')} more", "dim")


def _devices(progress: RunProgress, wave: Wave, now: float) -> Iterator[Text]:
    for name in wave.devices[:MOST_DEVICES]:
        word, left = progress.word(name), progress.left_s(name, now)
        bar = "" if left is None else _bar(left, progress.plan.trial_s)
        yield _line(f"    {name:<14} {word:<20} {bar}", STYLES.get(word, ""))
    rest = Counter(progress.word(name) for name in wave.devices[MOST_DEVICES:])
    if rest:
        counts = ", ".join(f"{count} {word}" for word, count in rest.items())
        yield _line(f"    and more: {counts}", "dim")


def _bar(left: int, whole: int) -> str:
    full = round(BAR * left / whole) if whole else 0
    return f"{'=' * full:<{BAR}} {left} s left"


def _line(text: str, style: str) -> Text:
    return Text(visible_line(text.rstrip()), style, no_wrap=True, overflow="ellipsis")
