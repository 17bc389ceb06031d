"""Exit of a command whose result is not clean."""

from __future__ import annotations

import typer

from rocefort.base.exit_codes import ExitCode


def end(*, failed: bool, stopped: bool = False) -> None:
    """Exit with the code of findings, or of an operator's stop; otherwise return."""
    if failed:
        raise typer.Exit(ExitCode.FINDINGS)
    if stopped:
        raise typer.Exit(ExitCode.STOPPED)
