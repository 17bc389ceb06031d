"""Synchronisation of the driver: log lines, prompts and pauses at any byte of a session."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from napalm.base.exceptions import CommitConfirmException, CommitError, ConnectionException
from paramiko import SSHException

from napalm_cloudengine import connect, framing
from napalm_cloudengine.errors import OutcomeUnknownError
from napalm_cloudengine.transport import QUESTION_S
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

from .conftest import STARTUP
from .noise import FLOWS, MOMENT, Case, quiet, some_case, verdict
from .noisy_line import Noise, NoisyLine, driver_of

Play = Callable[..., Any]
Start = Callable[..., Any]

LOG = b"Jan  1 2026 10:00:00+00:00 leaf01 %%01IFNET/4/LINK_STATE(l)[7]:100GE1/0/1 is up."
COMPARED, RUNNING = b"display configuration candidate changes", b"display current-configuration"
QUICK_CASES = 400
SECONDS = {"quick": 0, "thorough": 60, "soak": 1800}
SEED = int(os.environ.get("ROCEFORT_SEED", "0"))


def noisy(case: Case) -> tuple[str, int]:
    """Return the error in the answers of a case, and the number of its completed calls."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        taken, _ = case.steps(monkeypatch)
    return verdict(case, taken), sum(step.error is None for step in taken)


# --- any byte -----------------------------------------------------------------------------------


@pytest.mark.soak
def test_no_wrong_answer_and_nothing_made_permanent_in_silence(
    effort: str, record_property: Callable[[str, object], None]
) -> None:
    """A few hundred cases; one minute with `make test-all`, half an hour with `make soak`."""
    seed = SEED or (time.time_ns() % 1_000_000 if effort == "soak" else 1)
    chance, found, cases, stopped = random.Random(seed), Counter[str](), 0, 0
    end = time.monotonic() + SECONDS[effort]
    shown = []
    while time.monotonic() < end or cases < QUICK_CASES:
        case = some_case(chance)
        reply, calls = noisy(case)
        cases, stopped = cases + 1, stopped + (calls < len(FLOWS[case.flow]))
        if reply:
            found[reply.split(":")[0]] += 1
            shown.append(f"{reply}\n  {case}")
    summary = (
        f"noise on a session (seed {seed}): {cases:,} cases, {stopped:,} stopped by an error, "
        f"{found['wrong']} wrong answers, {found['silent']} made permanent without an error, "
        f"{found['crash']} crashes"
    )
    record_property("figure", summary)
    assert not shown, "\n".join([summary, *shown[:5]])


def test_the_judge_sees_a_wrong_answer_and_a_silent_change() -> None:
    flow = FLOWS.index(("open", "load", "compare", "commit", "running", "save"))
    right, _ = quiet(flow)
    case = Case(flow, {})
    assert verdict(case, right) == ""
    empty = [replace(step, value="" if step.call == "compare" else step.value) for step in right]
    assert verdict(case, empty).startswith("wrong: compare returned ''")
    raised = [*right[:3], replace(right[3], error=CommitError("nothing was committed"))]
    assert verdict(case, raised).startswith("silent: commit made it permanent")
    unknown = OutcomeUnknownError("leaf01", "commit", "session lost", "outcome unknown; ..")
    assert verdict(case, [*right[:3], replace(right[3], error=unknown)]) == ""
    assert verdict(case, [replace(right[0], error=ValueError("x"))]).startswith("crash: open")


# --- what once went wrong -----------------------------------------------------------------------

