"""`review` of a change in git: its four forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from outputs import messages

from rocefort.base.errors import BadInput
from rocefort.validators.engine_choice import Engine
from rocefort.verification.review.review import ReviewRequest, make_reviews, write_reviews
from rocefort.verification.review.review_files import reviews_markdown

FABRIC = "inventory/heps/fabric.yaml"
FILES = ["review.html", "review.json", "review.md", "review.sarif"]
XOFF = ("xoff_kbytes: 600", "xoff_kbytes: 640")
OWNER = "    owner: beamline 4\n    maintenance: Tuesdays 08:00-12:00\n"
MOVE = ("name: k8sgn08\n    leaf: leaf01\n    port: 100GE1/0/2\n",
        "name: k8sgn08\n    leaf: leaf01\n    port: 100GE1/0/3\n" + OWNER)  # fmt: skip
NETCONF = ("netconf: true", "netconf: false")
Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]


def test_nothing_changes(clone: Clone, review: Review) -> None:
    done = review("--head", "HEAD")
    assert (done.code, done.err) == (0, "")
    assert "no new errors" in done.words
    assert "switches: No switch changes." in done.words
    assert "verification: By embedded: 32 of 32 sessions" in done.words
    assert sorted(path.name for path in done.written.iterdir()) == FILES
    assert done.json["verification"]["same"] is True
    assert done.json["findings"]["new"] == done.json["findings"]["fixed"] == []


def test_a_threshold(clone: Clone, review: Review) -> None:
    clone.edit(XOFF)
    done = review()
    assert done.err == "note: the head is the worktree, 1 file not committed\n"
    told = done.json
    line = clone.line(XOFF[1])
    assert told["intent"] == [
        {
            "path": "profiles.lossless.heps.xoff_kbytes",
            "before": "600",
            "after": "640",
            "before_at": f"HEAD:{FABRIC}:{line}",
            "after_at": f"{FABRIC}:{line}",
        }
    ]
    assert "10 modifying; 10 switches affected in service; 0 unchanged." in done.words
    assert "16 BGP sessions, 16 links, 12 servers, 4 segments; 58 of 58 RDMA pairs" in done.words
    assert told["blast"]["redundancy"] == told["blast"]["lost"] == []
    assert told["verification"]["same"] is True
    assert told["verification"]["failures"]["changes"] == []


def test_each_changed_line_names_its_line_of_yaml(clone: Clone, review: Review) -> None:
    clone.edit(XOFF, NETCONF)
    lines = {row["device"]: row["lines"] for row in review().json["lines"]}
    assert len(lines) == 10
    assert all(line["place"] for own in lines.values() for line in own)
    xoff, netconf = clone.line(XOFF[1]), clone.line(NETCONF[1])
    added = {x["text"]: x["place"] for x in lines["leaf03"] if x["added"]}
    assert added["dcb pfc buffer 4 xon static 550 kbytes xoff static 640 kbytes"] == (
        f"{FABRIC}:{xoff}"
    )
    gone = {
        x["place"] for x in lines["leaf03"] if not x["added"] and "netconf" in x["text"].split()[0]
    }
    assert gone == {f"HEAD:{FABRIC}:{netconf}"}


def test_a_server_that_loses_service_is_named_with_its_owner(clone: Clone, review: Review) -> None:
    clone.edit(MOVE)
    done = review()
    assert [
        (row["server"], row["owner"], row["maintenance"]) for row in done.json["blast"]["lost"]
    ] == [("k8sgn08", "beamline 4", "Tuesdays 08:00-12:00")]
    assert "k8sgn08 on leaf01: it moves to leaf01 100GE1/0/3; owner beamline 4" in done.markdown
    assert [switch["change"]["device"] for switch in done.json["difference"]["switches"]] == [
        "leaf01"
    ]


def test_a_spine_that_goes_leaves_one_uplink(clone: Clone, review: Review) -> None:
    text = clone.fabric.read_text()
    spine = text[text.index("  - id: 2\n    name: spine02") : text.index("\n# Published: 8 leaves")]
    clone.edit((spine, ""))
    done = review()
    rows = [row for row in done.json["blast"]["redundancy"] if row["changing"] == "spine02"]
    assert [(row["leaf"], row["uplinks"], row["left"]) for row in rows] == [
        (f"leaf{number:02}", 2, 1) for number in range(1, 9)
    ]
    assert "while spine02 changes: leaf01 to leaf08 keep 1 of 2 uplinks" in done.markdown
    assert "ECMP width 2 -> 1 for 126 routes of leaf01 to leaf08" in done.markdown
    assert "0 server pairs lost" in done.markdown
    assert done.json["difference"]["only_before"][0]["device"] == "spine02"
    assert done.code == 1
    [error] = [f for f in done.json["findings"]["new"] if f["severity"] == "error"]
    assert (error["rule"], error["message"]) == (
        "CHG104",
        "the change removes all spine redundancy: spine02 goes, and the loss of spine01 cuts 56 of "
        "56 leaf pairs",
    )
    assert error["where"]["line"] == clone.line("name: spine01\n")


def test_a_new_leaf_is_additive_and_takes_nothing(clone: Clone, review: Review) -> None:
    leaf = (
        "  - id: 9\n    name: leaf09\n    hardware: CE6866-48S8CQ-P\n"
        "    software: V300R023C00\n    segments: [beamline]\n"
    )
    clone.edit(("\n# Published: the seven servers", leaf + "\n# Published: the seven servers"))
    done = review()
    assert "2 additive, 1 new; none affects service; 8 unchanged." in done.words
    assert "Traffic feels nothing of this change." in done.words
    assert [line["path"] for line in done.json["intent"]] == ["leaves[leaf09]"]


@pytest.mark.parametrize("then", ["    password: env:BGP_PASSWORD\n", None])
def test_a_password_in_the_base_is_not_repeated(
    clone: Clone, review: Review, then: str | None
) -> None:
    mistake = "  authentication:\n    password: s3same\n"
    clone.edit(("  hold_s: 30\n", "  hold_s: 30\n" + mistake))
    clone.commit("a password where its reference belongs")
    clone.edit((mistake, mistake.splitlines(keepends=True)[0] + then if then else ""))
    done = review()
    assert done.code == 0
    assert "hidden: no reference" in done.markdown
    assert all("s3same" not in (done.written / name).read_text() for name in FILES)
    assert "s3same" not in done.out + done.err


def test_a_server_by_another_name_loses_nothing(clone: Clone, review: Review) -> None:
    clone.edit(("name: readout01", "name: readout-one"))
    done = review()
    assert "Traffic feels nothing of this change." in done.words
    assert "servers that lose service: None." in done.words
    clone.edit(("leaf: leaf05\n    port: 25GE1/0/1", "leaf: leaf05\n    port: 25GE1/0/2"))
    assert "1 server, on one leaf only." in review().words


def test_other_hardware_keeps_no_management_path(clone: Clone, review: Review) -> None:
    text = clone.fabric.read_text()
    leaf = text[text.index("    name: leaf05\n") :].split("    rack")[0]
    clone.edit(
        (leaf, leaf.replace("CE6866-48S8CQ-P", "CE8851-32CQ8DQ-P")),
        ("leaf: leaf05\n    port: 25GE1/0/1", "leaf: leaf05\n    port: 100GE1/0/1"),
    )
    done = review()
    assert "management path: Changes on 1 of 10 switches" in done.words
    said = "leaf05: the switch itself: `hardware: CE6866-48S8CQ-P -> CE8851-32CQ8DQ-P"
    assert said in done.markdown


def test_the_management_path_is_proven_or_its_change_is_named(clone: Clone, review: Review) -> None:
    clone.edit(XOFF)
    assert "Unchanged on all of 10 switches: management port and address" in review().words
    clone.edit(NETCONF)
    done = review()
    assert "management path: Changes on 10 of 10 switches" in done.words
    assert "NETCONF: `netconf.server: yes -> none`" in done.markdown
    told = [r for r in done.sarif["results"] if r["ruleId"] == "REV002"]
    texts = [result["message"]["text"] for result in told]
    said = "management path changes on 10 switches: NETCONF: netconf.server: yes -> none"
    place = told[texts.index(said)]["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == clone.line(NETCONF[1])


def test_a_new_error_ends_with_1_and_stands_at_its_line(clone: Clone, review: Review) -> None:
    clone.edit(("maximum_paths: 32", "maximum_paths: 1"))
    done = review()
    assert done.code == 1
    new = [r for r in done.sarif["results"] if r.get("baselineState") == "new"]
    errors = [r for r in new if r["level"] == "error"]
    place = errors[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == FABRIC
    assert place["region"]["startLine"] == clone.line("maximum_paths: 1")
    assert "#### new: " in done.markdown
    clone.commit("narrow")
    assert (
        review("--base", "HEAD", "--head", "HEAD").code == 0
    )  # an old error is none of this change
    fixed = review("--base", "HEAD", "--head", "HEAD~1").json["findings"]["fixed"]
    assert sum(finding["severity"] == "error" for finding in fixed) == len(errors)


def test_the_same_review_has_the_same_bytes(
    clone: Clone, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page states the minute in which it was made."""
    minute = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr("rocefort.verification.review.review.utc_now", lambda: minute)
    clone.edit(XOFF, MOVE)
    once = {path.name: path.read_bytes() for path in review().written.iterdir()}
    assert once == {path.name: path.read_bytes() for path in review().written.iterdir()}


