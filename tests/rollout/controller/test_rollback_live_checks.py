"""Rollback of a rollout stopped half way, when no switch runs the fabric."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.switch import EmulatedSwitch


def thresholds(switch: EmulatedSwitch) -> set[str]:
    lines = [line.text for top in switch.running for _, line in top.walk()]
    return {line for line in lines if line.startswith("dcb pfc buffer 4")}


def test_live_checks_hold_a_way_back_against_what_it_goes_back_to(
    lab: Rehearsal, raised: Path, command: Callable[..., Any], tmp_path: Path
) -> None:
    at, plan = ("--connections", lab.file), tmp_path / "plan.json"
    canary = lab.switches["leaf08"]
    before = thresholds(canary)
    assert command("plan", raised, *at, "--out", plan).code == 0
    command("apply", plan, *at, "--approve-each-wave")
    command("approve", plan, "--wave", "canary")
    ran = command("resume", plan, *at)
    assert "1 switch confirmed, read back and saved: leaf08" in ran.words
    command("abort", plan)
    command("resume", plan, *at)
    assert thresholds(canary) != before
    # The spines beside the canary still run the old thresholds, and the fabric has the new ones.
    ran = command("rollback", plan, "--apply", *at, "--progress", "json")
    policy = "approvals: none (policy of the run that the plan rolls back)\n"
    assert (ran.code, ran.err) == (0, policy)
    ended = json.loads(ran.out.splitlines()[-1])["ended"]
    assert ended["confirmed"] == ["leaf08"]
    assert thresholds(canary) == before
