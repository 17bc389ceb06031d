"""Storage with several targets, MPI in groups, with more processes, and beside TCP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rocefort.rdma.judge.rounds import simultaneous
from rocefort.rdma.plan.command_lines import argv, prechecks
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaPlan, Suite
from rocefort.rdma.results import Figures, Measurement, RdmaResult

Rocefort = Callable[..., tuple[int, str, str]]
BEGAN = datetime(2026, 11, 20, 22, 5, tzinfo=UTC)


def plan(heps: Any, suite: Suite, **options: object) -> RdmaPlan:
    names = [server.name for server in heps.network.servers if server.roce]
    hosts = [RdmaHost(name=name, device="mlx5_0", gid_index=3) for name in names]
    chosen = RdmaPlanOptions.model_validate(options)
    return plan_suite(heps.network, heps.fabric.rdma, suite, hosts, chosen)


def test_targets_are_written_at_the_same_time(heps: Any) -> None:
    made = plan(heps, Suite.STORAGE, storage_directory="/mnt/a,/mnt/b", targets="1,2")
    assert len(made.rounds) == 12
    first, last = made.rounds[0].runs[0], made.rounds[-1].runs[0]
    assert (made.rounds[0].note, made.rounds[-1].note) == (
        "random writes of 4096 bytes, depth 1, 1 target",
        "random writes of 4194304 bytes, depth 128, 2 targets",
    )
    assert [prechecks(run) for run in (first, last)] == [
        (("mountpoint", "-q", "/mnt/a"),),
        (("mountpoint", "-q", "/mnt/a"), ("mountpoint", "-q", "/mnt/b")),
    ]
    line = " ".join(argv(last, "client", made.by_host))
    assert "--directory=/mnt/a:/mnt/b " in line
    assert "--numjobs=2 " in line
    assert len({made.shapes[run.id] for run in (first, last)}) == 2


def test_processes_of_each_server_have_slots(heps: Any) -> None:
    run = plan(heps, Suite.MPI, processes_per_server=36).runs[0]
    run = run.model_copy(update={"ranks": ("k8sgn08", "k8sgn09")})
    line = " ".join(argv(run, "client", plan(heps, Suite.MPI).by_host))
    assert line.startswith("mpirun -np 72 --host k8sgn08:36,k8sgn09:36 --map-by ppr:36:node ")
    assert " IMB-MPI1 -npmin 72 " in line


@pytest.mark.parametrize("groups", [2, 3, 4, 5])
def test_groups_share_no_server_and_no_collective(heps: Any, groups: int) -> None:
    (only,) = plan(heps, Suite.MPI, groups=groups).rounds
    assert len(only.runs) == groups
    assert len({run.collective for run in only.runs}) == groups
    names = Counter(name for run in only.runs for name in run.ranks)
    assert set(names.values()) == {1}
    sizes = [len(run.ranks) for run in only.runs]
    assert max(sizes) - min(sizes) <= 1


def test_half_of_the_servers_send_tcp_beside_mpi(heps: Any) -> None:
    made = plan(heps, Suite.MPI, tcp_gbps=20.0)
    for each in made.rounds:
        work, *load = each.runs
        assert not set(work.ranks) & {name for run in load for name in run.servers}
        assert (len(work.ranks), len(load), work.after_s) == (6, 5, 1)  # 11 may exchange RDMA
        assert {run.limit_gbps for run in load} == {20.0}
        assert Counter(run.client for run in load) == Counter(run.server for run in load)
    line = " ".join(argv(made.rounds[0].runs[1], "client", made.by_host))
    assert " -t 120 -P 4 -S 0 -b 5000M " in line
    assert made.shapes[made.runs[0].id] != plan(heps, Suite.MPI).shapes["001.01"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--suite", "storage", "--directory", "/mnt/a", "--targets", "1,4"), "--targets: 4 targets, and 1 directory; name a directory for each target: --directory /mnt/a,/mnt/b"),
        (("--suite", "storage", "--directory", "/mnt/a", "--targets", "x"), "--targets: 'x' is no number of targets; write 1,4"),
        (("--suite", "storage", "--directory", "/mnt/a,/mnt/a"), "--directory: a directory is there twice; name each target's directory once"),
        (("--suite", "mpi", "--targets", "4"), "--targets: the suite mpi does not use it; use it with storage"),
        (("--suite", "write", "--groups", "4"), "--groups: the suite write does not use it; use it with mpi"),
        (("--suite", "sweep", "--tcp-gbps", "20"), "--tcp-gbps: the suite sweep does not use it; use it with mixed and mpi"),
        (("--suite", "mpi", "--groups", "4"), "heps: mpi takes 8 RoCE servers, 4 may be used; name more with --servers, or list more under rdma.servers"),
        (("--suite", "mpi", "--tcp-gbps", "101"), "--tcp-gbps: 101 Gb/s is more than the 100 Gb/s of k8sgn09; state a lower rate, or name other servers"),
        (("--suite", "mesh", "--processes-per-server", "2"), "--processes-per-server: the suite mesh does not use it; use it with mpi"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_measured(
    rocefort: Rocefort, words: tuple[str, ...], sentence: str
) -> None:
    servers = ("--servers", "k8sgn08,k8sgn09,k8sgn12,daisygn01")
    code, out, err = rocefort("rdma", "plan", "heps", *servers, *words)
    assert (code, out, " ".join(err.split())) == (2, "", f"rocefort: {sentence}")


RUNS = [
    (("--suite", "mpi", "--processes-per-server", 2, "--repeat", 2), "IMB-MPI1 reduce, 4 servers, average, us\n"),
    (("--suite", "mpi", "--groups", 2), "alltoall over 2 servers and allgather over 2 servers: all groups ran"),
    (("--suite", "mpi", "--tcp-gbps", 20), "2 TCP senders: 20.00 Gb/s each in 10 runs, 20 stated\n"),
    (("--suite", "mixed", "--tcp-gbps", 20, "--duration", 4), "1 TCP sender: 20.00 Gb/s each in 1 run, 20 stated\n"),
    (("--suite", "storage", "--directory", "/mnt/a,/mnt/b", "--duration", 4), "fio depth 128, 2 targets"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "sentence"), RUNS, ids=[" ".join(map(str, w)) for w, _ in RUNS])
def test_a_run_reports_it(
    open_lab: Callable[..., Any], rocefort: Rocefort, words: tuple[object, ...], sentence: str
) -> None:
    lab = open_lab()
    common = (lab.fabric, "--connections", lab.file, "--history", lab.history, "--no-switches")
    code, out, _ = rocefort("rdma", "run", *common, "--servers", ",".join(lab.roots), *words)
    assert (code, lab.processes) == (0, {})
    assert sentence in out.replace("\n      ", " ")
    assert max(map(len, out.splitlines())) <= 80


def test_tcp_that_ends_before_mpi_is_a_fault(heps: Any) -> None:
    made = plan(heps, Suite.MPI, tcp_gbps=20.0)
    measurements = [
        Measurement(
            run=run,
            outcome="measured",
            sentence="",
            figures=Figures(gbps=19.9, latency_us=5.0),
            at=BEGAN + timedelta(seconds=1 if run.ranks else 0),
            seconds=90.0 if run.program is Program.IMB else 60.0,
        )
        for run in made.rounds[0].runs
    ]
    result = RdmaResult(id="1", plan=made, began=BEGAN, measurements=tuple(measurements))
    assert [(each.ok, each.sentence) for each in simultaneous(result)] == [
        (None, "5 TCP senders: 19.90 Gb/s each in 5 runs, 20 stated"),
        (
            False,
            "TCP did not run during all of MPI in 1 of 1 round, at worst for 59.0 s of 90.0 s: "
            "lengthen TCP with --duration",
        ),
    ]
