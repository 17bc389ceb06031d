"""Terminal over real SSH: pages, keys, help, and the byte sequences that public clients send."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from rocefort.emulator.cli.server import LabServer
from rocefort.emulator.cli.terminal import ERASE, MORE
from rocefort.emulator.switch.personality import LineFault
from rocefort.emulator.switch.switch import EmulatedSwitch

MakeSwitch = Callable[..., EmulatedSwitch]
LENGTH = "Info: The configuration takes effect on the current user terminal interface only.\r\n"
WIDTH = "Warning: This command will change the default screen width. Continue? [Y/N]:"
ENTERED = "Enter system view, return user view with return command.\r\n"
LEAVE = "commit them before exiting? [Y(yes)/N(no)/C(cancel)]:"


class Keys:
    """Raw bytes to and from one login."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self.process = process

    async def until(self, end: str) -> str:
        """Return everything up to and including a text."""
        return (await self.process.stdout.readuntil(end.encode())).decode()

    async def __call__(self, keys: str | bytes, end: str) -> str:
        """Press keys; returns the output up to a text."""
        self.process.stdin.write(keys.encode() if isinstance(keys, str) else keys)
        return await asyncio.wait_for(self.until(end), 5)

    async def rest(self) -> str:
        """Return the output until the session ends."""
        return (await asyncio.wait_for(self.process.stdout.read(), 5)).decode()


Work = Callable[[Keys], Awaitable[None]]


@pytest.fixture
def typing(switch: EmulatedSwitch, tmp_path: Path) -> Callable[[Work], EmulatedSwitch]:
    """Log in to a switch, work there, and return the switch."""

    def work_on(work: Work) -> EmulatedSwitch:
        asyncio.run(logged_in(switch, tmp_path, work))
        return switch

    return work_on


Typing = Callable[[Work], EmulatedSwitch]


def reach(lab: LabServer, name: str = "leaf01") -> Any:
    """Open a connection that accepts only the lab's host keys."""
    return asyncssh.connect(
        "127.0.0.1",
        lab.ports[name],
        username=lab.user,
        password=lab.password,
        known_hosts=str(lab.known_hosts),
        client_keys=None,
        config=None,
    )


async def logged_in(switch: EmulatedSwitch, folder: Path, work: Work) -> None:
    """Work in one shell of one switch."""
    async with LabServer({"leaf01": switch}, folder) as lab, reach(lab) as connection:
        keys = await shell(connection)
        await keys.until("<leaf01>")
        await work(keys)


async def shell(connection: Any) -> Keys:
    """Open a terminal of 80 by 10: the switch's screen length is its own."""
    return Keys(
        await connection.create_process(term_type="vt100", term_size=(80, 10), encoding=None)
    )


WHOLE = [  # display current-configuration without its heading
    "#", "sysname leaf01", "#", "interface 100GE1/0/1", " description to spine01",
    " undo portswitch", " mtu 9000", " ip address 10.1.0.1 255.255.255.254", "#",
    "interface 100GE1/0/2", "#", "interface LoopBack0", " ip address 10.0.0.11 255.255.255.255",
    "#", "bgp 65101", " peer 10.1.0.0 as-number 65001", " #", " ipv4-family unicast",
    "  peer 10.1.0.0 enable", "#", "return",
]  # fmt: skip
SHOW = "display current-configuration | exclude ^(!| #)\r"
ROWS = [row for row in WHOLE if row != " #"]


def test_output_stops_after_every_screen(typing: Typing) -> None:
    async def work(keys: Keys) -> None:
        assert await keys("screen-length 8 temporary\r", ">") == (
            f"screen-length 8 temporary\r\n{LENGTH}<leaf01>"
        )
        page = await keys(SHOW, MORE)
        assert page.split("\r\n")[1:] == [*ROWS[:8], MORE], "not the 10 lines of the window"
        assert await keys(" ", MORE) == ERASE + "".join(f"{r}\r\n" for r in ROWS[8:16]) + MORE
        assert await keys("\r\n", MORE) == f"{ERASE}{ROWS[16]}\r\n{MORE}", "one line"
        assert await keys("x\0 ", ">") == (
            ERASE + "".join(f"{row}\r\n" for row in ROWS[17:]) + "<leaf01>"
        ), "other keys mean nothing; at the end comes the prompt"

    typing(work)


