"""`expand` and `stages` as a user types them: written at once or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.paths import INVENTORY

Rocefort = Callable[..., Any]
HEPS = (INVENTORY / "heps" / "fabric.yaml").read_bytes()


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(HEPS)
    return path


def test_expand_writes_what_then_checks_and_verifies(rocefort: Rocefort, fabric: Path) -> None:
    words = ("expand", fabric, "--add-spines", 1, "--add-leaves", 1, "--servers", 1)
    dry = rocefort(*words, "--dry-run")
    assert (dry.code, dry.err) == (0, "")
    assert fabric.read_bytes() == HEPS
    done = rocefort(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.partition("\n\n")[2] == dry.out.partition("\n\n")[2] != ""
    lines = HEPS.splitlines(keepends=True)
    rest = iter(fabric.read_bytes().splitlines(keepends=True))
    assert all(line in rest for line in lines)
    assert len(fabric.read_bytes().splitlines()) == len(lines) + 14
    assert rocefort("check", fabric).code == 0
    verified = rocefort("verify", fabric, "--engine", "embedded", "--failures", "none")
    assert "BGP sessions established: 54 of 54 ends" in verified.out
    assert verified.code == 0
    again = rocefort("diff", INVENTORY / "heps", fabric)
    assert again.out.count("additive") >= 3
    assert "modifying" not in again.out
    assert "removing" not in again.out


def test_a_refusal_leaves_the_file_and_ends_with_4(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("expand", fabric, "--add-spines", 7)
    assert (done.code, done.out) == (4, "")
    assert "room for 6" in done.err
    assert fabric.read_bytes() == HEPS


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_cannot_be_written_is_said(rocefort: Rocefort, fabric: Path) -> None:
    fabric.parent.chmod(0o500)
    done = rocefort("expand", fabric, "--add-spines", 1)
    fabric.parent.chmod(0o700)
    assert done.code == 2
    assert "cannot be written" in done.err
    assert fabric.read_bytes() == HEPS


def test_stages_write_nothing(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("stages", fabric, "--add-spines", 1)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("heps: 5 states, no pair lost in any\n")
    assert fabric.read_bytes() == HEPS
