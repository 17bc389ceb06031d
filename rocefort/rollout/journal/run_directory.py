"""Files of a plan and of its runs: each is beside the plan or its journal, and named after it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

JOURNAL, FABRICS = ".journal", ".fabric"


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Paths of all that belongs to the runs of a plan that one journal has."""

    plan: Path
    journal: Path

    @classmethod
    def of(cls, plan: Path, journal: Path | None = None) -> RunDirectory:
        """Paths of a plan; journal: where it is another than the one that is named after it."""
        return cls(plan, journal or _sibling_path(plan, JOURNAL))

    @classmethod
    def of_journal(cls, journal: Path) -> RunDirectory:
        """Paths of a journal whose plan is not at hand."""
        return cls(journal.with_name(journal.name.removesuffix(JOURNAL)), journal)

    @classmethod
    def of_kept_fabric(cls, fabric: Path) -> RunDirectory:
        """Paths of the journal beside which a fabric is kept."""
        folder = fabric.parent
        return cls.of_journal(folder.with_name(folder.name.removesuffix(FABRICS)))

    @property
    def signature(self) -> Path:
        """Of the plan, as `ssh-keygen -Y sign` names it."""
        return _sibling_path(self.plan, ".sig")

    @property
    def rehearsal(self) -> Path:
        """Report of the plan's rehearsal."""
        return _sibling_path(self.plan, ".rehearsal")

    @property
    def back(self) -> Path:
        """The plan back."""
        return self.plan.with_name(f"{self.plan.stem}.back.json")

    @property
    def lock(self) -> Path:
        """Held by the controller that writes to the journal."""
        return _sibling_path(self.journal, ".lock")

    @property
    def head(self) -> Path:
        """Newest link of the journal's chain."""
        return _sibling_path(self.journal, ".head")

    @property
    def log(self) -> Path:
        """Output of a detached controller."""
        return _sibling_path(self.journal, ".log")

    @property
    def texts(self) -> Path:
        """Folder of what ran before, each text named by its digest."""
        return _sibling_path(self.journal, ".texts")

    @property
    def fabrics(self) -> Path:
        """Folder of the fabrics that runs began with, each named by its digest."""
        return _sibling_path(self.journal, FABRICS)

    def arguments(self) -> list[str]:
        """The arguments of a command that find plan and journal."""
        other = self.journal != _sibling_path(self.plan, JOURNAL)
        return [str(self.plan), *(["--journal", str(self.journal)] if other else [])]

    @property
    def approve(self) -> str:
        """The command that approves a wave, without the wave."""
        return shlex.join(["rocefort", "approve", *self.arguments()])


def _sibling_path(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
