"""Open the SSH session: options for Netmiko with host keys always checked, and clear errors."""

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

from napalm_cloudengine.errors import HostKeyError
from napalm_cloudengine.transport import SessionBrokenError, UnlistedHostKeyError

NO_SESSION = "No existing session"  # paramiko's text for a closed connection
ENDED = (
    "ended the connection before the login: too many connections, an access list, or no algorithm "
    "in common"
)
NETMIKO_OPTIONS = frozenset(netmiko_args(defaultdict(str)))  # options that NAPALM passes on
CONNECT_S = 15.0  # for the TCP connection; a reachable switch answers much faster


@contextmanager
def connecting(hostname: str, options: dict[str, Any], username: str) -> Iterator[None]:
    """Turn exceptions of Netmiko and paramiko into one that names the thing to check."""
    at = f"{hostname}:{options.get('port') or 22}"
    try:
        yield
    except NetmikoAuthenticationException:
        raise ConnectAuthError(
            f"{at} refuses the login of '{username}': check name, password or key"
        ) from None
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
    if known_hosts:
        path = Path(known_hosts).expanduser()
        if not path.is_file():
            raise ValueError(f"known hosts: there is no file {path}")
        ssh.update(alt_host_keys=True, alt_key_file=str(path))
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
        return ConnectTimeoutError(f"{at}: no connection in time")
    # paramiko's own error for a refused connection begins with a number that it does not have
    cause_text = str(cause).removeprefix("[Errno None] ")
    if cause_text == NO_SESSION:
        return ConnectionException(f"{at}: the switch {ENDED}")
    return ConnectionException(f"{at}: no connection: {cause_text}")
