"""`remove` and `rename` as a user types them: proof, steps in their order, and the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.repository import INVENTORY

Rocefort = Callable[..., Any]
HEPS = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_text(HEPS, encoding="utf-8")
    return path


def in_order(text: str, *parts: str) -> bool:
    """Whether the parts follow each other, however lines are wrapped."""
    words = " ".join(text.split())
    places = [words.find(" ".join(part.split())) for part in parts]
    return -1 not in places and places == sorted(places)


def test_a_leaf_of_the_middle_goes_and_nothing_else_moves(rocefort: Rocefort, fabric: Path) -> None:
    dry = rocefort("remove", fabric, "leaf05", "readout01", "--dry-run")
    assert (dry.code, dry.err) == (0, "")
    assert fabric.read_text(encoding="utf-8") == HEPS
    done = rocefort("remove", fabric, "leaf05", "readout01")
    assert (done.code, done.err) == (0, "")
    assert done.out.partition("\n\n")[2] == dry.out.partition("\n\n")[2] != ""
    assert in_order(
        done.out,
        "heps shrinks: 2 spines x 8 leaves -> 2 spines x 7 leaves",
        "capacity.retired_leaves keeps id 5 free: no other switch gets them",
        "leaf05           5  CE6866-48S8CQ-P",
        "stays  1386 lines in their order, 55 addresses, 9 AS numbers",
        "goes   34 lines: 2 interfaces and 2 BGP peers of them",
        "step 2: Drain leaf05",
        "step 4: Take leaf05 and readout01 out of the connections file: `plan` refuses names that the "
        "fabric does not have.",
        "step 5: Apply the change: spine01 and spine02 lose their ports and peers to it.",
        "step 6: Switch leaf05 off and unplug 2 cables",
    )
    assert "before `plan`" not in done.words
    assert rocefort("check", fabric).code == 0
    again = rocefort("diff", INVENTORY / "heps", fabric)
    assert "additive" not in again.out and "modifying" not in again.out
    assert again.out.count("removing, 15 commands") == 2
    following = rocefort("expand", fabric, "--add-leaves", 1, "--like", "leaf06")
    assert "leaf09       9  CE6866-48S8CQ-P" in following.out


def test_the_last_redundancy_and_a_server_of_a_leaf_that_stays(
    rocefort: Rocefort, fabric: Path
) -> None:
    done = rocefort("remove", fabric, "spine02", "storage01")
    assert done.code == 0
    assert in_order(
        done.out,
        "a comment above a removed item stays: # Assumed from here: one storage server",
        "ECMP width from leaf to leaf                     2           1",
        "warning: one spine is left: its failure cuts every leaf off; `verify` lists the server",
        "step 1: Drain spine02",
        "storage01: stop its work, plan and apply the change, then unplug leaf04 100GE1/0/2",
        "before `plan`: take spine02 and storage01 out of the connections file",
    )
    verified = rocefort("verify", fabric, "--engine", "embedded", "--failures", "single")
    assert "spine01" in verified.out


def test_a_refusal_leaves_the_file_and_ends_with_4(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("remove", fabric, "leaf08")
    assert (done.code, done.out) == (4, "")
    assert in_order(
        done.err,
        "leaf08: 1 server would lose the leaf: readout04; move them to another leaf first",
        "rollout.canary: leaf08 is the canary of rollouts; name another leaf first",
        "it cannot be changed so; the file is untouched",
    )
    assert fabric.read_text(encoding="utf-8") == HEPS
    unknown = rocefort("remove", fabric, "leaf8")
    assert (unknown.code, unknown.err) == (
        2,
        "rocefort: no spine, leaf or server 'leaf8'; did you mean 'leaf08'?\n",
    )


def test_a_switch_renamed_there_and_back_is_the_same_file(rocefort: Rocefort, fabric: Path) -> None:
    demand = fabric.with_name("demand.yaml")
    demand.write_text("flows:\n  - senders: {leaves: [leaf08]}\n", encoding="utf-8")
    done = rocefort("rename", fabric, "leaf08", "edge")
    assert (done.code, done.err) == (0, "")
    assert in_order(
        done.out,
        "heps: leaf08 is renamed edge",
        "3 values changed, every other byte kept",
        "rollout.canary, leaves[7].name, servers[11].leaf",
        "demand.yaml still names leaf08: - senders: {leaves: [leaf08]}",
        "spine01, spine02, edge  leaf08                edge",
        "stays    62 addresses, 10 AS numbers, 44 ports, 32 BGP session ends, 16 cables",
        "changes  nothing but names and descriptions",
        "step 1: Give leaf08 its new name by hand",
    )
    assert rocefort("check", fabric).code == 0
    assert rocefort("rename", fabric, "edge", "leaf08").code == 0
    assert fabric.read_text(encoding="utf-8") == HEPS


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("no", '"no"'),
        ("on", '"on"'),
        ("2026-01-01", '"2026-01-01"'),
        ("1e3", '"1e3"'),
        ("leaf-9", "leaf-9"),
    ],
)
def test_a_name_that_yaml_may_read_as_another_type_is_quoted(
    rocefort: Rocefort, fabric: Path, name: str, written: str
) -> None:
    assert rocefort("rename", fabric, "k8sgn08", name).code == 0
    assert f"name: {written}\n" in fabric.read_text()


def test_a_finding_under_a_new_name_is_not_a_new_one(rocefort: Rocefort, fabric: Path) -> None:
    """A rename is possible in a fabric with errors, also of the switch that has one."""
    text = HEPS.replace("xoff_kbytes: 600", "xoff_kbytes: 9000")
    fabric.write_text(text, encoding="utf-8")
    before = rocefort("check", fabric, "--format", "json")
    findings = json.loads(before.out)["findings"]
    switch = next(one["where"]["device"] for one in findings if one["severity"] == "error")
    done = rocefort("rename", fabric, switch, "gpu01")
    assert (done.code, done.err) == (0, "")
    assert "check    no new error, 0 new warnings" in done.out
    assert rocefort("check", fabric).code == 1


def test_a_renamed_server_changes_one_description(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("rename", fabric, "k8sgn08", "gpu08", "--dry-run")
    assert in_order(
        done.out,
        "not written; 1 value would change",
        "leaf01  to k8sgn08  to gpu08",
        "before `plan`: write gpu08 for k8sgn08 in the connections file",
    )
    assert fabric.read_text(encoding="utf-8") == HEPS
    used = rocefort("rename", fabric, "k8sgn08", "leaf01")
    assert (used.code, used.err) == (2, "rocefort: 'leaf01' is in use; choose another name\n")
