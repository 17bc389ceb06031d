"""Live checks do not repeat work: sessions, readings, parsed texts and solved fabrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from nornir.core import Nornir
from shared_lab import SharedLab

from rocefort.base.clock import utc_now
from rocefort.design.subject import ReadNetwork
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.personality import LineFault
from rocefort.fleet.inventory import LIVE_SESSION
from rocefort.fleet.nornir_session import open_fleet
from rocefort.models.network.network import Network
from rocefort.models.network.observed import DeviceSeen, Observed, StateTopic
from rocefort.rollout.journal.history import AFTER, BEFORE, DURING
from rocefort.rollout.live.checks import (
    FRESH_S,
    IntendedFabric,
    LatestResult,
    LiveChecks,
    WaveChecks,
)
from rocefort.rollout.live.readings import BESIDE, as_beside, close_sessions, observe
from rocefort.validators.rules.live.switch_readings import IntendedState, intended_of

SPINES = ["spine01", "spine02"]
LEAF = "leaf03"


@dataclass
class Asked:
    """Record of the readings that a rollout's checks request."""

    network: Network
    seen: Mapping[str, DeviceSeen]
    texts: Mapping[str, str]
    now: float = 0.0
    read: list[list[str]] = field(default_factory=list)
    solved: int = 0
    needed: list[str] = field(default_factory=list)
    set_later: timedelta = timedelta()  # what this machine's clock differs by when it is read

    def observe(self, names: Sequence[str], beside: Sequence[str]) -> Observed:
        self.read.append(list(names))
        found = (as_beside(self.seen[n]) if n in beside else self.seen[n] for n in names)
        at = utc_now() + self.set_later
        return Observed(fabric=self.network.name, at=at, devices=tuple(found))

    def intended(self, network: Network) -> IntendedState:
        self.solved += 1
        return intended_of(network)

    def checks(self) -> WaveChecks:
        return WaveChecks(
            self.network,
            LiveChecks(self.observe, settle_s=0, intended=LatestResult(self.intended)),
            lambda: self.texts,
            lambda _: {},
            lambda names: self.needed.__setitem__(slice(None), names),
            lambda: self.now,
        )


@pytest.fixture(scope="module")
def whole(subject: ReadNetwork, heps_shared: SharedLab) -> Observed:
    """All switches, read once."""
    with open_fleet(subject.network, heps_shared.lab.connections) as nornir:
        names = [node.name for node in subject.network.nodes]
        return observe(nornir, subject.network, names)


@pytest.fixture
def asked(subject: ReadNetwork, whole: Observed) -> Asked:
    return Asked(subject.network, whole.by_name, subject.texts)


def test_who_stands_beside_two_waves_is_read_once_between_them(asked: Asked) -> None:
    checks = asked.checks()
    for wave in (["leaf03"], ["leaf04"]):
        for when in (BEFORE, DURING, AFTER):
            assert checks(wave, when, allow_sick=False).summary == "3 switches read"
        assert asked.needed == [*SPINES, *wave]  # whose sessions stay open
    three, four = [*SPINES, "leaf03"], [*SPINES, "leaf04"]
    assert asked.read == [three, three, three, ["leaf04"], four, four]


def test_an_old_reading_is_not_taken_for_the_next_waves(asked: Asked) -> None:
    checks = asked.checks()
    checks(["leaf03"], AFTER, allow_sick=False)
    asked.now += FRESH_S + 1
    checks(["leaf04"], BEFORE, allow_sick=False)
    assert asked.read[-1] == [*SPINES, "leaf04"]


@pytest.mark.parametrize("days", [-1, 1])
def test_a_reading_from_before_this_machines_clock_was_set_is_not_taken(
    asked: Asked, days: int
) -> None:
    checks, asked.set_later = asked.checks(), timedelta(days=days)
    checks(["leaf03"], AFTER, allow_sick=False)
    checks(["leaf04"], BEFORE, allow_sick=False)
    assert asked.read[-1] == [*SPINES, "leaf04"]


