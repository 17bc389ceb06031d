"""`expand` and `stages` as a user types them: written at once or not at all."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base import repository
from rocefort.base.errors import Refused
from rocefort.base.repository import INVENTORY, Site, refuse_shipped

Rocefort = Callable[..., Any]
IDLE = "no port has VLAN 100: its gateway is down, and its prefix is not announced"
HEPS = (INVENTORY / "heps" / "fabric.yaml").read_bytes()


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(HEPS)
    return path


def test_expand_writes_what_then_checks_and_verifies(rocefort: Rocefort, fabric: Path) -> None:
    words = (
        "expand",
        fabric,
        "--add-spines",
        1,
        "--add-leaves",
        1,
        "--servers",
        1,
        "--like",
        "leaf08",
    )
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


def git(*arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *arguments], check=True, capture_output=True)


def test_a_leaf_ahead_of_its_servers_is_one_warning(
    rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rocefort("new", "dc", "--spines", 2, "--leaves", 2, "--directory", ".").code == 0
    fabric = "dc/fabric.yaml"
    for command in (("check",), ("verify", "--engine", "embedded"), ("report", "--out", "page")):
        done = rocefort(*command, fabric)
        assert (done.code, command, done.err) == (0, command, "")
    found = json.loads(rocefort("check", fabric, "--format", "json").out)["findings"]
    idle = [(one["where"]["device"], one["message"]) for one in found if one["rule"] == "TOP008"]
    assert idle == [("leaf001", IDLE), ("leaf002", IDLE)]

    git("init", "--quiet", ".")
    git("add", "dc")
    git("commit", "--quiet", "--message", "two leaves")
    grown = rocefort("expand", fabric, "--add-leaves", 1)
    assert (grown.code, f"warning: TOP008 leaf003: {IDLE}" in grown.words) == (0, True)
    verified = rocefort("verify", fabric, "--engine", "embedded")
    assert (verified.code, "0 errors, 0 warnings" in verified.words) == (0, True)
    assert rocefort("review", fabric, "--base", "HEAD").code == 0
    (review,) = json.loads((tmp_path / "review" / "review.json").read_text("utf-8"))["reviews"]
    new = {one["rule"]: one for one in review["findings"]["new"]}
    assert sorted(new) == ["SEC013", "TOP008"]  # of every leaf: no ACL on its terminal lines
    assert (new["TOP008"]["severity"], new["TOP008"]["message"]) == ("warning", IDLE)
    assert new["TOP008"]["where"]["device"] == "leaf003"


@pytest.mark.parametrize(
    "words",
    [
        ("expand", "heps", "--add-spines", "1"),
        ("rename", "heps", "leaf06", "leaf-b06"),
        ("remove", "heps", "readout04"),
        ("beamline", "add", "heps-phase1", "bl16", "--like", "bl15", "--leaf", "leaf07"),
    ],
)
def test_a_fabric_that_rocefort_ships_is_not_edited_from_elsewhere(
    rocefort: Rocefort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = INVENTORY / next(word for word in words if word.startswith("heps")) / "fabric.yaml"
    before = file.read_bytes()
    done = rocefort(*words)
    assert (done.code, done.out) == (4, "")
    assert (
        "Rocefort ships it, and does not edit it; make a repository of your own with `rocefort "
        "init`, and copy the fabric there"
    ) in " ".join(done.err.split())
    assert file.read_bytes() == before


def test_an_installed_package_is_not_edited_from_within(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A wheel has no code beside its inventory; a clone has, and may be edited."""
    inventory = tmp_path / "rocefort" / "inventory"
    file = inventory / "heps" / "fabric.yaml"
    file.parent.mkdir(parents=True)
    root = inventory.parent
    for name, value in (("INVENTORY", inventory), ("ROOT", root), ("SHIPPED", Site(root))):
        monkeypatch.setattr(repository, name, value)
    monkeypatch.chdir(root)
    with pytest.raises(Refused):
        refuse_shipped(file)
    refuse_shipped(tmp_path / "inventory" / "heps" / "fabric.yaml")
    (root / "rocefort").mkdir()
    (root / "rocefort" / "__init__.py").touch()
    refuse_shipped(file)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused):
        refuse_shipped(file)
