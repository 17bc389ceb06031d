"""Lines of a text or a patch that need more than a commit, by the data of the syntax family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocefort.models.hardware.commit_conditions import Condition, ConditionedLine
from rocefort.models.hardware.hardware import Family


def conditions_of(lines: Iterable[str], family: Family) -> tuple[ConditionedLine, ...]:
    """Return lines of a patch (`Change.patch`) or a saved text with a condition, in their order.

    Views are found by indentation, which both have.
    """
    return tuple(_conditioned_lines(lines, family.conditions)) if family.conditions else ()


def _conditioned_lines(
    lines: Iterable[str], conditions: tuple[Condition, ...]
) -> Iterator[ConditionedLine]:
    view = ""
    for raw in lines:
        line = raw.strip()
        if not raw.startswith(" "):
            view = line
        condition = condition_of(line, conditions)
        if condition is not None:
            inside = view if raw.startswith(" ") else ""
            yield ConditionedLine(
                line=line,
                view=inside,
                command=condition.command,
                needs=condition.needs,
                note=condition.note,
            )


def condition_of(line: str, conditions: Iterable[Condition]) -> Condition | None:
    """Return the condition of one unindented line; None where a commit is enough."""
    words = f"{line} "
    return next((each for each in conditions if words.startswith(f"{each.command} ")), None)
