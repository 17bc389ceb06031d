"""Compiler of the kernel; compiled code is cached, by the digest of the kernel's sources.

numba's own cache notices a change of a function's file, but not of a file that it imports.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


@cache
def cache_directory() -> Path | None:
    """Return the directory of compiled code; None if none can be written."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    for parent in (given, "~/.cache", tempfile.gettempdir() + f"/rocefort-{os.getuid()}"):
        if parent is None:
            continue
        directory = Path(parent).expanduser() / "rocefort" / f"kernel-{digest}"
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # RuntimeError: no home directory
            continue
        if os.access(directory, os.W_OK) and directory.stat().st_uid == os.getuid():
            return directory
    return None


def jit(function: Compiled) -> Compiled:
    """Compile a function at its first call, without the interpreter's lock."""
    directory = cache_directory()
    if directory is None:
        compiled: Any = numba.njit(nogil=True)(function)
        return compiled
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory)
    try:
        compiled = numba.njit(nogil=True, cache=True)(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled
