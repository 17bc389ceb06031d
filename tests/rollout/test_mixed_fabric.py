"""A fabric with switches of two systems: each is shown in its own commands, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from planned import make_changes
from tiny_network import FAMILY, PORT, network

from rocefort.base.errors import BadInput, Refused
from rocefort.change.advice.advice import advice_on
from rocefort.change.advice.drain_steps import DrainStudy, drain_steps
from rocefort.change.difference import ComparedSide, difference, switches_of
from rocefort.change.effects.switch_configs import sides_of
from rocefort.change.results import FabricDifference
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of_texts
from rocefort.dialects import choose
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.network_text import read_back, render_all
from rocefort.dialects.secrets import read_secrets, takers
from rocefort.dialects.syntax_families import load_families
from rocefort.models.change.plan import Plan
from rocefort.models.device.device import without_defaults
from rocefort.models.hardware.hardware import Condition, Family, Requirement, SyntaxFamily
from rocefort.models.network.network import Network, Sources
from rocefort.reports.blocks import Block
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.plan.procedures import console_procedure, procedure
from rocefort.rollout.planning import sealed_files
from rocefort.rollout.report.plan_report import Procedures, procedures_report
from rocefort.validators.facts.overview import Overview
from rocefort.validators.routing.underlay import DevicePlace, unmodelled_forwarding
from rocefort.validators.rules.registry import registered
from rocefort.validators.rules.verification.answers import AnswerSubject, EngineSubject

OLD, NEW = network(1500, "old"), network(9216, "new")
VRP = load_families()[SyntaxFamily.V300_G1]
NOTHING = FabricDifference(before="old", after="new", compared=2, switches=())


def _console_blocks(plan: Plan, device: str, persist: str) -> Iterator[Block]:
    return procedures_report(Procedures(procedures=(console_procedure(plan, device, persist),)))


def in_family(of: Network, family: Family) -> Network:
    """Network with other hardware for its last switch; the first stays TinyOS."""
    first, last = of.nodes
    hardware = None if last.hardware is None else last.hardware.model_copy(
        update={"template": "ce8851"}
    )  # fmt: skip
    other = last.model_copy(update={"family": family, "hardware": hardware, "software": "V300"})
    return of.model_copy(update={"nodes": (first, other)})


MIXED_OLD, MIXED_NEW = in_family(OLD, VRP), in_family(NEW, VRP)


# --- words ----------------------------------------------------------------------------------------


def maintenance(*needs: Requirement) -> list[tuple[str, ...]]:
    condition = Condition(command="mtu", needs=needs, note="made up", source="made up")
    family = FAMILY.model_copy(update={"conditions": (condition,)})
    nodes = tuple(node.model_copy(update={"family": family}) for node in NEW.nodes)
    new = NEW.model_copy(update={"nodes": nodes})
    [sides, _] = sides_of(new, render_all(OLD))
    return [step.commands for step in procedure(new, sides).steps]


def test_a_maintenance_window_is_told_in_the_words_of_the_switch() -> None:
    steps = maintenance(Requirement.SAVE, Requirement.IDLE_PORT)
    assert ("save before-maintenance.cfg", "show commits 1") in steps
    down = ("edit", f"interface {PORT}", "disabled", "exit", "commit", "end", "show ports")
    assert down in steps
    assert ("end", "save") in steps


def test_a_term_that_a_dialect_lacks_is_one_error() -> None:
    with pytest.raises(Refused) as caught:
        maintenance(Requirement.REBOOT)
    assert str(caught.value) == (
        "TinyOS: no command for the term «restart»; add it to the `words` of the dialect"
    )


def test_the_way_back_is_in_the_words_of_each_switch() -> None:
    changes = make_changes(MIXED_NEW, render_all(MIXED_OLD))
    plan = Plan(
        fabric="mixed", source="f", tool="t", intent_digest="", trial_s=60, changes=changes, waves=()
    )  # fmt: skip
    sealed = Plan.model_validate_json(plan.seal().model_dump_json())
    tiny, vrp = (
        text_of(*_console_blocks(sealed, node.name, "rocefort-x"), width=80)
        for node in MIXED_NEW.nodes
    )
    assert "show trial" in tiny
    assert "abort rocefort-x" in tiny
    assert "system-view" not in tiny
    assert "display configuration trial status" in vrp
    assert "abort trial persist rocefort-x" in vrp
    other = changes[0].model_copy(update={"dialect": "vrp"})
    forged = sealed.model_copy(update={"changes": (other, changes[1])})
    assert forged.computed_digest() != sealed.digest, "the dialect is under the seal"


def test_a_drain_is_in_the_words_of_the_switch() -> None:
    *_, last = drain_steps(OLD.nodes[0])
    assert "(`show neighbors`, PrefRcv 0)" in last.text
    assert last.commands == ("show ports",)


def sight(before: Network, after: Network, **renames: str) -> DrainStudy:
    return DrainStudy(before, after, NOTHING, {}, renames, {}, "fabric.yaml")


def test_a_new_name_is_typed_in_the_words_of_the_switch() -> None:
    [advice] = advice_on(sight(OLD, OLD, leaf01="old01"), ())
    assert advice.steps[0].commands == ("edit", "hostname leaf01", "commit", "end")


def test_findings_are_in_the_words_of_the_switch_that_they_name() -> None:
    [rule, *_] = registered(EngineSubject)
    subject = AnswerSubject(Overview(MIXED_OLD, Sources({})), rule)
    text = "compare «state of BGP peers»"
    findings = [subject.at(DevicePlace(node.name), text, text) for node in MIXED_OLD.nodes]
    expected = ["compare `show neighbors`", "compare `display bgp peer`"]
    assert [each.message for each in findings] == [each.hint for each in findings] == expected


# --- text of unknown hardware ---------------------------------------------------------------------


def test_rules_read_a_text_of_unknown_hardware_as_its_own_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "dialects", lambda: ("vrp", "tiny"))
    route = "route 10.0.0.0/8 10.0.0.1"
    tiny = render_all(OLD)["leaf01"].replace("end\n", f"{route}\nend\n")
    (tmp_path / "leaf01.cfg").write_text(tiny)
    static = "ip route-static 10.0.0.0 8 NULL0 tag 5"
    (tmp_path / "leaf02.cfg").write_text(f"sysname leaf02\n#\n{static}\n#\nreturn\n")
    subject = subject_of_texts(tmp_path)
    assert [node.dialect for node in subject.network.nodes] == ["tiny", "vrp"]
    lines = [[line.text for line, _ in unmodelled_forwarding(n)] for n in subject.network.nodes]
    assert lines == [[route], [static]]


def test_what_a_family_saves_of_defaults_is_its_data() -> None:
    """An MTU of 1500 is a line of TinyOS, and no switch with VRP saves one."""
    tiny, vrp = (
        without_defaults(node.device, node.family) for node in MIXED_OLD.nodes if node.family
    )
    assert [port.mtu for port in (*tiny.interfaces, *vrp.interfaces)] == [1500, None]


# --- a switch that becomes another system ---------------------------------------------------------


def side(name: str, network: Network) -> ComparedSide:
    return ComparedSide(name, dict(switches_of(network, Sources({}), {})), Sources({}))


@pytest.mark.parametrize("after", [MIXED_OLD, MIXED_NEW])
def test_another_system_is_a_difference_that_no_patch_makes(after: Network) -> None:
    families = {str(each.name): each for each in (FAMILY, VRP)}
    [*_, switch] = difference(side("old", OLD), side("new", after), families).switches
    assert switch.device == "leaf02"
    assert switch.facts[0] == "system: TinyOS -> VRP"
    assert switch.no_patch == "TinyOS -> VRP: no patch leads from one system to another"
    assert switch.change.patch == ()


def test_a_plan_to_another_system_is_refused() -> None:
    running = render_all(MIXED_OLD)
    with pytest.raises(Refused) as caught:
        sides_of(NEW, running)
    assert str(caught.value) == (
        "leaf02: it runs VRP, but its hardware runs TinyOS: no patch leads from one system "
        "to another; replace the switch (`rocefort replace`), or correct its hardware"
    )


def test_a_plan_to_a_system_that_is_not_read_names_the_switch(hall: DerivedNetwork) -> None:
    first, *others = hall.network.nodes
    assert first.family is not None
    eos = first.model_copy(update={"family": first.family.model_copy(update={"dialect": "eos"})})
    mixed = hall.network.model_copy(update={"nodes": (eos, *others)})
    texts = render_all(mixed)
    problem = (
        "EOS: its configuration is not read by Rocefort; name hardware whose family has another"
    )
    with pytest.raises(Refused, match=f"^{first.name}.cfg: {problem} dialect$"):
        read_back(mixed, texts)
    with pytest.raises(Refused, match=rf"^{first.name} \(running\): {problem} dialect$"):
        make_changes(mixed, texts)


# --- secrets, files -------------------------------------------------------------------------------


def test_a_secret_is_checked_by_the_dialect_that_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BGP", "two words")
    lines = ["peer 10.0.0.1 password cipher <secret env:BGP>"]
    with pytest.raises(BadInput, match=r"^env:BGP: the secret cannot be typed as one word; "):
        read_secrets(takers([(MIXED_OLD.nodes[1], lines)]))
    with pytest.raises(Refused, match=r"^TinyOS: not deployed by Rocefort; "):
        read_secrets(takers([(MIXED_OLD.nodes[0], lines)]))


def test_a_dialect_says_which_files_decide_on_its_lines_and_what_it_disrupts() -> None:
    class Silent(Dialect):
        name = "Silent"

    with pytest.raises(TypeError, match="abstract method"):
        Silent()  # type: ignore[abstract]

    class Written(Silent):
        files = ()

    with pytest.raises(Refused, match=r"^Silent: not deployed by Rocefort; "):
        _ = Written().disrupts


def test_files_of_a_dialect_from_elsewhere_are_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_files, "dialects", lambda: ("vrp", "tiny"))
    names = {file.name for file in sealed_files.sealed_files(())}
    assert "tiny:tiny_dialect/dialect.py" in names
    assert "templates/vrp/ce8851.j2" in names
