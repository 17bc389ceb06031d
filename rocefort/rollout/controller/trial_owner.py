"""Label of a trial on a switch, and the owner of a pending one.

A release may show neither a trial's persist id, nor its commit in the list of commits, nor its time
(docs/reference/emulator.md has the behaviours). What is not shown is unknown: it never counts
as ours, as another owner's, or as zero seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from rocefort.rollout.journal.events import Event, RunStarted, TrialOwner

SHOWN = 12  # characters of a plan's digest; a description has room for 60 in all
RUN_SHOWN = 8  # of a run's id
NAME = "rocefort"
RUN_PLACEHOLDER = "RUN"  # placeholder while no run exists, as on paper


@dataclass(frozen=True, slots=True)
class TrialLabel:
    """Label of one run of one plan.

    run: its id. earlier: ids of the earlier runs of this plan in the same journal; the lock on the
    journal proves that no controller executes them now. resumed: an earlier controller process may
    have begun trials of this run.
    """

    plan: str
    run: str
    earlier: frozenset[str] = frozenset()
    resumed: bool = False

    @property
    def left_trials(self) -> bool:
        """Whether earlier controller processes may have left trials behind."""
        return self.resumed or bool(self.earlier)

    @property
    def persist_id(self) -> str:
        """Persist id of its trials, for releases that support one."""
        return persist_id(self.plan, self.run)

    def description(self, word: str = "") -> str:
        """Description of its commits in a switch's commit list. word: of a drain step."""
        text = f"{NAME} {self.plan[:SHOWN]}/{self.run[:RUN_SHOWN]}"
        return f"{text}, {word}" if word else text

    def read(self, description: str) -> tuple[str, str] | None:
        """Run and word from a commit's description; None for a commit of another plan."""
        match = re.fullmatch(rf"{NAME} {self.plan[:SHOWN]}/(\w+)(?:, (.*))?", description)
        return (match[1], match[2] or "") if match else None

    def run_of(self, trial: str) -> str:
        """Run of a trial from its persist id; empty for a trial of another plan."""
        match = re.fullmatch(rf"{NAME}-{self.plan[:SHOWN]}-(\w+)", trial)
        return match[1] if match else ""

    def owns(self, run: str) -> bool:
        """Whether a run is this one or an earlier one of the journal, by its full or short id."""
        return run[:RUN_SHOWN] in {each[:RUN_SHOWN] for each in (self.run, *self.earlier)}


def persist_id(plan: str, run: str = RUN_PLACEHOLDER) -> str:
    """Persist id of a run's trials."""
    return f"{NAME}-{plan[:SHOWN]}-{run[:RUN_SHOWN]}"


def run_on_switch(persist: str, description: str) -> tuple[str, str]:
    """Plan and run of a trial, as far as a switch has them; empty if not begun by Rocefort.

    persist: its persist id, if the release has one; description: of the newest commit.
    """
    match = re.fullmatch(rf"{NAME}-(\w+)-(\w+)", persist)
    if not persist:
        match = re.fullmatch(rf"{NAME} (\w+)/(\w+)(?:, .*)?", description)
    return (match[1], match[2]) if match else ("", "")


def label_of(plan: str, events: Iterable[Event], *, resume: bool) -> TrialLabel:
    """Label of the unfinished run of a journal, or of a new run.

    events: of this plan, oldest first.
    """
    runs = [each.run for each in events if isinstance(each, RunStarted) and each.run]
    if not (resume and runs):
        return TrialLabel(plan, uuid4().hex, frozenset(runs))
    return TrialLabel(plan, runs[-1], frozenset(runs[:-1]), resumed=True)


class ShownTrial(Protocol):
    """Trial as the switch shows it; seconds_left: None if not shown."""

    @property
    def state(self) -> str: ...  # noqa: D102
    @property
    def seconds_left(self) -> int | None: ...  # noqa: D102
    @property
    def persist_id(self) -> str: ...  # noqa: D102


class Commit(Protocol):
    """Commit as the switch lists it; equal objects are the same commit."""

    @property
    def description(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class OwnTrial:
    """A trial that this controller began after nothing was pending.

    session: the driver's object, one for each session. newest: the newest commit that the switch
    listed before it. ends_from, ends_by: earliest and latest end of its timer, by this
    controller's clock.
    """

    session: object
    newest: Commit | None
    ends_from: float
    ends_by: float


@dataclass(frozen=True, slots=True)
class TrialClaim:
    """Owner of a pending trial. run: of this plan, if the switch shows one."""

    whose: TrialOwner
    run: str = ""


def described(newest: Commit | None) -> str:
    """Description of a commit; empty without one."""
    return newest.description if newest else ""


def owner_of(  # noqa: PLR0913 - all evidence of it
    label: TrialLabel,
    trial: ShownTrial,
    newest: Commit | None,
    began: OwnTrial | None,
    *,
    led_to: Callable[[str], bool],
    may_be_ours: Callable[[], bool],
) -> TrialClaim:
    """Owner of the trial that a switch shows.

    newest: the newest commit as listed; None without a list. began: the trial that this session
    began and that cannot be over. led_to: whether a commit with these words led to the running
    configuration. may_be_ours: the switch runs a result of this plan's trials, and this journal
    has begun one.
    """
    if trial.state == "INACTIVE":
        return TrialClaim(TrialOwner.NONE)
    if trial.persist_id:
        return _of_run(label, label.run_of(trial.persist_id))
    mark = label.read(described(newest))
    if began is not None and newest == began.newest:  # the list does not show our trial
        return TrialClaim(TrialOwner.THIS_RUN, label.run)
    if began is not None:
        return _of_run(label, mark[0] if mark else "")
    if mark is not None and led_to(mark[1]):
        return _of_run(label, mark[0])
    return TrialClaim(TrialOwner.UNKNOWN if may_be_ours() else TrialOwner.OTHER)


def _of_run(label: TrialLabel, run: str) -> TrialClaim:
    return TrialClaim(TrialOwner.THIS_RUN if label.owns(run) else TrialOwner.OTHER, run)
