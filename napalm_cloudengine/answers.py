"""Which questions of the switch are answered, and how: a table of patterns, everything else is no.

The default rows are the questions that this driver's own commands provoke, and the reset of BGP
sessions that changing a peer asks about: without an answer no timer could ever be changed. What
stops a service or a feature for all ports (`dcb pfc global disable`, `undo bgp`) is not here: the
caller who means it says so, row by row.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PromptAnswer:
    """Say `say` when `question` is found in a question and `command` in the line that provoked it.

    Both are regular expressions, searched without regard to case.
    """

    question: str
    say: str
    command: str = ""

    def fits(self, question: str, command: str) -> bool:
        """Whether this row answers `question`, asked after `command`."""
        return bool(
            re.search(self.question, question, re.IGNORECASE)
            and re.search(self.command, command, re.IGNORECASE)
        )


DEFAULT_ANSWERS: tuple[PromptAnswer, ...] = (
    PromptAnswer(r"resets? the peer session", "Y"),
    PromptAnswer(r"trial configuration will be rolled back", "Y", command=r"^abort trial"),
    PromptAnswer(r"revert configuration changes", "Y", command=r"^rollback configuration last 1$"),
    PromptAnswer(r"configuration will be written to the device", "Y", command=r"^save$"),
    # C leaves the view, and the candidate, as they are
    PromptAnswer(r"uncommitted configurations? found", "C", command=r"^(?:return|quit)$"),
)

# Before the first prompt. Saying yes to the second would save the configuration.
LOGIN_ANSWERS: tuple[PromptAnswer, ...] = (
    PromptAnswer(r"change now\?", "N"),
    PromptAnswer(r"security risks in the configuration file", "N"),
)


def answers_from(extra: Mapping[str, str] | None) -> tuple[PromptAnswer, ...]:
    """The table with the caller's rows (pattern -> answer) before the default ones.

    ValueError when a pattern does not compile or an answer is not one short word.
    """
    rows = []
    for pattern, say in (extra or {}).items():
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"answers: {pattern!r} is not a regular expression: {error}") from None
        if not re.fullmatch(r"[A-Za-z]{1,8}", say):
            raise ValueError(f"answers: {say!r} is not an answer: use Y, N or C")
        rows.append(PromptAnswer(pattern, say))
    return (*rows, *DEFAULT_ANSWERS)


def answer_to(question: str, command: str, table: tuple[PromptAnswer, ...]) -> str | None:
    """What to say to `question`; None when no row of the table fits."""
    return next((row.say for row in table if row.fits(question, command)), None)
