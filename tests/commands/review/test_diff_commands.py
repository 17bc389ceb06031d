"""diff and drift: fabrics, directories and git revisions in any mix, in words and for programs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical

from rocefort.base.repository import HARDWARE, PROFILES
from rocefort.change.difference import compare_sides
from rocefort.change.differences_report import DifferenceOptions, diff_report
from rocefort.design import git_revisions
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import write_texts
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.reports.blocks import Section
from rocefort.reports.writers.markdown import markdown_of

EditHeps = Callable[..., Path]
Edits = Callable[..., Path]
XOFF = ("xoff_kbytes: 600", "xoff_kbytes: 640")
RAISED = "thresholds[4].xoff_kbytes: 600 -> 640 on 8 interfaces"
Rocefort = Callable[..., Any]
Git = Callable[..., str]


@pytest.fixture
def configs(heps: DerivedNetwork, tmp_path: Path) -> Edits:
    """A directory of HEPS's configurations, with pieces of one switch's text replaced."""

    def write(*edits: tuple[str, str, str], name: str = "configs") -> Path:
        texts = render_all(heps.network)
        for switch, old, new in edits:
            assert old in texts[switch], f"{old!r} is not in {switch}"
            texts[switch] = texts[switch].replace(old, new)
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        write_texts(texts, tmp_path / name)
        return tmp_path / name

    return write


def commands_of(file: Path) -> int:
    lines = [line.strip() for line in file.read_text().splitlines()]
    return sum(line not in {"", "#", "return"} for line in lines)


@pytest.fixture
def repository(clone: Any) -> Path:
    """A site's clone: HEPS as it is shipped at the first commit, with more xoff at the second."""
    clone.edit(XOFF)
    clone.commit("more xoff")
    return Path(clone.top)


def test_equal_sides_end_with_0(rocefort: Rocefort, configs: Edits) -> None:
    for sides in (("heps", "heps"), ("heps", configs()), (configs(), "heps"), (configs(),) * 2):
        done = rocefort("diff", *sides, "--exit-code")
        assert (done.code, done.out, done.err) == (0, "nothing changes\n", "")


def test_a_difference_ends_with_1_only_if_asked(rocefort: Rocefort, edit_heps: EditHeps) -> None:
    fabric = edit_heps(XOFF)
    assert rocefort("diff", "heps", fabric).code == 0
    assert rocefort("diff", "heps", fabric, "--exit-code").code == 1


def test_switches_that_change_alike_are_told_once(rocefort: Rocefort, edit_heps: EditHeps) -> None:
    done = rocefort("diff", "heps", edit_heps(XOFF), "--patch", "--back")
    heads = [line for line in done.out.splitlines() if line and line[0] != " "]
    assert heads == [
        "spine01, spine02: modifying, 16 commands",
        "leaf01, leaf02: modifying, 8 commands",
        "leaf03, leaf04: modifying, 8 commands",
        "leaf05 to leaf08: modifying, 6 commands",
    ]
    assert done.out.count("    patch:\n") == done.out.count("    back:\n") == 4
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_text_and_fabric_may_stand_on_either_side(
    rocefort: Rocefort, configs: Edits, edit_heps: EditHeps
) -> None:
    fabric, running = edit_heps(XOFF), configs()
    for before, after in ((running, fabric), ("heps", fabric)):
        assert RAISED in rocefort("diff", before, after).out
    assert "xoff_kbytes: 640 -> 600 on 8 interfaces" in rocefort("diff", fabric, running).out


