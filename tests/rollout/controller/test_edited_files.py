"""A fabric whose files are edited during its rollout: the begun run continues."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import Refused
from rocefort.design.derive.derive import derive
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.fleet.connections import Connections
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply import apply
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, ApplyRules
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.fabric_of_run import KeptFabric
from rocefort.rollout.planning.sealed_files import read_plan, write_plan

PlanOf = Callable[[Path], Plan]
SICK = ApplyRules(max_unavailable=1, allow_sick=True)  # the leaves do not run what is intended yet
CHANGED = "change while drained"


@pytest.fixture
def drained(
    raised: Path,
    plan_of: PlanOf,
    kill: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> tuple[Plan, Path]:
    """spine01 is drained, and on trial with its change; its controller is dead."""
    monkeypatch.setattr(apply, "refuse_forged", believed)  # one wave of the plan alone
    plan = plan_of(raised)
    wave = next(wave for wave in plan.waves if wave.devices == ("spine01",))
    plan = plan.model_copy(update={"waves": (wave,)}).seal()
    journal = tmp_path / "plan.json.journal"
    write_plan(plan, tmp_path / "plan.json")
    kill(plan, journal, "trial", ActPhase.DONE, "spine01", CHANGED, SICK)
    return plan, journal


def believed(*_: object, **__: object) -> None:
    """Every plan."""


def edit(raised: Path) -> None:
    """Another threshold."""
    text = raised.read_text(encoding="utf-8")
    assert text.count("xoff_kbytes: 640") == 1
    raised.write_text(text.replace("xoff_kbytes: 640", "xoff_kbytes: 620"), encoding="utf-8")


def beyond(lab: Rehearsal) -> Connections:
    """Connections with a switch that the fabric will have later."""
    new = lab.connections.devices[0].model_copy(update={"name": "leaf99", "port": 1})
    return lab.connections.model_copy(update={"devices": (*lab.connections.devices, new)})


def test_resume_goes_on_and_apply_is_told_to(
    lab: Rehearsal, drained: tuple[Plan, Path], raised: Path, tmp_path: Path
) -> None:
    plan, journal = drained
    derived = derive(raised)
    (file,) = Path(f"{journal}.fabric").iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    stored = KeptFabric.model_validate_json(file.read_text(encoding="utf-8"))
    assert stored == KeptFabric(network=derived.network, policy=derived.fabric.rollout)  # all of it
    edit(raised)
    with pytest.raises(Refused) as caught:
        apply_plan(
            plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(rules=SICK)
        )
    assert str(caught.value) == (
        f"{journal}: its run of this plan is unfinished; `rocefort resume` continues it"
    )
    lost = file.rename(tmp_path / "lost")
    with pytest.raises(Refused) as caught:
        apply_plan(
            plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
        )
    assert str(caught.value) == (
        f"{file}: is not stored, or cannot be read, and {raised}: the fabric has changed since the "
        "plan; restore one of the two"
    )
    lost.rename(file)
    applied = apply_plan(
        plan, beyond(lab), RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
    )
    assert (applied.failure, applied.confirmed) == ("", ("spine01",))
    spine = lab.switches["spine01"]
    assert spine.saved == spine.running
    for at in (journal, tmp_path / "another"):  # a fresh start
        with pytest.raises(Refused, match="the fabric has changed since the plan; plan again"):
            apply_plan(
                plan, lab.connections, RunDirectory.of_journal(at), [], ApplyOptions(rules=SICK)
            )
    assert not (tmp_path / "another").exists()  # nothing half done


def test_abort_and_the_way_back_of_what_is_drained(
    lab: Rehearsal,
    drained: tuple[Plan, Path],
    raised: Path,
    command: Callable[..., Any],
    tmp_path: Path,
) -> None:
    assert drained
    raised.write_text("this: is not a fabric\n", encoding="utf-8")
    ran = command("abort", tmp_path / "plan.json")
    assert (ran.code, ran.err) == (0, "")
    ran = command("resume", tmp_path / "plan.json", "--connections", lab.file)
    assert (ran.code, "aborted as requested by" in ran.words) == (5, True)
    spine = lab.switches["spine01"]
    assert spine.saved == spine.running and spine.trial is None
    assert not [p for p in spine.points if p.description.endswith("end of the drain")]
    assert "state: failed" not in command("status", tmp_path / "plan.json").words


def test_rollback_stands_on_what_the_run_has_kept(
    lab: Rehearsal,
    drained: tuple[Plan, Path],
    raised: Path,
    command: Callable[..., Any],
    tmp_path: Path,
) -> None:
    plan, journal = drained
    (file,) = Path(f"{journal}.fabric").iterdir()
    file.unlink()  # lost: then the files will do, as long as they are what they were
    assert apply_plan(
        plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
    ).confirmed == ("spine01",)
    new = lab.switches["spine01"].running
    back = tmp_path / "plan.back.json"
    ran = command("rollback", tmp_path / "plan.json")
    assert (ran.code, f"sealed in {back}" in ran.words) == (0, True)
    raised.unlink()
    stored = Path(read_plan(back).kept)
    assert stored.parent == Path(f"{journal}.fabric")
    key, signers = tmp_path / "ada", tmp_path / "signers"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signers.write_text(f"ada {key.with_suffix('.pub').read_text()}")
    words = [
        *("rollback", tmp_path / "plan.json", "--apply", "--connections", lab.file),
        *("--allowed-signers", signers),
    ]
    ran = command(*words)
    assert (ran.code, "is not signed, and needs a signature" in ran.err) == (4, True)
    words += ["--sign", key]
    lab.model.inject("spine01", read_state_fault("ai-ecn-abnormal", "100GE1/1/8"))
    ran = command(*words)
    assert (ran.code, "or use `--allow-unhealthy`" in ran.words) == (4, True)
    ran = command(*words, "--allow-unhealthy")
    assert (ran.code, ran.err) == (0, "")
    assert lab.switches["spine01"].running != new
    stored.chmod(0o600)
    stored.write_text("{}")
    ran = command("apply", back, "--connections", lab.file)
    assert (ran.code, ran.err) == (
        2,
        f"rocefort: {stored}: was changed after it was stored; restore it, or make the rollback "
        "plan again: `rocefort rollback`\n",
    )
