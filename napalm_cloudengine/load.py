"""Enter configuration text line by line, each line in the view that its indentation gives.

In a saved configuration a line belongs to the view that the less indented line above it opened, and
an unindented `#` leads back to the system view (command reference, "save"). On the command line
only `quit` closes a view, so this module sends the `quit`s that the indentation implies. Text
without any indentation is a list of commands and is sent unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from napalm.base.exceptions import MergeConfigException

from napalm_cloudengine import framing, regular_file
from napalm_cloudengine.framing import SwitchReply
from napalm_cloudengine.parse import Prompt
from napalm_cloudengine.text import SendLine, quotable

_MAX_DEPTH = 8


class RefusedError(Exception):
    """A line was refused: by the switch (`reply`), or by an unanswered question."""

    def __init__(self, line: SendLine, reply: str, question: str | None = None) -> None:
        self.line, self.reply, self.question = line, reply, question
        super().__init__(reply)


def config_text(filename: str | None, config: str | None) -> str:
    """Return the text of a file (preferred) or the text; MergeConfigException without either."""
    if filename is None and config is None:
        raise MergeConfigException("nothing to load: give filename or config")
    if filename is None:
        if not isinstance(config, str):
            raise MergeConfigException(f"config is a text, not {type(config).__name__}")
        return config
    try:
        return regular_file.read_bytes(Path(filename)).decode("utf-8")
    except (OSError, TypeError, ValueError) as error:
        raise MergeConfigException(f"{filename}: cannot be read: {error}") from None


class Loader:
    """Sends lines through `run`, starting and ending in the system view.

    `settle` returns the rest of the reply to the last line. Where other output is mixed with a
    reply, a line counts as accepted only if nothing else was printed.
    """

    def __init__(
        self, run: Callable[[str], SwitchReply], settle: Callable[[], SwitchReply], prompt: Prompt
    ) -> None:
        self._run, self._settle = run, settle
        self._prompt = prompt  # of the system view, then that of the last reply
        self._sent: SendLine | None = None  # the last line, whose prompt is not proven yet
        self._system_view = self._view = prompt.view
        self._opened: list[tuple[int, str]] = []  # indent of the line that opened, view before

    def load(self, lines: tuple[SendLine, ...]) -> None:
        """Send all lines; RefusedError names the first one that was not accepted."""
        nested = any(line.indent for line in lines)
        for line in lines:
            if line.text == "#":
                self._close(line, down_to=0)
                self._leave(line, self._system_view)
                continue
            if nested:
                self._close(line, down_to=line.indent + (line.text == "quit"))
            self._enter(line, nested)
        if lines:
            self._leave(lines[-1], self._system_view)
            rest = self._settle()
            self._refuse(lines[-1], rest.text)
            if rest.prompt != self._prompt:
                raise RefusedError(lines[-1], "the prompt changed after it")

    def _enter(self, line: SendLine, nested: bool) -> None:
        if line.text == "quit" and self._view == self._system_view:
            raise RefusedError(line, "'quit' would leave the system view; not sent")
        before = self._view
        self._send(line, line.text)
        if line.text == "quit":
            if self._opened and self._opened[-1][1] == self._view:
                self._opened.pop()  # closed by the text itself
        elif nested and self._view != before:
            self._opened.append((line.indent, before))

    def _close(self, line: SendLine, down_to: int) -> None:
        """Close the views opened by lines with an indentation of `down_to` or more."""
        while self._opened and self._opened[-1][0] >= down_to:
            self._leave(line, self._opened.pop()[1])

    def _leave(self, line: SendLine, view: str) -> None:
        for _ in range(_MAX_DEPTH):
            if self._view == view:
                return
            if self._view == self._system_view:
                break
            self._send(line, "quit")
        raise RefusedError(line, f"the view '{view}' before it was not reached again by 'quit'")

    def _refuse(self, line: SendLine, text: str) -> None:
        """Refuse a line that caused output other than log lines and repeats of the prompt."""
        if reply := framing.solicited(text, framing.prompt_text(self._prompt)):
            raise RefusedError(line, " ".join(reply.split()))

    def _send(self, line: SendLine, command: str) -> None:
        before = self._sent or line
        self._sent = line
        reply = self._run(command)
        self._refuse(before, reply.late)
        self._prompt = reply.prompt
        if reply.doubt:
            self._refuse(line, reply.text or reply.doubt)
        if reply.refused:
            raise RefusedError(line, "", reply.refused)
        if failed := reply.errors or reply.failures:
            raise RefusedError(line, " ".join(failed))
        if reply.unknown and not reply.doubt:
            raise RefusedError(line, f"a reply that is not known: '{quotable(reply.unknown)}'")
        if not reply.prompt.system:
            raise RefusedError(line, "it left the system view")
        self._view = reply.prompt.view
