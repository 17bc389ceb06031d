"""Read a file that a person names: never a pipe, a socket or a device, which could wait forever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, cast

_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, without waiting; raises OSError, also for what is no file."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno == errno.ENXIO:  # of a socket
            raise OSError(errno.EINVAL, "it is a socket, not a file", str(path)) from None
        raise
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return cast("BinaryIO", os.fdopen(number, "rb"))
    os.close(number)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "something else")
    raise OSError(errno.EINVAL, f"it is {kind}, not a file", str(path))


def read_bytes(path: Path) -> bytes:
    """Return the content of a file; raises as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """Return a file as text with plain line ends; raises also UnicodeDecodeError."""
    return read_bytes(path).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
