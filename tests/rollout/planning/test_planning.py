"""Refusals, drains, warnings and seals of a plan, from texts without a switch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from canonical import canonical

from rocefort.base.errors import BadInput, Refused
from rocefort.base.repository import HARDWARE, PROFILES, Site
from rocefort.change.effects.switch_configs import running_digest
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.fleet.connections import Connections, ServerAccess, SshAccess
from rocefort.models.change.plan import Change, Plan
from rocefort.reports.blocks import Block
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.plan.make_plan import PlanOptions, devices_of, make_plan, sealed_fabric
from rocefort.rollout.plan.procedures import NeedsMaintenance, console_procedure
from rocefort.rollout.planning import sealed_files as files
from rocefort.rollout.planning.sealed_files import read_plan, write_plan
from rocefort.rollout.report.plan_report import (
    Procedures,
    plan_report,
    procedure_report,
    procedures_report,
)

EditHeps = Callable[..., Path]
MakePlan = Callable[..., Plan]
RAISED = ("xoff_kbytes: 600", "xoff_kbytes: 640")
DRAIN = ("  max_unavailable: 1\n", "  max_unavailable: 1\n  drain: true\n")


def _console_blocks(plan: Plan, device: str, persist: str) -> Iterator[Block]:
    return procedures_report(Procedures(procedures=(console_procedure(plan, device, persist),)))


@pytest.fixture(scope="session")
def texts(heps: DerivedNetwork) -> Mapping[str, str]:
    """Running texts of HEPS."""
    return render_all(heps.network)


@pytest.fixture(scope="session")
def access(heps: DerivedNetwork) -> Connections:
    """Connections to all devices; the tests do not use them."""
    login = {"host": "192.0.2.1", "user": "netops", "credential": "env:X"}
    server = {**login, "rdma_device": "mlx5_0", "gid_index": 3}
    return Connections(
        known_hosts=Path("known_hosts"),
        devices=tuple(SshAccess(name=node.name, **login) for node in heps.network.nodes),
        servers=tuple(ServerAccess(name=s.name, **server) for s in heps.network.servers or ()),
    )


@pytest.fixture
def plan(texts: Mapping[str, str], access: Connections) -> MakePlan:
    """Plan a fabric against the texts of HEPS, or against texts with replaced pieces."""

    def make(fabric: Path, *changes: tuple[str, str, str], **wishes: object) -> Plan:
        running = dict(texts)
        for name, old, new in changes:
            assert old in running[name]
            running[name] = running[name].replace(old, new)
        return make_plan(fabric, access, running, PlanOptions(**wishes))  # type: ignore[arg-type]

    return make


# --- draining -------------------------------------------------------------------------------------


def test_a_spine_that_traffic_feels_is_drained_and_the_table_says_it_with_numbers(
    plan: MakePlan, edit_heps: EditHeps, heps_file: Path
) -> None:
    fabric = edit_heps(RAISED, DRAIN)
    (fabric.parent / "demand.yaml").write_text((heps_file.parent / "demand.yaml").read_text())
    sealed = plan(fabric)
    spines = [wave for wave in sealed.waves if wave.name.startswith("spine")]
    assert [[d.device for d in wave.drained] for wave in spines] == [["spine01"], ["spine02"]]
    assert spines[0].unavailable == (
        "without spine01: ECMP width 1, no server pair lost; leaves keep at least 100 of 200 Gb/s "
        "of uplinks",
    )
    assert spines[0].warnings == (
        "3,200 Gb/s of demand heps fill the fullest cable to 457%, without spine01 to 914%: the "
        "whole fabric cannot carry that either; make the change at lower load",
    )
    leaf = next(wave for wave in sealed.waves if wave.devices == ("leaf05",))
    assert leaf.drained == ()
    assert leaf.unavailable == (
        "servers of leaf05: readout01 (single-homed, so it is not drained)",
    )
    assert leaf.warnings == (
        "`dcb pfc buffer` may be refused while a port is congested; then the wave rolls back",
    )
    text = text_of(*plan_report(sealed), width=80)
    lines = text.splitlines()
    assert all(len(line) <= 80 for line in lines)
    (row,) = (n for n, line in enumerate(lines) if line.startswith("spine 1 of 2   spine01   "))
    assert lines[row].split()[5] == "modifying,"
    assert lines[row + 1].split()[0] == "service-affecting"
    assert "    drained first: without spine01: ECMP width 1, no server pair lost; leaves" in text
    assert " ".join(text.split()).count("`dcb pfc buffer` may be refused") == 1


def test_the_three_changes_of_a_drained_switch_lead_from_state_to_state_and_back(
    plan: MakePlan, edit_heps: EditHeps, texts: Mapping[str, str], heps: DerivedNetwork
) -> None:
    sealed = plan(edit_heps(RAISED, DRAIN))
    wave = next(wave for wave in sealed.waves if wave.devices == ("spine01",))
    (drained,) = wave.drained
    family = heps.network.by_name["spine01"].family
    assert family
    assert sealed.parts(wave, "spine01") == drained.parts
    assert drained.drain.patch == ("route-policy EXPORT deny node 1", " quit")
    assert drained.change.patch == sealed.change("spine01").patch
    assert drained.lift.patch == ("undo route-policy EXPORT node 1",)
    config = canonical(parse_tree(as_saved(texts["spine01"])), family.syntax)

    def digest() -> str:
        return running_digest(parse(tree_text(config), "spine01"), family)

    seen = [digest()]
    for part in drained.parts:
        config = apply_lines(config, part.patch, family.syntax)
        seen.append(digest())
    assert tuple(seen) == drained.states
    assert len(set(seen)) == 4
    assert seen[-1] == sealed.change("spine01").intended_digest
    for part in reversed(drained.parts):
        config = apply_lines(config, part.undone.patch, family.syntax)
        assert digest() == part.undone.intended_digest
    assert digest() == seen[0]


def test_what_traffic_does_not_feel_is_not_drained(plan: MakePlan, edit_heps: EditHeps) -> None:
    ntp = ("ntp: [10.255.0.250]", "ntp: [10.255.0.250, 10.255.0.252]")
    sealed = plan(edit_heps(ntp, DRAIN))
    assert [w.devices for w in sealed.waves][-1] == ("spine02",)
    assert [(w.drained, w.unavailable, w.warnings) for w in sealed.waves] == [((), (), ())] * 10


def test_a_spine_that_somebody_drained_by_hand_is_not_drained_and_that_is_said(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    by_hand = "route-policy EXPORT deny node 1\n#\nroute-policy EXPORT permit node 10"
    sealed = plan(
        edit_heps(RAISED, DRAIN), ("spine01", "route-policy EXPORT permit node 10", by_hand)
    )
    wave = next(wave for wave in sealed.waves if wave.devices == ("spine01",))
    assert wave.drained == ()
    assert wave.warnings[-1] == (
        "not drained: not every peer has an export policy of its own that could deny, or one denies"
    )


@pytest.mark.parametrize("drain", ["true", "false"])
def test_fewer_paths_than_the_policy_wants_are_refused(
    plan: MakePlan, edit_heps: EditHeps, drain: str
) -> None:
    policy = f"  max_unavailable: 1\n  drain: {drain}\n  least_ecmp_width: 2\n"
    with pytest.raises(Refused) as caught:
        plan(edit_heps(RAISED, (DRAIN[0], policy)))
    assert str(caught.value) == (
        "spine01: its change is service-affecting; without it ECMP between leaves is 1 paths wide, "
        "but rollout.least_ecmp_width is 2; add links or spines first, or lower "
        "rollout.least_ecmp_width"
    )


SHUT = ("spine02", "interface 100GE1/1/1\n", "interface 100GE1/1/1\n shutdown\n")


def test_a_spine_whose_other_is_broken_is_refused_or_with_leave_changed_undrained(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    with pytest.raises(Refused) as caught:
        plan(edit_heps(RAISED, DRAIN), SHUT)
    assert str(caught.value).startswith(
        "spine01: its change is service-affecting; without it ECMP between leaves is 0 paths wide, "
    )
    leave = (DRAIN[0], f"{DRAIN[1]}  least_ecmp_width: 0\n")
    first, second = plan(edit_heps(RAISED, leave), SHUT).waves[-2:]
    assert first.drained == ()
    assert first.warnings[-1].startswith(
        "not drained: it would lose traffic that it must keep: ECMP width 0-1, 32 server pairs lost"
    )
    assert [drained.device for drained in second.drained] == ["spine02"]


def test_a_demand_that_only_the_whole_fabric_carries_refuses_and_a_quiet_time_does_not(
    plan: MakePlan, edit_heps: EditHeps, heps_file: Path
) -> None:
    fabric = edit_heps(RAISED, DRAIN)
    demand = (heps_file.parent / "demand.yaml").read_text().replace("3.2 Tb/s", "600 Gb/s")
    lines = [line for line in demand.splitlines() if not line.startswith(("daily", "busiest"))]
    (fabric.parent / "demand.yaml").write_text("\n".join(lines) + "\n")
    with pytest.raises(Refused) as caught:
        plan(fabric)
    assert str(caught.value) == (
        "spine01: its change is service-affecting; the other spines cannot carry its load: "
        "600 Gb/s of demand heps fill the fullest cable to 86%, without spine01 to 171%; add "
        "capacity, or change it at lower load and state that in rollout.peak_share"
    )
    quiet = fabric.read_text().replace("  drain: true\n", "  drain: true\n  peak_share: 0.5\n")
    fabric.write_text(quiet)
    assert [len(wave.drained) for wave in plan(fabric).waves][-2:] == [1, 1]


# --- drift ----------------------------------------------------------------------------------------

TYPED = ("leaf03", "static 600", "static 620")


def test_a_value_that_nobody_intended_is_refused_by_name_unless_it_is_let_go(
    plan: MakePlan, edit_heps: EditHeps, heps_file: Path
) -> None:
    fabric = edit_heps(RAISED)
    with pytest.raises(Refused) as caught:
        plan(fabric, TYPED, base=str(heps_file))
    first = str(caught.value).splitlines()[0]
    path = "interfaces[100GE1/0/1].thresholds[4].xoff_kbytes"
    assert first == (
        f"leaf03: {path}: it runs 620, the last intent had 600; the plan overwrites that; put it "
        f"into the fabric, or allow the overwrite by --adopt 'leaf03:{path}'"
    )
    assert caught.value.exit_code == 4
    whole = plan(fabric, TYPED, base=str(heps_file), adopt=["leaf03"])
    assert f"leaf03: {path}" in whole.adopted
    some = "leaf03:interfaces[*].thresholds[*"
    assert plan(fabric, TYPED, base=str(heps_file), adopt=[some]).adopted == whole.adopted
    with pytest.raises(Refused):
        plan(fabric, TYPED, base=str(heps_file), adopt=[f"leaf03:{path}"])


def test_what_the_last_intent_had_or_what_the_plan_leaves_alone_is_no_drift(
    plan: MakePlan, edit_heps: EditHeps, heps_file: Path
) -> None:
    fabric = edit_heps(RAISED)
    assert plan(fabric, base=str(heps_file)).adopted == ()
    ahead = ("leaf03", "static 600", "static 640")  # typed by hand, and equal to the new intent
    assert plan(fabric, ahead, base=str(heps_file)).adopted == ()
    with pytest.raises(BadInput) as caught:
        plan(fabric, base=str(heps_file), adopt=["leaf09"])
    assert str(caught.value) == "--adopt leaf09: names no drift; leave it out"


def test_without_a_last_intent_what_is_overwritten_is_shown_and_the_rest_said(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    sealed = plan(edit_heps(RAISED), TYPED)
    edits = {edit.before for edit in sealed.change("leaf03").edits}
    assert edits == {620}
    assert "not known: whether the plan overwrites manual changes" in text_of(
        *plan_report(sealed), width=80
    )


# --- management -----------------------------------------------------------------------------------


def test_a_change_that_could_cut_the_way_in_is_refused_and_a_wider_one_is_not(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    access = "    - {id: 1, prefix: 10.255.0.0/24}\n"
    with pytest.raises(Refused) as caught:
        plan(edit_heps((access, "    - {id: 1, prefix: 10.255.0.0/25}\n")))
    assert caught.value.exit_code == 4
    assert str(caught.value).splitlines()[0] == (
        "spine01: the change could cause a lockout: ACL 2000 of the VTY lines may admit fewer "
        "addresses, or others; make it at the console, which cannot be locked out "
        "(`rocefort day0` prints it), plan again"
    )
    wider = plan(edit_heps((access, access + "    - {id: 2, prefix: 10.254.0.0/24}\n")))
    assert len(wider.waves) == 10


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("level: 3", "level: 1", "user netops"),
        ("ssh server-source", "", "the SSH server or its source interface"),
        ("10.255.0.1", "10.255.0.201", "port and address of MEth0/0/0"),
    ],
)
def test_users_ssh_and_the_port_of_management_are_part_of_the_way_in(
    plan: MakePlan, edit_heps: EditHeps, texts: Mapping[str, str], old: str, new: str, what: str
) -> None:
    running = texts["leaf01"]
    rows = {
        "user netops": (" level 3", " level 2"),
        "the SSH server or its source interface": ("stelnet server enable\n", ""),
        "port and address of MEth0/0/0": (
            "interface MEth0/0/0\n",
            "interface MEth0/0/0\n shutdown\n",
        ),
    }
    before, after = rows[what]
    assert before in running
    with pytest.raises(Refused) as caught:
        plan(edit_heps(RAISED), ("leaf01", before, after))
    assert f"leaf01: the change could cause a lockout: {what};" in str(caught.value)


# --- maintenance ----------------------------------------------------------------------------------


def test_what_no_trial_can_make_is_refused_with_a_procedure(
    plan: MakePlan, edit_heps: EditHeps, texts: Mapping[str, str]
) -> None:
    split = "port split dimension interface 100GE1/0/40 split-type 4*25GE\n#\nlldp enable"
    with pytest.raises(NeedsMaintenance) as caught:
        plan(edit_heps(RAISED), ("leaf01", "lldp enable", split))
    assert caught.value.exit_code == 4
    assert str(caught.value).startswith(
        "leaf01: no trial can make its change: `undo port split dimension interface` needs an idle "
        "port and has no way back by rollback: "
    )
    (each,) = caught.value.procedures
    text = text_of(*procedure_report(each.device, each.why, each.steps), width=80)
    assert "interface 100GE1/0/40\n    shutdown" in text
    assert "undo port split dimension interface 100GE1/0/40" in text
    assert text.index("    shutdown") < text.index("    undo port split") < text.index("    save\n")


# --- the seal -------------------------------------------------------------------------------------


def test_one_byte_of_anything_that_a_plan_was_made_from_is_refused(
    plan: MakePlan, edit_heps: EditHeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = edit_heps(RAISED)
    ship = tmp_path / "ship"
    for directory in ("inventory/hardware", "templates/vrp"):
        (ship / directory).mkdir(parents=True)
    facts, template = ship / "inventory/hardware/x.yaml", ship / "templates/vrp/x.j2"
    facts.write_text("a: 1\n")
    template.write_text("x\n")
    monkeypatch.setattr(files, "TEMPLATES", ship / "templates")
    elsewhere = tmp_path / "site-packages" / "tables"
    elsewhere.mkdir(parents=True)
    table = elsewhere / "commands.py"
    table.write_text("x\n")
    shipped = [
        ("data", facts.parent, "*.yaml"),
        ("vrp", template.parent, "*"),
        ("tiny", elsewhere, "*.py"),
    ]
    monkeypatch.setattr(files, "shipped", lambda: shipped)
    sealed = plan(fabric)
    assert sealed_fabric(sealed).fabric.fabric == "heps"
    for path, name in (
        (facts, "inventory/hardware/x.yaml"),
        (template, "templates/vrp/x.j2"),
        (table, "tiny:tables/commands.py"),
        (fabric, str(fabric)),
    ):
        before = path.read_text()
        path.write_text(before + "#")
        with pytest.raises(Refused) as caught:
            sealed_fabric(sealed)
        assert str(caught.value) == f"{name}: has changed since the plan was made; plan again"
        path.write_text(before)
    (template.parent / "y.j2").write_text("")
    with pytest.raises(Refused, match=r"templates/vrp/y\.j2: is new since the plan was made"):
        sealed_fabric(sealed)
    (template.parent / "y.j2").unlink()
    facts.unlink()
    with pytest.raises(Refused, match=r"x\.yaml: is gone since the plan was made"):
        sealed_fabric(sealed)


def test_a_change_of_hardware_or_profiles_of_a_site_is_refused(
    plan: MakePlan, edit_heps: EditHeps, tmp_path: Path
) -> None:
    site = Site(tmp_path)
    profile, model = site.profiles / "own.yaml", site.hardware / "ce9860-4c-ei.yaml"
    for shipped, own in ((PROFILES / "lossless.yaml", profile), (HARDWARE / model.name, model)):
        own.parent.mkdir(parents=True)
        shutil.copy(shipped, own)
    sealed = plan(edit_heps(RAISED))
    assert sealed_fabric(sealed).fabric.fabric == "heps"
    assert {str(profile), str(model)} <= {file.name for file in sealed.files}
    for path in (profile, model):
        before = path.read_text()
        # what it means has changed, and what it does not: a model that no switch is, a comment
        for after in (before.replace("600", "650").replace("ce9860", "ce8850"), f"{before}#", "- "):
            path.write_text(after)
            with pytest.raises(Refused) as caught:
                sealed_fabric(sealed)
            assert str(caught.value) == f"{path}: has changed since the plan was made; plan again"
        path.write_text(before)
    model.rename(model.with_name("other.yaml"))
    with pytest.raises(Refused, match=f"^{model}: is gone since the plan was made; plan again$"):
        sealed_fabric(sealed)
    shutil.copy(model.with_name("other.yaml"), model)
    with pytest.raises(Refused, match=r"other\.yaml: is new since the plan was made; plan again$"):
        sealed_fabric(sealed)


def test_a_timer_that_could_end_a_trial_while_its_checks_settle_is_refused(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    short = edit_heps(RAISED, ("trial_s: 600", "trial_s: 145"))
    with pytest.raises(Refused) as caught:
        plan(short)
    assert str(caught.value) == (
        f"{short}: rollout.trial_s: a trial of 145 s is too short for wave canary, which may take "
        "146 s: 45 s for the checks, 45 s for the live checks, 11 s for the RDMA gate and 45 s to "
        "confirm; set it to 146 or more, or rollout.settle_s to less"
    )
    short.write_text(short.read_text().replace("trial_s: 145", "trial_s: 146"))
    sealed = plan(short)
    assert (sealed.settle_s, sealed.margin_s) == (30, 45)
    # Raised: a spine announces again within 30 s; the trial waits for that, then checks again.
    assert sealed.trial_s == 146 + 35 + 2 * 45 + 11
    short.write_text(short.read_text().replace("trial_s: 146", "trial_s: 71\n  settle_s: 5"))
    sealed = plan(short)
    assert (sealed.trial_s, sealed.settle_s, sealed.margin_s) == (71 + 35 + 2 * 20 + 11, 5, 20)


def test_a_plan_of_another_version_of_the_tool_is_refused(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    sealed = plan(edit_heps(RAISED)).model_copy(update={"tool": "rocefort 0.0.9"}).seal()
    with pytest.raises(Refused) as caught:
        sealed_fabric(sealed)
    assert "was made by rocefort 0.0.9, and this is rocefort " in str(caught.value)


def test_every_byte_of_what_decides_is_under_the_seal(
    plan: MakePlan, edit_heps: EditHeps, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    write_plan(plan(edit_heps(RAISED, DRAIN)), path)
    content = json.loads(path.read_text())
    wave = content["waves"][-1]
    wave["drained"][0]["drain"]["patch"][0] = "route-policy EXPORT permit node 1"
    path.write_text(json.dumps(content))
    with pytest.raises(Refused, match="was changed after it was sealed; plan again"):
        read_plan(path)


# --- rollback at the console ----------------------------------------------------------------------


def test_the_way_back_at_the_console_undoes_each_state_that_the_rollout_can_leave(
    plan: MakePlan, edit_heps: EditHeps
) -> None:
    sealed = plan(edit_heps(RAISED, DRAIN))
    text = text_of(*_console_blocks(sealed, "spine01", "rocefort-x"), width=80)
    steps = [part.split("\n\n")[0] for part in text.split("\n\n") if part[:1].isdigit()]
    assert [" ".join(step.split())[:40] for step in steps] == [
        "1. While a trial is pending, end it and ",
        "2. Confirmed: drained, and not changed y",
        "3. Confirmed: drained and changed. Paste",
        "4. Confirmed: changed. No longer drained",
        "5. Check that it runs its configuration ",
    ]
    assert "    abort trial persist rocefort-x" in text
    (drained,) = next(wave for wave in sealed.waves if wave.devices == ("spine01",)).drained
    pasted = "\n".join(f"    {line}" for line in (*drained.change.reverse, *drained.drain.reverse))
    assert pasted in text
    assert "drained" not in text_of(*_console_blocks(sealed, "leaf01", "rocefort-x"), width=80)


def test_only_switches_of_the_plan_have_a_way_back(plan: MakePlan, edit_heps: EditHeps) -> None:
    sealed = plan(edit_heps(("  - name: readout04\n", "  - name: readout04\n    description: x\n")))
    assert devices_of(sealed, ()) == ("leaf08",)
    with pytest.raises(BadInput) as caught:
        devices_of(sealed, ["leaf80"])
    assert str(caught.value) == "leaf80: is not in the plan; did you mean 'leaf08'?"
    assert "does not change this switch" in text_of(
        *_console_blocks(sealed, "leaf01", "x"), width=80
    )


def test_a_change_undone_twice_is_itself(plan: MakePlan, edit_heps: EditHeps) -> None:
    change: Change = plan(edit_heps(RAISED)).change("leaf01").model_copy(update={"conditions": ()})
    assert change.undone.undone == change
    assert change.undone.patch == change.reverse
