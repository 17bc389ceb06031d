"""Commands on servers over SSH exec channels: strict host keys, deadlines at both ends, no shell.

A server's prompt can end a reply early, so no terminal is read: each command has its own channel
and exit code. Every command runs under `timeout` on the server, so that it ends even without a
controller. Its process id is printed first, so that it can be ended by id. A command of an RDMA
test run is also watched: it ends at once with its SSH channel. Its environment has the id of the
run, by which `rdma stop` finds it.
"""

from __future__ import annotations

import re
import shlex
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko
from nornir.core.configuration import Config
from nornir.core.inventory import Host
from paramiko.pkey import UnknownKeyType

from rocefort.base.errors import BadInput, DeviceFailed
from rocefort.fleet.errors import UnknownHostKeyError, reading_known_hosts

CONNECTION = "rocefort_ssh"  # the name of the Nornir connection
TIMEOUT_EXIT = 124  # of GNU timeout, for a command that still runs at the deadline
KILL_AFTER_S = 5  # from TERM to KILL
GRACE_S = 5  # local wait beyond the remote deadline
RUN_MARK = "ROCEFORT_RUN"  # in the environment of every process that a run starts on a server
_PID_MARK = "rocefort-pid"
# Text before the mark comes from the login shell, such as an error of .bashrc.
_MARKED = re.compile(rf"^{_PID_MARK} (?P<pid>\d+)\n", re.MULTILINE)
_POLL_S = 0.01
_READ_BYTES = 65536
_GUARDED = re.compile(
    rf"echo {_PID_MARK} \$\$ >&2; exec timeout -k \d+ (?P<limit>\d+) (?P<command>.+)", re.DOTALL
)
_WATCHED = re.compile(
    rf"exec 3<&0; {RUN_MARK}=(?P<run>[\w.-]+) timeout -k \d+ (?P<limit>\d+) (?P<command>.+) "
    r"</dev/null 3<&- & job=",
    re.DOTALL,
)


@dataclass(frozen=True)
class CommandResult:
    """Result of a command; exit_code is None without one (signal, lost session)."""

    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool = False

    @property
    def complaint(self) -> str:
        """Start of its stderr on one line; else its exit code."""
        return " ".join(self.stderr.split())[:120] or f"exit code {self.exit_code}"


def guarded_command(command: str, timeout_s: float) -> str:
    """Return the command for the server: it prints its process id on stderr, and has a deadline."""
    script = (
        f"echo {_PID_MARK} $$ >&2; exec timeout -k {KILL_AFTER_S} {max(1, round(timeout_s))} "
        f"{command}"
    )
    return f"exec sh -c {shlex.quote(script)}"


def watched(command: str, timeout_s: float, run: str) -> str:
    """Like `guarded_command`, for a command of a run; it also ends with its SSH channel.

    The input of the watch is the channel. When the controller ends in any manner, sshd closes the
    channel, and the watch ends the command. `timeout` passes a signal to its process group, and
    kills processes that ignore it. A signal during its fork ends `timeout` alone (coreutils 9.1).
    So the group gets the signal too, and its remaining processes are killed after `timeout` ends.
    The watch ends with the command. A lost network connection without a close is noticed at the
    deadline.
    """
    limit_s = max(1, round(timeout_s))
    script = (
        f"exec 3<&0; {RUN_MARK}={shlex.quote(run)} timeout -k {KILL_AFTER_S} {limit_s} {command} "
        f"</dev/null 3<&- & job=$!; echo {_PID_MARK} $job >&2; "
        "{ read -r _ <&3; kill -TERM -$job || kill -TERM $job; } >/dev/null 2>&1 & watch=$!; "
        "exec 3<&-; wait $job; code=$?; "
        "{ kill -KILL -$job; kill $watch; wait $watch; } 2>/dev/null; exit $code"
    )
    return f"exec sh -c {shlex.quote(script)}"


