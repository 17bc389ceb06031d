"""`review` of a change that touches several fabrics, or none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import messages

from rocefort.reports.writers.markdown import LIMIT
from rocefort.validators.engine_choice import Engine
from rocefort.verification.review.fabrics import changed_fabrics
from rocefort.verification.review.review import ReviewRequest, make_reviews, write_reviews
from rocefort.verification.review.review_files import reviews_markdown

Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]
FABRIC, OTHER = "inventory/heps/fabric.yaml", "inventory/other/fabric.yaml"
FILES = ["review.html", "review.json", "review.md", "review.sarif"]
XOFF = ("xoff_kbytes: 600", "xoff_kbytes: 640")
NARROW = ("maximum_paths: 32", "maximum_paths: 1")
MODEL = "inventory/hardware/CE6866-48S8CQ-P.yaml"
QUICK = ("--failures", "none")


@pytest.fixture
def other(clone: Clone) -> Path:
    """A second fabric of the repository, like the first."""
    path: Path = clone.top / OTHER
    path.parent.mkdir()
    shutil.copy(clone.fabric, path)
    clone.commit("two")
    return path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def reviewed(done: Any) -> list[str]:
    return [review["file"] for review in done.whole["reviews"]]


def test_the_only_fabric_that_changes_is_reviewed_alone(
    clone: Clone, other: Path, review: Review
) -> None:
    edit(other, *XOFF)
    done = review(*QUICK)
    assert reviewed(done) == [OTHER]
    assert sorted(path.name for path in done.written.iterdir()) == FILES
    assert "\n## Rocefort: heps: passes, no new errors\n" in done.markdown


def test_two_fabrics_have_one_comment_and_a_folder_each(
    clone: Clone, other: Path, review: Review
) -> None:
    clone.edit(XOFF)
    edit(other, *NARROW)
    done = review(*QUICK)
    assert done.code == 1
    assert reviewed(done) == [FABRIC, OTHER]
    assert [each["failed"] for each in done.whole["reviews"]] == [False, True]
    assert done.whole["failed"] is True
    errors = sum(f["severity"] == "error" for f in done.whole["reviews"][1]["findings"]["new"])
    assert f"## Rocefort: 2 fabrics changed: {errors} new errors\n" in done.markdown
    head = done.markdown.partition("\n### Details of heps\n")[0]
    assert f"- {FABRIC}: passes, no new errors\n- {OTHER}: {errors} new errors\n" in head
    failed, passed = head.split("\n### heps: ")[1:]  # what fails is first
    assert failed.startswith(f"{errors} new errors\n")
    assert f"({OTHER}:" in failed
    assert passed.startswith("passes, no new errors\n")
    assert "- risk: " in passed
    assert done.markdown.count("\n### Details of heps\n") == 2
    assert len(done.markdown) <= 60_000
    for name in ("heps", "other"):
        assert sorted(path.name for path in (done.written / name).iterdir()) == FILES
        assert f'<a href="{name}/review.html">' in done.page
    assert "1 new error" not in (done.written / "heps/review.md").read_text()
    log = (done.written / "review.sarif").read_text()
    assert log.count('"automationDetails"') == 2
    assert done.err == "note: the head is the worktree, 2 files not committed\n"


def test_folders_of_an_earlier_review_go_and_others_stay(clone: Clone, tmp_path: Path) -> None:
    out = tmp_path / "out"
    clone.edit(XOFF)
    found = make_reviews(ReviewRequest(None, "HEAD", "worktree", Engine.EMBEDDED, None, "none"))
    (one,) = found.reviews
    other = one.model_copy(update={"file": OTHER})
    write_reviews(found.model_copy(update={"reviews": (one, other)}), out)
    assert sorted(path.name for path in out.iterdir()) == ["heps", "other", *FILES]
    (out / "other/notes.txt").write_text("by hand")
    (out / "mine").mkdir()
    write_reviews(found, out)
    assert sorted(path.name for path in out.iterdir()) == ["mine", "other", *FILES]
    assert sorted(path.name for path in (out / "other").iterdir()) == ["notes.txt", *FILES]


def test_the_comment_of_many_fabrics_is_short_and_has_what_fails_first(
    clone: Clone, review: Review
) -> None:
    clone.edit(NARROW)
    failed = make_reviews(ReviewRequest(None, "HEAD", "worktree", Engine.EMBEDDED, None, "none"))
    clone.edit((NARROW[1], NARROW[0]), XOFF)
    passed = make_reviews(ReviewRequest(None, "HEAD", "worktree", Engine.EMBEDDED, None, "none"))
    (good,), (bad,) = passed.reviews, failed.reviews
    many = [good.model_copy(update={"fabric": f"good{n}", "file": f"{n}.yaml"}) for n in range(80)]
    worse = [bad.model_copy(update={"fabric": f"bad{n}", "file": f"bad{n}.yaml"}) for n in range(8)]
    found = failed.model_copy(update={"reviews": (*many, *worse)})
    text = reviews_markdown(found, {}, page="https://example.org/p")
    assert len(text) <= LIMIT
    assert re.findall(r"(?m)^### (bad\d): .* new errors", text) == [f"bad{n}" for n in range(8)]
    assert text.count("- risk: ") >= 10
    assert re.search(r"and \d+ more part", text)


def test_a_fabric_that_goes_is_named(clone: Clone, other: Path, review: Review) -> None:
    clone.git("rm", "--quiet", OTHER)
    clone.edit(XOFF)
    done = review(*QUICK)
    assert done.code == 0
    assert done.whole["removed"] == [
        {"file": OTHER, "fabric": "heps", "switches": 10, "servers": 12}
    ]
    said = (
        "the fabric heps is removed: 10 switches and 12 servers are no longer described; "
        "the switches keep their configuration"
    )
    assert f"{OTHER}: {said}" in done.words
    assert f"- {OTHER}: {said}\n" in done.markdown
    assert f"{OTHER}: {said}" in done.page
    assert "## Rocefort: 1 fabric changed: no new errors, 1 fabric removed\n" in done.markdown


def test_the_last_fabric_goes(clone: Clone, review: Review) -> None:
    clone.git("rm", "--quiet", FABRIC)
    clone.commit("none")
    done = review("--base", "HEAD~1", "--head", "HEAD")
    assert done.code == 0
    assert reviewed(done) == []
    assert [row["file"] for row in done.whole["removed"]] == [FABRIC]
    back = review("--base", "HEAD", "--head", "HEAD~1", *QUICK)
    assert f"{FABRIC} is not at the base: all of it is new" in back.err
    none = review("--base", "HEAD", "--head", "HEAD")
    assert (none.code, none.err) == (
        2,
        f"rocefort: {clone.top}: no fabric; commit a fabric.yaml first\n",
    )


def test_a_removed_fabric_whose_base_does_not_parse(
    clone: Clone, other: Path, review: Review
) -> None:
    other.write_text("fabric: [\n")
    clone.commit("broken")
    clone.git("rm", "--quiet", OTHER)
    done = review(*QUICK)
    assert f"{OTHER}: the fabric is removed; its file at the base does not parse" in done.markdown


def test_no_fabric_changes(clone: Clone, other: Path, review: Review) -> None:
    (clone.top / "README").write_text("read")
    done = review()
    assert (done.code, reviewed(done)) == (0, [])
    assert "## Rocefort: no fabric changes\n" in done.markdown
    assert "HEAD -> worktree: no fabric changes" in done.words


def test_a_new_fabric_beside_another_is_reviewed(clone: Clone, review: Review) -> None:
    new = clone.top / OTHER
    new.parent.mkdir()
    new.write_text(clone.fabric.read_text().replace("leaf0", "row0").replace("spine0", "top0"))
    done = review(*QUICK)
    assert reviewed(done) == [OTHER]
    assert f"{OTHER} is not at the base: all of it is new" in done.err
    clone.commit("new")
    assert touched(clone, "HEAD~1", "HEAD") == [OTHER]


def test_a_renamed_fabric_is_not_removed(clone: Clone, other: Path, review: Review) -> None:
    edit(other, *XOFF)
    clone.commit("differ")
    clone.git("mv", "inventory/other", "inventory/third")
    clone.commit("rename")
    done = review("--base", "HEAD~1", "--head", "HEAD", *QUICK)
    assert reviewed(done) == ["inventory/third/fabric.yaml"]
    assert done.whole["removed"] == []


def test_a_fabric_that_cannot_be_reviewed_does_not_hide_the_others(
    clone: Clone, other: Path, review: Review
) -> None:
    clone.edit(XOFF)
    edit(other, "keepalive_s: 10", "keepalive_s: never")
    done = review(*QUICK)
    assert done.code == 2
    assert reviewed(done) == [FABRIC]
    (failed,) = done.whole["unreviewed"]
    assert failed["file"] == OTHER
    assert failed["exit_code"] == 2
    assert failed["problems"][0].startswith(f"{OTHER}:")
    assert f"rocefort: {failed['problems'][0]}\n" in done.err
    assert f"- {OTHER}: no review: `{OTHER}:" in done.markdown
    assert "2 fabrics changed: no new errors, 1 fabric not reviewed" in done.words
    clone.edit(("keepalive_s: 10", "keepalive_s: never"))
    none = review(*QUICK)
    assert (none.code, len(messages(none.err).splitlines())) == (2, 2)
    assert not none.written.exists()


def test_a_new_fabric_that_is_not_text_does_not_hide_the_others(
    clone: Clone, review: Review
) -> None:
    clone.edit(XOFF)
    new = clone.top / "inventory" / "new" / "fabric.yaml"
    new.parent.mkdir()
    new.write_bytes(b"fabric: \xff\n")
    done = review(*QUICK)
    assert (done.code, reviewed(done)) == (2, [FABRIC])
    assert "rocefort: inventory/new/fabric.yaml:1: not UTF-8 (byte 0xFF); " in done.err


def test_shared_files_touch_the_fabrics_that_use_them(
    clone: Clone, other: Path, review: Review
) -> None:
    edit(other, *XOFF)
    other.write_text(other.read_text().replace("CE6866-48S8CQ-P", "CE6865E-48S8CQ"))
    clone.commit("other models")
    shared = clone.top / MODEL
    shared.parent.mkdir()
    shared.write_text(f"model: {Path(MODEL).stem}\n")
    assert touched(clone) == [FABRIC]  # the other fabric does not have this model
    shared.unlink()
    profile = clone.top / "inventory/profiles/own.yaml"
    profile.parent.mkdir()
    profile.write_text("# of all fabrics\n")
    assert touched(clone) == [FABRIC, OTHER]
    profile.unlink()
    elsewhere = clone.top / "lab/templates/vrp/own.j2"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text("")
    assert touched(clone) == []  # of another site


def touched(clone: Clone, base: str = "HEAD", head: str = "worktree") -> list[str]:
    return list(changed_fabrics(base, head).present)
