"""Defaults have no line in the saved form, on every family."""

from __future__ import annotations

import re

import pytest

from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.device.device import without_defaults
from rocefort.models.hardware.hardware import SyntaxFamily

VIEWS = {  # commands that enter a view
    "system": (),
    "interface": ("interface 100GE1/0/1",),
    "dcb-pfc": ("dcb pfc",),
    "drop-profile": ("drop-profile roce",),
    "traffic-behavior": ("traffic behavior DROP",),
    "bgp": ("bgp 65000",),
    "bgp-af": ("bgp 65000", "ipv4-family unicast"),
}
DEFAULTS = [
    (family, row)
    for rows in rows_by_view().values()
    for row in rows
    if row.default and row.sets
    for family in sorted(row.families)
]


def default_line(row: Row) -> str:
    """Return the line that states a default."""
    if row.kind in ("list", "each"):
        return row.format.partition("<")[0].replace("( ", "") + row.default
    return re.sub(r"{\d+-\d+}", "4", row.default)


@pytest.mark.parametrize(
    ("family", "row"), DEFAULTS, ids=[f"{family}-{row.format}" for family, row in DEFAULTS]
)
def test_a_line_that_says_a_default_says_nothing(family: SyntaxFamily, row: Row) -> None:
    views = ("interface Eth-Trunk1",) if row.on.startswith("Eth-Trunk") else VIEWS[row.view]
    texts = ["sysname a", *(f"{' ' * depth}{line}" for depth, line in enumerate(views))]
    if row.format.startswith("qos queue"):
        texts.append(" qos drr 4")  # a queue with a weight
    lines = [*texts, f"{' ' * len(views)}{default_line(row)}"]
    data = load_families()[family]
    without = parse("\n".join(texts), "a.cfg")
    with_line = parse("\n".join(lines), "a.cfg")
    assert with_line.unmodelled == without.unmodelled == ()
    assert without_defaults(with_line.device, data) == without_defaults(without.device, data)


def test_defaults_are_judged() -> None:
    assert len(DEFAULTS) >= 40
