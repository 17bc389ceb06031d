"""Standard streams of this process, and visible text that no foreign text can control.

A name, a configuration or an output of a server may have control, bidirectional and zero-width
characters. Every text of a command passes `VisibleOutput`, which spells them; Rocefort's own
colours and cursor codes go another way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

from napalm_cloudengine.text import visible


def open_standard_streams() -> None:
    """Open standard streams that were closed before this process began, on the null device.

    Otherwise the next file, such as a journal, has their number, and gets what a child prints.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it was closed meanwhile
        return False


class VisibleOutput:
    """Text stream that spells unseen characters: control, bidirectional and zero-width ones."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text from anywhere."""
        return self.write_codes(visible(text))

    def write_codes(self, text: str) -> int:
        """Write a text with Rocefort's own colours and cursor codes, whose words are visible."""
        return for_codes(self._stream).write(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts from anywhere."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        if name == "buffer":  # with ASCII encoding, click would bypass `write`
            raise AttributeError(name)
        return getattr(self._stream, name)


class _CodesOutput:
    """A stream for Rocefort's own colours and cursor codes."""

    def __init__(self, stream: VisibleOutput) -> None:
        self._stream, self.write = stream, stream.write_codes

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def for_codes(stream: TextIO) -> TextIO:
    """Return a stream that writes Rocefort's own codes to `stream`; all other text is visible."""
    own = _CodesOutput(stream) if isinstance(stream, VisibleOutput) else stream
    return cast("TextIO", own)


@contextmanager
def visible_streams() -> Iterator[None]:
    """Make every text visible that the block writes to standard output and standard error."""
    before = sys.stdout, sys.stderr
    out, err = map(_visible, before)
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        if sys.stdout is out and sys.stderr is err:  # not replaced by a test or a display
            sys.stdout, sys.stderr = before


def _visible(stream: TextIO | None) -> TextIO:
    """Return a stream that spells; one that was closed before the process started stays None."""
    is_one = stream is None or isinstance(stream, VisibleOutput)
    return cast("TextIO", stream if is_one else VisibleOutput(cast("TextIO", stream)))
