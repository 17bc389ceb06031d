"""SSH and SFTP for the emulated switches: one listener each, all in one event loop.

One flat folder a switch. Folders, links and attributes are refused. So is writing the saved
configuration, which `save` does: the choice of the next startup file is not modelled.

Only this module and sftp.py import asyncssh; server.py imports them when a lab starts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import asyncssh
from asyncssh.constants import FXF_APPEND, FXF_CREAT, FXF_TRUNC, FXF_WRITE

from rocefort.base.errors import BadInput
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.cli.terminal import Terminal
from rocefort.emulator.show.hardware import STARTUP_FILE, free_kbytes, unpack_flash
from rocefort.emulator.switch.logins import NoFreeTerminal
from rocefort.emulator.switch.switch import EmulatedSwitch

Files = Callable[["asyncssh.SSHServerChannel[Any]"], asyncssh.SFTPServer]
WRITING = FXF_WRITE | FXF_APPEND | FXF_CREAT | FXF_TRUNC


def files_of(switch: EmulatedSwitch) -> Files:
    """Return the SFTP server factory of a switch with a flash folder."""
    return lambda channel: Flash(channel, switch)


class Flash(asyncssh.SFTPServer):
    """One SFTP session, confined to the folder of its switch."""

    def __init__(self, channel: asyncssh.SSHServerChannel[Any], switch: EmulatedSwitch) -> None:
        self.switch = switch
        super().__init__(channel, chroot=str(unpack_flash(switch)).encode())

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        """Open a file of the folder."""
        if pflags & WRITING:
            self._check_own(path)
        return super().open(path, pflags, attrs)

    def write(self, file_obj: object, offset: int, data: bytes) -> int | Awaitable[int]:
        """Write as long as there is space."""
        if free_kbytes(self.switch) * 1024 < len(data):
            raise asyncssh.SFTPFailure("no space left on flash:/")
        return super().write(file_obj, offset, data)

    def remove(self, path: bytes) -> None:
        """Remove a file, but not the saved configuration."""
        self._check_own(path)
        super().remove(path)

    def rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename a file, but neither from nor to the saved configuration."""
        self._check_own(oldpath)
        self._check_own(newpath)
        super().rename(oldpath, newpath)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename as `rename` does."""
        self._check_own(oldpath)
        self._check_own(newpath)
        super().posix_rename(oldpath, newpath)

    @staticmethod
    def _check_own(path: bytes) -> None:
        name = PurePosixPath(os.fsdecode(path)).name
        if name.casefold() == STARTUP_FILE:
            raise asyncssh.SFTPPermissionDenied(
                f"{STARTUP_FILE} can only be written by the save command"
            )
        if name.startswith("."):
            raise asyncssh.SFTPPermissionDenied(
                "names that begin with a dot are reserved for the emulator"
            )

    @staticmethod
    def _refuse() -> NoReturn:
        raise asyncssh.SFTPOpUnsupported("not modelled by this emulator")

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:  # noqa: ARG002
        """Refuse: a link could lead out of the folder."""
        self._refuse()

    def link(self, oldpath: bytes, newpath: bytes) -> None:  # noqa: ARG002
        """Refuse: a link could lead out of the folder."""
        self._refuse()

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:  # noqa: ARG002
        """Refuse: the folder is flat."""
        self._refuse()

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """Ignore attributes; clients set them after each put."""

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        """Ignore attributes; clients set them after each put."""


class PasswordServer(asyncssh.SSHServer):
    """Authentication by password; all other logins are refused, or every connection."""

    def __init__(self, login: Login, open_ones: set[asyncssh.SSHServerConnection]) -> None:
        self.login = login
        self.open_ones = open_ones
        self.connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Store the connection, so that the lab can end it; end it where nothing listens."""
        self.connection = conn
        if not self.login.listens():
            conn.abort()
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
        """Whether the host has this user with this password."""
        return self.login.admits(username, password)


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


@dataclass(frozen=True)
class Login:
    """Check of a user and a password; listens: whether the SSH server answers at all."""

    admits: Callable[[str, str], bool]
    listens: Callable[[], bool] = lambda: True


async def listen(
    address: tuple[str, int],
    host_key: asyncssh.SSHKey,
    login: Login,
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
        lambda: PasswordServer(login, open_ones),
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
