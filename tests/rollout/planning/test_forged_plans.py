"""Forged plans: the seal has no key, so the rollout does not rely on it alone.

A forged plan is derived again and refused before its first act; a signature beside a plan is always
judged; the policy that counts is that of the base, so that a change cannot approve itself.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from planned import git

from rocefort.base.errors import BadInput, Refused
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Change, Plan
from rocefort.models.fabric.approvals import Approvals
from rocefort.rollout.apply import operate
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, RunningConfig, SwitchState
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan import fabric_of_run, rederive
from rocefort.rollout.plan.base_policy import policy_of_base
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.plan.rederive import refuse_forged
from rocefort.rollout.planning import sealed_files
from rocefort.rollout.planning.sealed_files import read_plan, sign, write_plan

PlanOf = Callable[[Path], Plan]
EditHeps = Callable[..., Path]
Command = Callable[..., Any]
REQUIRED = ("  max_unavailable: 1\n", "  max_unavailable: 1\n  approvals: {required: true}\n")
RAISED = ("xoff_kbytes: 600", "xoff_kbytes: 640")
with_keys = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="no ssh-keygen; apt-get install openssh-client"
)


def with_change(plan: Plan, device: str, **update: object) -> Plan:
    """Plan with another change of one device, sealed by the project's own function."""
    changes = tuple(
        change.model_copy(update=update) if change.device == device else change
        for change in plan.changes
    )
    return plan.model_copy(update={"changes": changes}).seal()


def swapped(change: Change, old: str, new: str) -> dict[str, object]:
    """Other commands in both directions."""
    return {
        field: tuple(line.replace(old, new) for line in getattr(change, field))
        for field in ("patch", "reverse")
    }


def forgeries(plan: Plan) -> Mapping[str, Plan]:
    """Sealed plans that do not follow from their fabric, by the beginning of the refusal."""
    first, last = plan.waves[0], plan.waves[-1]
    leaf = plan.change("leaf08")
    line = next(n for n, text in enumerate(leaf.patch, 1) if "detector" in text)
    back = next(n for n, text in enumerate(leaf.reverse, 1) if "description" in text)
    return {
        f"leaf08: line {line} is 'description detector 9'; 'description detector 4' follows": (
            with_change(plan, "leaf08", **swapped(leaf, "detector 4", "detector 9"))
        ),
        f"leaf08: line {len(leaf.patch) + 1} is 'undo lldp enable'; nothing follows": (
            with_change(plan, "leaf08", patch=(*leaf.patch, "undo lldp enable"))
        ),
        f"leaf08: rollback line {back} is missing; ": (
            with_change(plan, "leaf08", reverse=leaf.reverse[: back - 1])
        ),
        "leaf08: its intended_digest does not follow": (
            with_change(plan, "leaf08", intended_digest="0" * 64)
        ),
        "trial_s is 60, but 600 in the fabric": plan.model_copy(update={"trial_s": 60}).seal(),
        f"wave {last.name}: its name does not follow": (
            plan.model_copy(update={"waves": (last, first)}).seal()
        ),
        f"wave {first.name}: its gate (latency_us) does not follow": plan.model_copy(
            update={
                "waves": (
                    first.model_copy(
                        update={"gate": first.gate.model_copy(update={"latency_us": 99.0})}
                    ),
                    last,
                )
            }
        ).seal(),
        "leaf07: has commands, but is in none of its waves": plan.model_copy(
            update={"waves": (first,)}
        ).seal(),
    }


def test_no_forged_plan_reaches_a_switch_though_its_seal_holds(
    lab: Rehearsal, described: Path, plan_of: PlanOf, command: Command, tmp_path: Path
) -> None:
    honest = plan_of(described)
    for number, (begins, forged) in enumerate(forgeries(honest).items()):
        file = tmp_path / f"forged{number}.json"
        write_plan(forged, file)
        ran = command("apply", file, "--connections", lab.file)
        assert ran.err.startswith(f"rocefort: plan {forged.digest[:12]}: {begins}"), ran.err
        assert ran.err.endswith("do not apply it: plan again, and compare both\n")
        assert ran.code == 4
    assert not any(switch.points for switch in lab.switches.values())
    write_plan(honest, tmp_path / "plan.json")
    assert command("apply", tmp_path / "plan.json", "--connections", lab.file).code == 0


