"""Observed behaviour of stock Netmiko that this driver replaces.

The counterpart of test_ce_stock_failures.py, as far as its public client is installed with this
project: when Netmiko fixes one of these, a test here fails.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from napalm.base.exceptions import CommandErrorException
from netmiko import ConnectHandler

from napalm_cloudengine.errors import HostKeyError, LineRefusedError, QuestionRefusedError
from rocefort.emulator.switch.personality import LineFault

Start = Callable[..., Any]
USER, PASSWORD = "netops", "canary-Pa55word"
MTU = ["interface 100GE1/0/1", "mtu 9216"]


@pytest.fixture
def emulated(bench: Start) -> Any:
    return bench()


@pytest.fixture
def stock(emulated: Any) -> Iterator[Any]:
    """Netmiko unmodified, with only a name and a password."""
    connection = ConnectHandler(
        device_type="huawei_vrpv8",
        host="127.0.0.1",
        port=emulated.options()["port"],
        username=USER,
        password=PASSWORD,
    )
    yield connection
    connection.remote_conn_pre.close()
    emulated.wait(lambda: not emulated.switch.logins)


def pending(emulated: Any) -> list[str]:
    return [
        line for candidate in emulated.switch.candidates.values() for _, line in candidate.typed
    ]


def test_an_unknown_host_key_is_taken(emulated: Any, stock: Any, tmp_path: Any) -> None:
    assert stock.find_prompt() == "<leaf01>"
    (tmp_path / "empty").touch()
    with pytest.raises(HostKeyError):
        emulated.driver(ssh_known_hosts=str(tmp_path / "empty")).open()


def test_a_refused_line_is_passed_over_and_the_rest_is_loaded(emulated: Any, stock: Any) -> None:
    reply = stock.send_config_set(["vlan batch 9999", *MTU], exit_config_mode=False)
    assert "Error: Wrong parameter found" in reply
    assert pending(emulated) == ["mtu 9216"]
    stock.write_channel("clear configuration candidate\nreturn\n")
    emulated.wait(lambda: not pending(emulated))
    with (
        emulated.driver() as driver,
        pytest.raises(LineRefusedError, match="line 1 'vlan batch 9999'"),
    ):
        driver.load_merge_candidate(config="\n".join(["vlan batch 9999", *MTU]))
    assert pending(emulated) == []


def test_a_question_takes_the_next_line_for_its_answer(emulated: Any, stock: Any) -> None:
    lines = ["vlan batch 20", "vlan batch 30", *MTU]
    emulated.switch.faults = (LineFault("unknown-question", "vlan batch 20"),)
    stock.send_config_set(lines, exit_config_mode=False, cmd_verify=False)
    assert "vlan batch 30" not in pending(emulated), "it was the answer"
    stock.remote_conn_pre.close()
    emulated.wait(lambda: not emulated.switch.logins)
    with emulated.driver() as driver, pytest.raises(QuestionRefusedError, match="'vlan batch 20'"):
        driver.load_merge_candidate(config="\n".join(lines))
    assert pending(emulated) == []


def test_asking_where_one_stands_takes_two_seconds(emulated: Any, stock: Any) -> None:
    began = time.monotonic()
    assert stock.check_config_mode() is False
    assert time.monotonic() - began > 1.5
    with emulated.driver() as driver:
        began = time.monotonic()
        assert driver._ssh.check_config_mode() is False
        assert time.monotonic() - began < 0.5


class Sent(Exception):  # noqa: N818  # it is no error
    """A line that would have been sent."""


def test_commit_comment_sends_words_that_the_switch_does_not_have(
    emulated: Any, stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = stock.write_channel

    def write(out: str) -> None:
        if out.startswith("commit"):
            raise Sent(out.strip())
        real(out)

    monkeypatch.setattr(stock, "write_channel", write)
    with pytest.raises(Sent, match=r'^commit comment "why"$') as caught:
        stock.commit(comment="why")
    with emulated.driver() as driver:
        driver.cli(["system-view", "vlan batch 20"])
        with pytest.raises(CommandErrorException, match=r"Error: .* found at '\^' position"):
            driver.cli([str(caught.value)])
        driver.cli(["clear configuration candidate"])
    assert emulated.switch.points == ()


def test_the_log_holds_what_was_typed(
    emulated: Any, stock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    line = "ntp authentication-keyid 1 authentication-mode hmac-sha256 cipher canary-Key12"
    with caplog.at_level(logging.DEBUG):
        stock.write_channel(f"{line}\n")
    assert "canary-Key12" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.DEBUG), emulated.driver() as driver:
        driver.load_merge_candidate(config=line)
    assert "canary" not in caplog.text
