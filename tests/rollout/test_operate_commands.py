"""Commands of a rollout's operator: approvals, pauses, rollback and history."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from outputs import refusals
from planned import make_event

from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.rollout.apply import operate
from rocefort.rollout.journal.events import ActPhase, ApplyRules
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.operator import user
from rocefort.rollout.planning.sealed_files import read_plan

Command = Callable[..., Any]
FINISHED = "state: finished", f"pause requested by {user()}, and resumed\n"
NOBODY_CAME = (
    "canary         approve  waits up to 1 s for an approval by anybody: "
    "`rocefort approve {} --wave canary`\n"
    "canary         approve  FAILED no approval came in that time\n"
)
NO_POLICY = "approvals: none (policy of the fabric itself: git has no earlier version of it)"
WAITS = "wave {} waits for its approval; `rocefort approve`, then `rocefort resume`"


def described_lines(switch: EmulatedSwitch) -> int:
    return sum("detector" in line.text for top in switch.running for _, line in top.walk())


def first_line(digest: str, lab: Rehearsal) -> str:
    """First line of a plan's history: its run, as in the commit description on leaf07."""
    (point,) = (point for point in lab.switches["leaf07"].points if point.description)
    return f"plan {digest[:12]}, run {point.description.partition('/')[2]}\n"


@pytest.fixture
def plan(lab: Rehearsal, described: Path, command: Command, tmp_path: Path) -> Path:
    """A sealed plan of two waves, leaf08 and leaf07."""
    file = tmp_path / "plan.json"
    ran = command("plan", described, "--connections", lab.file, "--out", file)
    assert ran.code == 0
    return file


@pytest.mark.parametrize("progress", ["auto", "json"])
def test_the_outcome_is_one_document_and_progress_is_on_standard_error(
    lab: Rehearsal, plan: Path, command: Command, progress: str
) -> None:
    words = ["apply", plan, "--connections", lab.file, "--progress", progress, "--format", "json"]
    ran = command(*words)
    found = json.loads(ran.out)
    assert (ran.code, refusals("apply", found), found["command"]) == (0, [], "apply")
    assert found["ended"]["confirmed"] == ["leaf08", "leaf07"]
    if progress == "json":
        steps = [json.loads(line) for line in ran.err.splitlines()]
        assert [refusals("apply", step) for step in steps] == [[]] * len(steps)
        assert {step["wave"] for step in steps} >= {"canary", "leaves 1 of 1"}
    else:
        assert "\ncanary         confirm  " in ran.err


def test_the_whole_way_with_approvals_a_pause_and_back(
    lab: Rehearsal, plan: Path, command: Command, tmp_path: Path
) -> None:
    at = ("--connections", lab.file)
    assert "state: not begun; `rocefort apply` begins" in command("status", plan).out

    ran = command("apply", plan, *at, "--approve-each-wave", "--approval-wait", 1)
    assert (ran.code, WAITS.format("canary") in ran.words) == (5, True)
    head = f"{NO_POLICY}; an option requires one for every wave canary"
    assert (ran.words.startswith(head), NOBODY_CAME.format(plan) in ran.out) == (True, True)
    ran = command("status", plan)
    assert f"state: {WAITS.format('canary')}" in ran.words
    assert "canary needs approval leaf08" in ran.words
    ran = command("approve", plan, "--wave", "canary", "--by", "eve")
    assert (ran.code, ran.err) == (
        4,
        f"rocefort: --by eve: you are {user()}; an approval as eve needs a key; "
        "sign the approval: --key FILE\n",
    )
    ran = command("approve", plan, "--wave", "canary")
    assert ran.out == (
        f"wave canary of plan {(digest := read_plan(plan).digest)[:12]} approved by {user()}\n"
        f"{NO_POLICY}\n"
        "rehearsal: none; `rocefort rehearse PLAN` makes one\n"
    )

    ran = command("resume", plan, *at)
    assert (ran.code, described_lines(lab.switches["leaf08"])) == (5, 1)
    assert (WAITS.format("leaves 1 of 1") in ran.words, "stopped" in ran.words) == (True, False)
    assert "1 switch confirmed, read back and saved: leaf08" in ran.words
    assert command("apply", plan, *at).err == (
        f"rocefort: {plan}.journal: its run of this plan is unfinished; "
        "`rocefort resume` continues it\n"
    )
    assert command("rollback", plan).err == (
        f"rocefort: {plan}.journal: has an unfinished run of this plan; "
        "`rocefort resume` or `rocefort abort` first\n"
    )

    command("approve", plan, "--wave", "leaves 1 of 1")
    assert command("pause", plan).out == (
        "noted: the current wave is completed, and no further wave begins; no controller "
        "is running, `rocefort resume` does it\n"
    )
    ran = command("resume", plan, *at, "--progress", "json")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    acts = [(line.get("act"), line.get("phase")) for line in lines]
    assert (ran.code, ("approve", "done") in acts) == (5, True)
    assert lines[-1]["ended"]["failure"].startswith(
        f"paused before wave leaves 1 of 1 as requested by {user()}"
    )
    assert (
        f"state: paused as requested by {user()}; `rocefort resume` continues"
        in command("status", plan).words
    )
    ran = command("resume", plan, *at)
    assert (ran.code, described_lines(lab.switches["leaf07"])) == (0, 1)
    assert all(text in command("status", plan).out for text in FINISHED)

    ran = command("history", plan)
    assert ran.code == 0
    assert (ran.words.count("resume 20"), first_line(digest, lab) in ran.out) == (3, True)
    assert "canary leaf08 confirm" in ran.words and "its chain holds" in ran.words
    assert max(map(len, ran.out.splitlines())) <= 80 or str(plan) in ran.out
    history = json.loads(command("history", plan, "--format", "json").out)
    (run,) = history["runs"]
    assert (run["ended"], {life["user"] for life in run["lives"]}) == ("finished", {user()})
    assert history["journal"]["damage"] == ""

    ran = command("rollback", plan)
    back = tmp_path / "plan.back.json"
    assert f"sealed in {back}; `rocefort apply {back}` carries it out" in ran.words
    assert described_lines(lab.switches["leaf07"]) == 1  # only made
    ran = command("rollback", plan, "--apply", *at)
    assert (ran.code, ran.err) == (0, "")
    assert described_lines(lab.switches["leaf07"]) == described_lines(lab.switches["leaf08"]) == 0
    assert ran.out.index("back: leaves 1 of 1") < ran.out.index("back: canary")
    with closing(sqlite3.connect(f"{back}.journal")) as rows:
        (head,) = rows.execute("select hash from entry order by id desc limit 1").fetchone()
    assert ran.out.splitlines()[-1].strip() == head


