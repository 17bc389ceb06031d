"""Readers of iperf3, fio, OSU, IMB and rows over time: good reports, and an outcome per fault."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.fleet.ssh_exec import CommandResult
from rocefort.rdma.judge.measurement import read_run
from rocefort.rdma.judge_files import KeptEnds, judge_output, program_of
from rocefort.rdma.parse.benchmarks import read_fio, read_imb, read_iperf, read_osu
from rocefort.rdma.parse.outcome import TableError, is_mostly_numbers, split_report
from rocefort.rdma.parse.perftest import outage, read_series
from rocefort.rdma.parse.perftest_tables import read_json
from rocefort.rdma.plan.command_lines import argv
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaRun
from rocefort.rdma.results import Expectation, MpiPoint, Point

TOOLS = Path(__file__).parents[1] / "samples" / "tools"


def text(name: str) -> str:
    return (TOOLS / name).read_text()


def flaw(read: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(TableError) as caught:
        read()
    return caught.value.outcome.value, caught.value.line


# --- iperf3 ---------------------------------------------------------------------------------------

TCP = text("iperf3.tcp2.client.json")


def test_iperf3_over_two_streams() -> None:
    found = read_iperf(TCP)
    assert found.streams == 2
    assert found.tos == 32
    assert found.received_gbps == pytest.approx(6.0, abs=0.2)
    assert found.received_gbps <= found.sent_gbps
    assert found.retransmits == 12
    assert found.cpu_percent == pytest.approx(19.23, abs=0.01)
    assert found.server_cpu_percent == pytest.approx(17.68, abs=0.01)
    assert [round(piece.end_s) for piece in found.intervals] == [1, 2]
    assert found.intervals[0].gbps == pytest.approx(6.6887, abs=1e-3)


def test_a_refused_iperf3_has_no_figure_whatever_its_exit_code() -> None:
    assert flaw(lambda: read_iperf(text("iperf3.refused.client.json"))) == (
        "no-server",
        "unable to connect to server: Connection refused",
    )


def edited(source: str, *path: str | int, value: object) -> str:
    """Return the JSON text with one value changed; None removes it."""
    report = json.loads(source)
    part: Any = report
    for key in path[:-1]:
        part = part[key]
    if value is None:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return json.dumps(report)


@pytest.mark.parametrize(
    ("path", "value", "outcome"),
    [
        (("error",), "interrupt - the client has terminated", "tool-error"),
        (("end", "sum_received", "bytes"), 0, "zero-bandwidth"),
        (("end", "sum_received", "bits_per_second"), 9.9e9, "sums-do-not-add-up"),
        (("end", "sum_sent", "seconds"), 0, "zero-bandwidth"),
        (("end", "sum_received"), None, "missing-row"),
        (("end", "streams"), [], "missing-row"),
        (("intervals",), None, "missing-row"),
        (("end", "sum_sent", "bytes"), "many", "missing-row"),
        (("end", "sum_sent", "bits_per_second"), float("nan"), "not-a-number"),
    ],
)
def test_one_thing_off_in_iperf3(path: tuple[str, ...], value: object, outcome: str) -> None:
    assert flaw(lambda: read_iperf(edited(TCP, *path, value=value)))[0] == outcome


@pytest.mark.parametrize("broken", ["", "[]", TCP[:200], "iperf3: error"])
def test_what_is_no_report_of_iperf3(broken: str) -> None:
    assert flaw(lambda: read_iperf(broken))[0] == "not-json"


# --- fio ------------------------------------------------------------------------------------------

WRITES = text("fio.randwrite.json")


def test_fio_of_random_writes() -> None:
    (job,) = read_fio(WRITES)
    assert job.iops == pytest.approx(302953.02, abs=0.01)
    assert job.gbps == pytest.approx(9.927, abs=0.001)
    assert job.mean_us == pytest.approx(2.127, abs=1e-3)
    assert (job.p99_us, job.p999_us) == (5.28, 115.2)


def test_a_line_above_the_json_is_known() -> None:
    assert read_fio(f"note: both iodepth >= 1 and a synchronous engine\n{WRITES}") == read_fio(
        WRITES
    )


def test_fio_that_could_not_create_its_file_has_no_figure() -> None:
    assert flaw(lambda: read_fio(text("fio.no_directory.json"))) == (
        "zero-iterations",
        "w: 0 operations",
    )


@pytest.mark.parametrize(
    ("path", "value", "outcome"),
    [
        (("jobs",), [], "missing-row"),
        (("jobs", 0, "error"), 28, "tool-error"),
        (("jobs", 0, "write", "short_ios"), 3, "tool-error"),
        (("jobs", 0, "write", "iops"), 1.0, "sums-do-not-add-up"),
        (("jobs", 0, "write", "bw_bytes"), 1, "sums-do-not-add-up"),
        (("jobs", 0, "write", "clat_ns", "mean"), 1.0, "sums-do-not-add-up"),
        (("jobs", 0, "write", "clat_ns"), None, "unknown-line"),
        (("jobs", 0, "write", "total_ios"), "x", "not-a-number"),
        (("jobs", 0, "write"), None, "missing-row"),
    ],
)
def test_one_thing_off_in_fio(path: tuple[str | int, ...], value: object, outcome: str) -> None:
    assert flaw(lambda: read_fio(edited(WRITES, *path, value=value)))[0] == outcome


# --- MPI ------------------------------------------------------------------------------------------

OSU = """
# OSU MPI All-to-All Personalized Exchange Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation
1                      12.46             11.02             14.10         100              Pass
2                      12.05             11.00             13.90         100              Pass
4                      11.99             10.80             13.50         100              Pass
"""
IMB = """#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
#----------------------------------------------------------------
# List of Benchmarks to run:

