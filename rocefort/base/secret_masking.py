"""Mask secrets in all output of Rocefort, including texts of other libraries.

A text is first masked by its syntax where it is created: a driver recognises the password in a
line. This module is the second protection: it has every secret that was read, and masks it in any
text before the text is shown, logged or stored.
"""

from __future__ import annotations

import logging
import re
import traceback
from functools import cache
from threading import Lock
from typing import Any

from napalm_cloudengine.masking import MASK

SHORT = 6  # a shorter secret is masked only as a whole word, or half of a text would be masks

_secrets: set[str] = set()
_pattern: re.Pattern[str] | None = None  # of all secrets; replaced as a whole
_one_more = Lock()  # the sessions of a fleet read their secrets at once


def remember(secret: str) -> None:
    """Mask this secret from now on, in log records too."""
    global _pattern  # noqa: PLW0603 - the secrets are the process's
    with _one_more:
        if secret not in _secrets:
            _secrets.add(secret)
            forms = {form for value in _secrets for form in (value, repr(value)[1:-1])}
            longest = sorted(
                forms, key=lambda form: (-len(form), form)
            )  # it may hold a shorter one
            _pattern = re.compile("|".join(map(_whole, longest)))
    _guard_logging()


def masked(text: str) -> str:
    """Return a text with every secret masked that was read so far."""
    return _pattern.sub(MASK, text) if _pattern else text


def _whole(form: str) -> str:
    text = re.escape(form)
    return text if len(form) >= SHORT else rf"(?<!\w){text}(?!\w)"


@cache
def _guard_logging() -> None:
    """Mask every log record of this process: libraries log their input and their errors."""
    make_record = logging.getLogRecordFactory()

    def factory(*arguments: Any, **named: Any) -> logging.LogRecord:  # noqa: ANN401 - logging's own
        return _masked_record(make_record(*arguments, **named))

    logging.setLogRecordFactory(factory)


def _masked_record(record: logging.LogRecord) -> logging.LogRecord:
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - a wrong call of a library; logging reports it
        return record
    record.msg, record.args = masked(message), None
    if record.exc_info and record.exc_info[1] is not None:
        text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        record.exc_text = masked(text)  # formatters use it unchanged
    return record
