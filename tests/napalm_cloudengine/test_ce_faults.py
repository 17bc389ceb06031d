"""Every fault of the emulated switch, by name: one error with its place, and no candidate left."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
    ConnectionException,
    NapalmException,
)

from napalm_cloudengine import CloudEngineDriver
from napalm_cloudengine.errors import (
    CandidateNotOursError,
    HostKeyError,
    LineRefusedError,
    OutcomeUnknownError,
    QuestionRefusedError,
    TrialOfOtherSessionError,
)
from rocefort.emulator.switch.personality import FAULTS, FOREIGN, LineFault

Start = Callable[..., Any]
MOST_S = 20.0  # of a step with a silent switch: each silence ends after 1 s
CHANGE = "interface 100GE1/0/1\n mtu 9216\n"
LINE = "mtu 9216"
QUESTION = r"Warning: This operation may affect an unexpected service\. Proceed\? \[Y/N\]:"
NOT_GENERATED = r"Error: Failed to generate committed config\."
FULL = r"Error: The flash memory has no space left\."
UNKNOWN_LINE = r"nothing was committed; whether the candidate still holds lines is unknown"
IN_TRIAL = (
    r"outcome unknown; if the trial runs, it reverts automatically when its timer ends: reconnect "
    r"and ask the device \(has_pending_commit\)"
)
END_UNKNOWN = (
    r"outcome unknown: the trial is confirmed, still running, or reverted; "
    r"reconnect, ask the device \(has_pending_commit\) and read the running configuration"
)


@dataclass(frozen=True)
class Case:
    """A fault, the step of a change at which it shows, and the sentence for the caller."""

    fault: LineFault
    kind: type[NapalmException]
    says: str
    at: str = "load"  # the step that must fail: open, load, commit, confirm, save
    wait_s: float = 0.0  # passes on the switch before that step
    left: tuple[str, ...] = ()  # pending lines of earlier sessions
    confirmed: bool = False  # whether the switch confirmed, without reporting it

    def __str__(self) -> str:
        return f"{self.fault.name}@{self.fault.match or '-'}"


CASES = (
    Case(
        LineFault("refuse-line", LINE),
        LineRefusedError,
        r"leaf01: line 2 'mtu 9216': Error: Unrecognized command found at '\^' position\.; "
        r"the candidate was discarded",
    ),
    Case(
        LineFault("unknown-question", LINE),
        QuestionRefusedError,
        rf"leaf01: line 2 'mtu 9216': the switch asked '{QUESTION}', which no known answer fits; "
        r"it was answered no and the candidate was discarded",
    ),
    Case(
        LineFault("fail-commit"),
        CommitError,
        rf"leaf01: 'commit trial 600' failed: {NOT_GENERATED}; the candidate was discarded",
        at="commit",
    ),
    Case(
        LineFault("hang", LINE),
        OutcomeUnknownError,
        rf"leaf01: no answer for 1 s after 'mtu 9216' was sent: {UNKNOWN_LINE}",
    ),
    Case(
        LineFault("hang", "commit"),
        OutcomeUnknownError,
        rf"leaf01: no answer for 1 s after 'commit trial 600' was sent: {IN_TRIAL}",
        at="commit",
    ),
    Case(
        LineFault("hang-on-commit"),
        OutcomeUnknownError,
        rf"leaf01: no answer for 1 s after 'commit trial 600' was sent: {IN_TRIAL}",
        at="commit",
    ),
    Case(
        LineFault("drop-line", LINE),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'mtu 9216' was sent: {UNKNOWN_LINE}",
    ),
    Case(
        LineFault("drop-line", "commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'commit trial 600' was sent: {IN_TRIAL}",
        at="commit",
    ),
    Case(
        LineFault("drop-reply", LINE),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'mtu 9216' was sent: {UNKNOWN_LINE}",
    ),
    Case(
        LineFault("drop-reply", "commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'commit trial 600' was sent: {IN_TRIAL}",
        at="commit",
    ),
    Case(
        LineFault("drop-after", LINE),
        OutcomeUnknownError,
        rf"leaf01: session lost after '(mtu 9216|quit)' was sent: {UNKNOWN_LINE}",
    ),
    Case(
        LineFault("drop-after", "commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after '(commit trial 600|display configuration trial status)' was "
        rf"sent: {IN_TRIAL}",
        at="commit",
    ),
    Case(
        LineFault("drop-session-on-commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'commit trial 600' was sent: {IN_TRIAL}",
        at="commit",
    ),
    Case(
        LineFault("lie-ok", LINE),
        CommitError,
        r"leaf01: nothing to commit: no change is loaded",
        at="commit",
    ),
    Case(
        LineFault("lie-ok", "commit"),
        CommitError,
        r"leaf01: 'commit trial 600' was accepted, but the trial is INACTIVE: it has ended already "
        r"or the change is permanent; read the running configuration",
        at="commit",
    ),
    Case(
        LineFault("expire-early"),
        CommitConfirmException,
        r"leaf01: no trial to confirm \(it is INACTIVE\): it was confirmed, aborted, or has "
        r"reverted; read the running configuration",
        at="confirm",
        wait_s=2.0,
    ),
    Case(
        LineFault("full-flash"),
        CommitError,
        rf"leaf01: 'commit trial 600' failed: {FULL}; the candidate was discarded",
        at="commit",
    ),
    Case(
        LineFault("wrong-host-key"),
        HostKeyError,
        r"127\.0\.0\.1:\d+: the host key changed: it is ssh-ed25519 SHA256:\S+, known is "
        r"SHA256:\S+; not connected",
        at="open",
    ),
    Case(
        LineFault("foreign-candidate"),
        CandidateNotOursError,
        r"leaf01: the candidate already holds uncommitted changes that are not ours; nothing was "
        r"touched; let their owner commit or clear them first",
        left=(FOREIGN,),
    ),
    Case(
        LineFault("refuse-login"),
        ConnectionException,
        r"127\.0\.0\.1:\d+: no prompt after the login: session lost",
        at="open",
    ),
)
# Faults that show in another step than that of a first trial: injected when the trial runs.
ON_TRIAL = (
    Case(
        LineFault("expire-before-commit"),
        CommitConfirmException,
        r"leaf01: the switch took the confirm but does not run what was on trial: the trial ended "
        r"just before, or another user changed it; read the running configuration",
        at="confirm",
    ),
    Case(
        LineFault("fail-commit"),
        CommitConfirmException,
        rf"leaf01: 'commit' failed: {NOT_GENERATED}; the trial keeps its timer and reverts "
        r"automatically within 600 s",
        at="confirm",
    ),
    Case(
        LineFault("lie-ok", "commit"),
        CommitConfirmException,
        r"leaf01: the switch took the confirm but the trial is ACTIVE, 600 s left",
        at="confirm",
    ),
    Case(
        LineFault("drop-reply", "commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'commit' was sent: {END_UNKNOWN}",
        at="confirm",
        confirmed=True,
    ),
    Case(
        LineFault("drop-session-on-commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'commit' was sent: {END_UNKNOWN}",
        at="confirm",
        confirmed=True,
    ),
    Case(
        LineFault("drop-line", "commit"),
        OutcomeUnknownError,
        rf"leaf01: session lost after 'commit' was sent: {END_UNKNOWN}",
        at="confirm",
    ),
    Case(
        LineFault("hang-on-commit"),
        OutcomeUnknownError,
        rf"leaf01: no answer for 1 s after 'commit' was sent: {END_UNKNOWN}",
        at="confirm",
    ),
    Case(
        LineFault("hang", "abort trial"),
        OutcomeUnknownError,
        rf"leaf01: no answer for 1 s after 'abort trial' was sent: {END_UNKNOWN}",
        at="abort",
    ),
    Case(
        LineFault("full-flash"),
        CommandErrorException,
        rf"leaf01: 'save' failed: {FULL}",
        at="save",
    ),
    Case(
        LineFault("hang", "save"),
        OutcomeUnknownError,
        r"leaf01: no answer for 1 s after 'save' was sent: the running configuration is untouched; "
        r"whether it was saved is unknown",
        at="save",
    ),
)
STEPS: dict[str, Callable[[CloudEngineDriver], object]] = {
    "open": lambda driver: driver.open(),
    "load": lambda driver: driver.load_merge_candidate(config=CHANGE),
    "commit": lambda driver: driver.commit_config(revert_in=600),
    "confirm": lambda driver: driver.confirm_commit(),
    "abort": lambda driver: driver.abort_commit(),
    "save": lambda driver: driver.save_config(),
}


def test_every_fault_has_a_case() -> None:
    assert {case.fault.name for case in (*CASES, *ON_TRIAL)} == set(FAULTS)


def walk(emulated: Any, case: Case, steps: tuple[str, ...], begun: CloudEngineDriver) -> str:
    """Run up to the step that must fail; return its sentence."""
    for step in steps:
        if step == case.at:
            emulated.clock.now += case.wait_s
            before = time.monotonic()
            with pytest.raises(case.kind) as caught:
                STEPS[step](begun)
            assert time.monotonic() - before < MOST_S
            return str(caught.value)
        STEPS[step](begun)
    raise AssertionError(f"no step {case.at}")


def typed(emulated: Any) -> list[str]:
    """Return the pending lines of all candidates, once the switch has noticed closed sessions."""
    emulated.wait(lambda: not emulated.switch.logins)
    return [
        line for candidate in emulated.switch.candidates.values() for _, line in candidate.typed
    ]


def nothing_is_left(emulated: Any, case: Case) -> None:
    """No candidate, no trial but one that its timer ends, and the switch as it was."""
    emulated.switch.faults = ()
    assert typed(emulated) == []
    if case.kind is HostKeyError:  # the key is the server's until it ends: no user can log in
        return
    with emulated.driver(name="leaf01") as after:
        if after.has_pending_commit():
            with pytest.raises(TrialOfOtherSessionError) as refused:
                after.abort_commit()
            emulated.clock.now += refused.value.seconds_left
            assert not after.has_pending_commit()
        assert after.compare_config() == ""
        after.load_merge_candidate(config="vlan batch 20")  # and the driver can load again
        after.discard_config()
    assert typed(emulated) == []
    assert emulated.switch.running == emulated.before


def what_is_left_is_nobodys_by_accident(emulated: Any) -> None:
    """Check that ownerless lines in a shared candidate are refused, not committed."""
    emulated.switch.faults = ()
    with emulated.driver(name="leaf01") as after:
        with pytest.raises(CandidateNotOursError):
            after.load_merge_candidate(config="vlan batch 20")
        with pytest.raises(CommitError, match="nothing to commit"):
            after.commit_config()
    assert emulated.switch.running == emulated.before


@pytest.mark.parametrize("candidate", ["own", "shared"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_fault_is_one_error_with_its_place_and_leaves_no_candidate(
    bench: Start, case: Case, candidate: str
) -> None:
    emulated = bench(faults=(case.fault,), candidate_mode=candidate)
    driver = emulated.driver(name="leaf01", commit_timeout_s=1)
    driver.timeout = 1
    try:
        reply = walk(emulated, case, ("open", "load", "commit", "confirm"), driver)
        assert_says(case, reply)
    finally:
        driver.close()
    # a shared candidate outlives our session: its content is unknown, as the error states
    if candidate == "shared" and (
        case.left or (case.kind is OutcomeUnknownError and typed(emulated))
    ):
        what_is_left_is_nobodys_by_accident(emulated)
    else:
        nothing_is_left(emulated, case)


@pytest.mark.parametrize("case", ON_TRIAL, ids=str)
def test_a_fault_while_a_trial_runs(bench: Start, case: Case) -> None:
    emulated = bench()
    driver = emulated.driver(name="leaf01", commit_timeout_s=1)
    with driver:
        driver.timeout = 1
        for step in ("load", "commit"):
            STEPS[step](driver)
        if case.at == "save":
            STEPS["confirm"](driver)
            emulated.before = emulated.switch.running
        emulated.switch.faults = (case.fault,)
        assert_says(case, walk(emulated, case, (case.at,), driver))
        if case.confirmed:
            emulated.before = emulated.switch.running
    nothing_is_left(emulated, case)


def assert_says(case: Case, reply: str) -> None:
    last = r"; last line of the switch: '.+'" if case.kind is OutcomeUnknownError else ""
    assert re.fullmatch(case.says + last, reply), reply
    assert "\n" not in reply
    assert "canary" not in reply