def test_the_patch_and_the_way_back_do_what_they_say(
    rocefort: Rocefort, heps: DerivedNetwork, configs: Edits
) -> None:
    """Between two directories the family is found from the text; an interpreter judges."""
    old, new = configs(name="old"), configs(("leaf05", "xoff static 600", "xoff static 640"))
    (told,) = json.loads(rocefort("diff", old, new, "--format", "json").out)["switches"]
    family = heps.network.by_name["leaf05"].family
    assert family is not None
    before, after = (
        canonical(parse_tree((side / "leaf05.cfg").read_text()), family.syntax)
        for side in (old, new)
    )
    assert before != after
    assert canonical(apply_lines(before, told["patch"], family.syntax), family.syntax) == after
    assert canonical(apply_lines(after, told["back"], family.syntax), family.syntax) == before


def test_switches_of_one_side_only_are_named(rocefort: Rocefort, configs: Edits) -> None:
    running = configs(("leaf08", "sysname leaf08", "sysname leaf09"))
    done = rocefort("diff", "heps", running)
    size = commands_of(running / "leaf08.cfg")
    assert f"leaf08: removed, {size} lines (only in heps)" in done.words
    assert f"leaf09: added, {size} lines (only in {running})" in done.words


def test_lines_that_nobody_owns_differ_between_texts_and_stay_on_the_way_to_a_fabric(
    rocefort: Rocefort, configs: Edits
) -> None:
    plain, grown = configs(name="plain"), configs(("leaf03", "return\n", "vm-manager\nreturn\n"))
    came = rocefort("diff", plain, grown, "--exit-code")
    assert came.code == 1
    assert f"only in {grown}, without an owner: vm-manager" in came.words
    went = rocefort("diff", grown, plain)
    assert f"only in {grown}, without an owner: vm-manager" in went.words
    assert rocefort("diff", grown, grown).out == "nothing changes\n"
    stays = rocefort("diff", grown, "heps", "--exit-code")
    assert (stays.code, stays.out) == (0, "nothing changes\n")


def test_another_release_with_other_words_has_no_patch(
    rocefort: Rocefort, edit_heps: EditHeps
) -> None:
    head = "    name: leaf05\n    hardware: "
    was = "CE6866-48S8CQ-P\n    software: V300R023C00\n"
    will = "CE6865-48S8CQ-EI\n    software: V200R022C00\n"
    fabric = edit_heps((head + was, head + will))
    done = rocefort("diff", "heps", fabric, "--patch", "--exit-code")
    assert done.code == 1
    assert "leaf05: modifying hardware: CE6866-48S8CQ-P -> CE6865-48S8CQ-EI" in done.words
    assert "software: V300R023C00 -> V200R022C00" in done.words
    assert (
        "no patch: v300-g1 and v200 write the same configuration in different commands: "
        in done.words
    )
    assert "patch:\n" not in done.out


def test_a_secret_that_changed_is_shown_by_its_reference(
    rocefort: Rocefort, edit_heps: EditHeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_BGP", "s3cret-of-a-test")
    hold = "  hold_s: 30\n"
    fabric = edit_heps((hold, f"{hold}  authentication: {{password: env:TEST_BGP}}\n"))
    before = tmp_path / "before.yaml"
    before.write_text(fabric.read_text())
    fabric.write_text(fabric.read_text().replace("env:TEST_BGP}", "env:TEST_BGP, version: 2}"))
    for form in ("text", "json", "markdown"):
        done = rocefort("diff", before, fabric, "--patch", "--back", "--format", form)
        assert "env:TEST_BGP version 2" in done.words
        assert "s3cret" not in done.out
    saved = tmp_path / "saved"
    assert rocefort("render", fabric, "--out", saved).code == 0
    for file in saved.iterdir():  # as a switch saves it: encrypted, different each time
        file.write_text(
            file.read_text().replace("<secret env:TEST_BGP version 2>", f"%^%#{file.stem}%^%#")
        )
    assert rocefort("diff", saved, fabric).out == "nothing changes\n"
    assert rocefort("diff", fabric, saved).out == "nothing changes\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("HEAD~1:inventory/heps", "HEAD:inventory/heps"),
        ("HEAD~1:inventory/heps/fabric.yaml", "inventory/heps"),
        ("HEAD~1:", "inventory/heps/fabric.yaml"),
        ("HEAD~1:heps", "main:"),
        ("HEAD~1:./inventory/heps", "HEAD:inventory/heps/"),
    ],
)
def test_a_revision_is_a_side(
    rocefort: Rocefort, repository: Path, before: str, after: str
) -> None:
    done = rocefort("diff", before, after)
    assert (done.code, done.err) == (0, "")
    assert RAISED in done.out