# Alltoall

#----------------------------------------------------------------
# Benchmarking Alltoall
# #processes = 32
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.07         0.04
            1         1000        15.70        17.36        16.51
            2         1000        16.03        18.09        16.94


# All processes entering MPI_Finalize

"""


def test_osu_in_all_its_columns() -> None:
    whole = read_osu(OSU, (1, 2, 4))
    assert whole.collective == "alltoall"
    assert whole.rows[0] == MpiPoint(size_bytes=1, average_us=12.46, least_us=11.02, most_us=14.10)
    bare = "# OSU MPI Allgather Latency Test v5.6.2\n# Size       Avg Latency(us)\n1    24.93\n"
    assert read_osu(bare).rows == (MpiPoint(size_bytes=1, average_us=24.93),)


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("14.10         100              Pass", "14.10         100              Fail", "invalid-data"),
        ("12.05", "-nan", "not-a-number"),
        ("12.05", "0.00", "zero-latency"),
        ("12.05", "19.05", "sums-do-not-add-up"),
        ("12.05             11.00", "12.05", "damaged-row"),
        ("# OSU MPI", "# OSU MPI Alltoall Latency Test v1\n# OSU MPI", "two-tables"),
        ("2                      12.05             11.00             13.90         100              Pass\n", "", "missing-row"),
        ("4                      11.99             10.80             13.50         100              Pass\n", "", "unterminated-table"),
        ("# Size ", "# Bytes", "no-table"),
        ("Avg Latency(us)", "Avg Latency(us)   Jitter", "damaged-header"),
        ("12.46             11.02             14.10         100", "x  y  z", "damaged-row"),
        ("1                      12.46             11.02             14.10         100              Pass\n", "", "missing-row"),
        ("\n2     ", "\nWARNING: slow\n2     ", "damaged-row"),
        ("\n2     ", "\n# 2     ", "damaged-row"),
        ("\n4     ", "\n0     ", "missing-row"),
    ],
)  # fmt: skip
def test_one_thing_off_in_osu(old: str, new: str, outcome: str) -> None:
    assert OSU.count(old) == 1
    assert flaw(lambda: read_osu(OSU.replace(old, new), (1, 2, 4)))[0] == outcome


EIGHT = (1, 2, 4, 8)
BARE = "# OSU MPI Allgather Latency Test v5.6.2\n# Size       Avg Latency(us)\n"


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("row", ["x  y", "WARNING", "", "x"])
def test_a_damaged_row_of_osu_voids_a_table_of_unknown_sizes(at: int, row: str) -> None:
    rows = ["4    24.93", "8    25.93", "16    26.93"]
    whole = BARE + "\n".join(rows)
    assert len(read_osu(whole).rows) == 3
    size = rows[at].split()[0]
    rows[at] = f"{size}  {row}"
    assert flaw(lambda: read_osu(BARE + "\n".join(rows)))[0] == "damaged-row"


def test_sums_of_floats_begin_with_four_bytes() -> None:
    rows = "4  2.0\n8  2.1\n"
    assert len(read_osu(BARE.replace("Allgather", "Allreduce") + rows, EIGHT).rows) == 2
    assert flaw(lambda: read_osu(BARE + rows, EIGHT)) == (
        "missing-row",
        "4 bytes is the first row, 1 was requested",
    )


def test_imb_with_its_processes() -> None:
    (table,) = read_imb(IMB)
    assert read_imb(IMB, (1, 2)) == (table,)
    assert (table.collective, table.processes) == ("alltoall", 32)
    assert table.rows[1] == MpiPoint(size_bytes=1, average_us=16.51, least_us=15.70, most_us=17.36)


FROM_4 = ("allreduce", "reduce")  # of floats


@pytest.mark.parametrize("name", ["alltoall", "allgather", "allreduce", "gather", "reduce"])
def test_recorded_runs_of_imb_are_read(name: str) -> None:
    sizes = tuple(2**power for power in range(13))
    (table,) = read_imb(text(f"imb.{name}.txt"), sizes)
    assert (table.collective, table.processes) == (name, 4)
    assert [row.size_bytes for row in table.rows] == [0, *(sizes[2:] if name in FROM_4 else sizes)]
    assert all(row.most_us and row.average_us <= row.most_us for row in table.rows)


def test_a_recorded_run_of_imb_has_a_table_for_each_number_of_processes() -> None:
    tables = read_imb(text("imb.parts.txt"), (8, 16, 32, 64))
    assert [(table.processes, len(table.rows)) for table in tables] == [(2, 5), (4, 5)]


@pytest.mark.thorough
@pytest.mark.skipif(which("mpicc") is None, reason="needs libopenmpi-dev and openmpi-bin of Debian")
@pytest.mark.parametrize("collective", ["alltoall", "reduce"])
def test_processes_of_open_mpi_take_the_path_of_imb(collective: str, tmp_path: Path) -> None:
    """Real messages, by the command line of a run, and the reader and judge of its output."""
    source = Path(__file__).parents[1] / "support" / "host_tools" / "collectives.c"
    program = tmp_path / "IMB-MPI1"
    subprocess.run(["mpicc", "-o", str(program), str(source)], check=True, timeout=60)
    run = RdmaRun.model_validate(
        {"id": "r1", "program": "IMB-MPI1", "collective": collective, "client": "localhost",
         "server": "localhost", "ranks": ["localhost"], "processes_per_server": 2,
         "iterations": 100, "sizes": [4, 8, 16, 32]}
    )  # fmt: skip
    host = RdmaHost(name="localhost", device="rxe0", gid_index=1)
    words = [str(program) if word == program.name else word for word in
             argv(run, "client", {"localhost": host})]  # fmt: skip
    words[words.index("ucx")] = "ob1"  # there is no RDMA device
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        [*words[:1], "--oversubscribe", *words[1:]],
        env=os.environ | root, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    client = CommandResult(done.stdout, done.stderr, done.returncode)
    measured = read_run(run, client, None, NOT_JUDGED)
    assert measured.outcome == "measured", (measured.sentence, done.stderr)
    assert [point.size_bytes for point in measured.sizes] == [4, 8, 16, 32]
    assert all(point.average_us > 0 for point in measured.sizes)


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("# All processes entering MPI_Finalize", "", "unterminated-table"),
        ("# Benchmarking Alltoall\n", "", "no-table"),
        ("# #processes = 32\n", "", "unknown-line"),
        ("16.51", "99.51", "sums-do-not-add-up"),
        ("16.51", "nan", "not-a-number"),
        ("            2         1000", "            8         1000", "missing-row"),
        ("        16.94", "", "damaged-row"),
        ("            1         1000        15.70        17.36        16.51\n", "", "missing-row"),
        ("0         1000         0.03         0.07", "0  x  y  z", "damaged-row"),
        ("            1         1000", "\n            1         1000", "damaged-row"),
        ("            1         1000", "#           1         1000", "damaged-row"),
    ],
)  # fmt: skip
def test_one_thing_off_in_imb(old: str, new: str, outcome: str) -> None:
    assert IMB.count(old) == 1
    assert flaw(lambda: read_imb(IMB.replace(old, new), (1, 2)))[0] == outcome


# --- over time ------------------------------------------------------------------------------------

ROW = " 65536      {n:<10} 0.00               {gbps:<7.2f}   \t\t   {mpps:.6f}\n"


def growing(*gbps: float, cut: str = "") -> str:
    """Return the output of a good run with rows in the form of --run_infinitely."""
    sample = (PERFTEST_RUNS / "4.5/ib_write_bw.gbits.client.txt").read_text()
    head = sample[: sample.index(" 65536")]
    rows = (ROW.format(n=int(g * 1000), gbps=g, mpps=g * 1000 / 65536 / 8) for g in gbps)
    return head + "".join(rows) + cut


def test_rows_over_time_with_an_outage() -> None:
    series = read_series(growing(92, 92.1, 91.9, 0, 10, 92, 92.2, cut=" 65536   12"), every_s=1)
    assert series[3] == Point(at_s=4, gbps=0)
    assert len(series) == 7
    lost = outage(series, failed_at_s=3)
    assert (lost.usual_gbps, lost.worst_gbps, lost.down_s) == (92, 0, 2)
    assert lost.lost_gbit == pytest.approx(174)
    assert lost.recovered_s == 2
    assert lost.sentence == (
        "92.00 Gb/s before, at worst 0.00, below half of it for 2 s, 174.0 Gbit less sent;"
        " the rate recovered after 2 s"
    )


def test_an_outage_that_does_not_end_and_one_that_never_was() -> None:
    dead = outage(read_series(growing(92, 92, 92, 46, 45), every_s=1))
    assert dead.recovered_s is None
    assert dead.down_s == 1  # exactly half, 46 of 92, is no outage
    edge = outage(read_series(growing(100, 100, 100, 95, 49.9, 50, 95), every_s=1))
    assert (edge.down_s, edge.recovered_s) == (1, 2)  # 95 of 100 has recovered
    assert dead.sentence.endswith("the rate did not recover")
    calm = outage(read_series(growing(92, 92, 92, 91, 92), every_s=1))
    assert calm.sentence == "92.00 Gb/s throughout, at worst 91.00"


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        ("", "no-table"),
        (growing(), "missing-row"),
        (growing(92).replace("92.00", "-nan"), "not-a-number"),
        (growing(92).replace("92.00", "82.00"), "sums-do-not-add-up"),
        (growing(92) + " 65536      92000   0.00\n", "damaged-row"),
        (growing(92) + "0.00   92.00   0.175476\n", "damaged-row"),
        (growing(92) + " 65536      92000   0.00 WARNING: slow\n", "damaged-row"),
        (growing(92) + "WARNING: slow" + ROW.format(n=1, gbps=9, mpps=0.01), "damaged-row"),
        (growing(92).replace("RDMA_Write BW", "RDMA_Write BW (new)"), "no-title"),
        (growing(92) + growing(92), "two-tables"),
    ],
)
def test_rows_over_time_that_are_off(broken: str, outcome: str) -> None:
    assert flaw(lambda: read_series(broken, every_s=1))[0] == outcome


def test_nothing_is_said_of_an_outage_without_points() -> None:
    assert flaw(lambda: outage(()))[0] == "missing-row"


# --- lines outside the report or the table ---------------------------------------------------------

TEXTS = st.text(
    st.characters(exclude_characters="\n\r", exclude_categories=["Cc", "Cs", "Zl", "Zp"])
)
LINES = st.one_of(
    st.sampled_from(["fio: warning: größe", "note: 1", "{}", "{", "WARNING: x"]), TEXTS
)


@given(st.lists(LINES.filter(lambda line: line.lstrip()[:1] not in {"#", "{"} or line in "{}")))
@settings(max_examples=100)
def test_lines_around_a_report_or_a_table_change_no_figure(lines: list[str]) -> None:
    added = "".join(f"{line}\n" for line in lines if not is_mostly_numbers(line))
    head, rest = OSU.split("# Size", 1)
    assert read_iperf(f"{added}{TCP}\n{added}") == read_iperf(TCP)
    assert read_fio(f"{added}{WRITES}\n{added}") == read_fio(WRITES)
    assert read_osu(f"{added}{head}{added}# Size{rest}{added}", (1, 2, 4)) == read_osu(
        OSU, (1, 2, 4)
    )
    assert read_imb(f"{added}{IMB}{added}") == read_imb(IMB)
    assert set(split_report(f"{TCP}\n{added}")[1]) == {x for x in added.split("\n") if x.strip()}


def test_two_reports_are_none() -> None:
    for text in (
        f"{TCP}\n{TCP}",
        '{"a":1}{"b":2}',
        '{"a":1} {"b":2}',
        '{"a":1}, {',
        '{"a":1}\n{"b":',
    ):
        assert flaw(lambda: read_iperf(text)) == ("two-tables", "2 reports")  # noqa: B023


@pytest.mark.parametrize("cut", range(0, len(TCP), 97))
def test_a_damaged_report_before_a_whole_one_is_no_note(cut: int) -> None:
    if '":' in TCP[:cut]:
        assert flaw(lambda: read_iperf(f"{TCP[:cut]}\n{TCP}"))[0] == "not-json"


DEEP = ('{"a":' * 5000, '{"a":' + "[" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000)


@pytest.mark.parametrize("text", DEEP, ids=["objects", "lists", "closed"])
@pytest.mark.parametrize("read", [read_iperf, read_fio, read_json])
def test_a_report_that_is_nested_too_deep_is_none(read: Callable[[str], object], text: str) -> None:
    assert flaw(lambda: read(text)) == ("not-json", "its values are nested too deep")


@pytest.mark.parametrize("line", ["{x", "{", '{"x', "{}", '{\n"x', "[{"])
def test_the_time_for_lines_before_a_report_grows_with_their_number(line: str) -> None:
    def seconds(lines: int) -> float:
        text = f"{line}\n" * lines + '{"a": 1}'
        start = time.process_time()
        assert split_report(text)[0] == {"a": 1}
        return time.process_time() - start

    seconds(1000)
    assert seconds(200_000) < 2  # with a quadratic reader: hours


# --- kept by a person ------------------------------------------------------------------------------

NOT_JUDGED = Expectation(min_gbps=None, max_latency_us=None, speed_judged=False)


@pytest.mark.parametrize(
    ("text", "program", "sentence"),
    [
        (TCP, Program.IPERF3, "f iperf3: 6.00 Gb/s of TCP over 2 streams, 12 segments resent"),
        (WRITES, Program.FIO, "operations a second"),
        (OSU, Program.OSU, "f osu: alltoall"),
        (IMB, Program.IMB, "f IMB-MPI1: "),
    ],
)
def test_other_programs_are_recognized(text: str, program: Program, sentence: str) -> None:
    assert program_of(text) is program
    made = judge_output(program, KeptEnds("f", f"$ run it\n{text}"), NOT_JUDGED)
    assert (made.outcome, sentence in made.sentence) == ("measured", True), made.sentence


@pytest.mark.parametrize(
    "text", ["fio-3.33\nStarting 1 process\n", "Connecting to host a, port 5\n"]
)
def test_an_output_for_people_is_no_report(text: str) -> None:
    program = program_of(text)
    assert program is not None
    assert judge_output(program, KeptEnds("f", text), NOT_JUDGED).outcome == "not-json"
