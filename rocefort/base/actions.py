"""Results of commands that write files or act, for programs."""

from __future__ import annotations

from rocefort.models.base import Frozen


class Done(Frozen):
    """Act of a command, in one or more sentences."""

    message: str


class WrittenFiles(Frozen):
    """Files that a command has written; notes: sentences on their content."""

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


class BackgroundProcess(Frozen):
    """Process that continues without this terminal; log: the file with its output."""

    process: int
    log: str
    message: str
