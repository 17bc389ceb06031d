"""End of BGP sessions in a lab, as on a switch: at once by a message, else with the hold time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from rocefort import tasks
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import switch_of
from rocefort.emulator.options import LabOptions
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.state.routing_state import CONNECT_RETRY_S
from rocefort.emulator.state_model import model_of
from rocefort.emulator.switch.store import Pool
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

HOLD_S = 30  # of HEPS
PORT = "100GE1/0/1"  # of leaf08, to spine01
LEAF, SPINE = ("leaf08", "10.1.0.112"), ("spine01", "10.1.0.113")  # the two ends of one session


@dataclass
class Site:
    """Return all switches of HEPS without SSH; only a test moves the time."""

    switches: dict[str, EmulatedSwitch]
    model: EmulatedState
    now: float = 0.0
    sessions: dict[str, CliSession] = field(default_factory=dict)

    def type(self, switch: str, *lines: str) -> None:
        """Type lines in one session of a switch, and commit them."""
        if switch not in self.sessions:
            self.sessions[switch] = CliSession(self.switches[switch], "netops")
        for line in ("system-view", *lines, "commit", "return"):
            reply = self.sessions[switch].handle(line)
            assert "Error" not in reply.text, (line, reply.text)

    def state(self, end: tuple[str, str]) -> str:
        """Return the state of a session at one of its ends."""
        switch, address = end
        return next(p.state for p in self.model.peers(switch) if str(p.address) == address)

    def states(self) -> tuple[str, str]:
        return self.state(LEAF), self.state(SPINE)


@pytest.fixture(scope="module")
def switches(heps: DerivedNetwork) -> dict[str, EmulatedSwitch]:
    subject, pool = subject_of_derived(heps), Pool()
    return {
        name: switch_of(subject.network, name, text, LabOptions(), pool)
        for name, text in subject.texts.items()
    }


@pytest.fixture
def site(heps: DerivedNetwork, switches: dict[str, EmulatedSwitch]) -> Iterator[Site]:
    before = {name: switch.running for name, switch in switches.items()}
    new_site = Site(switches, model_of(subject_of_derived(heps).network, switches))
    for switch in switches.values():
        switch.clock, switch.booted, switch.changed = lambda: new_site.now, 0.0, 0.0
    assert new_site.states() == ("Established", "Established")
    yield new_site
    for name, switch in switches.items():
        switch.running, switch.points, switch.trial = before[name], (), None
        for number in tuple(switch.logins):
            switch.close_session(number)


def password(end: tuple[str, str], word: str = "one") -> Callable[[Site], None]:
    """Give one end a password."""
    lines = ("bgp 65108" if end is LEAF else "bgp 65000", f"peer {end[1]} password cipher {word}")
    return lambda site: site.type(end[0], *lines)


def hops(site: Site) -> set[str]:
    """Return next hops of leaf08."""
    return {hop for route in site.model.routes("leaf08") for hop, _ in route.hops}


def test_a_password_at_one_end_ends_the_session_with_the_hold_time(site: Site) -> None:
    site.now = 100
    password(LEAF)(site)
    site.now += HOLD_S - 1
    assert site.states() == ("Established", "Established")
    routes = len(site.model.routes("leaf08"))
    assert LEAF[1] in hops(site)
    site.now += 1
    assert site.states() == ("Idle", "Idle")
    assert LEAF[1] not in hops(site)
    assert len(site.model.routes("leaf08")) == routes - 1  # its loopback has no other path
    password(SPINE)(site)
    site.now += CONNECT_RETRY_S
    assert site.states() == ("Established", "Established")


def test_the_same_password_at_both_ends_within_the_hold_time_is_not_felt(site: Site) -> None:
    password(LEAF)(site)
    site.now += HOLD_S - 1
    assert site.states() == ("Established", "Established")
    password(SPINE)(site)
    site.now += 10 * HOLD_S
    assert site.states() == ("Established", "Established")


def test_another_password_at_the_other_end_is_none(site: Site) -> None:
    password(LEAF)(site)
    password(SPINE, "another")(site)
    site.now += HOLD_S
    assert site.states() == ("Idle", "Idle")


def test_nobody_needs_to_look_for_the_time_to_pass(site: Site) -> None:
    password(LEAF)(site)
    site.now += HOLD_S
    assert site.states() == ("Idle", "Idle")


def test_a_trial_that_takes_the_password_back_in_time_saves_the_session(site: Site) -> None:
    session = CliSession(site.switches["leaf08"], "netops")
    for line in ("system-view", "bgp 65108", f"peer {LEAF[1]} password cipher one"):
        session.handle(line)
    assert "trial configuration mode" in session.handle("commit trial 60").text
    site.now += HOLD_S - 1
    assert site.states() == ("Established", "Established")
    site.now += 1
    assert site.states() == ("Idle", "Idle")
    site.now += 60 - HOLD_S + CONNECT_RETRY_S
    assert site.states() == ("Established", "Established")


@pytest.mark.parametrize(
    "lines",
    [
        ("bgp 65108", f"peer {LEAF[1]} as-number 65001"),  # Cease, then a wrong AS
        (f"interface {PORT}", "shutdown"),
    ],
    ids=["AS", "shutdown"],
)
def test_what_both_ends_see_ends_it_at_once(site: Site, lines: tuple[str, ...]) -> None:
    site.type("leaf08", *lines)
    assert site.states() == ("Idle", "Idle")


def test_an_address_that_goes_is_seen_by_its_own_end_alone(site: Site) -> None:
    site.type("leaf08", f"interface {PORT}", "undo ip address 10.1.0.113 31",
              "ip address 10.1.0.212 31")  # fmt: skip
    assert site.states() == ("Idle", "Established")
    site.now += HOLD_S - 1
    assert site.states() == ("Idle", "Established")
    site.now += 1
    assert site.states() == ("Idle", "Idle")


def test_a_small_mtu_at_one_end_ends_a_session_that_has_more_to_send_than_fits(site: Site) -> None:
    site.type("leaf08", f"interface {PORT}", "mtu 1500")
    site.now += HOLD_S
    assert site.states() == ("Established", "Established")  # its updates still fit
    site.type("leaf08", f"interface {PORT}", "mtu 128")
    site.now += HOLD_S
    assert site.states() == ("Idle", "Idle")
    site.now += CONNECT_RETRY_S  # a new connection agrees on segments that fit
    assert site.states() == ("Established", "Established")


def test_all_timers_of_a_switch_run_by_its_scale_and_its_calendar_does_not() -> None:
    now, noon = 0.0, datetime(2026, 1, 2, 12, tzinfo=UTC)
    switch = EmulatedSwitch(
        name="leaf01",
        startup="#\nsysname leaf01\n#\nreturn\n",
        family=SyntaxFamily.V300_G1,
        clock=lambda: now,
        now=lambda: noon + timedelta(seconds=now),
        time_scale=20,
    )
    session = CliSession(switch, "netops")
    for line in ("system-view", "sysname other", "commit trial 600"):
        session.handle(line)
    now = 29.0
    assert "Trial time left (sec): 20" in session.handle("display configuration trial status").text
    now = 40.0
    session.handle("display clock")
    assert switch.hostname == "leaf01"
    assert switch.points[-1].at == noon + timedelta(seconds=30)


def test_the_option_of_the_command_is_not_for_a_lab_that_others_reach(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rocefort", "lab", "cli", "heps", "--time-scale", "20", "--open-to-others"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "rocefort: --time-scale: other users would take these timers for those of a switch; leave one "
        "of the two out: --open-to-others\n"
    )
