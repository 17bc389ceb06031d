"""`expand` and `stages` as a user types them: written at once or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.paths import INVENTORY

COMMAND = Path(sys.executable).with_name("rocefort")
HEPS = (INVENTORY / "heps" / "fabric.yaml").read_bytes()


def rocefort(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(HEPS)
    return path


def test_expand_writes_what_then_checks_and_verifies(fabric: Path) -> None:
    words = ("expand", fabric, "--add-spines", 1, "--add-leaves", 1, "--servers", 1)
    dry = rocefort(*words, "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    assert fabric.read_bytes() == HEPS
    done = rocefort(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.partition("\n\n")[2] == dry.stdout.partition("\n\n")[2] != ""
    lines = HEPS.splitlines(keepends=True)
    rest = iter(fabric.read_bytes().splitlines(keepends=True))
    assert all(line in rest for line in lines)
    assert len(fabric.read_bytes().splitlines()) == len(lines) + 14
    assert rocefort("check", fabric).returncode == 0
    verified = rocefort("verify", fabric, "--engine", "embedded", "--failures", "none")
    assert "BGP sessions established: 54 of 54 ends" in verified.stdout
    assert verified.returncode == 0
    again = rocefort("diff", INVENTORY / "heps", fabric)
    assert again.stdout.count("additive") >= 3
    assert "modifying" not in again.stdout
    assert "removing" not in again.stdout


def test_a_refusal_leaves_the_file_and_ends_with_4(fabric: Path) -> None:
    done = rocefort("expand", fabric, "--add-spines", 7)
    assert (done.returncode, done.stdout) == (4, "")
    assert "room for 6" in done.stderr
    assert fabric.read_bytes() == HEPS


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_cannot_be_written_is_said(fabric: Path) -> None:
    fabric.parent.chmod(0o500)
    done = rocefort("expand", fabric, "--add-spines", 1)
    fabric.parent.chmod(0o700)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert fabric.read_bytes() == HEPS


def test_stages_write_nothing(fabric: Path) -> None:
    done = rocefort("stages", fabric, "--add-spines", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("heps: 5 states, no pair lost in any\n")
    assert fabric.read_bytes() == HEPS
