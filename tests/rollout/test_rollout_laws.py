"""What a rollout keeps true whatever goes wrong: judged by the switches' own log, not the journal.

The switches are a model in memory: candidate, trial with its timer, running and saved. It fails
where it is told to, before or after it has done what it was asked, and can fall silent for good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocefort.errors import DeviceFailed, RocefortError, ServiceFailed
from rocefort.models.change import Change, Gate, Kind, Plan, Wave, digest_of
from rocefort.models.rollout import Applied, Event, Phase, Request, Runs, Seen, Trouble, Whose
from rocefort.rollout.engine import Rollout
from rocefort.rollout.journal import JournalFailed, Listener
from rocefort.rollout.ports import Before, Outcome, RunGate

OLD, NEW = "old", "new"
ACTS = ("precheck", "save", "load", "trial", "check", "confirm", "abort")
CRASHES = ("before", "after", "silent")
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
        """The trial's time is over."""
        if self.trial is not None:
            self.running, self.trial = self.trial, None

    def act(self, name: str) -> None:
        """Do what the CLI would."""
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

    def seen(self) -> Seen:
        """What it says of itself; a trial that is pending is always ours here."""
        if self.silent:
            return Seen(trouble=Trouble(f"{self.name}: does not answer"))
        return Seen(
            runs=Runs(self.running),
            saved=self.saved == self.running,
            trial=Whose.NOBODY if self.trial is None else Whose.OURS,
            held=self.trial is not None,
            left_s=0 if self.trial is None else 590,
            loaded=self.candidate is not None,
        )


@dataclass
class ModelSwitches:
    """Implements rocefort.rollout.engine.Switches; faults: (device, act) -> how it crashes."""

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
        """Who waits for a timer sees it end."""
        for switch in self.switches.values():
            switch.timer()

    def observe(self, ways: Sequence[Sequence[Change]]) -> dict[str, Seen]:
        return {change.device: self.switches[change.device].seen() for (change,) in ways}

    def precheck(self, changes: Sequence[Change]) -> Mapping[str, Before | RocefortError]:
        failed = self._all(changes, "precheck")
        return {c.device: failed.get(c.device) or Before("text", frozenset()) for c in changes}

    def save(self, changes: Sequence[Change]) -> Outcome:
        return self._all(changes, "save")

    def load(self, changes: Sequence[Change]) -> Outcome:
        return self._all(changes, "load")

    def trial(self, changes: Sequence[Change], seconds: int, words: Mapping[str, str]) -> Outcome:
        assert seconds == 600
        assert not any(words.values())  # nobody is drained here
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
    """Keeps nothing: what ran is of no interest here."""

    def keep(self, text: str) -> str:
        return digest_of(text)


@dataclass(frozen=True)
class Says:
    """A gate's verdict."""

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
            kind=Kind.MODIFYING,
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
        """What listeners hear, too: without the marks of a run."""
        return [event for event in self.rows if event.act != "run"]

    def append(self, event: Event, request: Request | None) -> None:
        assert request is None
        if self.full_at is not None and len(self.rows) >= self.full_at:
            raise JournalFailed("the journal cannot be written: disk full")
        self.rows.append(event)

    def events(self) -> list[Event]:
        return self.rows

    def requests(self) -> list[Request]:
        return []

    def holds_intent(self, device: str, act: str) -> None:
        """Fail unless the last word on this act is its intent."""
        told = [e for e in self.rows if (e.device, e.act) == (device, act)]
        assert told and told[-1].phase is Phase.INTENT, (device, act)


def rollout(
    plan: Plan,
    model: ModelSwitches,
    book: Book,
    *,
    gate: bool = True,
    stop: Callable[[], bool] = bool,
    listeners: Sequence[Listener] = (),
    run_gate: RunGate | None = None,
) -> Applied:
    model.each = book.holds_intent
    says = run_gate or (lambda _: Says(gate))
    return Rollout(
        plan, model, says, book, NoTexts(), listeners, stop=stop, sleep=model.sleep
    ).run()


waves = st.lists(st.integers(1, 3), min_size=1, max_size=4)
faults = st.dictionaries(
    st.tuples(st.integers(1, 12).map("leaf{:02}".format), st.sampled_from(ACTS)),
    st.sampled_from(CRASHES),
    max_size=4,
)