def test_a_hook_of_git_may_ask(
    rocefort: Rocefort, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert RAISED in rocefort("diff", "HEAD~1:", "inventory/heps").out


def test_a_link_of_the_past_is_not_followed(git: Git, rocefort: Rocefort, repository: Path) -> None:
    (repository / "inventory" / "link").symlink_to("heps")
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "a link")
    done = rocefort("diff", "HEAD:inventory/link", "heps")
    assert done.code == 2
    assert "no such path at that revision; " in done.err
    assert done.err.endswith("symbolic links are not followed\n")


def test_rev_alone_takes_the_way_back_too(rocefort: Rocefort, repository: Path) -> None:
    done = rocefort("diff", "inventory/heps", "HEAD~1:", "--format", "json")
    edits = json.loads(done.out)["switches"][0]["edits"]
    assert (edits[0]["before"], edits[0]["after"]) == (640, 600)
    assert edits[0]["after_at"].startswith("HEAD~1:inventory/heps/fabric.yaml:")


def test_a_directory_of_configurations_at_a_revision(
    git: Git, rocefort: Rocefort, repository: Path, heps: DerivedNetwork, edit_heps: EditHeps
) -> None:
    write_texts(render_all(heps.network), repository / "running")
    (repository / ".gitattributes").write_text("running export-ignore\n")
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "what runs")
    shutil.rmtree(repository / "running")
    done = rocefort("diff", "HEAD:running", edit_heps(XOFF))
    assert RAISED in done.out


def test_hardware_facts_and_profiles_are_those_of_the_revision(
    git: Git, rocefort: Rocefort, repository: Path
) -> None:
    """All sides have one fabric.yaml; only the facts beside it differ."""
    for shipped in (HARDWARE, PROFILES):
        shutil.copytree(shipped, repository / "inventory" / shipped.name)
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "facts of our own")
    file = repository / "inventory" / "hardware" / "ce9860-4c-ei.yaml"
    file.write_text("manufacturer: 1\n")
    git(repository, "commit", "--quiet", "-am", "broken facts")
    assert rocefort("diff", "HEAD~1:heps", "HEAD~2:heps").code == 0
    broken = rocefort("diff", "HEAD:heps", "HEAD~1:heps")
    assert broken.code == 2
    assert broken.err.startswith("HEAD:inventory/hardware/ce9860-4c-ei.yaml:1")
    broken = rocefort("diff", "HEAD~1:heps", "heps")
    assert broken.code == 2
    assert broken.err.startswith("inventory/hardware/ce9860-4c-ei.yaml:1")


def test_nothing_is_left_behind(
    git: Git, rocefort: Rocefort, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    rocefort("diff", "HEAD~1:inventory/heps", "HEAD:")
    rocefort("diff", "HEAD~1:inventory", "HEAD:")
    assert list(temporary.iterdir()) == []
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("sides", "sentence"),
    [
        (("heda:heps", "heps"), "heda: no such revision; "),
        (("mian:heps", "heps"), "mian: no such revision; did you mean 'main'?"),
        (("--all:heps", "heps"), None),
        (
            ("HEAD:inventory/nothing", "heps"),
            "HEAD:inventory/nothing: no such path at that revision; ",
        ),
        (
            ("HEAD:inventory", "heps"),
            "HEAD:inventory: holds no fabric.yaml and no configurations at that revision; ",
        ),
        (("HEAD:", "HEAD~1:"), "HEAD: HEAD~1:: no path on either side; give one a path"),
        ((":heps", "heps"), ":heps: no revision before the colon; for example: HEAD~1:"),
        (("HEAD:../elsewhere", "heps"), "../elsewhere: is not in that repository; it begins at "),
    ],
)
def test_a_revision_that_cannot_be_read_is_one_line(
    rocefort: Rocefort, repository: Path, sides: tuple[str, str], sentence: str | None
) -> None:
    done = rocefort("diff", *sides)
    assert done.code == 2
    assert done.out == ""
    if sentence is not None:
        assert done.err.startswith(f"rocefort: {sentence}")
        assert len(done.err.splitlines()) == 1


