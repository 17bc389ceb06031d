"""Progress of a rollout, in the words of its display, of `status` and of rehearsal reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocefort.models.change.plan import Plan, Wave
from rocefort.rollout.journal.events import Act, ActEvent, ActPhase, Event
from rocefort.rollout.journal.history import AS_INTENDED, RunHistory
from rocefort.rollout.journal.pending_trial import PendingTrial, pending_trials

WAITING, ON_TRIAL, CONFIRMED, SAVED, BACK, FAILED, UNKNOWN = (
    "waiting",
    "on trial",
    "confirmed",
    "saved",
    "rolled back",
    "failed",
    "UNKNOWN",
)
UNDER_WAY, DONE, NEEDS_APPROVAL = "under way", "done", "needs approval"  # of waves
# Word for a device, by the last act and its phase.
WORDS: Mapping[tuple[str, ActPhase], str] = {
    (Act.PRECHECK, ActPhase.INTENT): "looked at",
    (Act.PRECHECK, ActPhase.DONE): "looked at",
    (Act.LOAD, ActPhase.INTENT): "loading",
    (Act.LOAD, ActPhase.DONE): "loaded",
    (Act.TRIAL, ActPhase.INTENT): "trial begins",
    (Act.TRIAL, ActPhase.DONE): ON_TRIAL,
    (Act.CHECK, ActPhase.INTENT): "on trial, checking",
    (Act.CHECK, ActPhase.DONE): "on trial, checked",
    (Act.SOAK, ActPhase.INTENT): "on trial, soaking",
    (Act.SOAK, ActPhase.DONE): "on trial, soaked",
    (Act.CONFIRM, ActPhase.INTENT): "confirming",
    (Act.CONFIRM, ActPhase.DONE): CONFIRMED,
    (Act.SAVE, ActPhase.INTENT): "saving",
    (Act.SAVE, ActPhase.DONE): SAVED,
    (Act.ABORT, ActPhase.INTENT): "rolling back",
    (Act.ABORT, ActPhase.DONE): BACK,
    (Act.ABORT, ActPhase.FAILED): UNKNOWN,
    ("wait", ActPhase.INTENT): "its trial ends",
    ("wait", ActPhase.DONE): "its trial ended",
    ("wait", ActPhase.FAILED): ON_TRIAL,
}


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Plan and the history of its run. scale: seconds of the switches in one of the history."""

    plan: Plan
    history: RunHistory = field(default_factory=RunHistory)
    scale: float = 1.0

    def word(self, device: str) -> str:
        """Word for the state of a switch."""
        last = self.history.devices.get(device)
        return word_of(last.event) if last else WAITING

    def trouble(self, device: str) -> str:
        """Last failure on a switch."""
        last = self.history.devices.get(device)
        return last.trouble if last else ""

    def left_s(self, device: str, now: float) -> int | None:
        """Seconds that should be left of the trial on a switch; None where none is pending."""
        last = self.history.devices.get(device)
        if last is None or last.trial_at is None:
            return None
        length = self.plan.trial_length.of(last.trial_id)
        return max(0, round(length - (now - last.trial_at) * self.scale))

    def trial_id(self, device: str) -> str | None:
        """Id by which any session ends the trial of a switch; "": it has none, None: not known."""
        last = self.history.devices.get(device)
        return last.trial_id if last else None

    def pending_trials(self, now: float) -> list[PendingTrial]:
        """Trials that should still run, by the journal. now: a timestamp."""
        left = {
            name: (seconds, self.trial_id(name))
            for wave in self.plan.waves
            for name in wave.devices
            if (seconds := self.left_s(name, now))
        }
        return pending_trials(left, self.plan.trial_s, now, self.scale)

    def gate(self, wave: Wave) -> str:
        """Result of the gate of a wave; empty before it begins."""
        return self.history.gates.get(wave.name, "")

    def approval(self, wave: Wave) -> str:
        """Person who approved a wave last; empty: no one."""
        return "".join([*self.history.given.get(wave.name, {})][-1:])

    def state_of(self, wave: Wave) -> str:
        """Word for the state of a wave: the worst of its switches."""
        words = [self.word(name) for name in wave.devices]
        for worst in (UNKNOWN, FAILED, BACK):
            if worst in words:
                return worst
        if all(word == SAVED for word in words):
            return DONE
        if all(word == WAITING for word in words):
            needs = self.history.rules is not None and wave.name in self.history.rules.approve
            return NEEDS_APPROVAL if needs and not self.approval(wave) else WAITING
        return UNDER_WAY


def word_of(event: Event) -> str:
    """Return the word for a switch by its last event."""
    word = WORDS.get((event.act, event.phase))
    if event.act == "found":
        word = SAVED if event.detail == AS_INTENDED else event.detail
    elif event.act == Act.ABORT and event.phase is ActPhase.DONE and event.detail:
        word = CONFIRMED  # the confirmation was earlier than the abort
    elif word is None:
        word = FAILED if event.phase is ActPhase.FAILED else f"{event.act} {event.phase.value}"
    if not isinstance(event, ActEvent) or event.of == 1 or word == UNKNOWN:
        return word
    # the switch is drained until the end of the last part
    behind = event.part + ((word in (CONFIRMED, SAVED)) != event.back)  # parts behind it
    if behind == 0 and word == SAVED:
        return BACK
    return f"drained, {word}" if 0 < behind < event.of else word
