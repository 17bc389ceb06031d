"""Answers to the switch's questions: a table of patterns. Any other question is answered no.

The default rows answer questions that this driver's own commands cause, and two about BGP peers.
Without the answer about resetting sessions, no timer could be changed. Without the one about a
single peer, no switch or cable could leave a fabric. Commands that stop a service or a feature for
all ports (`dcb pfc global disable`, `undo bgp`) have no default row: a caller who needs one adds
it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PromptAnswer:
    """`answer` to questions that match `question`, after commands that match `command`.

    Both are regular expressions, searched without regard to case.
    """

    question: str
    answer: str
    command: str = ""

    def fits(self, question: str, command: str) -> bool:
        """Whether this row answers `question`, printed after `command`."""
        return bool(
            re.search(self.question, question, re.IGNORECASE)
            and re.search(self.command, command, re.IGNORECASE)
        )


DEFAULT_ANSWERS: tuple[PromptAnswer, ...] = (
    PromptAnswer(r"resets? the peer session", "Y"),
    PromptAnswer(r"related to the BGP peer will be deleted", "Y", command=r"^\s*undo peer \S+$"),
    PromptAnswer(r"trial configuration will be rolled back", "Y", command=r"^abort trial"),
    PromptAnswer(r"revert configuration changes", "Y", command=r"^rollback configuration last 1$"),
    PromptAnswer(r"configuration will be written to the device", "Y", command=r"^save$"),
    # C leaves the view and the candidate unchanged
    PromptAnswer(r"uncommitted configurations? found", "C", command=r"^(?:return|quit)$"),
)

# Before the first prompt. Answering yes to the second would save the configuration.
LOGIN_ANSWERS: tuple[PromptAnswer, ...] = (
    PromptAnswer(r"change now\?", "N"),
    PromptAnswer(r"security risks in the configuration file", "N"),
)


def answers_from(extra: Mapping[str, str] | None) -> tuple[PromptAnswer, ...]:
    """Return the table with the caller's rows (pattern -> answer) before the default rows.

    ValueError when a pattern does not compile or an answer is not one short word.
    """
    rows = []
    for pattern, answer in (extra or {}).items():
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"answers: {pattern!r} is not a regular expression: {error}") from None
        if not re.fullmatch(r"[A-Za-z]{1,8}", answer):
            raise ValueError(f"answers: {answer!r} is not an answer: use Y, N or C")
        rows.append(PromptAnswer(pattern, answer))
    return (*rows, *DEFAULT_ANSWERS)


def answer_to(question: str, command: str, table: tuple[PromptAnswer, ...]) -> str | None:
    """Return the answer to `question`; None when no row of the table matches."""
    return next((row.answer for row in table if row.fits(question, command)), None)
