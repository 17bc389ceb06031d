"""Carry a sealed plan onto the switches, wave by wave, under each switch's own commit timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rocefort.errors import DeviceFailed, RocefortError
from rocefort.models.change import Change, Gate, Plan, Wave
from rocefort.models.rollout import Applied, Event, Phase
from rocefort.rollout.journal import Listener

Outcome = dict[str, RocefortError]  # by device, what stopped it there; empty: all went well


class Switches(Protocol):
    """What a rollout does with switches; every call is for several at once.

    No method raises for what one switch does: it returns that switch's error.
    """

    def precheck(self, changes: Sequence[Change]) -> tuple[Outcome, frozenset[str]]:
        """Right switch, running as planned, no trial pending; and who runs as intended already."""

    def load(self, changes: Sequence[Change]) -> Outcome:
        """Load the patch; what the switch would then run must be what was planned."""

    def trial(self, changes: Sequence[Change], seconds: int) -> Outcome:
        """`commit trial`."""

    def check(self, changes: Sequence[Change]) -> Outcome:
        """Live: configuration read back as intended, BGP sessions all established."""

    def confirm(self, changes: Sequence[Change]) -> Outcome:
        """Confirm, read back, save."""

    def abort(self, changes: Sequence[Change]) -> Outcome:
        """Back to what ran before, candidate empty, verified by reading back."""


class Verdict(Protocol):
    """What a gate says."""

    @property
    def passed(self) -> bool:
        """Whether the wave may be confirmed."""

    @property
    def summary(self) -> str:
        """What was measured, or everything that did not pass."""


RunGate = Callable[[Gate], Verdict]


@dataclass
class Rollout:
    """One run of one plan; listeners hear of every act before and after it."""

    plan: Plan
    switches: Switches
    run_gate: RunGate
    listeners: Sequence[Listener]
    confirmed: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)

    def run(self) -> Applied:
        """Apply all waves; the first failure rolls its wave back and stops."""
        everyone = [self.plan.change(d) for wave in self.plan.waves for d in wave.devices]
        outcome, _ = self.switches.precheck(everyone)  # before anything is touched anywhere
        if outcome:
            return self._ended(error=next(iter(outcome.values())))
        for wave in self.plan.waves:
            ended = self._wave(wave)
            if ended:
                return ended
        return self._ended()

    def _wave(self, wave: Wave) -> Applied | None:
        changes = [self.plan.change(device) for device in wave.devices]
        outcome, already = self.switches.precheck(changes)
        if outcome:
            return self._ended(error=next(iter(outcome.values())))
        self.already += sorted(already)
        todo = [change for change in changes if change.device not in already]
        if not todo:
            return None
        try:
            error = self._try(wave, todo)
        except KeyboardInterrupt:
            error = DeviceFailed("interrupted from the keyboard", where=f"wave {wave.name}")
        if error:
            return self._back(wave, todo, error)
        self.confirmed += [change.device for change in todo]
        return None

    def _try(self, wave: Wave, todo: list[Change]) -> RocefortError | None:
        """All steps of a wave up to the confirmation; the first error ends them."""
        seconds = self.plan.trial_s
        steps: tuple[tuple[str, Callable[[Sequence[Change]], Outcome]], ...] = (
            ("load", self.switches.load),
            ("trial", lambda changes: self.switches.trial(changes, seconds)),
            ("check", self.switches.check),
        )
        for act, call in steps:
            if error := self._act(wave, act, todo, call):
                return error
        if error := self._gate(wave):
            return error
        return self._act(wave, "confirm", todo, self.switches.confirm)

    def _act(
        self,
        wave: Wave,
        act: str,
        changes: Sequence[Change],
        call: Callable[[Sequence[Change]], Outcome],
    ) -> RocefortError | None:
        for change in changes:
            self._say(Event(wave.name, change.device, act, Phase.INTENT))
        outcome = call(changes)
        for change in changes:
            error = outcome.get(change.device)
            phase = Phase.FAILED if error else Phase.DONE
            self._say(Event(wave.name, change.device, act, phase, str(error or "")))
        return next(iter(outcome.values()), None)

    def _gate(self, wave: Wave) -> RocefortError | None:
        self._say(Event(wave.name, "", "gate", Phase.INTENT))
        verdict = self.run_gate(wave.gate)
        phase = Phase.DONE if verdict.passed else Phase.FAILED
        self._say(Event(wave.name, "", "gate", phase, verdict.summary))
        if verdict.passed:
            return None
        return DeviceFailed(f"the RDMA gate failed: {verdict.summary}", where=f"wave {wave.name}")

    def _back(self, wave: Wave, todo: list[Change], error: RocefortError) -> Applied:
        """Abort every trial of the wave, whatever stopped it, and say who could not be helped."""
        for change in todo:
            self._say(Event(wave.name, change.device, "abort", Phase.INTENT))
        outcome = self.switches.abort(todo)
        for change in todo:
            failed = outcome.get(change.device)
            phase = Phase.FAILED if failed else Phase.DONE
            self._say(Event(wave.name, change.device, "abort", phase, str(failed or "")))
        back = tuple(c.device for c in todo if c.device not in outcome)
        return self._ended(error=error, rolled_back=back, unknown=tuple(outcome))

    def _ended(
        self,
        error: RocefortError | None = None,
        rolled_back: tuple[str, ...] = (),
        unknown: tuple[str, ...] = (),
    ) -> Applied:
        return Applied(
            confirmed=tuple(self.confirmed),
            already=tuple(self.already),
            rolled_back=rolled_back,
            unknown=unknown,
            failure=str(error or ""),
            exit_code=error.exit_code if error else 0,
        )

    def _say(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)
