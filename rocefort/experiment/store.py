"""Folder of an experiment: its plan, the fabrics of its levels, its journal and its runs.

A run is complete when its file is there, which appears at once. A line of the journal is durable
before the act that it announces. So a command that was killed continues by the same command.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.experiment.model import ExperimentPlan, ExperimentRun, PlannedRun

PLAN, JOURNAL, LOCK, RUNS, LEVELS = "experiment.json", "journal.jsonl", "lock", "runs", "levels"
PAGE, RESULT = "index.html", "result.json"
FABRIC = "fabric.yaml"
FOLDERS = Path("experiments")  # of all experiments, by default


@dataclass(frozen=True)
class ExperimentFolder:
    """Folder with all files of one experiment."""

    path: Path

    def level(self, name: str) -> Path:
        """Fabric of a level."""
        return self.path / LEVELS / name / FABRIC

    def plan(self) -> ExperimentPlan | None:
        """Plan that the folder has; None: it has none. Raises BadInput."""
        file = self.path / PLAN
        try:
            return ExperimentPlan.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            how = "name another folder with --directory"
            raise BadInput("is no plan of an experiment", file=str(file), how=how) from None

    def begin(
        self, plan: ExperimentPlan, fabrics: Mapping[str, str], beside: Sequence[Path] = ()
    ) -> None:
        """Keep plan and fabrics, or compare the plan with the kept one.

        fabrics: texts by level. beside: files that a fabric has beside it. Raises Refused for
        another plan.
        """
        kept = self.plan()
        if kept is not None:
            if problems := list(_differences(kept, plan)):
                how = "name another folder with --directory"
                last = Problem("", "the folder has another experiment", how, str(self.path))
                raise Refused(problems=[*problems, last])
            return
        for level, text in fabrics.items():
            self._write(self.level(level), text)
            for file in beside:
                self._write(self.level(level).with_name(file.name), file.read_text("utf-8"))
        self._write(self.path / PLAN, plan.model_dump_json(indent=1) + "\n")

    def run(self, run: PlannedRun) -> ExperimentRun | None:
        """Run that has ended; None: it has not, or its file is not whole."""
        try:
            return ExperimentRun.model_validate_json(self._run_file(run).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, run: ExperimentRun) -> None:
        """Keep a run that has ended, and note its end."""
        self._write(self._run_file(run.run), run.model_dump_json(indent=1) + "\n")
        self.note("ended", run=run.run.number, id=run.id)

    def note(self, event: str, **facts: Any) -> None:  # noqa: ANN401 - JSON
        """Append a line to the journal, durably; raises BadInput."""
        line = json.dumps({"at": datetime.now(UTC).isoformat(), "event": event, **facts})
        file = self.path / JOURNAL
        try:
            with file.open("ab+") as out:
                torn = out.tell() and _last_byte(out.fileno()) != b"\n"
                out.write((b"\n" if torn else b"") + line.encode() + b"\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(file)) from None

    def journal(self) -> list[dict[str, Any]]:
        """Lines of the journal; one that a kill left torn is skipped."""
        try:
            lines = (self.path / JOURNAL).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [row for line in lines if (row := _row(line))]

    def write(self, name: str, text: str) -> None:
        """Write a file of the folder at once."""
        self._write(self.path / name, text)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for one process; raises Refused if another one has it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("w")
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise BadInput(what, file=str(self.path), how="name another --directory") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                what = "another process runs this experiment"
                raise Refused(what, where=str(self.path), how="wait for it, or end it") from None
            yield

    def _run_file(self, run: PlannedRun) -> Path:
        return self.path / RUNS / f"{run.number:03}-{run.level}.json"

    @staticmethod
    def _write(file: Path, text: str) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            Path(part).chmod(0o644)
            Path(part).replace(file)
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(file)) from None


def _last_byte(descriptor: int) -> bytes:
    return os.pread(descriptor, 1, os.fstat(descriptor).st_size - 1)


def _row(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _differences(kept: ExperimentPlan, plan: ExperimentPlan) -> Iterator[Problem]:
    """Yield what differs between the plan of a folder and a command's."""
    if kept.fabric_digest != plan.fabric_digest:
        yield Problem(
            "", "the fabric or a profile has changed since the experiment began", "", plan.source
        )
    for key in ("version", "source", "factor", "suite", "simulated", "repeat"):
        old, new = getattr(kept, key), getattr(plan, key)
        if old != new:
            yield Problem(key, f"is {new}, and {old} in the folder")
    old_levels, new_levels = ([level.name for level in each.levels] for each in (kept, plan))
    if old_levels != new_levels:
        yield Problem("levels", f"are {new_levels}, and {old_levels} in the folder")
    elif kept.levels != plan.levels:
        yield Problem("levels", "their profiles have changed since the experiment began")
    for name in dict.fromkeys((*kept.options, *plan.options)):
        old, new = kept.options.get(name, "-"), plan.options.get(name, "-")
        if old != new:
            yield Problem(name, f"is {new}, and {old} in the folder")
