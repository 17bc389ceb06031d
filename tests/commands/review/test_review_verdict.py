"""First lines of a review, equal patches, renamed servers, and the size of the comment."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rocefort.reports.blocks import Section
from rocefort.tasks import cli
from rocefort.validators.engine_choice import Engine
from rocefort.validators.rules.registry import registered
from rocefort.validators.rules.verification.answers import RedundancySubject
from rocefort.verification.review.review import ReviewRequest, make_review
from rocefort.verification.review.sections import sections_of
from rocefort.verification.review.verdict import LOST_REDUNDANCY

Clone = Any  # of tests/commands/conftest.py
Review = Callable[..., Any]
FABRIC = "inventory/heps/fabric.yaml"
LEAF = """\
  - id: 9
    name: leaf09
    hardware: CE6866-48S8CQ-P
    software: V300R023C00
    segments: [beamline]
"""
SERVERS = "\n# Published: the seven servers"
LIMIT = 65_536  # characters of a comment on GitHub


def head(markdown: str) -> list[str]:
    """The lines before the first fold that are not empty, without the mark."""
    return [line for line in markdown.partition("<details>")[0].splitlines()[1:] if line]


def without(clone: Clone, start: str, end: str) -> None:
    """Remove the text from a line to another."""
    text = clone.fabric.read_text()
    clone.edit((text[text.index(start) : text.index(end)], ""))


def test_the_first_lines_are_the_verdict(clone: Clone, review: Review) -> None:
    without(clone, "  - id: 2\n    name: spine02", "\n# Published: 8 leaves")
    done = review()
    lines = head(done.markdown)
    assert len(lines) <= 10
    assert lines[0] == "## Rocefort: heps: 1 new error, redundancy lost"
    assert lines[1].startswith("From HEAD (")
    assert f"to worktree of clone, {FABRIC}: 10 new warnings, " in lines[1]
    assert lines[2:5] == [
        "- CHG104: the change removes all spine redundancy: spine02 goes, and the loss of spine01 "
        f"cuts 56 of 56 leaf pairs, at spine01 ({FABRIC}:{clone.line('name: spine01')})",
        "- risk: the change touches 8 BGP sessions, 8 links, 58 of 58 RDMA pairs; spine02 is "
        "removed: drain it first; while spine02 changes, leaf01 to leaf08 keep 1 of 2 uplinks",
        "- hit: no server; 58 of 58 RDMA pairs cross what changes",
    ]


def test_every_error_is_in_one_line_with_its_place(clone: Clone, review: Review) -> None:
    clone.edit(("maximum_paths: 32", "maximum_paths: 1"))
    done = review()
    place = f"{FABRIC}:{clone.line('maximum_paths: 1')}"
    new = [f for f in done.json["findings"]["new"] if f["severity"] == "error"]
    lines = head(done.markdown)
    assert lines[0] == f"## Rocefort: heps: {len(new)} new errors"
    errors = [line for line in lines if line[:3] == "- B"]
    assert [line.split(":")[0] for line in errors] == sorted({f"- {f['rule']}" for f in new})
    assert all(place in line for line in errors)
    assert errors[0].endswith(", and 7 more errors of BGP002")
    assert f'<a href="#new-error-{new[0]["rule"]}">' in done.page
    assert f'<section id="new-error-{new[0]["rule"]}">' in done.page
    assert done.page.index('aria-label="New errors"') < done.page.index('<section id="intent">')


def test_a_change_without_consequence_is_said_to_have_none(clone: Clone, review: Review) -> None:
    done = review("--head", "HEAD")
    lines = head(done.markdown)
    assert lines[0] == "## Rocefort: heps: passes, no new errors"
    assert lines[2:4] == ["- risk: none, no switch changes", "- hit: no server"]
    clone.edit((SERVERS, LEAF + SERVERS))
    assert "- risk: none, traffic feels nothing (2 switches changed, 1 switch new)" in (
        head(review("--failures", "none").markdown)
    )


def test_a_line_that_no_rule_judges_has_no_known_effect(clone: Clone, review: Review) -> None:
    template = clone.top / "templates/vrp/cloudengine.j2"
    template.parent.mkdir(parents=True)
    template.write_text(
        '{% extends "shipped/cloudengine.j2" %}{% block more %}\n#\nfrobnicate\n{% endblock %}'
    )
    unjudged = "1 line of templates on 10 switches is not judged"
    done = review("--failures", "none")
    lines = head(done.markdown)
    assert lines[0] == "## Rocefort: heps: passes, no new errors"
    assert f"{FABRIC}: 1 new warning, " in lines[1]
    assert lines[2:4] == [f"- risk: not known: {unjudged}", "- hit: not known"]
    for text in (done.markdown, done.words, done.page):
        assert f"Not known: {unjudged}." in text
        assert "feels nothing" not in text
    assert f"blast radius: Not known: {unjudged}." in done.words
    assert f"servers that lose service: Not known: {unjudged}." in done.words
    assert f"what it does to traffic: Not known: {unjudged}." in done.words
    assert (
        f"management path: Not known: {unjudged}. Judged lines: unchanged on all of 10 switches: "
        in done.words
    )
    clone.commit("a line of a template")
    clone.edit(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    assert "not known" not in " ".join(head(review("--failures", "none").markdown)[2:4])
    template.unlink()
    done = review("--failures", "none")
    risk, hit = head(done.markdown)[2:4]
    assert risk.startswith(f"- risk: not known: {unjudged}; the change touches ")
    assert hit.startswith("- hit: not known, besides 12 servers (daisycn01, ")
    assert f"blast radius: Not known: {unjudged}. Touched: " in done.words
    assert f"what it does to traffic: Not known: {unjudged}. 1 change of lossless" in done.words
    assert "- no judged line takes a cable or a session down" in done.markdown


def test_who_is_hit_is_counted_and_named(clone: Clone, review: Review) -> None:
    clone.edit(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    [line] = [line for line in head(review("--failures", "none").markdown) if "- hit" in line]
    assert line.startswith(
        "- hit: 12 servers (daisycn01, daisygn01, daisygn02 and 9 more), 4 racks ("
    )
    assert line.endswith("4 segments (beamline, compute, storage and 1 more)")


def test_patches_that_differ_by_own_values_are_shown_once(clone: Clone, review: Review) -> None:
    clone.edit((SERVERS, LEAF + SERVERS))
    shown = review("--failures", "none").markdown
    assert "#### spine01, spine02: additive, " in shown
    assert shown.count("<summary>patch, ") == shown.count("<summary>the way back, ") == 1
    [others] = [line for line in shown.splitlines() if line.startswith("spine02: ")]
    assert " for 10.1.0.128/31" in others  # the address of spine01
    assert "100GE1/0/2 for 100GE1/0/1" in others  # the port of leaf09, in the description


def test_a_threshold_is_no_own_value(clone: Clone) -> None:
    """Two switches are shown as one only if their values other than names and addresses agree."""
    clone.edit(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    asked = ReviewRequest(None, "HEAD", "worktree", Engine.EMBEDDED, None, "none")
    done = make_review(Path(FABRIC), asked)

    def titles(spine02_xoff: str) -> list[str]:
        first, second, *rest = done.difference.switches
        patch = tuple(line.replace("640", spine02_xoff) for line in second.change.patch)
        second = second.model_copy(
            update={"change": second.change.model_copy(update={"patch": patch})}
        )
        difference = done.difference.model_copy(update={"switches": (first, second, *rest)})
        sections = sections_of(done.model_copy(update={"difference": difference}), {})
        switches = next(section for section in sections if section.title == "Switches")
        return [block.title for block in switches.blocks if isinstance(block, Section)]

    assert titles("640")[0] == "spine01, spine02: modifying, 16 commands"
    assert titles("650")[:2] == [
        "spine01: modifying, 16 commands",
        "spine02: modifying, 16 commands",
    ]


RENAME = ("name: readout01\n", "name: readout-one\n")


def test_a_renamed_server_is_a_rename(clone: Clone, review: Review) -> None:
    clone.edit(RENAME)
    done = review()
    [change] = done.json["intent"]
    assert (change["path"], change["before"], change["after"]) == (
        "servers[readout-one].name",
        "readout01",
        "readout-one",
    )
    place = f"{FABRIC}:{clone.line('name: readout-one')}"
    assert f"- `readout01` is renamed `readout-one`, at {place}\n" in done.markdown
    [advice] = done.json["advice"]
    assert (advice["kind"], advice["title"]) == (
        "server rename",
        "readout01 is renamed readout-one (leaf05 25GE1/0/1)",
    )
    verification = done.json["verification"]
    assert verification["new_pairs"] == 0
    assert all(not each["lost"] and not each["gained"] for each in verification["changes"])
    assert verification["failures"]["changes"] == []
    assert "- risk: none, traffic feels nothing (1 switch changed)" in done.markdown


def test_several_renames_and_one_with_its_switch(clone: Clone, review: Review) -> None:
    clone.edit(
        RENAME,
        ("name: leaf05\n", "name: leaf55\n"),
        ("leaf: leaf05\n", "leaf: leaf55\n"),
        ("name: k8sgn08\n", "name: gpu08\n"),
    )
    done = review("--failures", "none")
    assert {change["path"] for change in done.json["intent"]} == {
        "leaves[leaf55].name",
        "servers[gpu08].name",
        "servers[readout-one].name",
        "servers[readout-one].leaf",
    }
    assert {advice["title"] for advice in done.json["advice"]} == {
        "leaf05 is renamed leaf55",
        "k8sgn08 is renamed gpu08 (leaf01 100GE1/0/2)",
        "readout01 is renamed readout-one (leaf55 25GE1/0/1)",
    }


def test_a_rename_with_a_move_is_no_rename(clone: Clone, review: Review) -> None:
    old = "name: k8sgn08\n    leaf: leaf01\n    port: 100GE1/0/2\n"
    clone.edit((old, old.replace("k8sgn08", "gpu08").replace("1/0/2", "1/0/9")))
    done = review("--failures", "none")
    assert done.json["advice"] == []
    assert {change["path"] for change in done.json["intent"]} == {
        "servers[gpu08]",
        "servers[k8sgn08]",
    }
    assert done.json["verification"]["new_pairs"] > 0


def test_names_that_change_hands_may_be_two_moves(clone: Clone, review: Review) -> None:
    clone.edit(("name: k8sgn09\n", "name: other\n"), ("name: k8sgn08\n", "name: k8sgn09\n"))
    clone.edit(("name: other\n", "name: k8sgn08\n"))
    done = review("--failures", "none")
    assert [advice["kind"] for advice in done.json["advice"]] == ["move", "move"]
    swap = (
        "leaf02 100GE1/0/1 was the place of k8sgn09, and leaf01 100GE1/0/2 is that of k8sgn09: if "
        "only their names change hands, no cable moves, and no traffic is touched."
    )
    assert swap in done.json["advice"][0]["traffic"]


def test_a_server_that_loses_its_bond_fails_unless_it_is_waived(
    clone: Clone, review: Review
) -> None:
    port = "name: k8sgn08\n    leaf: leaf01\n    port: 100GE1/0/2\n"
    bond = port.replace("port: 100GE1/0/2", "bond: {ports: [100GE1/0/2, 100GE1/0/3]}")
    clone.edit((port, bond))
    clone.commit("a bond")
    clone.edit((bond, port))
    done = review("--failures", "none")
    place = f"leaf01 100GE1/0/2 ({FABRIC}:{clone.line('name: k8sgn08')})"
    error = (
        "- CHG106: the change leaves k8sgn08 1 port of 2: the loss of leaf01 100GE1/0/2 ends its "
        f"service, at {place}"
    )
    assert error in head(done.markdown)
    assert done.code == 1
    waiver = "\nwaivers:\n  - {rule: CHG106, why: one port is repaired, until: 2999-12-31}\n"
    clone.edit(("\nsecurity:\n", f"{waiver}\nsecurity:\n"))
    done = review("--failures", "none")
    assert done.code == 0
    title, lead, *_ = head(done.markdown)
    assert title == "## Rocefort: heps: passes, no new errors"
    assert ", 1 waived, " in lead


def test_the_verdict_knows_every_rule_on_redundancy() -> None:
    assert tuple(rule.id for rule in registered(RedundancySubject)) == LOST_REDUNDANCY


@pytest.fixture
def large(clone: Clone, tmp_path: Path) -> Clone:
    """A repository with 8 spines and 119 leaves, then with 120."""
    made = type(clone)(tmp_path / "large")
    done = CliRunner().invoke(
        cli, ["new", "heps", "--spines", "8", "--leaves", "120", "--servers-per-leaf", "4",
              "--directory", str(made.fabric.parent.parent)]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    whole = made.fabric.read_text()

    made.git("init", "--quiet", "--initial-branch=main")
    made.fabric.write_text(without_last_leaf(whole))
    made.commit("119 leaves")
    made.fabric.write_text(whole)
    made.commit("120 leaves")
    return made


def without_last_leaf(text: str) -> str:
    """The fabric without leaf120 and its servers."""
    item = re.compile(r"(?m)^  - .*\n(?:    .*\n)*")
    gone = re.compile(r"\b(name|leaf): leaf120\n")
    text = item.sub(lambda one: "" if gone.search(one[0]) else one[0], text)
    return text.replace("canary: leaf120", "canary: leaf119")


SPINE = "  - id: 8\n    name: spine08\n    hardware: CE9860-4C-EI\n    software: V200R022C00\n"
PORT = "leaf: leaf060\n    port: 100GE1/0/1\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("edit", "sides", "title"),
    [
        ((PORT, PORT.replace("0/1\n", "0/20\n")), (), "#### leaf060: "),
        (("xoff_kbytes: 600", "xoff_kbytes: 640"), (), "#### spine01 to spine08: modifying, "),
        (None, ("--base", "HEAD~1", "--head", "HEAD"), "#### spine01 to spine08: additive, "),
        ((SPINE, ""), (), "#### leaf001 to leaf120: "),
    ],
    ids=["one server moves", "a profile of all", "a leaf is added", "a spine is removed"],
)
def test_a_large_fabric_fits_in_a_comment(
    large: Clone,
    review: Review,
    monkeypatch: pytest.MonkeyPatch,
    edit: tuple[str, str] | None,
    sides: tuple[str, ...],
    title: str,
) -> None:
    monkeypatch.chdir(large.top)
    large.git("checkout", "--quiet", "--", ".")
    if edit:
        large.edit(edit)
    text = review(*sides).markdown
    assert len(text) < LIMIT
    assert len(head(text)) <= 10
    assert text.count("<details>") == text.count("</details>")
    [own] = [line for line in text.splitlines() if line.startswith(title)]
    assert own
    assert text.count("<summary>patch, ") <= 3
    assert all(f"<summary>{name}" in text for name in ("Intent", "Switches", "Findings"))