def test_a_status_by_a_mistyped_journal_is_not_that_of_a_rollout_not_begun(
    plan: Path, command: Command, tmp_path: Path
) -> None:
    ran = command("status", plan, "--journal", tmp_path / "typo")
    typo = f"rocefort: {tmp_path / 'typo'}: no such journal; check its name\n"
    assert (ran.code, ran.err) == (2, typo)


def test_a_resumed_run_reads_its_credentials_first_unless_it_goes_back(
    lab: Rehearsal, plan: Path, command: Command, tmp_path: Path
) -> None:
    command("apply", plan, "--connections", lab.file, "--approve-each-wave")
    command("approve", plan, "--wave", "canary")
    text = lab.file.read_text(encoding="utf-8")
    begin = text.index("name: leaf07")
    entry = re.sub("credential: .*", "credential: env:NOPE", text[begin:], count=1)
    (file := lab.file.with_name("lacking.yaml")).write_text(text[:begin] + entry)
    ran = command("resume", plan, "--connections", file)
    assert (ran.code, "has no variable NOPE, and leaf07 uses it" in ran.err) == (2, True), ran.err
    assert described_lines(lab.switches["leaf08"]) == 0
    command("abort", plan)
    ran = command("resume", plan, "--connections", file)
    assert (ran.code, f"aborted as requested by {user()}" in ran.words) == (5, True)


def test_an_abort_of_a_run_without_controller_is_taken_up(
    lab: Rehearsal, plan: Path, command: Command
) -> None:
    at = ("--connections", lab.file)
    command("apply", plan, *at, "--approve-each-wave")
    assert command("abort", plan).out == (
        "noted: no controller is running; `rocefort resume` ends the run: no switch of wave canary "
        "was touched\n"
    )
    ran = command("resume", plan, *at)
    assert (ran.code, f"wave canary: aborted as requested by {user()}" in ran.words) == (5, True)
    assert not {"stopped", "FAILED"} & {*ran.words.replace(":", " ").split()}
    ran = command("abort", plan)
    assert (ran.code, ran.err) == (
        4,
        f"rocefort: {plan}.journal: has no unfinished run of this plan; "
        "`rocefort apply` begins one\n",
    )


def test_break_glass_goes_on_and_stays_on_record(
    lab: Rehearsal, plan: Path, command: Command
) -> None:
    ran = command(
        "apply", plan, "--connections", lab.file, "--require-approval",
        "--break-glass", "a fibre is cut",
    )  # fmt: skip
    assert ran.code == 0
    assert f"break-glass by {user()}: a fibre is cut" in ran.words
    assert f"break-glass by {user()}: a fibre is cut" in command("status", plan).words
    ran = command("history", plan)
    assert f"CONTINUED WITHOUT APPROVALS by {user()}: a fibre is cut" in ran.words


