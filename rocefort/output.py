"""Standard output that may fail while a rollout is under way.

A pager that ends, a full disk or a terminal that is gone must not end a wave. From the first write
that fails, output goes nowhere, and the journal carries what happens.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}  # a full disk, a lost terminal


class LastingOutput:
    """A text stream that goes silent at the first write that fails."""

    def __init__(self, stream: TextIO, lost: str) -> None:
        self._stream, self._lost = stream, lost

    def write(self, text: str) -> int:
        """Write, or say once on standard error that nothing is written from now on."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            self._silence(error)
        return len(text)

    def flush(self) -> None:
        """Every write is flushed."""

    def _silence(self, error: OSError) -> None:
        silence(self._stream)
        said = f"rocefort: output cannot be written: {error.strerror}; {self._lost}\n"
        with suppress(OSError):  # standard error may be the same pipe
            sys.stderr.write(said)
            sys.stderr.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def silence(stream: TextIO) -> None:
    """Let all that is written to a stream go nowhere from now on, also what it has buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def lasting_output(lost: str) -> Iterator[None]:
    """Let no failing write to standard output end the block.

    lost: what still tells what happens, for the sentence on standard error.
    """
    before = sys.stdout
    if before is None:  # closed before this process began: print() and click write nowhere
        yield
        return
    sys.stdout = cast("TextIO", LastingOutput(before, lost))
    try:
        yield
    finally:
        sys.stdout = before
