"""`-q`, `-v` and `--log-file`, before and after a command."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base import secret_masking
from rocefort.base.repository import INVENTORY
from rocefort.design.load.hardware_catalogue import _catalogue

Rocefort = Callable[..., Any]
CHECK = ("check", "heps", "--select", "PFC003")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 (INFO|ERROR) rocefort[\w.]*: .+")


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with HEPS; the test runs in it."""
    shutil.copytree(INVENTORY / "heps", tmp_path / "inventory" / "heps")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROCEFORT_LOG_FILE", raising=False)
    return tmp_path


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_verbose_reports_files_and_times_on_standard_error(option: str, rocefort: Rocefort) -> None:
    plain = rocefort(*CHECK)
    for words in ((option, *CHECK), (*CHECK, option)):
        done = rocefort(*words)
        assert (done.code, done.out) == (plain.code, plain.out)
        first, *lines = done.err.splitlines()
        assert re.fullmatch(r"\[ +\d\.\d\d s\] rocefort \S+: .*check heps --select PFC003.*", first)
        assert all(re.match(r"\[ +\d+\.\d\d s\] ", line) for line in lines)
        assert done.err.count("read inventory/heps/fabric.yaml, ") == 1
        assert "] derived heps: 10 switches\n" in done.err
    assert plain.err == ""
    assert logging.getLogger("rocefort").handlers == []


def test_a_file_is_reported_once(site: Path, rocefort: Rocefort) -> None:
    _catalogue.cache_clear()
    files = re.findall(r"\] read (\S+), ", rocefort(*CHECK, "-v").err)
    assert any(file.endswith("ce9860-4c-ei.yaml") for file in files)
    assert len(files) == len(set(files))


def test_a_log_file_is_appended_and_has_errors(site: Path, rocefort: Rocefort) -> None:
    log = site / "rocefort.log"
    assert rocefort(*CHECK, "--log-file", log).err == ""
    first = log.read_text()
    assert rocefort("--log-file", log, "check", "absent").code == 2
    text = log.read_text()
    assert text.startswith(first)
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []
    assert text.endswith(
        " ERROR rocefort: absent: no such fabric; name a fabric.yaml, its directory, or one of: eantc-hpc, eantc-storage, heps, heps-phase1, heps-phase2, redigo-direct, redigo-switch "
        "(exit code 2)\n"
    )


def test_a_variable_and_the_settings_name_the_log(
    site: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "rocefort.toml").write_text('log_file = "site.log"\n')
    rocefort(*CHECK)
    assert "derived heps" in (site / "site.log").read_text()
    monkeypatch.setenv("ROCEFORT_LOG_FILE", "other.log")
    rocefort(*CHECK)
    assert (site / "other.log").read_text().count("derived heps") == 1
    assert (site / "site.log").read_text().count("derived heps") == 1


def test_a_log_masks_secrets(site: Path, rocefort: Rocefort) -> None:
    secret_masking.remember("Sesame-4711")
    rocefort("explain", "Sesame-4711", "--log-file", "log")
    text = (site / "log").read_text()
    assert "no rule" in text
    assert "Sesame" not in text


def test_a_log_that_cannot_be_written_is_one_error(rocefort: Rocefort) -> None:
    done = rocefort(*CHECK, "--log-file", "absent/log")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "rocefort: absent/log: the log cannot be written: No such file or directory; "
        "name a file in a folder that exists\n"
    )


def test_quiet_leaves_notes_out_and_keeps_results_and_errors(rocefort: Rocefort) -> None:
    rocefort("render", "heps", "--out", "configs")
    with Path("configs/leaf01.cfg").open("a") as file:
        file.write("lldp enable\nunknown-feature 4\nreturn\n")
    saved = ("check", "--configs", "configs", "--select", "PFC003", "--format", "json")
    loud = rocefort(*saved)
    assert re.fullmatch(r"leaf01: \d+ of \d+ lines understood .*\n", loud.err)
    for words in (("-q", *saved), (*saved, "--quiet")):
        quiet = rocefort(*words)
        assert (quiet.code, quiet.out, quiet.err) == (loud.code, loud.out, "")
    assert rocefort("-q", "check", "absent").err.startswith("rocefort: absent: no such fabric")
    assert rocefort(*saved).err == loud.err
