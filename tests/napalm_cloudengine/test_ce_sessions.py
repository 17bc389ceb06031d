"""The driver through the real Netmiko against sessions as the command reference shows them."""

from collections.abc import Callable
from typing import Any

import paramiko
import pytest
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
    ConnectionClosedException,
)

from napalm_cloudengine.errors import (
    CandidateNotOursError,
    LineRefusedError,
    OutcomeUnknownError,
)

Play = Callable[..., Any]
SILENCE = "\0"
PASSWORD = "canary-Pa55word"

ENTER = ("system-view", "Enter system view, return user view with return command.\r\n[~HUAWEI]")
SYSNAME = ("sysname ROLLBACK", "[*HUAWEI]")
CHANGES = "display configuration candidate changes"
STATUS = "display configuration trial status"
INACTIVE = "Trial status: INACTIVE \r\nTrial time left (sec): 0\r\n"
ACTIVE = "Trial status:  ACTIVE\r\nTrial time left (sec): 51\r\n"
RUN = "display current-configuration"
NEWEST = "display configuration commit list 1"
LOG_LINE = "Nov 27 2026 10:00:00 HUAWEI %%01CFM/4/SAVE(l)[3]:The configuration was saved."
LAST = ("display configuration commit list 1", "[*HUAWEI]")  # no rollback point yet
CLEAR = ("clear configuration candidate", "[~HUAWEI]")
TRIAL = (
    "Info: The system enters the trial configuration mode.\r\n"
    "The system will revert to previous configuration if the trial configuration is not confirmed "
    "in 120 seconds.\r\n"
)


# One secret, encrypted differently each time that it is shown.
CIPHERS = tuple(f"ntp authentication-keyid 1 authentication-mode md5 cipher {x}" for x in "ab")


def runs(prompt: str, *lines: str) -> tuple[str, str]:
    """Return the running configuration, with a different heading each time."""
    heading = f"!Last configuration was updated at 2026-01-02 03:04:0{len(prompt) % 10}"
    return (RUN, "\r\n".join((heading, "#", *lines, "#", "return", prompt)))


def idle(name: str = "HUAWEI", mark: str = "*") -> tuple[str, str]:
    """Return the trial status before a commit."""
    return (STATUS, f"{INACTIVE}[{mark}{name}]")


# --- the documented change --------------------------------------------------------------------


def test_trial_and_confirm_as_documented(play: Play) -> None:
    diff = "Building configuration\r\n- sysname HUAWEI\r\n+ sysname ROLLBACK\r\n  #\r\n"
    switch = play(
        [
            ENTER,
            SYSNAME,
            (CHANGES, f"{diff}[*HUAWEI]"),
            idle(),
            ("commit trial 120 description change 7", f"{TRIAL}[~ROLLBACK]"),
            (STATUS, f"{ACTIVE}[~ROLLBACK]"),
            (STATUS, f"{ACTIVE}[~ROLLBACK]"),
            runs("[~ROLLBACK]", "sysname ROLLBACK", CIPHERS[0]),
            (STATUS, f"{ACTIVE}[~ROLLBACK]"),
            (CHANGES, "Building configuration\r\n[~ROLLBACK]"),
            ("commit", "[~ROLLBACK]"),
            idle("ROLLBACK", "~"),
            runs("[~ROLLBACK]", "sysname ROLLBACK", CIPHERS[1]),
            ("return", "<ROLLBACK>"),
        ]
    )
    with switch.driver() as driver:
        driver.load_merge_candidate(config="#\nsysname ROLLBACK\n#\nreturn\n")
        assert driver.compare_config() == "- sysname HUAWEI\n+ sysname ROLLBACK\n  #"
        driver.commit_config(message="change 7", revert_in=120)
        assert driver.has_pending_commit() is True
        driver.confirm_commit()
    assert switch.heard == [line for line, _ in switch.steps]


def test_abort_as_documented(play: Play) -> None:
    question = "Warning: The trial configuration will be rolled back. Continue? [Y/N]:"
    switch = play(
        [
            ENTER,
            (STATUS, f"{ACTIVE}[~HUAWEI]"),
            ("abort trial", question),
            ("Y", "Info: The trial configuration rollback succeeded.\r\n[~HUAWEI]"),
            (STATUS, f"{INACTIVE}[~HUAWEI]"),
        ]
    )
    with switch.driver() as driver:
        driver.abort_commit()
    assert switch.heard[3:5] == ["abort trial", "Y"]


