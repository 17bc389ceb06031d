"""What a rollout asks of the world: switches, a gate, live checks, a place for texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rocefort.errors import RocefortError
from rocefort.models.rollout.events import SwitchState
from rocefort.models.rollout.plan import Change, Gate

Outcome = Mapping[str, RocefortError]  # by device, what stopped it there; empty: all went well


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a switch was before it is touched: its configuration as shown, and its sessions."""

    text: str
    established: frozenset[str]


class Switches(Protocol):
    """What a rollout does with switches; every call is for several at once.

    No method raises for what one switch does: it returns that switch's error.
    """

    def observe(self, ways: Sequence[Sequence[Change]]) -> Mapping[str, SwitchState]:
        """What each switch says now; changes nothing. Of each: its change, or a drain's three."""

    def precheck(self, changes: Sequence[Change]) -> Mapping[str, Baseline | RocefortError]:
        """What is there before the first act; changes nothing."""

    def load(self, changes: Sequence[Change]) -> Outcome:
        """Load the patch; what the switch would then run must be what was planned."""

    def trial(self, changes: Sequence[Change], seconds: int, words: Mapping[str, str]) -> Outcome:
        """A trial under the run's label; words, by device: what a drain's leg adds to it."""

    def check(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        """Live: configuration read back as intended, BGP sessions up that were up before."""

    def confirm(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        """Check once more, confirm, read back."""

    def save(self, changes: Sequence[Change]) -> Outcome:
        """Save what runs."""

    def abort(self, changes: Sequence[Change]) -> Outcome:
        """End the trial and the candidate of this rollout where there is one, and only those."""


class GateVerdict(Protocol):
    """What a gate says."""

    @property
    def passed(self) -> bool:
        """Whether the wave may be confirmed."""

    @property
    def summary(self) -> str:
        """What was measured, or everything that did not pass."""


class TextStore(Protocol):
    """Where texts are kept by their content."""

    def keep(self, text: str) -> str:
        """Make a text durable; returns its digest."""


class WaveWatch(Protocol):
    """The live checks of a rollout."""

    def __call__(self, devices: Sequence[str], when: str, *, allow_sick: bool) -> GateVerdict:
        """Judge a wave's switches and their neighbours; when: before, during or after the wave."""


RunGate = Callable[[Gate], GateVerdict]
