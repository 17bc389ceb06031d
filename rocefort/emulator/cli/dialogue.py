"""State of one login at an emulated CloudEngine, and its replies to a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rocefort.dialects.vrp.commands.format import starts_of
from rocefort.dialects.vrp.interpreter.interpreter import View, prompt_name
from rocefort.emulator.switch.switch import EmulatedSwitch


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


Stage = Literal["user", "two-stage", "immediate"]
SCREEN_LENGTH = 24  # lines, V300R023C00 `screen-length temporary`


class CliDialogue:
    """One login: its views, its open question. Raises NoFreeTerminal if every VTY is in use."""

    def __init__(self, switch: EmulatedSwitch, user: str) -> None:
        self.switch: EmulatedSwitch = switch
        self.user = user
        self.number: int = switch.open_session(user)
        self.stage: Stage = "user"
        self.view: View = ()
        self.question: OpenQuestion | None = None
        self.screen_length = SCREEN_LENGTH
        self.last_input = switch.clock()

    @property
    def in_system(self) -> bool:
        """Whether the session is in the system view or one below it."""
        return self.stage != "user"

    @property
    def prompt(self) -> str:
        """`<H>`, `[~H-view]` with `*` for `~` while lines are uncommitted, `[H]` if immediate.

        During its own trial the Personality sets the mark.
        """
        host = self.switch.hostname
        if not self.in_system:
            return f"<{host}>"
        on_trial = self.switch.trial_session == self.number
        mark = "*" if self.switch.dirty(self.number) else "~"
        mark = self.switch.personality.trial_prompt if mark == "~" and on_trial else mark
        mark = "" if self.stage == "immediate" else mark
        return f"[{mark}{host}{prompt_name(self.view, self.switch.family)}]"

    def close(self) -> None:
        """End the session after its connection is closed."""
        self.switch.close_session(self.number)

    def ask(
        self,
        text: str,
        yes: Callable[[], CliReply],
        no: Callable[[], CliReply] = CliReply,
        cancel: Callable[[], CliReply] | None = None,
    ) -> CliReply:
        """Print a question; the next line is its answer."""
        self.question = OpenQuestion(text, yes, no, cancel)
        return CliReply(text, asks=True)

    def refused(self, line: str, position: int, message: str) -> CliReply:
        """Return a refusal with the caret under the typed word, shifted by the prompt."""
        width = len(self.prompt) + min(position, len(line.rstrip()))
        return CliReply(f"{' ' * width}^\n{message}")

    def to_user_view(self) -> CliReply:
        """Leave every view."""
        self.stage, self.view = "user", ()
        return CliReply()
