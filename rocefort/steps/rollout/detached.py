"""Detached controller: a process that continues without the terminal that began it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.actions import BackgroundProcess
from rocefort.base.background import in_background
from rocefort.rollout import operator
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.run_history import contents_of
from rocefort.rollout.planning.plan import read_plan


@dataclass(frozen=True, slots=True)
class DetachedController:
    """Detached controller: running, or ended before its run began, with its output and code."""

    running: BackgroundProcess | None = None
    text: str = ""
    code: int = 0


def detach(words: Sequence[str], run: RunDirectory) -> DetachedController:
    """Run a command line in a separate process; returns when its run is in the journal.

    The process takes the locks itself. Its output is appended to a file beside the journal. Ctrl-C
    before the return ends the process too. words: `apply` or `resume` with its arguments. Raises
    ServiceFailed if it cannot be started.
    """
    plan = read_plan(run.plan)
    earlier = len(_live_controllers(run.journal, plan.digest))

    def has_begun(process: int) -> bool:  # another user may begin a run of the same plan meanwhile
        mine = operator.host(), process
        return mine in _live_controllers(run.journal, plan.digest)[earlier:]

    done = in_background(words, run.log, has_begun)
    if done.code is not None:
        return DetachedController(text=done.text, code=done.code)
    message = (
        f"process {done.process} continues without this terminal; its output is in {run.log}\n"
        f"to watch it: {shlex.join(['rocefort', 'status', '--follow', *run.arguments()])}\n"
        f"to stop it:  {shlex.join(['rocefort', 'abort', *run.arguments()])}\n"
    )
    return DetachedController(
        BackgroundProcess(process=done.process, log=str(run.log), message=message)
    )


def _live_controllers(journal: Path, plan: str) -> list[tuple[str, int]]:
    """Host and process of every controller that began or resumed a run of a plan."""
    runs = contents_of(journal, plan).runs if journal.is_file() else ()
    return [(life.host, life.process) for run in runs for life in run.lives]