@settings(deadline=None)
@given(
    sizes=waves,
    faults=faults,
    full_at=st.none() | st.integers(0, 60),
    stops=st.none() | st.integers(0, 25),
)
@example(sizes=[3], faults={("leaf02", "confirm"): "before"}, full_at=None, stops=None)
@example(sizes=[2], faults={("leaf01", "confirm"): "after"}, full_at=None, stops=None)
@example(sizes=[2], faults={("leaf01", "trial"): "silent"}, full_at=None, stops=None)
@example(sizes=[3], faults={("leaf01", "save"): "before"}, full_at=None, stops=None)
@example(sizes=[3], faults={("leaf01", "save"): "before"}, full_at=45, stops=None)
def test_laws_of_a_rollout(
    sizes: list[int],
    faults: dict[tuple[str, str], str],
    full_at: int | None,
    stops: int | None,
) -> None:
    plan, book = plan_of(sizes), Book(full_at)
    model = switches_of(plan)
    model.faults = faults
    asked = iter(range(10_000))
    applied = rollout(plan, model, book, stop=lambda: stops is not None and next(asked) >= stops)
    # never more unconfirmed than a wave holds
    assert model.most_unconfirmed <= max(sizes)
    # waves are barriers: who is in a later wave than one that is not wholly new was not touched
    touched = {device for device, _ in model.log}
    for number, wave in enumerate(plan.waves):
        if not set(wave.devices) <= set(applied.confirmed):
            later = {device for after in plan.waves[number + 1 :] for device in after.devices}
            assert touched.isdisjoint(later)
    # what is said is true, for every device, once the timers have run out
    for name in applied.confirmed:
        switch = model.switches[name]
        assert (switch.running, switch.saved, switch.trial) == (NEW, NEW, None)
    for name in applied.rolled_back:
        switch = model.switches[name]
        assert (switch.running, switch.saved, switch.trial) == (OLD, OLD, None)
    for name, switch in model.switches.items():
        assert switch.trial is None or name in applied.unknown
        if name not in applied.confirmed + applied.unknown:
            assert (switch.running, switch.saved) == (OLD, OLD)
        switch.timer()
        # new and not saved: only where the journal died in between, and the next run saves it
        unsaved = (switch.running, switch.saved) == (NEW, OLD) and name in applied.unknown
        assert unsaved or (switch.running, switch.saved) in {(OLD, OLD), (NEW, NEW)}
        refused = (name, "save") in faults
        assert not unsaved or full_at is not None or switch.silent or refused
    told = (*applied.confirmed, *applied.already, *applied.rolled_back, *applied.unknown)
    assert len(set(told)) == len(told)
    assert (applied.exit_code == 0) == (applied.failure == "")
    assert bool(applied.failure) or len(applied.confirmed) == sum(sizes)


@settings(deadline=None)
@given(sizes=waves, dies=st.integers(1, 80), faults=faults)
def test_a_controller_that_dies_anywhere_leaves_old_new_or_a_timer_and_the_next_one_finishes(
    sizes: list[int], dies: int, faults: dict[tuple[str, str], str]
) -> None:
    class Killed(BaseException):
        pass

    plan, acts = plan_of(sizes), iter(range(1, 10_000))
    model = switches_of(plan)
    model.faults = {at: how for at, how in faults.items() if how == "after"}

    def each(_device: str, _act: str) -> None:
        if next(acts) >= dies:  # kill -9: no act of this controller gets through any more
            raise Killed

    model.each = each
    with suppress(Killed):
        Rollout(plan, model, lambda _: Says(True), Book(), NoTexts()).run()
    for switch in model.switches.values():
        switch.candidate = None  # its session is gone
        switch.timer()
        assert switch.running in {OLD, NEW}
    model.faults = {}
    applied = rollout(plan, model, Book())
    assert applied.failure == ""
    assert {s.saved for s in model.switches.values()} == {NEW}
    again = rollout(plan, model, quiet := Book())
    assert len(again.already) == sum(sizes)
    assert quiet.rows == []


def test_one_that_fails_on_confirm_goes_back_and_the_confirmed_ones_stay() -> None:
    plan, book = plan_of([3, 1]), Book()
    model = switches_of(plan)
    model.faults = {("leaf02", "confirm"): "before"}
    applied = rollout(plan, model, book)
    assert (applied.confirmed, applied.rolled_back) == (("leaf01", "leaf03"), ("leaf02",))
    assert (applied.unknown, applied.failure) == ((), "leaf02: confirm: before")
    assert [
        (e.device, e.detail) for e in book.told if e.act == "abort" and e.phase is Phase.DONE
    ] == [
        ("leaf03", "was confirmed"),
        ("leaf02", ""),
        ("leaf01", "was confirmed"),
    ]


def test_a_confirmation_whose_answer_is_lost_counts_as_what_the_switch_says() -> None:
    plan = plan_of([1, 1])
    model = switches_of(plan)
    model.faults = {("leaf01", "confirm"): "after"}
    applied = rollout(plan, model, Book())
    assert (applied.confirmed, applied.rolled_back, applied.exit_code) == (("leaf01",), (), 3)


def test_a_switch_that_cannot_be_brought_back_is_said_with_its_timer() -> None:
    plan = plan_of([2])
    model = switches_of(plan)
    model.faults = {("leaf01", "check"): "silent"}
    applied = rollout(plan, model, Book())
    assert (applied.rolled_back, applied.unknown) == (("leaf02",), ("leaf01",))
    assert applied.failure == (
        "leaf01: does not answer; leaf01: does not answer;"
        " a trial that runs there reverts by itself within 600 s"
    )


