"""A probe of one emulated switch: each planted wrong form is reported, and no other; it leaves
nothing, and refuses a switch that another change is on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from napalm_cloudengine import CloudEngineDriver
from rocefort.base.errors import Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.hardware_catalogue import Catalogue, load_catalogue
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ProbeForm, ProbeQuestion
from rocefort.dialects.vrp.interpreter.interpreter import LineResult, View, VrpRefusal, apply_line
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.emulator.cli.server import LabServer, run_in_thread
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.switch.personality import LineFault
from rocefort.emulator.switch.switch import CommitOrder, EmulatedSwitch, syntax_of
from rocefort.models.hardware.hardware import Unconfirmed
from rocefort.models.hardware.site_data import FactEvidence, FormEvidence, FormOutcome, SwitchFacts
from rocefort.models.network.network import Node
from rocefort.rollout.facts.probe import probe_switch

MODELS = {  # a model and a release of each family
    "v200": ("CE8850-64CQ-EI", "V200R022C00"),
    "v300-g1": ("CE8851-32CQ8DQ-P", "V300R023C00"),
    "v300-g2": ("CE8855-32CQ4BQ", "V300R023C00"),
}
STARTUP = """#
sysname leaf01
#
interface MEth0/0/0
#
interface 100GE1/0/1
 description in use
#
interface 100GE1/0/2
#
interface 100GE1/0/3
 shutdown
