"""Exit of a command whose result is not clean."""

from __future__ import annotations

import typer

from rocefort.exit_codes import ExitCode


def end(*, failed: bool) -> None:
    """Exit with the code of findings if something failed; otherwise return."""
    if failed:
        raise typer.Exit(ExitCode.FINDINGS)
