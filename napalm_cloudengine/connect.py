"""Open the SSH session: options for Netmiko and paramiko, with host keys always checked.

paramiko's reader compares each line with all before it, at each connection: 40 hosts take it 10 ms,
1,000 hosts several seconds. This module reads a file once, and decodes only the lines of one host.

Each error has its fix as `how`, and its message without that as `what`.
"""

import errno
import logging
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import paramiko
from napalm.base.exceptions import ConnectAuthError, ConnectionException, ConnectTimeoutError
from napalm.base.netmiko_helpers import netmiko_args
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException
from paramiko import HostKeys, PKey
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey
from paramiko.ssh_exception import NoValidConnectionsError

from napalm_cloudengine import regular_file
from napalm_cloudengine.errors import HostKeyError


def place_of(host: str, port: int) -> str:
    """Return the name of a host in known_hosts: its name alone, or with a port other than 22."""
    return host if port == 22 else f"[{host}]:{port}"


def keys_of(path: Path, host: str) -> tuple[PKey, ...]:
    """Return the recorded keys of one host, the first of each kind. Hashed names are supported.

    Raises OSError, UnicodeDecodeError, paramiko's InvalidHostKey for a damaged line of that host.
    """
    status = path.stat()
    record = _record(path, status.st_mtime_ns, status.st_size)
    keys: dict[str, PKey] = {}
    hashed = [at for name, at in record.hashed if HostKeys.hash_host(host, name) == name]
    for _, line in sorted((*record.plain.get(host, ()), *hashed)):  # in the order of the file
        entry = HostKeyEntry.from_line(line)
        if entry is not None:  # a kind of key that paramiko does not support
            keys.setdefault(entry.key.get_name(), entry.key)
    return tuple(keys.values())


@dataclass(frozen=True)
class _Record:
    """The lines of a file by the names in them, and those whose names are hashed."""

    plain: Mapping[str, tuple[tuple[int, str], ...]]  # each with its number
    hashed: tuple[tuple[str, tuple[int, str]], ...]


@lru_cache(maxsize=8)
def _record(path: Path, _changed_ns: int, _size: int) -> _Record:
    plain: dict[str, tuple[tuple[int, str], ...]] = {}
    hashed: list[tuple[str, tuple[int, str]]] = []
    lines = map(str.strip, regular_file.read_text(path).splitlines())
    for number, line in enumerate(lines):
        names = "" if line.startswith("#") else "".join(line.split(maxsplit=1)[:1])
        for name in names.split(","):
            if name.startswith("|1|"):
                hashed.append((name, (number, line)))
            elif name:
                plain[name] = (*plain.get(name, ()), (number, line))
    return _Record(plain, tuple(hashed))


# A dropped connection reaches the caller as one exception, without paramiko's traceback on stderr,
# which logging prints where no handler is set up.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

# Authenticated ciphers go first, as in OpenSSH. paramiko begins with counter mode, whose separate
# MAC it compares byte by byte in Python: 8 % of the CPU of a change. A switch that offers only
# counter mode (the factory configuration of V200R019 and later) gets that.
_AUTHENTICATED_CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")


class SessionBrokenError(Exception):
    """The session was lost, timed out or cannot be interpreted; `why` is the reason.

    `last` is the last line that it printed, without secrets.
    """

    def __init__(self, why: str, last: str = "") -> None:
        self.why, self.last = why, last
        super().__init__(why)


class LoginTimeoutError(paramiko.SSHException):
    """The login was not complete in time."""


class UnlistedHostKeyError(paramiko.SSHException):
    """The host key of the switch is in none of the known hosts."""

    def __init__(self, server: str, key: paramiko.PKey) -> None:
        self.server, self.key_name, self.fingerprint = server, key.get_name(), key.fingerprint
        super().__init__(f"{server} offers an unknown {self.key_name} key {self.fingerprint}")


class RefuseUnlistedKey(paramiko.MissingHostKeyPolicy):
    """Policy for host keys that no known_hosts file lists."""

    def missing_host_key(
        self,
        client: paramiko.SSHClient,  # noqa: ARG002  # the signature is paramiko's
        hostname: str,
        key: paramiko.PKey,
    ) -> None:
        """Refuse the key."""
        raise UnlistedHostKeyError(hostname, key)


def transport(
    sock: socket.socket,
    disabled_algorithms: dict[str, Iterable[str]] | None,
    **_gss: bool,  # of paramiko up to 4; Netmiko leaves them off
) -> paramiko.Transport:
    """Return a transport that prefers authenticated ciphers."""
    made = paramiko.Transport(sock, disabled_algorithms=disabled_algorithms)
    security, first = made.get_security_options(), _AUTHENTICATED_CIPHERS
    security.ciphers = (*first, *(name for name in security.ciphers if name not in first))
    return made


