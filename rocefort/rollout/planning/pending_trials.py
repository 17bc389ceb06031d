"""Trials that this controller did not begin: their run, their remaining time, and the cure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from rocefort.base.errors import Problem, RocefortError
from rocefort.models.wording import duration


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
