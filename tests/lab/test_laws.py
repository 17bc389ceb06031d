"""Laws of candidates and trials, for any order of acts in several sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

from efforts import tries
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.switch.personality import Personality, TrialMode
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

STARTUP = """#
sysname leaf01
#
interface 100GE1/0/1
 mtu 9000
#
bgp 65101
 peer 10.1.0.0 as-number 65001
#
return
"""
LINES = (
    ("interface 100GE1/0/1", "mtu 9100", "quit"),
    ("interface 100GE1/0/1", "mtu 9200", "quit"),
    ("interface 100GE1/0/1", "undo mtu", "quit"),
    ("interface Vlanif7", "ip address 10.7.0.1 24", "quit"),
    ("undo interface Vlanif7",),
    ("lldp enable",),
    ("undo lldp enable",),
    ("bfd", "quit"),
    ("bgp 65101", "peer 10.1.0.0 description x", "quit"),
    ("sysname other",),
    ("frobnicate",),
)
PERSIST = st.sampled_from(["", " persist a", " persist b"])


class Users(RuleBasedStateMachine):
    """Up to three users; time passes only by a rule."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.open: list[CliSession] = []

    @initialize(
        mode=st.sampled_from(get_args(TrialMode)),
        candidate=st.sampled_from(["own", "shared"]),
        conflict=st.sampled_from(["refuse", "merge"]),
    )
    def start(self, mode: TrialMode, candidate: str, conflict: str) -> None:
        self.switch = EmulatedSwitch(
            "leaf01",
            STARTUP,
            SyntaxFamily.V300_G1,
            clock=lambda: self.seconds,
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            personality=Personality(mode),
            candidate_mode=candidate,  # type: ignore[arg-type]  # drawn from its values
            on_conflict=conflict,  # type: ignore[arg-type]  # same
        )
        self.survives = mode != "dies-with-session"
        self.timer_only = mode == "session-only"
        self.known = self.switch.running  # running configuration, by the laws
        self.before_trial = self.switch.running  # configuration that returns

    def in_system(self, who: int) -> CliSession:
        """One of the sessions, in the system view."""
        while not self.open:
            self.open.append(CliSession(self.switch, "u"))
        session = self.open[who % len(self.open)]
        session.handle("")
        self.expired()
        if session.question:
            session.handle("n")
        if not session.in_system:
            session.handle("system-view")
        session.view = ()
        return session

    def expired(self) -> None:
        """Update the expectation after a tick: a trial that has ended has removed its change."""
        if self.trial_ran and self.switch.trial is None:
            assert self.switch.running == self.before_trial
            self.known = self.switch.running
        self.trial_ran = self.switch.trial is not None

    trial_ran = False

    @precondition(lambda self: len(self.open) < 3)
    @rule()
    def log_in(self) -> None:
        self.open.append(CliSession(self.switch, "u"))
        self.expired()

    @precondition(lambda self: self.open)
    @rule(who=st.integers(0, 2))
    def vanish(self, who: int) -> None:
        session = self.open.pop(who % len(self.open))
        trial = self.switch.trial
        session.close()
        if trial and (trial.session != session.number or trial.persist or self.survives):
            assert self.switch.trial is trial
        else:
            assert self.switch.trial is None
        assert session.number not in self.switch.candidates
        self.expired()

    @rule(who=st.integers(0, 2), lines=st.sampled_from(LINES))
    def type_lines(self, who: int, lines: tuple[str, ...]) -> None:
        session = self.in_system(who)
        for line in lines:
            if session.handle(line).asks:
                session.handle("y")

    @rule(who=st.integers(0, 2), word=st.sampled_from(["clear", "refresh"]))
    def clear_or_refresh(self, who: int, word: str) -> None:
        session = self.in_system(who)
        refused = session.handle(f"{word} configuration candidate").text
        if word == "clear":
            assert session.prompt.startswith("[~")
            assert session.handle("display configuration candidate").text == ""
            assert session.handle("display configuration candidate changes").text == ""
        elif not refused:
            assert not self.switch.outdated(session.number)

    @rule(who=st.integers(0, 2), seconds=st.sampled_from([60, 90, 600]), persist=PERSIST)
    def commit_trial(self, who: int, seconds: int, persist: str) -> None:
        session = self.in_system(who)
        changes = self.switch.dirty(session.number)
        before = self.switch.running
        reply = session.handle(f"commit trial {seconds}{persist}").text
        if "Error:" in reply:
            self.unchanged(before)
            return
        if changes and not self.trial_ran:
            self.before_trial = before
        if changes or self.trial_ran:
            assert self.switch.trial is not None
            assert self.switch.trial_left() == seconds
        self.committed(session)

    @rule(who=st.integers(0, 2), persist=PERSIST)
    def commit(self, who: int, persist: str) -> None:
        session = self.in_system(who)
        before, forbidden = self.switch.running, self.forbidden(session)
        if "Error:" in session.handle(f"commit{persist}").text:
            self.unchanged(before)
        else:
            assert not forbidden
            self.committed(session)

    def forbidden(self, session: CliSession) -> bool:
        """Whether a trial runs that only another session may end."""
        trial = self.switch.trial
        plain = self.timer_only and trial is not None and trial.persist is None
        return bool(plain and trial and trial.session != session.number)

    def unchanged(self, before: object) -> None:
        assert self.switch.running == before

    def committed(self, session: CliSession) -> None:
        assert not self.switch.dirty(session.number), "nothing is left to commit"
        self.known = self.switch.running
        self.trial_ran = self.switch.trial is not None

    @rule(who=st.integers(0, 2), how=st.sampled_from(["", " persist a", " session 1"]))
    def abort(self, who: int, how: str) -> None:
        session = self.in_system(who)
        if not session.handle(f"abort trial{how}").asks:
            return
        assert not self.forbidden(session)
        assert session.handle("y").text == "Info: The trial configuration rollback succeeded."
        assert self.switch.trial is None
        assert self.switch.running == self.before_trial
        self.known, self.trial_ran = self.switch.running, False

    @rule(who=st.integers(0, 2), last=st.integers(1, 3))
    def roll_back(self, who: int, last: int) -> None:
        session = self.in_system(who)
        if session.handle("return").asks:
            session.handle("n")
        points = self.switch.points
        if not session.handle(f"rollback configuration last {last}").asks:
            assert last > len(points)
            return
        if "succeeded" in session.handle("y").text:
            assert self.switch.running == points[-last].before
            assert self.switch.trial is None
            self.known, self.trial_ran = self.switch.running, False

    @rule(who=st.integers(0, 2), undo=st.booleans())
    def exclusive(self, who: int, undo: bool) -> None:
        session = self.in_system(who)
        session.handle(f"{'undo ' if undo else ''}configuration exclusive")

    @rule(seconds=st.sampled_from([10, 59, 60, 700]))
    def wait(self, seconds: int) -> None:
        self.seconds += seconds
        due = self.switch.trial is not None and self.switch.trial.deadline <= self.seconds
        self.switch.tick()
        assert not (due and self.switch.trial)
        self.expired()

    @invariant()
    def running_changes_only_by_what_the_laws_name(self) -> None:
        if hasattr(self, "switch"):
            assert self.switch.running == self.known

    @invariant()
    def one_session_is_not_confirmed_by_chance(self) -> None:
        if hasattr(self, "switch") and self.switch.trial:
            assert self.switch.trial.before == self.before_trial


TestUsers = Users.TestCase
TestUsers.settings = settings(
    max_examples=tries(60),
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow],
)
