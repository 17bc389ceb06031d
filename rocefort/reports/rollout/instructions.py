"""Manual steps: instructions and the lines to type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.reports.blocks import Block, Code, Note, Section


@dataclass(frozen=True)
class Instruction:
    """Manual step: a sentence, and the lines to type, which are never wrapped."""

    what: str
    lines: tuple[str, ...] = ()


def instructions_report(title: str, steps: Sequence[Instruction]) -> Iterator[Block]:
    """Show a title and numbered steps; lines to type are indented below their step."""
    yield Note(title)
    for number, step in enumerate(steps, 1):
        yield Section(f"{number}. {step.what}", (Code(step.lines),) if step.lines else ())
