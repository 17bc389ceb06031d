"""Results of commands that write files or act, as lines that are never wrapped.

They contain paths and commands, which a user copies.
"""

from __future__ import annotations

from rocefort.base.actions import BackgroundProcess, Done, WrittenFiles
from rocefort.reports.blocks import Code


def done_report(done: Done) -> Code:
    """Show the act."""
    return Code((done.message,))


def written_files_report(done: WrittenFiles) -> Code:
    """Show one path a line, then the notes."""
    return Code((*done.files, *done.notes))


def background_report(running: BackgroundProcess) -> Code:
    """Show where the process writes, and the commands that watch and stop it."""
    return Code(tuple(running.message.splitlines()))
