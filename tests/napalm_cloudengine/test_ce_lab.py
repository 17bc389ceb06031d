"""The driver through the real Netmiko, NAPALM and Nornir against the emulated command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
    ConnectAuthError,
    ReplaceConfigException,
)
from nornir.core import Nornir
from nornir.core.inventory import ConnectionOptions, Defaults, Groups, Host, Hosts, Inventory
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.plugins.runners import SerialRunner
from nornir_napalm.plugins.tasks import napalm_configure, napalm_confirm_commit, napalm_get

from napalm_cloudengine.errors import (
    CandidateNotOursError,
    HostKeyError,
    LineRefusedError,
    OutcomeUnknownError,
    QuestionRefusedError,
)
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.emulator.switch.personality import LineFault, Personality
from rocefort.models.hardware.hardware import SyntaxFamily

USER, PASSWORD = "netops", "canary-Pa55word"
MTU = "interface 100GE1/0/1\n mtu 9216\n"  # the other interface has it: "anywhere" is not enough

Start = Callable[..., Any]  # the bench of conftest.py


def test_a_change_from_load_to_save(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        diff = driver.compare_config()
        assert [line for line in diff.splitlines() if line[0] in "+-"] == [
            "-  mtu 9000",
            "+  mtu 9216",
        ]
        assert "interface 100GE1/0/1" in diff
        assert "mtu 9000" in driver.get_config(retrieve="running")["running"]
        assert "mtu 9000" not in driver.get_config(retrieve="candidate")["candidate"]
        driver.commit_config(message="larger frames", revert_in=600)
        assert driver.trial_status().seconds_left == 600
        newest = driver.newest_commit()
        assert newest is not None and newest.description == "larger frames"
        driver.confirm_commit()
        assert driver.has_pending_commit() is False
        assert driver.compare_config() == ""
        assert "mtu 9000" not in driver.get_config(retrieve="running")["running"]
        assert "mtu 9000" in driver.get_config(retrieve="startup")["startup"]
        driver.save_config()
        assert "mtu 9000" not in driver.get_config(retrieve="startup")["startup"]
    assert [point.description for point in emulated.switch.points] == ["larger frames"]


def test_a_file_is_loaded_and_a_plain_commit_lasts(bench: Start, tmp_path: Path) -> None:
    emulated, path = bench(), tmp_path / "change.cfg"
    path.write_text(MTU)
    with emulated.driver() as driver:
        driver.load_merge_candidate(filename=str(path), config="vlan batch 99")
        driver.commit_config()
        assert driver.has_pending_commit() is False
    assert "mtu 9000" not in emulated.running()
    assert "99" not in emulated.running()


def test_discarding_leaves_nothing(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.discard_config()
        assert driver.compare_config() == ""
        driver.discard_config()
    assert emulated.switch.running == emulated.before
    assert emulated.switch.points == ()


def test_an_aborted_trial_is_gone(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        driver.abort_commit()
        assert driver.has_pending_commit() is False
        with pytest.raises(CommitConfirmException, match="no trial to abort"):
            driver.abort_commit()
    assert emulated.switch.running == emulated.before


def test_rollback_aborts_a_trial_and_takes_back_a_commit(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        driver.rollback()
        assert emulated.switch.running == emulated.before
        driver.load_merge_candidate(config=MTU)
        driver.commit_config()
        assert emulated.switch.running != emulated.before
        driver.rollback()
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("act", ["confirm_commit", "abort_commit"])
def test_another_session_finishes_a_trial_that_survives(bench: Start, act: str) -> None:
    emulated = bench(personality=Personality("survives"))
    with emulated.driver() as first:
        first.load_merge_candidate(config=MTU)
        first.commit_config(revert_in=600)
    with emulated.driver() as second:
        assert second.has_pending_commit() is True
        getattr(second, act)()
        assert second.has_pending_commit() is False
    assert (emulated.switch.running == emulated.before) is (act == "abort_commit")


def test_a_trial_that_dies_with_its_session_cannot_be_confirmed(bench: Start) -> None:
    emulated = bench(personality=Personality("dies-with-session"))
    with emulated.driver() as first:
        first.load_merge_candidate(config=MTU)
        first.commit_config(revert_in=600)
        first.close()
    with emulated.driver() as second:
        assert second.has_pending_commit() is False
        with pytest.raises(CommitConfirmException, match=r"no trial to confirm.*has reverted"):
            second.confirm_commit()
    assert emulated.switch.running == emulated.before


def test_an_expired_trial_cannot_be_confirmed(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        emulated.clock.now += 61
        with pytest.raises(CommitConfirmException, match="no trial to confirm"):
            driver.confirm_commit()
    assert emulated.switch.running == emulated.before


def test_a_trial_that_expires_just_before_the_confirm_is_noticed(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=60)
        emulated.switch.faults = (LineFault("expire-before-commit"),)
        with pytest.raises(CommitConfirmException, match="does not run what was on trial"):
            driver.confirm_commit()
        assert driver.has_pending_commit() is False
    assert emulated.switch.running == emulated.before


def test_messages_name_the_switch_and_a_failed_connection_its_address(bench: Start) -> None:
    emulated = bench(faults=(LineFault("drop-session-on-commit"),))
    with emulated.driver(name="leaf01") as driver:
        with pytest.raises(LineRefusedError, match=r"^leaf01: line 1 'vlan batch 9999': Error: "):
            driver.load_merge_candidate(config="vlan batch 9999")
        with pytest.raises(CommitError, match=r"^leaf01: nothing to commit: no change is loaded$"):
            driver.commit_config()
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(OutcomeUnknownError, match=r"^leaf01: session lost after 'commit' was"):
            driver.commit_config()
    with pytest.raises(ConnectAuthError, match=r"^127\.0\.0\.1:\d+ refuses the login"):
        emulated.driver("wrong", name="leaf01").open()


def test_the_candidate_can_be_read_from_the_user_view(bench: Start) -> None:
    with bench().driver() as driver:
        driver.load_merge_candidate(config="sysname leaf01")  # as it is already
        driver.save_config()
        texts = driver.get_config()
    assert "sysname leaf01" in texts["candidate"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_refused_line_is_named_wherever_it_stands(bench: Start, place: int) -> None:
    lines = ["vlan batch 20", "vlan batch 30", "vlan batch 40"]
    lines[place] = "vlan batch 9999"
    emulated = bench()
    with emulated.driver() as driver:
        with pytest.raises(LineRefusedError) as caught:
            driver.load_merge_candidate(config="\n".join(lines))
        assert driver.compare_config() == ""
    assert caught.value.line_number == place + 1
    assert str(caught.value).startswith(
        f"127.0.0.1: line {place + 1} 'vlan batch 9999': Error: Wrong parameter found"
    )
    assert str(caught.value).endswith("the candidate was discarded")
    assert emulated.switch.running == emulated.before


def test_after_a_refused_line_the_next_load_starts_in_the_system_view(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        with pytest.raises(LineRefusedError, match="line 2 'mtu 99999'"):
            driver.load_merge_candidate(config="interface 100GE1/0/1\n mtu 99999\n")
        driver.load_merge_candidate(config=MTU)
        driver.commit_config()
    assert "mtu 9000" not in emulated.running()


def test_an_unknown_question_is_refused_and_the_candidate_empty(bench: Start) -> None:
    emulated = bench(faults=(LineFault("unknown-question", "mtu 9216"),))
    with emulated.driver() as driver:
        with pytest.raises(QuestionRefusedError) as caught:
            driver.load_merge_candidate(config=MTU)
        assert driver.compare_config() == ""
    assert str(caught.value) == (
        "127.0.0.1: line 2 'mtu 9216': the switch asked 'Warning: This operation may affect an "
        "unexpected service. Proceed? [Y/N]:', which no known answer fits; it was answered no "
        "and the candidate was discarded"
    )
    assert emulated.switch.running == emulated.before


def test_a_peer_that_leaves_the_fabric_is_removed(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config="bgp 65101\n undo peer 10.1.1.3\n")
        driver.commit_config()
    assert "10.1.1.3" not in emulated.running()


def test_the_same_question_with_an_answer_from_the_caller(bench: Start) -> None:
    emulated = bench(faults=(LineFault("unknown-question", "mtu 9216"),))
    with emulated.driver(answers={"unexpected service": "Y"}) as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config()
    assert "mtu 9000" not in emulated.running()


def test_lines_entered_by_hand_are_not_ours_to_commit(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.cli(["system-view", "vlan batch 77"])
        with pytest.raises(CandidateNotOursError, match="nothing was touched"):
            driver.load_merge_candidate(config=MTU)
        with pytest.raises(CommitError, match="nothing to commit"):
            driver.commit_config()
        assert "+ vlan batch 10 77" in driver.compare_config()
    assert emulated.switch.running == emulated.before


def test_a_commit_that_the_switch_refuses_is_discarded(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(
            config="interface 100GE1/0/2\n ip address 10.1.1.2 255.255.255.254\n"
        )
        with pytest.raises(CommitError, match=r"'commit trial 60' failed: Error: .*the candidate"):
            driver.commit_config(revert_in=60)
        assert driver.compare_config() == ""
        assert driver.has_pending_commit() is False
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("revert_in", [None, 600])
@pytest.mark.parametrize("mode", ["merge", "refuse"])
def test_a_change_of_something_else_under_our_feet(
    bench: Start, mode: str, revert_in: int | None
) -> None:
    emulated = bench(on_conflict=mode)
    with emulated.driver() as ours, emulated.driver() as theirs:
        ours.load_merge_candidate(config=MTU)
        theirs.load_merge_candidate(config="vlan batch 50")
        theirs.commit_config()
        with pytest.raises(CommandErrorException, match="running configuration has been changed"):
            ours.compare_config()
        if mode == "merge":  # as documented: both take effect
            ours.commit_config(revert_in=revert_in)
        else:
            with pytest.raises(CommitError, match=r"changed by another user.*was discarded$"):
                ours.commit_config(revert_in=revert_in)
        if mode == "merge" and revert_in:
            ours.abort_commit()
    running = emulated.running()
    assert ("mtu 9000" in running) is not (mode == "merge" and revert_in is None)
    assert "vlan batch 10 50" in running, "theirs stays, whatever becomes of ours"
    assert emulated.switch.candidates == {}


@pytest.mark.parametrize("mode", ["merge", "refuse"])
def test_a_change_of_the_same_under_our_feet_fails_the_commit(bench: Start, mode: str) -> None:
    emulated = bench(on_conflict=mode)
    with emulated.driver() as ours, emulated.driver() as theirs:
        ours.load_merge_candidate(config=MTU)
        theirs.load_merge_candidate(config=MTU.replace("9216", "9100"))
        theirs.commit_config()
        with pytest.raises(CommitError, match=r"changed by another user.*was discarded$"):
            ours.commit_config()
    assert "mtu 9100" in emulated.running()
    assert emulated.switch.candidates == {}


@pytest.mark.parametrize(
    ("fault", "why"),
    [("drop-session-on-commit", "session lost"), ("hang-on-commit", "no answer for 0.5 s")],
)
def test_a_commit_without_an_answer_is_unknown_until_the_device_is_asked(
    bench: Start, fault: Any, why: str
) -> None:
    emulated = bench(faults=(LineFault(fault),), personality=Personality("survives"))
    with emulated.driver(commit_timeout_s=0.5) as driver:
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(OutcomeUnknownError, match=f"{why} after 'commit trial 600' was sent"):
            driver.commit_config(revert_in=600)
    emulated.switch.faults = ()
    with emulated.driver() as driver:
        assert driver.has_pending_commit() is (fault == "drop-session-on-commit")
        if driver.has_pending_commit():
            driver.abort_commit()
    assert emulated.switch.running == emulated.before


def test_a_confirm_without_an_answer_is_unknown_until_the_device_is_asked(bench: Start) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        driver.commit_config(revert_in=600)
        emulated.switch.faults = (LineFault("drop-session-on-commit"),)
        with pytest.raises(OutcomeUnknownError, match="is confirmed, still running, or reverted"):
            driver.confirm_commit()
    with emulated.driver() as driver:
        assert driver.has_pending_commit() is False
    assert "mtu 9000" not in emulated.running()


@pytest.mark.parametrize("seconds", [59, 65536])
def test_revert_in_out_of_range_keeps_the_candidate(bench: Start, seconds: int) -> None:
    emulated = bench()
    with emulated.driver() as driver:
        driver.load_merge_candidate(config=MTU)
        with pytest.raises(CommitError, match="60 to 65535 seconds on a CloudEngine, not"):
            driver.commit_config(revert_in=seconds)
        assert driver.compare_config() != ""
    assert emulated.switch.running == emulated.before


def test_a_wrong_password_and_a_wrong_host_key(bench: Start, tmp_path: Path) -> None:
    emulated, other = bench(), bench()
    with pytest.raises(ConnectAuthError, match="refuses the login of 'netops'") as caught:
        emulated.driver(password="canary-wrong").open()
    assert "canary" not in str(caught.value)
    swapped = tmp_path / "swapped"
    mine, theirs = (b.lab.known_hosts.read_text().split() for b in (emulated, other))
    swapped.write_text(f"{mine[0]} {theirs[1]} {theirs[2]}\n")
    with pytest.raises(HostKeyError, match="the host key changed"):
        emulated.driver(ssh_known_hosts=str(swapped)).open()
    with pytest.raises(HostKeyError, match="unknown host key ssh-ed25519"):
        emulated.driver(ssh_known_hosts=str(other.lab.known_hosts)).open()


def test_the_getters(bench: Start) -> None:
    emulated = bench()
    emulated.clock.now += 3660
    with emulated.driver() as driver:
        facts = driver.get_facts()
        neighbors = driver.get_bgp_neighbors()
        texts = driver.get_config()
        with pytest.raises(CommandErrorException, match="'display nonsense': Error: Unrec"):
            driver.cli(["display nonsense"])
    assert (facts["hostname"], facts["vendor"], facts["model"], facts["uptime"]) == (
        "leaf01",
        "Huawei",
        "CE8851-32CQ8DQ-P",
        3660.0,
    )
    assert facts["interface_list"] == ["100GE1/0/1", "100GE1/0/2"]
    assert facts["serial_number"].startswith("LAB")
    assert neighbors["global"]["router_id"] == "10.0.0.11"
    assert list(neighbors["global"]["peers"]) == ["10.1.1.3"]
    assert neighbors["global"]["peers"]["10.1.1.3"]["remote_as"] == 65001
    assert neighbors["global"]["peers"]["10.1.1.3"]["is_up"] is False
    assert "sysname leaf01" in texts["running"]
    assert texts["running"] == texts["startup"]
    assert texts["candidate"] == ""


def nornir(emulated: Any, **more: Any) -> Nornir:
    """Nornir with the bench as its only host."""
    ConnectionPluginRegister.auto_register()
    arguments = {**emulated.options(), **more}
    options = ConnectionOptions(extras={"optional_args": arguments, "timeout": 10})
    host = Host(
        "leaf01",
        "127.0.0.1",
        username=USER,
        password=PASSWORD,
        platform="cloudengine",
        connection_options={"napalm": options},
    )
    inventory = Inventory(Hosts({"leaf01": host}), Groups(), Defaults())
    return Nornir(inventory=inventory, runner=SerialRunner())


def test_the_same_through_nornir(bench: Start) -> None:
    emulated = bench()
    runner = nornir(emulated)
    try:
        facts = runner.run(napalm_get, getters=["facts"])["leaf01"][0]
        assert facts.result["facts"]["hostname"] == "leaf01"
        loaded = runner.run(napalm_configure, configuration=MTU, revert_in=600)["leaf01"][0]
        assert (loaded.failed, loaded.changed) == (False, True)
        assert "+  mtu 9216" in loaded.diff
        assert emulated.switch.trial is not None
        confirmed = runner.run(napalm_confirm_commit)["leaf01"][0]
        assert confirmed.failed is False
        again = runner.run(napalm_configure, configuration=MTU)["leaf01"][0]
        assert (again.changed, again.diff) == (False, "")
        refused = runner.run(napalm_configure, configuration="vlan batch 9999")["leaf01"][0]
        assert isinstance(refused.exception, LineRefusedError)
    finally:
        runner.close_connections()
    assert emulated.switch.trial is None
    assert "mtu 9000" not in emulated.running()


def test_a_replace_through_nornir(bench: Start) -> None:
    emulated = bench()
    intended = emulated.running().replace(" mtu 9000\n", " mtu 9216\n")

    def patcher(running: str, intended: str) -> tuple[str, ...]:
        return make_patch(running, intended, SyntaxFamily.V300_G1).commands

    runner = nornir(emulated, patcher=patcher)
    try:
        replaced = runner.run(
            napalm_configure, configuration=intended, replace=True, revert_in=600
        )["leaf01"][0]
        assert (replaced.failed, replaced.changed) == (False, True)
        assert replaced.diff.splitlines()[-3:] == ["-  mtu 9000", "+  mtu 9216", "  #"]
        assert runner.run(napalm_confirm_commit)["leaf01"][0].failed is False
        again = runner.run(napalm_configure, configuration=intended, replace=True)["leaf01"][0]
        assert (again.changed, again.diff) == (False, "")
        odd = intended.replace(" mtu 9216\n", " mtu 99999\n")
        refused = runner.run(napalm_configure, configuration=odd, replace=True)["leaf01"][0]
        assert isinstance(refused.exception, ReplaceConfigException)
    finally:
        runner.close_connections()
    assert emulated.switch.candidates == {}
