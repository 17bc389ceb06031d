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

from rocefort.lab.cli.replies import CliReply
from rocefort.lab.cli.session import CliSession

Start = Callable[..., Any]
USER, PASSWORD = "netops", "canary-Pa55word"
CHANGE = ["interface 100GE1/0/1", " mtu 9216"]


@pytest.fixture
def made(bench: Start) -> Any:
    return bench()


@pytest.fixture
def netmiko(made: Any) -> Iterator[Any]:
    with ConnectHandler(
        device_type="huawei_vrpv8",
        host="127.0.0.1",
        port=made.options()["port"],
        username=USER,
        password=PASSWORD,
        ssh_strict=True,
        alt_host_keys=True,
        alt_key_file=made.options()["ssh_known_hosts"],
    ) as connection:
        yield connection
    made.wait(lambda: not made.switch.logins)


@pytest.fixture
def scrapli(made: Any) -> Iterator[Cli]:
    with Cli(
        "127.0.0.1",
        port=made.options()["port"],
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


def test_netmiko_configures_commits_and_saves(made: Any, netmiko: Any) -> None:
    said = netmiko.send_config_set(CHANGE, exit_config_mode=False)
    assert "[*leaf01-100GE1/0/1]" in said
    assert made.switch.running == made.before
    netmiko.commit()
    netmiko.exit_config_mode()
    assert netmiko.find_prompt() == "<leaf01>"
    assert made.switch.saved == made.before != made.switch.running
    shown = netmiko.send_command("display current-configuration interface 100GE1/0/1")
    assert " mtu 9216" in shown.splitlines()
    assert [point.user for point in made.switch.points] == [USER]
    netmiko.save_config()
    made.wait(lambda: made.switch.saved == made.switch.running)


def test_netmiko_sees_an_error_where_it_is_told_to_look(made: Any, netmiko: Any) -> None:
    with pytest.raises(ConfigInvalidException, match="nonsense"):
        netmiko.send_config_set([*CHANGE, "nonsense"], error_pattern="Error:")
    netmiko.write_channel("\nclear configuration candidate\nreturn\n")
    assert made.switch.running == made.before


def test_scrapli_reads(scrapli: Cli) -> None:
    text = scrapli.send_input(input_="display current-configuration").result
    assert text.splitlines()[2:4] == ["#", "sysname leaf01"]
    assert re.search(r"\breturn$", text)
    assert scrapli.get_prompt().result == "<leaf01>"


def test_scrapli_configures_and_commits(made: Any, scrapli: Cli) -> None:
    sent = scrapli.send_inputs(inputs=[*CHANGE, "commit"], requested_mode="configuration")
    assert sent.failed is False
    assert made.switch.running != made.before
    scrapli.enter_mode(requested_mode="privileged_exec")
    assert scrapli.get_prompt().result == "<leaf01>"


def test_scrapli_sees_an_error(made: Any, scrapli: Cli) -> None:
    sent = scrapli.send_inputs(inputs=[*CHANGE, "nonsense"], requested_mode="configuration")
    # its own way out, `return`, would wait for ever at the question about the candidate
    scrapli.send_input(input_="clear configuration candidate", requested_mode="configuration")
    assert sent.failed is True
    assert "Error: Unrecognized command found at '^' position." in sent.result
    assert made.switch.running == made.before
