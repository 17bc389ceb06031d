"""The verdict on controllers that were killed: from the switches' own log, whatever the tool says.

A way is what a switch may run at rest, in order: old and new, and of a spine that is drained the
two between, drained and drained with the change. The tool's journal is read only to ask whether
every act was meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocefort.lab.switch.audit_log import GONE, AuditRecord

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
    """ways: digests by switch; waves: switches by wave, as the sealed plan has them.

    trial_s: time of a trial. most: how many switches may be on trial or drained at once.
    """

    ways: Mapping[str, Sequence[str]]
    waves: Sequence[Sequence[str]]
    trial_s: int = 60
    most: int = 2

    def __call__(self, deeds: Sequence[AuditRecord], rows: Rows) -> None:
        """Whether everything that the switches were told and did keeps the promises."""
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
        """P1: at rest on its way; or on a trial one step from there, which brings it back."""
        way = self.ways[deed.switch]
        assert deed.running in way and deed.saved in way, deed
        if deed.left_s is None:
            return
        assert 0 <= deed.left_s <= self.trial_s and deed.before in way, deed
        step = way.index(deed.running) - way.index(deed.before)
        assert step == 1 or (step == -1 and len(way) > 2 and deed.before != way[-1]), deed

    def _barrier(self, deed: AuditRecord, now: Mapping[str, AuditRecord]) -> None:
        """P2: no wave begins before all of the earlier ones run what is new, and saved it."""
        mine = next(i for i, wave in enumerate(self.waves) if deed.switch in wave)
        for switch in (each for wave in self.waves[:mine] for each in wave):
            earlier, new = now[switch], self.ways[switch][-1]
            assert earlier.left_s is None, (deed, earlier)
            assert earlier.running == earlier.saved == new, (deed, earlier)

    def _together(self, deeds: Sequence[AuditRecord]) -> None:
        """P2: never more than may be on trial or drained, and a spine alone."""
        away = [d.switch for d in deeds if d.left_s is not None or not self._at_an_end(d)]
        assert len(away) <= self.most, away
        spines = [name for name in away if name.startswith("spine")]
        assert not spines or len(away) == 1, away

    def _at_an_end(self, deed: AuditRecord) -> bool:
        way = self.ways[deed.switch]
        return deed.running in {way[0], way[-1]}

    def drained(self, deeds: Sequence[AuditRecord]) -> bool:
        """Whether a spine is drained now, confirmed or on trial."""
        return not all(map(self._at_an_end, latest(deeds)))

    def rest(self, deeds: Sequence[AuditRecord]) -> None:
        """After an abort: each is old or new and has saved it, none is drained, nothing pends."""
        for deed in latest(deeds):
            assert self._at_an_end(deed) and deed.running == deed.saved, deed
            assert deed.left_s is None and not deed.candidate, deed

    def end(self, deeds: Sequence[AuditRecord]) -> None:
        """All run what is intended, confirmed and saved, and nobody's candidate is left."""
        self.rest(deeds)
        for deed in latest(deeds):
            assert deed.running == self.ways[deed.switch][-1], deed

    def under_way(self, deeds: Sequence[AuditRecord]) -> str:
        """What the switches were in when the controller died."""
        what = doing(deeds)
        return f"{what}, a spine drained" if self.drained(deeds) else what


def latest(deeds: Sequence[AuditRecord]) -> list[AuditRecord]:
    """The newest row of each switch."""
    return list({deed.switch: deed for deed in deeds}.values())


def kind_of(before: AuditRecord, deed: AuditRecord) -> str:
    """What a switch has just done, by its states alone; empty: nothing that lasts."""
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
    """P3: the newest word on a switch, when it was told to act, was the intent of that act."""
    if deed.line == GONE:
        return  # nobody's act: the controller died
    own = [row for row in rows if row[1] == deed.switch and row[0] <= deed.at]
    assert own, deed
    _, _, act, phase = own[-1]
    assert phase == "intent", (deed, own[-3:])
    assert act in WORDS_OF[kind], (deed, own[-3:])


def doing(deeds: Sequence[AuditRecord]) -> str:
    """What was going on when the controller died."""
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
    """How often what was under way."""
    return ", ".join(f"{count} where {what}" for what, count in sorted(Counter(kills).items()))