ROWS: dict[str, Sequence[bytes | float]] = {
    "a log line before an echo": [b"\r\n" + LOG + b"\r\n"],
    "a log line and the prompt again": [b"\r\n" + LOG + b"\r\n[*leaf01]"],
    "a prompt, then nothing for a while": [b"\r\n[*leaf01]", 3.0],
    "a log line in two parts": [b"\r\n" + LOG[:30], 3.0, LOG[30:] + b"\r\n"],
    "cursor moves": [b"\x1b[16D\x1b[K"],
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("place", [COMPARED, RUNNING, b"+  mtu 9216", b"216\r\n", b"interface"])
@pytest.mark.parametrize("flow", [0, 1])
def test_noise_at_a_place_changes_no_answer(row: str, place: bytes, flow: int) -> None:
    """The flow continues to its end; once the answer was an empty difference, or the log line."""
    printed = quiet(flow)[1]
    first = printed.index(COMPARED)
    reply, calls = noisy(Case(flow, {printed.index(place, first): ROWS[row]}))
    assert (reply, calls) == ("", len(FLOWS[flow]))


SUCCESS = (  # the text of a save and of a rollback, from neither
    b"#Jan  1 2026 10:00:00 leaf01 CFM/1/SAVE:1.3.6.1 The configuration was saved successfully.",
    LOG.replace(b"100GE1/0/1 is up", b"Configuration rollback succeeded successfully"),
)


@pytest.mark.parametrize("log", SUCCESS)
@pytest.mark.parametrize("call", ["save", "rollback"])
def test_a_success_in_a_log_line_is_none_of_ours(call: str, log: bytes) -> None:
    """In the middle of the question, of the answer, and of the output after it."""
    flow = next(number for number, calls in enumerate(FLOWS) if call in calls)
    printed = quiet(flow)[1]
    start = printed.rindex(call.encode())
    for at in range(start, min(start + 400, len(printed)), 12):
        case = Case(flow, {at: [b"\r\n" + log + b"\r\n"]})
        assert noisy(case)[0] == "", case


@pytest.mark.parametrize("noise", [LOG.decode(), "[~HUAWEI]"])
def test_a_torn_number_of_a_session_ends_no_trial(play: Play, noise: str) -> None:
    """The trial of session 392, and not that of session 2."""
    status = "display configuration trial status"
    active = (status, "Trial status:  ACTIVE\r\nTrial time left (sec): 51\r\n\r\n[~HUAWEI]")
    steps = [
        ("system-view", "\r\n[~HUAWEI]"),
        active,
        ("abort trial", "Error: The trial was not started in this session.\r\n[~HUAWEI]"),
        (
            "abort trial session ?",
            f"  39\r\n{noise}\r\n2  Session in trial configuration mode\r\n\r\n"
            "[~HUAWEI]abort trial session \r\n  ^\r\n"
            "Error: Incomplete command found at '^' position.\r\n[~HUAWEI]",
        ),
        active,
    ]
    switch = play(steps)
    with (
        switch.driver() as driver,
        pytest.raises(CommitConfirmException, match="the trial keeps its timer"),
    ):
        driver.abort_commit()
    assert switch.heard[-len(steps) :] == [line for line, _ in steps]


def test_log_lines_without_end_are_one_error_that_quotes_one() -> None:
    noise = {at: [b"\r\n" + LOG + b"\r\n"] for at in range(0, 100_000, 40)}
    with pytest.MonkeyPatch.context() as monkeypatch:
        taken, _ = Case(0, noise).steps(monkeypatch)
    assert "last line of the switch: '" in str(taken[-1].error)
    assert verdict(Case(0, noise), taken) == ""


@pytest.mark.parametrize("flow", range(len(FLOWS)))
def test_a_switch_without_echo_is_understood(flow: int) -> None:
    with_echo, _ = quiet(flow)
    without, _ = quiet(flow, echoes=False)
    assert [(s.call, s.value, repr(s.error)) for s in without] == [
        (s.call, s.value, repr(s.error)) for s in with_echo
    ]


@pytest.mark.parametrize("name", ["leaf<01>", "[leaf]01", "<leaf01>", "leaf-01-bgp", "a.b/c:d"])
def test_a_host_name_may_look_like_a_prompt(name: str) -> None:
    for flow in range(len(FLOWS)):
        steps, _ = quiet(flow, name=name)
        expected, _ = quiet(flow)
        assert [repr(s.error) for s in steps] == [repr(s.error) for s in expected]
        for step, right in zip(steps, expected, strict=True):
            assert str(step.value).replace(f"sysname {name}", "sysname leaf01") == str(right.value)


def test_a_description_that_ends_like_a_question_is_none_where_the_line_pauses_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer to it would be a command: it is read, and nothing is typed meanwhile."""
    text = "resets the peer session. Continue? [Y/N]:"
    startup = STARTUP.replace(" mtu 9000", f" description {text} or not\n mtu 9000")

    def running(noise: Noise) -> tuple[str, bytes]:
        switch = EmulatedSwitch(
            "leaf01", startup, SyntaxFamily.V300_G1, clock=lambda: 0.0, now=lambda: MOMENT
        )
        line = NoisyLine(switch, noise)
        with driver_of(line, monkeypatch) as driver:
            return driver.get_config("running")["running"], bytes(line.printed)

    config, printed = running({})
    assert text in config
    at = printed.index(text.encode()) + len(text)
    assert running({at: [QUESTION_S / 2]}) == (config, printed)


# --- the login ----------------------------------------------------------------------------------


def test_log_lines_are_turned_off_where_the_switch_lets_us(play: Play) -> None:
    refused = "Error: You do not have permission to run the command or the command is incomplete."
    for answer in ("<HUAWEI>", f"{refused}\r\n<HUAWEI>"):
        switch = play([("undo terminal monitor", answer), ("display clock", "12:00\r\n<HUAWEI>")])
        with switch.driver() as driver:
            assert driver.cli(["display clock"]) == {"display clock": "12:00"}
        assert switch.heard[:2] == ["screen-length 0 temporary", "undo terminal monitor"]


def test_a_login_that_fails_quotes_the_switch(bench: Start, play: Play) -> None:
    full = bench(most_sessions=1)
    with (
        full.driver(),
        pytest.raises(ConnectionException, match=r"'All user interfaces are used, please .*!'$"),
    ):
        full.driver().open()
    change = "\r\nWarning: The initial password poses security risks.\r\nChange now? [Y/N]:"
    told = "Error: The password must be changed before the login."
    switch = play(greeting=change)
    switch.steps = [("N", f"{told}\r\n")]
    with pytest.raises(ConnectionException, match=rf"no answer for 2 s; .*: '{told}'$"):
        switch.driver().open()


def test_a_switch_that_asks_for_a_password_gets_none(play: Play) -> None:
    switch = play(greeting="\r\nPlease enter old password:")
    with pytest.raises(ConnectionException, match=r"requests a password; .*'Please enter old p"):
        switch.driver().open()
    enter = ("system-view", "\r\n[~HUAWEI]")
    switch = play([enter, ("set authentication password", "Enter Password:")])
    with switch.driver() as driver, pytest.raises(OutcomeUnknownError) as caught:
        driver.load_merge_candidate(config="set authentication password")
    assert "the switch requests a password" in str(caught.value)
    assert switch.heard[-1] == "set authentication password"


def test_a_connection_that_ends_before_the_login_says_what_happened() -> None:
    """Case of paramiko's "No existing session"."""
    with (
        pytest.raises(ConnectionException, match=r"^h:22: the switch ended the connection before"),
        connect.connecting("h", {}, "netops"),
    ):
        raise SSHException("No existing session")


# --- unsolicited lines ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "Mar 26 2020 01:10:05.720+08:00 leaf01 %%01CFM/4/SAVE(l)[3]:saved",
        "2020-03-26T01:26:32 leaf01 %%01CFM/4/SAVE(l)[3]:saved",
        "0.261958727 leaf01 %%01CFM/4/SAVE(l)[3]:saved",
        "#Mar 26 2020 01:10:05 leaf01 IFNET/1/LINKDOWN:1.3.6.1.6.3.1.1.5.3 down",
        "<leaf01>",
        "[*leaf01-100GE1/0/1]",
        "  ---- More ----",
        "mtu 92\x1b[16",
    ],
)
def test_what_nobody_asked_for_is_recognised_in_any_line(line: str) -> None:
    for text in (line, f"#\n mtu 92{line}\n16", f"#\n{line}"):
        assert framing.unsolicited(text, "leaf01").endswith(line.strip())


