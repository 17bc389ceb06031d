"""Rules of a site in commands: red and green, in every format, and whose rules are never loaded."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from beamlines import with_beamlines

from rocefort.base.command_line.values import rule_names
from rocefort.base.repository import ROOT, TEMPLATES
from rocefort.tasks import COMMANDS
from rocefort.validators.rules.registry import registered
from rocefort.validators.site_rules import site_rules_in_force

Rocefort = Callable[..., Any]
Git = Callable[..., str]
SIZE = ("--spines", "2", "--leaves", "2", "--servers-per-leaf", "1")
RULE = '''
import os
from collections.abc import Iterator
from rocefort.rules import Finding, Severity, Subject, SwitchRole, rule

@rule("PLANT001", severity=Severity.ERROR, source="handbook, section 2")
def rack_of_each_leaf(subject: Subject) -> Iterator[Finding]:
    """Every leaf names its rack.

    The person who replaces a switch finds it by its rack.

    Example: leaf007 has no rack
    Fix: Add `rack:` to the leaf.
    """
    for node in subject.network.role(SwitchRole.LEAF):
        if not node.rack:
            yield subject.finding(node, f"{node.name} has no rack", "add `rack:` to the leaf")
'''
HOSTILE = """
import pathlib
raise SystemExit(pathlib.Path("{mark}").touch())
"""


@pytest.fixture
def site(tmp_path: Path, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch, git: Git) -> Path:
    """A new repository with a rule of its own, committed; the test runs in it."""
    monkeypatch.delenv("ROCEFORT_SITE_RULES", raising=False)
    top = tmp_path / "plant"
    assert rocefort("init", top, *SIZE).code == 0
    (top / "validators/racks.py").write_text(RULE)
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=first")
    monkeypatch.chdir(top)
    return top


def with_racks(site: Path) -> None:
    fabric = site / "inventory/plant/fabric.yaml"
    text = fabric.read_text()
    for name in ("leaf001", "leaf002"):
        assert text.count(f"    name: {name}\n") + text.count(f"name: {name}\n") >= 1
        text = text.replace(f"name: {name}\n", f"name: {name}\n    rack: r1\n", 1)
    fabric.write_text(text)


def test_red_and_green(site: Path, rocefort: Rocefort) -> None:
    done = rocefort("check", "--select", "PLANT")
    assert done.code == 1
    assert done.out.startswith(
        "ERROR PLANT001 Every leaf names its rack\n    leaf001 has no rack\n        at: leaf001\n"
    )
    assert "plant: 5 rules, 2 errors, 0 warnings, 0 info, 0 not judged -- failed" in done.words
    with_racks(site)
    done = rocefort("check", "--select", "PLANT")
    assert (done.code, done.err) == (0, "")
    assert done.out == "plant: 5 rules, 0 errors, 0 warnings, 0 info, 0 not judged\n"


def test_it_is_listed_explained_and_left_out(site: Path, rocefort: Rocefort) -> None:
    assert "PLANT001  error  Every leaf names its rack" in rocefort("rules", "PLANT").out
    explained = rocefort("explain", "PLANT001").words
    assert "PLANT001 (error): Every leaf names its rack" in explained
    assert "File: validators/racks.py Family: PLANT, rules of the site" in explained
    assert "PLANT001" not in rocefort("check", "--ignore", "PLANT").out
    assert {"PLANT", "PLANT001", "PFC", "PFC001"} <= {*rule_names()}  # what a shell completes
    assert "no rule or family 'PLANT002'" in rocefort("check", "--select", "PLANT002").err


def test_a_command_judges_by_none_at_its_end(site: Path, rocefort: Rocefort) -> None:
    rocefort("check", "--select", "PLANT", "--site-rules")
    assert site_rules_in_force() is None
    assert not [one for one in registered() if one.of_site]


def test_it_is_waived(site: Path, rocefort: Rocefort) -> None:
    fabric = site / "inventory/plant/fabric.yaml"
    waiver = "{rule: PLANT001, device: leaf001, why: moved in May, until: 2199-01-01}"
    fabric.write_text(f"{fabric.read_text()}\nwaivers:\n  - {waiver}\n")
    done = rocefort("check", "--select", "PLANT")
    assert "1 error," in done.words
    assert "moved in May" in done.words
    assert rocefort("check", "--select", "PFC001", "--no-site-rules").code == 0
    fabric.write_text(fabric.read_text().replace("PLANT001", "PLANT009"))
    assert "no rule 'PLANT009'" in rocefort("check").err


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "markdown"])
def test_every_format_is_valid_with_a_rule_that_prints(
    site: Path, rocefort: Rocefort, form: str
) -> None:
    text = RULE.replace("        if not", "        print('{')\n        if not")
    (site / "validators/racks.py").write_text(text)
    done = rocefort("check", "--select", "PLANT", "--format", form)
    assert (done.code, done.err) == (1, "")
    if form == "junit":
        cases = {c.get("name"): c for c in ET.fromstring(done.out).iter("testcase")}
        assert cases["PLANT001 Every leaf names its rack"].find("failure") is not None
    elif form == "sarif":
        (run,) = json.loads(done.out)["runs"]
        assert {each["ruleId"] for each in run["results"]} == {"PLANT001", "RUL004"}
        tags = {r["id"]: r["properties"]["tags"] for r in run["tool"]["driver"]["rules"]}
        assert tags["PLANT001"] == ["PLANT"]
    elif form == "json":
        report = json.loads(done.out)
        assert {each["rule"] for each in report["findings"]} == {"PLANT001", "RUL004"}
    assert "prints '{'" in done.out


def test_the_page_has_it(site: Path, rocefort: Rocefort, tmp_path: Path) -> None:
    rocefort("report", "plant", "--out", tmp_path / "page")
    page = (tmp_path / "page/index.html").read_text()
    assert "PLANT001" in page
    assert "Every leaf names its rack" in page


def test_no_prefix_means_no_rule(site: Path, rocefort: Rocefort) -> None:
    settings = site / "rocefort.toml"
    settings.write_text(settings.read_text().partition("[rules]")[0])
    done = rocefort("check", "--select", "PFC001")
    note = "note: validators/ has Python files that are not loaded: rocefort.toml has no [rules] prefix\n"
    assert (done.code, done.err) == (0, note)


@pytest.mark.parametrize(
    ("option", "variable"), [("--no-site-rules", ""), (None, "no"), (None, "0")]
)
def test_they_can_be_forbidden(
    site: Path,
    rocefort: Rocefort,
    option: str | None,
    variable: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (site / "validators/racks.py").write_text(HOSTILE.format(mark=site / "mark"))
    monkeypatch.setenv("ROCEFORT_SITE_RULES", variable)
    monkeypatch.setattr("rocefort.verification.rules_in_force.read_site_rules", None)
    done = rocefort(*([option] if option else []), "check", "--select", "PFC001")
    note = "note: the rules of validators/ are not loaded: --no-site-rules or ROCEFORT_SITE_RULES forbids it\n"
    assert (done.code, done.err) == (0, note)
    assert not (site / "mark").exists()


def test_another_folder_brings_no_rules(
    site: Path, rocefort: Rocefort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a directory of configurations, nor a fabric elsewhere, nor a linked file."""
    rocefort("render", "plant", "--out", tmp_path / "foreign/configs")
    foreign = tmp_path / "foreign"
    assert rocefort("init", foreign, "--name", "other", *SIZE).code == 0
    for folder in (foreign, foreign / "configs"):
        (folder / "validators").mkdir(exist_ok=True)
        (folder / "validators/evil.py").write_text(RULE.replace("PLANT001", "OTHER001"))
    for words in (["--configs", foreign / "configs"], [foreign / "inventory/other"]):
        done = rocefort("check", *words, "--format", "json")
        assert "OTHER001" not in done.out
        assert "PLANT001" in json.loads(done.out)["rules"]  # of the current directory's repository
    monkeypatch.chdir(tmp_path)
    done = rocefort("check", foreign / "inventory/other", "--format", "json")
    assert "OTHER001" not in done.out
    assert "PLANT001" not in done.out
    monkeypatch.chdir(site)
    (site / "validators/linked.py").symlink_to(foreign / "validators/evil.py")
    done = rocefort("check")
    how = "copy it: the rules of a site are files of its repository"
    assert (done.code, done.err) == (2, f"rocefort: validators/linked.py: is a link; {how}\n")
    shutil.rmtree(site / "validators")
    (site / "validators").symlink_to(foreign / "validators")
    done = rocefort("check")
    assert (done.code, done.err) == (2, f"rocefort: validators: is a link; {how}\n")


