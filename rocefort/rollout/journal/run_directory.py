"""Paths of a plan's files and of its runs, all beside the plan or its journal."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

JOURNAL, FABRICS = ".journal", ".fabric"


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Paths of all files of a plan's runs in one journal."""

    plan: Path
    journal: Path

    @classmethod
    def of(cls, plan: Path, journal: Path | None = None) -> RunDirectory:
        """Paths of a plan. journal: only if it has another name than the plan's default."""
        return cls(plan, journal or _sibling_path(plan, JOURNAL))

    @classmethod
    def of_journal(cls, journal: Path) -> RunDirectory:
        """Paths of a journal without its plan."""
        return cls(journal.with_name(journal.name.removesuffix(JOURNAL)), journal)

    @classmethod
    def of_kept_fabric(cls, fabric: Path) -> RunDirectory:
        """Paths of the journal of a stored fabric."""
        folder = fabric.parent
        return cls.of_journal(folder.with_name(folder.name.removesuffix(FABRICS)))

    @property
    def signature(self) -> Path:
        """Signature of the plan, with the name that `ssh-keygen -Y sign` gives it."""
        return _sibling_path(self.plan, ".sig")

    @property
    def rehearsal(self) -> Path:
        """Report of the plan's rehearsal."""
        return _sibling_path(self.plan, ".rehearsal")

    @property
    def back(self) -> Path:
        """Rollback plan."""
        return self.plan.with_name(f"{self.plan.stem}.back.json")

    @property
    def lock(self) -> Path:
        """Lock file of the controller that writes to the journal."""
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
        """Folder of the baseline texts, each named by its digest."""
        return _sibling_path(self.journal, ".texts")

    @property
    def fabrics(self) -> Path:
        """Folder of the fabrics of runs at their beginning, each named by its digest."""
        return _sibling_path(self.journal, FABRICS)

    def arguments(self) -> list[str]:
        """Arguments of a command that identify plan and journal."""
        other = self.journal != _sibling_path(self.plan, JOURNAL)
        return [str(self.plan), *(["--journal", str(self.journal)] if other else [])]

    @property
    def approve(self) -> str:
        """Command that approves a wave, without the wave."""
        return shlex.join(["rocefort", "approve", *self.arguments()])


def _sibling_path(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