@pytest.mark.parametrize("key", ["q", "Q", "\x03"])
def test_a_page_can_be_the_last(typing: Typing, key: str) -> None:
    async def work(keys: Keys) -> None:
        await keys("screen-length 3 temporary\r", ">")
        await keys(SHOW, MORE)
        assert await keys(key, ">") == f"{ERASE}<leaf01>"
        assert "leaf01" in await keys("display version | include nothing\r", ">")

    typing(work)


def test_without_a_word_a_screen_has_24_lines_and_with_0_no_end(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    vlans = "".join(f"vlan {number}\n description v{number}\n#\n" for number in range(2, 40))
    switch = make_switch(startup=f"sysname leaf01\n#\n{vlans}")

    async def work(keys: Keys) -> None:
        page = await keys("display current-configuration\r", MORE)
        assert len(page.split("\r\n")) == 1 + 24 + 1
        await keys("q", ">")
        await keys("screen-length 0 temporary\r", ">")
        whole = await keys("display current-configuration\r", "<leaf01>")
        assert MORE not in whole
        assert " description v39\r\n" in whole
        await keys("undo screen-length temporary\r", ">")
        await keys("display current-configuration\r", MORE)
        await keys("\x03", ">")
        help_text = await keys("display configuration ?", "<leaf01>display configuration ")
        assert "\r\n  candidate\r\n" not in help_text, "the user view does not know it"
        assert "\r\n  commit\r\n" in help_text

    asyncio.run(logged_in(switch, tmp_path, work))


def test_keys_of_a_line(typing: Typing) -> None:
    async def work(keys: Keys) -> None:
        assert await keys(b"\0s\0ys\0\r\0\n", "]") == f"sys\r\n{ENTERED}[~leaf01]"
        assert await keys("sysname\x1b[A\x1b[D x\t1\r", "]") == "sysname x1\r\n[*leaf01]"
        assert await keys("c ?", "[*leaf01]c ") == (
            "c ?\r\n         ^\r\nError: Ambiguous command found at '^' position.\r\n[*leaf01]c "
        )
        assert await keys("l\x08\x08om t?", "[*leaf01]com t") == (
            "l\x08 \x08\x08 \x08om t?\r\n  trial\r\n[*leaf01]com t"
        )
        assert await keys("\x03", "]") == "\r\n[*leaf01]", "Ctrl-C drops the line"
        assert await keys("interface 100GE1/0/1\r", "1]") == (
            "interface 100GE1/0/1\r\n[*leaf01-100GE1/0/1]"
        )
        assert LEAVE in await keys("mtu\x1a", LEAVE), "Ctrl-Z leaves, after the question"
        assert await keys("no\r", ">") == "no\r\n<leaf01>"
        assert await keys("\x1a", ">") == "\r\n<leaf01>"

    switch = typing(work)
    assert switch.hostname == "leaf01"
    assert not switch.points


def test_keys_while_a_question_is_open(typing: Typing) -> None:
    again = "Error: Please choose 'YES' or 'NO' first before pressing 'Enter'. [Y/N]:"

    async def work(keys: Keys) -> None:
        await keys("system-view\rsysname other\rcommit\rreturn\r", "<other>")
        await keys("save\r", "[Y/N]")
        assert await keys("\x1a", "[Y/N]:") == f"\r\n{again}", "Ctrl-Z is no answer"
        assert await keys("?", "[Y/N]:") == f"?\r\n{again}", "nor is a call for help"
        assert await keys("\x03", ">") == "\r\n<other>", "Ctrl-C drops the question"
        assert await keys("y\r", ">") == (
            "y\r\n       ^\r\nError: Unrecognized command found at '^' position.\r\n<other>"
        ), "no question is open"

    switch = typing(work)
    assert switch.saved != switch.running


def test_bytes_as_netmiko_sends_them(typing: Typing) -> None:
    """The order and the bare Enters are those recorded from its huawei_vrpv8."""

    async def work(keys: Keys) -> None:
        for _ in range(2):
            assert await keys("\n", ">") == "\r\n<leaf01>"
        assert LENGTH in await keys("screen-length 0 temporary\n", "<leaf01>")
        await keys("\n", ">")
        shown = await keys("display current-configuration | include mtu\n", "<leaf01>")
        assert shown.split("\r\n")[1:] == [" mtu 9000", "<leaf01>"]
        await keys("\n", ">")
        assert ENTERED in await keys("system-view\n", "[~leaf01]")
        assert await keys("\n", "]") == "\r\n[~leaf01]"
        await keys("interface 100GE1/0/1\n", "[~leaf01-100GE1/0/1]")
        assert await keys("  mtu 9100\n", "1]") == "  mtu 9100\r\n[*leaf01-100GE1/0/1]"
        await keys("\n", "1]")
        assert await keys("commit\n", "1]") == "commit\r\n[~leaf01-100GE1/0/1]"
        await keys("\n", "1]")
        assert await keys("return\n", ">") == "return\r\n<leaf01>"
        await keys("\n", ">")
        await keys("\n", ">")
        keys.process.stdin.write(b"quit\n")
        assert await keys.rest() == "quit\r\n"

    switch = typing(work)
    assert [point.user for point in switch.points] == ["netops"]
    assert not switch.logins


def test_bytes_as_scrapli_sends_them(typing: Typing) -> None:
    async def work(keys: Keys) -> None:
        await keys("\n", ">")
        assert LENGTH in await keys("screen-length 0 temporary\n", "<leaf01>")
        assert await keys("screen-width 256\n", WIDTH) == f"screen-width 256\r\n{WIDTH}"
        assert await keys("y\n", ">") == "y\r\n<leaf01>"
        await keys("\n", ">")
        assert "CE8851" in await keys("display version\n", "<leaf01>")
        await keys("\n", ">")
        keys.process.stdin.write(b"quit\n\nexit\n")
        assert (await keys.rest()).startswith("quit\r\n")

    assert not typing(work).logins


def test_an_answer_that_is_none_is_asked_for_again(typing: Typing) -> None:
    async def work(keys: Keys) -> None:
        await keys("screen-width 256\r", WIDTH)
        again = "Error: Please choose 'YES' or 'NO' first before pressing 'Enter'. [Y/N]:"
        assert await keys("display version\r", "[Y/N]:") == f"display version\r\n{again}"
        assert await keys("\r", "[Y/N]:") == f"\r\n{again}"
        assert await keys("YES\r", ">") == "YES\r\n<leaf01>"

    typing(work)


def test_a_window_that_changes_its_size_sends_nothing(typing: Typing) -> None:
    async def work(keys: Keys) -> None:
        keys.process.change_terminal_size(200, 5)
        assert await keys("\r", ">") == "\r\n<leaf01>"

    typing(work)


def test_a_session_too_many_a_killed_one_and_an_idle_one(
    make_switch: MakeSwitch, tmp_path: Path, clock: Any
) -> None:
    switch = make_switch(most_sessions=2)

    async def three() -> None:
        async with LabServer({"leaf01": switch}, tmp_path) as lab, reach(lab) as connection:
            first, second = await shell(connection), None
            await first.until("<leaf01>")
            async with reach(lab) as other, reach(lab) as third:
                second = await shell(other)
                await second.until("<leaf01>")
                full = await (await shell(third)).rest()
                assert full == "\r\nAll user interfaces are used, please try later!\r\n"
                await first("kill user-interface vty 1\r", "[Y/N]:")
                await first("y\r", "<leaf01>")
                assert await second.rest() == ""
            await first("system-view\r", "]")
            await first("user-interface vty 0 4\r", "]")
            await first("idle-timeout 0 30\r", "]")
            await first("commit\r", "[~leaf01-ui-vty0-4]")
            clock.seconds += 30
            assert await first.rest() == "", "no input for 30 seconds"

    asyncio.run(three())
    assert not switch.logins


def test_a_fault_after_the_reply_is_seen_with_the_reply(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    switch = make_switch(faults=(LineFault("drop-after", "esn"),))

    async def work(keys: Keys) -> None:
        keys.process.stdin.write(b"display device esn\r")
        output = await keys.rest()
        assert "ESN of slot 1" in output
        assert output.endswith("\r\n<leaf01>"), "it is answered: the prompt is the end of an answer"

    asyncio.run(logged_in(switch, tmp_path, work))
