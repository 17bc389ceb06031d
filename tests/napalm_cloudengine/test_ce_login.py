"""Connection and login: addresses, host keys, users; and secrets on terminals and in logs."""

import inspect
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from napalm import get_network_driver
from napalm.base.base import NetworkDriver
from napalm.base.exceptions import (
    ConnectAuthError,
    ConnectionClosedException,
    ConnectionException,
)

import napalm_cloudengine
from napalm_cloudengine import CloudEngineDriver
from napalm_cloudengine.errors import HostKeyError, LineRefusedError

Play = Callable[..., Any]

ENTER = ("system-view", "Enter system view, return user view with return command.\r\n[~HUAWEI]")
CLEAR = ("clear configuration candidate", "[~HUAWEI]")


# --- finding and opening ----------------------------------------------------------------------


def test_napalm_finds_exactly_one_driver() -> None:
    assert get_network_driver("cloudengine") is CloudEngineDriver
    shown = [
        thing
        for _, thing in inspect.getmembers(napalm_cloudengine, inspect.isclass)
        if issubclass(thing, NetworkDriver)
    ]
    assert shown == [CloudEngineDriver]


def test_a_banner_with_brackets_is_not_taken_for_the_prompt(play: Play) -> None:
    banner = "Authorized users only [ask <noc>]\r\nInfo: 1 user [VTY]> online\r\n"
    switch = play([("display clock", "12:00\r\n<HUAWEI>")], banner + "<HUAWEI>")
    with switch.driver() as driver:
        assert driver.is_alive() == {"is_alive": True}
        assert driver.cli(["display clock"]) == {"display clock": "12:00"}
    assert driver.is_alive() == {"is_alive": False}
    assert switch.heard[:2] == ["screen-length 0 temporary", "display clock"]


@pytest.mark.parametrize(
    "question",
    [
        "Warning: The initial password poses security risks.\r\nChange now? [Y/N]:",
        "Warning: There are security risks in the configuration file. Continue? [Y/N]:",
    ],
)
def test_questions_at_the_login_are_turned_down(play: Play, question: str) -> None:
    switch = play(greeting="\r\n" + question)
    switch.steps = [("N", "\r\n<HUAWEI>"), *switch.steps]
    with switch.driver():
        pass
    assert switch.heard[:2] == ["N", "screen-length 0 temporary"]


def test_a_wrong_password_is_one_sentence_without_the_password(play: Play) -> None:
    driver = play().driver()
    driver.password = "canary-wrong"
    with pytest.raises(ConnectAuthError, match="refuses the login of 'netops'") as caught:
        driver.open()
    assert "canary" not in str(caught.value)


def test_an_unknown_host_key_is_refused_and_shown(play: Play, tmp_path: Path) -> None:
    switch = play()
    nobody = tmp_path / "empty"
    nobody.touch()
    fingerprint = switch.key.get_fingerprint()
    with pytest.raises(HostKeyError, match="unknown host key ssh-ed25519") as caught:
        switch.driver(ssh_known_hosts=str(nobody)).open()
    assert fingerprint in str(caught.value)
    assert nobody.read_text() == ""
    assert switch.heard == []


def test_a_changed_host_key_is_refused(play: Play) -> None:
    switch = play()
    other = switch.know(asyncssh.generate_private_key("ssh-ed25519"))
    with pytest.raises(HostKeyError, match="the host key changed"):
        switch.driver(alt_key_file=other, ssh_known_hosts=None).open()


