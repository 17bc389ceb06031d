"""Open the SSH session: options for Netmiko with host keys always checked, and clear errors.

Each error has its fix as `how`, and its message without that as `what`.
"""

import errno
import socket
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paramiko
from napalm.base.exceptions import ConnectAuthError, ConnectionException, ConnectTimeoutError
from napalm.base.netmiko_helpers import netmiko_args
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException
from paramiko.hostkeys import InvalidHostKey
from paramiko.ssh_exception import NoValidConnectionsError

from napalm_cloudengine.errors import HostKeyError
from napalm_cloudengine.ssh_client import (
    LoginTimeoutError,
    SessionBrokenError,
    UnlistedHostKeyError,
)

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
