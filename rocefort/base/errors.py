"""Errors that Rocefort shows to a user, with their exit codes.

RocefortError            where, what, how; carries its exit code
+-- BadInput             2  one or more problems of one stage, reported together
+-- DeviceFailed         3  a switch or a server did not carry out a request
+-- ServiceFailed        3  a service that Rocefort needs (Batfish, a file system) failed
+-- Refused              4  the action is possible, but unsafe or not permitted
+-- Stopped              5  an operator stopped the action
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class ExitCode(IntEnum):
    """Exit code of a command; docs/reference/output.md and `rocefort --help` list them."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """Make a number with a meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    CLEAN = 0, "The command did what was requested, and nothing is wrong."
    FINDINGS = (
        1,
        "The result is not clean: an error, drift, a measurement below its limit, a difference.",
    )
    BAD_INPUT = 2, "A file, an option or an argument cannot be used."
    FAILED = 3, "A switch, a server or a service failed, or output cannot be written."
    REFUSED = 4, "The action is unsafe or not permitted."
    STOPPED = (
        5,
        "An operator stopped an action, or it waits for an approval, its window or its gate.",
    )
    INTERNAL = 70, "An internal error of Rocefort. Its traceback is in a file; please report it."
    INTERRUPTED = 130, "Ctrl-C ended a command that only reads, computes or writes files."


def exit_codes_text() -> str:
    """Return the codes with their names in a line, for `rocefort --help`."""
    return ", ".join(f"{code:d} {code.name.lower().replace('_', ' ')}" for code in ExitCode)


class NameFault(StrEnum):
    """Fault of a name: two things have it, or none has it."""

    TWICE = "twice"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem of an input: its position, its description and its fix.

    subject: what has the problem, such as a key of the file, a switch or an option.
    line, column: 1-based; 0: not known. Problems are shown in the order of the file. fault: of a
    name, for those who read problems; the text has it too.
    """

    subject: str
    what: str
    how: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    fault: NameFault | None = None

    @property
    def position(self) -> str:
        """The position as text, `fabric.yaml:12:5`; "" without a file."""
        numbers = (number for number in (self.line, self.column) if number)
        return ":".join((self.file, *map(str, numbers))) if self.file else ""

    @property
    def where(self) -> str:
        """Position and subject as text, as far as they are known."""
        return ": ".join(filter(None, (self.position, self.subject)))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.what}" + (f"; {self.how}" if self.how else "")


class RocefortError(Exception):
    """Root of all errors: one line per problem, `where: what; how`; exit_code ends the command.

    where: the subject of the problem.
    """

    exit_code: ExitCode = ExitCode.BAD_INPUT

    def __init__(  # noqa: PLR0913 - the fields of a problem
        self,
        what: str = "",
        *,
        where: str = "",
        how: str = "",
        file: str = "",
        line: int = 0,
        column: int = 0,
        problems: Sequence[Problem] = (),
    ) -> None:
        self.problems = tuple(problems) or (Problem(where, what, how, file, line, column),)
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def problem(self) -> Problem:
        """The first problem; most errors have one."""
        return self.problems[0]


class BadInput(RocefortError):  # noqa: N818 - reads as a sentence where it is raised
    """Unusable input; carries every problem that one stage found."""


class DeviceFailed(RocefortError):  # noqa: N818
    """A switch or a server is unreachable, refuses a request, or returns a wrong answer."""

    exit_code = ExitCode.FAILED


class ServiceFailed(RocefortError):  # noqa: N818
    """A service or resource that Rocefort needs failed."""

    exit_code = ExitCode.FAILED


class Refused(RocefortError):  # noqa: N818
    """Rocefort refuses the action; nothing was changed."""

    exit_code = ExitCode.REFUSED


class Stopped(RocefortError):  # noqa: N818
    """An operator stopped the action by Ctrl-C or a signal; it has cleaned up."""

    exit_code = ExitCode.STOPPED


def install_command(extra: str) -> str:
    """Return the command that installs an extra; the name is not on a package index, so by URL."""
    return f"pip install 'rocefort[{extra}] @ URL' with the URL of Rocefort's wheel"