def test_a_bad_fabric_of_the_past_names_its_revision(
    git: Git, rocefort: Rocefort, repository: Path
) -> None:
    file = repository / "inventory" / "heps" / "fabric.yaml"
    good = file.read_text()
    file.write_text(good.replace("canary: leaf08", "canary: leaf80"))
    git(repository, "commit", "--quiet", "-am", "a wrong canary")
    file.write_text(good)
    done = rocefort("diff", "HEAD:", "inventory/heps")
    assert done.code == 2
    assert done.err.startswith("rocefort: HEAD:inventory/heps/fabric.yaml:")


def test_outside_of_a_repository(
    rocefort: Rocefort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    done = rocefort("diff", "HEAD:heps", "heps")
    assert done.code == 2
    assert done.err == (f"rocefort: {tmp_path}: is not in a git repository; name a path instead\n")


def test_without_git(
    rocefort: Rocefort, repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = rocefort("diff", "HEAD:heps", "heps")
    assert done.code == 3
    assert done.err == "rocefort: git is not installed; install it, or name a path\n"


def test_a_shallow_clone_says_so(
    git: Git, rocefort: Rocefort, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = git(repository, "rev-parse", "HEAD~1")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    done = rocefort("diff", f"{first}:heps", "heps")
    assert done.code == 2
    assert done.err == (
        f"rocefort: {first}: no such revision; this clone is shallow and may lack it: "
        "git fetch --unshallow\n"
    )
    assert rocefort("diff", "HEAD:heps", "inventory/heps").out == "nothing changes\n"


def test_a_file_with_a_colon_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert git_revisions.looks_like_revision("HEAD:heps")
    (tmp_path / "HEAD:heps").mkdir()
    assert not git_revisions.looks_like_revision("HEAD:heps")
    assert not git_revisions.looks_like_revision("heps")


def test_what_runs_as_intended_does_not_drift(rocefort: Rocefort, configs: Edits) -> None:
    own = (
        "#\nstp mode mstp\ninterface NULL0\n#\naaa\n authentication-scheme default\n"
        "interface 100GE1/0/30\n portswitch\n port pfc-deadlock trigger turn-off\n#\nreturn\n"
    )
    running = configs(("leaf01", "return\n", own))
    done = rocefort("drift", "heps", "--configs", running)
    assert done.out == "no drift: 10 switches as intended\n"
    assert done.code == 0


def test_a_file_that_is_not_read_is_named(rocefort: Rocefort, configs: Edits) -> None:
    running = configs()
    (running / "leaf05").write_text((running / "leaf05.cfg").read_text())
    note = f"{running}/leaf05: not read: sysname leaf05 is also that of {running}/leaf05.cfg\n"
    for command in (["drift", "heps", "--configs", running], ["diff", running, "heps"]):
        done = rocefort(*command)
        assert (done.code, done.err) == (0, note)


def test_drift_names_what_runs_and_where(rocefort: Rocefort, configs: Edits) -> None:
    running = configs(
        ("leaf05", "xoff static 600", "xoff static 640"),
        ("leaf05", "return\n", "vm-manager\nreturn\n"),
        ("leaf03", "return\n", "vm-manager\nreturn\n"),
        ("leaf08", "sysname leaf08", "sysname leaf09"),
    )
    done = rocefort("drift", "heps", "--configs", running, "--patch")
    assert done.code == 1
    text = (running / "leaf05.cfg").read_text().splitlines()
    line = next(n for n, row in enumerate(text, 1) if "xoff static 640" in row)
    assert "leaf05: modifying, 6 commands thresholds[4].xoff_kbytes: 640 -> 600 on 3" in done.words
    assert f"{running}/leaf05.cfg:{line}" in done.words
    assert "\n       dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes\n" in done.out
    last = len((running / "leaf03.cfg").read_text().splitlines()) - 1
    assert f"lines without an owner vm-manager at: {running}/leaf03.cfg:{last}, " in done.words
    assert "without an owner stay" not in done.words
    size = commands_of(running / "leaf08.cfg")
    assert f"leaf08: missing, {size} lines (no configuration in {running})" in done.words
    assert f"leaf09: unknown, {size} lines (not in heps)" in done.words
    assert done.out.endswith("\ndrift: 2 of 9 switches, 1 missing, 1 not in the fabric\n")


@pytest.mark.parametrize(
    ("switch", "old", "new"),
    [
        ("leaf01", "return\n", "vm-manager\nreturn\n"),
        ("leaf01", "return\n", "stp mode rstp\nreturn\n"),
        ("leaf01", " description to spine01 100GE1/1/1\n", " description moved\n"),
        ("leaf01", "sysname leaf01", "sysname leaf77"),
    ],
)
def test_each_of_these_is_drift(
    rocefort: Rocefort, configs: Edits, switch: str, old: str, new: str
) -> None:
    assert rocefort("drift", "heps", "--configs", configs((switch, old, new))).code == 1


def test_drift_for_programs_and_for_a_comment(rocefort: Rocefort, configs: Edits) -> None:
    running = configs(
        ("leaf03", "return\n", "snmp-agent community read cipher Pa55word\n`x`\nreturn\n"),
        ("leaf05", "xoff static 600", "xoff static 640"),
    )
    data: dict[str, Any] = json.loads(
        rocefort("drift", "heps", "--configs", running, "--format", "json").out
    )
    by_name = {switch["device"]: switch for switch in data["switches"]}
    assert list(by_name) == ["leaf03", "leaf05"]
    assert by_name["leaf03"]["class"] is None
    masked = by_name["leaf03"]["unowned"][0]
    assert masked["text"] == "snmp-agent community read cipher <removed>"
    assert masked["where"].startswith(f"{running}/leaf03.cfg:")
    assert by_name["leaf05"]["class"] == "modifying"
    assert by_name["leaf05"]["patch"][0] == "interface 25GE1/0/1"
    comment = rocefort("drift", "heps", "--configs", running, "--format", "markdown").out
    assert "- `` `x` ``\n" in comment
    assert "Pa55word" not in comment
    assert "drift: 2 of 10 switches\n" in comment


def test_a_text_that_no_return_ends_is_noted(rocefort: Rocefort, configs: Edits) -> None:
    running = configs(("leaf05", "xoff static 600", "xoff static 640"), ("leaf05", "return\n", ""))
    done = rocefort("diff", running, "heps")
    assert "no `return` ends this text, so it may have been cut off" in done.words


def test_a_long_comment_is_cut_at_a_section(edit_heps: EditHeps) -> None:
    difference = compare_sides("heps", str(edit_heps(XOFF)))
    comment = Section("changes", tuple(diff_report(difference, DifferenceOptions(patch=True))))
    whole = markdown_of(comment)
    assert whole.count("<details>") == whole.count("</details>") == 4
    short = markdown_of(Section("", (comment,)), limit=3000)
    assert len(short) <= 3000
    assert re.search(r"\nand \d+ more (parts?|lines?)\n", short)
    assert short.count("<details>") == short.count("</details>")
