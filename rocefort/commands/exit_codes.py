"""Exit codes of commands."""

from __future__ import annotations

import typer

INTERRUPTED = 130  # as in a shell: 128 and the number of SIGINT


def end(*, failed: bool) -> None:
    """Exit with 1 if something failed; otherwise return."""
    if failed:
        raise typer.Exit(1)
