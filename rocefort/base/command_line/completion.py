"""Completion of command lines in bash, zsh and fish.

The scripts and their protocol are Click's. Typer's copy of Click finds the parameter to complete.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from click.shell_completion import CompletionItem, ShellComplete, get_completion_class
from typer._click.shell_completion import _resolve_context, _resolve_incomplete

from rocefort.base.command_line.help import all_commands

PROGRAM, VARIABLE = "rocefort", "_ROCEFORT_COMPLETE"
# Names come from files, and bash puts them into the command line without quotes.
PLAIN = re.compile(r"[A-Za-z0-9_.,:=/+@-]+", re.ASCII)


def completion_script(shell: str) -> str:
    """Return the script that a shell evaluates."""
    script = _completer(None, shell).source()
    return script.replace(
        'string split ","', 'string split --max 1 ","'
    )  # fish: values have commas


def answer(root: Any, instruction: str) -> str:  # noqa: ANN401 - Typer's group
    """Return the answer to an instruction, such as `bash_complete`; nothing after any error."""
    shell, _, action = instruction.partition("_")
    with suppress(Exception), _no_errors():
        if action == "source":
            return completion_script(shell)
        completer = _completer(root, shell)
        words, incomplete = completer.get_completion_args()
        items = [
            item
            for item in _items(root, [word for word in words if word != "="], incomplete)
            if item.type == "file" or PLAIN.fullmatch(item.value)
        ]
        return "\n".join(map(completer.format_completion, items))
    return ""


def _completer(root: Any, shell: str) -> ShellComplete:  # noqa: ANN401 - Typer's group
    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(shell)
    return kind(root, {}, PROGRAM, VARIABLE)


def _items(root: Any, words: list[str], incomplete: str) -> list[CompletionItem[str]]:  # noqa: ANN401
    """Return the names that fit; without one, the shell completes names of files."""
    for _, command in all_commands(root):
        for each in command.params:
            if callable(each.default):  # the only fabric of the site: there may be none, or more
                each.default = None
    whole = (
        words[:-1] if words and words[-1].startswith("-") else words
    )  # an option has no value yet
    context = _resolve_context(root, {}, PROGRAM, list(whole))
    parameter, begun = _resolve_incomplete(context, words, incomplete)
    found: list[Any] = parameter.shell_complete(context, begun)
    if incomplete.startswith("-") and "=" in incomplete:  # one word, except in bash
        head = incomplete.partition("=")[0]
        return [CompletionItem(f"{head}={each.value}", help=each.help) for each in found]
    wants_file = not found and not incomplete.startswith("-")
    return [CompletionItem(begun, type="file")] if wants_file else found


@contextmanager
def _no_errors() -> Iterator[None]:
    """Discard what is written to standard error: a person is at a prompt."""
    before = sys.stderr
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stderr = before
