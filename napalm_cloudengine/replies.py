"""Reply of a switch to one line: its text, and the properties of that text."""

import re
from dataclasses import dataclass

from napalm_cloudengine import parse
from napalm_cloudengine.masking import mask_secrets


@dataclass(frozen=True)
class PartialReply:
    """A reply up to its prompt or to a question; `before` came before the echo."""

    before: str
    text: str
    anchored: bool = True  # whether the echo was found
    prompt: parse.Prompt | None = None
    question: str = ""  # that ends the text


@dataclass(frozen=True)
class SwitchReply:
    """Reply of the switch to one line.

    `text` is everything between the echo and the prompt, `refused` the question that no row of the
    table answered (it got a no), `prompt` the CLI's current prompt. `doubt` is an unsolicited line
    of the text, or the reason why the reply was not found; `late` is the output before the echo.
    `fault` is the reason why the text is not certain: bytes in no known encoding, or a pager.
    `answered` are the questions in the text that got an answer, `encoding` is that of the text, ""
    for ASCII.
    """

    text: str
    prompt: parse.Prompt
    refused: str | None = None
    doubt: str = ""
    late: str = ""
    fault: str = ""
    answered: tuple[str, ...] = ()
    encoding: str = ""

    @property
    def errors(self) -> tuple[str, ...]:
        """Return the refusing lines: those that start with `Error:`."""
        return parse.error_lines(self.text)

    @property
    def failures(self) -> tuple[str, ...]:
        """Return lines of the reply to a command that acts which report that it failed."""
        return parse.failure_lines(self.text, self.answered)

    @property
    def unknown(self) -> str:
        """Return the first line of the reply to a command that acts which is not known; or ""."""
        return parse.unknown_line(self.text, self.answered)

    def reports(self, sentence: str, progress: str = r"(?!)") -> bool:
        """Whether it reports a success: by a line that is `sentence`, with no others of its own.

        Both are patterns of whole lines. Notes of progress may be there, log lines and questions
        that got an answer.
        """
        rows = parse.own_lines(self.text, self.answered)
        others = [row for row in rows if not re.fullmatch(sentence, row)]
        return len(others) < len(rows) and all(re.fullmatch(progress, row) for row in others)

    @property
    def last(self) -> str:
        """Return its last line, without secrets."""
        return mask_secrets(self.text.rsplit("\n", 1)[-1].strip())

    @property
    def message(self) -> str:
        """Return the switch's text on one line and without secrets."""
        lines = self.errors or self.failures or self.text.split()
        return mask_secrets(" ".join(lines)) or "nothing"
