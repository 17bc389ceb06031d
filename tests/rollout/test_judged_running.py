"""`check` and `verify` of what emulated switches run now, by the intent of their fabric."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocefort.emulator.emulated_site import Rehearsal

Command = Callable[..., Any]


def test_what_the_switches_run_is_read_once_and_judged(
    lab: Rehearsal, edit_hall: Callable[..., Path], command: Command, typed: Callable[..., None]
) -> None:
    at = ("--connections", lab.file)
    assert "TXT20" not in command("check", edit_hall(), *at).out
    typed("spine01", "interface 100GE1/1/7", "mtu 1500", "quit")
    ran = command("check", edit_hall(), *at)
    assert ran.code == 1
    assert "ERROR TOP004" in ran.out
    assert "spine01 (running):" in ran.out
    assert "mtu is the default, the fabric intends 9000" in ran.words
    ran = command("verify", edit_hall(), *at, "--failures", "none")
    assert ran.code == 0
