"""NAPALM exceptions of a CloudEngine; each states what is known of the effect on the switch.

NapalmException
├── ConnectionException
│   ├── HostKeyError             the switch's host key is unknown, or not the recorded one
│   └── ConnectionClosedException
│       └── OutcomeUnknownError         the session broke, or its output was ambiguous, after a line
├── MergeConfigException           for a replace also ReplaceConfigException
│   ├── LineRefusedError                the switch answered a line with `Error:`
│   ├── QuestionRefusedError            the switch asked a question without a given answer
│   └── CandidateNotOursError           uncommitted changes that this driver did not load
├── CommandErrorException
│   └── UnreadableReplyError            bytes of no known encoding, or no whole configuration
├── CommitError                    nothing was committed, or the commit was refused
└── CommitConfirmException         the trial is not in the state that the call needs

Messages contain lines and replies with secrets masked (see `masking.py`).
"""

from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    CommitError,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
    ReplaceConfigException,
    SessionLockedException,
)


class HostKeyError(ConnectionException):  # type: ignore[misc]  # napalm is untyped here
    """The host key of the switch is not in the known hosts, or differs from the one there.

    `fingerprint` is that of the presented key, `known` that of the recorded key; "" where there is
    none. Both are "" where the recorded line cannot be read.
    """

    def __init__(self, message: str, fingerprint: str = "", known: str = "") -> None:
        self.fingerprint, self.known = fingerprint, known
        super().__init__(message)


class UnreadableReplyError(
    CommandErrorException,  # type: ignore[misc]  # napalm is untyped here
    ValueError,
):
    """The text of a reply is not certain, or not whole; `why` is the reason."""

    def __init__(self, host: str, sent: str, why: str) -> None:
        self.host, self.sent, self.why = host, sent, why
        super().__init__(f"{host}: '{sent}': {why}")


class OutcomeUnknownError(ConnectionClosedException):  # type: ignore[misc]  # napalm is untyped here
    """The effect of `sent` is not known: `why` is the cause, `unknown` lists possible outcomes.

    The session was lost, or its output was ambiguous; it is closed. `last` is the last line that
    the switch printed.
    """

    def __init__(self, host: str, sent: str, why: str, unknown: str, last: str = "") -> None:
        self.host, self.sent, self.why, self.unknown, self.last = host, sent, why, unknown, last
        shown = f"; last line of the switch: '{last}'" if last else ""
        super().__init__(f"{host}: {why} after '{sent}' was sent: {unknown}{shown}")


class TrialOfOtherSessionError(
    CommitConfirmException,  # type: ignore[misc]  # napalm is untyped here
    CommitError,  # type: ignore[misc]  # same: a commit may be what it refuses
):
    """The switch refuses a command because of the trial of another session: only its timer, or that
    session, ends it. `seconds_left` is None where the switch does not show the time.
    """

    def __init__(self, host: str, sent: str, reply: str, seconds_left: int | None) -> None:
        self.host, self.sent, self.reply, self.seconds_left = host, sent, reply, seconds_left
        within = "when its timer ends" if seconds_left is None else f"within {seconds_left} s"
        super().__init__(
            f"{host}: '{sent}' is refused: {reply.rstrip('.')}; only the session that began the "
            f"trial can end it; it reverts automatically {within}"
        )


class LineRefusedError(
    MergeConfigException,  # type: ignore[misc]  # napalm is untyped here
    ReplaceConfigException,  # type: ignore[misc]  # same: a line of the patch that replaces
):
    """The switch refused one line of the text; `outcome` is the state of the candidate."""

    def __init__(self, host: str, number: int, line: str, reply: str, outcome: str) -> None:
        self.host, self.line_number, self.line, self.reply = host, number, line, reply
        super().__init__(f"{host}: line {number} '{line}': {reply}; {outcome}")


class QuestionRefusedError(
    MergeConfigException,  # type: ignore[misc]  # napalm is untyped here
    ReplaceConfigException,  # type: ignore[misc]  # same: a line of the patch that replaces
    CommitError,  # type: ignore[misc]  # same: a commit may be the command that causes it
    CommandErrorException,  # type: ignore[misc]  # same: so may a plain command
):
    """The switch asked a question that is not in the table of answers; the answer was no."""

    def __init__(self, host: str, place: str, question: str, outcome: str) -> None:
        self.host, self.place, self.question = host, place, question
        super().__init__(
            f"{host}: {place}: the switch asked '{question}', which no known answer fits; "
            f"it was answered no and {outcome}"
        )


class CandidateNotOursError(
    MergeConfigException,  # type: ignore[misc]  # napalm is untyped here
    SessionLockedException,  # type: ignore[misc]  # same: a caller may wait and try again
    CommitError,  # type: ignore[misc]  # same: a confirm would commit them too
):
    """The candidate has uncommitted changes that this driver did not load; they are unchanged."""

    def __init__(self, host: str, why: str = "nothing was touched") -> None:
        self.host = host
        super().__init__(
            f"{host}: the candidate already holds uncommitted changes that are not ours; {why}; "
            "let their owner commit or clear them first"
        )