@pytest.mark.parametrize("odd", ["\n", "\x1b[2J", "\x85", "\u2028"])
def test_a_reason_that_would_forge_a_row_of_the_history_is_refused(
    odd: str, lab: Rehearsal, plan: Path, command: Command
) -> None:
    at = "--connections", lab.file, "--break-glass", f"a fibre is cut{odd}approved"
    for act in ("apply", "resume"):
        ran = command(act, plan, *at)
        assert (ran.code, ran.err) == (
            2,
            "rocefort: --break-glass: the reason is not one line; write the reason in one line, "
            "without control characters\n",
        )
    assert not Path(f"{plan}.journal").exists()


def test_status_while_a_wave_is_on_trial_and_where_nothing_can_be_written(
    lab: Rehearsal, plan: Path, command: Command, tmp_path: Path
) -> None:
    digest, journal = read_plan(plan).digest, Path(f"{plan}.journal")
    events = [
        make_event("", "", "apply", ActPhase.INTENT, rules=ApplyRules(1), user="ann", host="h", process=1),
        make_event("canary", "leaf08", "trial", ActPhase.INTENT),
        make_event("canary", "leaf08", "trial", ActPhase.DONE),
    ]  # fmt: skip
    with open_journal(journal, digest) as notes:
        for event in events:
            notes.append(event)
        before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in _files(tmp_path)}
        content = json.loads(command("status", plan, "--format", "json").out)
        assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in _files(tmp_path)} == before
    (canary, leaves) = content["waves"]
    (leaf,) = canary["devices"]
    assert (canary["state"], leaf["state"], leaves["state"]) == ("under way", "on trial", "waiting")
    assert 590 <= leaf["trial_left_s"] <= 600
    assert content["controller"].startswith("process ")
    words = command("status", plan).words
    assert "interrupted, its controller is gone; `rocefort resume` continues" in words
    assert "leaf08 on trial " in words and " s left of its trial" in words


def _files(directory: Path) -> list[Path]:
    return sorted(p for p in directory.glob("plan.json*") if p.is_file())


READ_ONLY = "mount --bind {0} {0} && mount -o remount,bind,ro {0} && exec {1} status {0}/plan.json"


def test_status_on_a_read_only_file_system(
    lab: Rehearsal, plan: Path, command: Command, tmp_path: Path
) -> None:
    unshare = shutil.which("unshare")
    directory = tmp_path / "kept"
    directory.mkdir()
    shutil.copy(plan, directory)
    tried = [str(unshare), "-m", "sh", "-c", READ_ONLY.format(directory, "true")]
    if unshare is None or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("no private mounts here: needs root and unshare(1)")
    command("apply", plan, "--connections", lab.file)
    for file in tmp_path.glob("plan.json*"):
        if file.is_file():
            shutil.copy(file, directory)
    rocefort = Path(sys.executable).with_name("rocefort")
    words = [unshare, "-m", "sh", "-c", READ_ONLY.format(directory, rocefort)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "state: finished" in done.stdout


def test_damage_is_told_and_ends_with_1(lab: Rehearsal, plan: Path, command: Command) -> None:
    command("apply", plan, "--connections", lab.file)
    with closing(sqlite3.connect(f"{plan}.journal", isolation_level=None)) as rows:
        rows.execute("update entry set detail = 'nothing happened' where id = 3")
    for words in (["history", plan], ["history", "--journal", f"{plan}.journal"], ["status", plan]):
        ran = command(*words)
        assert (ran.code, "THE JOURNAL IS DAMAGED: row 3 was changed" in ran.words) == (1, True)
    assert command("rollback", plan).err == (
        f"rocefort: {plan}.journal: is damaged: row 3 was changed; undo the change in the fabric's "
        "files, then `rocefort plan` plans the rollback\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["history"], "no plan and no journal is named; name a PLAN, or --journal FILE"),
        (["history", "--journal", "none"], "none: no such journal; `rocefort apply` creates it"),
        (["status", "none.json"], "none.json: no such file; make it by `rocefort plan`"),
        (
            ["rollback", "none.json", "--apply"],
            "--apply needs the switches; name them: --connections FILE",
        ),
    ],
)
def test_what_is_not_there(command: Command, words: list[str], sentence: str) -> None:
    ran = command(*words)
    assert (ran.code, ran.err) == (2, f"rocefort: {sentence}\n")


