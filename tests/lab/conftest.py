"""Fixtures: a switch whose clock only a test moves, and a driver of its dialogue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

STARTUP = """#
sysname leaf01
#
interface 100GE1/0/1
 description to spine01
 undo portswitch
 mtu 9000
 ip address 10.1.0.1 255.255.255.254
#
interface 100GE1/0/2
#
interface LoopBack0
 ip address 10.0.0.11 255.255.255.255
#
bgp 65101
 peer 10.1.0.0 as-number 65001
 #
 ipv4-family unicast
  peer 10.1.0.0 enable
#
return
"""


@dataclass
class Clock:
    """Seconds that pass only when a test moves them."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


class Talk:
    """One session, driven line by line; keeps the text of a terminal."""

    def __init__(self, switch: EmulatedSwitch, user: str = "netops") -> None:
        self.session = CliSession(switch, user)
        self.screen = ""

    def __call__(self, *lines: str) -> str:
        """Type lines; returns the output of the last one."""
        text = ""
        for line in lines:
            prompt = "" if self.session.question else self.session.prompt
            reply = self.session.handle(line)
            text = reply.text
            self.screen += f"{prompt}{line}\n{text}\n"
        return text

    @property
    def prompt(self) -> str:
        return self.session.prompt


class MakeSwitch(Protocol):
    def __call__(self, **options: Any) -> EmulatedSwitch: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_switch(clock: Clock) -> MakeSwitch:
    def make(**options: Any) -> EmulatedSwitch:
        settings: dict[str, Any] = {
            "name": "leaf01",
            "startup": STARTUP,
            "family": SyntaxFamily.V300_G1,
            "clock": clock,
            "now": lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        }
        return EmulatedSwitch(**(settings | options))

    return make


@pytest.fixture
def switch(make_switch: MakeSwitch) -> EmulatedSwitch:
    return make_switch()


@pytest.fixture
def open_talk() -> Callable[[EmulatedSwitch], Talk]:
    return Talk