NO_SESSION = "No existing session"  # paramiko's text for a closed connection
ENDED = (
    "ended the connection before the login: too many connections, an access list, or no algorithm "
    "in common"
)
_NO_VTY = (
    "accepts the login but opens no session: its VTYs are probably all in use",
    "end idle sessions (`display users`), or raise `user-interface maximum-vty`",
)
_OF_ERRNO = {
    errno.ECONNREFUSED: (
        "refuses connections",
        "check the port, and that its SSH server runs (`stelnet server enable`)",
    ),
    errno.EHOSTUNREACH: ("cannot be reached", "check the address and the route to it"),
    errno.ENETUNREACH: ("cannot be reached", "check the address and the route to it"),
    errno.ECONNRESET: (
        "ended the connection before the login",
        "check its access list and the number of its users (`display users`)",
    ),
}
NETMIKO_OPTIONS = frozenset(netmiko_args(defaultdict(str)))  # options that NAPALM passes on
CONNECT_S = 15.0  # for the TCP connection; a reachable switch answers much faster


@contextmanager
def connecting(hostname: str, options: dict[str, Any], username: str) -> Iterator[None]:
    """Turn exceptions of Netmiko and paramiko into one that names cause and fix."""
    at = f"{hostname}:{options.get('port') or 22}"
    try:
        known_hosts = options.get("alt_key_file")
        if known_hosts and not Path(known_hosts).is_file():
            what = f"{at}: known hosts: there is no file {known_hosts}"
            raise _failed(HostKeyError, what, "write it with the host key of the switch")
        yield
    except NetmikoAuthenticationException:
        what = f"{at} refuses the login of '{username}'"
        raise _failed(ConnectAuthError, what, "check name, password or key") from None
    except LoginTimeoutError:
        what = f"{at}: the login was not complete in time"
        how = "check the load of the switch and its AAA servers, or give a longer timeout"
        raise _failed(ConnectTimeoutError, what, how) from None
    except NetmikoTimeoutException as error:
        raise _connection_error(at, error.__context__) from None
    except SessionBrokenError as broken:
        shown = f"; last line of the switch: '{broken.last}'" if broken.last else ""
        raise ConnectionException(f"{at}: no prompt after the login: {broken.why}{shown}") from None
    except (InvalidHostKey, UnicodeDecodeError):
        raise HostKeyError(
            f"{at}: its line in the known hosts cannot be read: fix or remove it; not connected"
        ) from None
    except (paramiko.SSHException, EOFError, OSError) as error:
        raise _connection_error(at, error) from None


def _failed(kind: type[ConnectionException], what: str, how: str) -> ConnectionException:
    """Return an exception with its sentence and its fix, also apart."""
    error = kind(f"{what}: {how}")
    error.what, error.how = what, how
    return error


def ssh_options(options: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """Return the arguments of Netmiko's connection; host keys are always checked."""
    if options.get("ssh_strict") is False:
        raise ValueError("ssh_strict=False: host keys are always checked; give ssh_known_hosts")
    port = 22 if (given := options.get("port")) is None else given
    if not (isinstance(port, int | str) and str(port).isdecimal() and 0 < int(port) < 65536):
        raise ValueError(f"port: {port!r} is not a number from 1 to 65535")
    known_hosts = options.get("ssh_known_hosts") or options.get("alt_key_file")
    ssh = {name: value for name, value in options.items() if name in NETMIKO_OPTIONS}
    ssh.setdefault("conn_timeout", min(timeout_s, CONNECT_S))
    ssh.setdefault("auth_timeout", timeout_s)  # the whole login is bounded by `timeout`, too
    if known_hosts:
        ssh.update(alt_host_keys=True, alt_key_file=str(Path(known_hosts).expanduser()))
    ssh.update(ssh_strict=True, system_host_keys=not known_hosts)
    return ssh


def _connection_error(at: str, cause: BaseException | None) -> ConnectionException:
    if isinstance(cause, UnlistedHostKeyError):
        return HostKeyError(
            f"{at}: unknown host key {cause.key_name} {cause.fingerprint}: compare it with the "
            "switch's own, then add it to the known hosts",
            cause.fingerprint,
        )
    if isinstance(cause, paramiko.BadHostKeyException):
        return HostKeyError(
            f"{at}: the host key changed: it is {cause.key.get_name()} {cause.key.fingerprint}, "
            f"known is {cause.expected_key.fingerprint}; not connected",
            cause.key.fingerprint,
            cause.expected_key.fingerprint,
        )
    if isinstance(cause, TimeoutError):
        how = "check the address, and that the switch is up"
        return _failed(ConnectTimeoutError, f"{at}: no connection in time", how)
    if cause_and_fix := _known_cause(cause):
        what, how = cause_and_fix
        return _failed(ConnectionException, f"{at}: no connection: it {what}", how)
    text = str(cause or "")
    if text in ("", NO_SESSION):
        return ConnectionException(f"{at}: the switch {ENDED}")
    return ConnectionException(f"{at}: no connection: {text}")


def _known_cause(cause: BaseException | None) -> tuple[str, str] | None:
    """Return what a switch does that cannot be connected to, and the fix; None: not known."""
    if isinstance(cause, paramiko.ChannelException):
        return _NO_VTY
    if isinstance(cause, socket.gaierror):
        return "has a name without an address", "check the name, or use the address"
    return _OF_ERRNO.get(_errno(cause) or 0)


def _errno(cause: BaseException | None) -> int | None:
    """Return the number of a socket's error; of several addresses, that of the first."""
    if isinstance(cause, NoValidConnectionsError):
        cause = next(iter(cause.errors.values()), cause)
    return cause.errno if isinstance(cause, OSError) else None
