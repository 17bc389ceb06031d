"""Carry a sealed plan onto the switches, wave by wave, under each switch's own commit timer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from rocefort.errors import DeviceFailed, RocefortError, ServiceFailed
from rocefort.models.change import Change, Gate, Plan, Wave
from rocefort.models.rollout import Applied, Event, Phase
from rocefort.rollout.journal import JournalFailed, Listener


class Standing(StrEnum):
    """Where a switch without a trial stands, as it says itself."""

    OLD = "old"  # runs what the plan was made against
    UNSAVED = "unsaved"  # runs what is intended, and would start with something else
    NEW = "new"  # runs what is intended, and saved it


Outcome = dict[str, RocefortError]  # by device, what stopped it there; empty: all went well
Standings = dict[str, Standing | RocefortError]  # of every device that was asked for


class Switches(Protocol):
    """What a rollout does with switches; every call is for several at once.

    No method raises for what one switch does: it returns that switch's error.
    """

    def precheck(self, changes: Sequence[Change]) -> Standings:
        """Right switch, no trial pending, running as planned against or as intended already."""

    def save(self, changes: Sequence[Change]) -> Outcome:
        """Save what runs."""

    def load(self, changes: Sequence[Change]) -> Outcome:
        """Load the patch; what the switch would then run must be what was planned."""

    def trial(self, changes: Sequence[Change], seconds: int) -> Outcome:
        """`commit trial`."""

    def check(self, changes: Sequence[Change]) -> Outcome:
        """Live: configuration read back as intended, BGP sessions up that were up before."""

    def confirm(self, changes: Sequence[Change]) -> Outcome:
        """Check once more, confirm, read back, save."""

    def abort(self, changes: Sequence[Change]) -> Standings:
        """End what this rollout has under way, and read back where each switch stands then.

        A switch that was never touched, or whose trial has ended by itself, is OLD; one that took
        the confirmation is NEW, and saved.
        """


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
    """One run of one plan. The journal, then the listeners, hear of every act before and after it.

    stop: asked before every act; once it says yes, the wave under way is rolled back.
    """

    plan: Plan
    switches: Switches
    run_gate: RunGate
    journal: Listener
    listeners: Sequence[Listener] = ()
    stop: Callable[[], bool] = lambda: False
    confirmed: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    _begun: tuple[str, ...] = ()  # devices of the wave under way that an act has reached

    def run(self) -> Applied:
        """Apply all waves; the first failure rolls its wave back and stops."""
        everyone = [self.plan.change(d) for wave in self.plan.waves for d in wave.devices]
        try:
            # before anything is touched anywhere
            if error := _joined(self.switches.precheck(everyone)):
                return self._ended(error)
            for wave in self.plan.waves:
                if ended := self._wave(wave):
                    return ended
        except JournalFailed as error:
            return self._without_journal(error)
        return self._ended()

    def _wave(self, wave: Wave) -> Applied | None:
        changes = [self.plan.change(device) for device in wave.devices]
        if error := self._stopped(wave):
            return self._ended(error)
        standings = self.switches.precheck(changes)
        if error := _joined(standings):
            return self._ended(error)
        unsaved = [c for c in changes if standings[c.device] is Standing.UNSAVED]
        if unsaved and (error := self._act(wave, "save", unsaved, self.switches.save)):
            return self._ended(error)
        todo = [change for change in changes if standings[change.device] is Standing.OLD]
        self.already += [change.device for change in changes if change not in todo]
        return self._change(wave, todo) if todo else None

    def _change(self, wave: Wave, todo: list[Change]) -> Applied | None:
        try:
            error = self._try(wave, todo)
        except RocefortError as caught:  # of the journal, too: it may take the abort
            error = caught
        except BaseException:  # a defect: it is shown, but the trials need not wait for it
            self.listeners = ()  # one of them may be what failed
            self._back(wave, todo, DeviceFailed("an internal error", where=f"wave {wave.name}"))
            raise
        if error:
            return self._back(wave, todo, error)
        self.confirmed += [change.device for change in todo]
        self._begun = ()
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
        if error := self._stopped(wave) or self._gate(wave):
            return error
        return self._act(wave, "confirm", todo, self.switches.confirm)

    def _act(
        self,
        wave: Wave,
        act: str,
        changes: Sequence[Change],
        call: Callable[[Sequence[Change]], Outcome],
    ) -> RocefortError | None:
        if error := self._stopped(wave):
            return error
        self._say_intent(wave, act, changes)
        outcome = call(changes)
        for change in changes:
            error = outcome.get(change.device)
            phase = Phase.FAILED if error else Phase.DONE
            self._say(Event(wave.name, change.device, act, phase, str(error or "")))
        return _joined(outcome)

    def _gate(self, wave: Wave) -> RocefortError | None:
        """Measure; a wave whose plan says that nothing can be measured there goes on without."""
        gate, passed, said = wave.gate, True, []
        self._say(Event(wave.name, "", "gate", Phase.INTENT))
        if gate.pairs or not gate.unmeasured:
            verdict = self.run_gate(gate)
            passed, said = verdict.passed, [verdict.summary]
        if gate.unmeasured:
            said.append(f"not measured: {', '.join(gate.unmeasured)}")
        summary = "; ".join(said)
        phase = Phase.DONE if passed else Phase.FAILED
        self._say(Event(wave.name, "", "gate", phase, summary))
        if passed:
            return None
        return DeviceFailed(f"the RDMA gate failed: {summary}", where=f"wave {wave.name}")

    def _back(self, wave: Wave, todo: list[Change], error: RocefortError) -> Applied:
        """Abort every trial of the wave, whatever stopped it, and say who could not be helped."""
        self._say_intent(wave, "abort", todo)
        standings = self.switches.abort(todo)
        stood: dict[Standing | None, list[str]] = {}
        lost: list[str] = []
        for change in todo:
            found = standings[change.device]
            known = found if isinstance(found, Standing) else None
            stood.setdefault(known, []).append(change.device)
            if known is None:
                lost.append(f"{found}; a trial that runs there reverts by itself within {self._t}")
            said = lost[-1] if known is None else "" if known is Standing.OLD else "was confirmed"
            phase = Phase.DONE if known else Phase.FAILED
            self._say(Event(wave.name, change.device, "abort", phase, said))
        self.confirmed += stood.get(Standing.NEW, [])
        self._begun = ()
        return self._ended(
            error,
            rolled_back=stood.get(Standing.OLD, ()),
            unknown=stood.get(None, ()),
            lost=lost,
        )

    def _without_journal(self, error: JournalFailed) -> Applied:
        """No act without a record of it: not even an abort, which the switches' timers do, too."""
        how = "nothing further is done"
        if self._begun:
            how += f"; what is on trial reverts by itself within {self._t}"
        said = ServiceFailed(error.problem.what, where=error.problem.where, how=how)
        return self._ended(said, unknown=self._begun)

    @property
    def _t(self) -> str:
        return f"{self.plan.trial_s} s"

    def _stopped(self, wave: Wave) -> RocefortError | None:
        if not self.stop():
            return None
        how = "apply the plan again to go on"
        return DeviceFailed("interrupted", where=f"wave {wave.name}", how=how)

    def _ended(
        self,
        error: RocefortError | None = None,
        rolled_back: Sequence[str] = (),
        unknown: Sequence[str] = (),
        lost: Iterable[str] = (),
    ) -> Applied:
        return Applied(
            confirmed=tuple(self.confirmed),
            already=tuple(self.already),
            rolled_back=tuple(rolled_back),
            unknown=tuple(unknown),
            failure="; ".join([str(error or ""), *lost]),
            exit_code=error.exit_code if error else 0,
        )

    def _say_intent(self, wave: Wave, act: str, changes: Sequence[Change]) -> None:
        for change in changes:
            self._say(Event(wave.name, change.device, act, Phase.INTENT))
        self._begun = tuple(change.device for change in changes)

    def _say(self, event: Event) -> None:
        self.journal(event)
        for listener in self.listeners:
            listener(event)


def _joined(outcome: Mapping[str, Standing | RocefortError]) -> RocefortError | None:
    """What stopped the devices, all of them in one sentence; the exit code is the first one's."""
    errors = [error for error in outcome.values() if isinstance(error, RocefortError)]
    if len(errors) < 2:
        return errors[0] if errors else None
    joined = RocefortError("; ".join(map(str, errors)))
    joined.exit_code = errors[0].exit_code
    return joined