def test_what_was_read_before_something_was_done_is_not_taken(asked: Asked) -> None:
    checks = asked.checks()
    checks(["leaf03"], AFTER, allow_sick=False)
    checks(["leaf04"], DURING, allow_sick=False)
    checks(["leaf05"], BEFORE, allow_sick=False)
    assert asked.read[1:] == [[*SPINES, "leaf04"], [*SPINES, "leaf05"]]


def test_a_switch_that_could_not_be_read_is_read_again(asked: Asked) -> None:
    checks = asked.checks()
    spine = asked.seen["spine02"].model_copy(update={"failed": ("no session",)})
    asked.seen = {**asked.seen, "spine02": spine}
    checks(["leaf03"], AFTER, allow_sick=True)
    checks(["leaf04"], BEFORE, allow_sick=True)
    assert asked.read[-1] == ["spine02", "leaf04"]


def test_a_switch_of_the_last_wave_counts_as_one_beside_the_next(whole: Observed) -> None:
    seen = as_beside(whole.by_name["leaf03"])
    assert {topic for topic in StateTopic if topic not in seen.missing} == set(BESIDE)
    assert seen.ports == whole.by_name["leaf03"].ports
    assert seen.thresholds is None


def test_a_fabric_is_solved_anew_only_when_a_text_is_another(asked: Asked) -> None:
    checks = asked.checks()
    for when in (BEFORE, DURING, AFTER):
        checks(["leaf03"], when, allow_sick=False)
    assert asked.solved == 1
    text = asked.texts["leaf04"].replace("xoff static 600", "xoff static 640")
    asked.texts = {**asked.texts, "leaf04": text}
    checks(["leaf04"], DURING, allow_sick=False)
    assert asked.solved == 2


def test_a_text_that_is_the_same_is_parsed_once(subject: ReadNetwork) -> None:
    meant = IntendedFabric(subject.network)
    first = meant(subject.texts)
    assert meant(dict(subject.texts)) is first
    text = subject.texts["leaf03"].replace("xoff static 600", "xoff static 640")
    other = meant({**subject.texts, "leaf03": text})
    changed = [a.name for a, b in zip(other.nodes, first.nodes, strict=True) if a is not b]
    assert changed == ["leaf03"]
    assert meant(subject.texts).nodes == first.nodes


@pytest.fixture
def nornir(subject: ReadNetwork, lab: Rehearsal) -> Iterator[Nornir]:
    with open_fleet(subject.network, lab.connections) as fleet:
        yield fleet


def read_leaf(nornir: Nornir, network: Network) -> DeviceSeen:
    return observe(nornir, network, [LEAF], keep=True).by_name[LEAF]


def test_a_session_that_is_kept_is_used_again(
    nornir: Nornir, subject: ReadNetwork, lab: Rehearsal
) -> None:
    switch = lab.switches[LEAF]
    read_leaf(nornir, subject.network)
    session = switch.last_session
    assert read_leaf(nornir, subject.network).failed == ()
    assert switch.last_session == session
    close_sessions(nornir.inventory.hosts.values())
    assert LIVE_SESSION not in nornir.inventory.hosts[LEAF].connections


def test_a_session_that_was_lost_meanwhile_is_no_finding(
    nornir: Nornir, subject: ReadNetwork, lab: Rehearsal
) -> None:
    switch = lab.switches[LEAF]
    read_leaf(nornir, subject.network)
    session = switch.last_session
    switch.faults = (LineFault("drop-line", "display version", times=1),)
    assert read_leaf(nornir, subject.network).failed == ()
    assert switch.last_session == session + 1


def test_a_switch_that_drops_every_session_is_one(
    nornir: Nornir, subject: ReadNetwork, lab: Rehearsal
) -> None:
    read_leaf(nornir, subject.network)
    lab.switches[LEAF].faults = (LineFault("drop-line", "display version"),)
    assert read_leaf(nornir, subject.network).missing.keys() == set(StateTopic)
