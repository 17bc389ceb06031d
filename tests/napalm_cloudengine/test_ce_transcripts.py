"""The driver against sessions of the vendor and the field, replayed byte for byte.

The emulated command line is ours, as the driver is, and both could have the same fault; the files
of transcripts/ come from other authors. Any line other than theirs fails the test.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from napalm.base.exceptions import CommitConfirmException, CommitError

from napalm_cloudengine.errors import LineRefusedError

Replay = Callable[[str], Any]
Play = Callable[..., Any]
FILES = sorted(path.stem for path in (Path(__file__).parent / "transcripts").glob("*.txt"))
# as the errors of the notes' clients; the first five come with a caret above
ERRORS = (
    "Error: Unrecognized command found at '^' position.",
    "Error: Wrong parameter found at '^' position.",
    "Error: Incomplete command found at '^' position.",
    "Error: Ambiguous command found at '^' position.",
    "Error: Too many parameters found at '^' position.",
    "Error: You do not have permission to run the command or the command is incomplete.",
)


def test_a_trial_and_its_confirmation(replay: Replay) -> None:
    with replay("trial-confirmed").driver() as driver:
        driver.load_merge_candidate(config="interface Tunnel1\n mtu 1300\n")
        assert driver.compare_config() == "  #\n  interface Tunnel1\n- mtu 1400\n+  mtu 1300\n  #"
        driver.commit_config(message="This is a new name", revert_in=120)
        driver.confirm_commit()


def test_a_trial_of_older_vrp8_and_its_end(replay: Replay) -> None:
    with replay("trial-of-old-vrp8").driver() as driver:
        driver.load_merge_candidate(config="sysname rollback")
        driver.commit_config(revert_in=120)
        driver.abort_commit()


def test_a_persistent_trial_is_started(replay: Replay) -> None:
    with replay("persist-started").driver(persist_id="abcid") as driver:
        driver.load_merge_candidate(config="sysname DeviceA")
        driver.commit_config(revert_in=600)


@pytest.mark.parametrize(("act", "how"), [("confirm", "confirmed"), ("abort", "aborted")])
def test_a_persistent_trial_ends_in_another_session(replay: Replay, act: str, how: str) -> None:
    with replay(f"persist-{how}-elsewhere").driver(persist_id="abcid") as driver:
        getattr(driver, f"{act}_commit")()


def test_a_release_without_persist_gets_a_plain_trial_and_says_so(replay: Replay) -> None:
    with replay("persist-unknown").driver(persist_id="abcid") as driver:
        driver.load_merge_candidate(config="sysname DeviceA")
        driver.commit_config(message="new name", revert_in=600)
        assert driver.trial_status().persist_id == ""


def test_a_plain_trial_of_another_session_is_aborted_by_its_number(replay: Replay) -> None:
    with replay("plain-aborted-elsewhere").driver() as driver:
        driver.abort_commit()


def test_a_plain_trial_that_nobody_else_can_end_is_told_as_such(replay: Replay) -> None:
    with replay("plain-refused-elsewhere").driver() as driver:
        with pytest.raises(CommitConfirmException) as confirmed:
            driver.confirm_commit()
        with pytest.raises(CommitConfirmException) as aborted:
            driver.abort_commit()
    reply = (
        "is refused: Error: The system is in trial configuration mode; only the session that "
        "began the trial can end it; it reverts automatically within"
    )
    assert str(confirmed.value) == f"127.0.0.1: 'commit' {reply} 50 s"
    assert str(aborted.value) == f"127.0.0.1: 'abort trial' {reply} 47 s"


def test_an_abort_waits_for_the_end_of_the_trial(replay: Replay) -> None:
    with replay("abort-takes-its-time").driver() as driver:
        driver.abort_commit()


def test_a_trial_that_is_being_cancelled_is_pending_and_waited_for(replay: Replay) -> None:
    with replay("trial-being-cancelled").driver() as driver:
        driver.load_merge_candidate(config="sysname other")
        with pytest.raises(CommitError) as committed:
            driver.commit_config()
        driver.discard_config()
        assert driver.has_pending_commit()
        with pytest.raises(CommitConfirmException) as confirmed:
            driver.confirm_commit()
        driver.rollback()  # the last commit stays: it is the trial that ends
    assert "no trial to confirm (it is CANCELING)" in str(confirmed.value)
    assert str(committed.value) == (
        "127.0.0.1: not committed: a trial is CANCELING (0 s left); wait for its end"
    )


def test_a_commit_is_taken_back(replay: Replay) -> None:
    with replay("rolled-back").driver() as driver:
        driver.rollback()


def test_what_runs_is_saved(replay: Replay) -> None:
    with replay("saved").driver() as driver:
        driver.save_config()


def test_a_commit_that_fails_leaves_no_candidate(replay: Replay) -> None:
    with replay("commit-failed").driver() as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        with pytest.raises(CommitError) as failed:
            driver.commit_config(revert_in=600)
    assert str(failed.value) == (
        "127.0.0.1: 'commit trial 600' failed: Failed to generate committed config; "
        "the candidate was discarded"
    )


def test_every_transcript_is_played() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    text = text.replace("{how}", "confirmed") + text.replace("{how}", "aborted")
    assert [
        name for name in FILES if f'replay(f"{name}")' not in text and f'"{name}"' not in text
    ] == []


@pytest.mark.parametrize("error", ERRORS)
def test_every_known_error_names_the_line_and_clears_the_candidate(play: Play, error: str) -> None:
    caret = "" if "permission" in error else "                ^\r\n"
    switch = play(
        [
            (
                "system-view",
                "Enter system view, return user view with return command.\r\n[~HUAWEI]",
            ),
            ("vlan batch 10", "[*HUAWEI]"),
            ("vlan batch 20", f"{caret}{error}\r\n[*HUAWEI]"),
            ("clear configuration candidate", "[~HUAWEI]"),
            ("return", "<HUAWEI>"),
        ]
    )
    with switch.driver() as driver, pytest.raises(LineRefusedError) as refused:
        driver.load_merge_candidate(config="vlan batch 10\nvlan batch 20\nvlan batch 30")
    assert str(refused.value) == (
        f"127.0.0.1: line 2 'vlan batch 20': {error}; the candidate was discarded"
    )
    assert switch.heard[-2:] == ["clear configuration candidate", "return"]
