"""A BGP password on its path to switches: read late, never shown, set again on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply import apply
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, Event, RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import PlanOptions, make_plan
from rocefort.rollout.planning.sealed_files import write_plan

Edit = Callable[..., Path]
PlanOf = Callable[[Path], Plan]
ApplyTo = Callable[[Plan], tuple[RolloutOutcome, list[Event]]]

REFERENCE, SECRET, ROTATED = "env:BGP_PASSWORD_OF_A_TEST", "s3cret-%^&|#of-a-test", "An0ther!"
NAME = REFERENCE.removeprefix("env:")
PAIR = (
    "\nsecurity:",
    "\nlinks:\n  - spine: spine01\n    leaf: leaf08\n"
    f"    authentication: {{password: '{REFERENCE}'}}\n\nsecurity:",
)


pytestmark = pytest.mark.usefixtures("apart")


def passwords(lab: Rehearsal) -> dict[str, str]:
    """The lines with a password, by switch."""
    found: dict[str, str] = {}
    for name, switch in lab.switches.items():
        lines = tree_text(switch.running).splitlines()
        found.update((name, x.strip()) for x in lines if "peer" in x and " password " in x)
    return found


def test_a_password_of_a_pair_reaches_both_ends_and_nothing_else(
    lab: Rehearsal,
    edit_hall: Edit,
    plan_of: PlanOf,
    apply_to: ApplyTo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(NAME, SECRET)
    fabric = edit_hall(PAIR)
    plan = plan_of(fabric)
    write_plan(plan, tmp_path / "plan.json")
    assert [change.device for change in plan.changes if not change.empty] == ["spine01", "leaf08"]
    assert {line.strip() for line in plan.change("leaf08").patch if "password" in line} == {
        f"peer 10.1.0.112 password cipher <secret {REFERENCE}>"
    }

    applied, events = apply_to(plan)
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "spine01"))
    lines = passwords(lab)
    assert lines.keys() == {"leaf08", "spine01"}
    assert all("cipher %^%#" in line for line in lines.values())
    seen = [plan.model_dump_json(), str(events), str(applied), *lines.values()]
    seen += [
        path.read_bytes().decode(errors="replace") for path in tmp_path.glob("*") if path.is_file()
    ]
    assert not [text for text in seen if SECRET in text]

    again = plan_of(fabric)
    assert all(change.empty for change in again.changes)

    running = running_of(fabric, lab.connections, None)
    with pytest.raises(Refused) as caught:  # the session is up by now, with the old one
        make_plan(fabric, lab.connections, running, PlanOptions(rotate=[REFERENCE]))
    assert "leaf08: its BGP session with spine01 ends within the hold time" in str(caught.value)


def test_a_secret_alone_is_set_anew_inside_a_drain_and_by_who_goes_on(
    lab: Rehearsal,
    edit_hall: Edit,
    plan_of: PlanOf,
    apply_to: ApplyTo,
    kill: Callable[..., None],
    typed: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Drained before and behind it, the switch shows the same text: only its commits differ."""
    monkeypatch.setenv(NAME, SECRET)
    fabric = edit_hall(PAIR)
    assert apply_to(plan_of(fabric))[0].confirmed == ("leaf08", "spine01")
    lines = passwords(lab)["spine01"]
    typed("leaf08", "bgp 65108", "undo peer 10.1.0.112", "quit")  # so that no session is cut
    running = running_of(fabric, lab.connections, None)
    plan = make_plan(fabric, lab.connections, running, PlanOptions(rotate=[REFERENCE]))
    (wave,) = (wave for wave in plan.waves if wave.devices == ("spine01",))
    (drained,) = wave.drained
    assert drained.change.only_secrets
    assert [part.only_secrets for part in drained.parts] == [False, True, False]
    plan = plan.model_copy(update={"waves": (wave,)}).seal()
    monkeypatch.setattr(apply, "refuse_forged", lambda *_, **__: None)  # it is derived whole
    monkeypatch.setenv(NAME, ROTATED)
    spine, journal = lab.switches["spine01"], tmp_path / "rotated"
    text = [line for line in tree_text(spine.running).splitlines() if " password " not in line]
    kill(plan, journal, "confirm", ActPhase.DONE, "spine01", "change while drained")
    assert passwords(lab)["spine01"] != lines
    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
    )
    assert (applied.failure, applied.confirmed) == ("", ("spine01",))
    assert spine.saved == spine.running and spine.trial is None
    now = tree_text(spine.running).splitlines()
    assert [line for line in now if " password " not in line] == text
    words = [point.description.partition(", ")[2] for point in spine.points if point.description]
    assert words[-1] == "end of the drain"
    assert words.count("drain") == 1  # not done again


def test_a_secret_that_is_not_there_stops_it_before_anything_is_touched(
    lab: Rehearsal, edit_hall: Edit, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(edit_hall(PAIR))
    before = {name: switch.running for name, switch in lab.switches.items()}
    with pytest.raises(BadInput) as caught:
        apply_to(plan)
    assert str(caught.value).startswith(f"{REFERENCE}: the environment has no variable {NAME}; ")
    assert {name: switch.running for name, switch in lab.switches.items()} == before


def test_a_secret_with_a_second_line_in_it_stops_it_unseen(
    lab: Rehearsal,
    edit_hall: Edit,
    plan_of: PlanOf,
    apply_to: ApplyTo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = plan_of(edit_hall(PAIR))
    for bad in ("word\nundo bgp", "word\rundo bgp", "two words", "help?"):
        monkeypatch.setenv(NAME, bad)
        with pytest.raises(BadInput) as caught:
            apply_to(plan)
        assert str(caught.value).startswith(f"{REFERENCE}: the secret ")
        assert bad.partition(" ")[0] not in str(caught.value)
    assert passwords(lab) == {}


def test_only_what_the_fabric_uses_can_be_rotated(lab: Rehearsal, edit_hall: Edit) -> None:
    fabric = edit_hall(PAIR)
    with pytest.raises(BadInput) as caught:
        make_plan(fabric, lab.connections, {}, PlanOptions(rotate=["env:BGP_PASSWORT"]))
    assert str(caught.value) == (
        f"env:BGP_PASSWORT: no switch has a secret by this reference; did you mean {REFERENCE!r}?"
    )
