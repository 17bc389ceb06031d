"""SSH for the emulated switches: one listener each, all in one event loop.

Only this module and sftp.py import asyncssh; server.py imports them when a lab starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from rocefort.base.errors import BadInput
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.cli.sftp import Files
from rocefort.emulator.cli.terminal import Terminal
from rocefort.emulator.switch.logins import NoFreeTerminal


class PasswordServer(asyncssh.SSHServer):
    """Authentication of one user by password; all other logins are refused."""

    def __init__(
        self, user: str, password: str, open_ones: set[asyncssh.SSHServerConnection]
    ) -> None:
        self.user = user
        self.password = password
        self.open_ones = open_ones
        self.connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Store the connection, so that the lab can end it."""
        self.connection = conn
        self.open_ones.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncssh's signature
        """Remove the connection."""
        if self.connection:
            self.open_ones.discard(self.connection)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - asyncssh's signature
        """Require authentication for every user."""
        return True

    def password_auth_supported(self) -> bool:
        """Accept password authentication."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Whether user and password are the lab's."""
        return (username, password) == (self.user, self.password)


@dataclass
class SshListener:
    """One switch's port and its open connections."""

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
    address: tuple[str, int],
    host_key: asyncssh.SSHKey,
    login: tuple[str, str],
    serve: Serve,
    files: Files | None = None,
) -> SshListener:
    """Open one host's SSH listener; port 0 takes a free one. `serve` runs for each process.

    files: serves SFTP; without it there is no SFTP.
    """
    open_ones: set[asyncssh.SSHServerConnection] = set()

    async def guarded(process: asyncssh.SSHServerProcess[bytes]) -> None:
        try:
            await serve(process)
        except (asyncssh.Error, ConnectionError, asyncio.IncompleteReadError):
            pass  # the client closed the connection; cleanup is below
        finally:
            process.close()

    host, port = address
    acceptor = await asyncssh.create_server(
        lambda: PasswordServer(*login, open_ones),
        host,
        port,
        server_host_keys=[host_key],
        process_factory=guarded,
        sftp_factory=files,
        encoding=None,
        line_editor=False,
        server_version="CloudEngine-emulator",
        login_timeout=30,
    )
    return SshListener(acceptor, open_ones)


def dialogues(session: Callable[[str], CliSession]) -> Serve:
    """Serve a switch's command line: one dialogue a process, of the user who logged in."""

    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        try:
            dialogue = session(process.get_extra_info("username"))
        except NoFreeTerminal as full:
            process.stdout.write(f"\r\n{full}\r\n".encode())
            return
        terminal, loop = Terminal(process, dialogue), asyncio.get_running_loop()

        def hang_up() -> None:
            loop.call_soon_threadsafe(terminal.hang_up)

        dialogue.switch.logins[dialogue.number].hang_up = hang_up
        try:
            await terminal.run()
        finally:
            dialogue.close()

    return serve


def host_key(state: Path, name: str) -> asyncssh.SSHKey:
    """Return the host's ed25519 key, created once in the folder. Raises BadInput, OSError."""
    path = state / f"{name}.key"
    if path.exists():
        try:
            return asyncssh.read_private_key(path)
        except asyncssh.KeyImportError as error:
            raise BadInput(f"not a host key: {error}", file=str(path), how="delete it") from None
    key = asyncssh.generate_private_key("ssh-ed25519", comment=name)
    path.touch(mode=0o600)
    key.write_private_key(path)
    return key


def another_key(name: str) -> asyncssh.SSHKey:
    """Return a host key that is in no known_hosts, for the fault wrong-host-key."""
    return asyncssh.generate_private_key("ssh-ed25519", comment=f"not {name}")


def known_hosts_line(host: str, port: int, key: asyncssh.SSHKey) -> str:
    """Return a line of known_hosts for one listener."""
    public = key.export_public_key().decode().split()
    address = host if port == 22 else f"[{host}]:{port}"
    return f"{address} {public[0]} {public[1]}\n"