def guarded_words(command: str) -> tuple[str, ...] | None:
    """Words of the command in `guarded_command` or `watched`; None for any other text."""
    try:
        script = shlex.split(command)[3]
        match = _WATCHED.match(script) or _GUARDED.match(script)
        words = tuple(shlex.split(match["command"])) if match else ()
    except (ValueError, IndexError):  # an open quote, too few words
        return None
    if match is None:
        return None
    inner, limit_s, run = shlex.join(words), float(match["limit"]), match.groupdict().get("run")
    text = watched(inner, limit_s, run) if run else guarded_command(inner, limit_s)
    return words if text == command else None


class RemoteCommand:
    """Running command on a server; `wait` collects it, `kill` ends it by its process id."""

    def __init__(self, session: SshExec, command: str, timeout_s: float, run: str = "") -> None:
        self.timeout_s = timeout_s
        self._session = session
        self._channel = session.open_channel()
        self._out, self._err = bytearray(), bytearray()
        text = watched(command, timeout_s, run) if run else guarded_command(command, timeout_s)
        _execute(self._channel, text)

    @property
    def output(self) -> str:
        """Output so far."""
        self._drain()
        return bytes(self._out).decode(errors="replace")

    def running(self) -> bool:
        """Whether the command still runs."""
        self._drain()
        return not self._channel.exit_status_ready()

    def wait(self, patience_s: float | None = None) -> CommandResult:
        """Collect the command; end it after its deadline, or after `patience_s` seconds."""
        if not self._ends_within(self.timeout_s + GRACE_S if patience_s is None else patience_s):
            self.kill()
            return self._result(timed_out=True)
        return self._result(timed_out=self._exit_code() == TIMEOUT_EXIT)

    def kill(self) -> bool:
        """End the command; returns whether its end is certain."""
        pid = self._pid_within(KILL_AFTER_S)
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

    def _pid_within(self, patience_s: float) -> int | None:
        """Process id; None if the server has not printed it in time."""
        deadline = time.monotonic() + patience_s
        while (pid := self._pid()) is None and time.monotonic() < deadline:
            if self._channel.closed or not self.running():
                break
            time.sleep(_POLL_S)
        return pid

    def _pid(self) -> int | None:
        self._drain()
        match = _MARKED.search(bytes(self._err).decode(errors="replace"))
        return int(match["pid"]) if match else None

    def _exit_code(self) -> int | None:
        code = self._channel.exit_status
        return code if code >= 0 else None

    def _result(self, *, timed_out: bool) -> CommandResult:
        stderr = bytes(self._err).decode(errors="replace")
        if match := _MARKED.search(stderr):
            stderr = stderr[match.end() :]
        stdout = bytes(self._out).decode(errors="replace")
        return CommandResult(stdout, stderr, self._exit_code(), timed_out)


