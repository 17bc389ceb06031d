"""The pager of an emulated switch: `---- More ----` after every screen of a query's output."""

from __future__ import annotations

from dataclasses import dataclass, field

MORE = "  ---- More ----"
ERASE = "\x1b[16D                \x1b[16D"  # back over it, blanks, and back: FIELD, drivers
NEXT_PAGE, NEXT_LINE, STOP = b" ", b"\r\n", b"qQ\x03"


@dataclass
class Pager:
    """Text that is shown screen by screen; `length` lines each, 0 for all at once."""

    text: str
    length: int
    rest: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rest = self.text.split("\n")

    def first(self) -> str:
        """The first screen."""
        return self._show(self.length or len(self.rest))

    @property
    def waits(self) -> bool:
        """Whether a key is due."""
        return bool(self.rest)

    def press(self, key: int) -> str:
        """What one key brings: blank a screen, Enter a line, q or Ctrl-C the end; else nothing."""
        if key in STOP:
            self.rest = []
            return ERASE
        if key in NEXT_PAGE:
            return ERASE + self._show(self.length)
        return ERASE + self._show(1) if key in NEXT_LINE else ""

    def _show(self, count: int) -> str:
        shown, self.rest = self.rest[:count], self.rest[count:]
        return "\n".join([*shown, MORE if self.rest else ""])
