"""SSH for the emulated switches: one listener each, all in one event loop.

The only module of the lab that needs asyncssh; server.py imports it when a lab starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from rocefort.errors import BadInput
from rocefort.lab.session import BANNER, Reply, Session

LINE_LIMIT = 3100  # characters of a command line, V300R023C00
NUL, LF, CR = 0, 10, 13
RUBOUT = (8, 127)


class Login(asyncssh.SSHServer):
    """One user, one password; nothing else opens the door."""

    def __init__(
        self, user: str, password: str, open_ones: set[asyncssh.SSHServerConnection]
    ) -> None:
        self.user = user
        self.password = password
        self.open_ones = open_ones
        self.connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Remember the connection, so that the lab can end it."""
        self.connection = conn
        self.open_ones.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncssh's signature
        """Forget the connection."""
        if self.connection:
            self.open_ones.discard(self.connection)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - asyncssh's signature
        """Every user has to authenticate."""
        return True

    def password_auth_supported(self) -> bool:
        """Passwords are how a switch of the lab is entered."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Whether this is the lab's user."""
        return (username, password) == (self.user, self.password)


@dataclass
class Listener:
    """One switch's port and the connections that came in by it."""

    acceptor: asyncssh.SSHAcceptor
    connections: set[asyncssh.SSHServerConnection]

    @property
    def port(self) -> int:
        """The TCP port."""
        return self.acceptor.get_port()

    async def close(self) -> None:
        """Stop listening and end every connection."""
        self.acceptor.close()
        ending = list(self.connections)
        for connection in ending:
            connection.close()
        for connection in ending:
            await connection.wait_closed()
        await self.acceptor.wait_closed()


Serve = Callable[["asyncssh.SSHServerProcess[bytes]"], Awaitable[None]]


async def listen(
    address: tuple[str, int], host_key: asyncssh.SSHKey, login: tuple[str, str], serve: Serve
) -> Listener:
    """Open one host's SSH listener; port 0 takes a free one. `serve` runs for each process."""
    open_ones: set[asyncssh.SSHServerConnection] = set()

    async def guarded(process: asyncssh.SSHServerProcess[bytes]) -> None:
        try:
            await serve(process)
        except (asyncssh.Error, ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away; what it left is ended below like any other
        finally:
            process.close()

    host, port = address
    acceptor = await asyncssh.create_server(
        lambda: Login(*login, open_ones),
        host,
        port,
        server_host_keys=[host_key],
        process_factory=guarded,
        encoding=None,
        line_editor=False,
        server_version="CloudEngine-emulator",
        login_timeout=30,
    )
    return Listener(acceptor, open_ones)


def dialogues(session: Callable[[str], Session]) -> Serve:
    """Serve a switch's command line: one dialogue a process, of the user who logged in."""

    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        dialogue = session(process.get_extra_info("username"))
        try:
            await Terminal(process, dialogue).run()
        finally:
            dialogue.close()

    return serve


class Terminal:
    """Characters of one channel: reads lines, echoes them, writes replies with CR LF."""

    def __init__(self, process: asyncssh.SSHServerProcess[bytes], session: Session) -> None:
        self.process = process
        self.session = session
        self.received = bytearray()  # read from the client, not looked at yet
        self.after_return = False  # the last byte was CR: a LF belongs to it

    def write(self, text: str) -> None:
        """Send text; line ends become CR LF as on a terminal."""
        self.process.stdout.write(text.replace("\n", "\r\n").encode("utf-8", "replace"))

    async def run(self) -> None:
        """Talk until the session or the client ends."""
        if self.process.command is not None:
            reply = self.session.handle(self.process.command)
            self.write(reply.text + "\n")
            self.process.exit(0)
            return
        self.write("\n" + BANNER + self.session.prompt)
        while True:
            line = await self.read_line()
            if line is None:
                return
            reply = self.session.handle(line)
            if reply.hangs:
                while await self._receive():
                    self.received.clear()  # read on, answer nothing, until the client gives up
                return
            if reply.closes:
                self.process.channel.get_connection().close()
                return
            self.answer(reply)

    def answer(self, reply: Reply) -> None:
        """Write a reply and, unless it asks something, the next prompt."""
        text = reply.text if reply.asks or not reply.text else reply.text + "\n"
        self.write(text if reply.asks else text + self.session.prompt)

    async def read_line(self) -> str | None:
        """One line, echoed as typed; None when the client has gone. NUL means nothing."""
        typed = bytearray()
        while True:
            if not self.received and not await self._receive():
                return None
            whole, echo = self._take(typed)
            self.process.stdout.write(echo)
            if whole:
                return typed.decode("utf-8", "replace")

    def _take(self, typed: bytearray) -> tuple[bool, bytes]:
        """Move received bytes into the line, up to its end; returns the echo too."""
        echo = bytearray()
        while self.received:
            byte = self.received.pop(0)
            follows = self.after_return and byte == LF
            self.after_return = byte == CR
            if byte == NUL or follows:
                continue
            if byte in (CR, LF):
                return True, bytes(echo + b"\r\n")
            if byte in RUBOUT:
                echo += b"\x08 \x08" if typed else b""
                del typed[-1:]
            elif len(typed) < LINE_LIMIT:
                typed.append(byte)
                echo.append(byte)
        return False, bytes(echo)

    async def _receive(self) -> bool:
        """Wait for bytes; false at the end. A window that changes its size sends none."""
        while True:
            try:
                self.received += (chunk := await self.process.stdin.read(4096))
            except (asyncssh.BreakReceived, asyncssh.SignalReceived, asyncssh.TerminalSizeChanged):
                continue
            return bool(chunk)


def host_key(state: Path, name: str) -> asyncssh.SSHKey:
    """The host's ed25519 key: made once, kept in the state directory. Raises BadInput, OSError."""
    path = state / f"{name}.key"
    if path.exists():
        try:
            return asyncssh.read_private_key(path)
        except asyncssh.KeyImportError as error:
            raise BadInput(f"no host key: {error}", where=str(path), how="delete it") from None
    key = asyncssh.generate_private_key("ssh-ed25519", comment=name)
    path.touch(mode=0o600)
    key.write_private_key(path)
    return key


def known_hosts_line(host: str, port: int, key: asyncssh.SSHKey) -> str:
    """A line of known_hosts for one listener."""
    public = key.export_public_key().decode().split()
    place = host if port == 22 else f"[{host}]:{port}"
    return f"{place} {public[0]} {public[1]}\n"
