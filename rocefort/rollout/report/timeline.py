"""Timeline of a rollout: its stages of waves, and what each switch did when."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from rocefort.models.change.plan import Plan, Wave
from rocefort.models.wording import count_of
from rocefort.rollout.journal import history as words
from rocefort.rollout.journal.events import ActPhase, Event, HealthEvent
from rocefort.rollout.journal.history import RunProgress, word_of
from rocefort.rollout.journal.runs import RolloutStatus, TimedEvent

NUMBERS = re.compile(r" \d+ of \d+$")


@dataclass(frozen=True, slots=True)
class Stage:
    """Waves whose names differ in their numbers only; name: what the names share."""

    name: str
    waves: tuple[Wave, ...]

    @property
    def devices(self) -> list[str]:
        """Switches of all waves."""
        return [device for wave in self.waves for device in wave.devices]

    @property
    def size(self) -> str:
        """`119 waves of 1 switch`."""
        sizes = sorted({len(wave.devices) for wave in self.waves})
        most = count_of(sizes[-1], "switch")
        switches = most if len(sizes) == 1 else f"{sizes[0]} to {most}"
        return switches if len(self.waves) == 1 else f"{len(self.waves):,} waves of {switches}"


def stages_of(plan: Plan) -> tuple[Stage, ...]:
    """Return the stages of a plan in their order."""
    waves = groupby(plan.waves, key=lambda wave: NUMBERS.sub("", wave.name))
    return tuple(Stage(name, tuple(members)) for name, members in waves)


def wave_ranges(plan: Plan, names: set[str]) -> Iterator[str]:
    """Yield names of waves; all waves of a long stage are its name: `all 119 waves of leaves`."""
    for stage in stages_of(plan):
        own = [wave.name for wave in stage.waves if wave.name in names]
        if len(own) == len(stage.waves) and len(own) > 2:
            yield f"all {count_of(len(own), 'wave')} of {stage.name}"
        else:
            yield from own


DRAINED = "drained, "
# CSS class of a span by the word for a switch; the first that the word begins with.
KINDS = (
    ("looked at", "check"),
    ("load", "load"),
    ("trial begins", "load"),
    ("on trial, soak", "soak"),
    ("on trial", "trial"),
    ("its trial", "trial"),
    ("confirm", "confirm"),
    ("saving", "confirm"),
    ("rolling back", "back"),
    (words.FAILED, "failed"),
    (words.UNKNOWN, "failed"),
)
LEGEND = (
    ("check", "read and checked"),
    ("load", "loads the change"),
    ("trial", "on trial"),
    ("soak", "soaks on trial"),
    ("confirm", "confirms and saves"),
    ("back", "rolls back"),
    ("failed", "failed"),
    ("drained", "drained between its changes"),
    ("gate", "gate"),
)
STATES = {
    words.DONE: "good",
    words.SAVED: "good",
    words.CONFIRMED: "good",
    words.WAITING: "none",
    words.NEEDS_APPROVAL: "asks",
    words.BACK: "back",
    words.FAILED: "failed",
    words.UNKNOWN: "failed",
}
TICKS = 4


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a bar in thousandths of the time of the run; kind: CSS class."""

    kind: str
    begin: float
    width: float


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """Switch: its state, its class, the seconds left of its trial, its last failure, its spans."""

    name: str
    state: str
    kind: str
    left_s: int | None
    trouble: str
    spans: tuple[Span, ...]
    title: str


@dataclass(frozen=True, slots=True)
class TimelineWave:
    """Wave with its switches; times, gate, health and approval in words, "" before they exist."""

    name: str
    state: str
    kind: str
    times: str
    gate: str
    health: str
    approval: str
    spans: tuple[Span, ...]
    rows: tuple[TimelineRow, ...]
    current: bool


