"""Reports of `render`."""

from __future__ import annotations

from rocefort.base.actions import WrittenFiles
from rocefort.design.results import RenderedTexts
from rocefort.reports.blocks import Code


def notes_report(done: WrittenFiles | RenderedTexts) -> Code:
    """Show the notes on the files."""
    return Code(done.notes)
