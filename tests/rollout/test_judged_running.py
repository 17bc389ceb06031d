"""`check` and `verify` of what emulated switches run now, by the intent of their fabric."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocefort.dialects.vrp.text.config_tree import tree_text
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


def test_drift_of_the_switches_is_that_of_their_saved_texts(
    lab: Rehearsal,
    edit_hall: Callable[..., Path],
    command: Command,
    typed: Callable[..., None],
    tmp_path: Path,
) -> None:
    fabric, at = edit_hall(), ("--connections", lab.file)
    assert command("drift", fabric, *at).out == "no drift: 4 switches as intended\n"
    typed("spine01", "interface 100GE1/1/7", "mtu 4000", "quit")
    ran = command("drift", fabric, *at)
    assert ran.code == 1
    assert "spine01 (running):" in ran.out
    (saved := tmp_path / "configs").mkdir()
    for name, switch in lab.switches.items():
        (saved / f"{name}.cfg").write_text(tree_text(switch.running), encoding="utf-8")
    kept = command("drift", fabric, "--configs", saved, *at)  # the directory counts, as for `plan`
    assert (kept.code, kept.out.splitlines()[:2]) == (1, ran.out.splitlines()[:2])
    assert f"{saved}/spine01.cfg:" in kept.out
    ran = command("drift", fabric)
    assert (ran.code, ran.err) == (
        2,
        "rocefort: neither the switches nor a directory of their texts is named; name one of "
        "them: --connections FILE, or --configs DIR\n",
    )
