"""Standard output: results as text or JSON, and writes that may fail during a rollout.

A closed pager, a full disk or a lost terminal must not end a wave. After the first write that
fails, output is discarded; the journal still records every event.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO, cast

import click

from rocefort.base.json_output import write_json
from rocefort.base.streams import VisibleOutput

__all__ = [
    "force_color",
    "lasting_output",
    "print_error",
    "silence",
    "write_json",
]

if TYPE_CHECKING:
    from rocefort.base.errors import RocefortError

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}  # a full disk, a lost terminal


_quiet = False


def be_quiet(on: bool) -> None:
    """Leave notes out, or write them again."""
    global _quiet  # noqa: PLW0603 - the process's output
    _quiet = on


def is_quiet() -> bool:
    """Whether notes and progress are left out."""
    return _quiet


def write_note(text: str, *, err: bool = True) -> None:
    """Write a line beside the result, such as a note or progress; `--quiet` leaves it out."""
    if _quiet:
        return
    if err:
        print_error(text)
    else:
        click.echo(text, color=True)  # click removes no part of a code: it is spelled


def force_color(*, on: bool) -> None:
    """Write colors to any output, or none, in this process and in those that it starts."""
    variables = ("NO_COLOR", "FORCE_COLOR")  # of rich and other programs
    os.environ[variables[on]] = "1"
    os.environ.pop(variables[not on], None)


def text_of_error(error: RocefortError) -> str:
    """Return the text of an error: a line for each problem, with the line of its file below it."""
    text = str(error)
    # No file was read without this module.
    if excerpts := sys.modules.get("rocefort.base.documents.syntax_errors"):
        text = excerpts.sentences_with_excerpts(error.problems, get_terminal_size().columns)
    return text if "\n" in str(error) else f"rocefort: {text}"


def print_error(text: str) -> None:
    """Write a line to standard error; if that is closed, only the exit code remains."""
    with suppress(OSError):
        click.echo(text, err=True, color=True)


class LastingOutput(VisibleOutput):
    """Text stream that discards output after the first write that fails.

    nowhere: a descriptor of the null device, open before it is needed.
    """

    def __init__(self, stream: TextIO, lost: str, nowhere: int) -> None:
        super().__init__(stream)
        self._lost, self._nowhere = lost, nowhere
        self._silent = False

    def write_codes(self, text: str) -> int:
        """Write; at the first failure, report once on standard error that output is lost."""
        if self._silent:
            return len(text)
        encoding = self._stream.encoding or "utf-8"
        try:  # characters outside the encoding are escaped
            super().write_codes(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            self._silence(error)
        return len(text)

    def flush(self) -> None:
        """Do nothing: every write is flushed."""

    def _silence(self, error: OSError | ValueError) -> None:
        self._silent = True
        with suppress(OSError, ValueError):  # closed, or in memory
            os.dup2(self._nowhere, self._stream.fileno())  # also for buffered text
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        if sys.stderr is None:
            return
        with suppress(OSError, ValueError):  # standard error may be the same pipe
            sys.stderr.write(f"rocefort: output cannot be written: {why}; {self._lost}\n")
            sys.stderr.flush()


def silence(stream: TextIO) -> None:
    """Discard all further output of a stream, also its buffered text."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def lasting_output(lost: str) -> Iterator[None]:
    """Keep a failed write to standard output or standard error from ending the block.

    lost: instruction to follow the run, for the message on standard error.
    """
    before = sys.stdout, sys.stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    sys.stdout, sys.stderr = (  # a closed one stays None: print() and click discard text
        stream and cast("TextIO", LastingOutput(stream, lost, nowhere)) for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        os.close(nowhere)
