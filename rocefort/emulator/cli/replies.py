"""Replies of an emulated switch to a line: text, a question, or the end of the session."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocefort.dialects.vrp.commands.format import starts_of


@dataclass(frozen=True, slots=True)
class CliReply:
    """Reply of the switch: text without the prompt, and the state of the session afterwards."""

    text: str = ""
    asks: bool = False  # the text ends in a question: no prompt follows
    closes: bool = False  # the session ends, after the text if there is one
    prompts: bool = False  # it ends behind the next prompt: the client sees a normal answer
    hangs: bool = False
    pages: bool = False  # shown screen by screen


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question: the action of each answer; without `cancel` only Y and N are answers."""

    text: str
    yes: Callable[[], CliReply]
    no: Callable[[], CliReply]
    cancel: Callable[[], CliReply] | None = None

    def choose(self, answer: str) -> Callable[[], CliReply] | None:
        """Return the action of an answer; None if it is not a valid answer."""
        match = re.fullmatch(r"y(es)?|n(o)?|c(ancel)?", answer.strip(), re.IGNORECASE)
        if match is None:
            return None
        choices = {"y": self.yes, "n": self.no, "c": self.cancel}
        return choices[match[0][0].casefold()]

    def repeat_text(self) -> str:
        """Return the text printed after an invalid answer."""
        words = "'YES', 'NO' or 'CANCEL'" if self.cancel else "'YES' or 'NO'"
        keys = "[Y/N/C]" if self.cancel else "[Y/N]"
        return f"Error: Please choose {words} first before pressing 'Enter'. {keys}:"


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A line as typed, its parameters, and its words with keywords in full."""

    line: str
    params: Mapping[str, str]
    words: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The typed words."""
        return tuple(self.line.split())

    def at(self, index: int) -> int:
        """Return the column of a word; the end of the line if there is no such word."""
        starts = starts_of(self.line)
        return starts[index] if index < len(starts) else len(self.line.rstrip())

    def index(self, position: int) -> int:
        """Return the index of the word at a column or before it; behind the line the word count."""
        if position >= len(self.line.rstrip()):
            return len(starts_of(self.line))
        return max(sum(start <= position for start in starts_of(self.line)) - 1, 0)
