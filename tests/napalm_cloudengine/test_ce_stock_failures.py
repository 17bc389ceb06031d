"""Faults of public drivers for these switches, each as a test that this driver passes.

Observed with napalm-huawei-vrp 1.2.0 against the emulated command line: `load_replace_candidate` is
`pass`; `compare_config` is "" for an mtu that another interface has; `commit_config` has no
`revert_in`; `has_pending_commit` and `confirm_commit` raise NotImplementedError. napalm-ce 0.2.0
does not import with Netmiko 4 (`netmiko.ssh_exception` is gone). Also observed: an unknown host key
is accepted; a question takes the next lines for its answers; the output of a failed commit is
ignored (the error, after 12 s, is that no `<..>` came after the `return`), and the session is lost
with its candidate; every commit writes a backup and saves. The rest is from the source of Netmiko
4.8.0.
"""

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from napalm import get_network_driver
from napalm.base.exceptions import (
    CommitConfirmException,
    CommitError,
    MergeConfigException,
    ReplaceConfigException,
)
from netmiko.huawei.huawei import HuaweiVrpv8SSH

from napalm_cloudengine import CloudEngineDriver
from napalm_cloudengine.errors import HostKeyError, LineRefusedError, QuestionRefusedError
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.emulator.show.configuration import text_as_saved
from rocefort.emulator.switch.personality import LineFault
from rocefort.models.hardware.hardware import SyntaxFamily

Start = Callable[..., Any]
MTU = "interface 100GE1/0/1\n mtu 9216\n"


def patcher(running: str, intended: str) -> tuple[str, ...]:
    """Return the commands from one text to the other, by an engine unrelated to the driver."""
    return make_patch(running, intended, SyntaxFamily.V300_G1).commands


def saved(emulated: Any) -> str:
    with emulated.driver() as driver:
        return str(driver.get_config(retrieve="running")["running"])


def test_replace_passes_silently__ours_refuses_without_a_patcher(bench: Start) -> None:
    emulated = bench()
    with emulated.driver(name="leaf01") as driver:
        with pytest.raises(
            ReplaceConfigException,
            match=r"^leaf01: this driver does not replace .*compute the patch .* locally .*; nothing was loaded$",
        ):
            driver.load_replace_candidate(config="sysname other")
        assert driver.compare_config() == ""


def test_replace_passes_silently__ours_replaces_all_of_it(bench: Start) -> None:
    emulated = bench()
    intended = saved(emulated).replace(" mtu 9000\n", "").replace("vlan batch 10", "vlan batch 20")
    with emulated.driver(patcher=patcher) as driver:
        driver.load_replace_candidate(config=intended)
        assert [line for line in driver.compare_config().splitlines() if line[0] in "+-"] == [
            "- vlan batch 10",
            "+ vlan batch 20",
            "-  mtu 9000",
        ]
        driver.commit_config()
        driver.load_replace_candidate(config=intended)  # unchanged: nothing to do, after a check
        assert driver.compare_config() == ""
    assert saved(emulated).splitlines()[2:] == intended.splitlines()[2:]


def test_replace_passes_silently__a_patch_that_does_not_get_there_is_refused(bench: Start) -> None:
    emulated = bench()
    intended = (
        saved(emulated).replace("mtu 9000", "mtu 9100").replace("vlan batch 10", "vlan batch 20")
    )

    def half(running: str, intended: str) -> str:
        return "\n".join(patcher(running, intended)[:1])

    with emulated.driver(name="leaf01", patcher=half) as driver:
        with pytest.raises(ReplaceConfigException) as caught:
            driver.load_replace_candidate(config=intended)
        assert driver.compare_config() == ""
    assert re.fullmatch(
        r"leaf01: with the patch loaded, the candidate is not the intended configuration: '.*' is "
        r"still to be done; the candidate was discarded",
        str(caught.value),
    )
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("text", ["", "\n#\n!nothing\n", "return\n"])
def test_replace_passes_silently__nothing_is_not_a_configuration(bench: Start, text: str) -> None:
    with (
        bench().driver(patcher=patcher) as driver,
        pytest.raises(ReplaceConfigException, match="the intended configuration is empty"),
    ):
        driver.load_replace_candidate(config=text)


def test_compare_is_line_absent_anywhere__ours_is_the_devices_own(bench: Start) -> None:
    with bench().driver() as driver:  # the other interface has that same line
        driver.load_merge_candidate(config=MTU)
        assert driver.compare_config().splitlines()[-3:] == ["-  mtu 9000", "+  mtu 9216", "  #"]


def test_a_question_swallows_the_next_line__ours_answers_it_or_stops(bench: Start) -> None:
    emulated = bench(faults=(LineFault("unknown-question", "vlan batch 20"),))
    with emulated.driver() as driver:
        with pytest.raises(QuestionRefusedError, match="line 1 'vlan batch 20'"):
            driver.load_merge_candidate(config="vlan batch 20\nvlan batch 30\n")
        assert driver.compare_config() == ""
    with emulated.driver(answers={"unexpected service": "Y"}) as driver:
        driver.load_merge_candidate(config="vlan batch 20\nvlan batch 30\n")
        assert "+ vlan batch 10 20 30" in driver.compare_config()