@pytest.mark.parametrize(
    "line",
    [
        "!Last configuration was updated at 2026-01-01 00:00:00+00:00 by netops",
        "  0  -rw-  1,234  Jan 01 2026 10:00:00   vrpcfg.zip",
        " description to <spine01>, since Jan  1 2026 10:00:00",
        "sysname leaf01",
    ],
)
def test_what_an_answer_may_hold_is_no_noise(line: str) -> None:
    assert framing.unsolicited(f"#\n{line}\nreturn", "leaf01") == ""


def test_an_error_inside_a_log_line_is_not_dropped_with_it() -> None:
    log = LOG.decode()
    assert framing.solicited(f"{log}\n\n[*leaf01]\n", "[*leaf01]") == ""
    assert framing.solicited(f"{log}Error: Wrong.", "[*leaf01]") == f"{log}Error: Wrong."
    assert framing.solicited(f"Er{log}\nror: Wrong.", "[*leaf01]") == f"Er{log}\nror: Wrong."


@pytest.mark.parametrize("width", [1, 7, 60])
def test_an_echo_is_found_however_the_terminal_breaks_it(width: int) -> None:
    rows = [COMPARED.decode()[at : at + width] for at in range(0, len(COMPARED), width)]
    text = "\n".join(["noise", f"<leaf01>{rows[0]}", *rows[1:], "the answer", "<leaf01>"])
    found = framing.after_echo(text, COMPARED.decode(), "<leaf01>")
    assert found == ("noise", "the answer\n<leaf01>")


def test_a_long_reply_is_searched_for_an_echo_in_linear_time() -> None:
    """Search 20,000 lines without it; once more than two seconds: other sessions wait meanwhile."""
    text = "\n".join(f" description d{number}" for number in range(20_000)) + "\n<leaf01>"
    began = time.process_time()
    assert framing.after_echo(text, RUNNING.decode(), "<leaf01>") is None
    assert time.process_time() - began < 1


# --- what is quoted -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Info: one\n[~leaf01]", "[~leaf01]"),
        ("Info: one\n[~leaf01]peer S password cipher canary", "[~leaf01]"),
        ("Info: one\n[~leaf01]\npeer S password cip\nher canary", "[~leaf01]"),
        ("Info: one\nher canary", "Info: one"),
        ("", ""),
    ],
)
def test_no_part_of_what_was_sent_is_quoted(text: str, last: str) -> None:
    assert framing.last_line(text, "peer S password cipher canary") == last
