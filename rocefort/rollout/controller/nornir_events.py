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

from rocefort.errors import RocefortError
from rocefort.fleet.inventory import WAVE
from rocefort.fleet.secret_masking import masked
from rocefort.models.rollout.events import Event, Phase, TaskEvent
from rocefort.rollout import operator
from rocefort.rollout.journal.journal import EventListener, Journal

AUDIT = logging.getLogger("rocefort.audit")
PREFIX = "task:"  # of an act, so that no task is taken for an act of a rollout


class EventProcessor:
    """Tells listeners of every task on every host, before and after it, one at a time.

    What a listener raises before a task keeps the task from running, and ends the run.
    """

    def __init__(self, listeners: Sequence[EventListener]) -> None:
        self._listeners = listeners
        self._lock = Lock()

    def task_started(self, task: Task) -> None:
        """Nothing is begun on a host yet."""

    def task_completed(self, task: Task, result: AggregatedResult) -> None:
        """Every host has told of itself."""

    def task_instance_started(self, task: Task, host: Host) -> None:
        """A host is about to begin."""
        self._tell(_event(task, host, Phase.INTENT))

    def task_instance_completed(self, task: Task, host: Host, result: MultiResult) -> None:
        """A host has ended."""
        failed = result.failed
        phase, text = (Phase.FAILED, _failure_text(result)) if failed else (Phase.DONE, "")
        self._tell(_event(task, host, phase, text, _code(result) if failed else 0))

    def subtask_instance_started(self, task: Task, host: Host) -> None:
        """A part of a task is about to begin."""
        self._tell(_event(task, host, Phase.INTENT))

    def subtask_instance_completed(self, task: Task, host: Host, result: MultiResult) -> None:
        """A part of a task has ended."""
        self.task_instance_completed(task, host, result)

    def _tell(self, event: Event) -> None:
        with self._lock:
            for listener in self._listeners:
                listener(event)


def journal_processor(journal: Journal) -> EventProcessor:
    """Writes every task down before and after it; one that cannot be written is not begun."""
    return EventProcessor([lambda event: journal.append(event, None)])


def audit_processor(logger: logging.Logger = AUDIT) -> EventProcessor:
    """Logs who did what on which host, and how it ended, as a line of JSON each."""

    def note(event: Event) -> None:
        told = {"host": event.device, "wave": event.wave, "task": event.act.removeprefix(PREFIX)}
        told |= {"phase": event.phase.value, "detail": event.detail, "user": operator.user()}
        logger.info("%s", json.dumps(told))

    return EventProcessor([note])


def _event(task: Task, host: Host, phase: Phase, text: str = "", code: int = 0) -> Event:
    act, wave, detail = f"{PREFIX}{task.name}", str(host.get(WAVE, "")), masked(text)
    return TaskEvent(wave=wave, device=host.name, act=act, phase=phase, detail=detail, code=code)


def _failure_text(result: MultiResult) -> str:
    """What failed, as one sentence; Nornir puts the traceback into the result."""
    error = next((each.exception for each in result if each.exception), None)
    return " ".join(str(error).split()) if error else "failed"


def _code(result: MultiResult) -> int:
    error = next((each.exception for each in result if each.exception), None)
    return error.exit_code if isinstance(error, RocefortError) else 3