def test_a_review_runs_the_rules_of_the_base(
    site: Path, rocefort: Rocefort, git: Git, review: Callable[..., Any]
) -> None:
    with_racks(site)
    git(site, "commit", "--quiet", "--all", "--message=racks")
    git(site, "switch", "--quiet", "-c", "change")
    (site / "validators/racks.py").write_text(HOSTILE.format(mark=site / "mark"))
    (site / "validators/more.py").write_text(RULE.replace("PLANT001", "PLANT002"))
    settings = site / "rocefort.toml"
    settings.write_text(settings.read_text().replace("PLANT", "EVIL"))
    (site / "rocefort").mkdir()
    (site / "rocefort/__init__.py").touch()  # as only a clone of Rocefort has
    fabric = site / "inventory/plant/fabric.yaml"
    fabric.write_text(fabric.read_text().replace("    rack: r1\n", "", 1))
    git(site, "add", "--all")
    git(site, "commit", "--quiet", "--message=change")
    for head in (("--head", "change"), ()):
        done = review("--base", "main", *head)
        note = (
            "the rules of the site change (validators/more.py, validators/racks.py); this review "
            "judges by those of the base, and runs nothing of the change"
        )
        assert f"note: {note}" in done.err
        assert note in done.json["notes"]
        assert done.code == 1
        (new,) = done.json["findings"]["new"]
        assert (new["rule"], new["message"]) == ("PLANT001", "leaf001 has no rack")
        assert "leaf001 has no rack" in done.markdown
        assert "Every leaf names its rack" in done.page
        assert "PLANT001" in {r["id"] for r in done.sarif["tool"]["driver"]["rules"]}
        assert "PLANT002" not in (done.written / "review.json").read_text()
        assert not (site / "mark").exists()


