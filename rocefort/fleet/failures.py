"""What goes wrong between Rocefort and a host, as one sentence with the device and its address."""

from __future__ import annotations

import paramiko

from rocefort.errors import DeviceFailed


class UnknownHostKeyError(paramiko.SSHException):
    """The host offers a key that the known_hosts file does not have."""

    def __init__(self, key: paramiko.PKey) -> None:
        self.key_name, self.fingerprint = key.get_name(), key.fingerprint
        super().__init__(f"unknown host key {self.key_name} {self.fingerprint}")


class Unreachable(DeviceFailed):
    """No session: the host does not answer, refuses the login, or is not who it should be."""


def unreachable(name: str, at: str, user: str, known_hosts: str, error: Exception) -> Unreachable:
    """Say why there is no session.

    name: device; at: `address:port`; error: what paramiko, NAPALM or the socket raised.
    """
    what, how = _explain(at, user, known_hosts, error)
    return Unreachable(what, where=name, how=how)


def _explain(at: str, user: str, known_hosts: str, error: Exception) -> tuple[str, str]:
    if isinstance(error, paramiko.BadHostKeyException):
        return (
            f"{at} shows the host key {error.key.fingerprint}, not the one on record",
            f"find out why it changed; if it should have, correct {known_hosts}",
        )
    if isinstance(error, UnknownHostKeyError):
        return (
            f"{at} shows the host key {error.key_name} {error.fingerprint}, which is not on record",
            f"compare it with the host's own, then add it to {known_hosts}",
        )
    if isinstance(error, paramiko.AuthenticationException):
        return f"{at} refuses the login of {user!r}", "check the user and its credential"
    if isinstance(error, TimeoutError):
        return f"{at} does not answer in time", "check the address and that the host is up"
    if isinstance(error, (OSError, paramiko.SSHException, EOFError)):
        said = str(error) or type(error).__name__
        return (
            f"no SSH session with {at}: {said}",
            "check the address, the port and that its SSH server runs",
        )
    return str(error), "check the device and its entry in the connections file"
