"""Rollouts between the levels of an experiment: one sealed plan for each change of level.

The journal of the experiment notes a change before its plan is sealed, and its end. Each plan has a
number and a rollout journal of its own: an unfinished run is resumed, and a finished one is never
applied again. So the level that the switches run is known after a kill at any instant. A change
whose rollout never began has failed: no error that repeats can prevent the return to the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocefort.base.errors import (
    DeviceFailed,
    ExitCode,
    Problem,
    Refused,
    RocefortError,
    Stopped,
)
from rocefort.change.effects.switch_configs import sides_of
from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all
from rocefort.experiment.factor import START
from rocefort.experiment.store import ExperimentFolder
from rocefort.fleet.connections import Connections
from rocefort.models.change.plan import Plan
from rocefort.models.wording import count_of
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.gates import refuse_uncovered
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import Run, contents_of
from rocefort.rollout.plan.acceptance import refuse_unaccepted
from rocefort.rollout.plan.make_plan import make_plan, running_at_rest
from rocefort.rollout.plan.procedures import refuse_beyond_trial
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
    def _levels(self) -> list[str]:
        return [name for name in self.fabrics if name != START]

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

    @property
    def changed(self) -> bool:
        """Whether a change of level has begun, now or before."""
        return any(row["event"] == BEGUN for row in self._rows)

    @property
    def plan(self) -> str:
        """Digest of the plan by which the switches run their level; empty: of none."""
        rows = [row for row in self._rows if row["event"] in (ARRIVED, FAILED)]
        return str(rows[-1]["plan"]) if rows and rows[-1]["event"] == ARRIVED else ""

    def check(self) -> None:
        """Check before the first change that all changes can be made; once in an experiment.

        Raises Refused unless the switches run the fabric as it is, and each level has a plan. An
        item of the fabric's acceptance that failed is refused, too.
        """
        if any(row["event"] == CHECKED for row in self._rows):
            return
        fabric = self.fabrics[START]
        for note in refuse_unaccepted(fabric):
            self.say(note)
        running = running_at_rest(fabric, self.access)
        plan = make_plan(fabric, self.access, running)
        changes = [change.device for change in plan.changes if not change.empty]
        if changes:
            what = f"{count_of(len(changes), 'switch')} would change to this fabric"
            how = "roll it out first (`rocefort plan`), so that the fabric can end as it began"
            raise Refused(what, where=str(fabric), how=how)
        for level in self._levels:
            with self._change_to(level):
                plan = make_plan(self.fabrics[level], self.access, running)
                if self.options.gate is None and not self.options.unmeasured:
                    refuse_uncovered(plan)
        self._check_returns()
        self.folder.note(CHECKED)

    def _check_returns(self) -> None:
        """Raise Refused for a change from a level that no trial can make."""
        networks = {level: derive(fabric).network for level, fabric in self.fabrics.items()}
        for before in self._levels:
            texts = render_all(networks[before])
            for level, network in networks.items():
                sides = {each.node.name: each for each in sides_of(network, texts)}
                with self._change_to(level):
                    refuse_beyond_trial(network, sides)

    @contextmanager
    def _change_to(self, level: str) -> Iterator[None]:
        """Add the level to a refusal in the block."""
        try:
            yield
        except Refused as error:
            what = f"level {level} cannot be rolled out; no switch was changed"
            last = Problem("", what, "", str(self.fabrics[level]))
            raise Refused(problems=[*error.problems, last]) from None

    def move_to(self, level: str) -> None:
        """Roll a level out, unless the switches run it; an interrupted change is finished before.

        Raises DeviceFailed if the rollout failed, and Stopped if it waits or was interrupted.
        """
        if pending := self._pending:
            number, other = pending["number"], str(pending["level"])
            if other == level or self._runs(self._file(number, other)):
                self._complete(number, other)
            else:
                why = f"it had not begun, and {level} is next"
                self.folder.note(FAILED, number=number, level=other, why=why)
        if self.level == level:
            return
        number = 1 + sum(row["event"] == BEGUN for row in self._rows)
        self.folder.note(BEGUN, number=number, level=level, before=self.level)
        self._complete(number, level)

    def _file(self, number: int, level: str) -> Path:
        """Plan of a change."""
        return self.folder.path / "plans" / f"{number:03}-{level}.json"

    def _runs(self, file: Path) -> Sequence[Run]:
        """Rollouts of a plan that have begun."""
        journal = RunDirectory.of(file).journal
        return contents_of(journal, read_plan(file).digest).runs if journal.is_file() else ()

    def _complete(self, number: int, level: str) -> None:
        file = self._file(number, level)
        try:
            plan = self._sealed(file, level)
            code, why = self._applied(plan, file, f"plan {number}: {level}, {file}", level)
        except RocefortError as error:
            if not self._runs(file):  # otherwise no later command would do anything else
                self.folder.note(FAILED, number=number, level=level, why=str(error))
            raise
        if code:
            self.folder.note(FAILED, number=number, level=level, plan=plan.digest, why=why)
            kind = Stopped if code == ExitCode.STOPPED else DeviceFailed
            raise kind(f"the rollout of level {level} did not succeed: {why}", where=str(file))
        changed = sum(not change.empty for change in plan.changes)
        self.folder.note(ARRIVED, number=number, level=level, plan=plan.digest, switches=changed)

    def _applied(self, plan: Plan, file: Path, title: str, level: str) -> tuple[int, str]:
        """Apply a plan, or resume its rollout; return its exit code and how it ended.

        No acceptance refuses the return to the start.
        """
        if all(change.empty for change in plan.changes):
            return 0, ""
        runs = self._runs(file)
        last = runs[-1] if runs else None
        if last is not None and last.ended:  # killed between its end and its note
            return last.code, last.ended
        self.say(title)
        onward = level != START
        options = replace(self.options, resume=last is not None, after_acceptance=onward)
        run = RunDirectory.of(file)
        outcome = apply_plan(plan, self.access, run, [WaveLines(self.say)], options)
        if outcome.unfinished:
            why = outcome.failure or "the rollout is paused"
            raise Stopped(why, where=str(file), how=CONTINUES)
        return outcome.exit_code, outcome.failure or ""

    def _sealed(self, file: Path, level: str) -> Plan:
        """Return the plan of a change; seal it if it was not sealed before."""
        if file.is_file():
            return read_plan(file)
        fabric = self.fabrics[level]
        plan = make_plan(fabric, self.access, running_at_rest(fabric, self.access))
        file.parent.mkdir(parents=True, exist_ok=True)
        write_plan(plan, file)
        return plan
