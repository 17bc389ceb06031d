"""A process that died during a trial, and the next one: under every behaviour of a release."""

from collections.abc import Callable
from itertools import product
from typing import Any, get_args

import pytest
from napalm.base.exceptions import CommitConfirmException, CommitError
from personalities import PERSONALITIES

from napalm_cloudengine.errors import OutcomeUnknownError, TrialOfOtherSessionError
from rocefort.emulator.switch.personality import LineFault, Persist, Personality, TrialMode

Start = Callable[..., Any]
CHANGE = "interface 100GE1/0/1\n mtu 9216\n"
OURS = "rocefort-7f3a"
RELEASES = list(product(get_args(TrialMode), get_args(Persist)))


def begin(emulated: Any, **options: Any) -> None:
    """Start a trial in a process that dies before it could finish or clean up."""
    driver = emulated.driver(name="leaf01", **options)
    driver.open()
    driver.load_merge_candidate(config=CHANGE)
    driver.commit_config(revert_in=600)
    driver._ssh.remote_conn_pre.close()
    session = emulated.switch.trial.session if emulated.switch.trial else 0
    emulated.wait(lambda: session not in emulated.switch.logins)


@pytest.mark.parametrize(("trial_mode", "persist"), RELEASES)
@pytest.mark.parametrize("act", ["confirm", "abort"])
def test_the_next_process_finishes_what_the_release_lets_it(
    bench: Start, trial_mode: TrialMode, persist: Persist, act: str
) -> None:
    emulated = bench(personality=Personality(trial_mode, persist))
    begin(emulated, persist_id=OURS)
    with emulated.driver(name="leaf01", persist_id=OURS) as driver:
        lives = persist == "present" or trial_mode != "dies-with-session"
        finishes = persist == "present" or trial_mode == "survives"
        assert driver.has_pending_commit() is lives
        assert driver.trial_status().persist_id == (OURS if persist == "present" else "")
        if finishes:
            getattr(driver, f"{act}_commit")()
        else:
            why = (
                r"'.*' is refused: Error: The system is in" if lives else rf"no trial to {act} \(it"
            )
            with pytest.raises(CommitConfirmException, match=rf"^leaf01: {why}"):
                getattr(driver, f"{act}_commit")()
        assert driver.has_pending_commit() is (lives and not finishes)
        emulated.clock.now += 601
        assert driver.has_pending_commit() is False
    assert (emulated.switch.running == emulated.before) is not (finishes and act == "confirm")


@pytest.mark.parametrize("act", ["confirm", "abort"])
def test_where_only_the_timer_ends_a_trial_it_is_said_when(bench: Start, act: str) -> None:
    emulated = bench(personality=Personality(trial_mode="session-only", foreign_edits="taken"))
    begin(emulated)
    emulated.clock.now += 200
    with emulated.driver(name="leaf01") as driver:
        with pytest.raises(CommitConfirmException) as caught:
            getattr(driver, f"{act}_commit")()
        driver.load_merge_candidate(config="vlan batch 20")
        with pytest.raises(CommitError, match=r"a trial is ACTIVE \(400 s left\); confirm or"):
            driver.commit_config()
        assert driver.has_pending_commit() is True
    command = "commit" if act == "confirm" else "abort trial session 1"
    assert str(caught.value) == (
        f"leaf01: '{command}' is refused: Error: The system is in trial configuration mode; only "
        "the session that began the trial can end it; it reverts automatically within 400 s"
    )
    assert (type(caught.value), caught.value.seconds_left) == (TrialOfOtherSessionError, 400)


def test_a_confirm_after_the_trial_has_ended_says_that_and_nothing_of_a_timer(
    bench: Start,
) -> None:
    emulated = bench(personality=Personality("survives", "present"))
    begin(emulated, persist_id=OURS)
    emulated.switch.faults = (LineFault("expire-before-commit"),)
    with (
        emulated.driver(name="leaf01", persist_id=OURS) as driver,
        pytest.raises(CommitConfirmException) as caught,
    ):
        driver.confirm_commit()
    assert str(caught.value) == (
        f"leaf01: 'commit persist {OURS}' came too late, no trial runs any more: it ended by its "
        "timer, or another user confirmed or aborted it; read the running configuration"
    )


@pytest.mark.parametrize("persist", ["present", "absent"])
def test_a_trial_of_another_id_is_aborted_where_its_id_is_told(
    bench: Start, persist: Persist
) -> None:
    emulated = bench(personality=Personality("survives", persist))
    begin(emulated, persist_id=OURS)
    with emulated.driver(name="leaf01", persist_id="another") as driver:
        if persist == "present":
            with pytest.raises(CommitConfirmException, match="it is not touched; who started it"):
                driver.abort_commit()
        driver.abort_commit(OURS if persist == "present" else "")
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize(("trial_mode", "persist"), RELEASES)
def test_one_process_goes_the_whole_way(
    bench: Start, trial_mode: TrialMode, persist: Persist
) -> None:
    emulated = bench(personality=Personality(trial_mode, persist))
    for act, changed in (("abort", False), ("confirm", True)):
        with emulated.driver(name="leaf01", persist_id=OURS) as driver:
            driver.load_merge_candidate(config=CHANGE)
            driver.commit_config(message="larger frames", revert_in=600)
            getattr(driver, f"{act}_commit")()
        assert (emulated.switch.running != emulated.before) is changed
        assert emulated.switch.trial is None