def test_the_users_own_known_hosts_count_where_no_others_are_given(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = play()
    home = tmp_path / "home" / ".ssh"
    home.mkdir(parents=True)
    (home / "known_hosts").write_text(Path(switch.known_hosts).read_text())
    monkeypatch.setenv("HOME", str(home.parent))
    nobody = tmp_path / "empty"
    nobody.touch()
    with pytest.raises(HostKeyError, match="unknown host key ssh-ed25519"):
        switch.driver(ssh_known_hosts=str(nobody)).open()
    with switch.driver(ssh_known_hosts=None) as driver:
        assert driver.is_alive() == {"is_alive": True}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ssh_strict": False}, "host keys are always checked"),
        ({"answers": {"(": "Y"}}, "not a regular expression"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        CloudEngineDriver("192.0.2.1", "netops", "x", optional_args=options)


def test_nobody_there(play: Play) -> None:
    switch = play()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ConnectionException, match=f"127.0.0.1:{port}: no connection"):
        switch.driver(port=port).open()


def test_a_driver_that_is_not_open_says_so(play: Play) -> None:
    with pytest.raises(ConnectionClosedException, match="the connection is not open"):
        play().driver().get_config()


# --- odd terminals ----------------------------------------------------------------------------


def test_pages_are_turned_and_leave_no_trace(play: Play) -> None:
    first = "#\r\nsysname HUAWEI\r\n  ---- More ----"
    rest = "\x1b[16D                \x1b[16D interface 100GE1/0/1\r\n#\r\nreturn\r\n<HUAWEI>"
    switch = play([("display current-configuration", first), (" ", rest)])
    with switch.driver() as driver:
        text = driver.get_config(retrieve="running")["running"]
    assert text == "#\nsysname HUAWEI\n interface 100GE1/0/1\n#\nreturn"


def test_an_echo_broken_by_the_terminal_is_no_answer(play: Play) -> None:
    line = "description " + "Error: " * 40 + "end"
    switch = play([ENTER, (line, "[*HUAWEI]")])
    switch.wrap_at = 60
    with switch.driver() as driver:
        driver.load_merge_candidate(config=line)


def test_a_description_that_looks_like_a_question_or_a_prompt_is_neither(play: Play) -> None:
    lines = ["description Continue [Y/N]:", "description <HUAWEI>"]
    switch = play([ENTER, *((line, "[*HUAWEI]") for line in lines)])
    with switch.driver() as driver:
        driver.load_merge_candidate(config="\n".join(lines))
        assert switch.heard[-2:] == lines


def test_a_line_in_brackets_at_the_end_of_what_came_so_far_is_no_prompt(play: Play) -> None:
    pause = "\1"
    reply = f"Peers:\r\n<leaf02>{pause}\r\n[leaf03]{pause} (down)\r\n<HUAWEI>"
    switch = play([("display peers", reply)])
    with switch.driver() as driver:
        assert driver.cli(["display peers"]) == {
            "display peers": "Peers:\n<leaf02>\n[leaf03] (down)"
        }


# --- secrets ----------------------------------------------------------------------------------


def test_no_secret_reaches_a_log_or_an_exception(
    play: Play, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    line = "peer SPINE password cipher canary-Key"
    switch = play([ENTER, (line, f"Error: Bad key in {line}\r\n[~HUAWEI]"), CLEAR])
    log = tmp_path / "session.log"
    with (
        caplog.at_level(logging.DEBUG),
        switch.driver(session_log=str(log)) as driver,
        pytest.raises(LineRefusedError) as caught,
    ):
        driver.load_merge_candidate(config=line)
    assert "peer SPINE password cipher <removed>" in str(caught.value)
    assert "Bad key in" in log.read_text()
    for told in (str(caught.value), repr(caught.value), caplog.text, log.read_text()):
        assert "canary" not in told
    assert "canary" not in repr(vars(caught.value))


def test_a_sanitized_configuration_has_no_secrets(play: Play) -> None:
    text = "local-user a password irreversible-cipher $1d$canary;&(SUt9$\r\nsysname HUAWEI\r\nreturn\r\n"
    answer = f"{text}<HUAWEI>"
    switch = play([("display current-configuration", answer)] * 2)
    with switch.driver() as driver:
        assert "canary" in driver.get_config(retrieve="running")["running"]
        clean = driver.get_config(retrieve="running", sanitized=True)["running"]
    assert clean == "local-user a password irreversible-cipher <removed>\nsysname HUAWEI\nreturn"
