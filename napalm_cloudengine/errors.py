"""What can go wrong with a CloudEngine, as NAPALM exceptions that say what is known.

NapalmException
├── ConnectionException
│   ├── HostKeyError             the switch's host key is unknown, or not the one on record
│   └── ConnectionClosedException
│       └── OutcomeUnknownError         the session broke, or was not understood, after a line
├── MergeConfigException           of a replace also ReplaceConfigException
│   ├── LineRefusedError                the switch answered a line with `Error:`
│   ├── QuestionRefusedError            the switch asked what no answer was given for
│   └── CandidateNotOursError           uncommitted changes that this driver did not load
├── CommitError                    nothing was committed, or the commit was refused
└── CommitConfirmException         the trial is not what the call needs it to be

Sentences hold the text of lines and replies with secrets masked (see `masking.py`).
"""

from napalm.base.exceptions import (
    CommandErrorException,
    CommitError,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
    ReplaceConfigException,
    SessionLockedException,
)


class HostKeyError(ConnectionException):  # type: ignore[misc]  # napalm is untyped here
    """The host key of the switch is not in the known hosts, or differs from the one there.

    `fingerprint` is that of the key it shows, `known` that of the one on record; "" where it has
    none, both "" where its line there cannot be read.
    """

    def __init__(self, said: str, fingerprint: str = "", known: str = "") -> None:
        self.fingerprint, self.known = fingerprint, known
        super().__init__(said)


class OutcomeUnknownError(ConnectionClosedException):  # type: ignore[misc]  # napalm is untyped here
    """What became of `sent` is not known: `why`, and `unknown` says what may have happened.

    The session was lost, or what it printed could not be told apart; it is closed. `last` is the
    last line that the switch printed.
    """

    def __init__(self, host: str, sent: str, why: str, unknown: str, last: str = "") -> None:
        self.host, self.sent, self.why, self.unknown, self.last = host, sent, why, unknown, last
        shown = f"; last line of the switch: '{last}'" if last else ""
        super().__init__(f"{host}: {why} after '{sent}' was sent: {unknown}{shown}")


class LineRefusedError(
    MergeConfigException,  # type: ignore[misc]  # napalm is untyped here
    ReplaceConfigException,  # type: ignore[misc]  # same: a line of the patch that replaces
):
    """The switch refused one line of the text; `outcome` says what became of the candidate."""

    def __init__(self, host: str, number: int, line: str, said: str, outcome: str) -> None:
        self.host, self.line_number, self.line, self.said = host, number, line, said
        super().__init__(f"{host}: line {number} '{line}': {said}; {outcome}")


class QuestionRefusedError(
    MergeConfigException,  # type: ignore[misc]  # napalm is untyped here
    ReplaceConfigException,  # type: ignore[misc]  # same: a line of the patch that replaces
    CommitError,  # type: ignore[misc]  # same: a commit may be the one that asks
    CommandErrorException,  # type: ignore[misc]  # same: so may a plain command
):
    """The switch asked a question that the table of answers does not know; it got a no."""

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
    """The candidate holds uncommitted changes that this driver did not load; none was touched."""

    def __init__(self, host: str, why: str = "nothing was touched") -> None:
        self.host = host
        super().__init__(
            f"{host}: the candidate already holds uncommitted changes that are not ours; {why}; "
            "let their owner commit or clear them first"
        )
