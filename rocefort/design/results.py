"""Results of `render` and `import`, for programs and as reports."""

from __future__ import annotations

from pydantic import Field

from rocefort.base.actions import WrittenFiles
from rocefort.models.base import Frozen
from rocefort.reports.blocks import Code


class RenderedTexts(Frozen):
    """Configurations by name of switch, or files by name of server; empty if they are in files."""

    texts: dict[str, str] = Field(default_factory=dict)
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ImportedFabric(Frozen):
    """Fabric that was made from configurations, and the points that its author must review.

    designs: other designs in the texts. left: lines that the fabric does not have; equal ones of
    several switches are together, and lines_left is their number. whole: nothing is left. notes: on
    files and columns that were not read.
    """

    file: str
    whole: bool
    designs: tuple[str, ...]
    assumed: tuple[str, ...]
    differences: tuple[str, ...]
    left: tuple[str, ...]
    lines_left: int
    added: tuple[str, ...]
    notes: tuple[str, ...] = ()


def notes_report(done: WrittenFiles | RenderedTexts) -> Code:
    """Show the notes on the files."""
    return Code(done.notes)
