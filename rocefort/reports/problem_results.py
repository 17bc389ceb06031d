"""Problems that ended a command without a result, for programs."""

from __future__ import annotations

from typing import Literal

from rocefort.models.base import Frozen


class ProblemOutput(Frozen):
    """Problem with its position: "" and 0 where it has none.

    subject: what has the problem, such as a key of the file, a switch or an option. how: its fix.
    """

    file: str
    line: int
    column: int
    subject: str
    what: str
    how: str


class ProblemsOutput(Frozen):
    """Problems that ended a command; exit_code: its exit code, as in docs/reference/output.md."""

    failed: Literal[True] = True
    exit_code: int
    problems: tuple[ProblemOutput, ...]
