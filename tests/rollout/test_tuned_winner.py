"""A choice that `tune` writes goes to the switches like any change, and back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.repository import ROOT
from rocefort.design.derive.derive import derive
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.fleet.running_configs import running_of
from rocefort.tune.run import SearchRequest, search
from rocefort.tune.write import write_choice

Command = Callable[..., Any]
UPDATED = re.compile(r"(?m)^!Last configuration was updated at .*\n")


@pytest.fixture
def winner(hall_text: str, tmp_path: Path) -> Path:
    """HEPS's hall2 with the choice of a search for low latency, as `tune measure` writes it."""
    shutil.copytree(ROOT / "inventory/heps", tmp_path / "heps")
    file = tmp_path / "heps/fabric.yaml"
    file.write_text(hall_text, encoding="utf-8")
    (tmp_path / "heps/demand.yaml").unlink()
    request = SearchRequest(
        fabric=file,
        objective="latency",
        method="annealing",
        evaluations=3,
        workers=1,
        results=tmp_path / "results",
    )
    searched = search(request)
    today, result = searched.result.start.settings, searched.result
    other = next(option for option in result.front if option.settings.ecn != today.ecn)
    chosen = replace(searched, result=result.model_copy(update={"chosen": other}))
    write_choice(chosen, ", measured")  # a pair of servers fills no queue: no candidate wins
    return file


def running(lab: Rehearsal, fabric: Path) -> dict[str, str]:
    """Running texts without the time of the newest commit."""
    texts = running_of(fabric, lab.connections, None)
    return {name: UPDATED.sub("", text) for name, text in texts.items()}


@pytest.mark.thorough
def test_a_choice_is_applied_with_its_gate_and_taken_back_to_the_byte(
    lab: Rehearsal, winner: Path, tmp_path: Path, command: Command
) -> None:
    before = running(lab, winner)
    plan, reach = tmp_path / "plan.json", ("--connections", lab.file)

    def run(*words: object) -> str:
        done = command(*words, *reach)
        assert done.code == 0, done.err
        return str(done.words)

    waves = ("canary", "leaves 1 of 1", "spine 1 of 2", "spine 2 of 2")
    planned = run("plan", winner, "--out", plan)
    assert all(f"{wave} " in planned for wave in waves)
    applied = run("apply", plan)
    assert "4 switches confirmed, read back and saved: leaf08, leaf07, spine01, spine02" in applied
    for wave in waves:
        assert f"{wave} gate 1 pair measured" in applied
    after = running(lab, winner)
    xoff = derive(winner).lossless.xoff_kbytes
    for text in after.values():
        assert f"xoff static {xoff} kbytes" in text
        assert "assign queue 4 model" not in text  # of AI-ECN
    assert "0 of 4 switches change" in run("plan", winner, "--out", tmp_path / "again.json")
    back = run("rollback", plan, "--apply")
    assert "4 switches confirmed, read back and saved: spine02, spine01, leaf07, leaf08" in back
    assert running(lab, winner) == before
