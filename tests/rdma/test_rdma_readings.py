"""`read_run` for the outputs of every program: figures only for a run without faults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.fabric.rdma import Rdma
from rocefort.rdma.judge.measurement import expectation, read_run
from rocefort.rdma.rdma_plan import Program, RdmaRun

SAMPLES = Path(__file__).parents[1] / "samples"
RDMA = Rdma(line_rate_fraction=0.92, latency_us=3.72, latency_tolerance=0.25)
IMB = """# Benchmarking Allgather
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            1         1000        15.70        17.36        16.51
            2         1000        16.03        18.09        16.94

# All processes entering MPI_Finalize
"""


def run(program: Program, **more: object) -> RdmaRun:
    values: dict[str, object] = {"id": "1", "program": program, "client": "a", "server": "b"}
    return RdmaRun.model_validate(values | more)


def sample(name: str) -> str:
    return (SAMPLES / "tools" / name).read_text()


def read(of: RdmaRun, stdout: str, stderr: str = "", code: int | None = 0) -> tuple[str, str]:
    timed_out = code == 124 and of.every_s is None
    end = CommandResult(stdout, stderr, code, timed_out)
    found = read_run(of, end, None, expectation(of, RDMA))
    assert (found.figures is None) == (found.outcome != "measured")
    return found.outcome, found.sentence


TCP, FIO = run(Program.IPERF3), run(Program.FIO, server="")
MPI = run(Program.IMB, server="", ranks=("a", "b"), collective="allgather", sizes=(1, 2))
FULL = "fio: io_u error on file /mnt/x: No space left on device: write offset=0\n"
REFUSED = sample("iperf3.refused.client.json")


@pytest.mark.parametrize(
    ("of", "stdout", "stderr", "code", "outcome", "sentence"),
    [
        (TCP, sample("iperf3.tcp2.client.json"), "", 0, "measured", "a -> b iperf3: 6.00 Gb/s of TCP over 2 streams, 12 segments resent"),
        (TCP, REFUSED, "", 0, "no-server", "a -> b iperf3: no-server: no iperf3 server answers: firewall, wrong port, or it did not start (client: 'unable to connect to server: Connection refused')"),
        (TCP, "", "sh: iperf3: not found\n", 127, "no-perftest", None),
        (TCP, "", "", 127, "no-program", None),
        (TCP, "", "", 124, "timed-out", None),
        (TCP, "", "", None, "killed", None),
        (TCP, sample("iperf3.tcp2.client.json"), "", 1, "exit-code", None),
        (FIO, sample("fio.randwrite.json"), "", 0, "measured", "a fio: 302953 operations a second, 2.13 us on average"),
        (FIO, sample("fio.randwrite.json"), FULL, 1, "disk-full", None),
        (FIO, sample("fio.no_directory.json"), "", 1, "zero-iterations", None),
        (MPI, IMB, "", 0, "measured", "2 servers IMB-MPI1: allgather 16.51 us of 1 bytes, 16.94 us of 2"),
        (MPI, IMB.replace("Allgather", "Gather"), "", 0, "option-mismatch", None),
        (MPI, IMB.replace("= 2", "= 4"), "", 0, "missing-row", None),
    ],
)  # fmt: skip
def test_what_a_program_left(
    of: RdmaRun, stdout: str, stderr: str, code: int | None, outcome: str, sentence: str | None
) -> None:
    found, said = read(of, stdout, stderr, code)
    assert found == outcome
    if sentence is not None:
        assert said == sentence


def test_perftest_goes_through_its_own_judge() -> None:
    meta = (PERFTEST_RUNS / "4.5/ib_write_bw.gbits.meta.txt").read_text()
    assert re.search(r"client_rc: 0", meta)
    ends = [
        CommandResult((PERFTEST_RUNS / "4.5" / f"ib_write_bw.gbits.{side}.txt").read_text(), "", 0)
        for side in ("client", "server")
    ]
    of = run(Program.WRITE_BW, reach_gbps=0.5, reach_why="a slow guest", size_bytes=65536)
    found = read_run(of, ends[0], ends[1], expectation(of, RDMA))
    assert found.sentence == ("a -> b ib_write_bw: 0.69 Gb/s, at least 0.46 expected: a slow guest")
    alone = read_run(of, ends[0], None, expectation(of, RDMA))
    assert (alone.outcome, alone.figures) == ("exit-code", None)


def growing() -> str:
    text = (PERFTEST_RUNS / "4.5/ib_write_bw.gbits.client.txt").read_text()
    rows = "".join(line for line in text.splitlines(keepends=True) if line.startswith(" 65536"))
    return text[: text.index(" 65536")] + rows * 3


@pytest.mark.parametrize(
    ("stderr", "code", "outcome"),
    [
        ("", 124, "measured"),
        ("", None, "measured"),
        ("Terminated\n", 143, "measured"),
        ("", 1, "exit-code"),
        (" Failed status 12: wr_id 0 syndrom 0x0\n", 1, "retry-exceeded"),
    ],
)
def test_a_run_without_an_end_is_ended_from_outside(
    stderr: str, code: int | None, outcome: str
) -> None:
    of = run(Program.WRITE_BW, every_s=1)
    assert read(of, growing(), stderr, code)[0] == outcome
    assert read(of, "", "", 124)[0] == "no-table"


@pytest.mark.parametrize(
    ("duration_s", "cut", "outcome", "end"),
    [
        (6, 0, "measured", "0.69 Gb/s over 3 rows"),
        (7, 0, "missing-row", "(client: 'rows of 3 s, of 7 s')"),
        (3, 3, "zero-bandwidth", "(client: '3 rows of zeros')"),
        (3, 2, "measured", "0.23 Gb/s over 3 rows"),
    ],
)
def test_a_series_covers_its_time_and_carries_something(
    duration_s: int, cut: int, outcome: str, end: str
) -> None:
    text = re.sub(r"(?m)^ 65536 .*$", " 65536 0 0.00 0.000000 0.000000", growing(), count=cut)
    text = text if cut else growing()
    found = read(run(Program.WRITE_BW, every_s=1, duration_s=duration_s), text, "", 124)
    assert (found[0], found[1].endswith(end)) == (outcome, True)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"size_bytes": 2}, "(65536 bytes, 2 asked for)"),
        ({"size_bytes": 65536, "iterations": 7}, "messages, 7 asked for)"),
    ],
)
def test_the_table_of_another_run_is_no_measurement(asked: dict[str, int], said: str) -> None:
    ends = [
        CommandResult((PERFTEST_RUNS / "4.5" / f"ib_write_bw.gbits.{side}.txt").read_text(), "", 0)
        for side in ("client", "server")
    ]
    of = run(Program.WRITE_BW, reach_gbps=0.5, **asked)
    found = read_run(of, ends[0], ends[1], expectation(of, RDMA))
    assert (found.outcome, found.figures) == ("option-mismatch", None)
    assert found.sentence.endswith(said)
