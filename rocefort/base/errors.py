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
from enum import StrEnum

from rocefort.base.exit_codes import ExitCode


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
