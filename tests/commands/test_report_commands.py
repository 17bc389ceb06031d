"""Reports as files: every format of `check`, and the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

Rocefort = Callable[..., Any]
FORMS = ("text", "json", "sarif", "junit", "markdown")


def test_every_format_carries_the_same_findings(rocefort: Rocefort) -> None:
    done = {form: rocefort("check", "heps", "--format", form) for form in FORMS}
    assert {form: ran.code for form, ran in done.items()} == dict.fromkeys(FORMS, 0)
    plain = json.loads(done["json"].out)
    (run,) = json.loads(done["sarif"].out)["runs"]
    assert len(run["results"]) == len(plain["findings"]) > 0
    cases = ET.fromstring(done["junit"].out).iter("testcase")
    assert {case.attrib["name"].split()[0] for case in cases} >= set(plain["rules"])
    messages = {finding["message"] for finding in plain["findings"]}
    assert all(first_words(message) in done["text"].out for message in messages)
    assert len(done["markdown"].out) < 60_000


def first_words(message: str) -> str:
    return " ".join(message.split()[:3])


def test_the_page_is_one_file_with_every_configuration(rocefort: Rocefort, tmp_path: Path) -> None:
    done = rocefort("report", "heps", "--out", tmp_path / "report")
    path = tmp_path / "report" / "index.html"
    assert (done.code, done.out) == (0, f"{path}\n")
    text = path.read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")
    for name in ("spine01", "leaf08"):
        assert f"sysname {name}" in text
    assert [file.name for file in path.parent.iterdir()] == ["index.html"]


def test_a_page_that_cannot_be_written_is_one_line(rocefort: Rocefort, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = rocefort("report", "heps", "--out", tmp_path / "file" / "report")
    assert done.code == 2
    assert done.err == f"rocefort: {tmp_path}/file/report: cannot be written: Not a directory\n"


@pytest.mark.parametrize("form", FORMS)
def test_a_failing_check_fails_in_every_format(
    rocefort: Rocefort, tmp_path: Path, heps_file: Path, form: str
) -> None:
    fabric = tmp_path / "fabric.yaml"
    text = heps_file.read_text(encoding="utf-8")
    fabric.write_text(text.replace("xon_kbytes: 550", "xon_kbytes: 595"), encoding="utf-8")
    assert rocefort("check", fabric, "--format", form).code == 1
