"""Verdict on killed controllers from the switches' own log, without the tool's output.

A way is what a switch may run at rest, in order: old and new, and of a spine that is drained the
two between, drained and drained with the change. The tool's journal is read only to ask whether
every act was meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocefort.emulator.switch.audit_log import GONE, AuditRecord

WORDS_OF = {  # which intents an act of a switch may follow
    "load": {"load"},
    "trial": {"trial"},
    "confirm": {"confirm"},
    "save": {"save"},
    "back": {"abort"},
    "clear": {"abort", "load", "trial"},
}
Rows = Sequence[tuple[str, str, str, str]]  # of a journal: at, device, act, phase


@dataclass(frozen=True)
class Judge:
    """Judge of the log. ways: digests by switch; waves: switches by wave, from the sealed plan.

    trial_s: time of a trial. most: how many switches may be on trial or drained at once.
    """

    ways: Mapping[str, Sequence[str]]
    waves: Sequence[Sequence[str]]
    trial_s: int = 60
    most: int = 2

    def __call__(self, deeds: Sequence[AuditRecord], rows: Rows) -> None:
        """Check that all commands and results of the switches keep the promises."""
        now: dict[str, AuditRecord] = {}
        for deed in deeds:
            before = now.get(deed.switch, deed)
            self._whole(deed)
            kind = kind_of(before, deed)
            if kind and deed.line:
                meant(deed, kind, rows)
            if kind in {"load", "trial"}:
                self._barrier(deed, now)
            now[deed.switch] = deed
            self._together(list(now.values()))

    def _whole(self, deed: AuditRecord) -> None:
        """P1: a planned state at rest, or a trial one step from it, which reverts to it."""
        states = self.ways[deed.switch]
        assert deed.running in states and deed.saved in states, deed
        if deed.left_s is None:
            return
        assert 0 <= deed.left_s <= self.trial_s and deed.before in states, deed
        step = states.index(deed.running) - states.index(deed.before)
        assert step == 1 or (step == -1 and len(states) > 2 and deed.before != states[-1]), deed

    def _barrier(self, deed: AuditRecord, now: Mapping[str, AuditRecord]) -> None:
        """P2: no wave begins before all earlier ones run and saved their target."""
        mine = next(i for i, wave in enumerate(self.waves) if deed.switch in wave)
        for switch in (each for wave in self.waves[:mine] for each in wave):
            earlier, new = now[switch], self.ways[switch][-1]
            assert earlier.left_s is None, (deed, earlier)
            assert earlier.running == earlier.saved == new, (deed, earlier)

    def _together(self, deeds: Sequence[AuditRecord]) -> None:
        """P2: at most `max_unavailable` switches on trial or drained, and a spine alone."""
        away = [d.switch for d in deeds if d.left_s is not None or not self._at_an_end(d)]
        assert len(away) <= self.most, away
        spines = [name for name in away if name.startswith("spine")]
        assert not spines or len(away) == 1, away

    def _at_an_end(self, deed: AuditRecord) -> bool:
        states = self.ways[deed.switch]
        return deed.running in {states[0], states[-1]}

    def drained(self, deeds: Sequence[AuditRecord]) -> bool:
        """Whether a spine is drained now, confirmed or on trial."""
        return not all(map(self._at_an_end, latest(deeds)))

    def rest(self, deeds: Sequence[AuditRecord]) -> None:
        """After an abort each switch saved baseline or target, without drain or pending trial."""
        for deed in latest(deeds):
            assert self._at_an_end(deed) and deed.running == deed.saved, deed
            assert deed.left_s is None and not deed.candidate, deed

    def end(self, deeds: Sequence[AuditRecord]) -> None:
        """Check that all switches run and saved their target, and no candidate remains."""
        self.rest(deeds)
        for deed in latest(deeds):
            assert deed.running == self.ways[deed.switch][-1], deed

    def under_way(self, deeds: Sequence[AuditRecord]) -> str:
        """States of the switches at the controller's death."""
        what = doing(deeds)
        return f"{what}, a spine drained" if self.drained(deeds) else what


def latest(deeds: Sequence[AuditRecord]) -> list[AuditRecord]:
    """Newest row of each switch."""
    return list({deed.switch: deed for deed in deeds}.values())


def kind_of(before: AuditRecord, deed: AuditRecord) -> str:
    """Last act of a switch from its states alone; empty if nothing durable happened."""
    if before.left_s is None and deed.left_s is not None:
        return "trial"
    if before.left_s is not None and deed.left_s is None:
        return "confirm" if before.running == deed.running else "back"
    if before.saved != deed.saved:
        return "save"
    if before.candidate != deed.candidate:
        return "load" if deed.candidate else "clear"
    assert before.running == deed.running, deed  # nothing else may change what runs
    return ""


def meant(deed: AuditRecord, kind: str, rows: Rows) -> None:
    """P3: when a switch received an act, its newest journal row was the intent of that act."""
    if deed.line == GONE:
        return  # no act: the controller died
    own = [row for row in rows if row[1] == deed.switch and row[0] <= deed.at]
    assert own, deed
    _, _, act, phase = own[-1]
    assert phase == "intent", (deed, own[-3:])
    assert act in WORDS_OF[kind], (deed, own[-3:])


def doing(deeds: Sequence[AuditRecord]) -> str:
    """Acts in progress at the controller's death."""
    last = {deed.switch: deed for deed in deeds if deed.line != GONE}
    if any(deed.left_s is not None for deed in last.values()):
        ran_on = any(deed.left_s is not None for deed in latest(deeds))
        return "a trial ran on" if ran_on else "a trial ended with its session"
    if all(deed.line == "" for deed in last.values()):
        return "no switch had been reached"
    if any(deed.candidate for deed in last.values()):
        return "a patch was loaded"
    unsaved = any(deed.running != deed.saved for deed in last.values())
    return "a change was confirmed, not saved" if unsaved else "nothing was pending"


def counted(kills: Sequence[str]) -> str:
    """Frequency of each act in progress."""
    return ", ".join(f"{count} where {what}" for what, count in sorted(Counter(kills).items()))
