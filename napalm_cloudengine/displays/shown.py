"""One answer of a switch as numbered lines, and the error that names an unreadable line."""

import re
from dataclasses import dataclass
from functools import cached_property

_RULER = re.compile(r"\s*[-=]{4,}\s*")
_INTERFACE = re.compile(
    r"(?:\d+GE|[A-Za-z]+(?:-[A-Za-z]+)*)\d+(?:/\d+)*(?::\d+)?(?:\.\d+)?", re.ASCII
)


class UnreadableError(ValueError):
    """An answer not in the documented form: `command`, `line` (from 1) and `what` is wrong."""

    def __init__(self, command: str, line: int, what: str) -> None:
        self.command, self.line, self.what = command, line, what
        super().__init__(f"'{command}', line {line}: {what}")


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A line of an answer that is neither blank nor a ruler; number counts from 1."""

    number: int
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class DisplayAnswer:
    """The answer of a switch to a command."""

    command: str
    text: str

    @cached_property
    def lines(self) -> tuple[DisplayLine, ...]:
        """Return the lines that are not empty."""
        return tuple(
            DisplayLine(number, line.rstrip(), tuple(line.split()))
            for number, line in enumerate(self.text.splitlines(), 1)
            if line.strip() and not _RULER.fullmatch(line)
        )

    def wrong(self, number: int, what: str) -> UnreadableError:
        """Return the error about a line of this answer."""
        return UnreadableError(self.command, number, what)


def is_interface(word: str) -> bool:
    """Whether a word has the form of an interface's name, `100GE1/0/1:2` or `Eth-Trunk10`."""
    return _INTERFACE.fullmatch(word) is not None
