"""All errors of a file in one run: a wrong value hides no other problem and adds none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive

Edit = Callable[..., Path]
WRONG_VALUES = {
    "vlan": ("vlan: 110\n", "vlan: 1\n"),
    "unknown key": ("hold_s: 30", "hold_sec: 30"),
    "section": ("cables:\n", "cabels:\n"),
    "unit": ("xoff_kbytes: 600", "xoff_kbytes: 600 KB"),
    "network": ("prefix: 10.255.0.0/24\n", "prefix: 10.255.0.0/33\n"),
    "pool": ("links: 10.1.0.0/22", "links: 10.1.0/22"),
    "name": ("name: leaf03\n", "name: leaf 03\n"),
    "number": ("  - id: 5\n    name: leaf05", "  - id: five\n    name: leaf05"),
    "port": ("    port: 100GE1/0/1\n    segment: transfer\n", "    port: eth0\n    segment: transfer\n"),
    "no port": ("    port: 100GE1/0/1\n    segment: transfer\n", "    segment: transfer\n"),
    "missing": ("  canary: leaf08\n", ""),
    "boolean": ("max_unavailable: 1\n", "max_unavailable: true\n"),
}  # fmt: skip
CONTRADICTIONS = {
    "server on no leaf": ("  - name: readout03\n    leaf: leaf07", "  - name: readout03\n    leaf: leaf70"),
    "port used twice": ("leaf: leaf01\n    port: 100GE1/0/2\n", "leaf: leaf01\n    port: 100GE1/0/1\n"),
    "id used twice": ("  - id: 4\n    name: leaf04", "  - id: 3\n    name: leaf04"),
    "release": ("name: leaf02\n    hardware: CE8850-64CQ-EI\n    software: V200R022C00", "name: leaf02\n    hardware: CE8850-64CQ-EI\n    software: V300R023C00"),
    "server named twice": ("name: readout04\n", "name: leaf08\n"),
    "server of RDMA": ("latency_us: 3.72          # published: across the spines\n", "latency_us: 3.72\n  servers: [k8sgn8]\n"),
    "weights": ("{queue: 5, weight: 1}", "{queue: 4, weight: 5}"),
}  # fmt: skip


def sentences_of(path: Path) -> list[str]:
    """Return sentences of an error without their positions."""
    with pytest.raises(BadInput) as caught:
        derive(path)
    lines = [problem.line for problem in caught.value.problems]
    assert lines == sorted(lines)
    every = [f"{one.subject}: {one.what}; {one.how}" for one in caught.value.problems]
    return [re.sub(r"line \d+", "line N", one) for one in every]


DEPENDENT = {  # a contradiction that depends on the wrong value
    ("port", "port used twice"),
    ("no port", "port used twice"),
    ("name", "server on no leaf"),
    ("name", "server of RDMA"),
}


@pytest.mark.parametrize("contradiction", CONTRADICTIONS)
@pytest.mark.parametrize("wrong", WRONG_VALUES)
def test_a_wrong_value_hides_no_contradiction(
    edit_heps: Edit, wrong: str, contradiction: str
) -> None:
    shape, meaning = WRONG_VALUES[wrong], CONTRADICTIONS[contradiction]
    alone, other = sentences_of(edit_heps(shape)), sentences_of(edit_heps(meaning))
    assert (len(alone), len(other)) == (1, 1)
    expected = alone if (wrong, contradiction) in DEPENDENT else alone + other
    assert sorted(sentences_of(edit_heps(shape, meaning))) == sorted(expected)


def test_errors_of_all_kinds_come_together(edit_heps: Edit) -> None:
    wrong = [edit for kind, edit in WRONG_VALUES.items() if kind not in ("name", "no port")]
    contradictions = [CONTRADICTIONS["weights"], CONTRADICTIONS["server named twice"]]
    assert len(sentences_of(edit_heps(*wrong, *contradictions))) == len(wrong) + 2
