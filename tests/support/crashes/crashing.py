"""Controllers that die at a chosen point, and the verdict on the state that they leave.

The verdict uses the switches' states and a log of the lines that reached them. The tool neither
writes nor reads that log (crash_site.py).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from crash_plans import STATES, Case, plan_of
from crash_site import Fate, Killed, Point, Site, WiredSwitches, lines_of, site_of, words_of
from crash_snapshots import Camera, Snapshot, switch_state

from rocefort.base.clock import utc_now
from rocefort.emulator.cli.session import CliSession
from rocefort.models.change.plan import Plan
from rocefort.models.hardware.hardware import Family
from rocefort.rollout.controller.config import ApplyOptions, RolloutConfig
from rocefort.rollout.controller.controller import RolloutLoop
from rocefort.rollout.controller.protocols import WaveGate
from rocefort.rollout.journal.events import OperatorRequest, RolloutOutcome
from rocefort.rollout.journal.history import history_of
from rocefort.rollout.journal.journal import JournalFailed, SqliteJournal, open_journal
from rocefort.rollout.journal.pending_trials import TrialLabel, label_of
from rocefort.rollout.journal.run_directory import KeptTexts, RunDirectory


class Mortal:
    """Real journal whose writer may die before and after each write."""

    def __init__(self, journal: SqliteJournal, fate: Fate) -> None:
        self.journal, self.fate = journal, fate
        self.events, self.requests = journal.events, journal.requests
        self.move = journal._head.move
        journal._head.move = self._moved  # type: ignore[method-assign]

    def append(self, event: Any, request: OperatorRequest | None) -> None:
        self.fate.alive()
        self.fate.rows += 1
        if self.fate.disk_full_at is not None and self.fate.rows >= self.fate.disk_full_at:
            self.fate.points_at_full = self.fate.points_at_full or self.fate.points
            raise JournalFailed("the journal cannot be written: disk full")
        self.event = event
        self.journal.append(event, request)
        if self.fate.at_row and self.fate.rows == self.fate.at_row[0]:
            self.fate.at_row[1]()

    def _moved(self, number: int, link: str) -> None:
        act, device, phase = str(self.event.act), self.event.device, self.event.phase.value
        back = bool(device) and self.event.leg.back
        self.fate.point(Point(act, f"row {phase}", device, back))  # its head is not written
        self.move(number, link)
        self.fate.point(Point(act, f"head {phase}", device, back))


@dataclass(frozen=True)
class Says:
    passed: bool
    summary: str = "measured"


@dataclass
class Trials:
    """Environment of a crash test with several controller processes."""

    case: Case
    plan: Plan
    family: Family
    site: Site

    def life(
        self,
        disk_full_at: int | None = None,
        *,
        at_row: tuple[int, Callable[[], None]] | None = None,
        cut_at_trial: int = 0,
        clock: Callable[[], datetime] = utc_now,
    ) -> tuple[RolloutOutcome, Fate]:
        """Run one controller process up to its end; returns its outcome and its events.

        at_row: act of another process after its nth journal row. cut_at_trial: the switches are
        unreachable after its nth trial began. clock: of the controller.
        """
        fate = Fate(disk_full_at=disk_full_at, at_row=at_row)
        self.site.cut_at_trial = cut_at_trial
        applied = self._life(fate, clock)
        assert applied
        return applied, fate

    def killed(self, dies_at: int) -> RolloutOutcome | None:
        """Run one controller that dies at its nth point; returns its outcome if it ends before."""
        return self._life(Fate(dies_at))

    def filmed(self) -> tuple[RolloutOutcome, list[Snapshot]]:
        """Run one controller up to its end, with a snapshot of each of its points."""
        snapshots: list[Snapshot] = []
        applied = self._life(Fate(), snapshots=snapshots)
        assert applied
        return applied, snapshots

    def _life(
        self,
        fate: Fate,
        clock: Callable[[], datetime] = utc_now,
        snapshots: list[Snapshot] | None = None,
    ) -> RolloutOutcome | None:
        self.site.life_began = self.site.now
        self.site.note("", "life")
        life = self.site.log.count(("", "life"))
        applied = switches = None
        with suppress(Killed), open_journal(self.site.journal, self.plan.digest) as journal:
            fresh = not history_of(journal.events()).running
            label = label_of(self.plan.digest, journal.events(), resume=not fresh)
            if fresh:  # no two runs of a site have one id, and two equal sites have the same
                label = replace(label, run=f"{life:08x}".ljust(32, "0"))
            switches = WiredSwitches(
                self.site, label, self.family, fate, backwards=self.case.backwards
            )
            if snapshots is not None:
                fate.at_point = Camera(self.site, switches, fate, snapshots).take
            config = RolloutConfig(
                plan=self.plan,
                switches=switches,
                run_gate=self._gate,
                journal=Mortal(journal, fate),
                texts=KeptTexts(RunDirectory.of_journal(self.site.journal).texts),
                options=ApplyOptions(resume=not fresh),
                run_id=label.run,
                sleep=self.site.sleep,
                monotonic=lambda: self.site.now,
                now=clock,
            )
            applied = RolloutLoop(config).run()
        self.site.life_ends()
        if switches:
            switches.die()
        return applied

    def after(self, snapshot: Snapshot) -> Trials:
        """Environment after a death at a point; its files are not yet written."""
        whole = self.site.journal.parent
        return replace(self, site=snapshot.dead(whole.with_name(f"{whole.name}.{snapshot.number}")))

    def state(self) -> str:
        """Digest of the state that determines the next controller, except the journal's files."""
        switches = {name: switch_state(switch) for name, switch in self.site.switches.items()}
        values = (self.case, switches, self.site.cut, sorted(self.site.foreign))
        return hashlib.sha256(repr(values).encode()).hexdigest()

    def _gate(self, _asked: WaveGate) -> Says:
        self.site.now += 20
        self.site.note("", "gate")
        wave = next(w for w in self.plan.waves if any(self._pending(d) for d in w.devices))
        leg = 0
        if wave.name == self.case.drains:
            leg = STATES.index(lines_of(self.site.switches[wave.devices[0]])) - 1
        return Says(wave.name != self.case.fails or leg != self.case.fails_on)

    def _pending(self, device: str) -> bool:
        return self.site.switches[device].trial is not None

    def judge_dead(self) -> None:
        """Check for a planned state, or for a running trial that reverts to a neighbouring state."""
        drained = {each.device for wave in self.plan.waves for each in wave.drained}
        for switch in self.site.switches.values():
            switch.tick()
            trial, states = switch.trial, STATES if switch.name in drained else STATES[::3]
            at = states.index(lines_of(switch))
            if trial is not None:
                assert trial.deadline > self.site.now
                assert abs(states.index(words_of(trial.before)) - at) == 1

    def _judge_confirmations(self) -> None:
        """Check that each controller confirms only trials that it observed and measured itself.

        After a soak there is a second gate, with checks since the first one. The rollback of a
        drained switch has no gate, because a fault elsewhere would keep it drained for ever. It
        restores the earlier configuration, and its checks run all the same.
        """
        measured, looked, back = set[str](), set[str](), set[str]()
        for device, line in self.site.lines:
            if line == "life":
                measured, looked, back = set(), set(), set()
            elif line == "gate":
                measured, looked = looked, set()
            elif line.startswith("commit trial"):
                measured = set()
                looked.discard(device)
                (back.add if line.endswith(" undone") else back.discard)(device)
            elif line.startswith("display bgp"):
                looked.add(device)
            elif line.startswith("commit"):
                assert device in measured | back, (device, line)
                assert device in looked, (device, line)

    def intrude(self, device: str) -> None:
        """Begin a trial of another owner on a switch that has none."""
        self._begin(device, "description theirs", "commit trial")

    def intrude_with(self, device: str, run: str) -> None:
        """Begin a trial of another controller by the same plan, in a separate run."""
        label = TrialLabel(self.plan.digest, run)
        persist = (
            f" persist {label.persist_id}" if self.case.personality.persist == "present" else ""
        )
        lines = [line for line in self.plan.change(device).patch if line.startswith(" ")]
        self._begin(device, *lines, f"commit trial 600{persist} description {label.description()}")

    def changed(self) -> set[str]:
        """Switches that run their target."""
        switches = self.site.switches.items()
        return {name for name, switch in switches if lines_of(switch) == STATES[-1]}

    def _begin(self, device: str, *lines: str) -> None:
        switch = self.site.switches[device]
        before = switch.running
        session = CliSession(switch, "somebody")
        for line in ("system-view", "interface 100GE1/0/1", *lines):
            assert "Error" not in session.handle(line).text
        assert switch.running != before and switch.trial
        self.site.foreign[device] = switch.trial

    def judge_end(self) -> None:
        """Check that all waves are on target and saved, those from a failed gate on baseline."""
        failed = False
        for wave in self.plan.waves:
            failed = failed or wave.name == self.case.fails
            for device in wave.devices:
                switch = self.site.switches[device]
                switch.tick()
                assert switch.trial is None and not any(map(switch.dirty, switch.logins))
                assert lines_of(switch) == STATES[0 if failed else -1], device
                assert switch.saved == switch.running
        assert self.site.most_unconfirmed <= self.case.limit
        self._judge_confirmations()
        assert not self.site.not_meant
        for device, watched_s in self.site.watched_s.items():
            if device in (self.case.soaking or self.site.watched_s):
                assert watched_s >= self.case.soak_s


def new_trials(case: Case, family: Family, directory: Path) -> Trials:
    directory.mkdir()
    plan = plan_of(case, family)
    return Trials(case, plan, family, site_of(case, plan, family.syntax, directory))


@contextmanager
def memory_directory(fallback: Path) -> Iterator[Path]:
    """Directory of a file system in memory if there is one, where fsync costs no time."""
    parent = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=parent if parent.is_dir() else fallback) as directory:
        yield Path(directory)
