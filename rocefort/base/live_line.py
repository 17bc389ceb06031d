"""One line of a terminal that is drawn again: a bar and a sentence."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, OverflowMethod
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from napalm_cloudengine.text import visible_line

BAR = 20  # columns
LEAST = 60  # columns of a terminal with room for a bar
ERASE_REST = "\x1b[K"


class LiveLine:
    """Line on standard error, as wide and as coloured as that is."""

    def __init__(self, write: Callable[[str], None], console: Console | None = None) -> None:
        self._write = write
        self._console = console or Console(
            stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=False
        )
        self._drawn = False

    def draw(self, sentence: str, share: float | None) -> None:
        """Draw the line; share: done part of the step, None draws no bar."""
        console = self._console
        width = console.width - 1  # a terminal may wrap after its last column
        too_long: OverflowMethod = "crop" if console.options.ascii_only else "ellipsis"
        line: Table | Text = Text(visible_line(sentence))
        if share is not None and width >= LEAST:
            bar, text, line = ProgressBar(total=1.0, completed=share, width=BAR), line, Table.grid()
            line.add_column(width=BAR + 1)
            line.add_column(width=width - BAR - 1, no_wrap=True, overflow=too_long)
            line.add_row(bar, text)
        with console.capture() as drawn:
            console.print(line, width=width, no_wrap=True, overflow=too_long)
        self._write(f"\r{drawn.get().rstrip()}{ERASE_REST}")
        self._drawn = True

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._write(f"\r{ERASE_REST}")
            self._drawn = False
