"""Nornir processors: the tasks of any Nornir program as events, for progress, journal and audit.

`nornir.with_processors([EventProcessor([JsonLines(print)]), journal_processor(journal)])`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from threading import Lock

from nornir.core.inventory import Host
from nornir.core.task import AggregatedResult, MultiResult, Task

from rocefort.base.errors import RocefortError
from rocefort.base.secret_masking import masked
from rocefort.fleet.inventory import WAVE
from rocefort.rollout import operator
from rocefort.rollout.journal.events import ActPhase, Event, TaskEvent
from rocefort.rollout.journal.journal import EventListener, Journal

AUDIT = logging.getLogger("rocefort.audit")
PREFIX = "task:"  # of an act: distinguishes a task from an act of a rollout


class EventProcessor:
    """Pass an event before and after every task on every host to listeners, one at a time.

    An exception of a listener before a task prevents the task, and ends the run.
    """

    def __init__(self, listeners: Sequence[EventListener]) -> None:
        self._listeners = listeners
        self._lock = Lock()

    def task_started(self, task: Task) -> None:
        """Do nothing: no host has begun."""

    def task_completed(self, task: Task, result: AggregatedResult) -> None:
        """Do nothing: every host has its own event."""

    def task_instance_started(self, task: Task, host: Host) -> None:
        """Report that a host is about to begin."""
        self._tell(_event(task, host, ActPhase.INTENT))

    def task_instance_completed(self, task: Task, host: Host, result: MultiResult) -> None:
        """Report the end of a host's task."""
        failed = result.failed
        phase, text = (ActPhase.FAILED, _failure_text(result)) if failed else (ActPhase.DONE, "")
        self._tell(_event(task, host, phase, text, _code(result) if failed else 0))

    def subtask_instance_started(self, task: Task, host: Host) -> None:
        """Report that a subtask is about to begin."""
        self._tell(_event(task, host, ActPhase.INTENT))

    def subtask_instance_completed(self, task: Task, host: Host, result: MultiResult) -> None:
        """Report the end of a subtask."""
        self.task_instance_completed(task, host, result)

    def _tell(self, event: Event) -> None:
        with self._lock:
            for listener in self._listeners:
                listener(event)


def journal_processor(journal: Journal) -> EventProcessor:
    """Return a processor that records every task in the journal; without a record, no task."""
    return EventProcessor([lambda event: journal.append(event, None)])


def audit_processor(logger: logging.Logger = AUDIT) -> EventProcessor:
    """Return a processor for the audit log: user, task, host and result, one JSON line each."""

    def note(event: Event) -> None:
        record = {"host": event.device, "wave": event.wave, "task": event.act.removeprefix(PREFIX)}
        record |= {"phase": event.phase.value, "detail": event.detail, "user": operator.user()}
        logger.info("%s", json.dumps(record))

    return EventProcessor([note])


def _event(task: Task, host: Host, phase: ActPhase, text: str = "", code: int = 0) -> Event:
    act, wave, detail = f"{PREFIX}{task.name}", str(host.get(WAVE, "")), masked(text)
    return TaskEvent(wave=wave, device=host.name, act=act, phase=phase, detail=detail, code=code)


def _failure_text(result: MultiResult) -> str:
    """The failure as one sentence; Nornir puts the traceback into the result."""
    error = next((each.exception for each in result if each.exception), None)
    return " ".join(str(error).split()) if error else "failed"


def _code(result: MultiResult) -> int:
    error = next((each.exception for each in result if each.exception), None)
    return error.exit_code if isinstance(error, RocefortError) else 3
