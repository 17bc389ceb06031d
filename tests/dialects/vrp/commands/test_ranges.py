"""Ranges are defined only in `inventory/hardware/families.yaml`, and emulated switches use them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rocefort.base.errors import BadInput
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.catalogue import GROUPS
from rocefort.dialects.vrp.commands.command import with_ranges
from rocefort.dialects.vrp.interpreter.execute import VrpRefusal
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.models.hardware.hardware import Family, Range, SyntaxFamily

G1, G2, V200 = SyntaxFamily.V300_G1, SyntaxFamily.V300_G2, SyntaxFamily.V200
PORT, PFC, DROP = "interface 100GE1/0/1", "dcb pfc", "drop-profile p"
# Range of a family -> lines with a number of it, where a family has its own form.
LINES: dict[str, dict[SyntaxFamily | None, tuple[str, ...]]] = {
    "deadlock_detect_ms": {None: ("dcb pfc deadlock-detect timer {n}",)},
    "deadlock_recovery_ms": {None: ("dcb pfc deadlock-recovery timer {n}",)},
    "deadlock_detect_time": {
        None: (PFC, "priority 4 deadlock-detect time {n}"),
        V200: (PFC, "priority 4 deadlock-detect time {n} deadlock-recovery time 5"),
    },
    "deadlock_recovery_time": {
        None: (PFC, "priority 4 deadlock-recovery time {n}"),
        V200: (PFC, "priority 4 deadlock-detect time 5 deadlock-recovery time {n}"),
    },
    "xoff_kbytes": {
        None: (PORT, "dcb pfc buffer 4 xoff static {n} kbytes"),
        G1: (PORT, "dcb pfc buffer 4 xon static 1 kbytes xoff static {n} kbytes"),
    },
    "headroom_kbytes": {None: (PORT, "dcb pfc buffer 4 hdrm {n} kbytes")},
    "headroom_pool_kbytes": {None: ("qos buffer headroom-pool size {n} kbytes slot 1",)},
    "pfc_queues": {None: (PFC, "priority {n}")},
    "ecn_bytes": {
        None: (DROP, "ecn buffer-size low-limit {n} high-limit {n} discard-percentage 20")
    },
    "ecn_cells": {
        None: (DROP, "ecn buffer-size cell low-limit {n} high-limit {n} discard-percentage 20")
    },
}


def ranges() -> Iterator[tuple[Family, str, Range]]:
    for family in load_families().values():
        for name in Family.model_fields:
            if isinstance(limits := getattr(family, name), Range):
                yield family, name, limits


def holds(name: str, limits: Range) -> bool:
    """Whether a number is accepted: without a source, an emulated switch refuses nothing.

    It has eight queues.
    """
    return limits.confirmed or name == "pfc_queues"


CASES = [pytest.param(*case, id=f"{case[0].name}-{case[1]}") for case in ranges()]


@pytest.mark.parametrize(("family", "name", "limits"), CASES)
def test_a_switch_takes_both_ends_of_a_range_and_nothing_beyond(
    family: Family, name: str, limits: Range
) -> None:
    forms = LINES[name]

    def typed(number: int) -> list[str]:
        lines = forms.get(family.syntax, forms[None])
        return [line.format(n=number) for line in lines]

    for number in (limits.low, limits.high):
        assert apply_lines((), typed(number), family.syntax)
    if not holds(name, limits):
        assert apply_lines((), typed(limits.high + 1), family.syntax)
        return
    for number in (limits.low - 1, limits.high + 1):
        if number >= 0:
            with pytest.raises(VrpRefusal):
                apply_lines((), typed(number), family.syntax)


def test_a_size_in_mbytes_is_held_to_the_range_in_kbytes() -> None:
    assert apply_lines((), ["qos buffer headroom-pool size 4 mbytes slot 1"], G2)
    with pytest.raises(VrpRefusal, match="Wrong parameter"):
        apply_lines((), ["qos buffer headroom-pool size 4 mbytes slot 1"], G1)
    with pytest.raises(VrpRefusal, match="Wrong parameter"):
        apply_lines((), [PORT, "dcb pfc buffer 4 xoff static 31 mbytes"], G2)


@pytest.mark.parametrize(
    "line",
    [
        "dcb pfc buffer 5 xon static 5 mbytes xoff static 10 kbytes",
        "dcb pfc buffer 4 xon static 4 mbytes xoff static 4 kbytes",
    ],
)
def test_a_size_that_equals_its_queue_has_its_unit(line: str) -> None:
    with pytest.raises(VrpRefusal, match="Wrong parameter"):
        apply_lines((), [PORT, line], G1)


def test_an_undo_is_held_to_the_range_too() -> None:
    set_to = "dcb pfc buffer 4 hdrm 256 kbytes"
    with pytest.raises(VrpRefusal, match="Wrong parameter"):
        apply_lines((), [PORT, set_to, "undo dcb pfc buffer 4 hdrm 1 kbytes"], G2)


def test_families_without_a_range_that_their_switches_need_are_refused() -> None:
    families = load_families()
    bare = families[V200].model_copy(update={"xoff_kbytes": None})
    row = next(
        r
        for rows in GROUPS
        for r in rows
        if "<kbytes:xoff_kbytes>" in r.format and V200 in r.families
    )
    with pytest.raises(BadInput, match=r"families\.yaml: no xoff_kbytes of v200"):
        with_ranges(row, {**families, V200: bare})


def test_no_row_writes_a_range_that_the_families_have() -> None:
    """Except that of queues, 0 to 7 or 0 to 5, which each command of queues has."""
    written = {
        f"{limits.low}-{limits.high}" for _, name, limits in ranges() if name != "pfc_queues"
    }
    subjects = ("dcb pfc", "priority", "qos buffer", "ecn", "color")
    for row in (row for rows in GROUPS for row in rows if row.format.startswith(subjects)):
        for text in (row.format, row.default, *row.undo, *row.needs, *row.on_set, *row.on_undo):
            assert not written & set(re.findall(r"\d+-\d+", text)), row.format
