"""Command lines of both ends are complete, and have only options of the version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.plan.command_lines import argv, ends_fit, prechecks, version_of
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaRun, StorageJob

HOSTS = {
    "a": RdmaHost(name="a", device="mlx5_0", gid_index=3, numa_node=1, perftest="6.20"),
    "b": RdmaHost(name="b", device="mlx5_1", gid_index=5, perftest="6.20"),
}
RUN = RdmaRun(
    id="001.01",
    program=Program.WRITE_BW,
    client="a",
    server="b",
    client_address="10.65.1.10",
    server_address="10.65.2.10",
    port=18515,
    size_bytes=65536,
    duration_s=10,
    qps=8,
    traffic_class=138,
)
LATENCY = {"program": Program.WRITE_LAT, "size_bytes": 2, "duration_s": None, "iterations": 10_000}


def words(side: str, **more: object) -> str:
    run = RUN.model_copy(update=more)
    return " ".join(argv(run, "server" if side == "server" else "client", HOSTS))


@pytest.mark.parametrize(
    ("side", "more", "line"),
    [
        ("server", {}, "ib_write_bw -d mlx5_1 -x 5 -F -p 18515 --tclass=138 -s 65536 --report_gbits -q 8 -D 10 --cpu_util"),
        ("client", {}, "numactl --cpunodebind=1 --membind=1 ib_write_bw -d mlx5_0 -x 3 -F -p 18515 --tclass=138 -s 65536 --report_gbits -q 8 -D 10 --cpu_util 10.65.2.10"),
        ("server", LATENCY, "ib_write_lat -d mlx5_1 -x 5 -F -p 18515 --tclass=138 -s 2 -n 10000"),
        ("server", {"limit_gbps": 40.0}, "ib_write_bw -d mlx5_1 -x 5 -F -p 18515 --tclass=138 -s 65536 --report_gbits -q 8 -D 10 --cpu_util"),
        ("client", {"limit_gbps": 40.0}, "numactl --cpunodebind=1 --membind=1 ib_write_bw -d mlx5_0 -x 3 -F -p 18515 --tclass=138 -s 65536 --report_gbits -q 8 -D 10 --cpu_util --rate_limit=40 --rate_units=g --rate_limit_type=SW --burst_size=16 10.65.2.10"),
        ("client", {"every_s": 1}, "numactl --cpunodebind=1 --membind=1 stdbuf -oL ib_write_bw -d mlx5_0 -x 3 -F -p 18515 --tclass=138 -s 65536 --report_gbits -q 8 --run_infinitely -D 1 10.65.2.10"),
        ("server", {"program": Program.IPERF3, "traffic_class": 32}, "iperf3 -s -1 -J -p 18515 -B 10.65.2.10"),
        ("client", {"program": Program.IPERF3, "traffic_class": 32, "limit_gbps": 40.0}, "numactl --cpunodebind=1 --membind=1 iperf3 -c 10.65.2.10 -B 10.65.1.10 -p 18515 -t 10 -P 8 -S 32 -b 5000M -i 1 -J"),
    ],
)  # fmt: skip
def test_command_line(side: str, more: dict[str, object], line: str) -> None:
    assert words(side, **more) == line


@pytest.mark.parametrize(
    ("size", "limit", "options"),
    [
        (65536, 40.0, "--rate_limit=40 --rate_units=g --rate_limit_type=SW --burst_size=16"),
        (8388608, 40.0, "--rate_limit=40 --rate_units=g --rate_limit_type=SW --burst_size=1"),
        (2048, 2.5, "--rate_limit=2.5 --rate_units=g --rate_limit_type=SW --burst_size=128"),
        (None, 40.0, "--rate_limit=40 --rate_units=g --rate_limit_type=SW --burst_size=16"),
        (2, 34.0, "--rate_limit=34 --rate_units=g --rate_limit_type=SW --burst_size=128"),
        (65536, 0.004, "--rate_limit=0.004 --rate_units=g --rate_limit_type=SW --burst_size=7"),
        (2, 40.0, ""),  # 2.5e9 messages per second overflow perftest's int; no NIC sends so many
    ],
)
def test_a_limit_holds_for_all_qps_together_in_bursts_of_a_mebibyte(
    size: int | None, limit: float, options: str
) -> None:
    for qps in (1, 8):  # perftest has one limiter for all QPs
        line = words("client", size_bytes=size, limit_gbps=limit, qps=qps)
        assert line.partition(" -D 10 --cpu_util")[2].removesuffix("10.65.2.10").strip() == options


def test_a_limit_under_one_message_a_second_is_refused() -> None:
    with pytest.raises(BadInput) as caught:
        words("client", size_bytes=8388608, limit_gbps=0.06)
    assert str(caught.value) == (
        "0.06 Gb/s is less than one message of 8388608 bytes a second; raise rdma.rate_limit_gbps"
    )


def test_jobs_of_fio_share_the_limit() -> None:
    job = StorageJob(directory="/mnt/data", block_bytes=4096, depth=32, targets=4)
    run = RdmaRun(id="1", program=Program.FIO, client="b", duration_s=9, storage=job, limit_gbps=8)
    assert "--numjobs=4" in argv(run, "client", HOSTS)
    assert "--rate=250000000" in argv(run, "client", HOSTS)


def test_storage_writes_a_file_of_its_own_and_removes_it() -> None:
    job = StorageJob(directory="/mnt/data", block_bytes=4096, depth=32)
    run = RdmaRun(
        id="001.01", program=Program.FIO, client="b", duration_s=100, storage=job, limit_gbps=8
    )
    assert " ".join(argv(run, "client", HOSTS)) == (
        "fio --name=b.001.01 --directory=/mnt/data --rw=randwrite --bs=4096 --iodepth=32"
        " --numjobs=1 --size=1073741824 --runtime=100 --time_based --ioengine=libaio --direct=1"
        " --unlink=1 --rate=1000000000 --output-format=json"
    )
    assert prechecks(run) == (("mountpoint", "-q", "/mnt/data"),)
    assert prechecks(RUN) == ()


def test_mpi_over_the_rdma_devices() -> None:
    alike = {
        name: h.model_copy(update={"device": "mlx5_0", "gid_index": 3}) for name, h in HOSTS.items()
    }
    run = RdmaRun(
        id="1", program=Program.IMB, client="a", ranks=("a", "b"), collective="alltoall",
        iterations=100, traffic_class=138,
    )  # fmt: skip
    start = (
        "mpirun -np 2 --host a,b --map-by ppr:1:node --mca pml ucx -x UCX_NET_DEVICES=mlx5_0:1"
        " -x UCX_IB_GID_INDEX=3 -x UCX_IB_TRAFFIC_CLASS=138 -x ROCEFORT_RUN "
    )
    assert " ".join(argv(run, "client", alike)) == (
        f"{start}IMB-MPI1 -npmin 2 -iter 100 -msglog 0:20 Alltoall"
    )
    reduced = run.model_copy(update={"collective": "allreduce"})  # EANTC's table goes to 4 MiB
    assert " ".join(argv(reduced, "client", alike)).endswith("-msglog 0:22 Allreduce")
    osu = run.model_copy(update={"program": Program.OSU})
    assert " ".join(argv(osu, "client", alike)) == f"{start}osu_alltoall -m 1:1048576 -i 100 -f"
    with pytest.raises(BadInput) as caught:
        argv(run, "client", HOSTS)
    assert str(caught.value) == (
        "the servers name different devices or GID indexes: mlx5_0, mlx5_1; 3, 5;"
        " choose servers with the same device and GID index: mpirun sets one for all"
    )


@pytest.mark.parametrize(
    ("version", "there"), [("6.06", False), ("6.19", False), ("6.20", True), ("6.29", True)]
)
def test_a_json_report_only_where_it_is_json(version: str, there: bool) -> None:
    hosts = {name: h.model_copy(update={"perftest": version}) for name, h in HOSTS.items()}
    line = argv(RUN, "client", hosts, "/tmp/r.json")
    assert ("--out_json" in line and "--out_json_file=/tmp/r.json" in line) == there


def test_every_option_stands_in_the_help_of_the_oldest_recorded_version() -> None:
    """Debian 12's perftest, 6.06."""
    listing = Path(__file__).parent / "perftest_6.06_options.txt"
    known = set(listing.read_text().split())
    for more in ({}, LATENCY, {"limit_gbps": 1.0}, {"every_s": 1}):
        used = re.findall(r"(?<= )--?[A-Za-z][\w-]*", words("client", **more).partition("ib_")[2])
        assert used
        assert set(used) <= known


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Version: 6.06\n", (6, 6)),
        ("6.29", (6, 29)),
        ("5.60", (5, 60)),
        ("libibverbs: Warning: couldn't load driver 'libefa-rdmav34.so'\nVersion: 6.20\n", (6, 20)),
    ],
)
def test_version(text: str, version: tuple[int, int]) -> None:
    assert version_of(text) == version


@pytest.mark.parametrize("text", ["", "6", "command not found", "6.06.1"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(BadInput, match="is no version of perftest"):
        version_of(text)


@pytest.mark.parametrize(
    ("client", "server", "found"),
    [
        ("6.06", "6.06", None),
        (None, "6.06", None),
        ("6.06", "6.20", (Outcome.VERSIONS_DIFFER, "a has 6.06, b has 6.20")),
        ("5.40", "5.40", (Outcome.OLD_PERFTEST, "a has 5.40, 5.60 or later is supported")),
    ],
)
def test_ends_that_cannot_measure_with_each_other(
    client: str | None, server: str | None, found: tuple[Outcome, str] | None
) -> None:
    one = HOSTS["a"].model_copy(update={"perftest": client})
    other = HOSTS["b"].model_copy(update={"perftest": server})
    assert ends_fit(one, other) == found
