"""One emulated CloudEngine: configurations, commits, a trial with its timer; no sockets, no text.

Two-stage configuration as in the V300R023C00 command reference, Configuration File Management.
What that reference leaves open is an option: whether a trial outlives its session, and whether
the release knows `persist`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Address
from typing import Literal

from rocefort.dialects.vrp.interpret import (
    Applied,
    Lines,
    View,
    VrpRefusal,
    apply_line,
    replay,
)
from rocefort.dialects.vrp.tree import ConfigLine, parse_tree
from rocefort.errors import BadInput
from rocefort.models.hardware import SyntaxFamily

FIRST_COMMIT = 1000000001  # "commit-id": ten digits from 1000000001
TRIAL_SECONDS = 600  # default of `commit trial`
MAX_PFC_PROFILES = 2  # V300R023C00, `display dcb pfc-profile`
MAX_AI_QUEUES = 2  # V300R023C00, AI ECN


@dataclass(frozen=True, slots=True)
class PeerState:
    """What `display bgp peer` shows of one peer."""

    address: IPv4Address
    asn: str
    state: str = "Idle"
    prefixes: int = 0


Peers = Callable[[Mapping[str, Lines]], Mapping[str, Sequence[PeerState]]]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, by name; `match` limits it to lines that contain it.

    refuse-line: a line is refused; unknown-question: a line asks what no client expects;
    hang-on-commit: the commit is never answered and not done;
    drop-session-on-commit: the commit is done, the session ends without an answer;
    expire-before-commit: a trial's time is over just as the next commit arrives;
    refuse-login: nobody gets a new session, those that are open go on.
    """

    name: Literal[
        "refuse-line",
        "unknown-question",
        "hang-on-commit",
        "drop-session-on-commit",
        "expire-before-commit",
        "refuse-login",
    ]
    match: str = ""

    def __post_init__(self) -> None:
        if self.name == "refuse-line" and not self.match:
            raise BadInput("refuse-line needs to know which line", how="give a part of the line")


