"""CloudEngine's output other than displays: prompts, questions with answers, refusals, diffs.

The default rows answer questions that this driver's own commands cause, and two about BGP peers.
Without the answer about resetting sessions, no timer could be changed. Without the one about a
single peer, no switch or cable could leave a fabric. Commands that stop a service or a feature for
all ports (`dcb pfc global disable`, `undo bgp`) have no default row: a caller who needs one adds
it.

Pure functions: nothing is sent or stored. Displays are described in `displays/`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal


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


Mark = Literal["", "~", "*"]
_MARKS: Final[dict[str, Mark]] = {"": "", "~": "~", "*": "*"}

# A host name may contain any character, also blanks (command reference, "sysname").
_PROMPT = re.compile(
    r"(?:<(?P<user>\S|\S[^\n]*\S)>|\[(?P<mark>[~*]?)(?P<view>\S|\S[^\n]*\S)\])[ ]*\Z"
)
# `[Y/N]:`, `[y/n]`, `(Y/N)`, `(y/n)[n]:`, `[Y/N/C]:`, `[Y(yes)/N(no)/C(cancel)]:`
_QUESTION = re.compile(
    r"[\[(]\s*y(?:es|\(yes\))?\s*/\s*n(?:o|\(no\))?(?P<cancel>\s*/\s*c(?:ancel|\(cancel\))?)?"
    r"\s*[\])]\s*(?:\[\w\]\s*)?(?:[:?][ ]*)?\Z",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"password[ ]?:[ ]*\Z", re.IGNORECASE)
_CHOICE_CHARS = 80  # longer than any form of the choice
_PAGER = re.compile(r"(?:\A|\n)[ ]*---- More ----[ ]*\Z")  # alone on the last line
# How a pager erases its line: the cursor back over it, blanks, and back again.
_ERASED = re.compile(r"(?:\x1b\[\d+D|\r|\x08+)(?:[ ]+(?:\x1b\[\d+D|\r|\x08+)|\x1b\[K)?")
_ERASING = re.compile(r"(?:\x1b(?:\[\d*[DK]?)?|[\r\x08 ])*\Z")
# Replies to commands that act. A CloudEngine prints notes that begin with `Info:` or `Warning:`
# (command reference; some continue on further lines) and nothing else where a line is accepted.
_NOTE = re.compile(r"(Warning|Info)\s*:")
# Lines that begin another message, `% ..` of other systems and a caret below a wrong word too.
_HEAD = re.compile(
    r"(?i:(?:Info|Warning|(?:fatal[ ])?error)\s*:)|%[ ]?[A-Z]|\^$"
    r"|Failed\b|(?:The[ ])?[Oo]peration[ ]failed\b"
)
# Statements that a command had no effect. A warning may describe a risk, so only these count there.
_NO_EFFECT = (
    r"(?:^|[.!?:;][ ])(?:[\w-]+[ ]){0,3}fail(?:ed|ure)\b"
    r"|\b(?:was|were|been)[ ](?:rejected|refused|denied|ignored|aborted|discarded)\b"
    r"|\bnot[ ](?:been[ ])?(?:applied|accepted|committed|completed|configured|executed|performed)\b"
    r"|\bnot[ ](?:[\w-]+[ ]){0,3}successful"
    r"|\b(?:do|does|did)[ ]not[ ]take[ ]effect\b(?![ ](?:after|before|until|unless)\b)"
)
_FAILURE_WORDS = (
    r"fail(?:ed|s|ure)|unsuccessful(?:ly)?|denied|rejected|refused|unrecognized|aborted|ignored"
    r"|(?:not|un)[ -]?(?:supported|permitted|allowed|authorized|available)|can ?not|could not"
    r"|invalid|no permission|conflict(?:s|ed|ing)?|not take effect|incomplete|ambiguous|illegal"
    r"|unable|busy|exceed(?:s|ed)?|too many|too long|out of range|timed out|insufficient"
    r"|not exist|not found|unknown|wrong"
)
_WARNED_FAILURE = re.compile(_NO_EFFECT, re.IGNORECASE)
_FAILURE = re.compile(
    rf"^(?:fatal[ ])?error\b(?=.)|^%(?!%)|^\^|{_NO_EFFECT}|\b(?:{_FAILURE_WORDS})\b", re.IGNORECASE
)
_REFUSALS = ("Error:", "Failed to generate committed config")
_REFUSAL = re.compile(rf"^[^\S\n]*(?:{'|'.join(_REFUSALS)}).*$", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """CLI prompt of a view: `<leaf01>`, `[~leaf01]`, `[*leaf01-100GE1/0/1]`."""

    view: str
    system: bool
    mark: Mark

    @property
    def uncommitted(self) -> bool:
        """Whether the candidate differs from the running configuration (`[*`)."""
        return self.mark == "*"


def plain_text(raw: str) -> str:
    """Copy `raw` with plain line ends. Other control characters are the text's own, and stay."""
    return raw.replace("\r\n", "\n")


