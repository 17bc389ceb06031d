"""How a command ends: with its exit code."""

from __future__ import annotations

import typer

INTERRUPTED = 130  # as a shell has it: 128 and the number of SIGINT


def end(*, failed: bool) -> None:
    """End with 1 where something failed; otherwise just return."""
    if failed:
        raise typer.Exit(1)
