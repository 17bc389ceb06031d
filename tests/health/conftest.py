"""HEPS lab: ten emulated switches over real SSH, reset before each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from shared_lab import SharedLab

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.emulator.cli.dialogue import CliReply
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.rollout.live.health import HealthReport, health_of

Judge = Callable[..., HealthReport]


@pytest.fixture(scope="module")
def subject(heps: DerivedNetwork) -> ReadNetwork:
    """HEPS with its texts."""
    return subject_of_derived(heps)


@pytest.fixture
def lab(heps_shared: SharedLab) -> Iterator[Rehearsal]:
    """Switches that run HEPS."""
    yield heps_shared.lab
    heps_shared.reset()


@pytest.fixture
def judge(lab: Rehearsal, heps_file: Path) -> Judge:
    """`health` of some switches, all by default."""
    return lambda *devices, **asked: health_of(heps_file, lab.connections, devices=devices, **asked)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str | None], None]:
    """Let every switch answer a command with a text; None for an unsupported command."""
    handle = CliSession.handle

    def answered(command: str, text: str | None) -> None:
        def answer(session: CliSession, line: str) -> CliReply:
            if line.strip() != command:
                return handle(session, line)
            if text is None:
                return handle(session, "display nothing that is known")
            return replace(handle(session, line), text=text)

        monkeypatch.setattr(CliSession, "handle", answer)

    return answered


@pytest.fixture
def typing() -> Callable[..., None]:
    """Function that types lines on a switch, and commits and saves them."""

    def typed(switch: EmulatedSwitch, *lines: str) -> None:
        session = CliSession(switch, "somebody")
        for line in ("system-view", *lines, "commit", "return", "save", "y"):
            reply = session.handle(line)
            assert "Error" not in reply.text, reply.text
        session.close()

    return typed
