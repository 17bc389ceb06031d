"""Every command that derives a fabric uses the hardware and profiles of its site, found by name."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.repository import HARDWARE, PROFILES

Rocefort = Callable[..., Any]
Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]
SHIPPED_MODEL, MODEL = "CE8851-32CQ8DQ-P", "CE8851-MINE"
ACCESS = ("--connections", "connections.yaml")
CONNECTIONS = """\
known_hosts: known_hosts
devices:
  - {name: leaf03, host: 10.255.0.13, user: netops, credential: "env:NETOPS_PASSWORD"}
servers:
  - {name: transfer01, host: 10.255.1.1, user: root, credential: "env:X", rdma_device: mlx5_0, gid_index: 3}
"""


@pytest.fixture
def site(clone: Clone) -> Clone:
    """HEPS in a site with an own model, a shared own profile and a profile instead of a shipped one.

    The fabrics `heps` and `other` share all of them. The own profile has another xoff, the other one another timer of DCQCN.
    """
    inventory = clone.top / "inventory"
    text = clone.fabric.read_text().replace(f"hardware: {SHIPPED_MODEL}", f"hardware: {MODEL}")
    block = re.search(r"(?ms)^profiles:\n(  lossless:\n.*?)\n\n", text)
    assert block
    own = re.sub("(?m)^  ", "", block[1]).replace("xoff_kbytes: 600", "xoff_kbytes: 630")
    files = {
        "heps/fabric.yaml": text.replace(block[0], ""),
        "other/fabric.yaml": text.replace(block[0], "").replace("fabric: heps", "fabric: other"),
        "hardware/mine.yaml": (HARDWARE / f"{SHIPPED_MODEL.lower()}.yaml")
        .read_text()
        .replace(f"model: {SHIPPED_MODEL}", f"model: {MODEL}"),
        "profiles/ours.yaml": own + "\n",
        "profiles/congestion.yaml": (PROFILES / "congestion_control.yaml")
        .read_text()
        .replace("increase_timer_us: 300", "increase_timer_us: 333"),
    }
    for name, content in files.items():
        (inventory / name).parent.mkdir(exist_ok=True)
        (inventory / name).write_text(content)
    clone.commit("own hardware and profiles")
    (clone.top / "connections.yaml").write_text(CONNECTIONS)
    return clone


NEW = ("--add-leaves", "1", "--like", "leaf03", "--hardware", f"leaves={MODEL}")
ENGINE = ("--engine", "embedded")
# Commands, and a pattern of their output. Without the data of the site each of them ends with 2.
TABLE: list[tuple[tuple[str, ...], str]] = [
    (("check", "FABRIC"), "^congestion control profile connectx-dcqcn is read from inventory/prof"),
    (("render", "FABRIC", "--device", "leaf03"), "xoff static 630 kbytes"),
    (("show", "FABRIC", "devices"), MODEL),
    (("show", "FABRIC", "profiles"), "rpg_time_reset +333"),
    (("facts", "FABRIC"), MODEL),
    (("verify", "FABRIC", *ENGINE), "124 of 124"),
    (("verify", "FABRIC", "--against", "HEAD:", *ENGINE), "124 of 124"),
    (("trace", "FABRIC", "transfer01", "storage01"), "2 delivered"),
    (("capacity", "FABRIC"), "bisection +800"),
    (("report", "FABRIC", "--out", "OUT"), "out/"),
    (("diff", "HEAD:FABRIC", "FABRIC"), "^nothing changes$"),
    (("diff", "FABRIC", "HEAD:"), "^nothing changes$"),
    (("diff", "HEAD~1:inventory/heps", "FABRIC"), "600 .*630"),
    (("diff", "RUNNING", "FABRIC"), "^nothing changes$"),
    (("drift", "FABRIC", "--configs", "RUNNING"), "no drift"),
    (("expand", "FABRIC", *NEW, "--dry-run"), MODEL),
    (("stages", "FABRIC", *NEW), "leaf09"),
    (("remove", "FABRIC", "transfer01", "--dry-run"), "transfer01"),
    (("rename", "FABRIC", "leaf03", "leaf33", "--dry-run"), "leaf33"),
    (("day0", "FABRIC", "leaf03"), "^day 0 of leaf03"),
    (("replace", "FABRIC", "leaf03", *ACCESS), MODEL),
    (("connections", "FABRIC", "--out", "OUT"), "out$"),
    (("host", "render", "FABRIC"), "333"),
    (("rdma", "plan", "FABRIC", "--servers", "transfer01,storage01"), "transfer01"),
    (("plan", "FABRIC", *ACCESS, "--running", "RUNNING"), "^sealed in plan.json"),
    (("import", "RUNNING", "--out", "IMPORTED", "--hardware", f"leaf03={MODEL}"), "^written to"),
    (("review", "FABRIC", "--base", "HEAD~1", *ENGINE, "--out", "OUT"), "1 change of lossless"),
]


@pytest.mark.parametrize(("words", "pattern"), TABLE, ids=lambda value: " ".join(value[:2]))
def test_each_command_uses_the_data_of_the_site(
    rocefort: Rocefort, site: Clone, tmp_path: Path, words: tuple[str, ...], pattern: str
) -> None:
    given = {name: str(tmp_path / name.lower()) for name in ("OUT", "RUNNING")}
    given |= {"FABRIC": "heps", "HEAD:FABRIC": "HEAD:heps"}
    given["IMPORTED"] = "inventory/imported"
    if "RUNNING" in words:
        assert rocefort("render", "heps", "--out", given["RUNNING"]).code == 0
    done = rocefort(*(given.get(word, word) for word in words))
    assert done.code == 0, done.err
    assert re.search(pattern, done.out, re.MULTILINE), done.out


def test_a_site_is_found_from_any_folder_of_it_and_from_outside(
    rocefort: Rocefort, site: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = rocefort("render", "heps").out
    assert "xoff static 630 kbytes" in texts
    below = site.top / "lab" / "notes"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert rocefort("render", "heps").out == texts
    (below / "heps").mkdir()  # a directory of another purpose
    assert rocefort("render", "heps").out == texts
    (below / "heps").rmdir()
    assert rocefort("diff", "HEAD:heps", "heps").out == "nothing changes\n"
    assert rocefort("diff", "HEAD:", "heps").out == "nothing changes\n"
    assert rocefort("review", "heps", *ENGINE, "--out", tmp_path / "out").code == 0
    monkeypatch.chdir(tmp_path)
    assert rocefort("render", site.top / "inventory" / "heps").out == texts
    assert rocefort("diff", "HEAD:", site.fabric).out == "nothing changes\n"


def test_two_fabrics_of_a_site_use_one_profile(rocefort: Rocefort, site: Clone) -> None:
    texts = [rocefort("render", name, "--device", "leaf03").out for name in ("heps", "other")]
    assert texts[0] == texts[1]
    assert "xoff static 630 kbytes" in texts[0]
    own = site.top / "inventory" / "profiles" / "ours.yaml"
    own.write_text(own.read_text().replace("xoff_kbytes: 630", "xoff_kbytes: 640"))
    texts = [rocefort("render", name, "--device", "leaf03").out for name in ("heps", "other")]
    assert texts[0] == texts[1]
    assert "xoff static 640 kbytes" in texts[0]
    assert "xoff_kbytes" in rocefort("diff", "HEAD:other", "other").out


def test_a_review_covers_the_fabrics_that_use_a_changed_model(
    rocefort: Rocefort, site: Clone, tmp_path: Path
) -> None:
    """A file has any name; what counts is its model."""
    other = site.top / "inventory" / "other" / "fabric.yaml"
    other.write_text(other.read_text().replace(f"hardware: {MODEL}", f"hardware: {SHIPPED_MODEL}"))
    site.commit("the model is used by one fabric")
    out = tmp_path / "out"
    for file, fabrics in (
        ("hardware/mine.yaml", ["heps"]),
        ("profiles/ours.yaml", ["heps", "other"]),
        ("hardware/families.yaml", ["heps", "other"]),
        ("catalogue/own.yaml", ["heps", "other"]),
    ):
        path = site.top / "inventory" / file
        path.parent.mkdir(exist_ok=True)
        if path.name == "families.yaml":
            shutil.copy(HARDWARE / path.name, path)
        text = path.read_text() if path.is_file() else "commands: []\n"
        path.write_text(text + "# changed\n")
        assert rocefort("review", *ENGINE, "--failures", "none", "--out", out).code == 0
        reviews = json.loads((out / "review.json").read_text())["reviews"]
        assert [review["fabric"] for review in reviews] == fabrics
        site.commit(f"changed {file}")


def test_a_site_in_a_subfolder_of_a_repository(
    rocefort: Rocefort, site: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = site.top / "sites" / "north"
    inner.mkdir(parents=True)
    site.git("mv", "inventory", str(inner))
    site.commit("moved")
    fabric = inner / "inventory" / "heps"
    assert rocefort("diff", "HEAD:sites/north/inventory/heps", fabric).out == "nothing changes\n"
    assert rocefort("diff", "HEAD:", fabric).out == "nothing changes\n"
    monkeypatch.chdir(inner)
    assert rocefort("diff", "HEAD:heps", "heps").out == "nothing changes\n"
    own = inner / "inventory" / "profiles" / "ours.yaml"
    own.write_text(own.read_text().replace("xoff_kbytes: 630", "xoff_kbytes: 640"))
    out = tmp_path / "out"
    assert rocefort("review", "heps", *ENGINE, "--out", out).code == 0
    (review,) = json.loads((out / "review.json").read_text())["reviews"]
    (change,) = review["intent"]
    assert change["path"] == "sites/north/inventory/profiles/ours.yaml: lossless.heps.xoff_kbytes"
    places = {line["place"] for switch in review["lines"] for line in switch["lines"]}
    assert places == {change["after_at"], f"HEAD:{change['before_at'].removeprefix('HEAD:')}"}


def test_a_revision_without_inventory_does_not_use_that_of_the_worktree(
    rocefort: Rocefort, site: Clone
) -> None:
    site.git("rm", "-r", "--quiet", "--cached", "inventory/hardware")
    site.git("commit", "--quiet", "-m", "without the model")
    done = rocefort("diff", "HEAD:heps", "heps")
    assert done.code == 2
    assert f"no hardware '{MODEL}'" in done.err or f"{MODEL}" in done.err
    assert "HEAD:inventory/heps/fabric.yaml" in done.err


def test_the_only_fabric_is_the_default(
    rocefort: Rocefort, site: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = rocefort("check")
    assert (two.code, two.err) == (
        2,
        "rocefort: inventory: no fabric is named, and 2 are here; name one of: heps, other\n",
    )
    site.git("rm", "-r", "--quiet", "inventory/other")
    (site.top / "lab").mkdir()
    monkeypatch.chdir(site.top / "lab")
    for words in (
        ("check",),
        ("render",),
        ("show", "devices"),
        ("verify", *ENGINE),
        ("trace", "transfer01", "storage01"),
        ("capacity",),
        ("facts",),
        ("host", "render"),
        ("expand", *NEW, "--dry-run"),
    ):
        split = 2 if words[0] == "host" else 1
        named = (*words[:split], "heps", *words[split:])
        assert rocefort(*words).out == rocefort(*named).out, words
    wrong = rocefort("show", "heps")
    assert wrong.code == 2
    assert wrong.err.startswith("rocefort: show heps: no table is named; known here: addresses, ")
    monkeypatch.chdir("/")
    assert rocefort("check").err == (
        "rocefort: /: no fabric is here; name one; `rocefort new NAME` writes one, "
        "`rocefort init` a repository for one\n"
    )


def test_new_writes_into_the_inventory_of_the_site(
    rocefort: Rocefort, site: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.top / "lab").mkdir()
    monkeypatch.chdir(site.top / "lab")
    size = ("--spines", 2, "--leaves", 2, "--leaf-hardware", MODEL)
    made = rocefort("new", "fresh", *size)
    assert made.code == 0, made.err
    assert (site.top / "inventory" / "fresh" / "fabric.yaml").is_file()
    assert MODEL in rocefort("show", "fresh", "devices").out
    wrong = rocefort("new", "wrong", *size[:-1], "CE8851-MIN")
    assert wrong.err.endswith(f"did you mean '{MODEL}'?\n")
    monkeypatch.chdir(tmp_path)
    assert rocefort("new", "alone", *size[:-2]).out == "inventory/alone/fabric.yaml\n"


def test_apply_refuses_a_plan_after_a_change_of_the_site(
    rocefort: Rocefort, site: Clone, tmp_path: Path
) -> None:
    running = tmp_path / "running"
    assert rocefort("render", "heps", "--out", running).code == 0
    assert rocefort("plan", "heps", *ACCESS, "--running", running).code == 0
    model = site.top / "inventory" / "hardware" / "mine.yaml"
    more = model.with_name("more.yaml")
    more.write_text(model.read_text().replace(MODEL, "CE8851-MORE"))
    done = rocefort("apply", "plan.json", *ACCESS)
    said = "since the plan was made; plan again\n"
    assert (done.code, done.err) == (4, f"rocefort: {more}: is new {said}")
    more.unlink()
    model.write_text(model.read_text() + "# a comment\n")
    done = rocefort("apply", "plan.json", *ACCESS)
    assert (done.code, done.err) == (4, f"rocefort: {model}: has changed {said}")


NOTE = "congestion control profile connectx-dcqcn is read from inventory/profiles/congestion.yaml"


@pytest.mark.parametrize("words", [("verify", *ENGINE, "--failures", "none"), ("report",)])
def test_a_file_that_precedes_a_shipped_one_is_a_note(
    rocefort: Rocefort, site: Clone, tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = ("--out", tmp_path / "out") if words[0] == "report" else ()
    done = rocefort(words[0], "heps", *words[1:], *out)
    assert done.code == 0
    assert NOTE in done.err
    assert NOTE not in done.out
