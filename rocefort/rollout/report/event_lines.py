"""Events of a rollout as lines of text or JSON, and its outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from rocefort.base.errors import ExitCode
from rocefort.base.json_output import json_text
from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Code, Note, Section, Tone
from rocefort.rollout.journal.events import ActPhase, Event, RolloutOutcome, step_of
from rocefort.rollout.journal.runs import NOTHING_CHANGES, RolloutStatus, untouched_text


class StepOutput(Frozen):
    """Event of a rollout, one line of JSON."""

    at: str = Field(
        description="Time, ISO 8601 in UTC.", examples=["2026-11-23T10:15:04.120+00:00"]
    )
    wave: str = Field(
        description="Wave; empty for an event of the whole rollout.", examples=["canary"]
    )
    device: str = Field(
        description="Switch; empty for an event of the whole wave.", examples=["leaf08"]
    )
    act: str = Field(description="Act of the rollout.", examples=["trial"])
    phase: str = Field(
        description="`intent` before an act, `done` after it, `failed` after it failed.",
        examples=["done"],
    )
    detail: str = Field(description="Sentence for people.", examples=["4 pairs measured"])
    code: int = Field(description="Exit code of a failure, otherwise 0.", examples=[0])


class EndOutput(Frozen):
    """Outcome of a rollout, the last line of JSON."""

    ended: RolloutOutcome = Field(description="Outcome of each switch, and the failure.")
    journal: str = Field(description="Path of the journal.", examples=["plan.json.journal"])
    head: str = Field(
        description="Digest of the last row of the journal: the end of its chain.",
        examples=["8f1c2a90b7d4.."],
    )
    damage: str = Field(
        description="Problem of the journal; empty: its chain is whole.",
        examples=["row 12 was changed"],
    )


class FollowedOutput(Frozen):
    """State of a run without a controller, the last line of JSON."""

    state: str = Field(description="State of the run as a sentence.", examples=["finished"])
    exit_code: int = Field(description="Exit code of the run.", examples=[0])
    journal: str = Field(description="Path of the journal.", examples=["plan.json.journal"])
    damage: str = Field(
        description="Problem of the journal; empty: its chain is whole.",
        examples=["row 12 was changed"],
    )


class JsonLines:
    """Listener of a rollout that prints every event as one line of JSON."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def __call__(self, event: Event, /) -> None:
        """Take one event."""
        self.tell(event, datetime.now(UTC).isoformat(timespec="milliseconds"))

    def tell(self, event: Event, at: str) -> None:
        """Print an event with its time."""
        self._say(json_text(StepOutput.model_validate({"at": at, **step_of(event)}), indent=None))


