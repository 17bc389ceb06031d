"""Transfers: readers of their outputs, the plan of the suite, its commands and its ratios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.fabric.topology import WanPath
from rocefort.rdma.judge.measurement import read_run
from rocefort.rdma.judge.transfers import transfer_verdicts
from rocefort.rdma.judge_files import KeptEnds, judge_output, program_of
from rocefort.rdma.plan.command_lines import argv
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import plan_suite
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaPlan, RdmaRun, Suite, TransferJob
from rocefort.rdma.results import Expectation, Figures, Measurement, Point

TOOLS = Path(__file__).parents[2] / "samples" / "tools"
NOT_JUDGED = Expectation(min_gbps=None, max_latency_us=None, speed_judged=False)


def text(name: str) -> str:
    return (TOOLS / name).read_text("utf-8")


RECORDED = "recorded: Rocefort does not run"
SAMPLES = [
    (Program.IPERF, text("iperf.tcp1.client.txt"), "21.8 Gb/s; 8211791932 bytes in 3.0 s"),
    (
        Program.IPERF,  # of people, in other units
        "[  3]  0.0-10.0 sec  10.9 GBytes  9.38 Gbits/sec",
        "9.38 Gb/s; 11703785882 bytes in 10.0 s",
    ),
    (Program.LFTP, text("lftp.8_files.client.txt"), "3.45 Gb/s; 1073741824 bytes in 2.5 s"),
    (
        Program.RSYNC,
        text("rsync.1_file.client.txt"),
        "1.43 Gb/s; 268435456 bytes in 1.5 s; it counts whole seconds",
    ),
    (
        Program.SCP,
        text("scp.1_file.client.txt"),
        "0.539 Gb/s; 268635504 bytes in 4.0 s; with login and encryption",
    ),
    (
        Program.HPNSCP,
        text("hpnscp.1_file.client.txt"),
        f"0.461 Gb/s; 268648924 bytes in 4.7 s; with login and encryption; {RECORDED} hpnscp",
    ),
    (
        Program.BBCP,
        text("bbcp.1_file.client.txt"),
        f"1.58 Gb/s; 268435456 bytes in 1.4 s; {RECORDED} bbcp",
    ),
    (
        Program.WDT,
        text("wdt.readme.txt"),
        f"4.94 Gb/s; 1658999858 bytes in 2.7 s; {RECORDED} wdt",
    ),
]


@pytest.mark.parametrize(("program", "output", "sentence"), SAMPLES)
def test_an_output_is_recognized_and_read(program: Program, output: str, sentence: str) -> None:
    assert program_of(output) is program
    judged = judge_output(program, KeptEnds("run", output), NOT_JUDGED)
    assert (judged.outcome, judged.sentence) == ("measured", f"run {program}: {sentence}")


FAULTS = [
    (
        Program.IPERF,
        text("iperf.refused.client.txt"),
        0,
        "no-server: no iperf server answers: firewall, wrong port, or it did not start "
        "(client: 'tcp connect failed: Connection refused')",
    ),
    (
        Program.IPERF,
        text("iperf.window.client.txt"),
        0,
        "option-mismatch: the two ends did not run the same test (client: 'it has a window of "
        "8388608 bytes, 67108864 were requested: raise net.core.rmem_max and net.core.wmem_max "
        "there')",
    ),
    (
        Program.IPERF,
        text("iperf.tcp1.client.txt").replace("21804439945", "2180443994"),
        0,
        "sums-do-not-add-up: the figures of one row contradict each other (client: '[ 1] "
        "0.0000-3.0129 sec 8211791932 Bytes 2180443994 bits/sec')",
    ),
    (
        Program.IPERF,
        "\n".join(text("iperf.tcp1.client.txt").splitlines()[:-1]),
        None,
        "unterminated-table: the table of results breaks off (client: '[ 1] 2.0000-3.0000 sec "
        "2138832896 Bytes 17110663168 bits/sec')",
    ),
    (
        Program.LFTP,
        "268435456 bytes transferred\n",
        0,
        "too-short: shorter than the program's clock counts: transfer more bytes (--bytes) "
        "(client: '268435456 bytes transferred')",
    ),
    (
        Program.LFTP,
        "mirror: Login failed: 530 Login incorrect.\n",
        1,
        "no-table: printed no table of results (client: 'mirror: Login failed: 530 Login "
        "incorrect.')",
    ),
    (
        Program.RSYNC,
        text("rsync.1_file.client.txt").replace("179,000,744.00", "150,000,744.00"),
        0,
        "sums-do-not-add-up: the figures of one row contradict each other (client: 'sent 43 bytes "
        "received 268,501,073 bytes 150,000,744.00 bytes/sec')",
    ),
    (
        Program.SCP,
        text("scp.1_file.client.txt").replace("Exit status 0", "Exit status 1"),
        1,
        "exit-code: ended with an error (client: 'debug1: Exit status 1')",
    ),
    (
        Program.WDT,
        text("wdt.readme.txt").replace("status = OK", "status = CONN_ERROR"),
        1,
        "tool-error: the program reports an error of its own (client: 'Transfer status = "
        "CONN_ERROR')",
    ),
    (
        Program.WDT,
        text("wdt.readme.txt").replace("588.816", "5888.16"),
        0,
        "sums-do-not-add-up: the figures of one row contradict each other (client: 'Total sender "
        "throughput = 5888.16 Mbytes/sec')",
    ),
]


@pytest.mark.parametrize(("program", "output", "code", "sentence"), FAULTS)
def test_a_damaged_output_has_no_figure(
    program: Program, output: str, code: int | None, sentence: str
) -> None:
    judged = judge_output(program, KeptEnds("run", output, exit_code=code), NOT_JUDGED)
    assert (judged.figures, judged.sentence) == (None, f"run {program}: {sentence}")


def test_a_window_that_the_server_does_not_have_is_no_result() -> None:
    run = RdmaRun(id="1", program=Program.IPERF, client="a", transfer=TransferJob())
    client, server = (
        CommandResult(text(f"iperf.{name}.client.txt"), "", 0, timed_out=False)
        for name in ("tcp1", "window")
    )
    assert read_run(run, client, server, NOT_JUDGED).sentence.endswith(
        "(client: 'the server has a window of 8388608 bytes, 67108864 were requested: raise "
        "net.core.rmem_max and net.core.wmem_max there')"
    )


def test_a_series_is_the_rate_over_time() -> None:
    run = RdmaRun(id="1", program=Program.IPERF, client="a", transfer=TransferJob())
    client = CommandResult(text("iperf.tcp1.client.txt"), "", 0, timed_out=False)
    measured = read_run(run, client, None, NOT_JUDGED)
    assert [(p.at_s, round(p.gbps, 1)) for p in measured.series] == [
        (1, 25.3),
        (2, 23.3),
        (3, 17.1),
    ]
    assert [v.sentence for v in transfer_verdicts([measured])] == [
        "iperf: 25.3 Gb/s over the first 1 s",
        "iperf: 24.3 Gb/s over the first 2 s",
    ]


# --- plan -----------------------------------------------------------------------------------------


def plan(heps: Any, *wan: WanPath, **options: object) -> RdmaPlan:
    hosts = [
        RdmaHost(name=name, device="mlx5_0", gid_index=3) for name in ("transfer01", "storage01")
    ]
    network = heps.network.model_copy(update={"wan": wan})
    chosen = RdmaPlanOptions.model_validate(options)
    return plan_suite(network, heps.fabric.rdma, Suite.TRANSFER, hosts, chosen)


LANL = WanPath(between=("storage", "transfer"), round_trip_ms=44, rate_gbps=400)


def test_the_plan_has_each_tool_with_one_file_and_many(heps: Any) -> None:
    made = plan(heps, total_bytes=2**30, files=8)
    assert [each.note for each in made.rounds] == [
        "iperf, memory",
        *(f"{tool}, {job}" for tool in ("lftp", "rsync", "scp") for job in ("1 file", "8 files")),
    ]
    assert made.unmeasured == (
        "windows, and the sweep of the round trip: the fabric names no path (wan)",
    )
    assert len(set(made.shapes.values())) == 3  # memory, one file, and many


def test_a_path_has_a_window_and_its_ends(heps: Any) -> None:
    made = plan(heps, LANL)
    (last,) = made.rounds[-1].runs
    assert (last.client, last.server) == ("storage01", "transfer01")
    assert made.rounds[-1].note == "iperf, window 1073725440 bytes"  # the largest of TCP
    assert made.unmeasured == ("the sweep of the round trip: a lab sets it (--round-trips)",)


def test_each_round_trip_has_both_windows(heps: Any) -> None:
    slow = LANL.model_copy(update={"rate_gbps": 1})
    made = plan(heps, slow, round_trips="0.4,10,44")
    assert [(each.round_trip_ms, each.note) for each in made.rounds[-6:]] == [
        (trip, f"iperf, window {window} bytes, {trip:g} ms")
        for trip in (0.4, 10.0, 44.0)
        for window in (50000, 5500000)
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"round_trips": "1,x"}, "--round-trips: 'x' is no round trip in ms; write 0.4,1,10,44"),
        (
            {"round_trips": "10,1"},
            "--round-trips: '10,1' is no sweep; write two or more above 0, the shortest first: "
            "0.4,1,10,44",
        ),
        (
            {"storage_directory": "/a,/b"},
            "--directory: a transfer takes one directory; name one that both servers have",
        ),
    ],
)
def test_options_that_make_no_plan(heps: Any, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        plan(heps, LANL, **options)
    assert str(caught.value) == sentence


def test_servers_outside_the_segments_of_the_path_are_refused(heps: Any) -> None:
    with pytest.raises(BadInput, match="no two of the servers are in compute and storage"):
        plan(heps, LANL.model_copy(update={"between": ("compute", "storage")}))


def test_commands_of_both_ends(heps: Any) -> None:
    made = plan(heps, LANL, total_bytes=2**30, files=8)
    lines = {
        (run.program, run.transfer.files if run.transfer else 0, side): " ".join(
            argv(run, side, made.by_host)
        )
        for run in made.runs
        for side in ("client", "server")
        if side == "client" or run.program.has_server
    }
    assert lines[Program.IPERF, 0, "server"] == (
        "iperf -s -B 10.67.0.10 -p 18522 -w 1073725440 -P 1"
    )
    assert "mirror -R files ." in lines[Program.LFTP, 1, "client"]
    assert "mirror -R --parallel=8 files ." in lines[Program.LFTP, 8, "client"]
    assert "while [ $n -lt 8 ]" in lines[Program.RSYNC, 8, "client"]
    assert "truncate -s 134217728 " in lines[Program.RSYNC, 8, "client"]
    assert "rsync --daemon --no-detach" in lines[Program.RSYNC, 8, "server"]
    assert 'scp -v -o BatchMode=yes -r files 10.67.0.10:"$to"' in lines[Program.SCP, 1, "client"]
    recorded = made.runs[1].model_copy(update={"program": Program.BBCP})
    with pytest.raises(BadInput) as caught:
        argv(recorded, "client", made.by_host)
    assert str(caught.value) == (
        "bbcp is not run; it is not in Debian: judge outputs that you kept, with `rdma judge`"
    )


# --- ratios ---------------------------------------------------------------------------------------


def measured(program: Program, gbps: float, series: int = 0, **job: object) -> Measurement:
    run = RdmaRun(
        id="",
        program=program,
        client="a",
        server="b",
        transfer=TransferJob.model_validate(job),
    )
    points = tuple(Point(at_s=n + 1, gbps=min(n, 2) * gbps / 2) for n in range(series))
    figures = Figures(gbps=gbps)
    return Measurement(run=run, outcome="measured", sentence="", figures=figures, series=points)


def test_ratios_are_of_files_windows_round_trips_and_duration() -> None:
    windows = {(50000, 0.4): 0.9, (50000, 10): 0.04, (50000, 44): 0.01}
    windows |= {(5500000, trip): 0.5 for trip in (0.4, 10, 44)}
    runs = [
        measured(Program.IPERF, 1.0, series=5),
        measured(Program.LFTP, 0.8, files=1),
        measured(Program.LFTP, 0.4, files=64),
        measured(Program.RSYNC, 0.2, files=1),
        measured(Program.RSYNC, 0.4, files=64),
        *(
            measured(Program.IPERF, rate, window_bytes=window, round_trip_ms=trip)
            for (window, trip), rate in windows.items()
        ),
    ]
    verdicts = list(transfer_verdicts(runs))
    assert [v.ok for v in verdicts] == [None] * len(verdicts)
    assert [(v.subject, v.value and round(v.value, 2)) for v in verdicts] == [
        ("tools: lftp", 0.8),
        ("tools: rsync", 0.2),
        ("many files against one: lftp", 0.5),
        ("many files against one: rsync", 2.0),
        ("window of 50000 bytes", None),
        ("window of 5500000 bytes", None),
        ("tuned window against that of the LAN", 50.0),
        ("round trip at which throughput falls", 10000),
        ("that round trip against the one before", 25.0),
        ("rate by duration: 1 s", 0.0),
        ("rate by duration: 2 s", 0.25),
        ("rate by duration: 5 s", 0.7),
    ]
    assert verdicts[1].sentence == "rsync: one file at 0.2 Gb/s, 0.20 of iperf's 1"
    assert verdicts[3].sentence == (
        "rsync: 64 files at 0.4 Gb/s, one of the same bytes at 0.2: 2.00 x"
    )
    assert verdicts[6].sentence == "at 44 ms a window of 5500000 bytes gives 50.00 x that of 50000"
    assert verdicts[7].sentence == "throughput falls at 10 ms, from 0.9 to 0.04 Gb/s"
