"""`facts`: the acceptance list of a fabric, compared with its source data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from outputs import fields_of

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.open_facts import DEFAULTS, NEEDED_BY, OpenFact, OpenFacts, ask_of
from rocefort.emulator.switch.personality import OPEN_POINTS, axes
from rocefort.models.hardware.hardware import Fact, Range, Unconfirmed
from rocefort.rollout.facts.open_facts import every_open_fact

Rocefort = Callable[..., Any]


def _facts(rocefort: Rocefort, fabric: object) -> tuple[OpenFact, ...]:
    done = rocefort("facts", fabric, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return OpenFacts.model_validate(fields_of(done.out)).facts


def test_heps_reads_well_in_80_columns(rocefort: Rocefort) -> None:
    done = rocefort("facts", "heps")
    assert (done.code, done.err) == (0, "")
    facts = _facts(rocefort, "heps")
    first, *lines = done.out.splitlines()
    assert first == f"heps: {len(facts)} facts of 10 switches that no source confirms"
    assert max(map(len, lines)) <= 80
    asked = [line for line in lines if line.startswith("    > ")]
    assert len(asked) == len(facts)
    assert "v200: spine01, spine02, leaf01, leaf02" in lines
    assert f"    > {DEFAULTS}" in lines


def test_each_family_of_the_fabric_is_asked_for_its_defaults(rocefort: Rocefort) -> None:
    asked = {fact.of: fact.used for fact in _facts(rocefort, "heps") if fact.ask == DEFAULTS}
    assert asked == {
        "v200": ("spine01", "spine02", "leaf01", "leaf02"),
        "v300-g1": tuple(f"leaf{n:02}" for n in range(3, 9)),
    }


def test_what_a_fabric_does_not_use_is_not_asked(
    rocefort: Rocefort, edit_heps: Callable[..., Path]
) -> None:
    """HEPS has one kind of ECN, and splits no port: other forms are open, and not its matter."""
    every = {(fact.of, fact.fact) for fact in every_open_fact().facts}
    own = {(fact.of, fact.fact) for fact in _facts(rocefort, "heps")}
    assert own < every
    unused = {fact for of, fact in every - own if of == "v200"}
    assert any(fact.startswith("ecn_bytes") for fact in unused)
    assert any(fact.startswith("`priority Q turn-off") for fact in unused)
    turned = edit_heps(
        ("        recovery_ms: 10000", "        turn_off: 20\n        recovery_ms: 10000")
    )
    more = {(fact.of, fact.fact) for fact in _facts(rocefort, turned)} - own
    assert [fact.split("`")[1] for _, fact in more] == ["priority Q turn-off threshold N"]


def test_every_mark_of_the_data_is_a_fact_with_a_command() -> None:
    """The list has every open fact of a family, a model and a trial."""
    listed = every_open_fact().facts
    assert all(fact.ask and fact.fact for fact in listed)
    catalogue = load_catalogue()
    for name, family in catalogue.families.items():
        own = [fact.fact for fact in listed if fact.of == name]
        commands = [entry.command for entry in family.unconfirmed]
        commands += [each.command for each in family.conditions if not each.confirmed]
        for command in commands:
            assert any(fact.startswith(f"`{command}`") for fact in own), command
        values = {field: getattr(family, field) for field in type(family).model_fields}
        for field, value in values.items():
            if isinstance(value, (Range, Fact)) and not value.confirmed:
                assert field in NEEDED_BY
                assert any(fact.startswith(f"{field}, ") for fact in own), field
    for hardware in catalogue.hardware.values():
        own = [fact.ask for fact in listed if fact.of == hardware.model]
        known = hardware.buffer_kbytes is not None and hardware.buffer_kbytes.confirmed
        assert ("display qos buffer ingress-usage" in own) is not known
        assert ("display interface brief" in own) is not hardware.confirmed
    assert OPEN_POINTS.keys() == axes().keys()


def test_a_note_may_name_the_command_that_settles_it() -> None:
    def ask(command: str, note: str) -> str:
        return ask_of(Unconfirmed(command=command, note=note))

    assert ask("fec mode rs", "seen once") == "display current-configuration | include fec mode rs"
    assert ask("qos queue Q wred P", "") == "display current-configuration | include qos queue"
    assert ask("netconf / x", "`display this` shows it") == "display this"
    assert ask("ai-service / ai-ecn", "`ai-service` and `?` show them") == "ai-service ?"


def test_a_fabric_that_is_not_there_is_one_error(rocefort: Rocefort, tmp_path: Path) -> None:
    done = rocefort("facts", tmp_path / "no.yaml")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
