"""One controller at a time: a lock that the kernel frees when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rocefort.errors import Refused, ServiceFailed
from rocefort.models.change import digest_of


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
                f"another controller (process {handle.read().strip()}) applies a plan",
                where=str(path),
                how="wait for it to end",
            ) from None
        if not _is_at(handle, path):  # its holder removed it after we had opened it
            raise Refused("another controller has just ended", where=str(path), how="try again")
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # before the lock goes


def _is_at(handle: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle.fileno()), path.stat())
    except FileNotFoundError:
        return False
