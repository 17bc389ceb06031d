"""State of one login at an emulated CloudEngine, for the commands of its session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from rocefort.dialects.vrp.interpreter.interpreter import View, prompt_name
from rocefort.emulator.cli.replies import CliReply, OpenQuestion
from rocefort.emulator.switch.switch import EmulatedSwitch

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