def test_a_base_that_does_not_parse_is_said(clone: Clone, review: Review) -> None:
    clone.edit(("keepalive_s: 10", "keepalive_s: never"))
    clone.commit("broken")
    clone.edit(("keepalive_s: never", "keepalive_s: 10"))
    done = review()
    assert f"note: the base does not parse: HEAD:{FABRIC}:" in done.err
    assert "keepalive_s" in done.err
    assert "Not compared: the base does not parse." in done.words
    assert [change["path"] for change in done.json["intent"]] == ["routing.keepalive_s"]
    assert "32 of 32 sessions" in done.words


def test_a_renamed_fabric_is_found(clone: Clone, review: Review) -> None:
    clone.edit(XOFF)
    clone.git("mv", "inventory/heps", "inventory/ihep")
    clone.commit("rename")
    done = review("--base", "HEAD~1", "--head", "HEAD")
    assert "note: inventory/ihep/fabric.yaml was inventory/heps/fabric.yaml at the base" in done.err
    assert [change["path"] for change in done.json["intent"]] == [
        "profiles.lossless.heps.xoff_kbytes"
    ]


def test_a_new_fabric_is_all_new(clone: Clone, review: Review) -> None:
    clone.git("rm", "--quiet", "-r", "inventory")
    clone.git("commit", "--quiet", "-m", "nothing")
    clone.git("checkout", "--quiet", "HEAD~1", "--", "inventory")
    done = review()
    assert f"{FABRIC} is not at the base: all of it is new" in done.err
    assert "10 new" in done.words