def test_no_revert_in__ours_has_the_devices_own_timer(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        assert driver.has_pending_commit() is True
        emulated.clock.now += 61
        assert driver.has_pending_commit() is False
    assert emulated.switch.running == emulated.before


def test_no_confirm_commit__ours_confirms_and_looks(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        driver.confirm_commit()
        emulated.clock.now += 61
        assert driver.has_pending_commit() is False
    assert emulated.switch.running != emulated.before


def test_a_confirm_after_the_timer_succeeds__ours_says_that_it_came_too_late(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        emulated.switch.faults = (LineFault("expire-before-commit"),)
        with pytest.raises(CommitConfirmException, match="does not run what was on trial"):
            driver.confirm_commit()


@pytest.mark.parametrize("revert_in", [None, 60])
def test_the_output_of_commit_is_not_checked__ours_is(bench: Start, revert_in: int | None) -> None:
    emulated = bench(faults=(LineFault("fail-commit"),))
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(CommitError, match=r"failed: .*; the candidate was discarded"):
            driver.commit_config(revert_in=revert_in)
        assert driver.compare_config() == ""
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("revert_in", [None, 60])
def test_a_commit_that_only_says_it_was_done_is_noticed(
    bench: Start, revert_in: int | None
) -> None:
    emulated = bench(faults=(LineFault("lie-ok", "commit"),))
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(CommitError):
            driver.commit_config(revert_in=revert_in)
        assert driver.compare_config() == ""


@pytest.mark.parametrize("revert_in", [None, 60])
def test_every_commit_saves__ours_saves_when_it_is_told(
    bench: Start, revert_in: int | None
) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=revert_in)
        if revert_in:
            driver.confirm_commit()
        assert emulated.switch.saved == emulated.before
        driver.save_config()
    assert emulated.switch.saved == emulated.switch.running != emulated.before


def test_errors_are_not_looked_for__ours_names_the_line(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver, pytest.raises(LineRefusedError) as caught:
        driver.load_merge_candidate(config="interface 100GE1/0/1\n mtu 9216\n mtuu 9000\n")
    assert (caught.value.line_number, caught.value.line) == (3, "mtuu 9000")


@pytest.mark.parametrize(
    "description",
    ["to [~leaf02]", "<leaf01>", "a]", "rack 3 > row 4", "Continue [Y/N]:", "#", "[*leaf01]"],
)
def test_brackets_end_a_reply__ours_takes_a_prompt_alone_on_the_last_line(
    bench: Start, description: str
) -> None:
    emulated = bench()
    text = f"interface 100GE1/0/1\n description {description}\n mtu 9216\n"
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=text)
        driver.commit_config()
        running = driver.get_config(retrieve="running")["running"]
    assert f" description {description}\n" in running
    assert running.endswith("return")


def test_a_line_of_hash_cuts_the_configuration__ours_reads_all_of_it(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        text = driver.get_config(retrieve="running")["running"]
    _heading, first, body = text.partition("#\n")
    assert first + body + "\n" == text_as_saved(emulated.before, emulated.switch.family)


@pytest.mark.parametrize("length", [64, 100, 246])
def test_a_long_name_hides_the_prompt__ours_takes_any_length(bench: Start, length: int) -> None:
    emulated = bench()
    name = ("leaf01-" + "x" * length)[:length]
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=f"sysname {name}\n{MTU}")
        driver.commit_config(revert_in=600)
        driver.confirm_commit()
        assert driver.get_facts()["hostname"] == name


def test_twelve_seconds_of_a_session_are_sleep__ours_sleeps_none(
    bench: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    real = time.sleep

    def watched(seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            slept.append(seconds)
        real(seconds)

    emulated = bench()
    monkeypatch.setattr(time, "sleep", watched)
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.compare_config()
        driver.commit_config(revert_in=600)
        driver.confirm_commit()
        driver.save_config()
    assert sum(slept) == 0


def test_commit_comment_is_no_vrp8__ours_describes_and_refuses_netmikos_way(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        assert isinstance(driver._ssh, HuaweiVrpv8SSH)
        with pytest.raises(NotImplementedError, match="commit through CloudEngineDriver"):
            driver._ssh.commit(comment="why")
        driver.commit_config(message="why")
    assert [point.description for point in emulated.switch.points] == ["why"]


def test_unknown_host_keys_are_added__ours_refuses_and_cannot_be_told_otherwise(
    bench: Start, tmp_path: Any
) -> None:
    emulated = bench()
    (tmp_path / "empty").write_text("")
    with pytest.raises(HostKeyError, match="unknown host key ssh-ed25519 SHA256:"):
        emulated.driver(ssh_known_hosts=str(tmp_path / "empty")).open()
    with pytest.raises(ValueError, match="ssh_strict=False: host keys are always checked"):
        emulated.driver(ssh_strict=False)
    assert (tmp_path / "empty").read_text() == ""


def test_it_does_not_import_with_a_current_netmiko__ours_is_found_by_its_name() -> None:
    assert get_network_driver("cloudengine") is CloudEngineDriver


def test_a_merge_is_only_kept_in_memory__ours_is_in_the_devices_candidate(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        assert list(emulated.switch.candidates) != []
        with pytest.raises(MergeConfigException, match="line 1 'commit': 'commit' acts"):
            driver.load_merge_candidate(config="commit")
