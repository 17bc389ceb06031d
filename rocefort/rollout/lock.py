"""One controller at a time: a lock that the kernel frees when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from rocefort.errors import Refused, ServiceFailed
from rocefort.models.change import digest_of
from rocefort.rollout import who

HOLDER = re.compile(r"process (?P<process>\d+) on (?P<host>\S+), since ")


@contextmanager
def one_controller(addresses: Iterable[str]) -> Iterator[None]:
    """Hold these switches for one controller, whatever its plan and its journal are called.

    addresses: `host:port` of every switch of the site. Holds among the controllers of one user on
    one machine; beyond that the switches decide, which take one trial at a time. Raises Refused.
    """
    key = digest_of(sorted(set(addresses)))[:16]
    directory = Path(tempfile.gettempdir())
    with locked(directory / f"rocefort-{os.getuid()}-{key}.lock"):
        yield


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, gone at the end; raises Refused, naming who has it, where another does."""
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        handle = os.fdopen(os.open(path, flags, 0o600), "r+")
    except OSError as error:
        raise ServiceFailed(f"cannot be opened: {error.strerror}", where=str(path)) from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"another controller ({handle.read().strip()}) applies a plan",
                where=str(path),
                how="wait for it to end",
            ) from None
        if not _is_at(handle, path):  # its holder removed it after we had opened it
            raise Refused("another controller has just ended", where=str(path), how="try again")
        handle.truncate(0)
        handle.write(f"process {os.getpid()} on {who.host()}, since {_now()}")
        handle.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # before the lock goes


def holder(path: Path) -> str:
    """Who has a lock: `process N on HOST, since TIME`; empty: nobody. Takes none, writes nothing.

    A lock that was left by a controller that died is told apart by its process.
    """
    try:
        said = path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    found = HOLDER.match(said)
    if found and found["host"] == who.host():
        try:
            os.kill(int(found["process"]), 0)
        except ProcessLookupError:
            return ""
        except PermissionError:  # it lives, and is another user's
            return said
    return said


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _is_at(handle: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle.fileno()), path.stat())
    except FileNotFoundError:
        return False
