"""Every error that Rocefort can show a person.

RocefortError            where, what, how; carries its exit code
+-- BadInput             2  one or many problems of one stage, all together
+-- DeviceFailed         3  a switch or a server did not do what it was asked
+-- ServiceFailed        3  something Rocefort needs (Batfish, a file system) failed
+-- Refused              4  it could be done, and Rocefort will not do it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input: where it stands, what it is, how to mend it."""

    where: str
    what: str
    how: str = ""
    line: int = 0  # where known, so that problems can be shown in the order of the file

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.what}" + (f"; {self.how}" if self.how else "")


class RocefortError(Exception):
    """The root: one line a problem, `where: what; how`, and ends the command with exit_code."""

    exit_code = 2

    def __init__(
        self, what: str = "", *, where: str = "", how: str = "", problems: Sequence[Problem] = ()
    ) -> None:
        self.problems = tuple(problems) or (Problem(where, what, how),)
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def problem(self) -> Problem:
        """The first problem; most errors have one."""
        return self.problems[0]


class BadInput(RocefortError):  # noqa: N818 - reads as a sentence where it is raised
    """Input that cannot be used; carries every problem that one stage found."""


class DeviceFailed(RocefortError):  # noqa: N818
    """A switch or a server could not be reached, or refused, or answered wrongly."""

    exit_code = 3


class ServiceFailed(RocefortError):  # noqa: N818
    """A service or resource that Rocefort depends on failed."""

    exit_code = 3


class Refused(RocefortError):  # noqa: N818
    """Rocefort will not do this; nothing was changed."""

    exit_code = 4
