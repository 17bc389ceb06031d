"""Connection errors of hosts, as one sentence with the device and its address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paramiko
from paramiko.hostkeys import InvalidHostKey

from rocefort.base.errors import BadInput, DeviceFailed

# Out of band, because the key shown over the network is in doubt.
CHANGED = (
    "find out why, and compare the fingerprint with the host's own at its console; if it is the "
    "same, `rocefort trust` shows how to replace the old one in {}"
)
UNKNOWN = (
    "compare the fingerprint with the host's own at its console; if it is the same, "
    "`rocefort trust` adds it to {}"
)


class UnknownHostKeyError(paramiko.SSHException):
    """Error of a host key that the known_hosts file does not have."""

    def __init__(self, key: paramiko.PKey) -> None:
        self.key_name, self.fingerprint = key.get_name(), key.fingerprint
        super().__init__(f"unknown host key {self.key_name} {self.fingerprint}")


class Unreachable(DeviceFailed):
    """Error without a session: no answer, a refused login, or a wrong host key."""


def unreachable(name: str, at: str, user: str, known_hosts: str, error: Exception) -> Unreachable:
    """Return the error for a session that did not open.

    name: device; at: `address:port`; error: what paramiko, NAPALM or the socket raised.
    """
    what, how = _explain(at, user, known_hosts, error)
    return Unreachable(what, where=name, how=how)


def _explain(at: str, user: str, known_hosts: str, error: Exception) -> tuple[str, str]:
    if (explanation := _of_host_key(at, known_hosts, error)) is not None:
        return explanation
    if isinstance(error, paramiko.AuthenticationException):
        return f"{at} refuses the login of {user!r}", "check the user and its credential"
    if isinstance(error, TimeoutError):
        return f"{at} does not answer in time", "check the address and that the host is up"
    if isinstance(error, (OSError, paramiko.SSHException, EOFError)):
        from napalm_cloudengine.connect import ENDED, NO_SESSION  # noqa: PLC0415 - as below

        text = str(error) or type(error).__name__
        text = f"it {ENDED}" if text == NO_SESSION else text
        return (
            f"no SSH session with {at}: {text}",
            "check the address, the port and that its SSH server runs",
        )
    what = getattr(error, "what", str(error))  # of the switches' driver, with its fix apart
    return what, getattr(error, "how", "check the device and its entry in the connections file")


def _of_host_key(at: str, known_hosts: str, error: Exception) -> tuple[str, str] | None:
    """Message for a host key that is not on record, from a server or the switches' driver."""
    from napalm_cloudengine.errors import HostKeyError  # noqa: PLC0415 - slow, and rarely needed

    if isinstance(error, paramiko.BadHostKeyException):
        what = f"{at} shows the host key {error.key.fingerprint}, not the one on record"
        return what, CHANGED.format(known_hosts)
    if isinstance(error, HostKeyError) and error.known:
        return str(error), CHANGED.format(known_hosts)
    if isinstance(error, UnknownHostKeyError):
        shown = f"{error.key_name} {error.fingerprint}"
    elif isinstance(error, HostKeyError) and error.fingerprint:
        shown = error.fingerprint
    else:
        return None
    return f"{at} shows the host key {shown}, which is not on record", UNKNOWN.format(known_hosts)


@contextmanager
def reading_known_hosts(path: Path, how: str) -> Iterator[None]:
    """Raise BadInput for an unreadable or damaged known_hosts file. how: the cure."""
    try:
        yield
    except OSError as error:
        reason = error.strerror
    except (InvalidHostKey, UnicodeDecodeError) as error:
        reason, how = " ".join(str(error).split()), "correct or remove that line"
    else:
        return
    raise BadInput(f"known hosts cannot be read: {reason}", file=str(path), how=how)
