"""Choice of a dialect by a family's data, and the one error for a missing ability of a dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.dialects import choose
from rocefort.dialects.choose import dialect_of, dialects, load_dialect, reader_of
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.syntax_families import load_families
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import Family, SyntaxFamily

DEVICE = Device(name="leaf01", vlans=(110,))
HOW = "; name hardware whose family has another dialect"
DEPLOYING: list[Callable[[Dialect, Family], Any]] = [
    lambda dialect, family: dialect.patch("", "", family),
    lambda dialect, family: dialect.applied("", (), family),
    lambda dialect, family: dialect.with_kept("", (), family),
    lambda dialect, _: dialect.as_saved(""),
    lambda dialect, _: dialect.check_typed("secret", "env:BGP"),
]
READING: list[Callable[[Dialect], Any]] = [
    lambda dialect: dialect.lines(""),
    lambda dialect: dialect.changed_lines("", ""),
]


def family_of(dialect: str) -> Family:
    """A family with another dialect than its own."""
    family = load_families()[SyntaxFamily.V300_G1]
    return family.model_copy(update={"dialect": dialect})


def test_every_family_that_ships_is_vrp() -> None:
    assert dialects() == ("vrp",)
    for family in load_families().values():
        assert dialect_of(family).name == "VRP"


def test_a_text_of_unknown_hardware_is_read_by_the_dialect_that_recognises_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choose, "dialects", lambda: ("vrp", "tiny"))
    assert reader_of("sysname leaf01\n") == "vrp"
    assert reader_of("hostname leaf01\n") == "tiny"
    assert reader_of("something else\n") == "vrp"  # its parser reports it
    assert dialect_of(None).name == "VRP"


@pytest.mark.parametrize(("package", "name"), [("eos", "EOS"), ("frr", "FRR")])
def test_what_is_only_written_says_so_of_all_else(package: str, name: str) -> None:
    family = family_of(package)
    dialect = dialect_of(family)
    assert "leaf01" in dialect.render(DEVICE, family)
    for deploy in DEPLOYING:
        with pytest.raises(Refused) as refused:
            deploy(dialect, family)
        assert str(refused.value) == f"{name}: not deployed by Rocefort{HOW}"
    for read in READING:
        with pytest.raises(Refused) as refused:
            read(dialect)
        assert str(refused.value) == f"{name}: its configuration is not read by Rocefort{HOW}"
    with pytest.raises(Refused) as refused:
        dialect.parse("hostname leaf01", "leaf01.cfg")
    assert str(refused.value) == (
        f"leaf01.cfg: {name}: its configuration is not read by Rocefort{HOW}"
    )
    with pytest.raises(Refused) as refused:
        dialect.day0_device(DEVICE)
    assert str(refused.value) == f"{name}: not installed by Rocefort{HOW}"


def test_a_dialect_that_is_not_there_is_one_error() -> None:
    for name in ("ios", "no.such.module", "words", "xml.dom"):
        with pytest.raises(BadInput) as error:
            load_dialect(name)
        assert str(error.value) == (
            f"syntax family: no dialect '{name}'; name a package of rocefort.dialects, or install "
            "one with an entry point rocefort.dialects"
        )