@dataclass(frozen=True, slots=True)
class CommitPoint:
    """One rollback point: what was running before and after, and who made it so."""

    number: int
    before: Lines
    after: Lines
    user: str
    kind: Literal["CLI", "ROLLBACK"]
    at: datetime
    label: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A running trial: what comes back at its end, when that is, and whose it is."""

    before: Lines
    deadline: float
    session: int
    persist: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Uncommitted lines of one session, and the running configuration that they started from."""

    base: Lines
    config: Lines
    typed: tuple[tuple[View, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CommitOrder:
    """The words behind `commit`; `trial_seconds` is None for a plain commit."""

    trial_seconds: int | None = None
    persist: str | None = None
    label: str = ""
    description: str = ""


class CommitError(Exception):
    """The commit changed nothing; the text is what the switch prints."""


def utc_now() -> datetime:
    """Wall clock of a switch that is not given another."""
    return datetime.now(UTC)


@dataclass
class EmulatedSwitch:
    """The state of one switch; all of it in memory. Time comes from `clock`, in seconds."""

    name: str
    startup: str  # configuration text, as saved
    family: SyntaxFamily
    hardware: str = "CE8851-32CQ8DQ-P"
    software: str = "V300R023C00"
    serial: str = ""
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = utc_now
    trial_mode: Literal["survives", "dies-with-session"] = "survives"
    persist: Literal["present", "absent"] = "present"
    faults: tuple[Fault, ...] = ()
    running: Lines = ()
    saved: Lines = ()
    points: tuple[CommitPoint, ...] = ()
    trial: Trial | None = None
    startup_refusals: tuple[VrpRefusal, ...] = ()
    booted: float = 0.0
    changed_at: datetime = field(default_factory=utc_now)
    sessions: dict[int, str] = field(default_factory=dict)  # number -> user
    candidates: dict[int, Candidate] = field(default_factory=dict)
    last_session: int = 0

    def __post_init__(self) -> None:
        self.running, self.startup_refusals = replay(parse_tree(self.startup), self.family)
        self.saved = self.running
        self.serial = self.serial or f"LAB{sum(self.name.encode()):017d}"
        self.booted = self.clock()
        self.changed_at = self.now()

    @property
    def hostname(self) -> str:
        """Name in the prompt: the running sysname."""
        names = (line.text for line in self.running if line.text.startswith("sysname "))
        return next((text.removeprefix("sysname ") for text in names), "HUAWEI")

    def open_session(self, user: str) -> int:
        """Register a session; returns its number."""
        self.last_session += 1
        self.sessions[self.last_session] = user
        return self.last_session

    def close_session(self, session: int) -> None:
        """Forget a session: its candidate goes, and its trial too where trials die with it."""
        self.tick()
        self.sessions.pop(session, None)
        self.candidates.pop(session, None)
        trial = self.trial if self.trial_mode == "dies-with-session" else None
        if trial and trial.session == session and trial.persist is None:
            self.end_trial("SYSTEM")

    def tick(self) -> None:
        """Roll an expired trial back; called before every command."""
        if self.trial and self.clock() >= self.trial.deadline:
            self.end_trial("SYSTEM")

    def end_trial(self, user: str) -> None:
        """Bring back what was running before the trial."""
        if self.trial:
            before, self.trial = self.trial.before, None
            self._point(before, user, "ROLLBACK", CommitOrder())

    def trial_left(self) -> int:
        """Whole seconds until the trial ends; 0 without a trial."""
        return max(0, round(self.trial.deadline - self.clock())) if self.trial else 0

    def candidate(self, session: int) -> Candidate:
        """The session's candidate; without uncommitted lines it follows what is running."""
        found = self.candidates.get(session)
        return found or Candidate(self.running, self.running)

    def dirty(self, session: int) -> bool:
        """Whether the session has uncommitted changes."""
        return session in self.candidates

    def enter(self, session: int, view: View, line: str) -> Applied:
        """Interpret one line against the candidate without keeping it. Raises VrpRefusal."""
        return apply_line(self.candidate(session).config, view, line, self.family)

    def keep(self, session: int, view: View, line: str, applied: Applied) -> None:
        """Keep an entered line in the candidate."""
        old = self.candidate(session)
        if applied.config != old.config:
            typed = (*old.typed, (view, line.strip()))
            self._hold(session, Candidate(old.base, applied.config, typed))

    def _hold(self, session: int, candidate: Candidate) -> None:
        """Set the session's candidate; one that changes nothing is none."""
        if candidate.config == candidate.base:
            self.clear(session)
        else:
            self.candidates[session] = candidate

    def clear(self, session: int) -> None:
        """Discard the session's candidate."""
        self.candidates.pop(session, None)

    def refresh(self, session: int) -> None:
        """Apply the session's uncommitted lines again, on what is running now.

        Raises VrpRefusal if one of them no longer fits.
        """
        old = self.candidate(session)
        config = self.running
        for view, line in old.typed:
            config = apply_line(config, view, line, self.family).config
        self._hold(session, Candidate(self.running, config, old.typed))

    def commit(self, session: int, order: CommitOrder) -> None:
        """Commit, try or confirm. Raises CommitError with the text that is printed."""
        candidate = self.candidate(session)
        changed = self.dirty(session)
        self._check_trial_owner(session, order, changed=changed)
        if changed:
            self._check(candidate)
        before = self.trial.before if self.trial else self.running
        user = self.sessions.get(session, "")
        if changed:
            self._point(candidate.config, user, "CLI", order)
        self.clear(session)
        if order.trial_seconds is not None:
            if changed or self.trial:
                deadline = self.clock() + order.trial_seconds
                self.trial = Trial(before, deadline, session, order.persist)
        elif self.trial and self.trial.persist in (None, order.persist):
            self.trial = None

    def _check_trial_owner(self, session: int, order: CommitOrder, *, changed: bool) -> None:
        # Own wording; that a commit can fail over another session's trial is the reference's.
        trial = self.trial
        if trial is None or trial.session == session:
            return
        if trial.persist is not None:
            if changed or (order.persist is not None and order.persist != trial.persist):
                raise CommitError("Error: The system is in the trial of another persist ID.")
        elif trial.session in self.sessions:
            raise CommitError(f"Error: Session {trial.session} has a trial in progress.")

    def _check(self, candidate: Candidate) -> None:
        if candidate.base != self.running:
            # Own wording; the remedy is the reference's, `display configuration candidate changes`.
            raise CommitError(
                "Error: The running configuration has been changed by another user. "
                "Run the refresh configuration candidate command."
            )
        problems = commit_problems(candidate.config)
        if problems:
            raise CommitError("\n".join(f"Error: {problem}" for problem in problems))

    def rollback(self, session: int, to: Lines) -> None:
        """Commit an earlier configuration at once."""
        self.trial = None
        self._point(to, self.sessions.get(session, ""), "ROLLBACK", CommitOrder())

    def save(self) -> None:
        """Make the running configuration the one of the next start."""
        self.saved = self.running

    def _point(
        self, config: Lines, user: str, kind: Literal["CLI", "ROLLBACK"], order: CommitOrder
    ) -> None:
        number = self.points[-1].number + 1 if self.points else FIRST_COMMIT
        point = CommitPoint(
            number, self.running, config, user, kind, self.now(), order.label, order.description
        )
        self.points, self.running = (*self.points, point), config
        self.changed_at = point.at

    def fault(self, name: str, line: str = "") -> Fault | None:
        """The fault of this name that a line meets."""
        return next((f for f in self.faults if f.name == name and f.match in line), None)


def commit_problems(config: Lines) -> tuple[str, ...]:
    """What a switch finds only in the whole: limits, and an address on two interfaces."""
    owners: dict[str, str] = {}
    problems = []
    profiles = {line.text.split()[2] for line in config if _opens_profile(line)}
    if len(profiles | {"default"}) > MAX_PFC_PROFILES:  # which is there without a line
        problems.append(f"The number of PFC profiles exceeds {MAX_PFC_PROFILES}.")
    for path, line in (found for top in config for found in top.walk()):
        if line.text.startswith("ip address ") and path:
            address = line.text.split()[2]
            other = owners.setdefault(address, path[0])
            if other != path[0]:
                problems.append(f"{address} of {path[0]} is already the address of {other}.")
        if path and line.text == "ai-ecn":
            queues = [child for child in line.children if child.text.startswith("assign queue")]
            if len(queues) > MAX_AI_QUEUES:
                problems.append(f"The number of AI ECN queues exceeds {MAX_AI_QUEUES}.")
    return tuple(problems)


def _opens_profile(line: ConfigLine) -> bool:
    """Whether a line is `dcb pfc NAME`."""
    words = line.text.split()
    return words[:2] == ["dcb", "pfc"] and len(words) == 3


def idle_peers(running: Mapping[str, Lines]) -> dict[str, list[PeerState]]:
    """Every configured peer, Idle: what is shown where nobody models the routing."""
    return {name: [*configured_peers(config)] for name, config in running.items()}


def configured_peers(config: Lines) -> list[PeerState]:
    """Peers with an address of the BGP view, in the order of the configuration."""
    found: dict[str, PeerState] = {}
    for line in config:
        if line.text.startswith("bgp "):
            for child in line.children:
                words = child.text.split()
                if words[0] == "peer" and words[2:3] == ["as-number"] and words[1][0].isdigit():
                    found[words[1]] = PeerState(IPv4Address(words[1]), words[3])
    return list(found.values())
