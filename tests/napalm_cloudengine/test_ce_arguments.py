"""Invalid arguments of a caller: one sentence before anything is sent; the candidate stays."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from napalm.base.exceptions import CommitError, ConnectionClosedException, MergeConfigException

from napalm_cloudengine.errors import CandidateNotOursError
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.models.hardware.hardware import SyntaxFamily

Start = Callable[..., Any]
MTU = "interface 100GE1/0/1\n mtu 9216\n"


@pytest.fixture
def emulated(bench: Start) -> Any:
    return bench()


@pytest.mark.parametrize("seconds", [0, -1, 59, 65536, True, "60", 60.0, 599.5, [600]])
def test_revert_in_is_a_whole_number_that_a_switch_takes(emulated: Any, seconds: Any) -> None:
    with emulated.driver(name="leaf01") as driver:
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(CommitError) as caught:
            driver.commit_config(revert_in=seconds)
        assert "+  mtu 9216" in driver.compare_config()
    assert str(caught.value) == (
        f"leaf01: revert_in is 60 to 65535 seconds on a CloudEngine, not {seconds!r}; "
        "nothing was committed"
    )
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("seconds", [60, 65535])
def test_the_ends_of_the_range_are_in_it(emulated: Any, seconds: int) -> None:
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=seconds)
        assert driver.trial_status().seconds_left == seconds
        emulated.clock.now += seconds - 1
        assert driver.has_pending_commit() is True
        emulated.clock.now += 1
        assert driver.has_pending_commit() is False
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("x" * 61, "is at most 60 ASCII characters on a CloudEngine, this one has 61"),
        ("größer", "is at most 60 ASCII characters on a CloudEngine, this one has 6"),
        ("one\ntwo", "holds the control character U+000A"),
        ("why?", "contains '?', which requests help instead of being entered"),
        ("  ", "of blanks describes nothing: leave it out"),
        (7, "is a text, not 7"),
    ],
)
def test_a_message_that_no_switch_takes_is_not_sent(emulated: Any, message: Any, why: str) -> None:
    with emulated.driver(name="leaf01") as driver:
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(CommitError) as caught:
            driver.commit_config(message=message, revert_in=60)
        assert "+  mtu 9216" in driver.compare_config()
    assert str(caught.value) == f"leaf01: a commit message {why}; nothing was committed"


@pytest.mark.parametrize(
    ("message", "recorded"), [("x" * 60, "x" * 60), (" two words ", "two words"), (None, "")]
)
def test_a_message_is_recorded(emulated: Any, message: Any, recorded: str) -> None:
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(message=message)
    assert [point.description for point in emulated.switch.points] == [recorded]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "nothing to load: give filename or config"),
        ({"config": ["vlan batch 20"]}, "config is a text, not list"),
        ({"config": b"vlan batch 20"}, "config is a text, not bytes"),
        ({"config": 7}, "config is a text, not int"),
        ({"filename": "/nowhere/x"}, "/nowhere/x: cannot be read: [Errno 2] No such file or "),
        ({"filename": 7, "config": "vlan batch 20"}, "7: cannot be read: "),
        ({"filename": "a\0b"}, "a\0b: cannot be read: embedded null byte"),
    ],
)
@pytest.mark.parametrize("how", ["merge", "replace"])
def test_what_is_no_configuration_is_not_loaded(
    emulated: Any, how: str, arguments: dict[str, Any], sentence: str
) -> None:
    with emulated.driver(patcher=lambda _running, _wanted: "vlan batch 20") as driver:
        with pytest.raises(MergeConfigException, match=f"^{re.escape(sentence)}"):
            getattr(driver, f"load_{how}_candidate")(**arguments)
        assert driver.compare_config() == ""


@pytest.mark.parametrize("commands", ["display clock", None, {"display clock": ""}])
def test_the_letters_of_a_text_are_not_commands(emulated: Any, commands: Any) -> None:
    with (
        emulated.driver() as driver,
        pytest.raises(TypeError, match=r"^cli: give a list of commands, "),
    ):
        driver.cli(commands)
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("port", ["ssh", "", 0, 65536, -22, 22.5])
def test_a_port_is_a_number(emulated: Any, port: Any) -> None:
    with pytest.raises(ValueError, match=f"^port: {port!r} is not a number from 1 to 65535$"):
        emulated.driver(port=port)


def test_a_change_loaded_under_a_trial_is_neither_committed_nor_confirmed(emulated: Any) -> None:
    with emulated.driver(name="leaf01") as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=600)
        driver.load_merge_candidate(config="vlan batch 20")
        with pytest.raises(CommitError) as caught:
            driver.commit_config()
        assert str(caught.value) == (
            "leaf01: not committed: a trial is ACTIVE (600 s left); confirm or abort it first"
        )
        with pytest.raises(CommitError) as caught:
            driver.confirm_commit()
        assert not isinstance(caught.value, CandidateNotOursError), "it is ours"
        assert str(caught.value) == (
            "leaf01: a change that was loaded during the trial is not committed; a confirm would "
            "commit it too, so none went; discard it first"
        )
        assert driver.has_pending_commit() is True
        driver.discard_config()
        driver.confirm_commit()
    assert "vlan batch 10\n" in emulated.running()


def test_what_leaves_the_system_view_needs_no_change_loaded(emulated: Any) -> None:
    with emulated.driver(name="leaf01") as driver:
        driver.load_merge_candidate(config=MTU)
        for act in (driver.save_config, driver.rollback):
            with pytest.raises(CommitError) as caught:
                act()
            assert str(caught.value) == (
                "leaf01: a loaded change is not committed; commit or discard it first"
            )
        assert "+  mtu 9216" in driver.compare_config()


def test_a_replace_starts_from_what_runs_not_from_what_was_loaded(emulated: Any) -> None:
    def patcher(running: str, intended: str) -> tuple[str, ...]:
        return make_patch(running, intended, SyntaxFamily.V300_G1).commands

    with emulated.driver(patcher=patcher) as driver:
        intended = driver.get_config(retrieve="running")["running"].replace("mtu 9000", "mtu 9100")
        driver.load_merge_candidate(config="vlan batch 20")
        driver.load_replace_candidate(config=intended)
        shown = driver.compare_config().splitlines()
    assert [row for row in shown if row[0] in "+-"] == ["-  mtu 9000", "+  mtu 9100"]


def test_a_load_starts_in_the_system_view_wherever_cli_stands(emulated: Any) -> None:
    with emulated.driver() as driver:
        driver.cli(["system-view", "interface 100GE1/0/2"])
        driver.load_merge_candidate(config=MTU)
        assert "+  mtu 9216" in driver.compare_config()


def test_a_driver_that_was_closed_says_so_and_may_be_opened_again(emulated: Any) -> None:
    driver = emulated.driver(name="leaf01")
    driver.open()
    driver.load_merge_candidate(config=MTU)
    driver.close()
    driver.close()
    assert driver.is_alive() == {"is_alive": False}
    for act in ("compare_config", "discard_config", "confirm_commit", "rollback", "save_config"):
        with pytest.raises(
            ConnectionClosedException, match=r"^leaf01: the connection is not open$"
        ):
            getattr(driver, act)()
    driver.open()
    assert driver.compare_config() == ""
    driver.close()
