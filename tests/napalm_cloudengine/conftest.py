"""Two peers for the driver: an SSH server that replays sessions, and the emulated command line.

The first has no configuration: for each expected line it has the bytes of the answer, as the vendor
documents them, so it is a witness independent of the second.
"""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from napalm_cloudengine import CloudEngineDriver
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

USER, PASSWORD = "netops", "canary-Pa55word"
Step = tuple[str, str | None]  # the expected line, and the answer after its echo; None: hang up
SILENCE = "\0"  # an answer that never comes
PAUSE = "\1"  # within an answer: the text after it comes a moment later
LOGS_OFF = "undo terminal monitor"  # what the driver sends at each login


class _Door(asyncssh.SSHServer):
    def __init__(self, guests: list[asyncssh.SSHServerConnection]) -> None:
        self._guests = guests

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._guests.append(conn)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002  # asyncssh's signature
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


@dataclass
class PlayedSwitch:
    """One port that replays `steps` to any client; `heard` is every received line.

    Lines without a step are not recorded: those that every switch answers with its prompt alone
    (blanks, and the line that turns log lines off), and a repeated display.
    """

    greeting: str
    steps: Sequence[Step]
    folder: Path
    port: int = 0
    wrap_at: int = 0  # where the terminal breaks an echo, in characters; 0: never
    heard: list[str] = field(default_factory=list)
    key: asyncssh.SSHKey = field(
        default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519")
    )

    def __post_init__(self) -> None:
        self._guests: list[asyncssh.SSHServerConnection] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self.port = self._server.get_port()
        self.known_hosts = self.know(self.key)

    def know(self, key: asyncssh.SSHKey) -> str:
        """Write a known_hosts file with `key` for this port."""
        path = self.folder / f"known_hosts_{key.get_fingerprint()[-4:].replace('/', '_')}"
        public = key.export_public_key().decode()
        path.write_text(f"[127.0.0.1]:{self.port} {public}")
        return str(path)

    def driver(self, **options: object) -> CloudEngineDriver:
        """Return a driver for this switch, not yet open."""
        optional_args = {"port": self.port, "ssh_known_hosts": self.known_hosts, **options}
        return CloudEngineDriver("127.0.0.1", USER, PASSWORD, 2, optional_args)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            lambda: _Door(self._guests),
            "127.0.0.1",
            0,
            server_host_keys=[self.key],
            process_factory=self._play,
            line_editor=False,
        )

    async def _stop(self) -> None:
        self._server.close()
        for guest in self._guests:
            guest.abort()
            await guest.wait_closed()
        await self._server.wait_closed()
        await asyncio.sleep(0.01)  # the loop closes their sockets in its next turns

    async def _play(self, process: asyncssh.SSHServerProcess[str]) -> None:
        process.stdout.write(self.greeting)
        last = "", self.greeting.rsplit("\n", 1)[-1]
        for expected, answer in self.steps:
            line = await self._next(process, expected, last)
            if line is None:
                break
            self.heard.append(line)
            if line != expected or answer is None:
                break
            if answer == SILENCE:
                await process.stdin.read()
                break
            for part in (self._echo(line) + answer).split(PAUSE):
                process.stdout.write(part)
                await asyncio.sleep(0.02 if PAUSE in answer else 0)
            last = line, answer
        else:
            await self._next(process, None, last)  # an incomplete replay ends the session
        process.exit(0)

    async def _next(
        self, process: asyncssh.SSHServerProcess[str], expected: str | None, last: Step
    ) -> str | None:
        """Return the next line that has a step; answer the lines that every switch answers."""
        asked, answer = last[0], last[1] or ""
        while True:
            line = await self._line(process, one_key=expected == " ")
            if line in (expected, None):
                return line
            if line.startswith("display ") and line == asked:
                process.stdout.write(self._echo(line) + answer)
            elif line.strip(" ") in ("", LOGS_OFF):
                process.stdout.write(f"{line}\r\n" + answer.rsplit("\n", 1)[-1])
            else:
                return line

    def _echo(self, line: str) -> str:
        if line == " ":
            return ""
        width = self.wrap_at or len(line) or 1
        return "".join(f"{line[i : i + width]}\r\n" for i in range(0, len(line), width))

    @staticmethod
    async def _line(process: asyncssh.SSHServerProcess[str], *, one_key: bool) -> str | None:
        typed = ""
        while char := await process.stdin.read(1):
            if char == "\n":
                return typed
            typed += char
            if one_key:
                return typed
        return None


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Callable[..., PlayedSwitch]]:
    """Start a switch that replays steps: `play(steps, greeting="\\r\\n<HUAWEI>")`."""
    started: list[PlayedSwitch] = []

    def start(steps: Sequence[Step] = (), greeting: str = "\r\n<HUAWEI>") -> PlayedSwitch:
        paging: Step = ("screen-length 0 temporary", "<HUAWEI>")
        started.append(PlayedSwitch(greeting, [paging, *steps], tmp_path))
        return started[-1]

    yield start
    for switch in started:
        switch.close()


