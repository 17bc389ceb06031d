"""Three opinions on next hops: kernels of a twin, the embedded engine, Batfish's recorded answers.

HEPS itself is in tests/twin/test_lab_trials.py, whole and after failures; here are other fabrics.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import ServiceFailed
from rocefort.lab.bring_up import expected_sessions
from rocefort.lab.experiments.opinions import Batfish, opinions_of
from rocefort.lab.lab_report import OpinionRow, opinions_report
from rocefort.lab.twin.registry import Registry, reap
from rocefort.lab.twin.requirements import require_host
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.routing.engine import analyse

pytestmark = pytest.mark.twin
RECORDED = Path(__file__).parents[2] / "recorded"
Intent = dict[str, Any]
EACH = {"spine_asn": 65000, "spine_asns": "each", "leaf_asn_base": 65100, "maximum_paths": 32}


@dataclass(frozen=True)
class Fabric:
    """A recorded fabric: its intent, and what is replaced in its texts."""

    name: str
    intent: Callable[[Callable[..., Intent]], Intent]
    edits: tuple[tuple[str, str, str], ...] = ()


def fewer_links(base: Callable[..., Intent]) -> Intent:
    """A leaf with half the links of the others."""
    intent = base(links_per_pair=2)
    intent["leaves"][1]["links_per_pair"] = 1
    return intent


FABRICS = (
    Fabric("named-fewer-links", fewer_links),
    Fabric("named-relaxed", lambda base: base(routing=EACH)),
    Fabric(
        "named-missing-session",
        lambda base: base(),
        (("leaf02", r"^ +peer 10\.1\.0\.8 .*\n", ""),),
    ),
    Fabric(
        "named-wrong-as",
        lambda base: base(),
        (("leaf02", r"^( peer 10\.1\.0\.8 as-number) 65000$", r"\1 65009"),),
    ),
)


@pytest.fixture(scope="module")
def labs() -> Iterator[Registry]:
    """A registry of this module, where labs can be."""
    try:
        require_host()
    except ServiceFailed as error:
        pytest.skip(str(error).splitlines()[0])
    found = Registry(Path(f"/run/rocefort-test-opinions-{os.getpid()}"))
    yield found
    for name in found.names():
        with found.lock(name):
            reap(found, found.find(name))
    assert not found.root.exists()


@pytest.fixture(scope="module")
def rows() -> Iterator[list[OpinionRow]]:
    """Results of each fabric, for the table at the end."""
    found: list[OpinionRow] = []
    yield found
    assert f"in {len(found)} state" in text_of(opinions_report(found), width=80)


@pytest.mark.parametrize("one", FABRICS, ids=lambda one: one.name)
def test_all_three_agree(
    one: Fabric,
    fabric: Callable[..., Any],
    intent: Callable[..., Intent],
    labs: Registry,
    rows: list[OpinionRow],
) -> None:
    network = fabric(one.name, one.intent(intent), one.edits).network
    choice = TwinOptions(bfd=False, expected=expected_sessions(network))
    twin = Twin.up(network, one.name, choice, labs)
    row = opinions_of(twin, network, Batfish.of(RECORDED))
    twin.down()
    rows.append(row)
    routes = analyse(network).state.routes
    assert len(routes) > 20
    assert row == OpinionRow(
        fabric=one.name,
        state="whole",
        compared=len(routes),
        differing={"kernel, engine": 0, "kernel, batfish": 0, "engine, batfish": 0},
        batfish=f"recorded {one.name}",
    )
