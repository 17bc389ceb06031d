"""Manual steps: instructions and the lines to type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.reports.blocks import Block, Code, Note, Section
from rocefort.rollout.outputs import Procedure, Procedures, ProcedureStep


@dataclass(frozen=True)
class Instruction:
    """Manual step: a sentence, and the lines to type, which are never wrapped."""

    what: str
    lines: tuple[str, ...] = ()


def procedure_of(title: str, steps: Iterable[Instruction]) -> Procedure:
    """Return a procedure for programs."""
    return Procedure(
        title=title, steps=tuple(ProcedureStep(what=s.what, commands=s.lines) for s in steps)
    )


def procedures_report(done: Procedures) -> Iterator[Block]:
    """Show procedures one after the other."""
    for each in done.procedures:
        steps = [Instruction(step.what, step.commands) for step in each.steps]
        yield from instructions_report(each.title, steps)


def instructions_report(title: str, steps: Sequence[Instruction]) -> Iterator[Block]:
    """Show a title and numbered steps; lines to type are indented below their step."""
    yield Note(title)
    for number, step in enumerate(steps, 1):
        yield Section(f"{number}. {step.what}", (Code(step.lines),) if step.lines else ())
