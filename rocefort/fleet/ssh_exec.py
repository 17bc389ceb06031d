"""Commands on servers over SSH exec channels: strict host keys, deadlines at both ends, no shell.

A server's prompt can end a reply early, so nothing here reads a terminal: each command has its own
channel and its own exit code. Every command runs under `timeout` on the server, so that it ends
also when the controller is gone; its process id comes back first, so that it can be ended by id.
"""

from __future__ import annotations

import shlex
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko
from nornir.core.configuration import Config
from nornir.core.inventory import Host
from paramiko.hostkeys import InvalidHostKey

from rocefort.errors import BadInput, DeviceFailed
from rocefort.fleet.failures import UnknownHostKeyError

CONNECTION = "rocefort_ssh"  # the name of the Nornir connection
TIMEOUT_EXIT = 124  # GNU timeout, when the command was still running at the deadline
KILL_AFTER_S = 2  # from TERM to KILL
GRACE_S = 5  # local patience beyond the remote deadline
_PID_MARK = "rocefort-pid"
_POLL_S = 0.01
_READ_BYTES = 65536


@dataclass(frozen=True)
class CommandResult:
    """What a command left behind; exit_code is None where none came (signal, lost session)."""

    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool = False


def guarded(command: str, timeout_s: float) -> str:
    """The command as the server runs it: says its process id on stderr, ends at its deadline."""
    script = (
        f"echo {_PID_MARK} $$ >&2; exec timeout -k {KILL_AFTER_S} {max(1, round(timeout_s))} "
        f"{command}"
    )
    return f"exec sh -c {shlex.quote(script)}"


