"""Internal errors: one line for the user, and a traceback in a file, both without secrets."""

from __future__ import annotations

import sys
import tempfile
import traceback

from napalm_cloudengine.masking import mask_logins
from napalm_cloudengine.text import visible


def masked(text: str) -> str:
    """Mask logins in URLs, and the secrets that this process has read, if it has read any."""
    masking = sys.modules.get("rocefort.base.secret_masking")
    return mask_logins(str(masking.masked(text)) if masking else text)


def described(error: BaseException) -> str:
    """Return the error in one line, without secrets, in characters that any stream accepts.

    Never raises, not even if the error cannot format its own text.
    """
    text = masked(" ".join("".join(traceback.format_exception_only(error)).split()))
    return visible(text).rstrip(":")


def error_report(error: BaseException) -> tuple[str, str]:
    """Return the error and the instruction to report it; the traceback goes to a file."""
    return f"an internal error: {described(error)}", traceback_hint(error)


def traceback_hint(error: BaseException) -> str:
    """Write the traceback to a file; return the instruction to report it, or why there is no file.

    Never raises: any part of the program may have failed before.
    """
    try:
        text = masked("".join(traceback.format_exception(error)))
        with tempfile.NamedTemporaryFile(prefix="rocefort-", suffix=".log", delete=False) as file:
            file.write(visible(text).encode())
    except Exception as failure:  # noqa: BLE001 - a raw traceback is worse
        why = getattr(failure, "strerror", None) or described(failure)
        return f"its traceback could not be kept: {why}"
    return f"please report it with {file.name}"
