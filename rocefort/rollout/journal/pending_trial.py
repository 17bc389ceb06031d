"""Trials that are pending on switches: when they end, and who can end them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rocefort.models.wording import duration, listing


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