#
return
"""
CATALOGUE = load_catalogue()
REFUSED, CHANGED = FormOutcome.REFUSED, FormOutcome.CHANGED


@dataclass
class ProbedSwitch(EmulatedSwitch):
    """Switch that saves some lines in another form."""

    otherwise: tuple[str, ...] = ()
    entered: list[str] = field(default_factory=list)

    def enter(self, session: int, view: View, line: str) -> LineResult:
        self.entered.append(line.strip())
        applied = super().enter(session, view, line)
        if line.strip() not in self.otherwise:
            return applied
        return replace(applied, config=tuple(_renamed(applied.config, line.strip())))


def _renamed(lines: tuple[ConfigLine, ...], text: str) -> Iterator[ConfigLine]:
    for line in lines:
        inner = tuple(_renamed(line.children, text))
        yield replace(
            line, text=f"{line.text} other" if line.text == text else line.text, children=inner
        )


@contextmanager
def running(switch: EmulatedSwitch, state: Path, **options: Any) -> Iterator[CloudEngineDriver]:
    server = LabServer({switch.name: switch}, state)
    with run_in_thread(server):
        known = {"port": server.ports[switch.name], "ssh_known_hosts": str(server.known_hosts)}
        with CloudEngineDriver(
            "127.0.0.1", server.user, server.password, 10, {"name": switch.name, **known, **options}
        ) as driver:
            yield driver


@pytest.fixture
def make(heps: DerivedNetwork) -> Callable[..., tuple[ProbedSwitch, Node]]:
    """Make a switch of a family, and its node."""

    def made(family: str, **options: Any) -> tuple[ProbedSwitch, Node]:
        model, release = MODELS[family]
        own = CATALOGUE.families[family]
        facts = {"hardware": CATALOGUE.hardware[model], "software": release, "family": own}
        node = heps.network.by_name["leaf01"].model_copy(update=facts)
        settings = {"startup": STARTUP, "hardware": model, "software": release} | options
        return ProbedSwitch(name="leaf01", family=syntax_of(own), **settings), node

    return made


def probed(
    switch: EmulatedSwitch,
    node: Node,
    state: Path,
    catalogue: Catalogue = CATALOGUE,
    **options: Any,
) -> SwitchFacts:
    before = switch.running, switch.saved, switch.points
    with running(switch, state, **options) as driver:
        facts = probe_switch(driver, node, catalogue)
    assert (switch.running, switch.saved, switch.points) == before
    assert (switch.candidates, switch.lock, switch.trial) == ({}, None, None)
    return facts


def outcomes(facts: SwitchFacts) -> dict[str, FormEvidence]:
    return {form.form: form for form in facts.forms}


def lines_of(node: Node) -> dict[str, ProbeForm]:
    """Lines of each unconfirmed form of the family that is tried by typing."""
    forms = {}
    for entry in node.family.unconfirmed if node.family else ():
        form = dialect_of(node).probe_form(entry.command, STARTUP, ["100GE1/0/2"])
        assert isinstance(form, ProbeForm), form
        if not form.lists:
            forms[entry.command] = form
    return forms


def own_line(form: ProbeForm) -> str:
    """The last line of a form, which no other form has."""
    return form.typed[-1].strip()


@pytest.mark.parametrize("family", MODELS)
def test_every_unconfirmed_form_is_tried_and_taken(
    family: str, make: Callable[..., Any], tmp_path: Path
) -> None:
    switch, node = make(family)
    facts = probed(switch, node, tmp_path)
    assert {form.form for form in facts.forms} == {e.command for e in node.family.unconfirmed}
    assert {f.form: f.reply for f in facts.forms if f.outcome is not FormOutcome.TAKEN} == {}
    assert not {"interface 100GE1/0/1", "commit"} & set(switch.entered)  # a port in use
    assert (facts.device, facts.model, facts.release) == ("leaf01", *MODELS[family])


def _planted(node: Node, turn: int) -> dict[str, tuple[str, str]]:
    """Wrong forms of one turn: by command, the kind of fault and its line; every fourth is right."""
    kinds = ("refuse-line", "lie-ok", "otherwise", "")
    return {
        command: (kind, own_line(form))
        for number, (command, form) in enumerate(lines_of(node).items())
        if (kind := kinds[(number + turn) % len(kinds)])
    }


@pytest.mark.parametrize("turn", [0, 2])
@pytest.mark.parametrize("family", MODELS)
def test_planted_wrong_forms_are_found_and_no_other(
    family: str, turn: int, make: Callable[..., Any], tmp_path: Path
) -> None:
    planted = _planted(make(family)[1], turn)
    faults = tuple(LineFault(kind, line) for kind, line in planted.values() if kind != "otherwise")
    lines = tuple(line for kind, line in planted.values() if kind == "otherwise")
    switch, node = make(family, faults=faults, otherwise=lines)
    forms = outcomes(probed(switch, node, tmp_path))
    kinds = {"refuse-line": REFUSED, "lie-ok": CHANGED, "otherwise": CHANGED}
    wrong = {command: form.outcome for command, form in forms.items() if form.outcome.is_wrong}
    assert wrong == {command: kinds[kind] for command, (kind, _) in planted.items()}
    for command, (kind, line) in planted.items():
        if kind == "refuse-line":
            assert forms[command].reply == "Error: Unrecognized command found at '^' position."
        else:
            assert line in [each.strip() for each in forms[command].missing]
        if kind == "otherwise":
            assert f"{line} other" in [each.strip() for each in forms[command].saved]


def test_at_least_50_wrong_forms_are_planted(make: Callable[..., Any]) -> None:
    assert sum(len(_planted(make(family)[1], turn)) for family in MODELS for turn in (0, 2)) >= 50


def test_a_question_a_missing_port_and_a_refused_context_settle_nothing(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    faults = (
        LineFault("unknown-question", "assign queue 4"),
        LineFault("refuse-line", "traffic classifier"),
        LineFault("refuse-line", "acl number"),
    )
    text = STARTUP.replace("interface 100GE1/0/2", "interface 100GE1/0/2\n description used")
    text = text.replace(" shutdown\n", " description used, too\n")
    switch, node = make("v200", faults=faults, startup=text)
    forms = outcomes(probed(switch, node, tmp_path))
    shown = {c: (f.outcome.value, f.reply) for c, f in forms.items() if f.outcome != "taken"}
    asked = "Warning: This operation may affect an unexpected service. Proceed? [Y/N]:"
    no_port = ("not tried", "every port of the switch is in use")
    unknown = "Error: Unrecognized command found at '^' position."
    assert shown == {
        "ai-service / ai-ecn": ("asked", asked),
        "traffic policy P": ("not tried", f"`acl number 3987`: {unknown}"),
        "fec mode rs": no_port,
        "negotiation disable": no_port,
        "dcb pfc buffer Q xoff static X kbytes xon offset Y kbytes": no_port,
    }


def test_a_form_of_a_site_is_typed_as_it_is_written(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    switch, node = make("v300-g1")
    own = ("lldp enable", "ai-service / ai-ecn / ai-ecn enable", "frobnicate all", "mtu N")
    forms = tuple(Unconfirmed(command=command, note="a site's own") for command in own)
    family = CATALOGUE.families["v300-g1"].model_copy(update={"unconfirmed": forms})
    catalogue = replace(CATALOGUE, families={**CATALOGUE.families, "v300-g1": family})
    answers = outcomes(probed(switch, node, tmp_path, catalogue))
    assert [answers[command].outcome.value for command in own] == [
        "taken",
        "taken",
        "refused",
        "not tried",
    ]
    assert answers["mtu N"].reply == "no line is known that tries it"


def test_a_form_without_an_answer_costs_its_session_and_the_others_are_tried(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    switch, node = make("v300-g1", faults=(LineFault("drop-line", "fec mode rs"),))
    forms = outcomes(probed(switch, node, tmp_path))
    lost = forms.pop("fec mode rs")
    assert lost.outcome is FormOutcome.UNTRIED
    assert "after 'fec mode rs' was sent" in lost.reply
    assert {form.outcome for form in forms.values()} == {FormOutcome.TAKEN}


def test_no_more_is_tried_when_the_time_is_over(make: Callable[..., Any], tmp_path: Path) -> None:
    switch, node = make("v300-g1")
    with running(switch, tmp_path) as driver:
        facts = probe_switch(driver, node, CATALOGUE, limit_s=0)
    assert {form.reply for form in facts.forms} == {"the time of the probe is over"}
    assert {fact.reply for fact in facts.facts} == {"the time of the probe is over"}
    assert (switch.candidates, switch.lock) == ({}, None)


def _refusal(switch: EmulatedSwitch, node: Node, state: Path) -> str:
    with running(switch, state) as driver, pytest.raises(Refused) as refused:
        probe_switch(driver, node, CATALOGUE)
    return str(refused.value)


def test_a_switch_with_a_trial_is_refused(make: Callable[..., Any], tmp_path: Path) -> None:
    switch, node = make("v300-g1")
    other = switch.open_session("somebody")
    switch.keep(other, (), "sysname new", switch.enter(other, (), "sysname new"))
    switch.commit(other, CommitOrder(trial_seconds=600))
    switch.entered.clear()
    assert _refusal(switch, node, tmp_path).startswith("leaf01: a trial is ACTIVE (")
    assert switch.entered == []


def test_a_switch_with_uncommitted_changes_is_refused(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    switch, node = make("v300-g1", faults=(LineFault("foreign-candidate"),))
    message = _refusal(switch, node, tmp_path)
    assert "its candidate has uncommitted changes; nothing was typed" in message
    assert switch.entered == ["vlan batch 4094"]


def test_a_switch_that_another_user_has_locked_is_refused(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    switch, node = make("v300-g1")
    switch.take_lock(switch.open_session("somebody"))
    message = _refusal(switch, node, tmp_path)
    assert "its configuration cannot be locked: 'configuration exclusive': Error" in message
    assert switch.entered == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hardware": "CE9860-4C-EI"}, "it is a CE9860-4C-EI; the fabric has a CE8850-64CQ-EI"),
        ({"software": "V100R005C10"}, "it runs V100R005C10; the fabric has V200R022C00 there"),
    ],
)
def test_another_switch_than_that_of_the_fabric_is_refused(
    options: dict[str, str], message: str, make: Callable[..., Any], tmp_path: Path
) -> None:
    switch, node = make("v200", **options)
    assert message in _refusal(switch, node, tmp_path)
    assert switch.entered == []


def test_numbers_come_from_the_help_and_from_displays(
    make: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers have the forms that the vendor's documents show."""
    helps = {
        "dcb pfc buffer 4 xoff static ": "  INTEGER<1-500>  Xoff threshold",
        "priority 4 deadlock-detect time ": "  INTEGER<1-15>  Detection time (unit: 100 ms)",
        "ecn buffer-size low-limit ": "  INTEGER<1-10>  A\n  INTEGER<1-20>  B",  # no one range
    }
    own_help, own_handle = CliSession.help, CliSession.handle
    pools = "Service Pool: 12/30699  Headroom Pool: 0/4095"

    def helped(session: CliSession, typed: str) -> Any:
        reply = own_help(session, typed)
        return replace(reply, text=helps.get(typed, reply.text))

    def handled(session: CliSession, line: str) -> Any:
        reply = own_handle(session, line)
        return replace(reply, text=pools) if line == "display qos buffer ingress-usage" else reply

    monkeypatch.setattr(CliSession, "help", helped)
    monkeypatch.setattr(CliSession, "handle", handled)
    switch, node = make("v200")
    facts = {fact.field: fact for fact in probed(switch, node, tmp_path).facts}
    read = {n: (f.low, f.high) if f.value is None else f.value for n, f in facts.items()}
    assert read == {
        "pfc_queues": (0, 7),
        "xoff_kbytes": (1, 500),
        "deadlock_detect_time": (1, 15),
        "deadlock_interval_ms": 100,
        "buffer_kbytes": 34794,
        "deadlock_recovery_time": (None, None),  # the emulator has no limit
        "ecn_bytes": (None, None),
        "ecn_cells": (None, None),
        "drop_profiles": (None, None),
    }
    assert facts["xoff_kbytes"].asked == "interface 100GE1/0/3 / dcb pfc buffer 4 xoff static ?"


