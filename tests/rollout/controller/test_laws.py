"""Laws of a rollout under any failure, checked with the switches' own log, not the journal.

The switches are a model in memory: model_switches.py.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from model_switches import (
    GATE,
    NEW,
    OLD,
    Book,
    ModelSwitches,
    NoTexts,
    Says,
    plan_of,
    switches_of,
)
from planned import make_event

from rocefort.base.errors import RocefortError, ServiceFailed
from rocefort.models.change.plan import Plan, Wave
from rocefort.rollout.controller.config import ApplyOptions, RolloutConfig
from rocefort.rollout.controller.controller import RolloutLoop
from rocefort.rollout.controller.protocols import RunGate, WaveGate, WaveGuards
from rocefort.rollout.journal.events import ActPhase, Event, OperatorRequest, RolloutOutcome
from rocefort.rollout.journal.journal import EventListener, JournalFailed

ACTS = ("precheck", "save", "load", "trial", "check", "confirm", "abort")
CRASHES = ("before", "after", "silent")


def rollout(
    plan: Plan,
    model: ModelSwitches,
    book: Book,
    *,
    gate: bool = True,
    stop: Callable[[], bool] = bool,
    listeners: Sequence[EventListener] = (),
    run_gate: RunGate | None = None,
) -> RolloutOutcome:
    model.each = book.holds_intent
    says = run_gate or (lambda _: Says(gate))
    config = RolloutConfig(
        plan, model, says, book, NoTexts(), listeners, stop=stop, sleep=model.sleep
    )
    return RolloutLoop(config).run()


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracebacks of internal errors are kept where the test's files are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


waves = st.lists(st.integers(1, 3), min_size=1, max_size=4)
faults = st.dictionaries(
    st.tuples(st.integers(1, 12).map("leaf{:02}".format), st.sampled_from(ACTS)),
    st.sampled_from(CRASHES),
    max_size=4,
)


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
    calls = iter(range(10_000))
    applied = rollout(plan, model, book, stop=lambda: stops is not None and next(calls) >= stops)
    # never more unconfirmed than a wave holds
    assert model.most_unconfirmed <= max(sizes)
    # waves are barriers: who is in a later wave than one that is not wholly new was not touched
    touched = {device for device, _ in model.log}
    for number, wave in enumerate(plan.waves):
        if not set(wave.devices) <= set(applied.confirmed):
            later = {device for after in plan.waves[number + 1 :] for device in after.devices}
            assert touched.isdisjoint(later)
    # the outcome is true for every device when the timers have expired
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
    reported = (*applied.confirmed, *applied.already, *applied.rolled_back, *applied.unknown)
    assert len(set(reported)) == len(reported)
    assert (applied.exit_code == 0) == (applied.failure == "")
    assert bool(applied.failure) or len(applied.confirmed) == sum(sizes)


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
        RolloutLoop(RolloutConfig(plan, model, lambda _: Says(True), Book(), NoTexts())).run()
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


class ClosedWaves:
    """Windows that hold these waves."""

    def __init__(self, closed: set[str]) -> None:
        self.closed = closed

    def __call__(self, wave: Wave) -> str:
        return "closed" if wave.name in self.closed else ""

    def record(self, _wave: Wave) -> str:
        return "by a calendar"


@given(
    sizes=waves, closed=st.sets(st.integers(1, 4)), faults=faults, outside=st.booleans(),
    glass=st.booleans(),
)  # fmt: skip
def test_a_wave_that_a_calendar_holds_begins_only_by_a_permitted_request(
    sizes: list[int],
    closed: set[int],
    faults: dict[tuple[str, str], str],
    outside: bool,
    glass: bool,
) -> None:
    plan, book = plan_of(sizes), Book()
    model = switches_of(plan)
    model.faults, model.each = faults, book.holds_intent
    held = {wave.name for number, wave in enumerate(plan.waves, 1) if number in closed}
    options = ApplyOptions(
        outside="urgent" if outside else "", break_glass="night" if glass else ""
    )
    config = RolloutConfig(
        plan, model, lambda _: Says(True), book, NoTexts(), options=options, sleep=model.sleep,
        guards=WaveGuards(windows=ClosedWaves(held)),
    )  # fmt: skip
    applied = RolloutLoop(config).run()
    touched = {device for device, _ in model.log}
    for wave in plan.waves:
        if wave.name in held and not (outside and glass):
            assert touched.isdisjoint(wave.devices)
    begun = [event.wave for event in book.told if event.act == "window"]
    assert begun == [wave.name for wave in plan.waves][: len(begun)]
    assert {d for wave in plan.waves if wave.name in begun for d in wave.devices} >= touched
    if not faults:
        stopped = bool(held) and not (outside and glass)
        assert (applied.exit_code, applied.unfinished) == ((5, True) if stopped else (0, False))


def test_one_that_fails_on_confirm_goes_back_and_the_confirmed_ones_stay() -> None:
    plan, book = plan_of([3, 1]), Book()
    model = switches_of(plan)
    model.faults = {("leaf02", "confirm"): "before"}
    applied = rollout(plan, model, book)
    assert (applied.confirmed, applied.rolled_back) == (("leaf01", "leaf03"), ("leaf02",))
    assert (applied.unknown, applied.failure) == ((), "leaf02: confirm: before")
    assert [
        (e.device, e.detail) for e in book.told if e.act == "abort" and e.phase is ActPhase.DONE
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
        " a trial that runs there reverts automatically within 600 s"
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
    timer = "; what is on trial reverts automatically within 600 s" if unknown else ""
    timer = timer if full_at else "; correct it, then apply the plan again"  # no run has begun
    assert applied.failure == (
        f"the journal cannot be written: disk full; nothing further is done{timer}"
    )
    assert len(model.log) == acts
    model.switches["leaf01"].timer()
    assert model.switches["leaf01"].running == OLD


def test_a_journal_that_failed_once_takes_the_abort() -> None:
    class Hiccup(Book):
        def append(self, event: Event, request: OperatorRequest | None) -> None:
            super().append(event, request)
            if len(self.rows) == 7:
                raise JournalFailed("the journal cannot be written: database is locked")

    plan = plan_of([1])
    model = switches_of(plan)
    applied = rollout(plan, model, Hiccup())
    assert (applied.rolled_back, applied.unknown, applied.exit_code) == (("leaf01",), (), 3)
    assert model.switches["leaf01"].trial is None


@pytest.mark.usefixtures("traces")
def test_a_listener_that_dies_rolls_back_and_is_not_asked_again() -> None:
    plan, book, heard = plan_of([1]), Book(), []

    def closed(event: Event, /) -> None:
        heard.append(event)
        if event.act == "check":
            raise BrokenPipeError

    model = switches_of(plan)
    listener: EventListener = closed
    applied = rollout(plan, model, book, listeners=[listener])
    assert (applied.rolled_back, applied.exit_code) == (("leaf01",), 70)
    assert applied.failure.startswith("wave wave 1: an internal error: BrokenPipeError; please")
    assert heard[-1].act == "check"
    assert book.told[-1] == make_event("wave 1", "leaf01", "abort", ActPhase.DONE)
    assert (model.switches["leaf01"].running, model.switches["leaf01"].trial) == (OLD, None)


@pytest.mark.usefixtures("traces")
@pytest.mark.parametrize("error", [ServiceFailed("no gate"), RuntimeError("a defect")])
def test_a_gate_that_crashes_rolls_back(error: Exception) -> None:
    plan = plan_of([1], GATE.model_copy(update={"unmeasured": ()}))
    model, book = switches_of(plan), Book()

    def crash(_: WaveGate) -> Says:
        raise error

    applied = rollout(plan, model, book, run_gate=crash)
    assert applied.rolled_back == ("leaf01",)
    assert str(error) in applied.failure
    assert applied.exit_code == (3 if isinstance(error, RocefortError) else 70)
    assert (model.switches["leaf01"].running, model.switches["leaf01"].trial) == (OLD, None)


@pytest.mark.usefixtures("traces")
def test_an_internal_error_on_the_way_back_tells_what_is_left_to_the_timer() -> None:
    plan = plan_of([1], GATE.model_copy(update={"unmeasured": ()}))
    model, book = switches_of(plan), Book()

    def crash(*_: object) -> Says:
        raise RuntimeError("a defect")

    model.abort = crash  # type: ignore[method-assign,assignment]
    applied = rollout(plan, model, book, run_gate=crash)
    assert (applied.unknown, applied.exit_code, applied.unfinished) == (("leaf01",), 70, True)
    timer = f"what is on trial reverts automatically within {plan.trial_s} s"
    assert f"nothing further is done; {timer}" in applied.failure
    model.switches["leaf01"].timer()
    assert model.switches["leaf01"].running == OLD


def said_at_gate(book: Book) -> str:
    return next(e.detail for e in book.told if e.act == "gate" and e.phase is not ActPhase.INTENT)


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
    calls = iter(range(100))
    applied = rollout(plan, model, Book(), stop=lambda: next(calls) >= 5)
    assert applied.rolled_back == ("leaf01",)
    assert applied.failure == "wave wave 1: interrupted; apply the plan again to continue"
    assert ("leaf01", "check") in model.log and ("leaf01", "confirm") not in model.log
