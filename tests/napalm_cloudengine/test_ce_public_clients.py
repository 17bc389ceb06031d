"""Unmodified public clients against the emulated command line: Netmiko and scrapli.

They were written for switches, not for this project: they wait for a real switch's output.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from netmiko import ConnectHandler
from netmiko.exceptions import ConfigInvalidException
from scrapli import AuthOptions, Cli

from rocefort.emulator.cli.dialogue import CliReply
from rocefort.emulator.cli.session import CliSession

Start = Callable[..., Any]
USER, PASSWORD = "netops", "canary-Pa55word"
CHANGE = ["interface 100GE1/0/1", " mtu 9216"]


@pytest.fixture
def emulated(bench: Start) -> Any:
    return bench()


@pytest.fixture
def netmiko(emulated: Any) -> Iterator[Any]:
    with ConnectHandler(
        device_type="huawei_vrpv8",
        host="127.0.0.1",
        port=emulated.options()["port"],
        username=USER,
        password=PASSWORD,
        ssh_strict=True,
        alt_host_keys=True,
        alt_key_file=emulated.options()["ssh_known_hosts"],
    ) as connection:
        yield connection
    emulated.wait(lambda: not emulated.switch.logins)


@pytest.fixture
def scrapli(emulated: Any) -> Iterator[Cli]:
    with Cli(
        "127.0.0.1",
        port=emulated.options()["port"],
        definition_file_or_name="huawei_vrp",
        auth_options=AuthOptions(username=USER, password=PASSWORD),
    ) as connection:
        yield connection


# What each sends in a session, Enter alone as "": recorded from Netmiko 4.8.0 and scrapli 2026.10
# (whose definition has backslashes where an older one had line feeds: the switch refuses the line).
# tests/lab/cli/test_terminal.py types Netmiko's, and an older scrapli's, byte for byte.
RECORDED = {
    "netmiko": ["", "", "screen-length 0 temporary", "", "display version", "", "system-view", ""],
    "scrapli": [r"screen-width 255\ny\n\n"],
}


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that come in at the emulated switch, in their order."""
    lines: list[str] = []
    real = CliSession.handle

    def handle(session: CliSession, line: str) -> CliReply:
        lines.append(line.strip())
        return real(session, line)

    monkeypatch.setattr(CliSession, "handle", handle)
    return lines


def test_netmiko_sends_what_was_recorded(heard: list[str], netmiko: Any) -> None:
    netmiko.send_command("display version")
    netmiko.config_mode()
    assert heard == RECORDED["netmiko"]


def test_scrapli_sends_what_was_recorded(heard: list[str], scrapli: Cli) -> None:
    assert scrapli.get_prompt().result == "<leaf01>"
    assert [line for line in heard if line] == RECORDED["scrapli"]  # how many Enters: as it goes


def test_netmiko_reads(netmiko: Any) -> None:
    assert netmiko.find_prompt() == "<leaf01>"
    text = netmiko.send_command("display current-configuration")
    assert text.splitlines()[2:4] == ["#", "sysname leaf01"]
    assert text.splitlines()[-1] == "return"
    assert netmiko.send_command("display current-configuration | include mtu").split() == [
        "mtu",
        "9000",
        "mtu",
        "9216",
    ]


def test_netmiko_configures_commits_and_saves(emulated: Any, netmiko: Any) -> None:
    reply = netmiko.send_config_set(CHANGE, exit_config_mode=False)
    assert "[*leaf01-100GE1/0/1]" in reply
    assert emulated.switch.running == emulated.before
    netmiko.commit()
    netmiko.exit_config_mode()
    assert netmiko.find_prompt() == "<leaf01>"
    assert emulated.switch.saved == emulated.before != emulated.switch.running
    shown = netmiko.send_command("display current-configuration interface 100GE1/0/1")
    assert " mtu 9216" in shown.splitlines()
    assert [point.user for point in emulated.switch.points] == [USER]
    netmiko.save_config()
    emulated.wait(lambda: emulated.switch.saved == emulated.switch.running)


def test_netmiko_sees_an_error_where_it_is_told_to_look(emulated: Any, netmiko: Any) -> None:
    with pytest.raises(ConfigInvalidException, match="nonsense"):
        netmiko.send_config_set([*CHANGE, "nonsense"], error_pattern="Error:")
    netmiko.write_channel("\nclear configuration candidate\nreturn\n")
    assert emulated.switch.running == emulated.before


def test_scrapli_reads(scrapli: Cli) -> None:
    text = scrapli.send_input(input_="display current-configuration").result
    assert text.splitlines()[2:4] == ["#", "sysname leaf01"]
    assert re.search(r"\breturn$", text)
    assert scrapli.get_prompt().result == "<leaf01>"


def test_scrapli_configures_and_commits(emulated: Any, scrapli: Cli) -> None:
    sent = scrapli.send_inputs(inputs=[*CHANGE, "commit"], requested_mode="configuration")
    assert sent.failed is False
    assert emulated.switch.running != emulated.before
    scrapli.enter_mode(requested_mode="privileged_exec")
    assert scrapli.get_prompt().result == "<leaf01>"


def test_scrapli_sees_an_error(emulated: Any, scrapli: Cli) -> None:
    sent = scrapli.send_inputs(inputs=[*CHANGE, "nonsense"], requested_mode="configuration")
    # its own way out, `return`, would wait for ever at the question about the candidate
    scrapli.send_input(input_="clear configuration candidate", requested_mode="configuration")
    assert sent.failed is True
    assert "Error: Unrecognized command found at '^' position." in sent.result
    assert emulated.switch.running == emulated.before
