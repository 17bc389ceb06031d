"""Steps for a person to carry out: what to do, and what to type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.reports.blocks import Block, Code, Note, Section


@dataclass(frozen=True)
class Instruction:
    """One step: what to do, in a sentence, and the lines to type, which are never wrapped."""

    what: str
    lines: tuple[str, ...] = ()


def instructions_report(title: str, steps: Sequence[Instruction]) -> Iterator[Block]:
    """A title and numbered steps; what is typed is on lines of its own, further in."""
    yield Note(title)
    for number, step in enumerate(steps, 1):
        yield Section(f"{number}. {step.what}", (Code(step.lines),) if step.lines else ())
