"""Interfaces of the controller to switches, gate, live checks and text store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rocefort.base.errors import RocefortError
from rocefort.models.change.plan import Change, Wave
from rocefort.models.fabric.trial_time import TrialLength
from rocefort.rollout.journal.events import SwitchState

Outcome = Mapping[str, RocefortError]  # errors by device; empty on success


@dataclass(frozen=True, slots=True)
class Baseline:
    """State of a switch before its change: configuration text and established BGP sessions."""

    text: str
    established: frozenset[str]


class Switches(Protocol):
    """Operations of a rollout on switches; every call is for several switches at once.

    No method raises for what one switch does: it returns that switch's error.
    """

    def observe(self, ways: Sequence[Sequence[Change]]) -> Mapping[str, SwitchState]:
        """State of each switch; changes nothing. ways: its change, or the three of a drain."""

    def precheck(self, changes: Sequence[Change]) -> Mapping[str, Baseline | RocefortError]:
        """State before the first act; changes nothing."""

    def load(self, changes: Sequence[Change]) -> Outcome:
        """Load the patch; the candidate must match the plan."""

    def trial(
        self, changes: Sequence[Change], length: TrialLength, words: Mapping[str, str]
    ) -> Outcome:
        """Begin a trial commit under the run's label. words: of the drain step, by device."""

    def check(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        """Check that a switch runs the target, and that BGP sessions are up as before."""

    def confirm(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        """Check again, confirm, and read the configuration back."""

    def save(self, changes: Sequence[Change]) -> Outcome:
        """Save the running configuration."""

    def abort(self, changes: Sequence[Change]) -> Outcome:
        """End the trial and the candidate of this rollout where there is one, and only those."""


class GateVerdict(Protocol):
    """Result of a gate or of live checks."""

    @property
    def passed(self) -> bool:
        """Whether the wave may be confirmed."""

    @property
    def summary(self) -> str:
        """Measured values, or everything that did not pass."""


class TextStore(Protocol):
    """Store of texts by their digest."""

    def keep(self, text: str) -> str:
        """Make a text durable; returns its digest."""


class WaveWatch(Protocol):
    """The live checks of a rollout."""

    def __call__(self, devices: Sequence[str], when: str, *, allow_sick: bool) -> GateVerdict:
        """Check a wave's switches and their neighbours. when: before, during or after the wave."""


class LoadGuard(Protocol):
    """Rules of load for the gates of a rollout."""

    def __call__(self, wave: Wave, *, begun: bool) -> str:
        """Reason why the gate of a wave may not run now; empty: it may.

        begun: the wave is on trial, so only the gate must fit, and not the whole wave.
        """


def any_load(wave: Wave, *, begun: bool) -> str:  # noqa: ARG001 - the interface
    """Permit every gate: it loads no server of a site."""
    return ""


class WindowGuard(Protocol):
    """Calendars that can hold waves."""

    def __call__(self, wave: Wave) -> str:
        """Reason why a wave may not begin now; empty: it may."""

    def record(self, wave: Wave) -> str:
        """Calendars by which a wave begins now, as text for the journal; empty: none."""


class AnyTime:
    """Windows of a rollout without a calendar."""

    def __call__(self, wave: Wave) -> str:  # noqa: ARG002 - the interface
        """Permit every wave."""
        return ""

    def record(self, wave: Wave) -> str:  # noqa: ARG002 - the interface
        """Return nothing to record."""
        return ""


@dataclass(frozen=True, slots=True)
class WaveGuards:
    """Rules that can hold a wave before it begins: of the load of its gate, and of its window."""

    load: LoadGuard = any_load
    windows: WindowGuard = field(default_factory=AnyTime)


UNGUARDED = WaveGuards()


@dataclass(frozen=True, slots=True)
class WaveGate:
    """Gate of a wave that runs now.

    left_s: seconds of this machine in which it must end, so that all later acts fit into the trials
    of the wave; None: no trial runs.
    """

    wave: Wave
    left_s: float | None = None


RunGate = Callable[[WaveGate], GateVerdict]