def test_a_fabric_may_ask_for_approvals(
    lab: Rehearsal, described: Path, command: Command, tmp_path: Path
) -> None:
    text = described.read_text()
    policy = "  max_unavailable: 1\n"
    assert text.count(policy) == 1
    described.write_text(
        text.replace(policy, f"{policy}  approvals: {{required: true, expires_h: 2}}\n")
    )
    file = tmp_path / "plan.json"
    command("plan", described, "--connections", lab.file, "--out", file)
    ran = command("apply", file, "--connections", lab.file)
    assert (ran.code, WAITS.format("canary") in ran.words) == (5, True)
    ran = command("approve", file, "--wave", "canary")
    assert ran.err == (
        f"rocefort: canary: the approval is by {user()}, who made the plan; another person has to "
        "approve it\n"
    )
    history = json.loads(command("history", file, "--format", "json").out)
    assert history["runs"][0]["rules"] == {
        "max_unavailable": 1,
        "approve": ["canary", "leaves 1 of 1"],
        "not_author": True,
    }


# --- every end has its sentence -------------------------------------------------------------------


def test_a_plan_without_a_change_has_nothing_to_apply(
    lab: Rehearsal, edit_hall: Callable[..., Path], command: Command, tmp_path: Path
) -> None:
    file, page, at = tmp_path / "plan.json", tmp_path / "page.html", ("--connections", lab.file)
    assert command("plan", edit_hall(), *at, "--out", file).code == 0
    for shown in (("apply", file, *at), ("status", file, "--html", page)):
        ran = command(*shown)
        assert (ran.code, "no switch changes: there is nothing to apply" in ran.words) == (0, True)
    assert "no switch changes: rollout on heps" in page.read_text(encoding="utf-8")
    none = (
        f"plan {read_plan(file).digest[:12]}: changes no switch, so it has no run; there is nothing"
    )
    for words in (("resume", file, *at), ("abort", file), ("pause", file)):
        ran = command(*words)
        assert (ran.code, ran.err) == (4, f"rocefort: {none} to do\n")


def test_a_finished_plan_has_nothing_left_to_do(
    lab: Rehearsal, plan: Path, command: Command
) -> None:
    at = ("--connections", lab.file)
    assert command("apply", plan, *at).code == 0
    for words in (
        ("resume", plan, *at), ("abort", plan), ("pause", plan),
        ("approve", plan, "--wave", "canary"),
    ):  # fmt: skip
        ran = command(*words)
        finished = "its run of this plan is finished; nothing is left to do"
        assert (ran.code, ran.err) == (4, f"rocefort: {plan}.journal: {finished}\n")
    assert command("status", plan).words.count("switch was touched") == 0


def test_an_abort_names_which_switches_keep_their_confirmed_change(
    lab: Rehearsal, plan: Path, command: Command, kill: Callable[..., None], tmp_path: Path
) -> None:
    """Its sentence agrees with `resume`."""
    noted = "noted: no controller is running; `rocefort resume` ends the run: leaf08"
    at, sealed, journal = ("--connections", lab.file), read_plan(plan), Path(f"{plan}.journal")
    kill(sealed, journal, "trial", ActPhase.DONE)
    assert command("abort", plan).out.startswith(f"{noted} is rolled back; leaf08 stays on trial")
    ran = command("resume", plan, *at)
    assert (ran.code, "1 switch rolled back to what ran before: leaf08" in ran.words) == (5, True)
    assert "the rollout touched no other switch" in ran.words
    kill(sealed, journal, "confirm", ActPhase.INTENT)
    assert command("abort", plan).out.startswith(
        f"{noted} is rolled back, or keeps and saves its change if it has confirmed it"
    )
    assert command("resume", plan, *at).code == 5
    kill(sealed, journal, "confirm", ActPhase.DONE)
    assert command("abort", plan).out.startswith(
        f"{noted} keeps its confirmed change, which is saved"
    )
    ran = command("resume", plan, *at)
    assert (ran.code, "1 switch confirmed, read back and saved: leaf08" in ran.words) == (5, True)
    assert lab.switches["leaf08"].saved == lab.switches["leaf08"].running


def test_ctrl_c_before_the_first_wave_is_the_stop_of_an_operator(
    lab: Rehearsal, plan: Path, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at, page = ("--connections", lab.file), tmp_path / "page.html"

    def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:  # nothing is read yet
        patch.setattr(operate, "plan_and_connections", interrupted)
        ran = command("apply", plan, *at)
        assert (ran.code, ran.err) == (
            5,
            "rocefort: stopped before it touched a switch or a server\n",
        )
    with monkeypatch.context() as patch:  # all switches are read
        patch.setattr("rocefort.rollout.apply.apply.refuse_forged", interrupted)
        ran = command("apply", plan, *at, "--html", page)
    assert (ran.code, "no switch was touched" in ran.words) == (5, True)
    assert "interrupted before wave canary; apply the plan again to continue" in ran.words
    assert "no switch was touched" in command("status", plan).words
    shown = page.read_text(encoding="utf-8")
    assert "stopped: rollout on heps" in shown and "No switch was touched." in shown
    assert "rocefort rollback" not in shown
    assert command("apply", plan, *at).code == 0
