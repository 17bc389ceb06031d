"""P13: an approval is for one wave of one plan and run, not by its author, and expires."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from planned import begun as begin
from planned import unchanged

from rocefort.base.errors import Refused
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.models.fabric.approvals import Approvals, WaveApproval
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.apply.operate import give_approval
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.controller.requests import (
    NAMESPACE,
    approval_event,
    approve,
    expired,
    refusal,
    rules_for,
)
from rocefort.rollout.journal.events import (
    ActPhase,
    ApplyRules,
    ApprovalEvent,
    OperatorRequest,
    StepEvent,
)
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import status
from rocefort.rollout.operator import user
from rocefort.rollout.planning.sealed_files import sign_text, write_plan

PlanOf = Callable[[Path], Plan]
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
GATE = Gate(
    pairs=(),
    traffic_class=138,
    line_rate_fraction=0.9,
    latency_us=3.7,
    latency_tolerance=0.2,
    speed_judged=True,
)
WAVES = tuple(Wave(name=n, devices=(d,), gate=GATE) for n, d in (("one", "a"), ("two", "b")))
PLAN = Plan(
    fabric="heps",
    source="/heps/fabric.yaml",
    tool="rocefort 0",
    author="ada",
    intent_digest="0",
    trial_s=600,
    changes=unchanged(WAVES),
    waves=WAVES,
).seal()
RULES = ApplyRules(1, ("one", "two"), not_author=True, expires_h=24, author="ada")
RUN = "7f"
HISTORY = RunHistory(running=True, rules=RULES, run=RUN)
GIVEN = WaveApproval(PLAN.digest, "one", RUN, "bob", NOW.isoformat())


def test_an_approval_by_another_person_holds_for_its_time() -> None:
    assert refusal(GIVEN, PLAN, HISTORY, NOW) == ""
    request = OperatorRequest(1, "approve", "bob", PLAN.digest, "one", GIVEN)
    event = approval_event(request, PLAN, HISTORY, NOW)
    until = "2026-05-05T12:00:00+00:00"
    assert event == ApprovalEvent(wave="one", phase=ActPhase.DONE, detail="by bob", until=until)
    history = HISTORY.after(event)
    assert set(history.approved) == {"one"}
    assert list(expired(history, NOW + timedelta(hours=23))) == []
    (over,) = expired(history, NOW + timedelta(hours=24))
    assert (over.wave, over.phase, over.detail) == ("one", ActPhase.FAILED, "has expired")
    assert not history.after(over).approved
    assert not history.after(over).failure  # it keeps a wave from beginning, and takes none back


@pytest.mark.parametrize(
    ("given", "history", "why"),
    [
        (None, HISTORY, "does not have the form of an approval"),
        (replace(GIVEN, plan="1" * 64), HISTORY, "is for another plan"),
        (replace(GIVEN, run="80"), HISTORY, "is for another run of this plan"),
        (GIVEN, replace(HISTORY, running=False), "is for another run of this plan"),
        (GIVEN, replace(HISTORY, approved={"one": ""}), "is for a wave that is approved already"),
        (replace(GIVEN, wave="three"), HISTORY, "is for a wave that the plan does not have"),
        (
            GIVEN,
            replace(HISTORY, rules=replace(RULES, approve=("two",))),
            "is for a wave that needs no approval",
        ),
        (
            replace(GIVEN, by="ada"),
            HISTORY,
            "is by ada, who made the plan; another person has to approve it",
        ),
        (
            replace(GIVEN, by="ada@example.org", user="ada"),
            HISTORY,
            "is by ada@example.org, given by the user ada, who made the plan; another person has "
            "to approve it",
        ),
        (
            replace(GIVEN, at=(NOW - timedelta(hours=24)).isoformat()),
            HISTORY,
            "of 2026-05-03T12:00:00+00:00 has expired: it is valid for 24 h",
        ),
        (
            replace(GIVEN, at=(NOW + timedelta(hours=1)).isoformat()),
            HISTORY,
            "is dated 2026-05-04T13:00:00+00:00, which is in the future",
        ),
        (replace(GIVEN, at="2026-05-04T12:00:00"), HISTORY, "has no valid time"),
        (replace(GIVEN, at="soon"), HISTORY, "has no valid time"),
        (
            replace(GIVEN, signature="x"),
            HISTORY,
            "is signed, but the rollout began without --allowed-signers, so no key can be checked",
        ),
        (
            GIVEN,
            replace(HISTORY, rules=replace(RULES, signers="/signers")),
            "is not signed; one of /signers has to sign it",
        ),
        (
            replace(GIVEN, signature="x"),
            replace(HISTORY, rules=replace(RULES, signers="/none/signers")),
            "cannot be checked: no such file of allowed signers",
        ),
    ],
)
def test_what_does_not_hold(given: WaveApproval | None, history: RunHistory, why: str) -> None:
    assert refusal(given, PLAN, history, NOW) == why
    wave = given.wave if given else "one"
    event = approval_event(
        OperatorRequest(1, "approve", "eve", PLAN.digest, wave, given), PLAN, history, NOW
    )
    assert (event.phase, event.detail) == (ActPhase.FAILED, f"the approval by eve {why}")
    assert history.after(event).approved == history.approved


ASKED = "by eve: a broken fan"
OUTSIDE = replace(HISTORY, outside=ASKED, rules=replace(RULES, approve=(), not_author=False))
FOR_IT = replace(GIVEN, outside=ASKED)


@pytest.mark.parametrize(
    ("given", "history", "why"),
    [
        (FOR_IT, OUTSIDE, ""),
        (FOR_IT, replace(OUTSIDE, approved={"one": ""}, given={"one": {"by bob": ""}}), ""),
        (GIVEN, OUTSIDE, f"is not for the request to begin outside a window, {ASKED}"),
        (
            FOR_IT,
            HISTORY,
            "is not for the request to begin outside a window, which this run does not have",
        ),
        (
            replace(FOR_IT, by="eve"),
            OUTSIDE,
            "is by eve, who requested that; another person has to approve it",
        ),
        (
            replace(FOR_IT, by="ada"),
            OUTSIDE,
            "is by ada, who made the plan; another person has to approve it",
        ),
        (  # by the name of a key, which the same person owns
            replace(FOR_IT, by="eve@example.org", user="eve"),
            OUTSIDE,
            "is by eve@example.org, given by the user eve, who requested that; another person has "
            "to approve it",
        ),
        (
            replace(FOR_IT, by="ada@example.org", user="ada"),
            OUTSIDE,
            "is by ada@example.org, given by the user ada, who made the plan; another person has "
            "to approve it",
        ),
        (replace(FOR_IT, by="bob@example.org", user="bob"), OUTSIDE, ""),
    ],
)
def test_a_request_to_begin_outside_a_window_is_approved_by_another_person(
    given: WaveApproval, history: RunHistory, why: str
) -> None:
    assert refusal(given, PLAN, history, NOW) == why


def test_an_approval_outside_a_window_is_for_one_reason_and_expires() -> None:
    request = OperatorRequest(1, "approve", "bob", PLAN.digest, "one", FOR_IT)
    event = approval_event(request, PLAN, OUTSIDE, NOW)
    history = OUTSIDE.after(event)
    assert (history.permits_outside("one"), history.permits_outside("two")) == (True, False)
    assert refusal(FOR_IT, PLAN, history, NOW) == "is for a wave that is approved already"
    again = StepEvent(act="outside-window", phase=ActPhase.DONE, detail=ASKED)
    assert history.after(again).permits_outside("one")
    other = again.like(detail="by eve: it is late")
    assert not history.after(other).permits_outside("one")
    (over,) = expired(history, NOW + timedelta(hours=24))
    assert not history.after(over).permits_outside("one")
    two = replace(OUTSIDE, rules=replace(RULES, count=2)).after(event)
    assert not two.permits_outside("one")


def test_the_signature_of_an_approval_covers_its_reason() -> None:
    assert not {"outside", "user"} & json.loads(GIVEN.content).keys()  # as earlier versions sign
    assert ASKED in FOR_IT.content
    assert json.loads(replace(GIVEN, user="bob").content)["user"] == "bob"


def test_a_row_whose_wave_is_not_the_approved_one_holds_for_neither() -> None:
    event = approval_event(
        OperatorRequest(1, "approve", "bob", PLAN.digest, "two", GIVEN), PLAN, HISTORY, NOW
    )
    assert event.detail == "the approval by bob is for another wave"
    assert HISTORY.after(event).approved == {}


@pytest.mark.parametrize("data", ["", "[]", "{", '{"plan": 1}', '{"extra": ""}'])
def test_a_row_that_is_no_approval(data: str) -> None:
    assert WaveApproval.of_json(data) is None


@pytest.mark.parametrize(
    ("policy", "asked", "waits", "not_author", "hours"),
    [
        (Approvals(), ApplyOptions(), (), False, 24),
        (Approvals(), ApplyOptions(each_wave=True), ("one", "two"), False, 24),
        (Approvals(), ApplyOptions(required=True, expires_h=2), ("one", "two"), True, 2),
        (Approvals(required=True), ApplyOptions(), ("one", "two"), True, 24),
        (Approvals(required=True, not_author=False), ApplyOptions(), ("one", "two"), False, 24),
    ],
)
def test_rules_of_a_run(
    policy: Approvals, asked: ApplyOptions, waits: tuple[str, ...], not_author: bool, hours: float
) -> None:
    rules = rules_for(PLAN, policy, 3, "ada", asked)
    assert rules == ApplyRules(3, waits, not_author, hours, "ada", "")


# --- signed ---------------------------------------------------------------------------------------


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="no ssh-keygen; apt-get install openssh-client"
)
def test_an_approval_signed_by_a_key_is_its_owners_and_cannot_be_altered(tmp_path: Path) -> None:
    for name in ("bob", "eve"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    public_key = (tmp_path / "bob.pub").read_text().split()
    signers = tmp_path / "signers"
    signers.write_text(f"bob {public_key[0]} {public_key[1]}\n")
    history = replace(HISTORY, rules=replace(RULES, signers=str(signers)))

    def signed(approval: WaveApproval, key: str, namespace: str = NAMESPACE) -> WaveApproval:
        text = sign_text(approval.content, tmp_path / key, namespace)
        return replace(approval, signature=text)

    good = signed(GIVEN, "bob")
    assert refusal(good, PLAN, history, NOW) == ""
    no_key = f"has no signature of bob by a key of {signers}"
    for bad in (
        replace(good, wave="two"),
        replace(good, at=(NOW + timedelta(minutes=1)).isoformat()),
        signed(GIVEN, "eve"),
        signed(GIVEN, "bob", "rocefort-plan"),
    ):
        assert refusal(bad, PLAN, history, NOW) == no_key
    claims = replace(good, by="carol")
    assert refusal(claims, PLAN, history, NOW) == no_key.replace("bob", "carol")


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="no ssh-keygen; apt-get install openssh-client"
)
def test_nobody_approves_an_own_request_with_an_own_key(tmp_path: Path) -> None:
    key, file = tmp_path / "key", tmp_path / "plan.json"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    keys = (f"bob@example.org {' '.join(key.with_name('key.pub').read_text().split()[:2])}",)
    write_plan(PLAN, file)
    request = StepEvent(act="outside-window", phase=ActPhase.DONE, detail=f"by {user()}: a fan")
    with open_journal(RunDirectory.of(file).journal, PLAN.digest) as journal:
        journal.append(begin(ApplyRules(1, author="ada", keys=keys)))
        journal.append(request)
    with pytest.raises(Refused) as error:
        give_approval(file, None, "one", "", key)
    assert error.value.problem.what == (
        f"the approval is by bob@example.org, given by the user {user()}, who requested that; "
        "another person has to approve it"
    )


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="no ssh-keygen; apt-get install openssh-client"
)
def test_a_team_signs_its_plans_and_its_approvals(
    lab: Rehearsal, described: Path, command: Callable[..., Any], tmp_path: Path
) -> None:
    signers, file, at = tmp_path / "signers", tmp_path / "plan.json", ("--connections", lab.file)
    for name in ("ada", "bob", "eve"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    public_keys = {n: (tmp_path / f"{n}.pub").read_text().split() for n in ("ada", "bob")}
    signers.write_text("".join(f"{n} {key[0]} {key[1]}\n" for n, key in public_keys.items()))
    assert command("plan", described, *at, "--out", file, "--sign", tmp_path / "ada").code == 0

    ran = command("apply", file, *at, "--require-approval", "--allowed-signers", signers)
    assert (ran.code, "waits for its approval" in ran.words) == (5, True)
    approve_canary = ("approve", file, "--wave", "canary")
    assert "canary: the approval is not signed; one of" in command(*approve_canary).err
    assert command(*approve_canary, "--key", tmp_path / "ada").err == (
        "rocefort: canary: the approval is by ada, who made the plan; "
        "another person has to approve it\n"
    )
    assert command(*approve_canary, "--key", tmp_path / "eve").err == (
        f"rocefort: {tmp_path}/eve: is not a key that may approve; see {signers}\n"
    )
    ran = command(*approve_canary, "--key", tmp_path / "eve", "--by", "bob")
    assert "canary: the approval has no signature of bob by a key of" in ran.err
    ran = command(*approve_canary, "--key", tmp_path / "bob")
    assert (ran.code, ran.out.splitlines()[0].endswith(" approved by bob")) == (0, True)

    signature = file.with_name("plan.json.sig")
    content = signature.read_bytes()
    signature.unlink()
    assert "plan.json: is not signed, and needs a signature" in command("resume", file, *at).err
    signature.write_bytes(content)
    ran = command("resume", file, *at)
    assert "1 switch confirmed, read back and saved: leaf08" in ran.words
    assert "wave leaves 1 of 1 waits for its approval" in ran.words


# --- on switches ----------------------------------------------------------------------------------


def begun(lab: Rehearsal, plan: Plan, journal: Path, rules: ApplyRules) -> str:
    return apply_plan(
        plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(rules=rules)
    ).failure


def rows(journal: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(journal)) as connection:
        query = "select at, plan, kind, by, wave, data from request"
        return connection.execute(query).fetchall()


def replay(journal: Path, row: tuple[str, ...]) -> None:
    """Write a row into the journal's table of requests by hand."""
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        connection.execute(
            "insert into request (at, plan, kind, by, wave, data) values (?, ?, ?, ?, ?, ?)", row
        )


