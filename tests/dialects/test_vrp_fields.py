"""Every field of a Device stands in a saved text that renders to itself, so none is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocefort.dialects.vrp.parse import parse
from rocefort.models import device as module
from rocefort.models.base import Frozen

GOLDEN = Path(__file__).parents[1] / "golden" / "vrp"
FIELDS = sorted(
    f"{name}.{field}"
    for name, model in vars(module).items()
    if isinstance(model, type) and issubclass(model, Frozen) and model.__module__ == module.__name__
    for field in model.model_fields
    if field in model.__annotations__  # an inherited one counts for its own class
)


def said(value: object) -> Iterator[str]:
    """`Class.field` of every field that is not at its default, its base classes' among them."""
    if isinstance(value, tuple):
        for row in value:
            yield from said(row)
    elif isinstance(value, Frozen):
        for field, info in type(value).model_fields.items():
            inner = getattr(value, field)
            yield from said(inner)
            if inner != info.get_default(call_default_factory=True):
                for model in type(value).__mro__:
                    yield f"{model.__name__}.{field}"


@pytest.fixture(scope="module")
def in_golden() -> set[str]:
    devices = (parse(path.read_text(), path.name).device for path in GOLDEN.glob("*.cfg"))
    return {field for device in devices for field in said(device)}


@pytest.mark.parametrize("field", FIELDS)
def test_a_line_of_a_saved_text_says_it(in_golden: set[str], field: str) -> None:
    assert field in in_golden, f"add a line that sets {field} to a text of tests/golden/vrp"
