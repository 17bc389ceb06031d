"""Rollouts between the levels of an experiment: one sealed plan for each change of level.

The journal of the experiment notes a change before its plan is sealed, and its end. Each plan has a
number and a rollout journal of its own: an unfinished run is resumed, and a finished one is never
applied again. So the level that the switches run is known after a kill at any instant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocefort.base.errors import DeviceFailed, ExitCode, Refused, Stopped
from rocefort.experiment.factor import START
from rocefort.experiment.store import ExperimentFolder
from rocefort.fleet.connections import Connections
from rocefort.models.change.plan import Plan
from rocefort.models.wording import count_of
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import contents_of
from rocefort.rollout.plan.make_plan import make_plan, running_at_rest
from rocefort.rollout.planning.sealed_files import read_plan, write_plan
from rocefort.rollout.report.event_lines import WaveLines

BEGUN, ARRIVED, FAILED, CHECKED = "transition", "arrived", "failed", "checked"
CONTINUES = "the same command continues"
Say = Callable[[str], None]


@dataclass(frozen=True)
class LevelRollouts:
    """Changes of the level that the switches run. fabrics: by level, and of the start."""

    folder: ExperimentFolder
    access: Connections
    fabrics: Mapping[str, Path]
    options: ApplyOptions
    say: Say

    @property
    def _rows(self) -> list[dict[str, Any]]:
        return self.folder.journal()

    @property
    def _pending(self) -> dict[str, Any] | None:
        """Change that has begun and not ended."""
        rows = [row for row in self._rows if row["event"] in (BEGUN, ARRIVED, FAILED)]
        return rows[-1] if rows and rows[-1]["event"] == BEGUN else None

    @property
    def level(self) -> str:
        """Level that the switches run; empty after a failed change, which leaves a mixture."""
        for row in reversed(self._rows):
            if row["event"] == ARRIVED:
                return str(row["level"])
            if row["event"] == FAILED:
                return ""
        return START

    def check_start(self) -> None:
        """Raise Refused unless the switches run the fabric as it is; once in an experiment."""
        if any(row["event"] == CHECKED for row in self._rows):
            return
        fabric = self.fabrics[START]
        plan = make_plan(fabric, self.access, running_at_rest(fabric, self.access))
        changes = [change.device for change in plan.changes if not change.empty]
        if changes:
            what = f"{count_of(len(changes), 'switch')} would change to this fabric"
            how = "roll it out first (`rocefort plan`), so that the fabric can end as it began"
            raise Refused(what, where=str(fabric), how=how)
        self.folder.note(CHECKED)

    def finish(self) -> None:
        """Finish a change that was interrupted; raises as `move_to` does."""
        if pending := self._pending:
            self._complete(pending["number"], pending["level"])

    def move_to(self, level: str) -> None:
        """Roll a level out, unless the switches run it.

        Raises DeviceFailed if the rollout failed, and Stopped if it waits or was interrupted.
        """
        self.finish()
        if self.level == level:
            return
        number = 1 + sum(row["event"] == BEGUN for row in self._rows)
        self.folder.note(BEGUN, number=number, level=level, before=self.level)
        self._complete(number, level)

    def _complete(self, number: int, level: str) -> None:
        file = self.folder.path / "plans" / f"{number:03}-{level}.json"
        plan = self._sealed(file, level)
        if all(change.empty for change in plan.changes):
            self.folder.note(ARRIVED, number=number, level=level, plan=plan.digest, switches=0)
            return
        run = RunDirectory.of(file)
        runs = contents_of(run.journal, plan.digest).runs if run.journal.is_file() else ()
        last = runs[-1] if runs else None
        if last is not None and last.ended:  # killed between its end and its note
            code, why = last.code, last.ended
        else:
            self.say(f"plan {number}: {level}, {file}")
            options = replace(self.options, resume=last is not None)
            outcome = apply_plan(plan, self.access, run, [WaveLines(self.say)], options)
            if outcome.unfinished:
                why = outcome.failure or "the rollout is paused"
                raise Stopped(why, where=str(file), how=CONTINUES)
            code, why = outcome.exit_code, outcome.failure
        if code:
            self.folder.note(FAILED, number=number, level=level, plan=plan.digest, why=why)
            kind = Stopped if code == ExitCode.STOPPED else DeviceFailed
            raise kind(f"the rollout of level {level} did not succeed: {why}", where=str(file))
        changed = sum(not change.empty for change in plan.changes)
        self.folder.note(ARRIVED, number=number, level=level, plan=plan.digest, switches=changed)

    def _sealed(self, file: Path, level: str) -> Plan:
        """Return the plan of a change; seal it if it was not sealed before."""
        if file.is_file():
            return read_plan(file)
        fabric = self.fabrics[level]
        plan = make_plan(fabric, self.access, running_at_rest(fabric, self.access))
        file.parent.mkdir(parents=True, exist_ok=True)
        write_plan(plan, file)
        return plan
