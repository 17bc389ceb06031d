"""What a Device says that the switches of a syntax family have no command for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from rocefort.dialects.vrp.parsing.bindings import fields_of, opened_by
from rocefort.dialects.vrp.row import SYSTEM, Row
from rocefort.dialects.vrp.semantics import rows_by_view
from rocefort.models.base import Frozen
from rocefort.models.device import Device
from rocefort.models.hardware import SyntaxFamily


def without_command(device: Device, family: SyntaxFamily) -> Iterator[tuple[str, str, str]]:
    """Fields that are set without a command for them: path, what is missing, how to say it."""
    for field, row in _missing(family):
        for path in _paths(device, field):
            yield path, f"no `{row.name}`", row.instead


@cache
def rows_of_fields() -> Mapping[str, tuple[Row, ...]]:
    """The rows that set a field of a Device, by `interfaces[].mtu`."""
    found: dict[str, list[Row]] = defaultdict(list)
    prefixes: dict[str, str] = {SYSTEM: ""}
    waiting = [row for rows in rows_by_view().values() for row in rows]
    while some := [row for row in waiting if row.view in prefixes]:
        waiting = [row for row in waiting if row.view not in prefixes]
        for row in some:
            prefix = prefixes[row.view]
            for field in fields_of(row):
                found[prefix + field].append(row)
            if row.opens and row.sets:
                inside = opened_by(row)
                prefixes.setdefault(row.opens, f"{prefix}{inside}." if inside else prefix)
    return {field: tuple(rows) for field, rows in found.items()}


@cache
def _missing(family: SyntaxFamily) -> tuple[tuple[str, Row], ...]:
    return tuple(
        (field, rows[0])
        for field, rows in rows_of_fields().items()
        if all(family not in row.families for row in rows)
    )


def _paths(model: Frozen, field: str) -> Iterator[str]:
    """Paths of a field of a model, or of what it holds, where it is not at its default."""
    step, _, rest = field.partition(".")
    name = step.removesuffix("[]")
    value = getattr(model, name)
    if not rest:
        if value != type(model).model_fields[name].get_default(call_default_factory=True):
            yield name
    elif isinstance(value, tuple):
        for row in value:
            yield from (f"{name}[{row.key}].{path}" for path in _paths(row, rest))
    elif value is not None:
        yield from (f"{name}.{path}" for path in _paths(value, rest))
