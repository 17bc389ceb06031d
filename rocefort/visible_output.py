"""Standard output and standard error that no foreign text can control.

A name, a configuration or an output of a server may have control, bidirectional and zero-width
characters. Every text of a command passes `VisibleOutput`, which spells them; Rocefort's own
colours and cursor codes go another way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

from napalm_cloudengine.text import visible


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
