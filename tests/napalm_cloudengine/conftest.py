"""An SSH server that plays sessions as the vendor documents them, and where its key is known.

It knows nothing of configuration: for each line it expects it has the bytes of the answer, so it
is a witness independent of the emulated CLI.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
import pytest

from napalm_cloudengine import CloudEngineDriver

USER, PASSWORD = "netops", "canary-Pa55word"
Step = tuple[str, str | None]  # the line expected, and the answer after its echo; None: hang up
SILENCE = "\0"  # an answer that never comes


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
    """One port that plays `steps` to whoever logs in; `heard` is every line that came."""

    greeting: str
    steps: Sequence[Step]
    folder: Path
    port: int = 0
    wrap_at: int = 0  # where the terminal breaks an echo, in characters; 0: nowhere
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
        """A known_hosts file that holds `key` for this port."""
        path = self.folder / f"known_hosts_{key.get_fingerprint()[-4:].replace('/', '_')}"
        public = key.export_public_key().decode()
        path.write_text(f"[127.0.0.1]:{self.port} {public}")
        return str(path)

    def driver(self, **options: object) -> CloudEngineDriver:
        """A driver for this switch, not yet open."""
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
        for expected, answer in self.steps:
            line = await self._line(process, one_key=expected == " ")
            if line is None:
                break
            self.heard.append(line)
            if line != expected or answer is None:
                break
            if answer == SILENCE:
                await process.stdin.read()
                break
            process.stdout.write(self._echo(line) + answer)
        else:
            await self._line(process, one_key=False)  # what was not played ends the session
        process.exit(0)

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
    """Start a switch that plays steps: `play(steps, greeting="\\r\\n<HUAWEI>")`."""
    started: list[PlayedSwitch] = []

    def start(steps: Sequence[Step] = (), greeting: str = "\r\n<HUAWEI>") -> PlayedSwitch:
        paging: Step = ("screen-length 0 temporary", "<HUAWEI>")
        started.append(PlayedSwitch(greeting, [paging, *steps], tmp_path))
        return started[-1]

    yield start
    for switch in started:
        switch.close()
