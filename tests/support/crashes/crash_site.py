"""Switches that outlive their controllers, reached by lines without SSH; their log judges.

The tool is the real one but for two things: its lines reach the emulated switches without SSH, and
time is a number. A controller dies before and after each journal write and each line that changes
something; a switch continues without it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from crash_plans import OLD, SETTLE_S, Case, text_of

from napalm_cloudengine import CloudEngineDriver, parse
from napalm_cloudengine.connect import SessionBrokenError
from napalm_cloudengine.framing import SwitchReply
from napalm_cloudengine.parse import PromptAnswer, answer_to
from napalm_cloudengine.transport import CloudEngineSSH
from rocefort.base.errors import DeviceFailed, RocefortError
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.switch.switch import EmulatedSwitch, Trial
from rocefort.models.change.plan import Change, Plan
from rocefort.models.fabric.trial_time import TrialLength
from rocefort.models.hardware.hardware import Family, SyntaxFamily
from rocefort.rollout.controller.device_steps import DeviceSteps
from rocefort.rollout.controller.protocols import Baseline, Outcome
from rocefort.rollout.journal.events import RolloutProblem, SwitchState
from rocefort.rollout.journal.pending_trials import TrialLabel

READS = ("display ", "system-view", "return", "screen-length")
ACT_OF = {
    "commit trial": "trial",
    "commit": "confirm",
    "abort trial": "abort",
    "save": "save",
    "clear configuration candidate": "abort",
}
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Killed(BaseException):
    """Error of a dead controller: none of its acts has an effect."""


class Point(NamedTuple):
    """Most recent durable change: a row of the journal, its head, or a line on a switch."""

    act: str = ""
    what: str = ""  # "row intent", "head done", "line"
    device: str = ""
    back: bool = False  # in the rollback of a drained switch


def nothing() -> None:
    """Do nothing at a point."""


@dataclass
class Fate:
    """Death of a controller: at its nth point, and at every later one.

    at_point: called at every point before its death.
    """

    dies_at: int | None = None
    disk_full_at: int | None = None  # from its nth journal row on
    points: int = 0
    points_at_full: int = 0  # when the disk was full first
    rows: int = 0
    at_row: tuple[int, Callable[[], None]] | None = None
    at_point: Callable[[], None] = nothing
    last: Point = Point()  # noqa: RUF009 - it is immutable

    def point(self, point: Point) -> None:
        """Handle a point: one durable change, the only one before the next point."""
        self.points, self.last = self.points + 1, point
        self.at_point()
        self.alive()

    def alive(self) -> None:
        if self.dies_at is not None and self.points >= self.dies_at:
            raise Killed


@dataclass
class Site:
    """Switches that outlive their controllers, their clock, and the lines that reached them."""

    switches: dict[str, EmulatedSwitch]
    journal: Path
    now: float = 0.0
    log: list[tuple[str, str]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)  # the log, and what only reads
    foreign: dict[str, Trial] = field(default_factory=dict)  # trials of other owners, by switch
    not_meant: list[tuple[str, str]] = field(default_factory=list)  # acts without an intent
    most_unconfirmed: int = 0
    began: dict[str, float] = field(default_factory=dict)  # of each switch's last trial
    life_began: float = 0.0
    # For how long the controller that confirmed a trial had known of it.
    watched_s: dict[str, float] = field(default_factory=dict)
    cut: bool = False  # no controller reaches them any more
    cut_at_trial: int = 0
    _reader: sqlite3.Connection | None = None  # of the journal, for a life

    def copy(self, journal: Path) -> Site:
        """Independent copy of the site."""
        lists = ("log", "lines", "foreign", "not_meant", "began", "watched_s")
        own = {name: getattr(self, name).copy() for name in lists}
        twin = replace(self, switches={}, journal=journal, _reader=None, **own)
        for name, switch in self.switches.items():
            twin.switches[name] = copied(switch, lambda: twin.now)
        return twin

    def life_ends(self) -> None:
        """Close the reader of the journal."""
        if self._reader:
            self._reader.close()
            self._reader = None

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def note(self, device: str, line: str) -> None:
        """Handle an act that changes a switch, or that decides whether it may."""
        self.log.append((device, line))
        self.lines.append((device, line))

    def acted(self, device: str, line: str) -> None:
        """Handle a line that has reached a switch."""
        self.note(device, line)
        if line.startswith("commit trial"):
            self.began[device] = self.now
        elif line.startswith("commit"):
            watched_s = self.now - max(self.began[device], self.life_began)
            self.watched_s[device] = min(watched_s, self.watched_s.get(device, watched_s))
        begun = line.startswith("commit trial") and self.switches[device].trial is not None
        if begun and self.cut_at_trial:  # a release without persist ids refuses a first attempt
            self.cut_at_trial -= 1
            self.cut = not self.cut_at_trial
        pending = sum(switch.trial is not None for switch in self.switches.values())
        self.most_unconfirmed = max(self.most_unconfirmed, pending)

    def meant(self, device: str, line: str) -> bool:
        """Whether the last journal row of a device is the intent of an act with this line."""
        self._reader = self._reader or sqlite3.connect(self.journal)
        rows = self._reader.execute(
            "select act, phase from event where device = ? order by id desc limit 1", (device,)
        ).fetchall()
        words = next((act for line_of, act in ACT_OF.items() if line.startswith(line_of)), "load")
        also = {"abort": ("abort", "load", "trial"), "save": ("save",)}.get(words, (words,))
        return [phase for act, phase in rows if act in also] == ["intent"]


class Wire:
    """A session without SSH, as CloudEngineSSH offers it to the driver."""

    def __init__(self, site: Site, device: str, fate: Fate) -> None:
        self.site, self.device, self.fate = site, device, fate
        self.session = CliSession(site.switches[device], "rocefort")
        self.open = True
        self.prompt = parse.find_prompt(self.session.prompt)
        self.base_prompt = self.prompt.view if self.prompt else ""

    def is_open(self) -> bool:
        return self.open

    def disconnect(self) -> None:
        if self.open:
            self.open = False
            self.session.close()

    def exchange(
        self, command: str, answers: tuple[PromptAnswer, ...], _timeout_s: float
    ) -> SwitchReply:
        if self.site.cut:
            self.disconnect()
            raise SessionBrokenError("no route to host")
        reads = command.startswith(READS)
        if not reads:
            self.fate.alive()
            trial = self.site.switches[self.device].trial
            theirs = trial is not None and trial is self.site.foreign.get(self.device)
            if theirs or not self.site.meant(self.device, command):
                self.site.not_meant.append((self.device, command))
        output, refused, reply = "", None, self.session.handle(command)
        while reply.asks:
            output += reply.text + "\n"
            question = parse.find_question(reply.text)
            assert question
            echo = answer_to(question, command, answers)
            if not echo:
                refused, echo = question, "N"
            reply = self.session.handle(echo)
        if reads:
            self.site.lines.append((self.device, command))
        else:
            self.site.acted(self.device, command)
            # the rows before it were the intents of its act
            self.fate.point(self.fate.last._replace(what="line", device=self.device))
        if reply.closes or reply.hangs:
            self.disconnect()
            raise SessionBrokenError("session lost")
        self.prompt = parse.find_prompt(self.session.prompt)
        assert self.prompt
        return SwitchReply((output + reply.text).strip("\n"), self.prompt, refused)

    enter = exchange

    def settle(self) -> SwitchReply:
        assert self.prompt
        return SwitchReply("", self.prompt)


class WiredSwitches:
    """Implementation of the controller's `Switches` by the real steps and driver, one by one.

    backwards: the devices of an act are reached in the other order.
    """

    def __init__(
        self, site: Site, label: TrialLabel, family: Family, fate: Fate, *, backwards: bool = False
    ) -> None:
        self.site, self.fate, self.backwards = site, fate, backwards
        self.id = label.persist_id
        self.steps = DeviceSteps(
            label,
            dict.fromkeys(site.switches, family),
            settle_s=SETTLE_S,
            clock=lambda: site.now,
            sleep=site.sleep,
        )
        self.drivers: dict[str, CloudEngineDriver] = {}

    def die(self) -> None:
        """End the sessions of the dead controller."""
        for driver in self.drivers.values():
            if driver._ssh:
                driver._ssh.disconnect()

    def open_sessions(self) -> tuple[tuple[str, int], ...]:
        """Switch and number of each session that a death would end now."""
        wires = [cast("Wire", driver._ssh) for driver in self.drivers.values()]
        return tuple((wire.device, wire.session.number) for wire in wires if wire.open)

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
        results: dict[str, Any] = {}
        for change in reversed(changes) if self.backwards else changes:
            try:
                results[change.device] = step(self._driver(change.device), change)
            except RocefortError as error:
                results[change.device] = error
            except Exception as error:  # noqa: BLE001 - as Nornir, which gives any as a result
                results[change.device] = DeviceFailed(str(error), where=change.device)
        return results

    def _outcome(self, changes: Sequence[Change], step: Callable[[Any, Change], Any]) -> Outcome:
        results = self._each(changes, step)
        return {name: value for name, value in results.items() if isinstance(value, RocefortError)}

    def observe(self, ways: Sequence[Sequence[Change]]) -> Mapping[str, SwitchState]:
        by_device = {parts[0].device: parts for parts in ways}
        changes = [parts[0] for parts in ways]
        states = self._each(changes, lambda d, c: self.steps.observe(d, by_device[c.device]))
        return {
            name: SwitchState(trouble=RolloutProblem(str(value)))
            if isinstance(value, RocefortError)
            else value
            for name, value in states.items()
        }

    def precheck(self, changes: Sequence[Change]) -> Mapping[str, Baseline | RocefortError]:
        return self._each(changes, self.steps.precheck)

    def load(self, changes: Sequence[Change]) -> Outcome:
        return self._outcome(changes, self.steps.load)

    def trial(
        self, changes: Sequence[Change], length: TrialLength, words: Mapping[str, str]
    ) -> Outcome:
        steps = self.steps
        return self._outcome(changes, lambda d, c: steps.trial(d, c, length, words[c.device]))

    def check(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        return self._outcome(changes, lambda d, c: self.steps.check(d, c, before[c.device]))

    def confirm(self, changes: Sequence[Change], before: Mapping[str, frozenset[str]]) -> Outcome:
        return self._outcome(changes, lambda d, c: self.steps.confirm(d, c, before[c.device]))

    def save(self, changes: Sequence[Change]) -> Outcome:
        return self._outcome(changes, lambda d, _: d.save_config())

    def abort(self, changes: Sequence[Change]) -> Outcome:
        return self._outcome(changes, self.steps.abort)


def site_of(case: Case, plan: Plan, family: SyntaxFamily, directory: Path) -> Site:
    site = Site({}, directory / "journal")
    for change in plan.changes:
        site.switches[change.device] = EmulatedSwitch(
            name=change.device,
            startup=text_of(change.device, OLD),
            family=family,
            clock=lambda: site.now,
            now=lambda: MOMENT,
            personality=case.personality,
        )
    return site


def copied(switch: EmulatedSwitch, clock: Callable[[], float]) -> EmulatedSwitch:
    """Copy of a switch with a separate clock; all its other values are frozen."""
    twin = object.__new__(EmulatedSwitch)  # its start is behind it
    for name, value in vars(switch).items():
        setattr(twin, name, value.copy() if isinstance(value, dict) else value)
    twin.clock = clock
    return twin


def lines_of(switch: EmulatedSwitch) -> tuple[str, ...]:
    return words_of(switch.running)


def words_of(config: Sequence[Any]) -> tuple[str, ...]:
    return tuple(child.text for top in config for child in top.children)
