"""Proposals in errors of a command line: the nearest option, and the nearest of its values."""

from __future__ import annotations

import re
from typing import Any

BOUNDS = {
    "Input should be greater than or equal to": "it is at least",
    "Input should be less than or equal to": "it is at most",
}
WRONG_CHOICE = re.compile(r"(?:Value error, )?(?P<what>'(?P<value>.*?)' is not one of .*?)\.?")


def propose(error: Any) -> None:  # noqa: ANN401 - an error of Click, or of Typer's copy
    """Add the nearest name to the message of an error, if there is one; put bounds in words."""
    for theirs, ours in BOUNDS.items():
        if getattr(error, "message", "").startswith(theirs):
            error.message = error.message.replace(theirs, ours)
    from rocefort.base.documents.suggest import near  # only for an error

    if names := getattr(error, "possibilities", None):
        error.possibilities = None
        given = getattr(error, "option_name", None) or error.command_name
        stems = {name.lstrip("-"): name for name in names}  # `--` makes any two options similar
        if similar := near(given.lstrip("-"), stems):
            error.message += f"; did you mean {stems[similar]!r}?"
    elif wrong := WRONG_CHOICE.fullmatch(getattr(error, "message", "")):
        choices = error.param.type_descriptor.choices or ()
        similar = near(wrong["value"], map(str, choices))
        error.message = wrong["what"] + (f"; did you mean {similar!r}?" if similar else "")
