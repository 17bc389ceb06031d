"""Steps for a person to carry out, as text for a terminal: what to do, and what to type."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rocefort.reports.wording import WIDTH


@dataclass(frozen=True)
class Instruction:
    """One step: what to do, in a sentence, and the lines to type, which are never wrapped."""

    what: str
    lines: tuple[str, ...] = ()


def instructions_text(title: str, steps: Sequence[Instruction]) -> str:
    """A title and numbered steps; what is typed stands on lines of its own, further in."""
    out = [title]
    for number, step in enumerate(steps, 1):
        lead = f"{number}. "
        out += ["", textwrap.fill(step.what, WIDTH, initial_indent=lead, subsequent_indent="   ")]
        if step.lines:
            out += ["", *(f"     {line}" for line in step.lines)]
    return "\n".join(out) + "\n"
