"""Real clients over real SSH: stock Netmiko, and asyncssh for input that Netmiko never sends."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.servers.ssh_hosts import RdmaHosts
from rocefort.emulator.state.model import ComputedRoutes, EmulatedState
from rocefort.emulator.state.state_faults import Port
from rocefort.emulator.switch.personality import LineFault, Personality
from rocefort.emulator.switch.state_source import PeerState
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

MakeSwitch = Callable[..., EmulatedSwitch]


def second(make_switch: MakeSwitch) -> EmulatedSwitch:
    return make_switch(name="spine01", startup="sysname spine01\nbgp 65001\n")


def connect(lab: LabServer, name: str, **options: Any) -> Any:
    """Open an asyncssh connection that accepts only the lab's host keys."""
    return asyncssh.connect(
        "127.0.0.1",
        lab.ports[name],
        username=lab.user,
        password=options.pop("password", lab.password),
        known_hosts=str(lab.known_hosts),
        client_keys=None,
        config=None,
        **options,
    )


class Shell:
    """Raw characters to and from one login."""

    def __init__(self, process: asyncssh.SSHClientProcess[str]) -> None:
        self.process = process

    async def until(self, text: str) -> str:
        """Return everything up to and including a text."""
        return await self.process.stdout.readuntil(text)

    async def type(self, characters: str, then: str) -> str:
        """Send characters as they are; returns the output up to a text."""
        self.process.stdin.write(characters)
        return await self.until(then)


async def shell_of(lab: LabServer, name: str, work: Callable[[Shell], Awaitable[None]]) -> None:
    """Log in to one switch of a lab and work in its shell."""
    async with lab, connect(lab, name) as connection:
        process = await connection.create_process(term_type="vt100")
        await work(Shell(process))


def test_what_a_terminal_sees(switch: EmulatedSwitch, tmp_path: Path) -> None:
    async def work(shell: Shell) -> None:
        greeting = await shell.until("<leaf01>")
        assert "emulator" in greeting
        assert "nothing has buffers, PFC, ECN or optics" in greeting
        assert await shell.type("\0\r", "<leaf01>") == "\r\n<leaf01>"
        assert await shell.type("system-viewx\x7f\r\n", "[~leaf01]") == (
            "system-viewx\x08 \x08\r\n"
            "Enter system view, return user view with return command.\r\n[~leaf01]"
        )
        assert await shell.type("  sysname  x\n", "[*leaf01]") == "  sysname  x\r\n[*leaf01]"
        assert await shell.type("mtu 1\n", "[*leaf01]") == (
            "mtu 1\r\n         ^\r\nError: Unrecognized command found at '^' position.\r\n[*leaf01]"
        )
        asked = await shell.type("return\n", "[Y(yes)/N(no)/C(cancel)]:")
        assert "Uncommitted configurations found" in asked
        assert await shell.type("n\n", "<leaf01>") == "n\r\n<leaf01>"

    asyncio.run(shell_of(LabServer({"leaf01": switch}, tmp_path), "leaf01", work))


def test_a_trial_over_ssh_expires_by_the_injected_clock(
    switch: EmulatedSwitch, tmp_path: Path, clock: Any
) -> None:
    async def work(shell: Shell) -> None:
        await shell.until("<leaf01>")
        await shell.type("system-view\n", "[~leaf01]")
        await shell.type("sysname changed\n", "[*leaf01]")
        tried = await shell.type("commit trial 60\n", "[~changed]")
        assert "not confirmed in 60 seconds." in tried
        clock.seconds += 60
        assert await shell.type("\n", "]") == "\r\n[~leaf01]"

    asyncio.run(shell_of(LabServer({"leaf01": switch}, tmp_path), "leaf01", work))