def test_every_switch_that_failed_is_named() -> None:
    plan = plan_of([3])
    model = switches_of(plan)
    model.faults = {("leaf01", "load"): "before", ("leaf03", "load"): "before"}
    assert rollout(plan, model, Book()).failure == "leaf01: load: before; leaf03: load: before"


def test_what_ran_as_intended_but_was_not_saved_is_saved() -> None:
    plan, book = plan_of([2]), Book()
    model = switches_of(plan)
    model.switches["leaf01"].running = NEW  # confirmed, then the controller died
    applied = rollout(plan, model, book)
    assert (applied.already, applied.confirmed) == (("leaf01",), ("leaf02",))
    assert model.switches["leaf01"].saved == NEW
    assert ("leaf01", "save") in model.log


@pytest.mark.parametrize(
    ("full_at", "acts", "unknown"),
    [(0, 0, ()), (1, 0, ()), (2, 1, ()), (4, 2, ("leaf01",)), (8, 4, ("leaf01",))],
)
def test_a_journal_that_fails_ends_all_acts_and_leaves_the_rest_to_the_timer(
    full_at: int, acts: int, unknown: tuple[str, ...]
) -> None:
    plan = plan_of([1])
    model = switches_of(plan)
    applied = rollout(plan, model, Book(full_at))
    assert (applied.unknown, applied.confirmed, applied.exit_code) == (unknown, (), 3)
    timer = "; what is on trial reverts by itself within 600 s" if unknown else ""
    assert applied.failure == (
        f"the journal cannot be written: disk full; nothing further is done{timer}"
    )
    assert len(model.log) == acts
    model.switches["leaf01"].timer()
    assert model.switches["leaf01"].running == OLD


def test_a_journal_that_failed_once_takes_the_abort() -> None:
    class Hiccup(Book):
        def append(self, event: Event, request: Request | None) -> None:
            super().append(event, request)
            if len(self.rows) == 7:
                raise JournalFailed("the journal cannot be written: database is locked")

    plan = plan_of([1])
    model = switches_of(plan)
    applied = rollout(plan, model, Hiccup())
    assert (applied.rolled_back, applied.unknown, applied.exit_code) == (("leaf01",), (), 3)
    assert model.switches["leaf01"].trial is None


def test_a_listener_that_dies_rolls_back_and_is_not_asked_again() -> None:
    plan, book, heard = plan_of([1]), Book(), []

    def closed(event: Event, /) -> None:
        heard.append(event)
        if event.act == "check":
            raise BrokenPipeError

    model = switches_of(plan)
    listener: Listener = closed
    with pytest.raises(BrokenPipeError):
        rollout(plan, model, book, listeners=[listener])
    assert heard[-1].act == "check"
    assert book.told[-1] == Event("wave 1", "leaf01", "abort", Phase.DONE)
    assert (model.switches["leaf01"].running, model.switches["leaf01"].trial) == (OLD, None)


@pytest.mark.parametrize("error", [ServiceFailed("no gate"), RuntimeError("a defect")])
def test_a_gate_that_crashes_rolls_back(error: Exception) -> None:
    plan = plan_of([1], GATE.model_copy(update={"unmeasured": ()}))
    model, book = switches_of(plan), Book()

    def crash(_: Gate) -> Says:
        raise error

    if isinstance(error, RocefortError):
        assert rollout(plan, model, book, run_gate=crash).rolled_back == ("leaf01",)
    else:
        with pytest.raises(RuntimeError, match="a defect"):
            rollout(plan, model, book, run_gate=crash)
    assert (model.switches["leaf01"].running, model.switches["leaf01"].trial) == (OLD, None)


def said_at_gate(book: Book) -> str:
    return next(e.detail for e in book.told if e.act == "gate" and e.phase is not Phase.INTENT)


def test_a_wave_that_nobody_can_measure_goes_on_and_says_so() -> None:
    book = Book()
    plan = plan_of([1], GATE.model_copy(update={"unmeasured": ("leaf01 has no RoCE server",)}))
    assert rollout(plan, switches_of(plan), book, gate=False).confirmed == ("leaf01",)
    assert said_at_gate(book) == "not measured: leaf01 has no RoCE server"


def test_an_empty_gate_without_a_reason_is_asked_and_blocks() -> None:
    plan = plan_of([1], GATE.model_copy(update={"unmeasured": ()}))
    assert rollout(plan, switches_of(plan), Book(), gate=False).rolled_back == ("leaf01",)


def test_an_interrupted_wave_goes_back() -> None:
    plan = plan_of([1, 1])
    model = switches_of(plan)
    asked = iter(range(100))
    applied = rollout(plan, model, Book(), stop=lambda: next(asked) >= 5)
    assert applied.rolled_back == ("leaf01",)
    assert applied.failure == "wave wave 1: interrupted; apply the plan again to go on"
    assert ("leaf01", "check") in model.log and ("leaf01", "confirm") not in model.log
