"""One answer of a switch as lines with numbers, and the error that names what cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rocefort.errors import DeviceFailed

RULER = re.compile(r"\s*[-=]{4,}\s*")
HOW = "its form is not the documented one: run the command by hand, and report what it shows"


@dataclass(frozen=True)
class Row:
    """A line of an answer that is neither blank nor a ruler; number counts from 1."""

    number: int
    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its cells, where no cell holds a blank."""
        return tuple(self.text.split())


@dataclass(frozen=True)
class Shown:
    """What a switch answered to a command."""

    device: str
    command: str
    text: str

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All lines with something on them."""
        lines = enumerate(self.text.splitlines(), 1)
        return tuple(
            Row(number, line.rstrip())
            for number, line in lines
            if line.strip() and not RULER.fullmatch(line)
        )

    def below(self, heading: str) -> tuple[Row, ...]:
        """Rows below the one line that a pattern matches; raises DeviceFailed without one."""
        found = [index for index, row in enumerate(self.rows) if re.match(heading, row.text)]
        if len(found) != 1:
            raise self.wrong(1, f"{len(found)} headings of its table instead of one")
        return self.rows[found[0] + 1 :]

    def head(self, heading: str) -> Row:
        """The one line that a pattern matches; raises DeviceFailed without one."""
        found = [row for row in self.rows if re.match(heading, row.text)]
        if len(found) != 1:
            raise self.wrong(1, f"{len(found)} headings of its table instead of one")
        return found[0]

    def number(self, row: Row, text: str) -> int:
        """A count; raises DeviceFailed for anything else."""
        if not re.fullmatch(r"\d[\d,]*", text, re.ASCII):
            raise self.wrong(row.number, f"{text!r} is not a count")
        return int(text.replace(",", ""))

    def numbers(self, row: Row, words: tuple[str, ...]) -> Iterator[int]:
        """Counts."""
        return (self.number(row, word) for word in words)

    def wrong(self, number: int, what: str) -> DeviceFailed:
        """The error about a line of this answer."""
        return DeviceFailed(f"'{self.command}', line {number}: {what}", where=self.device, how=HOW)
