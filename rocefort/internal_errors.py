"""Report of an internal error: one line, and its traceback in a file, both without secrets."""

from __future__ import annotations

import sys
import tempfile
import traceback

EXIT_CODE = 70  # EX_SOFTWARE, none of the documented codes


def masked(text: str) -> str:
    """Mask the secrets that this process has read, if it has read any."""
    masking = sys.modules.get("rocefort.fleet.masking")
    return str(masking.masked(text)) if masking else text


def described(error: BaseException) -> str:
    """The error in one line, without secrets."""
    return masked(" ".join(f"{type(error).__name__}: {error}".split()).rstrip(":"))


def kept(error: BaseException) -> str:
    """Write the traceback to a file; return what to do with it, also where no file can be written.

    Never raises: this runs where anything may have failed already.
    """
    try:
        text = masked("".join(traceback.format_exception(error)))
        with tempfile.NamedTemporaryFile(
            "w", prefix="rocefort-", suffix=".log", delete=False
        ) as file:
            file.write(text)
    except (OSError, MemoryError) as failure:
        why = getattr(failure, "strerror", None) or described(failure)
        return f"its traceback could not be kept: {why}"
    return f"please report it with {file.name}"
