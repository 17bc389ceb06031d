"""A change of switches with a fictional system is planned and applied by its dialect alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_switches import GATE, Book, NoTexts, Says
from planned import make_changes
from tiny_dialect.switch import SWITCHES, TinySwitch
from tiny_network import FAMILY, NAMES, PORT, network

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_all
from rocefort.fleet.connections import Connections, SshAccess
from rocefort.fleet.nornir_session import open_fleet
from rocefort.models.change.plan import Plan, Wave
from rocefort.models.network.network import Network
from rocefort.rollout.controller.config import RolloutConfig
from rocefort.rollout.controller.controller import RolloutLoop
from rocefort.rollout.controller.napalm_switches import NapalmSwitches
from rocefort.rollout.journal.events import Event, RolloutOutcome
from rocefort.rollout.journal.pending_trials import TrialLabel

KEPT = "beacon on"  # an unowned line
MEASURED = GATE.model_copy(update={"unmeasured": ()})


class Site:
    """Two switches that run a network, and the plan to another one."""

    def __init__(self, old: Network, new: Network, known_hosts: Path) -> None:
        self.new, self.now = new, 0.0
        accesses = (
            SshAccess(name=name, host=name, user="netops", credential="env:TINY") for name in NAMES
        )
        self.access = Connections(known_hosts=known_hosts, devices=tuple(accesses))
        self.old_texts = {
            name: text.replace("end\n", f"{KEPT}\nend\n") for name, text in render_all(old).items()
        }
        self.switches = {
            name: TinySwitch(text, clock=lambda: self.now) for name, text in self.old_texts.items()
        }
        self.plan = Plan(
            fabric="tiny",
            source="tiny",
            tool="test",
            intent_digest="",
            trial_s=600,
            changes=make_changes(new, self.old_texts),
            waves=tuple(Wave(name=name, devices=(name,), gate=MEASURED) for name in NAMES),
        ).seal()

    def roll_out(self, *, gate: bool = True) -> tuple[RolloutOutcome, list[Event]]:
        label = TrialLabel(self.plan.digest, "run")
        book = Book()
        with open_fleet(self.new, self.access) as nornir:
            config = RolloutConfig(
                self.plan,
                NapalmSwitches(nornir, self.new, label, settle_s=0),
                lambda _: Says(gate),
                book,
                NoTexts(),
                run_id="run",
                sleep=self.sleep,
                monotonic=lambda: self.now,
            )
            applied = RolloutLoop(config).run()
        return applied, book.rows

    def sleep(self, seconds: float) -> None:
        """A soak takes no time here."""
        self.now += seconds


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("TINY", "hunter2-tiny")
    (tmp_path / "known_hosts").touch()
    made = Site(network(1500, "old"), network(9216, "spine01"), tmp_path / "known_hosts")
    for name, switch in made.switches.items():
        monkeypatch.setitem(SWITCHES, name, switch)
    return made


def test_the_plan_is_in_the_systems_own_words(site: Site) -> None:
    change = site.plan.change("leaf01")
    assert change.patch == (
        f"interface {PORT}",
        " no address 10.0.0.1/31",
        " no routed",
        " no mtu 1500",
        " no description old",
        " description spine01",
        " mtu 9216",
        " routed",
        " address 10.0.0.1/31",
        " exit",
    )
    assert change.kept == (KEPT,)


def test_both_switches_run_and_have_saved_what_is_intended(site: Site) -> None:
    applied, _ = site.roll_out()
    assert applied.failure == ""
    for name, switch in site.switches.items():
        assert KEPT in switch.running
        assert switch.saved == switch.running
        assert switch.before is None
        parsed = dialect_of(FAMILY).parse(switch.running, name)
        assert parsed.device == site.new.by_name[name].device


def test_a_gate_that_fails_leaves_everything_as_it_was(site: Site) -> None:
    applied, _ = site.roll_out(gate=False)
    assert applied.failure
    assert {name: switch.running for name, switch in site.switches.items()} == site.old_texts


def test_a_switch_that_would_do_something_else_is_not_tried(site: Site) -> None:
    site.switches["leaf01"].adds = "vlan 66"
    applied, _ = site.roll_out()
    assert "leaf01: the switch would not change what was planned: vlans[66]" in applied.failure
    assert {name: switch.running for name, switch in site.switches.items()} == site.old_texts
