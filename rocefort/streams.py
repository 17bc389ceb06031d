"""Standard streams of this process: closed ones, and those that are a terminal."""

from __future__ import annotations

import os
import sys
from typing import TextIO


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
