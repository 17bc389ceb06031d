"""Report of an internal error: one line, and its traceback in a file, both without secrets."""

from __future__ import annotations

import sys
import tempfile
import traceback

EXIT_CODE = 70  # EX_SOFTWARE, none of the documented codes


def masked(text: str) -> str:
    """Mask the secrets that this process has read, if it has read any."""
    masking = sys.modules.get("rocefort.fleet.secret_masking")
    return str(masking.masked(text)) if masking else text


def described(error: BaseException) -> str:
    """The error in one line, without secrets, and of characters that any file and stream takes.

    Never raises, also where the error cannot make its own text.
    """
    text = masked(" ".join("".join(traceback.format_exception_only(error)).split()))
    return text.encode("utf-8", "backslashreplace").decode().rstrip(":")


def error_report(error: BaseException) -> tuple[str, str]:
    """What happened and what to do with it; the traceback is kept in a file."""
    return f"an internal error: {described(error)}", traceback_hint(error)


def traceback_hint(error: BaseException) -> str:
    """Write the traceback to a file; return what to do with it, also where no file can be written.

    Never raises: this runs where anything may have failed already.
    """
    try:
        text = masked("".join(traceback.format_exception(error)))
        with tempfile.NamedTemporaryFile(prefix="rocefort-", suffix=".log", delete=False) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except Exception as failure:  # noqa: BLE001 - whatever it is, a raw traceback is worse
        why = getattr(failure, "strerror", None) or described(failure)
        return f"its traceback could not be kept: {why}"
    return f"please report it with {file.name}"
