"""Secrets by reference: `env:NAME`, `file:PATH`, `keyring:SERVICE/USER`; servers: `key:PATH`.

A secret is read when a session opens, and never printed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Annotated, NoReturn

from pydantic import AfterValidator

from napalm_cloudengine import regular_file
from napalm_cloudengine.masking import MASK
from rocefort.base.errors import BadInput, Problem, Refused, ServiceFailed, install_command
from rocefort.base.processes import keep_from_children
from rocefort.base.secret_masking import remember
from rocefort.models.base import check_reference

LARGEST_BYTES = 4096  # a password, not a key ring
KEY = "key:"
_ONE_FILE = Lock()  # all sessions of a fleet open at once, often with one file


def _check_key_or_reference(value: str) -> str:
    return value if value.removeprefix(KEY) not in (value, "") else check_reference(value)


KeyOrReference = Annotated[str, AfterValidator(_check_key_or_reference)]


class Secret:
    """String that only `reveal()` returns in clear text."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret in clear text, for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not written anywhere")


def resolve(reference: str) -> Secret:
    """Read the secret of a reference.

    Raises BadInput for a missing secret, Refused for a file that other users can read,
    ServiceFailed if the keyring does not answer.
    """
    scheme, _, rest = check_reference(reference).partition(":")
    value = READERS[scheme](rest)
    value = value.removesuffix("\n")
    if not value or "\n" in value or "\x00" in value:
        raise BadInput(
            "the secret is empty or more than one line",
            where=reference,
            how="store the password alone, on one line",
        )
    remember(value)
    return Secret(value)


def key_of(reference: str) -> Path | None:
    """Private key file of a reference; None if the reference names a password.

    Raises BadInput for a missing file, Refused for a file that other users can read.
    """
    if not reference.startswith(KEY):
        return None
    path = Path(reference.removeprefix(KEY))
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise _unreadable(error, reference) from None
    _private(mode, path, reference)
    return path


def resolve_all(references: Iterable[str]) -> dict[str, Secret]:
    """Read all secrets; raises one error with every reference that fails."""
    secrets: dict[str, Secret] = {}
    problems: list[Problem] = []
    kind: type[BadInput | Refused] = Refused
    for reference in references:
        try:
            secrets[reference] = resolve(reference)
        except (BadInput, Refused) as error:
            problems += error.problems
            kind = BadInput if isinstance(error, BadInput) else kind
    if problems:
        raise kind(problems=problems)
    return secrets


def _from_environment(name: str) -> str:
    keep_from_children(name)
    try:
        return os.environ[name]
    except KeyError:
        raise BadInput(
            f"the environment has no variable {name}",
            where=f"env:{name}",
            how=f"export {name} with the password, or change the credential",
        ) from None


def _from_file(name: str) -> str:
    path = Path(name)
    try:
        with _ONE_FILE, regular_file.open_regular(path) as file:
            mode = os.fstat(file.fileno()).st_mode  # of the open file, because its path may change
            _private(mode, path, f"file:{path}")
            return file.read(LARGEST_BYTES).decode()
    except OSError as error:
        raise _unreadable(error, f"file:{path}") from None
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", where=f"file:{path}", how="store plain text") from None


def _unreadable(error: OSError, where: str) -> BadInput:
    how = "ulimit -n raises the limit" if error.errno == errno.EMFILE else "check the path"
    return BadInput(f"cannot be read: {error.strerror}", where=where, how=how)


def _private(mode: int, path: Path, where: str) -> None:
    """Raise Refused for a file that other users can read."""
    if stat.S_IMODE(mode) & 0o177:
        what = f"the file has mode {stat.S_IMODE(mode):04o}, not 0600"
        raise Refused(what, where=where, how=f"chmod 600 {path}")


def _from_keyring(name: str) -> str:
    """Read a password from the system's keyring, by service and user."""
    service, _, user = name.rpartition("/")
    try:
        import keyring  # noqa: PLC0415 - an extra, and slow
        from keyring.errors import KeyringError  # noqa: PLC0415
    except ImportError:
        raise BadInput(
            "the extra that reads keyrings is not installed",
            where=f"keyring:{name}",
            how=f"{install_command('keyring')}, or use env:NAME or file:PATH",
        ) from None
    try:
        password = keyring.get_password(service, user)
    except (KeyringError, OSError, RuntimeError) as error:
        raise ServiceFailed(
            f"the keyring does not answer: {str(error) or type(error).__name__}",
            where=f"keyring:{name}",
            how="unlock it, see `keyring diagnose`, or use env:NAME or file:PATH",
        ) from None
    if password is None:
        raise BadInput(
            f"the keyring has no password of {user!r} for {service!r}",
            where=f"keyring:{name}",
            how=f"store it: keyring set {service} {user}",
        )
    return str(password)


READERS: Mapping[str, Callable[[str], str]] = {
    "env": _from_environment,
    "file": _from_file,
    "keyring": _from_keyring,
}