def test_commands_of_another_fabric_under_the_reviewed_ones_name_are_refused(
    lab: Rehearsal, described: Path, edit_hall: EditHeps, plan_of: PlanOf, tmp_path: Path
) -> None:
    """Digest and files are those of the reviewed fabric, the commands those of another."""
    honest = plan_of(described)
    text = described.read_text(encoding="utf-8")
    other = plan_of(edit_hall(RAISED))
    described.write_text(text, encoding="utf-8")
    identity = honest.model_dump(include={"source", "intent_digest", "files"})
    forged = other.model_copy(update={name: getattr(honest, name) for name in identity}).seal()
    with pytest.raises(Refused, match="nothing follows from fabric and running text") as caught:
        apply_plan(forged, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [])
    assert caught.value.exit_code == 4
    assert not any(switch.points for switch in lab.switches.values())


def test_what_is_neither_before_nor_behind_its_change_is_not_believed(
    lab: Rehearsal, described: Path, plan_of: PlanOf
) -> None:
    plan = plan_of(described)
    seen = {name: SwitchState(runs=RunningConfig.BASELINE) for name in ("leaf07", "leaf08")}
    running = running_of(described, lab.connections, None)
    refuse_forged(plan, lab.connections, seen, running, again=False)
    between = {**seen, "leaf07": SwitchState(runs=RunningConfig.INTERMEDIATE)}
    with pytest.raises(Refused, match="leaf07: is between two states of this plan, but this"):
        refuse_forged(plan, lab.connections, between, running, again=False)
    refuse_forged(plan, lab.connections, between, running, again=True)
    done = {**seen, "leaf08": SwitchState(runs=RunningConfig.TARGET)}
    refuse_forged(plan, lab.connections, done, running, again=False)
    forged = with_change(plan, "leaf08", intended_digest=plan.change("leaf08").running_digest)
    with pytest.raises(Refused, match="leaf08: its intended digest does not follow from the"):
        refuse_forged(forged, lab.connections, done, running, again=False)
    idle = with_change(plan, "spine01", patch=("undo bgp 65001",))
    with pytest.raises(Refused, match="spine01: has commands, but is in none of its waves"):
        refuse_forged(idle, lab.connections, seen, running, again=False)


def test_a_plan_back_is_what_its_journal_leads_back_to(
    lab: Rehearsal, described: Path, plan_of: PlanOf, command: Command, tmp_path: Path
) -> None:
    """A stored fabric that a plan names does not make the plan's commands trusted."""
    file, back, at = tmp_path / "plan.json", tmp_path / "back.json", ("--connections", lab.file)
    plan = plan_of(described)
    write_plan(plan, file)
    assert command("apply", file, *at).code == 0
    assert command("rollback", file, "--out", back).code == 0
    honest = read_plan(back)
    points = {name: len(switch.points) for name, switch in lab.switches.items()}
    leaf = honest.change("leaf08")
    own = {"kept": honest.kept, "undoes": honest.undoes}
    for forged, what in (
        (
            with_change(honest, "leaf08", patch=(*leaf.patch, "undo lldp enable")),
            "does not follow from its",
        ),
        (plan.model_copy(update=own).seal(), "does not follow from its journal and"),
        (honest.model_copy(update={"undoes": ""}).seal(), "does not name the plan that it rolls"),
        (
            honest.model_copy(update={"undoes": str(back)}).seal(),
            "nothing of this plan was applied",
        ),
    ):
        write_plan(forged, tmp_path / "forged.json")
        ran = command("apply", tmp_path / "forged.json", *at)
        assert (ran.code, what in ran.err, "`rocefort rollback`" in ran.err) == (4, True, True), ran
    assert {name: len(switch.points) for name, switch in lab.switches.items()} == points
    assert command("apply", back, *at).code == 0


