"""What an emulated switch answers to a line: text, a question, the end of the session."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocefort.dialects.vrp.commands.format import starts_of


@dataclass(frozen=True, slots=True)
class CliReply:
    """What the switch answers: text without the prompt, and how the line goes on."""

    text: str = ""
    asks: bool = False  # the text ends in a question: no prompt follows
    closes: bool = False  # the session ends, after the text if there is one
    prompts: bool = False  # it ends behind the next prompt, as far as the client can see answered
    hangs: bool = False
    pages: bool = False  # shown screen by screen


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question: what each answer does; without `cancel` only Y and N are answers."""

    text: str
    yes: Callable[[], CliReply]
    no: Callable[[], CliReply]
    cancel: Callable[[], CliReply] | None = None

    def choose(self, answer: str) -> Callable[[], CliReply] | None:
        """What an answer does; None for what is none."""
        found = re.fullmatch(r"y(es)?|n(o)?|c(ancel)?", answer.strip(), re.IGNORECASE)
        if found is None:
            return None
        choices = {"y": self.yes, "n": self.no, "c": self.cancel}
        return choices[found[0][0].casefold()]

    def repeat_text(self) -> str:
        """What is printed after an answer that is none."""
        words = "'YES', 'NO' or 'CANCEL'" if self.cancel else "'YES' or 'NO'"
        keys = "[Y/N/C]" if self.cancel else "[Y/N]"
        return f"Error: Please choose {words} first before pressing 'Enter'. {keys}:"


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A line as it was typed, what its parameters are, and its words with keywords in full."""

    line: str
    params: Mapping[str, str]
    words: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its words."""
        return tuple(self.line.split())

    def at(self, index: int) -> int:
        """Where a word starts; behind the last for one that is not there."""
        starts = starts_of(self.line)
        return starts[index] if index < len(starts) else len(self.line.rstrip())

    def index(self, position: int) -> int:
        """The word that starts at a place or before it; their number for one behind the last."""
        if position >= len(self.line.rstrip()):
            return len(starts_of(self.line))
        return max(sum(start <= position for start in starts_of(self.line)) - 1, 0)
