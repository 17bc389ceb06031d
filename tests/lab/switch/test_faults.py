"""Faults by name: each has the effect of the table, and can be written in one line of text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncssh
import pytest

from rocefort.base.errors import BadInput
from rocefort.emulator.cli.server import LabServer
from rocefort.emulator.switch.personality import (
    FAULTS,
    NEEDS_LINE,
    LineFault,
    Personality,
    read_fault,
)
from rocefort.emulator.switch.switch import EmulatedSwitch

if TYPE_CHECKING:
    OpenTalk = Callable[[EmulatedSwitch], Any]  # a Talk of tests/lab/conftest.py
    MakeSwitch = Callable[..., EmulatedSwitch]

MTU = ("system-view", "interface 100GE1/0/1", "mtu 9100")
UNRECOGNIZED = "Error: Unrecognized command found at '^' position."
QUESTION = "Warning: This operation may affect an unexpected service. Proceed? [Y/N]:"


def mtu_of(switch: EmulatedSwitch) -> str:
    """Return the MTU line of the first port, as running."""
    port = next(line for line in switch.running if line.text == "interface 100GE1/0/1")
    return next(line.text for line in port.children if line.text.startswith("mtu"))


@pytest.fixture
def broken(make_switch: MakeSwitch, open_talk: OpenTalk) -> Callable[[str], Any]:
    """Return a talk with a switch that has one fault."""

    def start(fault: str) -> Any:
        faults = (read_fault(f"leaf01:{fault}")[1],)
        return open_talk(make_switch(faults=faults, personality=Personality("survives")))

    return start


Broken = Callable[[str], Any]


@pytest.mark.parametrize(
    ("text", "host", "fault"),
    [
        ("leaf03:hang@commit", "leaf03", LineFault("hang", "commit")),
        ("spine01:full-flash", "spine01", LineFault("full-flash")),
        ("a:refuse-line@dcb pfc buffer 4", "a", LineFault("refuse-line", "dcb pfc buffer 4")),
        ("a:drop-reply@commit trial*1", "a", LineFault("drop-reply", "commit trial", 1)),
        ("a:refuse-login*2", "a", LineFault("refuse-login", "", 2)),
        ("a:refuse-line@peer 10.0.0.1:x@y", "a", LineFault("refuse-line", "peer 10.0.0.1:x@y")),
    ],
)
def test_a_fault_is_ordered_in_one_line(text: str, host: str, fault: LineFault) -> None:
    assert read_fault(text) == (host, fault)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("leaf03", "'leaf03' is no fault; write HOST:FAULT or HOST:FAULT@LINE"),
        (":hang@x", "':hang@x' is no fault"),
        ("leaf03:fire", "no fault is called 'fire'; known here: drop-after, drop-line"),
        ("leaf03:hang", "hang needs a part of a line; add it behind @"),
        ("leaf03:full-flash@save", "full-flash takes no line; remove @ and the text behind it"),
        ("leaf03:expire-early@soon", "expire-early takes seconds, not 'soon'"),
        (
            "leaf03:hang@commit*0",
            "a fault that strikes 0 times is none; write *1 or more, or no * for one that strikes "
            "always",
        ),
    ],
)
def test_an_order_that_is_none_is_one_clear_error(text: str, what: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_fault(text)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_fault_has_a_sentence_and_a_test_here() -> None:
    source = Path(__file__).read_text()
    for name, sentence in FAULTS.items():
        assert sentence
        assert f'"{name}' in source.partition("# each fault")[2], name
    assert set(NEEDS_LINE) <= set(FAULTS)


def test_a_fault_that_strikes_so_often_strikes_no_more(broken: Broken) -> None:
    talk = broken("fail-commit*1")
    assert talk(*MTU, "commit") == "Error: Failed to generate committed config."
    assert talk("commit") == ""
    assert mtu_of(talk.session.switch) == "mtu 9100"


# each fault


def test_refused_lines(broken: Broken) -> None:
    talk = broken("refuse-line@mtu 9100")
    assert talk(*MTU).endswith(UNRECOGNIZED)
    assert talk("mt 9100").endswith(UNRECOGNIZED), "also when it is shortened"
    assert talk("mtu 9200") == ""


def test_unknown_questions(broken: Broken) -> None:
    talk = broken("unknown-question@lldp")
    assert talk("system-view", "lldp enable") == QUESTION
    assert talk("n", "display configuration candidate changes") == ""
    assert talk("lldp enable", "y") == ""
    assert talk.prompt == "[*leaf01]"


def test_commits_that_fail_leave_the_candidate(broken: Broken) -> None:
    talk = broken("fail-commit")
    assert talk(*MTU, "commit trial") == "Error: Failed to generate committed config."
    assert talk.prompt == "[*leaf01-100GE1/0/1]"
    assert talk.session.switch.trial is None
    assert not talk.session.switch.points


def test_lines_that_are_never_answered(broken: Broken) -> None:
    talk = broken("hang@mtu")
    talk(*MTU[:2])
    assert talk.session.handle("mtu 9100").hangs
    assert talk.prompt == "[~leaf01-100GE1/0/1]", "and not done"


def test_commits_that_are_never_answered(broken: Broken) -> None:
    talk = broken("hang-on-commit")
    talk(*MTU, "return")
    assert talk.session.handle("y").hangs, "also those on leaving a view"
    assert mtu_of(talk.session.switch) == "mtu 9000"


@pytest.mark.parametrize(
    ("fault", "answered", "done"),
    [
        ("drop-line@commit", "", "mtu 9000"),
        ("drop-reply@commit", "", "mtu 9100"),
        ("drop-after@commit", "Info: The system enters", "mtu 9100"),
        ("drop-session-on-commit", "", "mtu 9100"),
    ],
)
def test_sessions_that_end_before_instead_of_and_after_a_reply(
    broken: Broken, fault: str, answered: str, done: str
) -> None:
    talk = broken(fault)
    talk(*MTU)
    reply = talk.session.handle("commit trial 60")
    assert reply.closes
    assert reply.text[: len("Info: The system enters")] == answered
    talk.session.close()
    assert mtu_of(talk.session.switch) == done


def test_lies_of_a_commit(broken: Broken) -> None:
    talk = broken("lie-ok@commit")
    assert talk(*MTU, "commit trial 60").endswith("not confirmed in 60 seconds.")
    assert talk.prompt == "[~leaf01-100GE1/0/1]"
    assert mtu_of(talk.session.switch) == "mtu 9000"
    assert talk("display configuration trial status").startswith("Trial status: INACTIVE")


def test_lies_of_a_line(broken: Broken) -> None:
    talk = broken("lie-ok@mtu")
    assert talk(*MTU) == ""
    assert talk.prompt == "[~leaf01-100GE1/0/1]"
    assert talk("description x", "commit") == ""
    assert mtu_of(talk.session.switch) == "mtu 9000"


@pytest.mark.parametrize(("fault", "seconds"), [("expire-early", 1), ("expire-early@5", 5)])
def test_trials_that_end_early(broken: Broken, clock: Any, fault: str, seconds: int) -> None:
    talk = broken(fault)
    assert talk(*MTU, "commit trial 600").endswith("not confirmed in 600 seconds.")
    clock.seconds += seconds - 0.5
    assert talk("display configuration trial status").startswith("Trial status: ACTIVE")
    clock.seconds += 0.5
    assert talk("commit") == ""
    assert mtu_of(talk.session.switch) == "mtu 9000"


def test_trials_that_end_as_they_are_confirmed(broken: Broken) -> None:
    talk = broken("expire-before-commit")
    talk(*MTU, "commit trial", "commit")
    assert mtu_of(talk.session.switch) == "mtu 9000"


def test_a_full_flash_takes_neither_commit_nor_save(broken: Broken) -> None:
    talk = broken("full-flash")
    full = "Error: The flash memory has no space left."
    assert talk(*MTU, "commit") == full
    assert talk.prompt == "[*leaf01-100GE1/0/1]"
    assert talk("return", "n", "save", "y") == full
    assert talk.session.switch.saved == talk.session.switch.running


def test_a_wrong_host_key_is_not_the_one_on_record(make_switch: MakeSwitch, tmp_path: Path) -> None:
    asyncio.run(wrong_host_key(make_switch, tmp_path))


async def wrong_host_key(make_switch: MakeSwitch, tmp_path: Path) -> None:
    """One switch shows another key than the one of known_hosts."""
    switches = {
        "leaf01": make_switch(faults=(LineFault("wrong-host-key"),)),
        "leaf02": make_switch(name="leaf02"),
    }
    async with LabServer(switches, tmp_path) as lab:
        reach = {
            "username": lab.user,
            "password": lab.password,
            "known_hosts": str(lab.known_hosts),
            "client_keys": None,
            "config": None,
        }
        with pytest.raises(asyncssh.HostKeyNotVerifiable):
            await asyncssh.connect("127.0.0.1", lab.ports["leaf01"], **reach)
        async with asyncssh.connect("127.0.0.1", lab.ports["leaf02"], **reach) as connection:
            assert "YunShan" in str((await connection.run("display version")).stdout)


@pytest.mark.parametrize(
    ("fault", "line"),
    [("foreign-candidate", "vlan batch 4094"), ("foreign-candidate@bfd", "bfd")],
)
def test_lines_of_somebody_else_are_there_on_arrival(broken: Broken, fault: str, line: str) -> None:
    talk = broken(fault)
    talk("system-view")
    assert talk.prompt == "[*leaf01]"
    assert line in talk("display configuration candidate")
    assert talk("clear configuration candidate", "display configuration candidate") == ""
    talk("lldp enable", "commit")
    assert "bfd" not in {top.text for top in talk.session.switch.running}


def test_nobody_gets_a_new_session(make_switch: MakeSwitch, tmp_path: Path) -> None:
    asyncio.run(refused_login(make_switch, tmp_path))


async def refused_login(make_switch: MakeSwitch, tmp_path: Path) -> None:
    """The SSH connection opens, without a command line."""
    switch = make_switch(faults=(LineFault("refuse-login"),))
    async with (
        LabServer({"leaf01": switch}, tmp_path) as lab,
        asyncssh.connect(
            "127.0.0.1",
            lab.ports["leaf01"],
            username=lab.user,
            password=lab.password,
            known_hosts=str(lab.known_hosts),
            client_keys=None,
            config=None,
        ) as connection,
    ):
        assert (await connection.run("display version")).stdout == ""
    assert not switch.logins