def find_prompt(text: str) -> Prompt | None:
    """Return the prompt that ends `text`, on a line of its own; None while there is none."""
    match = _PROMPT.match(text, text.rfind("\n") + 1)
    if match is None:
        return None
    mark = _MARKS[match["mark"] or ""]
    return Prompt(match["user"] or match["view"], match["user"] is None, mark)


def without_prompt(text: str) -> str:
    """Copy `text` without the prompt at its end."""
    start = text.rfind("\n") + 1
    return text[: max(start - 1, 0)] if _PROMPT.match(text, start) else text


def find_question(text: str) -> str | None:
    """Return the question that ends `text`, on one line, as `Warning: .. Continue? [Y/N]:`.

    None while the text does not end with a choice between yes and no.
    """
    if _QUESTION.search(text, max(len(text) - _CHOICE_CHARS, 0)) is None:
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    starts = [i for i, line in enumerate(lines) if line.startswith(("Warning:", "Error:", "Info:"))]
    return " ".join(lines[starts[-1] if starts else max(len(lines) - 2, 0) :])


def offers_cancel(question: str) -> bool:
    """Whether a question also accepts the answer `C`, which changes nothing."""
    match = _QUESTION.search(question)
    return match is not None and match["cancel"] is not None


def asks_for_password(text: str) -> bool:
    """Whether `text` ends with `Enter Password:` or the like."""
    return _PASSWORD.search(text, max(len(text) - _CHOICE_CHARS, 0)) is not None


def waits_at_pager(text: str) -> bool:
    """Whether the last line of `text` is `---- More ----` alone."""
    return _PAGER.search(text, max(len(text) - _CHOICE_CHARS, 0)) is not None


def before_pager(raw: str) -> str:
    """Copy output without the line of a pager at its end."""
    return raw[: raw.rfind("\n") + 1]


def is_erasing(page: str) -> bool:
    """Whether all of a page so far may erase the line of a pager."""
    return _ERASING.match(page) is not None


def after_erasing(page: str) -> str | None:
    """Return a page behind what erases the line of a pager; None where nothing does."""
    match = _ERASED.match(page)
    return page[match.end() :] if match else None


def error_lines(text: str) -> tuple[str, ...]:
    """Return the refusals in a reply: its lines that start with `Error:`.

    `Failed to generate committed config` counts too: a commit of older VRP8 fails with it.
    """
    if not any(start in text for start in _REFUSALS):
        return ()  # most replies, and the long ones
    return tuple(line.strip() for line in _REFUSAL.findall(text))


def failure_lines(text: str, questions: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the messages in the reply to a command that acts which report a failure.

    Each begins with the line that does. A message is judged as a whole: a terminal may wrap it.
    """
    failures = []
    for message in _messages(text, questions):
        note = _NOTE.match(message[0])
        pattern = _WARNED_FAILURE if note and note[1] == "Warning" else _FAILURE
        if match := pattern.search(" ".join(message)):
            ends = accumulate(len(line) + 1 for line in message)
            first = next(number for number, end in enumerate(ends) if match.end() <= end)
            failures.append(" ".join(message[first:]))
    return tuple(failures)


def unknown_line(text: str, questions: tuple[str, ...] = ()) -> str:
    """Return the first line of the reply to a command that acts that is in no note; or ""."""
    return next((m[0] for m in _messages(text, questions) if not _NOTE.match(m[0])), "")


def _messages(text: str, questions: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the messages of the reply to a command that acts, each as its lines."""
    message: list[str] = []
    for line in own_lines(text, questions):
        if message and _HEAD.match(line):
            yield message
            message = []
        message.append(line)
    if message:
        yield message


def own_lines(text: str, questions: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines of the reply to a command that acts which are about it.

    Log lines are not, and neither are questions that got an answer.
    """
    asked = " ".join(" ".join(questions).split())
    rows = (" ".join(row.split()) for row in text.split("\n") if "%%" not in row)
    return tuple(row for row in rows if row and row not in asked)


def candidate_diff(text: str) -> str:
    """Return the device's own diff: `display configuration candidate changes` without its heading.

    Empty when no line is marked + or -.
    """
    lines = text.split("\n")
    changes = [line.rstrip() for line in lines if line.strip() != "Building configuration"]
    if not any(line.lstrip().startswith(("+", "-")) for line in changes):
        return ""
    return "\n".join(line for line in changes if line)
