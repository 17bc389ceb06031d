"""How the trials of one run are told on a switch: by the plan's digest, and by the run's own id."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4

from rocefort.models.rollout.events import Event, RunStarted

SHOWN = 12  # characters of a plan's digest; a description has room for 60 in all
RUN_SHOWN = 8  # of a run's id
NAME = "rocefort"
RUN_STANDS_FOR = "RUN"  # where the run is not known yet, as on paper


@dataclass(frozen=True, slots=True)
class TrialLabel:
    """The words of one run of one plan.

    run: its id. earlier: those of the runs of this plan that the same journal has; whoever holds
    the journal knows that no controller carries them any more. resumed: an earlier life of the
    controller may have begun trials of this run.
    """

    plan: str
    run: str
    earlier: frozenset[str] = frozenset()
    resumed: bool = False

    @property
    def left_trials(self) -> bool:
        """Whether controllers before this one may have left trials behind."""
        return self.resumed or bool(self.earlier)

    @property
    def persist_id(self) -> str:
        """The id of its trials, where a release lets a trial have one."""
        return persist_id(self.plan, self.run)

    def description(self, word: str = "") -> str:
        """What stands at its commits in a switch's list of them; word: of a leg."""
        told = f"{NAME} {self.plan[:SHOWN]}/{self.run[:RUN_SHOWN]}"
        return f"{told}, {word}" if word else told

    def read(self, description: str) -> tuple[str, str] | None:
        """Run and word of a commit of this plan by its description; None: it is not of this."""
        found = re.fullmatch(rf"{NAME} {self.plan[:SHOWN]}/(\w+)(?:, (.*))?", description)
        return (found[1], found[2] or "") if found else None

    def run_of(self, trial: str) -> str:
        """The run of a trial of this plan by its persist id; empty: it is not of this."""
        found = re.fullmatch(rf"{NAME}-{self.plan[:SHOWN]}-(\w+)", trial)
        return found[1] if found else ""

    def owns(self, run: str) -> bool:
        """Whether a run is this one, or an earlier one of the same journal; whole or as shown."""
        return run[:RUN_SHOWN] in {each[:RUN_SHOWN] for each in (self.run, *self.earlier)}


def persist_id(plan: str, run: str = RUN_STANDS_FOR) -> str:
    """The id of a run's trials."""
    return f"{NAME}-{plan[:SHOWN]}-{run[:RUN_SHOWN]}"


def run_told(persist: str, description: str) -> tuple[str, str]:
    """Plan and run of a trial, as far as a switch is told them; empty: no run of Rocefort began it.

    persist: its id, where the release has such; description: of the newest commit.
    """
    found = re.fullmatch(rf"{NAME}-(\w+)-(\w+)", persist)
    if not persist:
        found = re.fullmatch(rf"{NAME} (\w+)/(\w+)(?:, .*)?", description)
    return (found[1], found[2]) if found else ("", "")


def label_of(plan: str, events: Iterable[Event], *, resume: bool) -> TrialLabel:
    """The words of the run that a journal has under way, or of a new one.

    events: of this plan, oldest first.
    """
    runs = [each.run for each in events if isinstance(each, RunStarted) and each.run]
    if not (resume and runs):
        return TrialLabel(plan, uuid4().hex, frozenset(runs))
    return TrialLabel(plan, runs[-1], frozenset(runs[:-1]), resumed=True)
