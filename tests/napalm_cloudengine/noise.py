"""Unsolicited output at any byte of a session, and the allowed results of a driver.

A case is a flow of calls on a noisy line. Each call must return the value that it returns without
noise, with the same effect on the switch, or raise. An error after the switch has made a change
permanent must be the exception for unknown outcomes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from napalm.base.exceptions import NapalmException

from napalm_cloudengine import CloudEngineDriver
from napalm_cloudengine.errors import OutcomeUnknownError
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily

from .conftest import STARTUP
from .noisy_line import TIMEOUT_S, Noise, NoisyLine, driver_of

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
CHANGE = "interface 100GE1/0/1\n mtu 9216\n#\nvlan batch 30\n"
REFUSED = "vlan batch 30\nvlan batch 9999\n"

Call = Callable[[CloudEngineDriver], object]
CALLS: dict[str, Call] = {
    "open": lambda driver: driver.open(),
    "running": lambda driver: driver.get_config("running")["running"],
    "candidate": lambda driver: driver.get_config("candidate")["candidate"],
    "peers": lambda driver: driver.get_bgp_neighbors(),
    "cli": lambda driver: driver.cli(["display configuration commit list 1"]),
    "load": lambda driver: driver.load_merge_candidate(config=CHANGE),
    "load refused": lambda driver: driver.load_merge_candidate(config=REFUSED),
    "compare": lambda driver: driver.compare_config(),
    "discard": lambda driver: driver.discard_config(),
    "commit": lambda driver: driver.commit_config(),
    "trial": lambda driver: driver.commit_config(revert_in=600),
    "pending": lambda driver: driver.has_pending_commit(),
    "confirm": lambda driver: driver.confirm_commit(),
    "abort": lambda driver: driver.abort_commit(),
    "rollback": lambda driver: driver.rollback(),
    "save": lambda driver: driver.save_config(),
}
FLOWS = (
    ("open", "running", "load", "compare", "candidate", "trial", "pending", "confirm", "save"),
    ("open", "load", "compare", "commit", "running", "save"),
    ("open", "load", "trial", "compare", "abort", "pending", "running"),
    ("open", "load", "compare", "discard", "compare", "peers", "cli"),
    ("open", "load refused", "compare"),
    ("open", "load", "commit", "rollback", "running"),
)


@dataclass(frozen=True)
class Step:
    """Result of a call: its value or its exception, and the state of the switch."""

    call: str
    value: object
    error: BaseException | None
    state: tuple[Any, ...]  # the running, the saved and the trial's previous configuration


@dataclass(frozen=True)
class Case:
    """A flow, and the noise on its line."""

    flow: int
    noise: Noise
    echoes: bool = True
    name: str = "leaf01"

    def steps(self, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Step], NoisyLine]:
        """Run the flow up to its first failure."""
        switch = EmulatedSwitch(
            "leaf01",
            STARTUP.replace("sysname leaf01", f"sysname {self.name}"),
            SyntaxFamily.V300_G1,
            clock=lambda: 0.0,
            now=lambda: MOMENT,
        )
        line = NoisyLine(switch, self.noise, self.echoes)
        driver, taken = driver_of(line, monkeypatch), []
        for call in FLOWS[self.flow]:
            value, error = None, None
            try:
                value = CALLS[call](driver)
            except Exception as caught:  # noqa: BLE001 - judged below, whatever it is
                error = caught
            before = switch.trial.before if switch.trial else None
            taken.append(Step(call, value, error, (switch.running, switch.saved, before)))
            if error:
                break
        driver.close()
        line.hang_up()
        return taken, line


@cache
def quiet(flow: int, *, echoes: bool = True, name: str = "leaf01") -> tuple[list[Step], bytes]:
    """Return the results of the flow without noise, and all output of the switch."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        taken, line = Case(flow, {}, echoes, name).steps(monkeypatch)
    return taken, bytes(line.printed)