class RemoteCommand:
    """A command that runs on a server; `wait` collects it, `kill` ends it by its process id."""

    def __init__(self, session: SshExec, command: str, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._session = session
        self._channel = session.open_channel()
        self._out, self._err = bytearray(), bytearray()
        _execute(self._channel, guarded(command, timeout_s))

    def running(self) -> bool:
        """Whether it has not ended."""
        self._drain()
        return not self._channel.exit_status_ready()

    def wait(self, patience_s: float | None = None) -> CommandResult:
        """Collect it; ends it where it outlives its deadline (or the given patience, seconds)."""
        if not self._ends_within(self.timeout_s + GRACE_S if patience_s is None else patience_s):
            self.kill()
            return self._result(timed_out=True)
        return self._result(timed_out=self._exit_code() == TIMEOUT_EXIT)

    def kill(self) -> bool:
        """End it; returns whether it is known to have ended."""
        pid = self._pid()
        for signal in ("TERM", "KILL"):
            if not self.running():
                break
            if pid is not None:
                self._session.signal(pid, signal)
            if self._ends_within(KILL_AFTER_S):
                break
        ended = not self.running()
        self._channel.close()
        return ended

    def _ends_within(self, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while not (self._channel.exit_status_ready() and self._channel.eof_received):
            if self._channel.closed or time.monotonic() > deadline:
                break
            self._drain()
            time.sleep(_POLL_S)
        self._drain()
        return self._channel.exit_status_ready()

    def _drain(self) -> None:
        while self._channel.recv_ready():
            self._out += self._channel.recv(_READ_BYTES)
        while self._channel.recv_stderr_ready():
            self._err += self._channel.recv_stderr(_READ_BYTES)

    def _pid(self) -> int | None:
        self._drain()
        first = bytes(self._err).partition(b"\n")[0].decode(errors="replace").split()
        return int(first[1]) if len(first) == 2 and first[0] == _PID_MARK else None

    def _exit_code(self) -> int | None:
        code = self._channel.exit_status
        return code if code >= 0 else None

    def _result(self, *, timed_out: bool) -> CommandResult:
        stderr = bytes(self._err).decode(errors="replace")
        first, newline, rest = stderr.partition("\n")
        if newline and first.startswith(_PID_MARK):
            stderr = rest
        stdout = bytes(self._out).decode(errors="replace")
        return CommandResult(stdout, stderr, self._exit_code(), timed_out)


class SshExec:
    """The Nornir connection plugin: one SSH session, any number of commands.

    `extras` must give name, known_hosts (a path) and connect_timeout_s.
    """

    def __init__(self) -> None:
        self.name = ""
        self._client: paramiko.SSHClient | None = None

    @property
    def connection(self) -> SshExec:
        """What a Nornir task gets."""
        return self

    def open(  # noqa: PLR0913, PLR0917 - the signature is Nornir's
        self,
        hostname: str | None,
        username: str | None,
        password: str | None,
        port: int | None,
        platform: str | None,  # noqa: ARG002
        extras: dict[str, Any] | None = None,
        configuration: Any = None,  # noqa: ANN401, ARG002
    ) -> None:
        """Connect; raises paramiko's and the socket's exceptions, UnknownHostKeyError."""
        options = extras or {}
        self.name = str(options["name"])
        client = paramiko.SSHClient()
        _load_known_hosts(client, Path(options["known_hosts"]))
        client.set_missing_host_key_policy(_RefuseUnknownKey())
        patience_s = options["connect_timeout_s"]
        try:
            client.connect(
                hostname or "",
                port=port or 22,
                username=username,
                password=password,
                timeout=patience_s,
                banner_timeout=patience_s,
                auth_timeout=patience_s,
                allow_agent=False,
                look_for_keys=False,
            )
        except BaseException:
            client.close()
            raise
        transport = client.get_transport()
        if transport is not None and isinstance(transport.sock, socket.socket):
            # Several small packets start a command: Nagle's delay costs 40 ms each time.
            transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client = client

    def close(self) -> None:
        """End the session."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def is_alive(self) -> bool:
        """Whether the session stands."""
        transport = self._client.get_transport() if self._client else None
        return transport is not None and transport.is_active()

    def start(self, command: str, timeout_s: float) -> RemoteCommand:
        """Start a command that the server ends after timeout_s; raises DeviceFailed."""
        try:
            return RemoteCommand(self, command, timeout_s)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise DeviceFailed(
                f"the SSH session takes no command: {str(error) or type(error).__name__}",
                where=self.name,
                how="check the server's SSH log",
            ) from None

    def run(self, command: str, timeout_s: float) -> CommandResult:
        """Run a command to its end or its deadline; raises DeviceFailed."""
        return self.start(command, timeout_s).wait()

    def signal(self, pid: int, name: str) -> None:
        """Send a signal to one process that this session started."""
        try:
            with self.open_channel() as channel:
                channel.settimeout(KILL_AFTER_S)
                _execute(channel, f"kill -{name} {pid:d}")
                channel.recv(_READ_BYTES)  # returns at the end of the command
        except (paramiko.SSHException, EOFError, OSError):
            return  # a lost session: the server's own deadline ends the process

    def open_channel(self) -> paramiko.Channel:
        """A new exec channel; raises SSHException when the session is gone."""
        transport = self._client.get_transport() if self._client else None
        if transport is None or not transport.is_active():
            raise paramiko.SSHException("the session is closed")
        return transport.open_session(timeout=GRACE_S)


def session(host: Host, configuration: Config) -> SshExec:
    """The host's session, opened where there is none or it was lost; raises Unreachable."""
    found: SshExec = host.get_connection(CONNECTION, configuration)
    if found.is_alive():
        return found
    host.close_connection(CONNECTION)
    reopened: SshExec = host.get_connection(CONNECTION, configuration)
    return reopened


def _execute(channel: paramiko.Channel, command: str) -> None:
    """Start a command; SSHException where the server does not take it in time.

    paramiko waits without end for the server's word, which a server that hangs never gives.
    """

    def give_up() -> None:
        with suppress(paramiko.SSHException, EOFError, OSError):  # the session may go meanwhile
            channel.close()

    watchdog = threading.Timer(GRACE_S, give_up)
    watchdog.daemon = True
    watchdog.start()
    try:
        channel.exec_command(command)
    finally:
        watchdog.cancel()


class _RefuseUnknownKey(paramiko.MissingHostKeyPolicy):
    def missing_host_key(
        self,
        client: paramiko.SSHClient,  # noqa: ARG002 - the signature is paramiko's
        hostname: str,  # noqa: ARG002
        key: paramiko.PKey,
    ) -> None:
        raise UnknownHostKeyError(key)


def _load_known_hosts(client: paramiko.SSHClient, path: Path) -> None:
    try:
        client.load_host_keys(str(path))
    except OSError as error:
        raise BadInput(
            f"known hosts cannot be read: {error.strerror}",
            where=str(path),
            how="write the host keys of all devices there (ssh-keyscan, then compare them)",
        ) from None
    except (InvalidHostKey, UnicodeDecodeError) as error:
        raise BadInput(
            f"known hosts cannot be read: {' '.join(str(error).split())}",
            where=str(path),
            how="mend or remove that line",
        ) from None
