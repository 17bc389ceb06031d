"""Policy of a fabric whose file git does not have under its name before the change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from planned import git, unreached

from rocefort.base.errors import BadInput, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.fabric.calendar import Calendar
from rocefort.rollout.plan.base_policy import _of_both, policy_of_base
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.plan_policy import PlanPolicy

Command = Callable[..., Any]
EditHeps = Callable[..., Path]
LIMIT = "  max_unavailable: 1\n"
ONE, TWO = (f"  approvals: {{required: true{count}}}\n" for count in ("", ", count: 2"))
OLD, NEW = "inventory/plant/fabric.yaml", "inventory/plant2/fabric.yaml"
LAB, GONE = "a/lab/fabric.yaml", None


@pytest.fixture
def top(tmp_path: Path) -> Path:
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet", "--initial-branch=main")
    return repository


@pytest.fixture
def write(top: Path, edit_hall: EditHeps) -> Callable[[Mapping[str, str | None]], None]:
    """Write fabrics with their approvals, or remove them."""

    def files(state: Mapping[str, str | None]) -> None:
        for name, approvals in state.items():
            file = top / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if approvals is GONE:
                file.unlink()
            elif name.endswith(("fabric.yaml", "plant.yml")):
                text = edit_hall((LIMIT, LIMIT + approvals)).read_text(encoding="utf-8")
                file.write_text(text, encoding="utf-8")
            else:
                file.write_text(approvals, encoding="utf-8")

    return files


@pytest.fixture
def commit(top: Path, write: Callable[..., None]) -> Callable[[Mapping[str, str | None]], None]:
    def files(state: Mapping[str, str | None]) -> None:
        write(state)
        git(top, "add", "--all")
        git(top, "commit", "--quiet", "-m", "fabrics")

    return files


@pytest.fixture
def plan(hall: DerivedNetwork, edit_hall: EditHeps) -> Plan:
    texts = render_all(hall.network)
    return make_plan(edit_hall(), unreached(hall.network), texts)


def policy(plan: Plan, source: Path, base: str = "") -> Approvals | None:
    found = policy_of_base(plan.model_copy(update={"source": str(source.resolve())}), base)
    return found.approvals if found else None


STRICT = Approvals(required=True)
NOTE = {"notes/text.yaml": "fabric: of approvals\n", "notes/approvals.md": "fabric: x\napprovals"}


@pytest.mark.parametrize(
    ("commits", "file", "expected"),
    [
        ([{OLD: ONE}, {OLD: GONE, NEW: ""}], NEW, STRICT),
        ([{OLD: ONE}, {OLD: GONE, NEW: ONE}], NEW, STRICT),
        ([{OLD: ONE}, {NEW: ""}, {OLD: GONE}], NEW, STRICT),
        ([{OLD: ONE}, {OLD: GONE}, {NEW: ""}], NEW, STRICT),
        ([{OLD: ONE}, {OLD: GONE}, {OLD: ""}], OLD, STRICT),
        ([{OLD: ONE, LAB: ""}, {OLD: GONE, NEW: ""}], NEW, STRICT),
        ([{"a/plant.yml": ONE}, {"a/plant.yml": GONE, NEW: ""}], NEW, STRICT),
        ([{OLD: ONE}, {OLD: GONE, "a/plant.yml": ""}], "a/plant.yml", STRICT),
        ([{OLD: ""}, {OLD: GONE, NEW: ONE}], NEW, None),
        ([{OLD: ONE}, {OLD: ""}, {OLD: GONE, NEW: ""}], NEW, None),
        ([{OLD: ONE, LAB: ONE}, {OLD: "", LAB: GONE}, {NEW: ""}], NEW, STRICT),
        ([{OLD: TWO, LAB: ONE}, {OLD: "", LAB: GONE}, {NEW: ""}], NEW, STRICT),
        ([{OLD: ONE}, {OLD: GONE}, {OLD: ""}, {NEW: ""}], NEW, None),
        ([NOTE, {NEW: ONE}], NEW, None),
        ([{NEW: ONE}], NEW, None),
    ],
    ids=[
        "renamed",
        "renamed with its approvals",
        "copied, then removed",
        "removed, then added",
        "removed, then added again",
        "another fabric is alike",
        "from another ending",
        "to another ending",
        "none had approvals",
        "an earlier change removed them",
        "one kept without them, another removed",
        "one kept without others, another removed",
        "added again without them by an earlier change",
        "other files",
        "the first commit",
    ],
)
def test_a_new_file_has_the_policy_of_the_fabrics_before_it(
    commits: list[dict[str, str | None]],
    file: str,
    expected: Approvals | None,
    top: Path,
    commit: Callable[..., None],
    plan: Plan,
) -> None:
    for state in commits:
        commit(state)
    assert policy(plan, top / file) == expected


CALENDAR = "  calendar: {file: operation.ics, time_zone: Europe/Berlin}\n"


def test_a_new_file_has_no_calendar_of_another_fabric_and_keeps_its_own(
    top: Path, commit: Callable[..., None], plan: Plan
) -> None:
    def calendars(file: str) -> list[str]:
        policy = policy_of_base(plan.model_copy(update={"source": str(top / file)}))
        return [] if policy is None else [each.file for each in policy.calendars]

    commit({OLD: ONE + CALENDAR})
    commit({NEW: ""})
    assert (policy(plan, top / NEW), calendars(NEW)) == (STRICT, [])
    commit({OLD: ""})
    assert calendars(OLD) == [str(top / "inventory/plant/operation.ics")]


@pytest.mark.parametrize(
    ("before", "named"),
    [(None, STRICT), (STRICT, None), (STRICT, STRICT), (Approvals(), STRICT)],
    ids=["not known", "not known of the base", "alike", "stricter"],
)
def test_the_calendars_of_both_policies_count(
    before: Approvals | None, named: Approvals | None, plan: Plan
) -> None:
    one, other = (Calendar(file=name, time_zone="UTC") for name in ("/a.ics", "/b.ics"))
    both = _of_both(
        PlanPolicy(approvals=before, origin="before", calendars=(one,)),
        PlanPolicy(approvals=named, origin="named", calendars=(other, one)),
        plan,
    )
    assert both.calendars == (one, other)


def test_a_rename_that_is_not_committed_a_link_and_a_merge_have_it_too(
    top: Path, commit: Callable[..., None], write: Callable[..., None], plan: Plan
) -> None:
    commit({OLD: ONE, ".gitignore": "ignored/\n"})
    write({NEW: "", "ignored/fabric.yaml": ""})
    assert policy(plan, top / NEW) == policy(plan, top / "ignored/fabric.yaml") == STRICT
    git(top, "add", NEW)
    git(top, "rm", "--quiet", OLD)
    assert policy(plan, top / NEW) == STRICT
    (top / "inventory" / "plant").symlink_to("plant2")
    assert policy(plan, top / OLD) == STRICT  # the link's file is NEW
    git(top, "checkout", "--quiet", "-b", "topic")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "moved")
    commit({NEW: "", "other": "x"})
    git(top, "checkout", "--quiet", "main")
    git(top, "merge", "--quiet", "--no-ff", "-m", "merged", "topic")
    assert policy(plan, top / NEW) == STRICT


def test_a_change_that_git_status_does_not_list_is_a_change(
    top: Path, commit: Callable[..., None], write: Callable[..., None], plan: Plan
) -> None:
    for approvals in ("", ONE):
        commit({OLD: approvals})
    assert policy(plan, top / OLD) == Approvals()
    git(top, "update-index", "--assume-unchanged", OLD)
    write({OLD: ""})
    assert policy(plan, top / OLD) == STRICT


def test_fabrics_with_different_policies_and_a_shallow_clone_need_a_base(
    top: Path,
    commit: Callable[..., None],
    plan: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(top)
    other = "inventory/beamline/fabric.yaml"
    commit({OLD: ONE, other: TWO})
    commit({OLD: GONE, NEW: ""})
    first = git(top, "rev-parse", "HEAD~1").strip()[:12]
    with pytest.raises(Refused) as refusal:
        policy(plan, top / NEW)
    assert str(refusal.value) == (
        f"{top / NEW}: rollout.approvals: git has no earlier version of it, and other fabrics "
        f"differ in theirs: policy of {other} at {first} and policy of {OLD} at {first}; name the "
        "fabric that it was, or itself if it is new: --base REV:PATH"
    )
    assert policy(plan, top / NEW, f"HEAD~1:{OLD}") == STRICT
    assert policy(plan, top / NEW, "HEAD:") == Approvals()
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{top}", str(shallow))
    with pytest.raises(BadInput, match="this clone is shallow and lacks the version"):
        policy(plan, shallow / NEW)
    (top / other).write_text("fabric: x\nrollout: {approvals: {required: maybe}}\n")
    git(top, "commit", "--quiet", "--all", "-m", "an error")
    commit({"inventory/third/fabric.yaml": ""})
    with pytest.raises(Refused, match="the policy of another fabric cannot be read: "):
        policy(plan, top / "inventory/third/fabric.yaml")


def test_a_rename_that_removes_approvals_waits_for_them_and_reports_it(
    top: Path, commit: Callable[..., None], hall: DerivedNetwork, command: Command, tmp_path: Path
) -> None:
    commit({OLD: ONE})
    raised = (top / OLD).read_text(encoding="utf-8").replace("xoff_kbytes: 600", "xoff_kbytes: 640")
    git(top, "mv", "inventory/plant", "inventory/plant2")
    (top / NEW).write_text(raised.replace(ONE, ""), encoding="utf-8")
    git(top, "commit", "--quiet", "--all", "-m", "renamed")
    first = git(top, "rev-parse", "HEAD~1").strip()[:12]
    texts, at, file = tmp_path / "texts", tmp_path / "at.yaml", tmp_path / "plan.json"
    texts.mkdir()
    for name, text in render_all(hall.network).items():
        (texts / f"{name}.cfg").write_text(text, encoding="utf-8")
    access = unreached(hall.network).model_dump(mode="json", exclude_defaults=True)
    at.write_text(json.dumps(access), encoding="utf-8")
    sentence = (
        "approvals: 1 person per wave, not the plan's author, valid for 24 h "
        f"(policy of {OLD} at {first}, as git has no earlier version of {NEW}); "
        "this change removes them, which holds from the next change on"
    )
    ran = command("plan", top / NEW, "--connections", at, "--running", texts, "--out", file)
    assert (ran.code, f" {sentence} sealed in " in ran.words) == (0, True), ran
    assert command("apply", file, "--connections", at).words == sentence  # no switch answers