def test_a_review_of_a_fork_runs_nothing_of_it(
    site: Path, git: Git, review: Callable[..., Any], tmp_path: Path
) -> None:
    """The base is a commit that only the fork has, whatever its rules look like."""
    fork = tmp_path / "fork"
    git(tmp_path, "clone", "--quiet", str(site), str(fork))
    (fork / "validators/racks.py").write_text(HOSTILE.format(mark=site / "mark"))
    git(fork, "commit", "--quiet", "--all", "--message=rules")
    fabric = fork / "inventory/plant/fabric.yaml"
    fabric.write_text(fabric.read_text().replace("xoff_kbytes: 600", "xoff_kbytes: 640"))
    git(fork, "commit", "--quiet", "--all", "--message=change")
    git(site, "remote", "add", "fork", str(fork))
    git(site, "fetch", "--quiet", "fork")
    done = review("--base", "fork/main~1", "--head", "fork/main")
    note = (
        "the rules of validators/ at fork/main~1 are not loaded: no branch here or of origin has it"
    )
    assert f"note: {note}" in done.err
    assert not {r for r in done.json["report"]["rules"] if r.startswith(("PLANT", "RUL"))}
    done = review("--base", "main", "--head", "fork/main")
    assert "PLANT001" in done.json["report"]["rules"]
    assert "RUL001" in done.json["report"]["rules"]
    assert "RUL0" not in str(done.json["findings"])
    assert not (site / "mark").exists()


def test_a_plan_needs_them_and_does_not_seal_them(site: Path, rocefort: Rocefort) -> None:
    rocefort("render", "plant", "--out", "configs")
    done = rocefort("plan", "plant", "--running", "configs")
    assert done.code == 4
    assert "2 findings of severity error, the first: leaf001 has no rack" in done.err
    with_racks(site)
    assert rocefort("plan", "plant", "--running", "configs").code == 0
    assert "PLANT" not in (site / "plan.json").read_text()
    assert "validators" not in (site / "plan.json").read_text()


def test_a_new_beamline_is_judged(site: Path, rocefort: Rocefort) -> None:
    rule = RULE.replace("subject.network.role(SwitchRole.LEAF)", "subject.servers or ()")
    rule = rule.replace("not node.rack", "node.name == 'bl5-1'").replace("(node,", "(None,")
    (site / "validators/racks.py").write_text(rule)
    fabric = site / "fabric.yaml"
    fabric.write_text(with_beamlines())
    words = ("beamline", "add", fabric, "bl5", "--like", "bl4")
    done = rocefort(*words)
    assert done.code == 4
    assert "bl5-1 has no rack" in done.err
    assert fabric.read_text() == with_beamlines()
    assert rocefort("--no-site-rules", *words).code == 0


LOADING = {"add", "check", "expand", "explain", "plan", "remove", "rename", "report", "rules"}


def test_no_other_command_loads_them() -> None:
    """`apply`, `health` and `comment` have the credentials; `review` takes those of the base."""
    calls: dict[str, set[str]] = {}
    for path in [*(ROOT / "rocefort").rglob("*.py"), ROOT / "tasks.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for call in ast.walk(node):
                    name = (
                        call.func.id
                        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
                        else ""
                    )
                    if name in ("judge_by_site_rules", "judge_by_base", "use_site_rules"):
                        calls.setdefault(name, set()).add(node.name)
    assert calls["judge_by_site_rules"] == {*LOADING, "__init__"}  # of `TestedFabric`
    assert calls["judge_by_base"] == {"make_reviews"}
    assert calls["use_site_rules"] == {"_use"}
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("file", ["github-comment.yml", "gitlab-ci.yml"])
def test_the_job_with_a_token_forbids_them(file: str) -> None:
    text = (TEMPLATES / "site" / file).read_text()
    content = yaml.safe_load(text)
    if file == "gitlab-ci.yml":
        jobs = {
            name: job["variables"]
            for name, job in content.items()
            if "ROCEFORT_GITLAB_TOKEN" in str(job) or "rocefort comment" in str(job)
        }
        given = [*jobs.values()]
        head = " ".join(text.partition("\n.rocefort:")[0].replace("#", " ").split())
        assert all(f"Only the job {name} gets it" in head for name in jobs)
        assert all(f"Remove {name} where" in head for name in jobs)
    else:
        steps = [step for job in content["jobs"].values() for step in job["steps"]]
        given = [step["env"] for step in steps if "GITHUB_TOKEN" in step.get("env", {})]
    assert [each["ROCEFORT_SITE_RULES"] for each in given] == ["no"]