class SshExec:
    """Nornir connection plugin: one SSH session with any number of commands.

    `extras` must have name, known_hosts (a path) and connect_timeout_s; key: the file of a private
    key, instead of a password.
    """

    def __init__(self) -> None:
        self.name = ""
        self._clients: list[paramiko.SSHClient] = []
        self._connect: Callable[[], paramiko.SSHClient] | None = None

    @property
    def connection(self) -> SshExec:
        """Connection object for a Nornir task."""
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
        """Connect; raises paramiko's and the socket's exceptions, UnlistedHostKeyError."""
        options = extras or {}
        self.name = str(options["name"])
        key = _private_key(options["key"]) if "key" in options else None

        def connect() -> paramiko.SSHClient:
            return _connected(
                Path(options["known_hosts"]),
                hostname=hostname or "",
                port=port or 22,
                username=username,
                password=password,
                key=key,
                patience_s=options["connect_timeout_s"],
            )

        self._clients = [connect()]
        self._connect = connect

    def close(self) -> None:
        """End the session."""
        self._connect = None
        for client in self._clients:
            client.close()
        self._clients = []

    def is_alive(self) -> bool:
        """Whether the session is open."""
        transports = [client.get_transport() for client in self._clients]
        return bool(transports) and all(t is not None and t.is_active() for t in transports)

    def start(self, command: str, timeout_s: float, run: str = "") -> RemoteCommand:
        """Start a command that the server ends after timeout_s; raises DeviceFailed.

        run: of RDMA tests, to which the command belongs; then it also ends with this session.
        """
        try:
            return RemoteCommand(self, command, timeout_s, run)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise DeviceFailed(
                f"the SSH session accepts no command: {str(error) or type(error).__name__}",
                where=self.name,
                how="check the server's SSH log",
            ) from None

    def run(self, command: str, timeout_s: float, run: str = "") -> CommandResult:
        """Run a command to its end or its deadline; raises DeviceFailed."""
        return self.start(command, timeout_s, run).wait()

    def signal(self, pid: int, name: str) -> None:
        """Send a signal to the group of one process that this session started.

        The group exists when `timeout` has made it; before that the process is alone. The id has no
        `--` before it, because the `kill` of dash reads that as a number.
        """
        try:
            with self.open_channel() as channel:
                channel.settimeout(KILL_AFTER_S)
                _execute(channel, f"kill -{name} -{pid:d} || kill -{name} {pid:d}")
                channel.recv(_READ_BYTES)  # returns at the end of the command
        except (paramiko.SSHException, EOFError, OSError):
            return  # a lost session: the server's own deadline ends the process

    def open_channel(self) -> paramiko.Channel:
        """Open an exec channel; raises SSHException if the session is closed.

        A server limits the channels of one connection (sshd's MaxSessions, 10 by default). If it
        refuses one more, another connection is made.
        """
        for client in self._clients:
            transport = client.get_transport()
            if transport is None or not transport.is_active():
                break
            try:
                return transport.open_session(timeout=GRACE_S)
            except paramiko.ChannelException:
                continue
        else:
            if self._connect is not None:
                client = self._connect()
                self._clients.append(client)
                if (transport := client.get_transport()) is not None:
                    return transport.open_session(timeout=GRACE_S)
        raise paramiko.SSHException("the session is closed")


def _connected(  # noqa: PLR0913 - parameters of a connection
    known_hosts: Path,
    *,
    hostname: str,
    port: int,
    username: str | None,
    password: str | None,
    key: paramiko.PKey | None,
    patience_s: float,
) -> paramiko.SSHClient:
    """Open a connection; raises paramiko's and the socket's exceptions, UnlistedHostKeyError."""
    client = paramiko.SSHClient()
    how = "write the host keys of all devices there (ssh-keyscan, then compare them)"
    with reading_known_hosts(known_hosts, how):
        client.load_host_keys(str(known_hosts))
    client.set_missing_host_key_policy(_RefuseUnknownKey())
    try:
        client.connect(
            hostname,
            port=port,
            username=username,
            password=password,
            pkey=key,
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
    return client


def _private_key(path: str) -> paramiko.PKey:
    """Read a key in OpenSSH's format. Raises BadInput for another file, or for a passphrase."""
    try:
        key: paramiko.PKey = paramiko.PKey.from_path(path)
    except (paramiko.SSHException, UnknownKeyType, OSError, TypeError, ValueError):
        what = "is not a private key without a passphrase"
        how = "make another: ssh-keygen -t ed25519 -N ''"
        raise BadInput(what, where=f"key:{path}", how=how) from None
    return key


def session(host: Host, configuration: Config) -> SshExec:
    """Return the host's session, opened if it is missing or lost; raises Unreachable."""
    ssh: SshExec = host.get_connection(CONNECTION, configuration)
    if ssh.is_alive():
        return ssh
    host.close_connection(CONNECTION)
    reopened: SshExec = host.get_connection(CONNECTION, configuration)
    return reopened


def _execute(channel: paramiko.Channel, command: str) -> None:
    """Start a command; raises SSHException if the server does not accept it in time.

    paramiko alone waits without limit for the server's reply, which a hanging server never sends.
    """

    def give_up() -> None:
        with suppress(paramiko.SSHException, EOFError, OSError):  # the session may end meanwhile
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
