"""How far a rollout is: folded from its events, for a display, for `status` and for `history`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocefort.models.change import Plan
from rocefort.models.rollout import Act, ActEvent, ApprovalEvent, Event, Phase

WAITING, ON_TRIAL, CONFIRMED, SAVED, BACK, FAILED, UNKNOWN = (
    "waiting",
    "on trial",
    "confirmed",
    "saved",
    "rolled back",
    "failed",
    "UNKNOWN",
)
UNDER_WAY, DONE = "under way", "done"  # of waves
AS_BEFORE, AS_INTENDED = "as before the change", "as intended"  # found by who goes on; saved
RUNNING, BROKEN_OFF = "running", "did not end"  # of gates
# What a device is, by the last act and its phase.
WORDS: Mapping[tuple[str, Phase], str] = {
    (Act.PRECHECK, Phase.INTENT): "looked at",
    (Act.PRECHECK, Phase.DONE): "looked at",
    (Act.LOAD, Phase.INTENT): "loading",
    (Act.LOAD, Phase.DONE): "loaded",
    (Act.TRIAL, Phase.INTENT): "trial begins",
    (Act.TRIAL, Phase.DONE): ON_TRIAL,
    (Act.CHECK, Phase.INTENT): "on trial, checking",
    (Act.CHECK, Phase.DONE): "on trial, checked",
    (Act.SOAK, Phase.INTENT): "on trial, soaking",
    (Act.SOAK, Phase.DONE): "on trial, soaked",
    (Act.CONFIRM, Phase.INTENT): "confirming",
    (Act.CONFIRM, Phase.DONE): CONFIRMED,
    (Act.SAVE, Phase.INTENT): "saving",
    (Act.SAVE, Phase.DONE): SAVED,
    (Act.ABORT, Phase.INTENT): "rolling back",
    (Act.ABORT, Phase.DONE): BACK,
    (Act.ABORT, Phase.FAILED): UNKNOWN,
    ("wait", Phase.INTENT): "its trial ends",
    ("wait", Phase.DONE): "its trial ended",
}


@dataclass(slots=True)
class DeviceProgress:
    """One switch: what became of it, and since when its trial runs (seconds of the caller)."""

    name: str
    word: str = WAITING
    trial_at: float | None = None
    trouble: str = ""

    def take(self, event: Event, at: float) -> None:
        """Go on by one event."""
        word = WORDS.get((event.act, event.phase))
        if event.act == "found":
            word = SAVED if event.detail == AS_INTENDED else event.detail
        elif event.act == Act.ABORT and event.phase is Phase.DONE and event.detail:
            word = CONFIRMED  # it had taken its confirmation before
        elif word is None:
            word = FAILED if event.phase is Phase.FAILED else f"{event.act} {event.phase.value}"
        self.word = _of_its_way(event, word)
        if event.phase is Phase.FAILED:
            self.trouble = event.detail
        if event.act == Act.TRIAL:
            self.trial_at = at if event.phase is not Phase.FAILED else None
        elif _without_trial(event):
            self.trial_at = None


def _without_trial(event: Event) -> bool:
    """Whether a switch has no trial any more by what was done, or found by who goes on."""
    if event.act == "found":
        return event.detail in (AS_BEFORE, AS_INTENDED)
    return event.phase is Phase.DONE and event.act in (Act.CONFIRM, Act.ABORT, "wait")


def _of_its_way(event: Event, word: str) -> str:
    """The word with `drained` before it, as long as a switch announces nothing.

    Such a switch takes three parts, and only the end of the last one is its end.
    """
    if not isinstance(event, ActEvent) or event.of == 1 or word == UNKNOWN:
        return word
    parts, behind = event.of, word in (CONFIRMED, SAVED)
    at = event.part + (behind != event.back)  # how many parts it has behind it now
    if at == 0 and word == SAVED:
        return BACK
    return f"drained, {word}" if 0 < at < parts else word


@dataclass(slots=True)
class WaveProgress:
    """One wave: its switches, its gate, and whether it waits for somebody."""

    name: str
    devices: tuple[str, ...]
    gate: str = ""
    approval: str = ""

    def take(self, event: Event) -> None:
        """Go on by one event of the wave itself, or of one of its switches."""
        if event.act == "gate":
            begun = event.phase is Phase.INTENT
            self.gate = RUNNING if begun else event.detail or event.phase.value
        elif event.act in (Act.ABORT, "found") and self.gate == RUNNING:
            self.gate = BROKEN_OFF
        elif isinstance(event, ApprovalEvent) and event.phase is Phase.DONE:
            self.approval = event.detail
        elif isinstance(event, ApprovalEvent) and event.expired:  # others leave it as it is
            self.approval = ""


@dataclass
class Progress:
    """A whole rollout; takes events as a listener does, with a clock of the caller's choice.

    scale: seconds of the switches in one of that clock.
    """

    trial_s: int
    waves: tuple[WaveProgress, ...]
    devices: dict[str, DeviceProgress]
    waits: frozenset[str] = frozenset()  # waves that need an approval
    notes: list[str] = field(default_factory=list)  # what concerns the whole
    failures: list[str] = field(default_factory=list)
    asks: str = ""  # what somebody has to do now, so that it goes on
    scale: float = 1.0

    def take(self, event: Event, at: float) -> None:
        """Go on by one event that happened at a time."""
        if event.device in self.devices:
            self.devices[event.device].take(event, at)
        for wave in self.waves:
            if wave.name == event.wave:
                wave.take(event)
        if event.act == "approve" and event.phase is Phase.INTENT:
            self.asks = f"wave {event.wave} {event.detail}"
        elif event.act != "approve" or event.phase is Phase.DONE:  # not one that fails
            self.asks = ""
        if event.act in ("pause", "break-glass", "ignored"):
            self.notes.append(f"{event.act} {event.detail}")
        elif event.phase is Phase.FAILED:
            self.failures.append(event.detail)

    def state_of(self, wave: WaveProgress) -> str:
        """What a wave is: the worst that its switches are."""
        words = [self.devices[name].word for name in wave.devices]
        for worst in (UNKNOWN, FAILED, BACK):
            if worst in words:
                return worst
        if all(word == SAVED for word in words):
            return DONE
        if all(word == WAITING for word in words):
            needs = wave.name in self.waits and not wave.approval
            return "needs approval" if needs else WAITING
        return UNDER_WAY

    def left_s(self, device: str, now: float) -> int | None:
        """Seconds of a trial that its switch should show as left; None where none is pending."""
        at = self.devices[device].trial_at
        return None if at is None else max(0, round(self.trial_s - (now - at) * self.scale))


def progress_of(plan: Plan, waits: frozenset[str] = frozenset()) -> Progress:
    """Nothing has happened yet."""
    waves = tuple(WaveProgress(wave.name, wave.devices) for wave in plan.waves)
    names = [name for wave in waves for name in wave.devices]
    return Progress(plan.trial_s, waves, {name: DeviceProgress(name) for name in names}, waits)
