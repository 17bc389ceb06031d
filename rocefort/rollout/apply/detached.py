"""A controller without a terminal: its process, the lock of its site, and the view of it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.actions import BackgroundProcess
from rocefort.base.processes import in_background
from rocefort.fleet.connections import Connections, load_connections
from rocefort.models.change.plan import Plan
from rocefort.rollout import operator
from rocefort.rollout.apply.operate import status_of_plan
from rocefort.rollout.journal.lock import one_controller
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import RolloutStatus, TimedEvent, contents_of
from rocefort.rollout.planning.sealed_files import read_plan


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


@contextmanager
def holding(access: Connections) -> Iterator[None]:
    """Hold the locks of all reached switches; raises Refused with the holder's name."""
    with one_controller(f"{device.host}:{device.port}" for device in access.devices):
        yield


def refuse_second_controller(sealed: Path, connections: Path) -> None:
    """Raise Refused if another controller is running, before slow modules are loaded.

    A caller that is not refused here takes the lock a moment later, or is refused then. Without a
    plan at `sealed` there is no check here: the reader of the plan reports the missing file first.
    """
    if not sealed.exists():
        return
    with holding(load_connections(connections)):
        pass


LOOK_S = 0.5


def follow(
    plan: Plan,
    journal: Path,
    tell: Callable[[TimedEvent], None],
    wait: Callable[[float], None] = time.sleep,
) -> RolloutStatus:
    """Report every event of a plan's last run, old and new, until its controller ends.

    Takes no lock and writes nothing. Waits for a missing journal, and for a run of the plan.
    """
    run, events, damage = "", 0, ""
    while True:
        status = status_of_plan(plan, journal)
        if last := status.run:
            if last.history.run != run:
                run, events = last.history.run, 0
            for each in last.events[events:]:
                tell(each)
            events = len(last.events)
        ended = last is not None and not status.holder
        if ended or (status.journal.damage and status.journal.damage == damage):
            return status
        damage = status.journal.damage  # a journal in creation: it is sound at the next reading
        wait(LOOK_S)