# --- the sealed commands are enough for what has begun --------------------------------------------


def test_a_newer_rocefort_ends_takes_back_and_finishes_by_the_sealed_commands(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    kill: Callable[..., None],
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def derived_again(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be derived")

    plan, file = plan_of(described), tmp_path / "plan.json"
    write_plan(plan, file)
    kill(plan, tmp_path / "plan.json.journal", "trial", ActPhase.DONE)
    monkeypatch.setattr(sealed_files, "tool", lambda: "rocefort 99.0")
    for module in (rederive, fabric_of_run):
        name = "make_plan" if module is rederive else "sealed_fabric"
        monkeypatch.setattr(module, name, derived_again)
    at = ("--connections", lab.file)
    assert command("abort", file).code == 0
    ran = command("resume", file, *at)
    assert (ran.code, "aborted as requested by" in ran.words) == (5, True), ran
    assert all(s.running == s.saved for s in lab.switches.values())
    monkeypatch.undo()  # a run begins by the version that made the plan
    kill(plan, tmp_path / "plan.json.journal", "trial", ActPhase.DONE)
    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "plan.json.journal"),
        [],
        ApplyOptions(resume=True),
    )
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "leaf07"))
    monkeypatch.setattr(sealed_files, "tool", lambda: "rocefort 99.0")
    for module, name in ((rederive, "make_plan"), (fabric_of_run, "sealed_fabric")):
        monkeypatch.setattr(module, name, derived_again)
    ran = command("rollback", file, "--apply", *at)
    assert ran.code == 0, ran
    assert "detector" not in running_of(described, lab.connections, None)["leaf08"]


# --- signatures -----------------------------------------------------------------------------------


def test_a_signature_beside_a_plan_is_never_ignored(
    lab: Rehearsal, described: Path, plan_of: PlanOf, command: Command, tmp_path: Path
) -> None:
    file, at = tmp_path / "plan.json", ("--connections", lab.file)
    write_plan(plan_of(described), file)
    RunDirectory.of(file).signature.write_text("garbage\n", encoding="utf-8")
    ran = command("apply", file, *at)
    assert (ran.code, ran.err) == (
        4,
        f"rocefort: {file}: is signed in plan.json.sig, but no allowed signers are configured; "
        "name the signers: rollout.approvals.signers of the fabric, or --allowed-signers FILE; or remove "
        "the signature\n",
    )
    assert not any(switch.points for switch in lab.switches.values())