def test_an_approval_is_used_once_and_replayed_in_no_other_run(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    waits = "wave canary waits for its approval; `rocefort approve`, then `rocefort resume`"
    rules = ApplyRules(1, ("canary",))
    assert begun(lab, plan, journal, rules) == waits
    approve(journal, plan, "canary", "bob", plan.digest)
    (row,) = rows(journal)
    lab.switches["leaf08"].saved = lab.switches["leaf08"].saved[:-1]  # not saved: it fails
    assert (
        "LIV020 startup: the running configuration is not saved"
        in apply_plan(
            plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
        ).failure
    )
    lab.switches["leaf08"].saved = lab.switches["leaf08"].running
    replay(journal, row)  # before the next run
    assert begun(lab, plan, journal, rules) == waits
    replay(journal, row)  # and in it
    assert (
        apply_plan(
            plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
        ).failure
        == waits
    )
    approvals = [e.event for e in status(journal).entries if e.event.act in ("approve", "ignored")]
    assert [event.detail for event in approvals] == [
        "by bob",
        "approve by bob, meant for an earlier run",
        "the approval by bob is for another run of this plan",
    ]
    assert lab.switches["leaf08"].trial is None


def test_the_author_does_not_approve_and_glass_is_broken_with_a_reason(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    assert plan.author == user()
    rules = ApplyRules(1, ("canary", "leaves 1 of 1"), not_author=True, author=plan.author)
    begun(lab, plan, journal, rules)
    with pytest.raises(Refused) as caught:
        approve(journal, plan, "canary", plan.author, plan.digest)
    assert str(caught.value) == (
        f"canary: the approval is by {user()}, who made the plan; another person has to approve it"
    )
    assert rows(journal) == []
    options = ApplyOptions(resume=True, break_glass="a fibre is cut")
    applied = apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [], options)
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "leaf07"))
    broken = [e.event for e in status(journal).entries if e.event.act == "break-glass"]
    assert [event.detail for event in broken] == [f"by {user()}: a fibre is cut"]


def test_an_old_approval_is_refused_and_a_wave_does_not_begin_by_one(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    waits = begun(lab, plan, journal, ApplyRules(1, ("canary",), expires_h=1))
    long_ago = datetime.now(UTC) - timedelta(hours=2)
    with pytest.raises(Refused, match="has expired: it is valid for 1 h"):
        approve(journal, plan, "canary", "bob", plan.digest, now=_clock(long_ago))
    history = status(journal).history(plan.digest)
    given = WaveApproval(plan.digest, "canary", history.run, "bob", long_ago.isoformat())
    replay(
        journal,
        (long_ago.isoformat(), plan.digest, "approve", "bob", "canary", json.dumps(asdict(given))),
    )
    assert (
        apply_plan(
            plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
        ).failure
        == waits
    )


def _clock(at: datetime) -> Callable[[], datetime]:
    """The clock is right at the second check: the approver's clock is not trusted."""
    times = iter([at, datetime.now(UTC)])
    return lambda: next(times)