ROLLBACK_QUESTION = (
    "Warning: This operation will revert configuration changes to the previous status. During the "
    "rollback configuration process, some configurations involving differences may be temporarily "
    "invalid. Continue? [Y/N]:"
)
ROLLED_BACK = (
    "Checking changes...\r\nLoading rollback changes\r\nCommitting\r\nCheck rollback result\r\n"
)


def test_rollback_as_documented(play: Play) -> None:
    switch = play(
        [
            (STATUS, f"{INACTIVE}<HUAWEI>"),
            (NEWEST, "1    1000000741   -  netops\r\n<HUAWEI>"),
            ("rollback configuration last 1", ROLLBACK_QUESTION),
            ("Y", f"{ROLLED_BACK}Configuration rollback succeeded.\r\n<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        driver.rollback()
    assert switch.heard[3:5] == ["rollback configuration last 1", "Y"]


def test_a_rollback_that_does_not_say_it_succeeded_is_not_known(play: Play) -> None:
    switch = play(
        [
            (STATUS, f"{INACTIVE}<HUAWEI>"),
            (NEWEST, "1    1000000741   -  netops\r\n<HUAWEI>"),
            ("rollback configuration last 1", ROLLBACK_QUESTION),
            ("Y", f"{ROLLED_BACK}<HUAWEI>"),
            (NEWEST, "1    1000000741   -  netops\r\n<HUAWEI>"),
        ]
    )
    with (
        switch.driver() as driver,
        pytest.raises(
            OutcomeUnknownError, match=r"no success .*last 1' .*: outcome unknown.*'Check rollback"
        ),
    ):
        driver.rollback()


@pytest.mark.parametrize(
    ("changes", "done"), [("Building configuration\r\n", True), ("+ vlan 10\r\n", False)]
)
def test_the_list_of_commits_decides_on_a_rollback(play: Play, changes: str, done: bool) -> None:
    switch = play(
        [
            (STATUS, f"{INACTIVE}<HUAWEI>"),
            (NEWEST, "1    1000000741   -  netops\r\n<HUAWEI>"),
            ("rollback configuration last 1", ROLLBACK_QUESTION),
            ("Y", f"{ROLLED_BACK}{LOG_LINE}\r\n<HUAWEI>"),
            (NEWEST, "1    1000000742   -  netops\r\n<HUAWEI>"),
            ("display configuration commit changes last 2", f"{changes}<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        if done:
            driver.rollback()
        else:
            with pytest.raises(OutcomeUnknownError, match="no success was reported"):
                driver.rollback()


SAVE_QUESTION = (
    "Warning: all configuration will be written to the device.\r\nAre you sure to continue?[Y/N]"
)


def test_save_as_documented(play: Play) -> None:
    reply = "Now saving all configuration to the slot 1\r\n"
    switch = play(
        [
            ("save", SAVE_QUESTION),
            ("Y", f"{reply}Info: Save the configuration successfully.\r\n<HUAWEI>"),
            ("save", SAVE_QUESTION),
            ("Y", "Error: The flash is full.\r\n<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        driver.save_config()
        with pytest.raises(CommandErrorException, match=r"'save' failed: Error: The flash is full"):
            driver.save_config()


@pytest.mark.parametrize("reply", ["", LOG_LINE, "Info: Operation failed.", "Error: busy"])
@pytest.mark.parametrize("saved", ["sysname HUAWEI", "sysname OLD", None])
def test_the_startup_configuration_decides_on_a_save(
    play: Play, reply: str, saved: str | None
) -> None:
    """The reply does: where it is clear, nothing more is sent."""
    clear = "rror" in reply or "failed" in reply
    switch = play(
        [
            ("save", SAVE_QUESTION),
            ("Y", f"Now saving all configuration to the slot 1\r\n{reply}\r\n<HUAWEI>"),
            (
                "display saved-configuration",
                saved and f"!Last configuration was saved\r\n{saved}\r\nreturn\r\n<HUAWEI>",
            ),
            (RUN, "!Software\r\nsysname HUAWEI\r\nreturn\r\n<HUAWEI>"),
        ]
    )
    with switch.driver() as driver:
        if clear:
            with pytest.raises(CommandErrorException, match="'save' failed: "):
                driver.save_config()
            assert switch.heard[-1] == "Y"
        elif saved is None:
            with pytest.raises(OutcomeUnknownError, match="whether it was saved is unknown"):
                driver.save_config()
        elif "OLD" in saved:
            with pytest.raises(CommandErrorException, match="startup configuration is not the run"):
                driver.save_config()
        else:
            driver.save_config()


# --- what must not happen ---------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0, 59, 65536, True])
def test_revert_in_out_of_range_is_refused_before_anything_is_sent(
    play: Play, seconds: int
) -> None:
    switch = play()
    with switch.driver() as driver, pytest.raises(CommitError, match="60 to 65535 seconds"):
        driver.commit_config(revert_in=seconds)
    assert switch.heard == ["screen-length 0 temporary"]


def test_a_commit_without_a_change_is_refused(play: Play) -> None:
    with play().driver() as driver, pytest.raises(CommitError, match="nothing to commit"):
        driver.commit_config()


def test_a_commit_under_a_running_trial_is_refused(play: Play) -> None:
    switch = play([ENTER, SYSNAME, (STATUS, f"{ACTIVE}[*HUAWEI]"), CLEAR])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        with pytest.raises(CommitError, match=r"a trial is ACTIVE \(51 s left\)"):
            driver.commit_config()
    assert "commit" not in switch.heard


def test_a_failed_commit_is_told_and_the_candidate_discarded(play: Play) -> None:
    reply = "Error: The configuration is locked by another user.\r\n"
    switch = play([ENTER, SYSNAME, idle(), LAST, ("commit", f"{reply}[*HUAWEI]"), CLEAR])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        with pytest.raises(CommitError, match=r"locked by another user\.; the candidate was disc"):
            driver.commit_config()


def test_a_candidate_that_stays_is_told_as_not_cleared(play: Play) -> None:
    refused = "Error: Wrong parameter found at '^' position.\r\n[*HUAWEI]"
    stays = ("clear configuration candidate", "[*HUAWEI]")
    switch = play([ENTER, SYSNAME, ("vlan 5000", refused), stays])
    with (
        switch.driver() as driver,
        pytest.raises(LineRefusedError, match=r"the candidate could not be cleared: nothing$"),
    ):
        driver.load_merge_candidate(config="sysname ROLLBACK\nvlan 5000")


def test_a_commit_that_leaves_the_candidate_pending_failed(play: Play) -> None:
    switch = play([ENTER, SYSNAME, idle(), LAST, ("commit", "[*HUAWEI]"), CLEAR])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        with pytest.raises(CommitError, match="'commit' failed: nothing; the candidate was disc"):
            driver.commit_config()


def test_a_list_of_commits_that_is_not_understood_is_no_proof_that_nothing_is_new(
    play: Play,
) -> None:
    """Ids of another form look as if there were none, before the commit and after it."""
    newest = "display configuration commit list 1"
    before = (newest, "1   100047       -      netops   2026-01-01 10:00:00\r\n[*HUAWEI]")
    switch = play([ENTER, SYSNAME, idle(), before, ("commit", "[~ROLLBACK]")])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        driver.commit_config()
    assert "commit" in switch.heard


def test_a_trial_that_did_not_start_is_noticed(play: Play) -> None:
    switch = play(
        [ENTER, SYSNAME, idle(), ("commit trial 60", f"{TRIAL}[~HUAWEI]"), idle(mark="~")]
    )
    with switch.driver() as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        with pytest.raises(CommitError, match="accepted, but the trial is INACTIVE"):
            driver.commit_config(revert_in=60)


@pytest.mark.parametrize("act", ["confirm_commit", "abort_commit"])
def test_without_a_trial_there_is_nothing_to_confirm_or_abort(play: Play, act: str) -> None:
    before = [runs("<HUAWEI>", "sysname HUAWEI")] if act == "confirm_commit" else []
    switch = play([*before, ENTER, idle(mark="~")])
    with switch.driver() as driver, pytest.raises(CommitConfirmException, match="no trial to"):
        getattr(driver, act)()
    assert "commit" not in switch.heard


def test_a_confirm_never_carries_other_changes(play: Play) -> None:
    switch = play(
        [
            runs("<HUAWEI>", "sysname HUAWEI"),
            ("system-view", "[*HUAWEI]"),
            (STATUS, f"{ACTIVE}[*HUAWEI]"),
            (CHANGES, "+ vlan 10\r\n[*HUAWEI]"),
        ]
    )
    with switch.driver() as driver, pytest.raises(CandidateNotOursError, match="would commit them"):
        driver.confirm_commit()
    assert "commit" not in switch.heard


def test_a_confirm_that_came_too_late_is_not_taken_for_one(play: Play) -> None:
    switch = play(
        [
            runs("<HUAWEI>", "sysname HUAWEI", "vlan batch 10"),
            ENTER,
            (STATUS, f"{ACTIVE}[~HUAWEI]"),
            (CHANGES, "Building configuration\r\n[~HUAWEI]"),
            ("commit", "[~HUAWEI]"),
            idle(mark="~"),
            runs("[~HUAWEI]", "sysname HUAWEI"),
        ]
    )
    with (
        switch.driver(name="leaf01") as driver,
        pytest.raises(CommitConfirmException, match=r"^leaf01: .* not run what was on trial: the"),
    ):
        driver.confirm_commit()


@pytest.mark.parametrize("command", ["display version\nreboot", "display vlan ?", "a\x0bb"])
def test_a_command_that_is_not_one_line_is_not_sent(play: Play, command: str) -> None:
    switch = play()
    with switch.driver() as driver, pytest.raises(ValueError, match="nothing was sent"):
        driver.cli(["display clock", command])
    assert switch.heard == ["screen-length 0 temporary"]


def test_a_status_that_cannot_be_read_is_not_taken_for_no_trial(play: Play) -> None:
    switch = play([(STATUS, "Error: Unrecognized command found at '^' position.\r\n<HUAWEI>")])
    with switch.driver() as driver, pytest.raises(CommitConfirmException, match=r"does not report"):
        driver.has_pending_commit()


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Trial status: RUNNING\r\nTrial time left (sec): 51\r\n",
        "Trial status:\r\nTrial time left (sec): 51\r\n",
        "Commit trial: ACTIVE\r\n",
    ],
)
def test_a_status_in_words_of_another_release_is_not_taken_for_no_trial(
    play: Play, reply: str
) -> None:
    """A client that saw no trial confirmed nothing, and the change was lost (cnaas-nms#395)."""
    switch = play([(STATUS, f"{reply}<HUAWEI>")])
    with switch.driver() as driver, pytest.raises(CommitConfirmException) as caught:
        driver.has_pending_commit()
    assert str(caught.value).startswith(
        "127.0.0.1: the switch does not report whether a trial runs: "
        "'display configuration trial status', line 1: not a trial status: "
    )


# --- broken sessions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "why"), [(None, "session lost"), (SILENCE, r"no answer for 0.4 s")]
)
def test_a_session_lost_after_commit_trial_says_what_is_unknown(
    play: Play, answer: str | None, why: str
) -> None:
    switch = play([ENTER, SYSNAME, idle(), ("commit trial 600", answer)])
    with switch.driver(commit_timeout_s=0.4) as driver:
        driver.load_merge_candidate(config="sysname ROLLBACK")
        with pytest.raises(OutcomeUnknownError) as caught:
            driver.commit_config(revert_in=600)
        assert driver.is_alive() == {"is_alive": False}
        with pytest.raises(
            ConnectionClosedException, match=r"^127\.0\.0\.1: the connection is not"
        ):
            driver.has_pending_commit()
    assert isinstance(caught.value, ConnectionClosedException)
    assert str(caught.value).startswith(f"127.0.0.1: {why} after 'commit trial 600' was sent: ")
    assert "outcome unknown; if the trial runs, it reverts automatically" in str(caught.value)


def test_the_socket_of_a_broken_session_is_closed_at_once(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = play([("display clock", SILENCE)])
    driver = switch.driver()
    driver.open()
    driver.timeout = 0.2
    socket = driver._ssh.remote_conn_pre.get_transport().sock

    def close(_channel: paramiko.Channel) -> None:
        raise OSError("Socket is closed")

    with monkeypatch.context() as broken:
        broken.setattr(paramiko.Channel, "close", close)
        with pytest.raises(OutcomeUnknownError, match=r"no answer for 0\.2 s"):
            driver.cli(["display clock"])
    assert socket.fileno() == -1


def test_a_session_lost_while_loading_committed_nothing(play: Play) -> None:
    switch = play([ENTER, ("sysname ROLLBACK", None)])
    with (
        switch.driver() as driver,
        pytest.raises(OutcomeUnknownError, match=r"session lost .*: nothing was committed"),
    ):
        driver.load_merge_candidate(config="sysname ROLLBACK")


def test_a_session_lost_while_discarding_still_names_the_line(play: Play) -> None:
    switch = play(
        [
            ENTER,
            ("vlan 5000", "Error: Wrong parameter found at '^' position.\r\n[~HUAWEI]"),
            ("clear configuration candidate", None),
        ]
    )
    with (
        switch.driver() as driver,
        pytest.raises(LineRefusedError, match=r"line 1 'vlan 5000'.*session lost .*still holds"),
    ):
        driver.load_merge_candidate(config="vlan 5000")