@dataclass(frozen=True, slots=True)
class TimelineStage:
    """Waves of one kind. counts: number of switches by state, in words."""

    name: str
    size: str
    counts: str
    waves: tuple[TimelineWave, ...]

    @property
    def current(self) -> bool:
        """Whether one of its waves is neither done nor waiting."""
        return any(wave.current for wave in self.waves)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Timeline of a run; ticks: places in thousandths and times of the axis."""

    stages: tuple[TimelineStage, ...]
    ticks: tuple[tuple[float, str], ...]


def timeline_of(status: RolloutStatus) -> Timeline:
    """Return the timeline of the last run, or only its waves before a run began."""
    return _TimelineBuilder(status).timeline()


class _TimelineBuilder:
    """Spans of all waves and switches on the scale of one run."""

    def __init__(self, status: RolloutStatus) -> None:
        self._progress: RunProgress = status.progress
        self._plan: Plan = status.progress.plan
        self._now = status.now.timestamp()
        run = status.run
        self._events: Sequence[TimedEvent] = run.events if run else ()
        times = [_seconds(each.at) for each in self._events]
        first = _seconds(run.lives[0].at) if run and run.lives else min(times, default=self._now)
        ended = _seconds(run.ended_at) if run and run.ended_at else None
        last = ended or (self._now if status.holder else max(times, default=self._now))
        self._first, self._last = first, max(last, first + 1)
        self._of_device: defaultdict[str, list[TimedEvent]] = defaultdict(list)
        self._of_wave: defaultdict[str, list[TimedEvent]] = defaultdict(list)
        for each in self._events:
            if each.event.device:
                self._of_device[each.event.device].append(each)
            self._of_wave[each.event.wave].append(each)

    def timeline(self) -> Timeline:
        """Return the timeline."""
        stages = tuple(map(self._stage, stages_of(self._plan)))
        return Timeline(stages, tuple(self._ticks()) if self._events else ())

    def _ticks(self) -> Iterator[tuple[float, str]]:
        for number in range(TICKS + 1):
            at = self._first + (self._last - self._first) * number / TICKS
            yield 1000 * number / TICKS, f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"

    def _stage(self, stage: Stage) -> TimelineStage:
        waves = tuple(map(self._wave, stage.waves))
        counts = Counter(row.state for wave in waves for row in wave.rows)
        listed = ", ".join(f"{number:,} {state}" for state, number in counts.items())
        return TimelineStage(stage.name, stage.size, listed, waves)

    def _wave(self, wave: Wave) -> TimelineWave:
        state = self._progress.state_of(wave)
        events = self._of_wave[wave.name]
        return TimelineWave(
            name=wave.name,
            state=state,
            kind=STATES.get(state, "busy"),
            times=_times(events),
            gate=self._progress.gate(wave),
            health=_health(each.event for each in events),
            approval=self._progress.approval(wave),
            spans=tuple(self._gate_spans(events)),
            rows=tuple(map(self._row, wave.devices)),
            current=state not in (words.DONE, words.WAITING, words.NEEDS_APPROVAL),
        )

    def _row(self, name: str) -> TimelineRow:
        state = self._progress.word(name)
        plain = state.removeprefix(DRAINED)
        return TimelineRow(
            name=name,
            state=state,
            kind=STATES.get(plain, "busy"),
            left_s=self._progress.left_s(name, self._now),
            trouble=self._progress.trouble(name),
            spans=tuple(self._spans(self._of_device[name])),
            title=", ".join(filter(None, (f"{name}: {state}", _times(self._of_device[name])))),
        )

    def _spans(self, events: Sequence[TimedEvent]) -> Iterator[Span]:
        """Spans of one switch; those of one kind that follow each other are one."""
        begin, kind = 0.0, ""
        for each in events:
            at, now = _seconds(each.at), _kind(each.event)
            if now != kind:
                yield from self._span(kind, begin, at)
                begin, kind = at, now
        yield from self._span(kind, begin, self._last)

    def _gate_spans(self, events: Sequence[TimedEvent]) -> Iterator[Span]:
        begin = None
        for each in events:
            if each.event.act == "gate":
                at = _seconds(each.at)
                if each.event.phase is ActPhase.INTENT:
                    begin = at
                elif begin is not None:
                    failed = each.event.phase is ActPhase.FAILED
                    yield from self._span("failed" if failed else "gate", begin, at)
                    begin = None
        if begin is not None:
            yield from self._span("gate", begin, self._last)

    def _span(self, kind: str, begin: float, end: float) -> Iterator[Span]:
        if kind:
            scale = 1000 / (self._last - self._first)
            at = (begin - self._first) * scale
            yield Span(kind, at, max((end - begin) * scale, 1.0))


def _kind(event: Event) -> str:
    """CSS class of the time after an event of a switch; "" if nothing is under way."""
    word = word_of(event)
    plain = word.removeprefix(DRAINED)
    if plain in (words.SAVED, words.BACK):
        return "drained" if word != plain else ""
    return next((kind for begin, kind in KINDS if plain.startswith(begin)), "")


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def _times(events: Sequence[TimedEvent]) -> str:
    """`22:05:01 to 22:05:40, 39 s`."""
    if not events:
        return ""
    first, last = events[0].at, events[-1].at
    length = timedelta(seconds=round(_seconds(last) - _seconds(first)))
    text = f"{length.seconds} s" if length < timedelta(minutes=2) else str(length)
    return f"{first[11:19]} to {last[11:19]}, {text}"


def _health(events: Iterable[Event]) -> str:
    """Last results of the live checks of a wave: `before: 9 switches read; during: ..`."""
    results = {
        event.when: event.detail or f"{event.when}: {event.phase.value}"
        for event in events
        if isinstance(event, HealthEvent) and event.phase is not ActPhase.INTENT
    }
    return "; ".join(results.values())