def test_a_commit_whose_answer_is_lost_ends_the_session_after_the_deed(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    switch = make_switch(faults=(LineFault("drop-session-on-commit"),))

    async def work(shell: Shell) -> None:
        await shell.until("<leaf01>")
        await shell.type("system-view\n", "[~leaf01]")
        await shell.type("sysname changed\n", "[*leaf01]")
        with pytest.raises(asyncio.IncompleteReadError):
            await shell.type("commit\n", "[~changed]")

    asyncio.run(shell_of(LabServer({"leaf01": switch}, tmp_path), "leaf01", work))
    assert switch.hostname == "changed"
    assert not switch.logins


def test_a_client_that_vanishes_leaves_no_candidate_and_by_option_no_trial(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    switch = make_switch(personality=Personality("dies-with-session"))

    async def work(shell: Shell) -> None:
        await shell.until("<leaf01>")
        await shell.type("system-view\n", "[~leaf01]")
        await shell.type("sysname changed\n", "[*leaf01]")
        await shell.type("commit trial\n", "[~changed]")
        await shell.type("lldp enable\n", "[*changed]")

    asyncio.run(shell_of(LabServer({"leaf01": switch}, tmp_path), "leaf01", work))
    assert (switch.hostname, switch.trial, switch.candidates) == ("leaf01", None, {})


def test_bgp_states_come_from_the_model_of_all_switches(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    def routing(running: Mapping[str, Any], _dead: frozenset[Port]) -> ComputedRoutes:
        assert set(running) == {"leaf01", "spine01"}
        peer = PeerState(IPv4Address("10.1.0.0"), "65001", "Established", 7)
        return ComputedRoutes({"leaf01": [peer]})

    switches = {"leaf01": make_switch(), "spine01": second(make_switch)}

    async def ask() -> tuple[str, str]:
        async with (
            LabServer(
                switches, tmp_path, state_source=EmulatedState(switches, routing=routing)
            ) as lab,
            connect(lab, "leaf01") as leaf,
            connect(lab, "spine01") as spine,
        ):
            one = await leaf.run("display bgp peer")
            two = await spine.run("display bgp peer")
        return str(one.stdout), str(two.stdout)

    leaf, spine = asyncio.run(ask())
    assert leaf.splitlines()[-1].split()[-2:] == ["Established", "7"]
    assert " Peers in established state : 1" in leaf.splitlines()
    assert " Total number of peers      : 0" in spine.splitlines()


def test_only_the_right_password_and_the_known_host_key_get_in(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    async def refused() -> None:
        async with LabServer({"leaf01": make_switch()}, tmp_path) as lab:
            with pytest.raises(asyncssh.PermissionDenied):
                await connect(lab, "leaf01", password="wrong")
            lab.known_hosts.write_text("")
            with pytest.raises(asyncssh.HostKeyNotVerifiable):
                await connect(lab, "leaf01")

    asyncio.run(refused())


def test_a_lab_that_ends_takes_its_connections_with_it(
    switch: EmulatedSwitch, tmp_path: Path
) -> None:
    async def end_first() -> None:
        async with LabServer({"leaf01": switch}, tmp_path) as lab:
            connection = await connect(lab, "leaf01")
            shell = Shell(await connection.create_process(term_type="vt100"))
            await shell.until("<leaf01>")
        await connection.wait_closed()

    asyncio.run(end_first())
    assert not switch.logins


def test_a_commit_that_is_never_answered_is_not_done(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    switch = make_switch(faults=(LineFault("hang-on-commit"),))

    async def work(shell: Shell) -> None:
        await shell.until("<leaf01>")
        await shell.type("system-view\n", "[~leaf01]")
        await shell.type("sysname changed\n", "[*leaf01]")
        assert await shell.type("commit\n", "\n") == "commit\r\n"
        shell.process.stdin.write("\n" * 5)
        shell.process.stdin.write_eof()
        assert await shell.process.stdout.read() == "", "not even an echo"

    asyncio.run(shell_of(LabServer({"leaf01": switch}, tmp_path), "leaf01", work))
    assert switch.hostname == "leaf01"


def test_host_keys_stay_the_same_over_restarts_and_are_private(
    make_switch: MakeSwitch, tmp_path: Path
) -> None:
    keys = []
    for _ in range(2):
        with run_in_thread(LabServer({"leaf01": make_switch()}, tmp_path)) as lab:
            address, kind, key = lab.known_hosts.read_text().split()
        keys.append(key)
        assert address == f"[127.0.0.1]:{lab.ports['leaf01']}"
        assert kind == "ssh-ed25519"
    assert keys[0] == keys[1]
    assert stat.S_IMODE((tmp_path / "leaf01.key").stat().st_mode) == 0o600


def test_what_keeps_a_lab_from_starting_is_one_clear_error(
    make_switch: MakeSwitch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_in_thread(LabServer({"leaf01": make_switch()}, tmp_path)) as lab:
        taken = LabServer({"x": make_switch()}, tmp_path, listen=("127.0.0.1", lab.ports["leaf01"]))
        with pytest.raises(ServiceFailed, match="choose another port"), run_in_thread(taken):
            pass
    started = EmulatedSwitch("a", "sysname a\n", SyntaxFamily.V200)
    with run_in_thread(LabServer({"a": started}, tmp_path)) as lab:
        free = lab.ports["a"]
    path = LabServer({"a": started, "../x": make_switch()}, tmp_path, ("127.0.0.1", free))
    with pytest.raises(BadInput, match="cannot be the name of a host"), run_in_thread(path):
        pass
    with run_in_thread(LabServer({"a": started}, tmp_path, ("127.0.0.1", free))):
        pass  # the port that opened before the wrong name is free again
    (tmp_path / "a.key").write_text("")
    with (
        pytest.raises(BadInput, match=r"a\.key: not a host key: .*delete it"),
        run_in_thread(LabServer({"a": started}, tmp_path)),
    ):
        pass
    with (
        pytest.raises(ServiceFailed, match="choose another folder"),
        run_in_thread(LabServer({"a": started}, tmp_path / "a.key" / "below")),
    ):
        pass
    monkeypatch.setattr("rocefort.emulator.cli.server.find_spec", lambda _name: None)
    with (
        pytest.raises(ServiceFailed, match=r"install the extra: rocefort\[lab\]"),
        RdmaHosts({"k8sgn08": "10.0.0.1"}, {}, tmp_path).in_thread(),
    ):
        pass
    bare = LabServer({"leaf01": make_switch()}, tmp_path)
    with pytest.raises(ServiceFailed, match=r"install the extra: rocefort\[lab\]"):
        asyncio.run(bare.__aenter__())
