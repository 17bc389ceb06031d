"""CONTRIBUTING.md and docs/how-to/batfish.md name what is there, and the program runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from rocefort.base.repository import ROOT
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.emulator.emulated_site import rehearse

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BATFISH = (ROOT / "docs/how-to/batfish.md").read_text(encoding="utf-8")
INVENTED = {"inventory/hardware/MODEL.yaml"}  # what a newcomer makes
FOLDERS = r"(?:docs|inventory|templates|models|validators|rocefort|tests)/"


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(rf"{FOLDERS}[\w./*-]*[\w/*]", TEXT + BATFISH)) - INVENTED)
)
def test_every_path_is_there(path: str) -> None:
    assert list(ROOT.glob(path)), f"CONTRIBUTING.md names {path}"


@pytest.mark.thorough
def test_the_live_tests_are_skipped_without_a_service_and_name_their_page() -> None:
    command = re.findall(r"(?m)^\$ ROCEFORT_BATFISH=\S+ (.*-k .*)$", BATFISH)[0]
    env = {name: value for name, value in os.environ.items() if name != "ROCEFORT_BATFISH"}
    words = [*command.split(), "-p", "no:cacheprovider"]
    done = subprocess.run(
        ["env", *words], env=env, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert re.search(r"\b1 skipped, \d+ deselected", done.stdout), done.stdout
    assert "docs/how-to/batfish.md" in done.stdout


def test_the_program_lists_what_it_says(
    heps: DerivedNetwork,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    programs = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    with rehearse(heps.network, render_all(heps.network), tmp_path):
        monkeypatch.chdir(tmp_path)
        exec(compile(programs[-1], "CONTRIBUTING.md", "exec"), {})
    told = capsys.readouterr().out.splitlines()
    assert sorted(told) == ["spine01 CE9860-4C-EI", "spine02 CE9860-4C-EI"]
