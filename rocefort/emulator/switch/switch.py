"""One emulated CloudEngine: configurations, commits, a trial with its timer; no sockets, no text.

Two-stage configuration as in the V300R023C00 command reference, Configuration File Management. The
switch's Personality sets what that reference leaves open about a trial.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Literal

from rocefort.base.clock import utc_now
from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.site_commands import syntax_of
from rocefort.dialects.vrp.interpreter.interpreter import (
    LineResult,
    Lines,
    View,
    VrpRefusal,
    apply_line,
    replay,
)
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree
from rocefort.emulator.switch.commit_checks import conflicts, missing_port, new_problems
from rocefort.emulator.switch.logins import (
    LOCK_SECONDS,
    MOST_SESSIONS,
    ConfigLock,
    LoginSession,
    NoFreeTerminal,
    free_vty,
)
from rocefort.emulator.switch.personality import DEFAULT, EARLY_S, FOREIGN, LineFault, Personality
from rocefort.emulator.switch.state_source import PeerState, StateSource

__all__ = ["EmulatedSwitch", "syntax_of"]

FIRST_COMMIT = 1000000001  # "commit-id": ten digits from 1000000001
TRIAL_SECONDS = 600  # default of `commit trial`
MOST_POINTS = 80  # rollback points that are kept: `rollback configuration last <1-80>`
SHARED = 0  # owner of the one candidate if all sessions share it
SYSTEM_USER = "SYSTEM"  # user of the rollback of an unconfirmed trial
# A user of VRP8 routers quotes "system is in trial configuration mode", for a `rollback
# configuration` from another session; that other commands answer the same is assumed.
FOREIGN_TRIAL = "Error: The system is in trial configuration mode."

CandidateMode = Literal["own", "shared"]  # one for each session, or one for all


@dataclass(frozen=True, slots=True)
class CommitPoint:
    """One rollback point: configuration before and after, and the author of the commit."""

    number: int
    before: Lines
    after: Lines
    user: str
    kind: Literal["CLI", "ROLLBACK"]
    at: datetime
    label: str = ""
    description: str = ""
    interface: str = "VTY 0"  # of the session that committed


@dataclass(frozen=True, slots=True)
class Trial:
    """A running trial: configuration that returns at its end, its deadline and its owner."""

    before: Lines
    deadline: float
    session: int
    persist: str | None = None
    first_point: int = 0  # number of its first rollback point


@dataclass(frozen=True, slots=True)
class Candidate:
    """Uncommitted lines of one session, and the running configuration that they started from."""

    base: Lines
    config: Lines
    typed: tuple[tuple[View, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CommitOrder:
    """Parameters of `commit`; `trial_seconds` is None for a plain commit."""

    trial_seconds: int | None = None
    persist: str | None = None
    label: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class CommitAuthor:
    """User, interface and time of a rollback point."""

    user: str
    interface: str
    at: datetime


class CommitError(Exception):
    """A commit that changed nothing; the text is what the switch prints."""


@dataclass
class EmulatedSwitch:
    """State of one switch, all of it in memory. Time comes from `clock`, in seconds."""

    name: str
    startup: str  # configuration text, as saved
    family: Syntax
    hardware: str = "CE8851-32CQ8DQ-P"
    software: str = "V300R023C00"
    serial: str = ""
    clock: Callable[[], float] = time.monotonic
    time_scale: float = 1.0  # switch seconds in one second of its clock: scales all its timers
    now: Callable[[], datetime] = utc_now
    personality: Personality = DEFAULT
    candidate_mode: CandidateMode = "own"
    on_conflict: Literal["merge", "refuse"] = "merge"  # a commit after another user's
    most_sessions: int = MOST_SESSIONS
    faults: tuple[LineFault, ...] = ()
    state_source: StateSource | None = None  # the state that display commands show
    greeting: str = ""  # shown at login instead of the emulator's own banner
    day0_address: str = ""  # of a switch out of its box: SSH answers once it is configured
    flash: Path | None = None  # folder of the files that users upload
    ports: Collection[str] = ()  # names of the hardware's ports; empty: not known, none is refused
    running: Lines = ()
    saved: Lines = ()
    points: tuple[CommitPoint, ...] = ()
    trial: Trial | None = None
    startup_refusals: tuple[VrpRefusal, ...] = ()
    booted: float = 0.0
    changed_at: datetime = field(default_factory=utc_now)
    changed: float = 0.0  # the same on its own clock
    logins: dict[int, LoginSession] = field(default_factory=dict)  # by the number of the session
    candidates: dict[int, Candidate] = field(default_factory=dict)  # by the session that owns it
    last_session: int = 0
    lock: ConfigLock | None = None
    lock_seconds: int = LOCK_SECONDS
    strikes: Counter[LineFault] = field(default_factory=Counter)  # how often each fault has struck

    def __post_init__(self) -> None:
        self.running, self.startup_refusals = replay(parse_tree(self.startup), self.family)
        self.saved = self.running
        self.serial = self.serial or f"LAB{sum(self.name.encode()):017d}"
        self.clock = scaled(self.clock, self.time_scale)
        self.booted = self.changed = self.clock()
        self.changed_at = self.now()

    @property
    def hostname(self) -> str:
        """Name in the prompt: the running sysname."""
        names = (line.text for line in self.running if line.text.startswith("sysname "))
        return next((text.removeprefix("sysname ") for text in names), "HUAWEI")

    def open_session(self, user: str) -> int:
        """Register a session and return its number. Raises NoFreeTerminal."""
        self.tick()
        if len(self.logins) >= self.most_sessions:
            raise NoFreeTerminal
        self.last_session += 1
        vty = free_vty(self.logins)
        self.logins[self.last_session] = LoginSession(self.last_session, user, vty, self.now())
        return self.last_session

    def close_session(self, session: int) -> None:
        """Remove a session, its candidate and its lock, and its trial if trials die with it."""
        self.tick()
        self.logins.pop(session, None)
        self.candidates.pop(session, None)
        if self.lock and self.lock.session == session:
            self.lock = None
        if self.dies_with(session):
            self.end_trial(SYSTEM_USER)

    def dies_with(self, session: int) -> bool:
        """Whether the trial ends with a session."""
        trial = self.trial if self.personality.trial_mode == "dies-with-session" else None
        return trial is not None and trial.session == session and trial.persist is None

    def kill(self, vty: int) -> bool:
        """End the session on a VTY (`kill user-interface vty N`); false if there is none."""
        session = next((login for login in self.logins.values() if login.vty == vty), None)
        if session is None:
            return False
        self.close_session(session.number)
        if session.hang_up:
            session.hang_up()
        return True

    def tick(self) -> None:
        """Roll an expired trial back and end an unused lock; called before every command.

        No one can observe a switch between two commands, so this is as good as a timer. The
        rollback point has the time at which the trial ended, even if no user was logged in.
        """
        late = self.clock() - self.trial.deadline if self.trial else -1.0
        if late >= 0:
            self.end_trial(SYSTEM_USER, late)
        if self.lock and self.clock() - self.lock.used >= self.lock_seconds:
            self.lock = None

    def end_trial(self, user: str, late: float = 0.0) -> None:
        """Restore the configuration before the trial; late: seconds since the trial ended."""
        if self.trial:
            before, self.trial = self.trial.before, None
            at = self.now() - timedelta(seconds=late / self.time_scale)
            self._point(before, "ROLLBACK", CommitAuthor(user, "", at))
            self.changed -= late

    def trial_left(self) -> int:
        """Return whole seconds until the trial ends; 0 without a trial."""
        return max(0, round(self.trial.deadline - self.clock())) if self.trial else 0

    def _owner(self, session: int) -> int:
        return session if self.candidate_mode == "own" else SHARED

    def candidate(self, session: int) -> Candidate:
        """Return the session's candidate; the running configuration if nothing is uncommitted."""
        candidate = self.candidates.get(self._owner(session))
        return candidate or Candidate(self.running, self.running)

    def dirty(self, session: int) -> bool:
        """Whether the session has uncommitted changes."""
        return self._owner(session) in self.candidates

    def enter(self, session: int, view: View, line: str) -> LineResult:
        """Interpret one line against the candidate without keeping it. Raises VrpRefusal."""
        before = self.candidate(session).config
        applied = apply_line(before, view, line, self.family)
        if self.ports and (refusal := missing_port(line, before, applied, self.ports)):
            raise refusal
        if applied.config != before and self._locks_out(session):
            raise VrpRefusal(line, 0, FOREIGN_TRIAL)
        return applied

    def _locks_out(self, session: int) -> bool:
        """Whether another session's trial keeps this one from changing configuration.

        V300R023C00 configuration guide, precautions; the immediate refusal of a line is ours.
        """
        foreign = self.trial_session not in (0, session)
        return foreign and self.personality.foreign_edits == "refused"

    @property
    def trial_session(self) -> int:
        """Number of the session that started the trial; 0 without a trial."""
        return self.trial.session if self.trial else 0

    def keep(self, session: int, view: View, line: str, applied: LineResult) -> None:
        """Keep an entered line in the candidate."""
        old = self.candidate(session)
        if applied.config != old.config:
            typed = (*old.typed, (view, line.strip()))
            self._hold(session, Candidate(old.base, applied.config, typed))
            self._touch_lock(session)

    def intrude(self, session: int) -> None:
        """Put an uncommitted line of another user into an empty candidate."""
        fault = None if self.dirty(session) else self.fault("foreign-candidate")
        if fault:
            line = fault.match or FOREIGN
            self.keep(session, (), line, self.enter(session, (), line))

    def _hold(self, session: int, candidate: Candidate) -> None:
        """Set the session's candidate; clear it if it changes nothing."""
        if candidate.config == candidate.base:
            self.clear(session)
        else:
            self.candidates[self._owner(session)] = candidate

    def clear(self, session: int) -> None:
        """Discard the session's candidate."""
        self.candidates.pop(self._owner(session), None)

    def outdated(self, session: int) -> bool:
        """Whether others committed since the session's first uncommitted line."""
        return self.dirty(session) and self.candidate(session).base != self.running

    def refresh(self, session: int) -> None:
        """Apply the session's uncommitted lines again, to the present running configuration.

        Raises VrpRefusal if one of them no longer fits.
        """
        old = self.candidate(session)
        config = self.running
        for view, line in old.typed:
            config = apply_line(config, view, line, self.family).config
        self._hold(session, Candidate(self.running, config, old.typed))

    def take_lock(self, session: int) -> None:
        """Run `configuration exclusive`. Raises CommitError if another session holds it."""
        self.check_lock(session)
        now = self.now()
        self.lock = ConfigLock(session, now, now, self.clock())

    def release_lock(self, session: int) -> None:
        """Run `undo configuration exclusive`. Raises CommitError if another session holds it."""
        self.check_lock(session)
        self.lock = None

    def check_lock(self, session: int) -> None:
        """Raise CommitError if another session has locked the configuration."""
        if self.lock and self.lock.session != session:
            # NE40E V800R023 configuration guide, "Another User Locks Configurations".
            raise CommitError(
                "Error: The configuration is locked by other user. "
                f"[Session ID = {self.lock.session}]"
            )

    def _touch_lock(self, session: int) -> None:
        if self.lock and self.lock.session == session:
            self.lock = self.lock.touched(self.clock(), self.now())

    def commit(self, session: int, order: CommitOrder) -> None:
        """Commit, start a trial or confirm one. Raises CommitError with the printed text."""
        self.check_lock(session)
        self._check_trial_owner(session, order, changed=self.dirty(session))
        changed = self.dirty(session)
        config = self._to_commit(session) if changed else self.running
        before = self.trial.before if self.trial else self.running
        if changed:
            self._point(config, "CLI", self._author(session), order)
        self.clear(session)
        self._touch_lock(session)
        if order.trial_seconds is not None:
            if changed or self.trial:
                self._start_trial(session, before, order)
        elif self.trial and self.trial.persist in (None, order.persist):
            self.trial = None

    def _start_trial(self, session: int, before: Lines, order: CommitOrder) -> None:
        seconds = order.trial_seconds or TRIAL_SECONDS
        if early := self.fault("expire-early"):
            seconds = int(early.match or EARLY_S)
        first = self.trial.first_point if self.trial else self.points[-1].number
        self.trial = Trial(before, self.clock() + seconds, session, order.persist, first)

    @property
    def listed_points(self) -> tuple[CommitPoint, ...]:
        """Rollback points that the list of commits shows, the oldest first."""
        hidden = self.personality.commit_list == "after-confirmation" and self.trial
        first = self.trial.first_point if hidden and self.trial else 0
        return tuple(point for point in self.points if not first or point.number < first)

    def _check_trial_owner(self, session: int, order: CommitOrder, *, changed: bool) -> None:
        # Own wording; the reference states that a commit can fail because of another session's
        # trial.
        trial, confirms = self.trial, order.trial_seconds is None
        if trial is None:
            if confirms and order.persist:
                raise CommitError("Error: The trial configuration does not exist.")
        elif changed and self._locks_out(session):
            raise CommitError(FOREIGN_TRIAL)
        elif trial.persist is not None:
            matches = order.persist == trial.persist
            if not matches and (changed or order.persist or not confirms):
                raise CommitError("Error: The system is in the trial of another persist ID.")
        elif confirms and order.persist:
            raise CommitError("Error: The persist ID of the trial configuration is incorrect.")
        elif self.keeps_out(session) or (trial.session != session and trial.session in self.logins):
            raise CommitError(FOREIGN_TRIAL)

    def keeps_out(self, session: int) -> bool:
        """Whether a plain trial runs that this session may neither confirm nor abort."""
        trial = self.trial if self.personality.trial_mode == "session-only" else None
        return trial is not None and trial.persist is None and trial.session != session

    def _to_commit(self, session: int) -> Lines:
        """Return the configuration that runs after the commit. Raises CommitError."""
        candidate = self.candidate(session)
        config = self._merged(candidate) if candidate.base != self.running else candidate.config
        if problems := new_problems(self.running, config, self.family):
            raise CommitError("\n".join(f"Error: {problem}" for problem in problems))
        return config

    def _merged(self, candidate: Candidate) -> Lines:
        """Return the candidate's lines applied to a newer configuration. Raises CommitError.

        By the reference both changes take effect unless they change the same configuration
        (V300R023C00, `refresh configuration candidate`); the wording of the refusal is ours.
        """
        if self.on_conflict == "refuse":
            raise CommitError(
                "Error: The running configuration has been changed by another user. "
                "Run the refresh configuration candidate command."
            )
        same = conflicts(candidate.base, candidate.config, self.running, self.family)
        if same:
            raise CommitError(f"Error: '{same[0]}' has been changed by another user.")
        config = self.running
        try:
            for view, line in candidate.typed:
                config = apply_line(config, view, line, self.family).config
        except VrpRefusal as refusal:
            raise CommitError(refusal.message) from None
        return config

    def rollback(self, session: int, to: Lines) -> None:
        """Commit an earlier configuration at once. Raises CommitError."""
        self.check_lock(session)
        if self.trial and self.trial.session != session:
            self._check_trial_owner(session, CommitOrder(), changed=True)
        self.trial = None
        self._point(to, "ROLLBACK", self._author(session))

    def save(self) -> None:
        """Save the running configuration for the next start."""
        self.saved = self.running

    def _point(
        self,
        config: Lines,
        kind: Literal["CLI", "ROLLBACK"],
        author: CommitAuthor,
        order: CommitOrder | None = None,
    ) -> None:
        number = self.points[-1].number + 1 if self.points else FIRST_COMMIT
        point = CommitPoint(
            number,
            self.running,
            config,
            author.user,
            kind,
            author.at,
            order.label if order else "",
            order.description if order else "",
            author.interface,
        )
        self.points, self.running = (*self.points, point)[-MOST_POINTS:], config
        self.changed_at, self.changed = point.at, self.clock()

    def _author(self, session: int) -> CommitAuthor:
        login = self.logins.get(session)
        user, interface = (login.user, login.interface) if login else ("", "")
        return CommitAuthor(user, interface, self.now())

    def fault(self, name: str, line: str = "") -> LineFault | None:
        """Return the fault of this name that applies to a line, and count it as struck."""
        for fault in self.faults:
            spent = fault.times and self.strikes[fault] >= fault.times
            if fault.name == name and fault.strikes(line) and not spent:
                self.strikes[fault] += 1
                return fault
        return None


def scaled(clock: Callable[[], float], scale: float) -> Callable[[], float]:
    """Return a clock on which `scale` seconds pass in one second of another."""
    return clock if scale == 1 else lambda: clock() * scale


def configured_peers(config: Lines) -> list[PeerState]:
    """Return peers with an address of the BGP view, in the order of the configuration."""
    peers: dict[str, PeerState] = {}
    for words in map(str.split, bgp_lines(config)):
        if words[0] == "peer" and words[2:3] == ["as-number"] and words[1][0].isdigit():
            peers[words[1]] = PeerState(IPv4Address(words[1]), words[3])
    return list(peers.values())


def bgp_lines(config: Lines) -> list[str]:
    """Return the lines of the BGP view; an empty list without BGP."""
    bgp = bgp_view(config)
    return [line.text for line in bgp.children] if bgp else []


def bgp_view(config: Lines) -> ConfigLine | None:
    """Return the line that opens the BGP view, with its children; None without BGP."""
    return next((line for line in config if line.text.startswith("bgp ")), None)