def verdict(case: Case, taken: Sequence[Step]) -> str:
    """Return the error in the results on a noisy line; "" when there is none."""
    intended, _ = quiet(case.flow, echoes=case.echoes, name=case.name)
    state = intended[0].state
    for step, right in zip(taken, intended, strict=False):
        if step.error is None:
            if right.error is not None:
                return f"wrong: {step.call} returned {step.value!r}, not {right.error!r}"
            if step.value != right.value or step.state != right.state:
                return f"wrong: {step.call} returned {step.value!r}, not {right.value!r}"
        elif not isinstance(step.error, NapalmException) or "\n" in str(step.error):
            return f"crash: {step.call} raised {step.error!r}"
        elif _permanent(step.state) != _permanent(state) and not _says_so(step.error):
            return f"silent: {step.call} made it permanent and raised {step.error!r}"
        state = step.state
    return ""


def _permanent(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the configuration without the trial, and the saved one."""
    running, saved, before = state
    return (running if before is None else before), saved


def _says_so(error: BaseException) -> bool:
    return isinstance(error, OutcomeUnknownError) and error.unknown.startswith(
        ("outcome unknown", "the running configuration is untouched; whether it was saved")
    )


# --- noise --------------------------------------------------------------------------------------

# The forms of `info-center timestamp` (command reference, V300R023C00), and lines of its logs.
STAMPS = (
    "Jan  1 2026 10:00:{:02}+00:00",
    "Jan  1 2026 10:00:{:02}.123",
    "Jan  1 10:00:{:02}",
    "2026-01-01 10:00:{:02}+00:00",
    "2026-01-01T10:00:{:02}.5+00:00",
    "0.2619587{:02}",
)
LOGS = (
    "%%01IFNET/4/LINK_STATE(l)[{n}]:The line protocol IP on the interface 100GE1/0/1 has entered "
    "the UP state.",
    "%%01SHELL/5/CMDRECORD(s)[{n}]:Recorded command information. (Task=VTY0, User=netops, "
    'Command="display configuration candidate changes")',
    "%%01CFM/4/CONFIG(l)[{n}]:Error: something else failed. Continue? [Y/N]:",
    "%%01BGP/3/STATE_CHG_UPDOWN(l)[{n}]:The status of the peer 10.1.1.3 changed.",
    "%%01CFM/5/ROLLBACK(s)[{n}]:Configuration rollback succeeded, and was saved successfully.",
    "CFM/1/SAVE:1.3.6.1.4.1.2011.{n} The configuration was saved successfully.",  # a trap
)
PROMPTS = ("<leaf01>", "[~leaf01]", "[*leaf01]", "[*leaf01-100GE1/0/1]")
PAUSES = (0.05, 0.5, 2.0, TIMEOUT_S + 1.0)
ANSI = (b"\x1b[K", b"\x1b[16D", b"\x1b[0m", b"\x1b[1;32m")


def some_noise(chance: random.Random) -> list[bytes | float]:
    """One piece of unsolicited output: a log line, whole or in parts, a prompt, ANSI, a pause."""
    n = chance.randrange(60)
    log = f"{chance.choice(STAMPS).format(n)} leaf01 {chance.choice(LOGS).format(n=n)}".encode()
    prompt = chance.choice(PROMPTS).encode()
    pause = chance.choice(PAUSES)
    cut = chance.randrange(1, len(log))
    pieces: list[list[bytes | float]] = [
        [b"\r\n" + log + b"\r\n"],
        [b"\r\n" + log + b"\r\n" + prompt],
        [b"\r\n", log[:cut], pause, log[cut:], b"\r\n"],
        [log],
        [log + b"\r\n"],
        [b"\r\n" + prompt],
        [prompt + b"\r\n"],
        [chance.choice(ANSI)],
        [pause],
    ]
    piece = chance.choice(pieces)
    return [*piece, chance.choice(PAUSES)] if chance.random() < 0.5 else piece


def some_case(chance: random.Random) -> Case:
    """Return a flow with noise at one byte, a few, or again and again."""
    flow = chance.randrange(len(FLOWS))
    length = len(quiet(flow)[1])
    kind = chance.random()
    if kind < 0.6:
        offsets = [chance.randrange(length)]
    elif kind < 0.9:
        offsets = [chance.randrange(length) for _ in range(chance.randrange(2, 5))]
    else:
        offsets = list(range(chance.randrange(200), 3 * length, chance.randrange(50, 800)))
    return Case(flow, {at: some_noise(chance) for at in offsets})
