"""A plan of some switches, applied to emulated switches; the others stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.emulated_site import Rehearsal

Command = Callable[..., Any]
LEFT_OUT = "limited to leaf08; not in this plan: 1 switch that differs: leaf07"


def descriptions(lab: Rehearsal) -> list[str]:
    """Switches that run the change."""
    return [name for name, s in lab.switches.items() if "detector" in tree_text(s.running)]


def test_a_limited_plan_changes_its_switches_alone_and_each_output_names_the_others(
    lab: Rehearsal, described: Path, command: Command, tmp_path: Path
) -> None:
    plan, at = tmp_path / "plan.json", ("--connections", lab.file)
    ran = command("plan", described, *at, "--out", plan, "--limit", "leaf08")
    assert (ran.code, LEFT_OUT in ran.words, "1 of 4 switches change" in ran.words) == (
        0,
        True,
        True,
    )
    ran = command("apply", plan, *at)
    assert (ran.code, descriptions(lab)) == (0, ["leaf08"])
    assert ran.words.startswith(LEFT_OUT)
    assert LEFT_OUT in command("status", plan).words

    rest = tmp_path / "rest.json"
    ran = command("plan", described, *at, "--out", rest)
    assert "limited to" not in ran.words
    assert "1 of 4 switches change" in ran.words
    assert command("apply", rest, *at).code == 0
    assert descriptions(lab) == ["leaf07", "leaf08"]

    ran = command("rollback", plan, "--apply", *at)  # of the limited plan alone
    assert (ran.code, descriptions(lab)) == (0, ["leaf07"])
    assert "limited to" not in ran.words


def test_a_switch_outside_of_the_limit_that_changes_after_the_plan_stops_it(
    lab: Rehearsal, described: Path, command: Command, tmp_path: Path, typed: Callable[..., None]
) -> None:
    plan, at = tmp_path / "plan.json", ("--connections", lab.file)
    assert command("plan", described, *at, "--out", plan, "--limit", "leaf0*").code == 0
    typed("spine01", "interface LoopBack0", "description by hand", "quit")
    ran = command("apply", plan, *at)
    assert (ran.code, descriptions(lab)) == (4, [])
    assert "spine01: differs from the fabric, and the plan neither has nor lists it" in ran.err


def test_a_switch_outside_of_the_limit_that_is_not_read_stops_the_apply(
    lab: Rehearsal, described: Path, command: Command, tmp_path: Path, typed: Callable[..., None]
) -> None:
    plan, at = tmp_path / "plan.json", ("--connections", lab.file)
    typed("leaf07", "interface LoopBack0", "description by hand", "quit")
    assert command("plan", described, *at, "--out", plan, "--limit", "leaf08").code == 0
    other = tmp_path / "connections.yaml"
    text = lab.file.read_text()
    port = next(each.port for each in lab.connections.devices if each.name == "leaf07")
    assert text.count(f"port: {port}") == 1
    other.write_text(text.replace(f"port: {port}", "port: 1"))
    ran = command("apply", plan, "--connections", other)
    assert (ran.code, descriptions(lab)) == (3, [])
    assert "leaf07: 127.0.0.1:1: no connection" in ran.err
