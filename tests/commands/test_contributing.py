"""CONTRIBUTING.md names what is there, and its program runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocefort.design.derive import Derived
from rocefort.dialects.vrp.texts import render_all
from rocefort.paths import ROOT
from rocefort.steps.lab.emulated_site import rehearse

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
INVENTED = {"inventory/hardware/MODEL.yaml"}  # what a newcomer makes
FOLDERS = r"(?:inventory|templates|models|validators|rocefort|tests)/"


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(rf"{FOLDERS}[\w./*-]*[\w/*]", TEXT)) - INVENTED)
)
def test_every_path_is_there(path: str) -> None:
    assert list(ROOT.glob(path)), f"CONTRIBUTING.md names {path}"


def test_the_program_lists_what_it_says(
    heps: Derived,
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