def test_a_head_beside_a_dirty_tree_is_said(clone: Clone, review: Review) -> None:
    clone.edit(XOFF)
    done = review("--head", "HEAD")
    assert "the worktree has 1 file not committed, which this review of HEAD" in done.err
    assert "No switch changes." in done.words


@pytest.mark.parametrize(
    ("edit", "arguments", "said"),
    [
        ((), ("--base", "no-such"), "rocefort: no-such: no such revision; "),
        ((), ("--base", "man"), "rocefort: man: no such revision; did you mean 'main'?\n"),
        ((), ("nowhere",), "rocefort: nowhere: no such fabric at the worktree; there is " + FABRIC),
        (
            ("capacity:\n", "<<<<<<< HEAD\ncapacity:\n=======\n>>>>>>> other\n"),
            (),
            f"rocefort: {FABRIC}:10:1: an unresolved merge conflict; resolve it,",
        ),
        (
            ("capacity:\n", "capacity: &all\n"),
            (),
            f"rocefort: {FABRIC}:10:11: capacity: anchor &all; write the value out\n",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    clone: Clone, review: Review, edit: tuple[str, ...], arguments: tuple[str, ...], said: str
) -> None:
    if edit:
        clone.edit((edit[0], edit[1]))
    done = review(*arguments)
    assert done.code == 2
    assert done.err.startswith(said)
    assert len(messages(done.err).splitlines()) == 1
    assert not done.written.exists()


def test_what_cannot_be_written_is_one_line(clone: Clone, tmp_path: Path) -> None:
    asked = ReviewRequest(None, "HEAD", "HEAD", Engine.EMBEDDED, "127.0.0.1:9996", "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written") as caught:
        write_reviews(make_reviews(asked), tmp_path / "file" / "out")
    assert str(caught.value) == f"{tmp_path}/file/out: cannot be written: Not a directory"


def test_outside_of_a_repository(
    review: Review, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = review()
    assert done.code == 2
    assert "is not in a git repository" in done.err


def test_a_shallow_clone_says_so(
    clone: Clone, review: Review, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = clone.git("rev-parse", "HEAD")
    clone.edit(XOFF)
    clone.commit("more")
    clone.git_at(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{clone.top}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    done = review("--base", first, "--head", "HEAD")
    assert done.code == 2
    assert "this clone is shallow and may lack it: git fetch --unshallow" in done.err


@pytest.mark.parametrize("name", ["heps", "inventory/heps", FABRIC])
def test_a_fabric_is_named_as_anywhere_else(clone: Clone, review: Review, name: str) -> None:
    clone.edit(XOFF)
    done = review(name, "--failures", "none")
    assert done.err == "note: the head is the worktree, 1 file not committed\n"
    assert done.json["file"] == FABRIC


def test_what_a_user_types_is_no_markup(clone: Clone, review: Review) -> None:
    evil = "x <script>alert(1)</script> @all `[a](b)"
    clone.edit((MOVE[0], f"{MOVE[0]}    description: '{evil}'\n"))
    done = review()
    assert "<script" not in done.page
    blocks = MarkdownIt("commonmark").parse(done.markdown)
    parts = [part for block in blocks for part in (block.children or (block,))]
    assert {part.content for part in parts if "alert(1)" in part.content and part.type != "fence"}
    for part in parts:
        if part.type not in ("code_inline", "fence"):
            assert not any(each in part.content for each in ("<script", "@all", "[a](b)"))


def test_the_comment_stays_short_and_says_what_it_cuts(clone: Clone) -> None:
    clone.edit(XOFF, NETCONF)
    asked = ReviewRequest(None, "HEAD", "worktree", Engine.EMBEDDED, "127.0.0.1:9996", "none")
    whole = make_reviews(asked)
    text = reviews_markdown(whole, {}, page="https://example.org/p", limit=10_000)
    assert len(text) <= 10_000
    assert re.search(r"\nand \d+ more (parts|switch|switches): see the page\n", text)
    assert text.count("<details>") == text.count("</details>")
    assert text.count("\n```") % 2 == 0
    folds = re.findall(r"^<details><summary>(.*?):", text, re.MULTILINE)
    assert {"Intent", "Findings", "Verification", "Switches"} <= set(folds)
    assert text.endswith("\n[The whole as a page](https://example.org/p)\n")
