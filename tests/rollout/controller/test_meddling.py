"""External events at a switch during a rollout: power loss, changes and locks by others.

The emulator defines power loss: the switch starts with its saved configuration, without trial and
sessions. No source describes a real switch that loses power in the middle of a commit.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from napalm.base.exceptions import ConnectionClosedException

from napalm_cloudengine import CloudEngineDriver
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.events import ActPhase, Event, RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory

PlanOf = Callable[[Path], Plan]
CANARY = "leaf08"
FOREIGN = "ntp unicast-server 10.255.0.9"


def once(act: str, phase: ActPhase, do: Callable[[], object]) -> Callable[[Event], None]:
    """Listener that changes the canary once, at one moment."""
    left = [do]

    def listener(event: Event) -> None:
        if left and (event.act, event.phase, event.device) == (act, phase, CANARY):
            left.pop()()

    return listener


def has_new(switch: EmulatedSwitch) -> bool:
    """Whether a switch has the one line that the plan brings it."""
    return any("detector" in line.text for top in switch.running for _, line in top.walk())


def at_rest(switch: EmulatedSwitch) -> bool:
    """Nothing on trial, in a candidate, or unsaved."""
    idle = switch.trial is None and not any(map(switch.dirty, switch.logins))
    return idle and switch.saved == switch.running


@pytest.mark.parametrize(
    ("act", "phase", "goes_on"),
    [
        # To the switch the two marked ones are what the other of their pair is.
        pytest.param("load", ActPhase.DONE, False, marks=pytest.mark.thorough),
        ("trial", ActPhase.INTENT, False),
        pytest.param("trial", ActPhase.DONE, False, marks=pytest.mark.thorough),
        ("confirm", ActPhase.INTENT, False),
        ("confirm", ActPhase.DONE, False),  # confirmed, not saved: it comes up old
        ("save", ActPhase.DONE, True),
    ],
)
def test_a_switch_that_loses_its_power_is_old_or_new_and_the_next_run_finishes(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    tmp_path: Path,
    act: str,
    phase: ActPhase,
    goes_on: bool,
) -> None:
    plan, leaf = plan_of(described), lab.switches[CANARY]
    listener = once(act, phase, lambda: lab.server.lose_power(CANARY))
    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [listener]
    )
    assert (applied.failure == "") == goes_on, applied
    assert at_rest(leaf)
    assert has_new(leaf) == goes_on
    assert has_new(lab.switches["leaf07"]) == goes_on  # a wave that failed is a barrier
    if not goes_on:
        assert applied.failure.startswith(f"{CANARY}: "), applied
        assert applied.exit_code == 3
    applied = apply_plan(plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [])
    assert applied.failure == ""
    assert has_new(leaf)
    assert at_rest(leaf)


def test_a_socket_that_takes_no_more_is_a_session_that_is_lost(lab: Rehearsal) -> None:
    """For a moment paramiko has not noticed it; its own error, an EOFError, has no text."""
    (access,) = [device for device in lab.connections.devices if device.name == CANARY]
    options = {
        "name": CANARY,
        "port": access.port,
        "ssh_known_hosts": str(lab.connections.known_hosts),
    }
    password = lab.server.password
    driver = CloudEngineDriver(access.host, access.user, password, optional_args=options)
    driver.open()
    assert driver._ssh
    driver._ssh.remote_conn_pre.get_transport().sock.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionClosedException) as caught:
        driver.get_config("running")
    assert str(caught.value) == (
        f"{CANARY}: session lost after 'display current-configuration' was sent: it only reads, "
        f"nothing was changed; last line of the switch: '<{CANARY}>'"
    )
    driver.close()


def test_what_others_commit_between_load_and_trial_ends_the_wave_and_stays(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    """P11: the commit would make another change than the approved one."""
    leaf = lab.switches[CANARY]

    def commit() -> None:
        session = CliSession(leaf, "somebody")
        for line in ("system-view", FOREIGN, "commit"):
            assert "Error" not in session.handle(line).text
        session.close()

    applied = apply_plan(
        plan_of(described),
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [once("load", ActPhase.DONE, commit)],
    )
    assert_stopped(applied)
    assert not has_new(leaf)
    assert leaf.trial is None
    assert FOREIGN in {line.text for line in leaf.running}  # the work of others is not undone


def test_a_configuration_that_somebody_has_locked_is_refused_and_says_by_which_session(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    """P10: the switch names the session; the rollout repeats it."""
    leaf = lab.switches[CANARY]
    plan, before = plan_of(described), leaf.running
    session = CliSession(leaf, "somebody")
    for line in ("system-view", "configuration exclusive timeout 7200", "configuration exclusive"):
        assert "Error" not in session.handle(line).text
    applied = apply_plan(plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [])
    assert_stopped(applied)
    assert f"The configuration is locked by other user. [Session ID = {session.number}]" in (
        applied.failure
    )
    assert leaf.running == before
    session.close()
    assert (
        apply_plan(plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), []).failure
        == ""
    )


def assert_stopped(applied: RolloutOutcome) -> None:
    """At the canary, with nothing confirmed."""
    assert applied.failure.startswith(f"{CANARY}: ")
    assert applied.exit_code in {3, 4}
    assert applied.confirmed == ()
