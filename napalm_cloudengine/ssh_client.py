"""Settings of paramiko for a switch, and the errors of a session."""

import logging
import socket
from collections.abc import Iterable

import paramiko

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
