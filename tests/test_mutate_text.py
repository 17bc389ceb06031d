"""Mutation of texts: faults are repeatable, a switch can save them, and each outcome has its column."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import pytest
from scripts import script

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.models.finding import Finding, Severity, Where
from rocefort.models.hardware.hardware import SyntaxFamily

MTU = "interface: mtu ( <46-9600> )"
SYSNAME = "system: sysname ( <name> )"


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    return script("mutate_text")


@pytest.fixture(scope="module")
def switches(mutate: ModuleType, heps: DerivedNetwork) -> list[object]:
    texts = render_all(heps.network)
    names = ("leaf01", "leaf02")
    family = {name: heps.network.by_name[name].syntax for name in names}
    return [mutate.Switch.of(name, family[name], texts[name]) for name in names]


def test_every_operation_gives_faults_that_a_switch_saves(
    mutate: ModuleType, switches: list[object]
) -> None:
    rows = mutate.rows_of(switches[0].family)  # type: ignore[attr-defined]  # a Switch
    maker = mutate.FaultMaker(switches, random.Random(1))
    faults = [maker.fault(key) for key in sorted(rows) for _ in range(2)]
    made = [fault for fault in faults if fault is not None]
    assert {fault.operation for fault in made} == {"drop", "change", "swap", "add"}
    assert {fault.scope for fault in made} == {"place", "switch"}
    for fault in made:
        for text in fault.texts.values():
            assert text.endswith("return\n")
    assert sum(fault.has_effect for fault in made) > len(made) * 0.9


def test_a_seed_gives_the_same_faults(mutate: ModuleType, switches: list[object]) -> None:
    def faults(seed: int) -> list[str]:
        maker = mutate.FaultMaker(switches, random.Random(seed))
        return [maker.fault(MTU).what for _ in range(6)]

    assert faults(1) == faults(1)
    assert faults(1) != faults(2)


def test_a_finding_is_right_at_its_device_and_line(
    mutate: ModuleType, switches: list[object]
) -> None:
    fault = mutate.FaultMaker(switches, random.Random(3)).fault(MTU)
    device, text = next(iter(fault.texts.items()))
    number = next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith("vlan"))

    def judged(**place: object) -> bool:
        where = Where.model_validate(place)
        finding = Finding(rule="ADR001", severity=Severity.ERROR, where=where, message="m")
        return bool(mutate.is_right(fault, finding))

    assert judged(device=device, interface=next(iter(fault.interfaces)))
    assert judged(device=device, line=min(fault.lines[device]))
    assert not judged(device=device, line=number)
    assert not judged(device="spine01", line=min(fault.lines[device]))


def test_every_reason_is_of_a_row(mutate: ModuleType) -> None:
    rows = {key for family in SyntaxFamily for key in mutate.rows_of(family)}
    assert [
        begin for _, begin, _ in mutate.reasons() if not any(row.startswith(begin) for row in rows)
    ] == []
    assert mutate.reason_of("vty: user privilege level ( <0-3> )", "text")
    assert mutate.reason_of(MTU, "intent") == ""


@pytest.mark.thorough
def test_one_fabric_is_judged_in_both_ways(mutate: ModuleType, tmp_path: Path) -> None:
    trial = mutate.Trial(4, tmp_path)
    outcomes = list(trial.outcomes([MTU, SYSNAME], 2))
    assert [outcome.fault.area for outcome in outcomes] == ["interfaces", "management"]
    for outcome in outcomes:
        assert set(outcome.results) == {"text", "intent"}
    assert len(list(mutate.table(outcomes, "text"))) == 4
