"""`review` with errors in git or in the YAML: one sentence or note on each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import messages

Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]
FABRIC = "inventory/heps/fabric.yaml"
XOFF = "xoff_kbytes: 600"
ANCHOR = ("capacity:\n", "capacity: &all\n")
QUICK = ("--failures", "none")


def refused(done: Any, *sentences: str) -> None:
    """Assert exit code 2, one line on standard error, and no file."""
    assert (done.code, messages(done.err)) == (2, f"rocefort: {''.join(sentences)}\n")
    assert not done.written.exists()


def conflict(clone: Clone) -> None:
    """A merge that git could not finish."""
    clone.git("checkout", "--quiet", "-b", "other")
    clone.edit((XOFF, "xoff_kbytes: 640"))
    clone.commit("other")
    clone.git("checkout", "--quiet", "main")
    clone.edit((XOFF, "xoff_kbytes: 620"))
    clone.commit("main")
    with pytest.raises(subprocess.CalledProcessError):
        clone.git("merge", "--quiet", "other")


def test_no_repository(review: Review, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(
        review(),
        f"{tmp_path}: is not in a git repository; a review compares two revisions: run it where "
        "the fabric is in git",
    )


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("bare.git", "this is a bare repository"),
        ("clone/.git", "this is inside a .git directory"),
    ],
)
def test_a_repository_without_a_work_tree(
    clone: Clone,
    review: Review,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    what: str,
) -> None:
    clone.git_at(tmp_path, "clone", "--quiet", "--bare", str(clone.top), "bare.git")
    monkeypatch.chdir(tmp_path / place)
    refused(review(), f"{tmp_path}/{place}: {what}; run it in a work tree")


def test_a_repository_without_a_commit(
    clone: Clone, review: Review, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.git_at(tmp_path, "init", "--quiet", "fresh")
    monkeypatch.chdir(tmp_path / "fresh")
    refused(
        review(), "HEAD: no such revision; nothing is committed in this repository yet: git commit"
    )


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("mian", "did you mean 'main'?"),
        ("0000000", "`git log --oneline` lists commits"),
    ],
)
@pytest.mark.parametrize("side", ["--base", "--head"])
def test_an_unknown_revision(clone: Clone, review: Review, side: str, name: str, how: str) -> None:
    refused(review(side, name), f"{name}: no such revision; {how}")


def test_a_shallow_clone(
    clone: Clone, review: Review, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.edit((XOFF, "xoff_kbytes: 640"))
    clone.commit("more")
    clone.git_at(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{clone.top}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    refused(
        review("--base", "HEAD~1", "--head", "HEAD"),
        "HEAD~1: no such revision; this clone is shallow and may lack it: git fetch --unshallow",
    )


def test_a_dirty_worktree_is_the_head_or_is_left_out_and_said(clone: Clone, review: Review) -> None:
    clone.edit((XOFF, "xoff_kbytes: 640"))
    assert review(*QUICK).err == "note: the head is the worktree, 1 file not committed\n"
    done = review("--head", "HEAD", *QUICK)
    assert done.err == (
        "note: the worktree has 1 file not committed, which this review of HEAD does not see; "
        "review them with --head worktree\n"
    )
    assert "No value of the intent differs." in done.words


def test_a_merge_that_is_not_finished(clone: Clone, review: Review) -> None:
    conflict(clone)
    line = clone.line("<<<<<<<")
    what = "an unresolved merge conflict; resolve it, then remove its marks"
    refused(review("--base", "main"), f"{FABRIC}:{line}:1: {what}")
    clone.commit("marks and all")
    refused(review("--base", "HEAD~1", "--head", "HEAD"), f"HEAD:{FABRIC}:{line}:1: {what}")


def test_a_base_with_marks_of_a_conflict_is_reviewed_as_far_as_possible(
    clone: Clone, review: Review
) -> None:
    conflict(clone)
    line = clone.line("<<<<<<<")
    clone.commit("marks and all")
    clone.git("checkout", "--quiet", "other", "--", FABRIC)
    clone.commit("mended")
    done = review("--base", "HEAD~1", "--head", "HEAD", *QUICK)
    assert done.err == (
        f"note: the base does not parse: HEAD~1:{FABRIC}:{line}:1: an unresolved merge "
        "conflict; resolve it, then remove its marks\n"
        "note: so the switches, the blast radius and the management path are not compared, and "
        "every finding counts as new\n"
    )
    for section in ("intent", "switches"):
        assert f"{section}: Not compared: the base does not parse." in done.words
    for section in ("what it does to traffic", "blast radius", "servers that lose service"):
        assert f"{section}: Not known: there is no base to compare with." in done.words
    assert "verification: By embedded: 32 of 32 sessions" in done.words
    assert done.json["findings"]["new"]
    assert done.json["base_problems"]


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ((ANCHOR,), "10:11: capacity: anchor &all; write the value out"),
        ((("cables:\n", "cables: *all\nx:\n"),), "36:9: cables: alias *all; write the value out"),
    ],
)
def test_anchors_of_a_hand(
    clone: Clone, review: Review, edits: tuple[tuple[str, str], ...], said: str
) -> None:
    clone.edit(*edits)
    refused(review(), f"{FABRIC}:{said}")


def test_anchors_in_the_base_are_told(clone: Clone, review: Review) -> None:
    clone.edit(ANCHOR)
    clone.commit("anchored")
    clone.edit((ANCHOR[1], ANCHOR[0]))
    done = review(*QUICK)
    assert f"HEAD:{FABRIC}:10:11: capacity: anchor &all; write the value out\n" in done.err
    assert done.code == 0


def test_a_base_whose_values_are_wrong_tells_the_intent(clone: Clone, review: Review) -> None:
    clone.edit(("hold_s: 30", "hold_s: soon"))
    clone.commit("wrong")
    clone.edit(("hold_s: soon", "hold_s: 30"))
    done = review(*QUICK)
    assert "note: the base does not parse: HEAD:" in done.err
    assert "intent: 1 value of the intent changed." in done.words
    assert "`routing.hold_s`" not in done.words
    assert [row["path"] for row in done.json["intent"]] == ["routing.hold_s"]


def test_a_fabric_by_another_name_is_the_same_one(clone: Clone, review: Review) -> None:
    clone.edit(("fabric: heps\n", "fabric: ihep\n"))
    done = review(*QUICK)
    assert done.code == 0
    assert [(row["path"], row["before"], row["after"]) for row in done.json["intent"]] == [
        ("fabric", "heps", "ihep")
    ]
    assert "switches: No switch changes." in done.words


def test_a_fabric_in_another_place_is_found_and_said(clone: Clone, review: Review) -> None:
    clone.git("mv", "inventory/heps", "inventory/ihep")
    clone.commit("rename")
    done = review("--base", "HEAD~1", "--head", "HEAD", *QUICK)
    assert done.err == (
        "note: inventory/ihep/fabric.yaml was inventory/heps/fabric.yaml at the base (100% of its "
        "lines)\n"
    )
    assert "switches: No switch changes." in done.words