@pytest.mark.parametrize("family", MODELS)
def test_the_words_before_a_question_mark_are_no_command(
    family: str, make: Callable[..., Any]
) -> None:
    """The command line executes them behind the help, so they must be incomplete."""
    switch, node = make(family)
    dialect, asked = dialect_of(node), list[tuple[tuple[str, ...], str]]()
    for entry in node.family.unconfirmed:
        form = dialect.probe_form(entry.command, STARTUP, ["100GE1/0/2"])
        assert isinstance(form, ProbeForm)
        if form.help_words:
            asked.append(((), form.help_words))
    for name in ("pfc_queues", "xoff_kbytes", "deadlock_detect_time", "ecn_bytes", "ecn_cells"):
        if getattr(node.family, name) is not None:
            question = dialect.probe_question(name, STARTUP, ["100GE1/0/2"])
            assert isinstance(question, ProbeQuestion)
            asked.append((question.views, question.command))
    for views, command in asked:
        config, view = switch.running, tuple[str, ...]()
        for line in views:
            applied = apply_line(config, view, line, switch.family)
            config, view = applied.config, applied.view
        with pytest.raises(VrpRefusal):
            apply_line(config, view, command, switch.family)


NUMBER = {"field": "xoff_kbytes", "asked": "x ?", "reply": "INTEGER"}


@pytest.mark.parametrize(
    ("before", "now", "text", "disputed"),
    [
        ((1, 30720), (1, 30720), "1 to 30720", False),
        ((1, 30720), None, "1 to 30720", False),
        (None, (1, 500), "1 to 500", False),
        ((1, 30720), (1, 500), None, True),
    ],
)
def test_numbers_of_two_probes(
    before: tuple[int, int] | None, now: tuple[int, int] | None, text: str | None, disputed: bool
) -> None:
    def number(limits: tuple[int, int] | None) -> FactEvidence:
        return FactEvidence(**NUMBER, **dict(zip(("low", "high"), limits or (), strict=False)))

    both = number(now).after(number(before), "leaf01 on 2026-11-27")
    assert both.disputed is disputed
    assert both.is_settled is not disputed
    if text:
        assert both.text == text
    else:
        assert both.reply == "1 to 30720 by leaf01 on 2026-11-27, and 1 to 500 by the next probe"
        assert number(now).after(both, "leaf02 on 2026-11-28") == both
