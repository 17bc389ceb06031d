"""Message sizes by name, numbers of messages by size, and the spread over repetitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.rdma.plan.command_lines import argv
from rocefort.rdma.plan.message_sizes import (
    MessageCount,
    SizeSeries,
    doubling_sizes,
    ladders,
    size_set,
)
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import OF_FABRICS, plan_suite
from rocefort.rdma.publications import published_sizes
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaPlan, Suite

Rocefort = Callable[..., tuple[int, str, str]]


def plan(heps: Any, suite: Suite, sizes: str = "", **options: object) -> RdmaPlan:
    named = size_set(sizes, published_sizes) if sizes else None
    chosen = RdmaPlanOptions.model_validate(options | {"sizes": named})
    names = ("k8sgn08", "k8sgn09", "transfer01")
    hosts = [RdmaHost(name=name, device="mlx5_0", gid_index=3) for name in names]
    return plan_suite(heps.network, heps.fabric.rdma, suite, hosts, chosen)


def test_sizes_of_eantc_are_those_of_its_tables(heps: Any) -> None:
    largest = {run.collective: run.sizes[-1] for run in plan(heps, Suite.MPI, "eantc-table-1").runs}
    assert largest == {
        "alltoall": 524288, "allgather": 4194304, "allreduce": 524288,
        "gather": 524288, "reduce": 4194304,
    }  # fmt: skip
    printed: dict[str, list[int]] = {}
    for run in plan(heps, Suite.MPI, "eantc-table-4").runs:
        printed.setdefault(run.collective, []).extend(run.sizes)
    assert printed == {
        "alltoall": [2, 1048576], "allgather": [1, 1048576], "allreduce": [8, 4194304],
        "gather": [2, 1048576], "reduce": [32, 262144],
    }  # fmt: skip


def test_mpi_measures_only_the_sizes_of_its_row(heps: Any) -> None:
    made = plan(heps, Suite.MPI, "eantc-table-4")
    hosts = made.by_host
    lines = [" ".join(argv(run, "client", hosts)) for run in made.runs[:2]]
    assert [line[line.index("-msglog") :] for line in lines] == [
        "-msglog 1:1 Alltoall",
        "-msglog 20:20 Alltoall",
    ]


def test_messages_of_redigo_fall_with_the_size(heps: Any) -> None:
    made = plan(heps, Suite.SWEEP, "redigo")
    counts: dict[Program, dict[int, int]] = {Program.WRITE_LAT: {}, Program.WRITE_BW: {}}
    for run in made.runs:
        counts[run.program][run.size_bytes or 0] = run.iterations or 0
    assert set(counts[Program.WRITE_LAT].values()) == {10_000}
    rates = counts[Program.WRITE_BW]
    assert (rates[1], rates[2048], rates[48_000_000]) == (10_000_000, 10_000_000, 1_000)
    assert rates[65_536] == 650_000  # interpolated
    assert made.notes[0].startswith("sizes redigo: assumed: powers of two between")


@pytest.mark.parametrize(
    ("fabric", "path", "switches"),
    [("redigo-direct", "back to back", 0), ("redigo-switch", "through switch01", 1)],
)
def test_a_bench_has_one_run_a_size_and_fewer_messages_on_request(
    fabric: str, path: str, switches: int
) -> None:
    derived = derive(INVENTORY / fabric / "fabric.yaml")
    hosts = [RdmaHost(name=name, device="rxe0", gid_index=1) for name in ("host1", "host2")]
    sizes = size_set("redigo", published_sizes)
    options = RdmaPlanOptions(sizes=sizes, iterations=200)
    made = plan_suite(derived.network, derived.fabric.rdma, Suite.SWEEP, hosts, options)
    assert len(made.runs) == 15 + 27
    assert 48 in {run.size_bytes for run in made.runs if run.program.measures_latency}
    assert {run.switches for run in made.runs} == {switches}
    counts = {(run.program, run.size_bytes): run.iterations for run in made.runs}
    assert counts[Program.WRITE_LAT, 8192] == counts[Program.WRITE_BW, 2048] == 200
    # 650,000 and 1,000 of 10,000,000 are published: 13, and not less than 5.
    sizes_scaled = (65_536, 48_000_000)
    assert [counts[Program.WRITE_BW, size] for size in sizes_scaled] == [13, 5]
    assert {run.reach_gbps for run in made.runs if not run.program.measures_latency} == {10}
    assert all(each.note.endswith(path) for each in made.rounds)
    assert made.notes[-1] == (
        "sizes redigo, bandwidth: 200 messages where 10,000,000 are published, and other sizes in "
        "proportion, at least 5 (--iterations)"
    )
    pair = plan_suite(derived.network, derived.fabric.rdma, Suite.WRITE, hosts)
    assert [run.program for run in pair.runs] == [Program.WRITE_BW, Program.WRITE_LAT]
    for suite in OF_FABRICS:
        with pytest.raises(BadInput, match="does not apply to a bench of two hosts; use write"):
            plan_suite(derived.network, derived.fabric.rdma, suite, hosts)


def test_a_duration_or_a_number_of_messages_precedes_the_published_one(heps: Any) -> None:
    made = plan(heps, Suite.SWEEP, "redigo", duration_s=4, iterations=500)
    assert {run.iterations for run in made.runs if run.program.measures_latency} == {500}
    assert {run.duration_s for run in made.runs if not run.program.measures_latency} == {4}


@given(st.integers(1, 2**26))
def test_interpolated_messages_never_rise_and_stay_within_the_published(size: int) -> None:
    series = SizeSeries(
        of=("bandwidth",),
        sizes=(1,),
        counts=(
            MessageCount(size_bytes=4095, messages=10_000_000),
            MessageCount(size_bytes=48_000_000, messages=1_000),
        ),
    )
    here, twice = series.messages(size), series.messages(2 * size)
    assert here is not None
    assert twice is not None
    assert 1_000 <= twice <= here <= 10_000_000


@given(st.sets(st.integers(0, 26)))
def test_ladders_have_every_size_once_and_double(powers: set[int]) -> None:
    sizes = [2**power for power in sorted(powers)]
    parts = ladders(sizes)
    assert [size for part in parts for size in part] == sizes
    assert all(part == doubling_sizes(part[0], part[-1]) for part in parts)
    assert all(one[-1] * 2 < two[0] for one, two in pairwise(parts))


@pytest.mark.parametrize(
    ("suite", "sizes", "sentence"),
    [
        ("sweep", "2,,64", "--sizes: '' is no number of bytes; write 2,64,65536"),
        ("sweep", "0,64", "--sizes: '0,64' has a size out of range; write 1 to 1073741824"),
        ("sweep", "redigoo", "--sizes: no sizes are called 'redigoo'; did you mean 'redigo'?; or write bytes: 2,64,65536"),
        ("mpi", "2,100", "--sizes: 100 bytes for alltoall; MPI benchmarks double the size from row to row: use powers of two"),
        ("mpi", "redigo", "--sizes: redigo has no sizes of alltoall; it has sizes of latency, bandwidth"),
        ("write", "2", "--sizes: the suite write does not use it; use it with sweep, storage and mpi"),
    ],
)  # fmt: skip
def test_sizes_that_cannot_be_measured(
    rocefort: Rocefort, suite: str, sizes: str, sentence: str
) -> None:
    words = ("--servers", "k8sgn08,k8sgn09", "--suite", suite, "--sizes", sizes)
    code, out, err = rocefort("rdma", "plan", "heps", *words)
    assert (code, out, err) == (2, "", f"rocefort: {sentence}\n")


def test_repetitions_are_whole_and_in_turn(heps: Any) -> None:
    once, thrice = plan(heps, Suite.MESH), plan(heps, Suite.MESH, repeat=3)
    assert len(thrice.rounds) == 3 * len(once.rounds)
    assert [each.repetition for each in thrice.rounds] == sorted([1, 2, 3] * len(once.rounds))
    assert Counter(run.pair for run in thrice.runs) == Counter({run.pair: 3 for run in once.runs})
    assert len({run.id for run in thrice.runs}) == len(thrice.runs)


def test_the_spread_of_repetitions_is_reported(
    open_lab: Callable[..., Any], rocefort: Rocefort
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn09"))
    common = (lab.fabric, "--connections", lab.file, "--history", lab.history, "--no-switches")
    words = ("--servers", "k8sgn08,k8sgn09", "--duration", 4, "--repeat", 2)
    code, out, err = rocefort("rdma", "run", *common, *words)
    assert (code, err) == (0, "")
    assert "these rounds" not in out
    assert (
        "minimum, median and maximum of 2 repetitions\n"
        "pair                program       bytes  unit  minimum  median  maximum  runs\n"
        "k8sgn08 -> k8sgn09  ib_write_bw   65536  Gb/s    94.00   94.00    94.00     2\n"
        "k8sgn08 -> k8sgn09  ib_write_lat      2  us       3.75    3.75     3.75     2\n"
    ) in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_published_number_of_messages_is_sent(
    open_lab: Callable[..., Any], rocefort: Rocefort
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn09"))
    common = (lab.fabric, "--connections", lab.file, "--history", lab.history, "--no-switches")
    words = ("--servers", "k8sgn08,k8sgn09", "--suite", "sweep", "--sizes", "redigo")
    code, out, _ = rocefort("rdma", "run", *common, *words, "--format", "json")
    assert '"size_bytes": 48000000' in out
    assert ('"outcome": "measured"' in out, "option-mismatch" in out) == (True, False)
    assert code == 0