class WaveLines:
    """Listener of a rollout that prints one line for each completed step of a wave."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._open: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._failed: set[tuple[str, str]] = set()

    def __call__(self, event: Event, /) -> None:
        """Take one event; print a failure at once, success after the last device of the wave."""
        key = (event.wave, event.act)
        if event.act == "approve":  # print each: another one follows an approval that does not hold
            failed = "FAILED " if event.phase is ActPhase.FAILED else ""
            # one line, so that a user can copy its command
            self._say(f"{event.wave:<14} {event.act:<8} {failed}{event.detail}")
            return
        if event.phase is ActPhase.INTENT:
            if event.act == "wait" and (not event.device or not self._open[key]):
                self._tell(event, event.detail)
            if event.act == "wait" and not event.device:
                return  # the progress of a wait
            if event.act == "soak" and not self._open[key]:
                self._tell(event, f"waits {event.detail}")
            self._open[key].add(event.device)
            return
        self._open[key].discard(event.device)
        if event.phase is ActPhase.FAILED:
            self._failed.add(key)
            failed = "" if event.code == ExitCode.STOPPED else "FAILED "
            self._tell(event, f"{failed}{event.detail}")
        elif not self._open[key] and key not in self._failed:
            self._tell(event, event.detail or "ok")

    def _tell(self, event: Event, text: str) -> None:
        from rocefort.reports.writers.terminal import headed, width_of  # noqa: PLC0415 - rich

        for line in headed(f"{event.wave:<14} {event.act:<8} ", text, width_of()):
            self._say(line)


HAS_HINT = "to continue"  # the end of a failure message with its own hint: an interruption
RESUME = "`rocefort resume`"


def to_continue(plan: str) -> str:
    """Instruction after a failed run; plan: arguments that name it."""
    return (
        f"to continue: find the cause (`rocefort history {plan}` lists every step), correct it, "
        "and plan again; confirmed changes stay"
    )


class WaveSummary:
    """Listener of a rollout that reports each wave in one sentence at its end.

    `say` takes the kind of wave (canary, leaves, spine) and the sentence.
    """

    def __init__(self, say: Callable[[str, str], None]) -> None:
        self._say = say
        self._open: dict[str, set[str]] = defaultdict(set)
        self._ended: dict[str, list[str]] = defaultdict(list)  # by outcome
        self._gate = self._soak = ""
        self._failures: list[str] = []

    def __call__(self, event: Event, /) -> None:
        """Take one event; report when the last switch of a wave is confirmed or rolled back."""
        if event.phase is ActPhase.FAILED:
            self._failures.append(f"{event.act}: {event.detail}")
        if event.act == "gate" and event.phase is ActPhase.DONE:
            self._gate = event.detail
        if event.act == "trial":
            self._soak = ""
        if event.act == "soak" and event.phase is ActPhase.INTENT:
            self._soak = f", soaked {event.detail.partition(':')[0].rpartition(', ')[2]}"
        if event.act not in ("confirm", "abort"):
            return
        if event.phase is ActPhase.INTENT:
            self._open[event.act].add(event.device)
            if event.act == "abort":  # the abort reads the state of every switch of the wave
                self._ended.clear()
            return
        self._open[event.act].discard(event.device)
        self._ended[_end_of(event)].append(event.device)
        if not self._open[event.act] and (event.act == "abort" or not self._failures):
            self._tell(event)

    def _tell(self, event: Event) -> None:
        kind = event.wave.split()[0]
        if event.act == "confirm":
            names = ", ".join(self._ended["confirmed"])
            leg = f" ({event.detail})" if event.detail else ""  # a drained switch has three changes
            self._say(kind, f"{names}{leg}: trial, read back, {self._gate}{self._soak}, confirmed")
        else:
            parts = [f"{', '.join(names)} {end}" for end, names in self._ended.items()]
            self._say(kind, "; ".join([*parts, *self._failures]))
        self._ended.clear()


def _end_of(event: Event) -> str:
    """Return the outcome of a switch; an abort has a detail if the switch was confirmed before."""
    if event.phase is ActPhase.FAILED:
        return "in an unknown state"
    return "rolled back" if event.act == "abort" and not event.detail else "confirmed"


def applied_report(applied: RolloutOutcome, plan: str = "PLAN") -> Iterator[Note]:
    """Show the outcome of a rollout in sentences; plan: arguments that name it."""
    reached = applied.confirmed or applied.already or applied.rolled_back or applied.unknown
    if not (reached or applied.failure):
        yield Note(NOTHING_CHANGES)
    if applied.exit_code == ExitCode.STOPPED:
        yield Note(applied.failure, Tone.WARNING)
    elif applied.failure:
        yield Note(f"stopped: {applied.failure}", Tone.ERROR)
    yield from _ends_of_switches(applied)
    if applied.unfinished:
        if RESUME not in applied.failure:
            yield Note(f"to continue: fix the cause, then run {RESUME}")
    elif _lacks_hint(applied):
        yield Note(to_continue(plan))


def _ends_of_switches(applied: RolloutOutcome) -> Iterator[Note]:
    """Yield sentences on what the switches of a rollout run."""
    for devices, words, tone in (
        (applied.confirmed, "confirmed, read back and saved", Tone.GOOD),
        (applied.already, "ran as intended before", Tone.PLAIN),
        (applied.rolled_back, "rolled back to what ran before", Tone.WARNING),
        (applied.unknown, "IN AN UNKNOWN STATE, look at them", Tone.ERROR),
    ):
        if devices:
            text = f"{count_of(len(devices), 'switch')} {words}"
            yield Note(f"{text}: {', '.join(devices)}", tone)
    for text in applied.on_trial:
        yield Note(text, Tone.WARNING)
    if applied.failure and not applied.unknown:
        yield Note(untouched_text(touched=bool(applied.confirmed or applied.rolled_back)))


def _lacks_hint(applied: RolloutOutcome) -> bool:
    """Whether a failure has no hint to continue; one that changed no switch has it."""
    touched = applied.rolled_back or applied.confirmed or applied.exit_code == ExitCode.INTERNAL
    if applied.exit_code == ExitCode.STOPPED:
        return False
    return bool(applied.failure and touched) and not applied.failure.endswith(HAS_HINT)


def seal_report(journal: Path | str, rows: int, head: str, damage: str = "") -> Iterator[Block]:
    """Show the length of a journal and its newest link; a stored link detects a forged journal.

    damage: damage of the journal during the run; the run did not depend on it.
    """
    if damage:
        yield Note(f"THE JOURNAL IS DAMAGED: {damage}", Tone.ERROR)
    if rows:
        title = f"journal {journal}: {count_of(rows, 'row')}, its newest link is"
        yield Section("", (Section(title, (Code((head,)),)),))


def ended_output(applied: RolloutOutcome, journal: Path, head: str, damage: str = "") -> EndOutput:
    """Return the outcome of a rollout for programs."""
    return EndOutput(ended=applied, journal=str(journal), head=head, damage=damage)


def followed_output(status: RolloutStatus) -> FollowedOutput:
    """Return the state of a run without a controller for programs."""
    journal = status.journal
    return FollowedOutput(
        state=status.state,
        exit_code=status.code,
        journal=journal.path,
        damage=journal.damage,
    )
