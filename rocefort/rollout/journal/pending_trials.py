"""Pending trials on switches: their labels and owners, when they end, and who can end them.

A release may show neither a trial's persist id, nor its commit in the list of commits, nor its time
(docs/reference/emulator.md has the behaviours). What is not shown is unknown: it never counts
as ours, as another owner's, or as zero seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import uuid4

from rocefort.base.errors import Problem, RocefortError
from rocefort.models.wording import duration, listing
from rocefort.rollout.journal.events import Event, RunStarted, TrialOwner


@dataclass(frozen=True, slots=True)
class PendingTrial:
    """Trial that runs on several switches.

    trial_id: id by which any session ends it; "": it has none, None: not known. exact: the switches
    show the remaining time; otherwise `left_s` is the most.
    """

    devices: tuple[str, ...]
    left_s: int
    until: datetime
    trial_id: str | None
    exact: bool = True

    @property
    def time(self) -> str:
        """End of the trial as a time and a duration."""
        at_most = "" if self.exact else "at most "
        return f"{at_most}until {self.until:%H:%M:%S} UTC ({duration(self.left_s)})"

    @property
    def sentence(self) -> str:
        """Switches, remaining time and who can end the trial; with terms of the dialect."""
        stay = "stay" if len(self.devices) > 1 else "stays"
        return f"{listing(self.devices)} {stay} on trial {self.time}; {self._who}"

    @property
    def _who(self) -> str:
        if self.trial_id:
            return f"any session ends it: «end of trial: {self.trial_id}»"
        back = "it restores its configuration itself"
        if self.trial_id is None:
            return f"{back}; whether another session can end it is not known"
        return (
            "this release has no «id of a trial», so only the session that began it can end it: "
            f"{back}"
        )


def pending_trials(
    left: Mapping[str, tuple[int | None, str | None]], most_s: int, now: float, scale: float
) -> list[PendingTrial]:
    """Trials of switches that end together, the last one first.

    left: by switch, the seconds left of its trial (None: not shown) and the id of the trial.
    most_s: longest trial. now: a timestamp. scale: seconds of the switches in one of this machine.
    """
    groups: dict[tuple[int | None, str | None], list[str]] = {}
    for name, trial in left.items():
        groups.setdefault(trial, []).append(name)
    trials = []
    for (shown, trial_id), names in groups.items():
        seconds = most_s if shown is None else shown
        until = datetime.fromtimestamp(now + seconds / scale, UTC)
        trials.append(PendingTrial(tuple(names), seconds, until, trial_id, shown is not None))
    return sorted(trials, key=lambda each: -each.left_s)


@dataclass(frozen=True, slots=True)
class ForeignTrial:
    """Running trial of a switch that this process did not begin.

    left_s: None if the switch does not show it. plan, run: as far as the switch has them; empty if
    it shows no run of Rocefort. trial_id: id by which any session ends it; empty if not shown.
    """

    left_s: int | None
    plan: str = ""
    run: str = ""
    trial_id: str = ""


END_OF_FOREIGN = "wait for its timer, or let the session that began it confirm or abort it"


def time_left(seconds: int | None) -> str:
    """`, 9 min 12 s left`; empty if the switch does not show the time."""
    return "" if seconds is None else f", {duration(seconds)} left"


def trial_problems(
    trials: Mapping[str, ForeignTrial | RocefortError | None], now: datetime, scale: float
) -> Iterator[Problem]:
    """Yield why no plan can be made: a problem for each run with switches on trial, and each error.

    trials: by switch, None if it runs no trial. now: in UTC. scale: seconds of the switches in one
    of this machine.
    """
    runs: dict[tuple[str, str, str], dict[str, int | None]] = {}
    for name, trial in trials.items():
        if isinstance(trial, ForeignTrial):
            label = trial.plan, trial.run, trial.trial_id
            runs.setdefault(label, {})[name] = trial.left_s
        elif trial is not None:
            yield from trial.problems
    for (plan, run, trial_id), seconds_left in runs.items():
        whose = f"of plan {plan}, run {run}" if run else "that shows no run of Rocefort"
        yield Problem(
            ", ".join(seconds_left),
            f"on a trial {whose}, {_until(seconds_left.values(), now, scale)}: its end may change "
            "the configuration that was read",
            _cure(run, trial_id),
        )


def _until(seconds_left: Collection[int | None], now: datetime, scale: float) -> str:
    shown = [seconds for seconds in seconds_left if seconds is not None]
    if len(shown) < len(seconds_left):
        return "for an unknown time"
    until = now + timedelta(seconds=max(shown) / scale)
    return f"until {until:%H:%M:%S} UTC at the latest ({duration(max(shown))})"


def _cure(run: str, trial_id: str) -> str:
    if run and trial_id:
        return (
            "`rocefort resume` with that plan continues it, `rocefort abort` and then "
            "`rocefort resume` rolls it back; then plan again"
        )
    return "only the session that began it can end it before; wait for its end, then plan again"


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
