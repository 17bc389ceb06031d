"""Laws of `next_action`, for any plan, any history and any state of the switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from model_switches import plan_of
from planned import make_event

from rocefort.models.change.plan import Plan, Soak
from rocefort.rollout.controller.next_action import (
    END,
    MOST_WAITS,
    Action,
    AwaitApproval,
    AwaitTrials,
    EndRollback,
    FailWave,
    FinishRollout,
    PauseRollout,
    RunActs,
    RunGate,
    StopRollout,
    next_action,
)
from rocefort.rollout.journal.events import (
    Act,
    ActPhase,
    ApplyRules,
    Event,
    RolloutProblem,
    RunEnded,
    RunningConfig,
    RunResumed,
    RunStarted,
    SwitchState,
    TrialOwner,
)
from rocefort.rollout.journal.history import RunHistory, history_of

MARGIN_S = 30 + 15  # until sessions are back, and to confirm and read back
AT_REST = SwitchState(runs=RunningConfig.BASELINE)
DONE = SwitchState(runs=RunningConfig.TARGET, saved=True)
ON_TRIAL = SwitchState(runs=RunningConfig.TARGET, trial=TrialOwner.THIS_RUN, held=True, left_s=500)


def names(plan: Plan) -> list[str]:
    return [device for wave in plan.waves for device in wave.devices]


def wave_of(plan: Plan, device: str) -> str:
    return next(wave.name for wave in plan.waves if device in wave.devices)


def begun(mode: str = "apply", limit: int = 3, approve: tuple[str, ...] = ()) -> Event:
    if mode == "resume":
        return RunResumed(phase=ActPhase.INTENT)
    return RunStarted(phase=ActPhase.INTENT, rules=ApplyRules(limit, approve))


seen = st.builds(
    SwitchState,
    runs=st.sampled_from(RunningConfig),
    saved=st.booleans(),
    trial=st.sampled_from(TrialOwner),
    held=st.booleans(),
    left_s=st.sampled_from([None, 0, MARGIN_S - 1, MARGIN_S, 299, 300, 600]),
    loaded=st.booleans(),
    trouble=st.none() | st.just(RolloutProblem("does not answer")),
)


@st.composite
def events(draw: st.DrawFn, plan: Plan) -> list[Event]:
    """Any events of a run, also such as no controller would write."""
    acts = st.sampled_from([*Act, "gate", "wait", "found", "fault", "stop", "pause", "approve"])
    event = st.tuples(st.sampled_from(names(plan)), acts, st.sampled_from(ActPhase))
    drawn = [begun(limit=draw(st.integers(1, 3)), approve=draw(st.sampled_from([(), ("wave 2",)])))]
    for device, act, phase in draw(st.lists(event, max_size=25)):
        of_wave = act in ("gate", "stop", "pause", "approve")
        wave = wave_of(plan, device)
        drawn.append(make_event(wave, "" if of_wave else device, act, phase, "said", 3))
        if draw(st.integers(0, 9)) == 0:
            drawn.append(begun("resume"))
    return drawn


plans = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(plan_of)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Plan, RunHistory, dict[str, SwitchState]]:
    plan = draw(plans)
    states = {device: draw(seen) for device in names(plan)}
    if draw(st.booleans()):
        states = {device: draw(st.sampled_from([AT_REST, DONE, ON_TRIAL])) for device in states}
    return plan, history_of(draw(events(plan))), states


@settings(max_examples=settings().max_examples * 5)
@given(situations())
def test_every_situation_has_an_answer_that_the_switches_bear_out(
    situation: tuple[Plan, RunHistory, dict[str, SwitchState]],
) -> None:
    plan, history, states = situation
    action = next_action(plan, history, states)
    assert action == next_action(plan, history, dict(reversed(states.items())))  # pure
    if isinstance(action, RunActs | AwaitTrials):
        assert action.devices
        assert {wave_of(plan, device) for device in action.devices} == {action.wave}
        sound_acts(plan, history, states, action)
    if isinstance(action, FinishRollout):
        assert all(states[d].runs is RunningConfig.TARGET and not states[d].trouble for d in states)
        assert all(states[d].trial is TrialOwner.NONE for d in states)
    if isinstance(action, PauseRollout | AwaitApproval | RunGate | FailWave):
        assert not history.failure


def sound_acts(
    plan: Plan,
    history: RunHistory,
    states: Mapping[str, SwitchState],
    action: RunActs | AwaitTrials,
) -> None:
    """Check the conditions of a single act."""
    for device in action.devices:
        state, progress = states[device], history.course(device)
        if isinstance(action, AwaitTrials):
            assert state.maybe_ours
        elif action.act is Act.CONFIRM:
            assert Act.CHECK in progress.done
            assert action.wave in history.measured
            assert (
                state.trial is TrialOwner.THIS_RUN
                and state.held
                and state.runs is RunningConfig.TARGET
            )
            assert state.left_s is not None and state.left_s >= plan.margin_s == MARGIN_S
        elif action.act is Act.TRIAL:
            assert state.trial is TrialOwner.NONE and state.loaded
        elif action.act in (Act.PRECHECK, Act.LOAD):
            assert (
                state.trial is TrialOwner.NONE
                and state.runs is RunningConfig.BASELINE
                and not state.trouble
            )
    if (
        isinstance(action, RunActs) and action.act is Act.CONFIRM
    ):  # all that are left of a wave at once
        here = next(wave.devices for wave in plan.waves if wave.name == action.wave)
        assert all(d in action.devices or states[d].runs is RunningConfig.TARGET for d in here)
    if isinstance(action, RunActs) and action.act is Act.TRIAL:
        assert history.rules
        pending = {d for d in states if states[d].trial is TrialOwner.THIS_RUN} | set(
            action.devices
        )
        assert len(pending) <= history.rules.max_unavailable
        assert not history.failure


@settings(max_examples=settings().max_examples * 5)
@given(situations())
def test_who_failed_only_goes_back(
    situation: tuple[Plan, RunHistory, dict[str, SwitchState]],
) -> None:
    plan, history, states = situation
    action = next_action(plan, history, states)
    if history.failure:
        assert isinstance(action, EndRollback | AwaitTrials) or (
            isinstance(action, RunActs) and action.act in (Act.ABORT, Act.SAVE)
        )


@given(plans, st.data())
def test_what_is_finished_stays_so_and_asks_for_no_act(plan: Plan, data: st.DataObject) -> None:
    """P21: also for a plan that is applied again, with any history."""
    drawn = data.draw(events(plan))
    history = history_of(drawn)
    states = dict.fromkeys(names(plan), DONE)
    assert next_action(plan, RunHistory(rules=ApplyRules(3)), states) == FinishRollout()
    if not history.failure and not any(history.course(d).done for d in states):
        assert next_action(plan, history, states) == FinishRollout()


@given(situations())
def test_it_comes_to_an_end_whatever_the_switches_answer(
    situation: tuple[Plan, RunHistory, dict[str, SwitchState]],
) -> None:
    """Every act fails and no switch ever changes: the controller ends nevertheless."""
    plan, history, states = situation
    for _ in range(200):
        action = next_action(plan, history, states)
        if isinstance(action, END):
            return
        history = failed(history, action)
    raise AssertionError(action)


def failed(history: RunHistory, action: Action) -> RunHistory:
    if isinstance(action, RunGate):
        return history.after(make_event(action.wave, "", "gate", ActPhase.FAILED, "no", 3))
    if isinstance(action, FailWave):
        for device, trouble in action.troubles:
            event = make_event(action.wave, device, "fault", ActPhase.FAILED, trouble.text, 3)
            history = history.after(event)
        return history
    assert isinstance(action, RunActs | AwaitTrials)
    act = action.act if isinstance(action, RunActs) else "wait"
    end = ActPhase.FAILED if isinstance(action, RunActs) else ActPhase.DONE
    for phase in (ActPhase.INTENT, end):
        for device in action.devices:
            history = history.after(make_event(action.wave, device, act, phase, "no", 3))
    return history


# --- by name --------------------------------------------------------------------------------------

PLAN = plan_of([2, 1])
START = history_of([begun(limit=2)])


def observed(*states: SwitchState) -> dict[str, SwitchState]:
    return dict(zip(names(PLAN), states, strict=True))


def test_the_way_of_a_wave() -> None:
    history, states = START, [AT_REST, AT_REST, AT_REST]
    both = ("leaf01", "leaf02")
    loaded = SwitchState(runs=RunningConfig.BASELINE, loaded=True)
    unsaved = SwitchState(runs=RunningConfig.TARGET)
    for act, then in (
        (Act.PRECHECK, AT_REST),
        (Act.LOAD, loaded),
        (Act.TRIAL, ON_TRIAL),
        (Act.CHECK, ON_TRIAL),
        (None, ON_TRIAL),
        (Act.CONFIRM, unsaved),
        (Act.SAVE, DONE),
    ):
        expected = RunActs(act, "wave 1", both) if act else RunGate("wave 1")
        assert next_action(PLAN, history, observed(*states)) == expected
        for device in both if act else ("",):
            for phase in (ActPhase.INTENT, ActPhase.DONE):
                event = make_event("wave 1", device, act or "gate", phase)
                history = history.after(event)
        states = [then, then, AT_REST]
    assert next_action(PLAN, history, observed(*states)) == RunActs(
        Act.PRECHECK, "wave 2", ("leaf03",)
    )


def tried(*acts: str) -> RunHistory:
    """History of both devices of wave 1 after these acts, for a resuming controller."""
    history = START
    for act in acts:
        for device in ("leaf01", "leaf02"):
            for phase in (ActPhase.INTENT, ActPhase.DONE):
                history = history.after(make_event("wave 1", device, act, phase))
    history = history.after(make_event("wave 1", "", "gate", ActPhase.DONE))
    return history.after(begun("resume"))


LIFE = ("precheck", "load", "trial", "check")


def test_who_goes_on_checks_anew_what_it_takes_up() -> None:
    states = observed(ON_TRIAL, ON_TRIAL, AT_REST)
    history = tried(*LIFE)
    assert next_action(PLAN, history, states) == RunActs(Act.CHECK, "wave 1", ("leaf01", "leaf02"))
    for device in ("leaf01", "leaf02"):
        history = history.after(make_event("wave 1", device, "check", ActPhase.DONE))
    assert next_action(PLAN, history, states) == RunGate("wave 1")


def test_a_trial_whose_session_died_is_aborted_and_done_again() -> None:
    stray = SwitchState(
        runs=RunningConfig.TARGET, trial=TrialOwner.THIS_RUN, held=False, left_s=500
    )
    late = SwitchState(runs=RunningConfig.TARGET, trial=TrialOwner.THIS_RUN, held=True, left_s=299)
    for state in (stray, late):
        history = tried(*LIFE)
        action = next_action(PLAN, history, observed(state, AT_REST, AT_REST))
        assert action == RunActs(Act.ABORT, "wave 1", ("leaf01",))
        refused = make_event("wave 1", "leaf01", "abort", ActPhase.FAILED, "not here", 3)
        action = next_action(PLAN, history.after(refused), observed(state, AT_REST, AT_REST))
        assert action == AwaitTrials("wave 1", ("leaf01",), state.left_s or 0)
        again = next_action(PLAN, history, observed(AT_REST, AT_REST, AT_REST))
        assert again == RunActs(Act.PRECHECK, "wave 1", ("leaf01", "leaf02"))


def test_a_trial_that_cannot_outlast_the_soak_of_its_wave_is_aborted_and_done_again() -> None:
    soak = Soak(seconds=300, why="a timer")
    first, *others = PLAN.changes
    plan = PLAN.model_copy(update={"changes": (first.model_copy(update={"soak": soak}), *others)})
    long, short = (replace(ON_TRIAL, left_s=left_s) for left_s in (550, 330))
    history = tried(*LIFE)
    both = RunActs(Act.CHECK, "wave 1", ("leaf01", "leaf02"))
    assert next_action(plan, history, observed(long, long, AT_REST)) == both
    assert next_action(PLAN, history, observed(long, short, AT_REST)) == both
    aborted = RunActs(Act.ABORT, "wave 1", ("leaf02",))
    assert next_action(plan, history, observed(long, short, AT_REST)) == aborted


def test_a_trial_whose_owner_is_not_shown_is_waited_for_and_never_aborted() -> None:
    for left_s, wait in ((None, PLAN.trial_s), (70, 70)):
        state = SwitchState(runs=RunningConfig.TARGET, trial=TrialOwner.UNKNOWN, left_s=left_s)
        states = observed(state, AT_REST, AT_REST)
        assert next_action(PLAN, tried(*LIFE), states) == AwaitTrials("wave 1", ("leaf01",), wait)
        history = tried(*LIFE)
        for _ in range(MOST_WAITS):
            history = history.after(make_event("wave 1", "leaf01", "wait", ActPhase.INTENT))
        assert next_action(PLAN, history, states) == StopRollout(
            (
                RolloutProblem(
                    "leaf01: a trial is pending, and the switch does not show whose; a trial of this "
                    "rollout would be over: confirm or abort it on the switch, then resume"
                ),
            )
        )


def test_what_is_neither_old_nor_new_stops_it_by_name() -> None:
    other = SwitchState(runs=RunningConfig.UNKNOWN)
    assert next_action(PLAN, tried(*LIFE), observed(other, AT_REST, AT_REST)) == StopRollout(
        (
            RolloutProblem(
                "leaf01: its running configuration is not the one that the plan was made against;"
                " plan again",
                4,
            ),
        )
    )


def test_a_foreign_trial_stops_it_and_is_nobody_s_to_end() -> None:
    foreign = SwitchState(runs=RunningConfig.TARGET, trial=TrialOwner.OTHER, left_s=60)
    action = next_action(PLAN, START, observed(AT_REST, AT_REST, foreign))
    assert isinstance(action, StopRollout)
    assert action.troubles[0].text == (
        "leaf03: a trial is pending that this rollout did not start, 1 min 0 s left; wait for its "
        "timer, or let the session that began it confirm or abort it"
    )


def test_another_run_of_the_same_plan_is_told_apart_and_refused() -> None:
    """Another controller, on another machine, may be at work with this very plan."""
    theirs = SwitchState(
        runs=RunningConfig.TARGET, trial=TrialOwner.OTHER, left_s=300, other_run="1a2b3c4d"
    )
    assert next_action(PLAN, START, observed(theirs, AT_REST, AT_REST)) == StopRollout(
        (
            RolloutProblem(
                "leaf01: another run of this plan, 1a2b3c4d, has a trial pending, 5 min 0 s left; "
                "one run at a time: resume that run, or wait for its end",
                4,
            ),
        )
    )


def test_a_trial_with_too_little_time_left_is_not_confirmed() -> None:
    history = START
    for act in LIFE:
        for device in ("leaf01", "leaf02"):
            for phase in (ActPhase.INTENT, ActPhase.DONE):
                history = history.after(make_event("wave 1", device, act, phase))
    history = history.after(make_event("wave 1", "", "gate", ActPhase.DONE))
    short = SwitchState(runs=RunningConfig.TARGET, trial=TrialOwner.THIS_RUN, held=True, left_s=44)
    assert next_action(PLAN, history, observed(ON_TRIAL, short, AT_REST)) == FailWave(
        "wave 1",
        (
            (
                "leaf02",
                RolloutProblem(
                    "leaf02: only 44 s are left of its trial, too little to confirm it, which may "
                    "take 45 s"
                ),
            ),
        ),
    )


def test_a_pause_lets_the_wave_under_way_end_and_begins_none() -> None:
    pause = make_event("", "", "pause", ActPhase.DONE, "ann")
    assert next_action(
        PLAN, START.after(pause), observed(AT_REST, AT_REST, AT_REST)
    ) == PauseRollout("wave 1", "ann")
    going_on = next_action(PLAN, tried(*LIFE).after(pause), observed(ON_TRIAL, ON_TRIAL, AT_REST))
    assert going_on == RunActs(Act.CHECK, "wave 1", ("leaf01", "leaf02"))
    assert START.after(pause).notes == ("pause requested by ann",)
    ended = START.after(pause).after(RunEnded(phase=ActPhase.DONE, ended="finished"))
    assert ended.notes == ("pause requested by ann; the run ended first",)
    resumed = START.after(pause).after(begun("resume"))
    assert resumed.notes == ("pause requested by ann, and resumed",)
    assert isinstance(next_action(PLAN, resumed, observed(AT_REST, AT_REST, AT_REST)), RunActs)


def test_a_wave_that_needs_an_approval_waits_for_it() -> None:
    history = history_of([begun(limit=2, approve=("wave 2",))])
    states = observed(DONE, DONE, AT_REST)
    assert next_action(PLAN, history, states) == AwaitApproval("wave 2")
    approved = history.after(make_event("wave 2", "", "approve", ActPhase.DONE, "by ann"))
    assert next_action(PLAN, approved, states) == RunActs(Act.PRECHECK, "wave 2", ("leaf03",))


def test_more_at_once_than_may_be_is_refused() -> None:
    action = next_action(PLAN, history_of([begun(limit=1)]), observed(AT_REST, AT_REST, AT_REST))
    assert action == StopRollout(
        (RolloutProblem("wave wave 1: 2 switches change at once, 1 may; plan again", 4),)
    )