TRANSCRIPTS = Path(__file__).parent / "transcripts"


def transcript(name: str) -> tuple[str, list[Step]]:
    """Read the greeting and the steps of a file: as on a terminal, typed lines in {{ }}.

    Its header, lines with `!` up to the first empty one, states the source of the session.
    """
    text = (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8")
    header, _, session = text.partition("\n\n")
    assert "! source: " in header, f"{name} does not say where it comes from"
    greeting, *rest = re.split(r"\{\{(.*?)\}\}\n", session.removesuffix("\n"))
    answers = [part.replace("\n", "\r\n") for part in rest[1::2]]
    return "\r\n" + greeting, list(zip(rest[::2], answers, strict=True))


@pytest.fixture
def replay(tmp_path: Path) -> Iterator[Callable[[str], PlayedSwitch]]:
    """Replay a transcript byte for byte; the typed lines must be all its lines, and no others."""
    started: list[PlayedSwitch] = []

    def start(name: str) -> PlayedSwitch:
        greeting, steps = transcript(name)
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(PlayedSwitch(greeting, steps, folder))
        return started[-1]

    yield start
    for switch in started:
        switch.close()
    for switch in started:
        assert switch.heard == [line for line, _ in switch.steps]


STARTUP = """\
#
sysname leaf01
#
vlan batch 10
#
interface 100GE1/0/1
 undo portswitch
 mtu 9000
 ip address 10.1.1.2 255.255.255.254
#
interface 100GE1/0/2
 undo portswitch
 mtu 9216
#
bgp 65101
 router-id 10.0.0.11
 peer 10.1.1.3 as-number 65001
 #
 ipv4-family unicast
  peer 10.1.1.3 enable
#
return
"""


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """One emulated switch, listening, and drivers for it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.clock = Clock()
        self.switch = EmulatedSwitch(
            "leaf01", STARTUP, SyntaxFamily.V300_G1, clock=self.clock, **options
        )
        assert self.switch.startup_refusals == ()
        self.before = self.switch.running
        self.lab = LabServer({"leaf01": self.switch}, folder, user=USER, password=PASSWORD)

    def options(self) -> dict[str, Any]:
        return {"port": self.lab.ports["leaf01"], "ssh_known_hosts": str(self.lab.known_hosts)}

    def driver(self, password: str = PASSWORD, **options: Any) -> CloudEngineDriver:
        return CloudEngineDriver("127.0.0.1", USER, password, 10, {**self.options(), **options})

    @staticmethod
    def wait(until: Callable[[], bool]) -> None:
        """Wait until the switch has noticed the driver's actions."""
        deadline = time.monotonic() + 5
        while not until():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def running(self) -> str:
        with self.driver() as driver:
            return driver.get_config(retrieve="running")["running"]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Start a bench; options are the emulated switch's."""
    running: list[Any] = []

    def start(**options: Any) -> Bench:
        emulated = Bench(tmp_path / f"lab{len(running)}", **options)
        context = run_in_thread(emulated.lab)
        context.__enter__()
        running.append(context)
        return emulated

    yield start
    for context in running:
        context.__exit__(None, None, None)
