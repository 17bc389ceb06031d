"""Every field of a Device is in a saved text that renders to itself, so none is forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.parse.bindings import bindings_of
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import rows_of_fields
from rocefort.models.base import Frozen
from rocefort.models.device import device as module
from rocefort.models.device.device import EFFECTS

GOLDEN = Path(__file__).parents[3] / "golden" / "vrp"
FIELDS = sorted(
    f"{name}.{field}"
    for name, model in vars(module).items()
    if isinstance(model, type) and issubclass(model, Frozen) and model.__module__ == module.__name__
    for field in model.model_fields
    if field in model.__annotations__  # an inherited one counts for its own class
)


def set_fields(value: object) -> Iterator[str]:
    """Yield `Class.field` of every field that is not at its default, with those of base classes."""
    if isinstance(value, tuple):
        for row in value:
            yield from set_fields(row)
    elif isinstance(value, Frozen):
        for field, info in type(value).model_fields.items():
            inner = getattr(value, field)
            yield from set_fields(inner)
            if inner != info.get_default(call_default_factory=True):
                for model in type(value).__mro__:
                    yield f"{model.__name__}.{field}"


@pytest.fixture(scope="module")
def in_golden() -> set[str]:
    devices = (parse(path.read_text(), path.name).device for path in GOLDEN.glob("*.cfg"))
    return {field for device in devices for field in set_fields(device)}


@pytest.mark.parametrize("field", FIELDS)
def test_a_line_of_a_saved_text_says_it(in_golden: set[str], field: str) -> None:
    assert field in in_golden, f"add a line that sets {field} to a text of tests/golden/vrp"


def enclosing(field: str) -> Iterator[str]:
    """Yield a field and all that enclose it: `bgp.peers[].bfd`, `bgp.peers[]`, `bgp`."""
    while field:
        yield field
        field = field.rpartition(".")[0]


@pytest.mark.parametrize("field", [field for field in EFFECTS if not field.endswith(".order")])
def test_a_row_of_the_command_table_sets_it(field: str) -> None:
    rows = rows_of_fields()
    reads = any(row.reads for path in enclosing(field) for row in rows.get(path, ()))
    holds = any(path.startswith(f"{field}.") for path in rows)
    assert field in rows or reads or holds


def test_a_row_sets_only_what_a_device_has() -> None:
    for rows in rows_by_view().values():
        for row in rows:
            if row.reads is None:
                bindings_of(row)
    keys = {"static_routes[].vrf"}  # the value is part of the key: another value is another route
    assert rows_of_fields().keys() <= EFFECTS.keys() | keys


@pytest.mark.parametrize(
    ("binding", "what"),
    [
        ("colour={text}", "Interface has no field colour"),
        ("mtu.size={text}", "'mtu.size={text}': mtu holds no fields"),
        ("static_routes[{ip}].preference={1-255}", "StaticRoute has no one key"),
    ],
)
def test_a_row_that_sets_what_no_device_has_is_a_mistake(binding: str, what: str) -> None:
    view = "system" if binding.startswith("static") else "interface"
    with pytest.raises(TypeError, match=re.escape(what)):
        bindings_of(Row(view, "colour <text>", sets=(binding,)))