@pytest.mark.parametrize("personality", PERSONALITIES, ids=str)
def test_one_session_tries_and_ends_its_trial_whatever_the_switch_shows(
    bench: Start, personality: Personality
) -> None:
    emulated = bench(personality=personality)
    with emulated.driver(name="leaf01", persist_id=OURS) as driver:
        for end in (driver.abort_commit, driver.confirm_commit):
            driver.load_merge_candidate(config=CHANGE)
            driver.commit_config(revert_in=600)
            shown = driver.trial_status()
            assert shown.seconds_left == (600 if personality.trial_status == "whole" else None)
            end()
            assert driver.has_pending_commit() is False
        driver.save_config()
    assert emulated.switch.running == emulated.switch.saved != emulated.before


@pytest.mark.parametrize("trial_mode", get_args(TrialMode))
def test_without_an_id_a_trial_is_plain_and_lives_as_the_release_has_it(
    bench: Start, trial_mode: TrialMode
) -> None:
    emulated = bench(personality=Personality(trial_mode))
    begin(emulated)
    with emulated.driver(name="leaf01") as driver:
        assert driver.has_pending_commit() is (trial_mode != "dies-with-session")
        driver.rollback() if trial_mode == "survives" else None
        emulated.clock.now += 601
        assert driver.has_pending_commit() is False
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("act", ["confirm", "abort"])
@pytest.mark.parametrize(("ours", "told"), [(None, "not given"), ("another", "'another'")])
def test_a_trial_with_another_id_is_not_touched(
    bench: Start, act: str, ours: str | None, told: str
) -> None:
    emulated = bench()
    begin(emulated, persist_id=OURS)
    with emulated.driver(name="leaf01", persist_id=ours) as driver:
        with pytest.raises(CommitConfirmException) as caught:
            getattr(driver, f"{act}_commit")()
        assert driver.has_pending_commit() is True
    assert str(caught.value) == (
        f"leaf01: the trial has the persist id '{OURS}', ours is {told}: it is not touched; who "
        "started it finishes it (optional_args: persist_id)"
    )


def test_a_trial_that_nobody_confirms_reverts_whatever_its_session_does(bench: Start) -> None:
    for trial_mode, persist in RELEASES:
        emulated = bench(personality=Personality(trial_mode, persist))
        begin(emulated, persist_id=OURS)
        emulated.clock.now += 601
        with emulated.driver(name="leaf01", persist_id=OURS) as driver:
            assert driver.has_pending_commit() is False
        assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("value", ["", "7days", "-", "two words", "x" * 257, "what?", 'a"b', "é"])
def test_an_id_that_no_switch_takes_is_refused_at_once(bench: Start, value: str) -> None:
    with pytest.raises(ValueError, match=r"persist_id: .* is not 1 to 256 visible ASCII"):
        bench().driver(persist_id=value)


@pytest.mark.parametrize(("trial_mode", "persist"), RELEASES)
@pytest.mark.parametrize("fault", ["drop-line", "drop-reply"])
@pytest.mark.parametrize("act", ["start", "confirm"])
def test_a_session_lost_at_a_commit_is_found_out_by_the_next(
    bench: Start, trial_mode: TrialMode, persist: Persist, fault: str, act: str
) -> None:
    emulated = bench(personality=Personality(trial_mode, persist))
    ours = {"name": "leaf01", "persist_id": OURS if persist == "present" else None}
    done = fault == "drop-reply"  # the switch executed the line, its answer was lost
    driver = emulated.driver(**ours)
    driver.open()
    driver.load_merge_candidate(config=CHANGE)
    if act == "confirm":
        driver.commit_config(revert_in=600)
    emulated.switch.faults = (LineFault(fault, "commit"),)
    with pytest.raises(OutcomeUnknownError, match=r"^leaf01: session lost after 'commit.*unknown"):
        driver.commit_config(revert_in=600) if act == "start" else driver.confirm_commit()
    emulated.switch.faults = ()
    emulated.wait(lambda: not emulated.switch.logins)
    started, confirmed = act == "confirm" or done, act == "confirm" and done
    lives = persist == "present" or trial_mode != "dies-with-session"
    with emulated.driver(**ours) as after:
        assert after.has_pending_commit() is (started and lives and not confirmed)
        assert after.compare_config() == ""
        if after.has_pending_commit() and (persist == "present" or trial_mode == "survives"):
            after.confirm_commit()
            confirmed = True
        emulated.clock.now += 601
        assert after.has_pending_commit() is False
    assert (emulated.switch.running != emulated.before) is confirmed
