"""Cells of a measured run: one for each figure, in every suite, with the same names each time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from rocefort.base.errors import Refused
from rocefort.experiment.measured import cell_values
from rocefort.rdma.plan.message_sizes import SizeSet, size_set
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import PLANNERS, plan_suite
from rocefort.rdma.rdma_plan import RdmaHost, RdmaPlan, RdmaRun, Suite
from rocefort.rdma.results import Figures, Measurement, MpiPoint, RdmaResult

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
USUAL = (0, 1, 2, 4)
OPTIONS: dict[Suite, dict[str, object]] = {
    Suite.STORAGE: {"storage_directory": "/mnt/a,/mnt/b", "targets": "1,2"},
}


def plan(heps: Any, suite: Suite, **options: object) -> RdmaPlan:
    names = ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")
    hosts = [RdmaHost(name=name, device="mlx5_0", gid_index=3) for name in names]
    chosen = RdmaPlanOptions.model_validate(OPTIONS.get(suite, {}) | options)
    return plan_suite(heps.network, heps.fabric.rdma, suite, hosts, chosen)


def measured(run: RdmaRun, value: float) -> Measurement:
    """Return a run with a figure of its own; a part of a collective has a row of 0 bytes, too."""
    sizes = ((0, *run.sizes) if run.sizes else USUAL) if run.ranks else ()
    return Measurement(
        run=run,
        outcome="measured",
        sentence="",
        figures=Figures(gbps=value, latency_us=value),
        sizes=tuple(MpiPoint(size_bytes=size, average_us=value + size) for size in sizes),
    )


def result(made: RdmaPlan) -> RdmaResult:
    runs = tuple(measured(run, number) for number, run in enumerate(made.runs, 1))
    return RdmaResult(id="1", plan=made, began=BEGAN, measurements=runs)


def figures(runs: Sequence[RdmaRun]) -> list[float]:
    """Figures that `measured` gives."""
    rows = [
        (number, (run.sizes or USUAL) if run.ranks else (0,)) for number, run in enumerate(runs, 1)
    ]
    return [float(number + size) for number, sizes in rows for size in sizes]


def sizes_of(text: str) -> SizeSet | None:
    return size_set(text, list) if text else None


@pytest.mark.parametrize("suite", PLANNERS)
def test_each_figure_of_a_suite_has_a_cell_of_its_own(heps: Any, suite: Suite) -> None:
    made = plan(heps, suite)
    values = cell_values(result(made))
    assert [value.value for value in values] == figures(made.runs)
    assert len({value.cell for value in values}) == len(values)


def test_parts_of_a_collective_have_a_cell_for_each_size(heps: Any) -> None:
    made = plan(heps, Suite.MPI, sizes=sizes_of("8,16,4096"))
    assert len(made.runs) == 10
    values = cell_values(result(made))
    assert [value.cell for value in values[:3]] == [
        "alltoall 8 B",
        "alltoall 16 B",
        "alltoall 4 KiB",
    ]
    assert len({value.cell for value in values}) == len(values) == 15


def test_a_run_without_figures_has_its_cells_without_values(heps: Any) -> None:
    """Otherwise a comparison could not name what it leaves out."""
    made = plan(heps, Suite.MPI, sizes=sizes_of("8,16,4096"))
    failed = [Measurement(run=run, outcome="failed", sentence="") for run in made.runs]
    whole = result(made)
    values = cell_values(whole.model_copy(update={"measurements": tuple(failed)}))
    assert [value.cell for value in values] == [value.cell for value in cell_values(whole)]
    assert {value.value for value in values} == {None}


CELLS: list[tuple[Suite, list[str]]] = [
    (
        Suite.MIXED,
        [
            "ib_write_bw 64 KiB k8sgn09 -> k8sgn08: RDMA alone",
            "ib_write_bw 64 KiB k8sgn09 -> k8sgn08: RDMA in queue 4, TCP in queue 0",
            "iperf3 k8sgn12 -> k8sgn08",
        ],
    ),
    (
        Suite.FAILOVER,
        [
            "ib_write_bw 64 KiB k8sgn08 -> k8sgn09: an uplink of leaf01 fails, near the sender",
            "ib_write_bw 64 KiB k8sgn08 -> k8sgn09: an uplink of leaf02 fails, near the receiver",
        ],
    ),
]


@pytest.mark.parametrize(("suite", "cells"), CELLS, ids=[suite.value for suite, _ in CELLS])
def test_a_cell_that_several_rounds_measure_has_the_note_of_its_round(
    heps: Any, suite: Suite, cells: list[str]
) -> None:
    assert [value.cell for value in cell_values(result(plan(heps, suite)))] == cells


def test_two_figures_of_one_cell_are_refused(heps: Any) -> None:
    made = plan(heps, Suite.WRITE)
    twice = result(made).measurements[0]
    whole = RdmaResult(id="1", plan=made, began=BEGAN, measurements=(twice, twice))
    with pytest.raises(Refused, match="run 1: two figures have the cell 'ib_write_bw "):
        cell_values(whole)
