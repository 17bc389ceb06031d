"""Controllers that die where they are told to, and switches that go on without them.

The tool is the real one but for two things: its lines reach the emulated switches without SSH, and
time is a number. It dies before and after each journal write and each line that changes something;
a switch goes on without it. What is right is told by the switches' states and by a log of the
lines that reached them, which the tool neither writes nor reads.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

from napalm_cloudengine import CloudEngineDriver, parse
from napalm_cloudengine.answers import Answer, answer_to
from napalm_cloudengine.transport import CloudEngineSSH, Reply, SessionBrokenError
from rocefort.dialects.vrp.compare import compare
from rocefort.dialects.vrp.parse import parse as parse_text
from rocefort.errors import DeviceFailed, RocefortError
from rocefort.lab.session import Session
from rocefort.lab.switch import EmulatedSwitch
from rocefort.lab.words import Place
from rocefort.lab.words import Refused as WordsRefused
from rocefort.models.change import Change, Drained, Edit, Gate, Kind, Plan, Wave
from rocefort.models.hardware import Family, SyntaxFamily
from rocefort.models.rollout import Applied, Request, Seen, Trouble
from rocefort.rollout.approvals import utc_now
from rocefort.rollout.device import DeviceSteps, persist_id
from rocefort.rollout.engine import Rollout
from rocefort.rollout.history import history_of
from rocefort.rollout.journal import JournalFailed, SqliteJournal, open_journal
from rocefort.rollout.plan import running_device, running_digest
from rocefort.rollout.ports import Before, Outcome
from rocefort.rollout.texts import kept_beside

TRIAL_S = 600
OLD, NEW = "description old", "description new"
SERVING, DRAINED = "description serving", "description drained"
STARTUP = "sysname {}\n#\ninterface 100GE1/0/1\n {}\n#\ninterface 100GE1/0/2\n {}\n#\nreturn\n"
# The states of a switch that is drained for its change; words on a port stand for the drain here.
STATES = ((OLD, SERVING), (OLD, DRAINED), (NEW, DRAINED), (NEW, SERVING))
READS = ("display ", "system-view", "return", "screen-length")
ACT_OF = {
    "commit trial": "trial",
    "commit": "confirm",
    "abort trial": "abort",
    "save": "save",
    "clear configuration candidate": "abort",
}
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
GATE = Gate(
    pairs=(),
    traffic_class=138,
    line_rate_fraction=0.9,
    latency_us=3.7,
    latency_tolerance=0.2,
    speed_judged=True,
)
TrialMode = Literal["survives", "dies-with-session", "session-only"]
Persist = Literal["present", "absent"]


class Killed(BaseException):
    """The controller is dead: nothing that it does gets through any more."""


@dataclass
class Fate:
    """When a controller dies: at its nth point, and at every later one, for it is dead."""

    dies_at: int | None = None
    disk_full_at: int | None = None  # from its nth journal row on
    points: int = 0
    rows: int = 0
    at_row: tuple[int, Callable[[], None]] | None = None

    def point(self) -> None:
        """Something has just become lasting, and nothing else has before the next point."""
        self.points += 1
        self.alive()

    def alive(self) -> None:
        if self.dies_at is not None and self.points >= self.dies_at:
            raise Killed


@dataclass
class Site:
    """Switches that go on whoever controls them, their clock, and what reached them."""

    switches: dict[str, EmulatedSwitch]
    journal: Path
    now: float = 0.0
    log: list[tuple[str, str]] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)  # switches with somebody else's trial
    not_meant: list[tuple[str, str]] = field(default_factory=list)  # acts without an intent
    most_unconfirmed: int = 0
    cut: bool = False  # nobody reaches them any more
    cut_at_trial: int = 0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def acted(self, device: str, line: str) -> None:
        """A line has reached a switch."""
        self.log.append((device, line))
        begun = line.startswith("commit trial") and self.switches[device].trial is not None
        if begun and self.cut_at_trial:  # a release without persist ids refuses a first attempt
            self.cut_at_trial -= 1
            self.cut = not self.cut_at_trial
        pending = sum(switch.trial is not None for switch in self.switches.values())
        self.most_unconfirmed = max(self.most_unconfirmed, pending)

    def meant(self, device: str, line: str) -> bool:
        """Whether the last durable word on a device is the intent of an act that this line fits."""
        with closing(sqlite3.connect(self.journal)) as connection:
            rows = connection.execute(
                "select act, phase from event where device = ? order by id desc limit 1", (device,)
            ).fetchall()
        words = next((act for line_of, act in ACT_OF.items() if line.startswith(line_of)), "load")
        also = {"abort": ("abort", "load", "trial"), "save": ("save",)}.get(words, (words,))
        return [phase for act, phase in rows if act in also] == ["intent"]


RESOLVED: dict[tuple[int, tuple[str, ...]], Any] = {}


class QuickPlace(Place[Any]):
    """The same words come thousands of times; the table of commands stays the same object."""

    def resolve(self, tokens: tuple[str, ...]) -> Any:
        key = (id(self.commands), tokens)
        if key not in RESOLVED:
            try:
                RESOLVED[key] = super().resolve(tokens)
            except WordsRefused as refused:
                RESOLVED[key] = refused
        found = RESOLVED[key]
        if isinstance(found, WordsRefused):
            raise found
        return found


class QuickSession(Session):
    """A session that remembers which command words are."""

    def _dialogue(self) -> Place[Any]:
        return QuickPlace(super()._dialogue().commands)


class Wire:
    """A session without SSH, as CloudEngineSSH offers it to the driver."""

    def __init__(self, site: Site, device: str, fate: Fate) -> None:
        self.site, self.device, self.fate = site, device, fate
        self.session = QuickSession(site.switches[device], "rocefort", list)
        self.open = True
        self.prompt = parse.find_prompt(self.session.prompt)
        self.base_prompt = self.prompt.view if self.prompt else ""

    def is_open(self) -> bool:
        return self.open

    def disconnect(self) -> None:
        if self.open:
            self.open = False
            self.session.close()

    def exchange(self, command: str, answers: tuple[Answer, ...], _timeout_s: float) -> Reply:
        if self.site.cut:
            self.disconnect()
            raise SessionBrokenError("no route to host")
        reads = command.startswith(READS)
        if not reads:
            self.fate.alive()
            if self.device in self.site.foreign or not self.site.meant(self.device, command):
                self.site.not_meant.append((self.device, command))
        said, refused, reply = "", None, self.session.handle(command)
        while reply.asks:
            said += reply.text + "\n"
            question = parse.find_question(reply.text)
            assert question
            echo = answer_to(question, command, answers)
            if not echo:
                refused, echo = question, "N"
            reply = self.session.handle(echo)
        if not reads:
            self.site.acted(self.device, command)
            self.fate.point()
        if reply.closes or reply.hangs:
            self.disconnect()
            raise SessionBrokenError("session lost")
        self.prompt = parse.find_prompt(self.session.prompt)
        assert self.prompt
        return Reply((said + reply.text).strip("\n"), self.prompt, refused)


class WiredSwitches:
    """Implements rocefort.rollout.engine.Switches by the real steps and driver, one by one.

    backwards: the devices of an act are reached in the other order.
    """

    def __init__(
        self, site: Site, plan: Plan, family: Family, fate: Fate, *, backwards: bool = False
    ) -> None:
        self.site, self.fate, self.backwards = site, fate, backwards
        self.id = persist_id(plan.digest)
        self.steps = DeviceSteps(
            plan.digest,
            dict.fromkeys(site.switches, family),
            settle_s=5,
            clock=lambda: site.now,
            sleep=site.sleep,
        )
        self.drivers: dict[str, CloudEngineDriver] = {}

    def die(self) -> None:
        """Its sessions end with it."""
        for driver in self.drivers.values():
            if driver._ssh:
                driver._ssh.disconnect()

    def _driver(self, device: str) -> CloudEngineDriver:
        driver = self.drivers.get(device)
        if driver is None or not driver.is_alive()["is_alive"]:
            options = {"name": device, "persist_id": self.id, "ssh_known_hosts": __file__}
            driver = self.drivers[device] = CloudEngineDriver(
                device, "rocefort", "", optional_args=options
            )
            driver._ssh = cast("CloudEngineSSH", Wire(self.site, device, self.fate))
        return driver

    def _each(
        self, changes: Sequence[Change], step: Callable[[Any, Change], Any]
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for change in reversed(changes) if self.backwards else changes:
            try:
                found[change.device] = step(self._driver(change.device), change)
            except RocefortError as error:
                found[change.device] = error
            except Exception as error:  # noqa: BLE001 - as Nornir, which gives any as a result
                found[change.device] = DeviceFailed(str(error), where=change.device)
        return found

    def _outcome(self, changes: Sequence[Change], step: Callable[[Any, Change], Any]) -> Outcome:
        found = self._each(changes, step)
        return {name: value for name, value in found.items() if isinstance(value, RocefortError)}

    def observe(self, ways: Sequence[Sequence[Change]]) -> Mapping[str, Seen]:
        by_device = {parts[0].device: parts for parts in ways}
        changes = [parts[0] for parts in ways]
        found = self._each(changes, lambda d, c: self.steps.observe(d, by_device[c.device]))
        return {
            name: Seen(trouble=Trouble(str(value))) if isinstance(value, RocefortError) else value
            for name, value in found.items()
        }

    def precheck(self, changes: Sequence[Change]) -> Mapping[str, Before | RocefortError]:
        return self._each(changes, self.steps.precheck)

    def load(self, changes: Sequence[Change]) -> Outcome:
        return self._outcome(changes, self.steps.load)

    def trial(self, changes: Sequence[Change], seconds: int, words: Mapping[str, str]) -> Outcome:
        steps = self.steps
        return self._outcome(changes, lambda d, c: steps.trial(d, c, seconds, words[c.device]))

    def check(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        return self._outcome(changes, lambda d, c: self.steps.check(d, c, before[c.device]))

    def confirm(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        return self._outcome(changes, lambda d, c: self.steps.confirm(d, c, before[c.device]))

    def save(self, changes: Sequence[Change]) -> Outcome:
        return self._outcome(changes, lambda d, _: d.save_config())

    def abort(self, changes: Sequence[Change]) -> Outcome:
        return self._outcome(changes, self.steps.abort)


class Mortal:
    """The real journal, whose writer may die before and after each write."""

    def __init__(self, journal: SqliteJournal, fate: Fate) -> None:
        self.journal, self.fate = journal, fate
        self.events, self.requests = journal.events, journal.requests
        self.move = journal._head.move
        journal._head.move = self._moved  # type: ignore[method-assign]

    def append(self, event: Any, request: Request | None) -> None:
        self.fate.alive()
        self.fate.rows += 1
        if self.fate.disk_full_at is not None and self.fate.rows >= self.fate.disk_full_at:
            raise JournalFailed("the journal cannot be written: disk full")
        self.journal.append(event, request)
        if self.fate.at_row and self.fate.rows == self.fate.at_row[0]:
            self.fate.at_row[1]()

    def _moved(self, number: int, link: str) -> None:
        self.fate.point()  # the row is written, its head is not
        self.move(number, link)
        self.fate.point()


@dataclass(frozen=True)
class Says:
    passed: bool
    summary: str = "measured"


@dataclass(frozen=True)
class Case:
    """How big the waves are, and what the switches can do."""

    sizes: tuple[int, ...]
    trial_mode: TrialMode
    persist: Persist
    backwards: bool = False
    fails: str = ""  # the wave whose gate fails
    drains: str = ""  # the wave whose only switch is drained first
    fails_on: int = 0  # on which leg of a drained switch its gate fails

    @property
    def limit(self) -> int:
        return max(self.sizes)


def text_of(name: str, line: str, drain: str = SERVING) -> str:
    return STARTUP.format(name, line, drain)


PLANS: dict[Case, Plan] = {}


def plan_of(case: Case, family: Family) -> Plan:
    if case not in PLANS:
        PLANS[case] = _plan(case, family)
    return PLANS[case]


def _change(device: str, before: tuple[str, str], after: tuple[str, str], family: Family) -> Change:
    texts = [parse_text(text_of(device, *state), device) for state in (before, after)]
    edits = compare(*(running_device(parsed, family) for parsed in texts))
    commands = [(f"interface 100GE1/0/{i}", *lines) for i, lines in _lines(before, after)]

    def typed(which: int) -> tuple[str, ...]:
        return tuple(c for port in commands for c in (port[0], f" {port[which]}", "quit"))

    return Change(
        device=device,
        kind=Kind.MODIFYING,
        edits=tuple(Edit(path=e.path, before=e.before, after=e.after) for e in edits),
        patch=typed(2),
        reverse=typed(1),
        running_digest=running_digest(texts[0], family),
        intended_digest=running_digest(texts[1], family),
    )


def _lines(
    before: tuple[str, str], after: tuple[str, str]
) -> Iterator[tuple[int, tuple[str, str]]]:
    for i, lines in enumerate(zip(before, after, strict=True), 1):
        if lines[0] != lines[1]:
            yield i, lines


def _drained(device: str, family: Family) -> Drained:
    drain, change, lift = (_change(device, *states, family) for states in pairwise(STATES))
    return Drained(device=device, drain=drain, change=change, lift=lift, meanwhile="")


def _plan(case: Case, family: Family) -> Plan:
    names = iter(f"leaf{n:02}" for n in range(1, sum(case.sizes) + 1))
    waves = tuple(
        Wave(name=f"wave {i}", devices=tuple(next(names) for _ in range(size)), gate=GATE)
        for i, size in enumerate(case.sizes, 1)
    )
    devices = [device for wave in waves for device in wave.devices]

    waves = tuple(
        wave.model_copy(update={"drained": (_drained(wave.devices[0], family),)})
        if wave.name == case.drains
        else wave
        for wave in waves
    )
    changes = tuple(_change(device, STATES[0], STATES[-1], family) for device in devices)
    return Plan(
        fabric="f",
        source="f",
        tool="t",
        intent_digest="i",
        trial_s=TRIAL_S,
        changes=changes,
        waves=waves,
    ).seal()


def site_of(case: Case, plan: Plan, family: SyntaxFamily, directory: Path) -> Site:
    site = Site({}, directory / "journal")
    for change in plan.changes:
        site.switches[change.device] = EmulatedSwitch(
            name=change.device,
            startup=text_of(change.device, OLD),
            family=family,
            clock=lambda: site.now,
            now=lambda: MOMENT,
            trial_mode=case.trial_mode,
            persist=case.persist,
        )
    return site


@dataclass
class Trials:
    """Everything that a crash test needs to live several lives."""

    case: Case
    plan: Plan
    family: Family
    site: Site

    def life(
        self,
        dies_at: int | None = None,
        disk_full_at: int | None = None,
        *,
        at_row: tuple[int, Callable[[], None]] | None = None,
        cut_at_trial: int = 0,
        clock: Callable[[], datetime] = utc_now,
    ) -> tuple[Applied | None, Fate]:
        """One life of a controller: how it ended, None where it died, and what befell it.

        at_row: what somebody else does after its nth journal row. cut_at_trial: nobody reaches the
        switches any more after its nth trial began. clock: of the controller.
        """
        fate, applied = Fate(dies_at, disk_full_at, at_row=at_row), None
        self.site.cut_at_trial = cut_at_trial
        self.site.log.append(("", "life"))
        switches = WiredSwitches(
            self.site, self.plan, self.family, fate, backwards=self.case.backwards
        )
        with suppress(Killed), open_journal(self.site.journal, self.plan.digest) as journal:
            fresh = not history_of(journal.events()).running
            applied = Rollout(
                plan=self.plan,
                switches=switches,
                run_gate=self._gate,
                journal=Mortal(journal, fate),
                texts=kept_beside(self.site.journal),
                resume=not fresh,
                sleep=self.site.sleep,
                now=clock,
            ).run()
        switches.die()
        return applied, fate

    def _gate(self, _gate: Gate) -> Says:
        self.site.now += 20
        self.site.log.append(("", "gate"))
        wave = next(w for w in self.plan.waves if any(self._pending(d) for d in w.devices))
        leg = 0
        if wave.name == self.case.drains:
            leg = STATES.index(lines_of(self.site.switches[wave.devices[0]])) - 1
        return Says(wave.name != self.case.fails or leg != self.case.fails_on)

    def _pending(self, device: str) -> bool:
        return self.site.switches[device].trial is not None

    def judge_dead(self) -> None:
        """A state of its way, or on a live trial that brings the one before or behind it back."""
        drained = {each.device for wave in self.plan.waves for each in wave.drained}
        for switch in self.site.switches.values():
            switch.tick()
            trial, way = switch.trial, STATES if switch.name in drained else STATES[::3]
            at = way.index(lines_of(switch))
            if trial is not None:
                assert trial.deadline > self.site.now
                assert abs(way.index(words_of(trial.before)) - at) == 1

    def _judge_confirmations(self) -> None:
        """No life confirms a trial that it has not measured itself, after it began.

        But for the way back of a drained switch, which only brings back what has been there.
        """
        measured = False
        for _, line in self.site.log:
            confirms = line.startswith("commit") and not line.startswith("commit trial")
            assert measured or not confirms
            if line == "gate":
                measured = True
            elif line == "life" or line.startswith("commit trial"):
                measured = line.endswith(" undone")

    def intrude(self, device: str) -> None:
        """Somebody else begins a trial on a switch that has none."""
        switch = self.site.switches[device]
        before = switch.running
        session = Session(switch, "somebody", list)
        for line in ("system-view", "interface 100GE1/0/1", "description theirs", "commit trial"):
            assert "Error" not in session.handle(line).text
        assert switch.running != before
        self.site.foreign.add(device)

    def judge_end(self) -> None:
        """All new and saved, but for a wave whose gate fails and what is behind it: old."""
        failed = False
        for wave in self.plan.waves:
            failed = failed or wave.name == self.case.fails
            for device in wave.devices:
                switch = self.site.switches[device]
                switch.tick()
                assert switch.trial is None and not any(map(switch.dirty, switch.sessions))
                assert lines_of(switch) == STATES[0 if failed else -1], device
                assert switch.saved == switch.running
        assert self.site.most_unconfirmed <= self.case.limit
        self._judge_confirmations()
        assert not self.site.not_meant


def lines_of(switch: EmulatedSwitch) -> tuple[str, ...]:
    return words_of(switch.running)


def words_of(config: Sequence[Any]) -> tuple[str, ...]:
    return tuple(child.text for top in config for child in top.children)


def new_trials(case: Case, family: Family, directory: Path) -> Trials:
    directory.mkdir()
    plan = plan_of(case, family)
    return Trials(case, plan, family, site_of(case, plan, family.name, directory))


@contextmanager
def memory_directory(fallback: Path) -> Iterator[Path]:
    """A directory of a file system in memory where there is one: fsync costs nothing there."""
    parent = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=parent if parent.is_dir() else fallback) as directory:
        yield Path(directory)
