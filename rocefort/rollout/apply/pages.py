"""Steps that write the HTML pages of a plan and of its rollout."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from types import TracebackType
from typing import Self

from rocefort.base.clock import utc_now
from rocefort.base.errors import RocefortError
from rocefort.design.subject import write_files
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.operate import status_of_plan
from rocefort.rollout.apply.policy_of_plan import policy_of_run
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.report.plan_page import PlanPageContent, plan_page
from rocefort.rollout.report.plan_report import PlanOutput
from rocefort.rollout.report.rollout_page import RolloutPageContent, rollout_page

LEAST_S = 1.0  # between two writes
SHARE = 10  # a write takes at most one tenth of the time of its thread
RENEWED_S = 15.0  # without an event: the page shows that its controller works


def with_page(done: PlanOutput, page: Path) -> PlanOutput:
    """Write the page of a plan; returns the output with its name. Raises BadInput."""
    content = PlanPageContent(
        done.plan, done.file, done.signature, utc_now(), done.policy, done.windows
    )
    write_files({page.name: plan_page(content)}, page.parent)
    return done.model_copy(update={"page": str(page)})


def write_rollout_page(plan: Plan, run: RunDirectory, page: Path, *, live: bool = False) -> None:
    """Write the page of a plan's last run from its journal, atomically. Raises BadInput."""
    status = status_of_plan(plan, run.journal)
    status = replace(status, policy=policy_of_run(plan, status.progress.history))
    content = RolloutPageContent(status, run.arguments(), live)
    write_files({page.name: rollout_page(content)}, page.parent)


class LivePage:
    """Listener of a rollout that renews its page; use it as a context manager.

    A thread reads the journal and writes the page, so a slow disk delays no act of the rollout,
    and a full one ends none. The first write is before the rollout and raises BadInput.
    """

    def __init__(
        self, plan: Plan, run: RunDirectory, page: Path, say: Callable[[str], None]
    ) -> None:
        self._plan, self._run, self._page, self._say = plan, run, page, say
        self._changed, self._end = Signal(), Signal()
        self._has_failed = False
        self._thread = Thread(target=self._renew, name="rollout page", daemon=True)

    def __call__(self, _event: object, /) -> None:
        """Take one event."""
        self._changed.set()

    def __enter__(self) -> Self:
        write_rollout_page(self._plan, self._run, self._page, live=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._changed.set()
        self._thread.join()
        self._try(live=False)

    def _renew(self) -> None:
        self._changed.wait(RENEWED_S)
        while not self._end.is_set():
            self._changed.clear()
            begin = time.monotonic()
            self._try(live=True)
            if not self._end.wait(max(LEAST_S, SHARE * (time.monotonic() - begin))):
                self._changed.wait(RENEWED_S)

    def _try(self, *, live: bool) -> None:
        """Write the page; a failure is reported once and ends nothing."""
        try:
            write_rollout_page(self._plan, self._run, self._page, live=live)
        except (RocefortError, OSError) as error:
            if not self._has_failed:
                with suppress(OSError):
                    self._say(f"the page is not renewed: {self._page}: {error}")
            self._has_failed = True