@with_keys
def test_a_plan_that_is_replaced_by_a_signed_one_once_it_is_read_is_refused(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The signature is for the sent commands, not for the present content of the file."""
    file, key, signers = (tmp_path / name for name in ("plan.json", "ada", "signers"))
    honest = plan_of(described)
    write_plan(honest, file)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signers.write_text(f"ada {key.with_suffix('.pub').read_text()}")
    sign(file, key)
    leaf = honest.change("leaf08")
    forged = with_change(honest, "leaf08", patch=(*leaf.patch, "undo lldp enable"))
    monkeypatch.setattr(operate, "read_plan", lambda _: forged)
    ran = command("apply", file, "--connections", lab.file, "--allowed-signers", signers)
    assert (ran.code, ran.err) == (
        4,
        f"rocefort: {file}: was replaced while it was read: the signature is for another plan; "
        "review the plan, and try again\n",
    )
    assert not any(switch.points for switch in lab.switches.values())


@with_keys
def test_the_fabric_says_who_signs_and_how_many_approve(
    lab: Rehearsal, edit_hall: EditHeps, command: Command, tmp_path: Path
) -> None:
    keys = {}
    for name in ("ada", "bob", "eve", "carol"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
        keys[name] = " ".join((tmp_path / f"{name}.pub").read_text().split()[:2])
    lines = "".join(f"      - {name} {keys[name]}\n" for name in ("ada", "bob", "carol"))
    policy = (
        f"  approvals:\n    required: true\n    count: 2\n    signed: true\n    signers:\n{lines}"
    )
    described_port = ("  - name: readout04\n", "  - name: readout04\n    description: detector 4\n")
    fabric = edit_hall((REQUIRED[0], REQUIRED[0] + policy), described_port)
    file, at = tmp_path / "plan.json", ("--connections", lab.file)

    def planned(*sign: object) -> None:
        assert command("plan", fabric, *at, "--out", file, *sign).code == 0

    def approve(key: str) -> Any:
        return command("approve", file, "--wave", "canary", "--key", tmp_path / key)

    planned()
    assert f"{file}: is not signed, and needs a signature" in command("apply", file, *at).err
    planned("--sign", tmp_path / "eve")
    assert f"{file}: has no valid SSH signature by a signer of" in command("apply", file, *at).err
    planned("--sign", tmp_path / "ada")
    assert "waits for its approval" in command("apply", file, *at).words
    assert "by ada, who made the plan" in approve("ada").err
    assert (
        "is not a key that may approve; see the signers of the fabric's policy"
        in approve("eve").err
    )
    assert approve("bob").code == 0
    assert "waits for its approval" in command("resume", file, *at).words
    assert "by bob, who has approved this wave already; another has to" in approve("bob").err
    assert approve("carol").code == 0
    ran = command("resume", file, *at)
    assert (ran.code, "1 switch confirmed, read back and saved: leaf08" in ran.words) == (0, True)


# --- the policy of the base -----------------------------------------------------------------------


@pytest.fixture
def site(edit_hall: EditHeps, tmp_path: Path) -> Path:
    """Repository whose first commit requires approvals, and whose second requires none."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for words in ((REQUIRED,), (RAISED,)):
        git(tmp_path, "add", str(edit_hall(*words)))
        git(tmp_path, "commit", "--quiet", "-m", "the fabric")
    return tmp_path / "fabric.yaml"


def test_a_change_that_relaxes_the_policy_is_judged_by_the_one_before(
    lab: Rehearsal, site: Path, command: Command, tmp_path: Path
) -> None:
    file, at = tmp_path / "plan.json", ("--connections", lab.file)
    assert command("plan", site, *at, "--out", file).code == 0
    ran = command("apply", file, *at)
    assert (ran.code, "waits for its approval" in ran.words) == (5, True)
    assert not any(switch.points for switch in lab.switches.values())


def approvals_of_base(plan: Plan, base: str = "") -> Approvals | None:
    policy = policy_of_base(plan, base)
    return policy.approvals if policy else None


def test_where_the_policy_of_the_base_is_read(
    site: Path, edit_hall: EditHeps, lab: Rehearsal, tmp_path: Path
) -> None:
    def plan(base: str = "") -> Plan:
        return sealed.model_copy(update={"source": str(site), "base": base})

    sealed = make_plan(site, lab.connections, running_of(site, lab.connections, None))
    strict, none = Approvals(required=True), Approvals()
    assert approvals_of_base(plan()) == strict  # before the last commit that touched it
    assert (
        approvals_of_base(plan("HEAD:")) == strict
    )  # a base chosen by its author requires no less
    lax = tmp_path / "lax.yaml"
    lax.write_text(site.read_text(encoding="utf-8"), encoding="utf-8")
    assert approvals_of_base(plan(str(lax))) == strict
    assert approvals_of_base(plan(), str(lax)) == none
    assert (
        approvals_of_base(plan("HEAD:"), "HEAD~1:") == strict
    )  # the option of `apply` has precedence
    back = plan().model_copy(update={"kept": "journal.fabric/0"})
    assert approvals_of_base(back) == none  # what it leads back from is committed
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~1")
    assert (approvals_of_base(back), approvals_of_base(plan())) == (
        strict,
        None,
    )  # there is no other form
    git(tmp_path, "reset", "--quiet", "--hard", "ORIG_HEAD")
    edit_hall()  # a change that is not committed
    assert approvals_of_base(plan()) == none
    assert approvals_of_base(plan("HEAD~1:")) == strict  # and may ask for more
    git(tmp_path, "checkout", "--quiet", "-b", "topic")
    for words in ((RAISED, REQUIRED), (RAISED, ("trial_s: 600", "trial_s: 660"))):
        git(tmp_path, "add", str(edit_hall(*words)))
        git(tmp_path, "commit", "--quiet", "-m", "on the branch")
    git(tmp_path, "checkout", "--quiet", "main")
    git(tmp_path, "merge", "--quiet", "--no-ff", "-m", "merged", "topic")
    assert approvals_of_base(plan()) == none  # what was merged counts as one change
    alone = tmp_path / "alone" / "fabric.yaml"
    alone.parent.mkdir()
    alone.write_text(site.read_text(encoding="utf-8"), encoding="utf-8")
    assert approvals_of_base(plan().model_copy(update={"source": str(alone)})) is None


def test_a_repository_that_lacks_the_earlier_form_is_told_apart_from_one_that_has_none(
    site: Path, lab: Rehearsal, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sealed = make_plan(site, lab.connections, running_of(site, lab.connections, None))

    def policy(fabric: Path, base: str = "") -> Approvals | None:
        return approvals_of_base(sealed.model_copy(update={"source": str(fabric)}), base)

    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{tmp_path}", str(shallow))
    with pytest.raises(BadInput) as caught:
        policy(shallow / "fabric.yaml")
    assert str(caught.value) == (
        f"{shallow}/fabric.yaml: this clone is shallow and lacks the version before its last "
        "change, whose policy counts; git fetch --unshallow, or name that version: --base REV:"
    )
    assert policy(shallow / "fabric.yaml", "HEAD:") == Approvals()
    fresh, broken = (tmp_path_factory.mktemp(name) for name in ("fresh", "broken"))
    git(fresh, "init", "--quiet")
    (broken / ".git").mkdir()
    for clone in (fresh, broken):
        shutil.copy(site, clone)
        assert policy(clone / "fabric.yaml") is None


ADA, BOB, EVE = (f"{name} ssh-ed25519 {name.upper()}" for name in ("ada", "bob", "eve"))


def test_two_policies_ask_together_for_all_that_each_asks_for() -> None:
    strict = Approvals(required=True, not_author=False, count=2, from_switches=3, expires_h=48)
    lax = Approvals(expires_h=12)
    both = strict.model_copy(update={"expires_h": 12})
    assert strict.joined(lax) == lax.joined(strict) == both
    other = Approvals(required=True, signed=True, signers=(ADA, BOB))
    both = both.model_copy(update=vars(other) | {"count": 2, "expires_h": 24})
    assert strict.joined(other) == both
    assert other.joined(Approvals(signers=(BOB, EVE))).signers == (BOB,)
    with pytest.raises(ValueError, match="no signer is one of both policies"):
        other.joined(Approvals(signers=(EVE,)))


def test_a_base_with_other_signers_is_refused(
    site: Path, edit_hall: EditHeps, lab: Rehearsal
) -> None:
    sealed = make_plan(site, lab.connections, running_of(site, lab.connections, None))
    for signer in (ADA, BOB):
        words = f"  max_unavailable: 1\n  approvals: {{signers: ['{signer}']}}\n"
        git(site.parent, "add", str(edit_hall((REQUIRED[0], words))))
        git(site.parent, "commit", "--quiet", "-m", "signers")
    plan = sealed.model_copy(update={"source": str(site), "base": "HEAD:"})
    with pytest.raises(Refused) as caught:
        policy_of_base(plan)
    assert str(caught.value) == (
        f"{site}: rollout.approvals: no signer is one of both policies: that before its last change, "
        "and that of the plan's base HEAD:; choose one of them: --base REV:"
    )


@pytest.mark.parametrize(
    ("switches", "affecting", "asked"),
    [(1, False, False), (3, False, True), (1, True, True)],
)
def test_small_changes_may_go_without_approval(switches: int, affecting: bool, asked: bool) -> None:
    policy = Approvals(required=True, from_switches=3)
    assert policy.asked_of(switches, service_affecting=affecting) is asked
    assert not Approvals(from_switches=3).asked_of(switches, service_affecting=affecting)
