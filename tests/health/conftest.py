"""A HEPS lab for a whole module: ten emulated switches over real SSH, healed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocefort.design.derive import Derived
from rocefort.lab.replies import Reply
from rocefort.lab.session import Session
from rocefort.lab.switch import EmulatedSwitch, configured_peers
from rocefort.steps.fabric.judging import Subject, subject_of_derived
from rocefort.steps.lab.emulated_site import Rehearsal, rehearse
from rocefort.steps.rollout.health import Asked, Health, health_of

Judge = Callable[..., Health]


@pytest.fixture(scope="module")
def subject(heps: Derived) -> Subject:
    """HEPS with its texts."""
    return subject_of_derived(heps)


@pytest.fixture(scope="module")
def running_lab(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    with rehearse(subject.network, subject.texts, tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def lab(running_lab: Rehearsal) -> Iterator[Rehearsal]:
    """The lab; afterwards it runs, saves and suffers what it did before."""
    switches = running_lab.switches
    before = {name: (s.running, s.saved, s.now, s.clock) for name, s in switches.items()}
    yield running_lab
    running_lab.model.heal()
    for name, switch in switches.items():
        switch.running, switch.saved, switch.now, switch.clock = before[name]
        switch.faults = ()


@pytest.fixture
def judge(lab: Rehearsal, heps_file: Path) -> Judge:
    """`health` of some switches, all by default."""
    return lambda *devices, **asked: health_of(
        heps_file, lab.connections, Asked(devices=devices, **asked)
    )


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str | None], None]:
    """From now on every switch answers a command with a text; None: it does not know it."""
    handle = Session.handle

    def answered(command: str, text: str | None) -> None:
        def answer(session: Session, line: str) -> Reply:
            if line.strip() != command:
                return handle(session, line)
            if text is None:
                return handle(session, "display nothing that is known")
            return replace(handle(session, line), text=text)

        monkeypatch.setattr(Session, "handle", answer)

    return answered


@pytest.fixture
def typing() -> Callable[..., None]:
    """Somebody types lines on a switch, and commits and saves them."""

    def typed(switch: EmulatedSwitch, *lines: str) -> None:
        session = Session(switch, "somebody", lambda: configured_peers(switch.running))
        for line in ("system-view", *lines, "commit", "return", "save", "y"):
            reply = session.handle(line)
            assert "Error" not in reply.text, reply.text
        session.close()

    return typed
