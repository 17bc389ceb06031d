"""Tells a chaos as it goes: lines for a person, and a file of JSON that is always whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rocefort.errors import BadInput
from rocefort.lab.twin.registry import write_whole
from rocefort.models.lab_trials import Chaos
from rocefort.reports.lab_trials import chaos_head, step_text


class Telling:
    """Says what is new in a chaos, and keeps the whole in a file, if there is to be one."""

    def __init__(self, say: Callable[[str], None], journal: Path | None) -> None:
        self.say = say
        self.journal = journal
        self._told = -1

    def __call__(self, chaos: Chaos) -> None:
        """Tell the steps that were not told yet."""
        if self._told < 0:
            self.say(chaos_head(chaos))
            self._told = 0
        for step in chaos.steps[self._told :]:
            self.say(step_text(step))
        self._told = len(chaos.steps)
        if self.journal is not None:
            self._keep(self.journal, chaos.model_dump_json(indent=1) + "\n")

    def _keep(self, journal: Path, text: str) -> None:
        try:
            write_whole(journal, text)
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", where=str(journal)) from None
