"""Table of perftest: version x tool x cause. Every recorded run has exactly one outcome.

`perftest_runs.tsv` has one row a recording, such as 4.5/fail.no_server. Its outcome follows from
the cause that was provoked, which the recording's meta file names.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS, TIMED_OUT
from rocefort.fleet.ssh_exec import CommandResult
from rocefort.rdma.judge.measurement import read_run
from rocefort.rdma.judge_files import KeptEnds, judge_output, program_of
from rocefort.rdma.parse.outcome import MEANING, MessageSizeRow, Outcome
from rocefort.rdma.parse.perftest import PerftestOutcome, judge, judge_client
from rocefort.rdma.rdma_plan import Program, RdmaRun
from rocefort.rdma.results import Expectation, Figures, JudgedOutput

Ends = tuple[Program, CommandResult, CommandResult | None]


def recordings() -> list[str]:
    """Return the names of all recordings."""
    metas = PERFTEST_RUNS.glob("*/*.meta.txt")
    return sorted(str(path.relative_to(PERFTEST_RUNS)).removesuffix(".meta.txt") for path in metas)


def ends(name: str) -> Ends:
    """Return the tool of a recording, and the outputs of both ends.

    There is no output of a server that the executor ended itself.
    """
    command, meta = command_line(name), text(name, "meta")
    tool = re.search(r"ib_\w+", command)
    client = _end(name, "client", meta)
    assert client is not None
    server = None if "server_ended: by the runner" in meta else _end(name, "server", meta)
    return Program(tool[0] if tool else "ib_write_bw"), client, server


def command_line(name: str) -> str:
    """Return the command line of the client; empty if it was not recorded."""
    line = re.search(r"^client\(\S+\): (.*)$", text(name, "meta"), re.MULTILINE)
    return line[1] if line else ""


def text(name: str, part: str) -> str:
    """Return one text of a recording, such as `client.err`; empty if there is none."""
    path = PERFTEST_RUNS / f"{name}.{part}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _end(name: str, side: str, meta: str) -> CommandResult | None:
    code = re.search(rf"^{side}_rc: (\d+)$", meta, re.MULTILINE)
    if code is None:
        return None
    out, err, exit_code = text(name, side), text(name, f"{side}.err"), int(code[1])
    return CommandResult(out, err, exit_code, exit_code == TIMED_OUT)


NOT_JUDGED = Expectation(min_gbps=None, max_latency_us=None, speed_judged=False)


class Row(NamedTuple):
    """Outcome of a recording: with the end and the line that decide, or with the figure."""

    run: str
    outcome: str
    side: str
    line: str


with Path(__file__).with_name("perftest_runs.tsv").open(encoding="utf-8", newline="") as _file:
    ROWS = [Row(*row) for row in csv.reader(_file, "excel-tab") if not row[0].startswith("#")]


def sentence_and_figure(name: str) -> tuple[str, float | None]:
    """Judge a recording as the executor judges a run; returns its sentence, and its figure."""
    tool, client, server = ends(name)
    if "--run_infinitely" not in command_line(name):
        judgement = judge(tool, client, server)
        return judgement.sentence, judgement.gbps or judgement.latency_us
    run = RdmaRun(id="1", program=tool, client="a", server="b", every_s=1)
    result = read_run(run, client, server, NOT_JUDGED)
    return str(result.outcome), result.figures.gbps if result.figures else None


def test_every_recording_stands_in_the_table() -> None:
    assert recordings() == sorted(row.run for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row.run for row in ROWS])
def test_recording(row: Row) -> None:
    sentence, figure = sentence_and_figure(row.run)
    if row.outcome == Outcome.MEASURED:
        assert (sentence, f"{figure:.6g}") == (MEANING[Outcome.MEASURED], row.line)
        return
    end = f"{row.side}: {row.line!r}" if row.line else row.side
    assert sentence == f"{row.outcome}: {MEANING[Outcome(row.outcome)]} ({end})"
    assert figure is None


def judged(name: str) -> PerftestOutcome:
    return judge(*ends(name))


def test_rows_of_a_sweep() -> None:
    rows = judged("4.5/ib_write_bw.all").rows
    assert [row.size_bytes for row in rows] == [2**n for n in range(1, 24)]
    assert rows[11] == MessageSizeRow(
        4096, Figures(gbps=0.11, peak_gbps=0.17, mpps=0.003420, iterations=50)
    )


def test_columns_of_latency_over_iterations() -> None:
    (row,) = judged("4.5/ib_write_lat.iters").rows
    assert row.size_bytes == 2
    assert row.figures == Figures(
        latency_us=381.28,
        least_us=114.48,
        typical_us=211.23,
        most_us=3424.87,
        stdev_us=491.03,
        p99_us=2449.97,
        p999_us=3217.38,
        iterations=2000,
    )


def test_peak_of_a_duration_run_is_unknown_not_zero() -> None:
    (row,) = judged("4.5/ib_write_bw.gbits").rows
    assert row.figures.gbps is not None
    assert row.figures.peak_gbps is None


def test_every_outcome_has_a_meaning() -> None:
    assert MEANING.keys() == set(Outcome)


# --- one thing changed in a good run ------------------------------------------------------------

ROW = " 65536      3950             0.00               0.69   \t\t   0.001315\n"
RULE = "-" * 87 + "\n"
HEADER = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
BROKEN = [
    ("iterations", ROW, ROW.replace("3950", "0   "), "zero-iterations"),
    ("bandwidth", ROW, ROW.replace("0.69", "0.00"), "zero-bandwidth"),
    ("message rate", "0.001315", "0.000000", "zero-bandwidth"),
    ("nan", ROW, ROW.replace("0.69", "-nan"), "not-a-number"),
    ("inf", ROW, ROW.replace("0.69", " inf"), "not-a-number"),
    ("sum", ROW, ROW.replace("0.69", "6.90"), "sums-do-not-add-up"),
    ("just off", ROW, ROW.replace("0.69", "0.70"), "sums-do-not-add-up"),
    ("peak under average", ROW, ROW.replace("0.00  ", "0.50  "), "sums-do-not-add-up"),
    ("negative", ROW, ROW.replace("0.69", "-0.69"), "impossible-figure"),
    ("short row", ROW, " 65536      3950\n", "damaged-row"),
    ("words", ROW, ROW + "something else\n", "damaged-row"),
    ("no row", ROW, "", "missing-row"),
    ("row twice", ROW, ROW + ROW, "missing-row"),
    ("no end", ROW + RULE, ROW, "unterminated-table"),
    ("cut row", ROW + RULE, ROW[:20], "unterminated-table"),
    ("another table", ROW + RULE, ROW + RULE + HEADER + ROW + RULE, "two-tables"),
    ("unit", "BW average[Gb/sec]", "BW average[Gb/min]", "damaged-header"),
    ("column", "MsgRate[Mpps]", "MsgRate[Mpps]   Jitter[usec]", "damaged-header"),
    ("warning within", ROW, " WARNING: slow\n" + ROW, "damaged-row"),
    ("last digit", "0.001315", "0.00131", "damaged-row"),
    ("other test", "RDMA_Write BW Test", "RDMA_Read BW Test", "option-mismatch"),
    ("no title", "RDMA_Write BW Test", "", "no-title"),
]


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize(
    ("old", "new", "outcome"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_one_thing_off_at_either_end(old: str, new: str, outcome: str, side: str) -> None:
    tool, client, server = ends("4.5/ib_write_bw.gbits")
    assert server is not None
    broken = {"client": client, "server": server}
    good = broken[side]
    assert good.stdout.count(old) == 1
    broken[side] = CommandResult(good.stdout.replace(old, new), "", 0)
    judgement = judge(tool, broken["client"], broken["server"])
    assert (judgement.outcome, judgement.side, judgement.gbps) == (outcome, side, None)


def test_a_rate_of_few_large_messages_is_rounded_to_zero() -> None:
    """As a guest printed it: 5 messages of 16 MiB, less than one in two seconds."""
    tool, client, server = ends("4.5/ib_write_bw.gbits")
    row = " 16777216   5                0.059548           0.046851            0.000000\n"
    assert server is not None
    both = [CommandResult(end.stdout.replace(ROW, row), "", 0) for end in (client, server)]
    judgement = judge(tool, *both)
    assert (judgement.outcome, judgement.gbps) == ("measured", 0.046851)


def test_mib_of_later_versions_is_the_same_unit() -> None:
    tool, client, server = ends("4.5/ib_write_bw.mib")
    later = CommandResult(client.stdout.replace("MB/sec", "MiB/sec"), "", 0)
    assert judge(tool, later, server) == judge(tool, client, server)


@pytest.mark.parametrize(
    ("stderr", "code", "timed_out", "outcome"),
    [
        ("", 1, False, "exit-code"),
        ("", None, False, "killed"),
        ("", 124, True, "timed-out"),
        ("what is this\n", 1, False, "exit-code"),
        ("Correlation coefficient r^2: 0.84 < 0.9\n", 0, False, "no-clock"),
        ("sh: ib_write_bw: command not found\n", 127, False, "no-perftest"),
        (" Failed status 13: wr_id 0 syndrom 0x0\n", 1, False, "receiver-not-ready"),
        (" Failed status 5: wr_id 0 syndrom 0x0\n", 1, False, "completion-error"),
    ],
)
@pytest.mark.parametrize("side", ["client", "server"])
def test_a_good_table_does_not_outweigh_how_an_end_ended(
    stderr: str, code: int | None, timed_out: bool, outcome: str, side: str
) -> None:
    tool, client, server = ends("4.5/ib_write_bw.gbits")
    assert server is not None
    both = {"client": client, "server": server}
    both[side] = CommandResult(both[side].stdout, stderr, code, timed_out)
    judgement = judge(tool, both["client"], both["server"])
    assert (judgement.outcome, judgement.side, judgement.gbps) == (outcome, side, None)


def test_a_server_that_cannot_start_explains_the_client() -> None:
    tool, client, _ = ends("4.5/fail.no_server")
    server = CommandResult("", text("4.5/fail.wrong_device", "client.err"), 1)
    assert judge(tool, client, server).sentence == (
        "no-device: there is no such RDMA device (server: 'IB device mlx5_0 not found')"
    )


def test_without_the_server_nothing_is_measured() -> None:
    tool, client, _ = ends("4.5/ib_write_bw.gbits")
    assert judge(tool, client, None).sentence == (
        "exit-code: ended with an error (server: 'its exit code is not known')"
    )


def test_different_sizes_at_the_two_ends() -> None:
    tool, client, _ = ends("4.5/ib_write_bw.size1M_qp2")
    _, _, server = ends("4.5/ib_write_bw.qp2")
    assert judge(tool, client, server).sentence == (
        "option-mismatch: the two ends did not run the same test"
        " (server: '65536 bytes, the client 1048576')"
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "outcome"),
    [
        ("ib_write_lat.iters", "381.28", "114.00", "sums-do-not-add-up"),
        ("ib_write_lat.iters", "211.23", "9211.23", "sums-do-not-add-up"),
        ("ib_write_lat.iters", "2449.97", "3300.00", "sums-do-not-add-up"),
        ("ib_write_lat.iters", "381.28", "0.00", "zero-latency"),
        ("ib_write_lat.duration", "517.80", "317.80", "sums-do-not-add-up"),
        ("ib_write_lat.duration", "517.80", "0.00", "zero-latency"),
    ],
)
def test_latency_that_contradicts_itself(name: str, old: str, new: str, outcome: str) -> None:
    tool, client, server = ends(f"4.5/{name}")
    assert client.stdout.count(old) == 1
    judgement = judge(tool, CommandResult(client.stdout.replace(old, new), "", 0), server)
    assert (judgement.outcome, judgement.latency_us) == (outcome, None)


# --- kept by a person ------------------------------------------------------------------------------

BY_SIGNAL = 124  # and above: only the exit code shows that such a run was ended


@pytest.mark.parametrize("name", recordings())
def test_a_client_alone_has_the_outcome_of_its_ends(name: str) -> None:
    """With the exit code as recorded; without it too, unless a signal ended the run."""
    tool, client, _ = ends(name)
    known = judge_client(tool, client)
    for text in (client.stderr + client.stdout, client.stdout + client.stderr):
        assert program_of(text) in (tool, None)
        told = judge_output(tool, KeptEnds("f", text, None, client.exit_code), NOT_JUDGED)
        assert told.outcome == known.outcome
        lost = judge_output(tool, KeptEnds("f", text), NOT_JUDGED)
        if (client.exit_code or 0) < BY_SIGNAL:
            assert (lost.outcome, _value(lost)) == (known.outcome, known.gbps or known.latency_us)
        else:
            assert lost.figures is None


@pytest.mark.parametrize("row", [r for r in ROWS if r.outcome == "measured"], ids=lambda r: r.run)
def test_both_ends_have_the_answer_of_a_run(row: Row) -> None:
    tool, client, server = ends(row.run)
    if server is None or server.exit_code:
        pytest.skip("its server was ended by hand")
    kept = KeptEnds("f", client.stdout, client.stderr, client.exit_code, server.stdout)
    judged = judge_output(tool, kept, NOT_JUDGED)
    both = judge(tool, client, server)
    assert (judged.outcome, _value(judged)) == (both.outcome, both.gbps or both.latency_us)


def _value(each: JudgedOutput) -> float | None:
    return (each.figures.gbps or each.figures.latency_us) if each.figures else None
