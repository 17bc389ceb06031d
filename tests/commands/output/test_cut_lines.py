"""A running line without a model is shown up to a secret word; a plan's data has all of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.base.json_output import json_text
from rocefort.change.differences_report import changes_report
from rocefort.models.change.plan import Change, ChangeKind
from rocefort.reports.writers.markdown import markdown_of

LINE = "frobnicate token hunter2 x"
CHANGE = Change(
    device="leaf01",
    kind=ChangeKind.ADDITIVE,
    edits=(),
    patch=("lldp enable",),
    reverse=("undo lldp enable",),
    running_digest="0",
    intended_digest="1",
    kept=("vlan 10 / " + LINE, "lldp timer 5"),
    unjudged=("+ interface 100GE1/0/1 / " + LINE,),
)


def test_an_output_of_a_change_is_cut() -> None:
    shown = json.loads(json_text(CHANGE))
    assert shown["kept"] == ["vlan 10 / frobnicate token ..", "lldp timer 5"]
    assert shown["unjudged"] == ["+ interface 100GE1/0/1 / frobnicate token .."]
    text = markdown_of(*changes_report((CHANGE,)))
    assert "frobnicate token .." in text
    assert "hunter2" not in text


def test_the_data_of_a_plan_is_whole() -> None:
    assert Change.model_validate_json(CHANGE.model_dump_json()) == CHANGE


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_drift_cuts_a_line(tmp_path: Path, form: str) -> None:
    (tmp_path / "leaf01.cfg").write_text(f"#\nsysname leaf01\n#\n{LINE}\n#\nreturn\n", "utf-8")
    words = ("drift", "heps", "--configs", str(tmp_path), "--patch", "--format", form)
    done = subprocess.run(
        [sys.executable, "-m", "rocefort", *words], capture_output=True, check=False, text=True
    )
    assert "frobnicate token .." in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
