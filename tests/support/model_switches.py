"""In-memory model of the switches of a rollout, with a plan and a journal in a list.

A switch has candidate, trial with its timer, running and saved. It fails at configured acts, before
or after the act, and can stop answering permanently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rocefort.base.errors import DeviceFailed, RocefortError
from rocefort.models.change.plan import Change, ChangeKind, Gate, Plan, Wave, digest_of
from rocefort.models.fabric.trial_time import TrialLength
from rocefort.rollout.controller.protocols import Baseline, Outcome
from rocefort.rollout.journal.events import (
    ActPhase,
    Event,
    OperatorRequest,
    RolloutProblem,
    RunEvent,
    RunningConfig,
    SwitchState,
    TrialOwner,
)
from rocefort.rollout.journal.journal import JournalFailed

OLD, NEW = "old", "new"
GATE = Gate(
    pairs=(),
    unmeasured=("nothing here",),
    traffic_class=138,
    line_rate_fraction=0.92,
    latency_us=3.72,
    latency_tolerance=0.25,
    speed_judged=True,
)


@dataclass
class ModelSwitch:
    """One switch; `trial` holds what comes back when its timer ends."""

    name: str
    running: str = OLD
    saved: str = OLD
    candidate: str | None = None
    trial: str | None = None
    silent: bool = False

    def timer(self) -> None:
        """End the trial, as its timer does."""
        if self.trial is not None:
            self.running, self.trial = self.trial, None

    def act(self, name: str) -> None:
        """Do an act as the CLI would."""
        if name == "load":
            self.candidate = NEW
        elif name == "trial":
            assert self.candidate == NEW and self.trial is None
            self.trial, self.running, self.candidate = self.running, NEW, None
        elif name == "confirm":
            if self.trial is None:
                raise DeviceFailed("no trial to confirm", where=self.name)
            self.trial = None
        elif name == "save":
            self.saved = self.running
        elif name == "abort":
            self.timer()
            self.candidate = None

    @property
    def unconfirmed(self) -> bool:
        return self.trial is not None

    def seen(self) -> SwitchState:
        """Return the state that it reports; a pending trial is always of this run."""
        if self.silent:
            return SwitchState(trouble=RolloutProblem(f"{self.name}: does not answer"))
        return SwitchState(
            runs=RunningConfig(self.running),
            saved=self.saved == self.running,
            trial=TrialOwner.NONE if self.trial is None else TrialOwner.THIS_RUN,
            held=self.trial is not None,
            left_s=0 if self.trial is None else 590,
            loaded=self.candidate is not None,
        )


@dataclass
class ModelSwitches:
    """Implements rocefort.rollout.controller.controller.Switches; faults: (device, act) -> how it crashes."""

    switches: dict[str, ModelSwitch]
    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    log: list[tuple[str, str]] = field(default_factory=list)
    most_unconfirmed: int = 0
    each: Callable[[str, str], None] = lambda _device, _act: None

    def _one(self, device: str, act: str) -> RocefortError | None:
        switch = self.switches[device]
        fault = self.faults.get((device, act), "")
        switch.silent = switch.silent or fault == "silent"
        lost = DeviceFailed(f"{act}: {fault}", where=device)
        if switch.silent:
            return DeviceFailed("does not answer", where=device)
        if fault == "before":
            return lost
        self.each(device, act)
        self.log.append((device, act))
        try:
            switch.act(act)
        except RocefortError as error:
            return error
        finally:
            unconfirmed = sum(one.unconfirmed for one in self.switches.values())
            self.most_unconfirmed = max(self.most_unconfirmed, unconfirmed)
        return lost if fault == "after" else None

    def _all(self, changes: Sequence[Change], act: str) -> Outcome:
        done = {change.device: self._one(change.device, act) for change in changes}
        return {device: error for device, error in done.items() if error}

    def sleep(self, _seconds: float) -> None:
        """End all timers instead of waiting."""
        for switch in self.switches.values():
            switch.timer()

    def observe(self, ways: Sequence[Sequence[Change]]) -> dict[str, SwitchState]:
        return {change.device: self.switches[change.device].seen() for (change,) in ways}

    def precheck(self, changes: Sequence[Change]) -> Mapping[str, Baseline | RocefortError]:
        failed = self._all(changes, "precheck")
        return {c.device: failed.get(c.device) or Baseline("text", frozenset()) for c in changes}

    def save(self, changes: Sequence[Change]) -> Outcome:
        return self._all(changes, "save")

    def load(self, changes: Sequence[Change]) -> Outcome:
        return self._all(changes, "load")

    def trial(
        self, changes: Sequence[Change], length: TrialLength, words: Mapping[str, str]
    ) -> Outcome:
        assert length == (600, 600)
        assert not any(words.values())  # no switch is drained here
        return self._all(changes, "trial")

    def check(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        assert before.keys() == {change.device for change in changes}
        return self._all(changes, "check")

    def confirm(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        assert before.keys() == {change.device for change in changes}
        return self._all(changes, "confirm")

    def abort(self, changes: Sequence[Change]) -> Outcome:
        return self._all(changes, "abort")


class NoTexts:
    """Store of running texts that keeps nothing."""

    def keep(self, text: str) -> str:
        return digest_of(text)


@dataclass(frozen=True)
class Says:
    """Gate with a fixed verdict."""

    passed: bool
    summary: str = "1 pair measured"


def plan_of(sizes: Sequence[int], gate: Gate = GATE) -> Plan:
    names = iter(f"leaf{n:02}" for n in range(1, sum(sizes) + 1))
    waves = tuple(
        Wave(name=f"wave {i}", devices=tuple(next(names) for _ in range(size)), gate=gate)
        for i, size in enumerate(sizes, 1)
    )
    changes = tuple(
        Change(
            device=device,
            kind=ChangeKind.MODIFYING,
            edits=(),
            patch=("x",),
            reverse=("undo x",),
            running_digest=OLD,
            intended_digest=NEW,
        )
        for wave in waves
        for device in wave.devices
    )
    return Plan(
        fabric="f",
        source="f",
        tool="t",
        intent_digest="i",
        trial_s=600,
        changes=changes,
        waves=waves,
    )


def switches_of(plan: Plan) -> ModelSwitches:
    return ModelSwitches({change.device: ModelSwitch(change.device) for change in plan.changes})


class Book:
    """A journal in memory that fails from its nth row on."""

    def __init__(self, full_at: int | None = None) -> None:
        self.rows: list[Event] = []
        self.full_at = full_at

    @property
    def told(self) -> list[Event]:
        """Return the events that listeners get, without the marks of a run."""
        return [event for event in self.rows if not isinstance(event, RunEvent)]

    def append(self, event: Event, request: OperatorRequest | None) -> None:
        assert request is None
        if self.full_at is not None and len(self.rows) >= self.full_at:
            raise JournalFailed("the journal cannot be written: disk full")
        self.rows.append(event)

    def events(self) -> list[Event]:
        return self.rows

    def requests(self) -> list[OperatorRequest]:
        return []

    def holds_intent(self, device: str, act: str) -> None:
        """Fail unless the last event of this act is its intent."""
        events = [e for e in self.rows if (e.device, e.act) == (device, act)]
        assert events and events[-1].phase is ActPhase.INTENT, (device, act)
