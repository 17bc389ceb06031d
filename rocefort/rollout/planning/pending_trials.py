"""Trials that this controller did not begin: their run, their remaining time, and the cure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocefort.errors import RocefortError
from rocefort.models.wording import count_of, duration


@dataclass(frozen=True, slots=True)
class ForeignTrial:
    """Running trial of a switch that this process did not begin.

    left_s: None if the switch does not show it. plan, run: as far as the switch has them; empty if
    it shows no run of Rocefort.
    """

    left_s: int | None
    plan: str = ""
    run: str = ""


END_OF_FOREIGN = "wait for its timer, or let the session that began it confirm or abort it"


def time_left(seconds: int | None) -> str:
    """`, 9 min 12 s left`; empty if the switch does not show the time."""
    return "" if seconds is None else f", {duration(seconds)} left"


def trial_notes(trials: Mapping[str, ForeignTrial | RocefortError | None]) -> Iterator[str]:
    """A sentence for each run with switches on trial, and for each switch with an error.

    trials: by switch, None if it runs no trial.
    """
    runs: dict[tuple[str, str], dict[str, int | None]] = {}
    for name, trial in trials.items():
        if isinstance(trial, ForeignTrial):
            runs.setdefault((trial.plan, trial.run), {})[name] = trial.left_s
    for (plan, run), seconds_left in runs.items():
        whose = f"for plan {plan}, run {run}" if run else "that shows no run of Rocefort"
        shown = [seconds for seconds in seconds_left.values() if seconds is not None]
        time = (
            f"at most {duration(max(shown))}"
            if len(shown) == len(seconds_left)
            else "an unknown time"
        )
        yield (
            f"{', '.join(seconds_left)}: {count_of(len(seconds_left), 'switch')} on a trial "
            f"{whose}, {time} left, so the running configuration may change; "
            f"{_cure(run)}, then plan again"
        )
    yield from (str(trial) for trial in trials.values() if isinstance(trial, RocefortError))


def _cure(run: str) -> str:
    if run:
        return (
            "`rocefort resume` with that plan continues it, `rocefort abort` and then "
            "`rocefort resume` rolls it back"
        )
    return END_OF_FOREIGN
