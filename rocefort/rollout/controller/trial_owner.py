"""Owner of a pending trial, from the output of the switch and the acts of this run.

A release may show neither a trial's persist id, nor its commit in the list of commits, nor its time
(docs/reference/emulator.md has the behaviours). What is not shown is unknown: it never counts
as ours, as another owner's, or as zero seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rocefort.rollout.controller.trial_label import TrialLabel
from rocefort.rollout.journal.events import TrialOwner


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
