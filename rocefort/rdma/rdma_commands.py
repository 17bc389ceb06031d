"""`rdma`: RDMA tests between servers, planned from the design, judged and stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import HelpedGroup, documented
from rocefort.base.command_line.verbosity import end
from rocefort.base.errors import ExitCode
from rocefort.base.json_output import json_text
from rocefort.rdma import options as rdma_options
from rocefort.reports.output import write_blocks, write_result

if TYPE_CHECKING:
    from rocefort.rdma.results import RdmaResult

cli = typer.Typer(
    cls=HelpedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Plan, run, judge and compare RDMA tests between servers.

    `plan` needs a fabric only. `run` and `stop` also need a connections file, for SSH to the
    servers; `run` needs perftest there, and for some suites fio or MPI. The other commands read
    the database of runs, rdma.db, that `run` writes, or plan.json.rdma.db, that `apply` writes.
    """,
    epilog="rocefort rdma plan heps --servers k8sgn08,k8sgn12\n"
    "rocefort rdma run heps --servers k8sgn08,k8sgn12 --connections connections.yaml\n"
    "rocefort rdma show last --html run.html",
)


@cli.command(
    **documented(
        "rocefort rdma plan heps --servers k8sgn08,k8sgn12",
        "rocefort rdma plan heps --servers k8sgn08,k8sgn09,storage01 --suite incast"
        " --target storage01 --duration 20",
    )
)
def plan(
    fabric: options.Fabric,
    connections: rdma_options.MaybeServers = None,
    suite: rdma_options.SuiteOption = rdma_options.SuiteName.WRITE,
    servers: rdma_options.Servers = "",
    duration: rdma_options.Duration = None,
    iterations: rdma_options.Iterations = None,
    qps: rdma_options.Qps = None,
    repeat: rdma_options.Repeat = 1,
    sizes: rdma_options.Sizes = "",
    covering: rdma_options.Covering = False,
    target: rdma_options.Target = None,
    beamline: rdma_options.BeamlineName = "",
    directory: rdma_options.Directory = None,
    targets: rdma_options.Targets = "",
    processes_per_server: rdma_options.ProcessesPerServer = 1,
    groups: rdma_options.Groups = 1,
    tcp_gbps: rdma_options.TcpGbps = None,
    cable_by: rdma_options.CableBy = None,
    cable_at: rdma_options.CableAt = None,
    total_bytes: rdma_options.TransferBytes = 2**32,
    files: rdma_options.Files = 64,
    round_trips: rdma_options.RoundTrips = "",
    drained: options.Drained = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Print the tests of a run, without any load.

    Needs a fabric only. With --connections, devices, GIDs and versions are read from the servers
    over SSH, as before a run. The fabric's rdma block names the servers that may be loaded, and
    limits rate and time.
    """
    from rocefort.rdma.designed_plan import request_of
    from rocefort.rdma.rdma_report import plan_report

    asked = request_of(
        suite.value,
        values.comma_separated(servers),
        sizes,
        drained,
        duration_s=duration,
        iterations=iterations,
        qps=qps,
        repeat=repeat,
        covering=covering,
        target=target,
        beamline=beamline,
        storage_directory=directory,
        targets=targets,
        processes_per_server=processes_per_server,
        groups=groups,
        tcp_gbps=tcp_gbps,
        cable_by=cable_by,
        cable_at_s=cable_at,
        total_bytes=total_bytes,
        files=files,
        round_trips=round_trips,
    )
    if connections is None:
        from rocefort.rdma.designed_plan import designed_plan

        made = designed_plan(fabric, asked)
    else:
        from rocefort.fleet.connections import load_connections
        from rocefort.rdma.run_suite import probed_plan

        made = probed_plan(fabric, asked, load_connections(connections))
    write_result(made, plan_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort rdma run heps --connections connections.yaml --servers k8sgn08,k8sgn12",
        "rocefort rdma run heps --connections connections.yaml --servers k8sgn08,storage01"
        " --suite sweep --out sweep.json",
    )
)
def run(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    suite: rdma_options.SuiteOption = rdma_options.SuiteName.WRITE,
    servers: rdma_options.Servers = "",
    duration: rdma_options.Duration = None,
    iterations: rdma_options.Iterations = None,
    qps: rdma_options.Qps = None,
    repeat: rdma_options.Repeat = 1,
    sizes: rdma_options.Sizes = "",
    covering: rdma_options.Covering = False,
    target: rdma_options.Target = None,
    beamline: rdma_options.BeamlineName = "",
    directory: rdma_options.Directory = None,
    targets: rdma_options.Targets = "",
    processes_per_server: rdma_options.ProcessesPerServer = 1,
    groups: rdma_options.Groups = 1,
    tcp_gbps: rdma_options.TcpGbps = None,
    cable_by: rdma_options.CableBy = None,
    cable_at: rdma_options.CableAt = None,
    total_bytes: rdma_options.TransferBytes = 2**32,
    files: rdma_options.Files = 64,
    round_trips: rdma_options.RoundTrips = "",
    drained: options.Drained = None,
    switches: Annotated[
        bool, typer.Option("--switches/--no-switches", help="Read the counters of the switches.")
    ] = True,
    kept: rdma_options.HistoryFile = rdma_options.HISTORY,
    out: Annotated[
        Path | None, typer.Option(help="File for the run as JSON.", **values.FILE)
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Run the tests between servers, judge and store the run.

    Needs SSH access to the servers, and perftest on them (fio for the suite storage, MPI for mpi).
    It locks each server, loads the network, and reads counters of the switches before and after.
    Each result is compared with the rate that the fabric allows. No process remains on any server.
    """
    from dataclasses import replace

    from rocefort.base.processes import stop_on_signals
    from rocefort.fleet.connections import load_connections
    from rocefort.rdma.designed_plan import request_of
    from rocefort.rdma.run_suite import HistoryNotWritten, RunDialogue, run_tests

    asked = request_of(
        suite.value,
        values.comma_separated(servers),
        sizes,
        drained,
        duration_s=duration,
        iterations=iterations,
        qps=qps,
        repeat=repeat,
        covering=covering,
        target=target,
        beamline=beamline,
        storage_directory=directory,
        targets=targets,
        processes_per_server=processes_per_server,
        groups=groups,
        tcp_gbps=tcp_gbps,
        cable_by=cable_by,
        cable_at_s=cable_at,
        total_bytes=total_bytes,
        files=files,
        round_trips=round_trips,
    )
    asked = replace(asked, switches=switches)
    access = load_connections(connections)
    lost: HistoryNotWritten | None = None
    try:
        with stop_on_signals() as stopped:
            found = run_tests(
                fabric, access, asked, kept, RunDialogue(_message_writer(form), stopped)
            )
    except HistoryNotWritten as error:
        found, lost = error.result, error
    # The results are shown before anything else can fail.
    _show(found, form)
    if out is not None:
        _write(found, out)
    if lost is not None:
        raise lost
    if stopped() and not found.complete:
        raise typer.Exit(ExitCode.STOPPED)
    _end(found)


@cli.command(
    **documented(
        "rocefort rdma judge client.txt",
        "rocefort rdma judge client.txt --server server.txt --stderr client.err --exit-code 1",
        "rocefort rdma judge run1.txt run2.txt --min-gbps 92 --format json",
    )
)
def judge(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Outputs of clients; `-` is standard input."),
    ],
    program: Annotated[
        rdma_options.ProgramName | None,
        typer.Option("--program", help="Program of the outputs; by default by their form."),
    ] = None,
    server: Annotated[
        Path | None, typer.Option(help="Output of the other end.", **values.FILE)
    ] = None,
    stderr: Annotated[
        Path | None,
        typer.Option(help="Error output of the client, if it is not in FILE.", **values.FILE),
    ] = None,
    exit_code: Annotated[
        int | None,
        typer.Option("--exit-code", min=0, max=255, metavar="CODE", help="Its exit code."),
    ] = None,
    min_gbps: Annotated[
        float | None,
        typer.Option(
            "--min-gbps", min=0, max=values.MOST, metavar="RATE", help="Lowest good rate (Gb/s)."
        ),
    ] = None,
    max_latency: Annotated[
        float | None,
        typer.Option(
            "--max-latency",
            min=0,
            max=values.MOST,
            metavar="TIME",
            help="Highest good latency (us).",
        ),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Judge outputs of RDMA tests that were run by hand.

    Needs their files only: outputs of perftest, JSON of iperf3 (-J) or fio (--output-format=json),
    tables of OSU or IMB, and of transfers: iperf 2, lftp (set cmd:verbose yes), rsync --stats,
    scp -v, hpnscp -v, bbcp -V, wdt. The cause of a failure and the figures are those of `run`.
    Exits with 1 if one was not measured or is too slow, with 2 if one cannot be read.
    """
    from rocefort.rdma.judge_files import JudgeRequest, judge_files
    from rocefort.rdma.rdma_plan import Program
    from rocefort.rdma.rdma_report import judged_report

    request = JudgeRequest(
        files,
        program=Program(program.value) if program else None,
        server=server,
        stderr=stderr,
        exit_code=exit_code,
        min_gbps=min_gbps,
        max_latency_us=max_latency,
    )
    judged = judge_files(request)
    write_result(judged, judged_report, text=form is options.TraceFormat.TEXT)
    end(failed=not judged.passed)


@cli.command(
    **documented(
        "rocefort rdma show last",
        "rocefort rdma show last --record",
        "rocefort rdma show last --html run.html",
    )
)
def show(
    run_id: rdma_options.Run,
    kept: rdma_options.HistoryFile = rdma_options.HISTORY,
    html: Annotated[
        Path | None, typer.Option(help="File for an HTML page of the run.", **values.FILE)
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Print the record of the run instead of its figures.")
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Print a stored run, its record, or write its HTML page.

    Needs the database that `run` wrote. The record has the fabric's commit, what was in force, and
    the counters. The page has it too, and a heat map, percentiles, the sweep and the history.
    """
    from rocefort.base.actions import WrittenFiles
    from rocefort.design.results import notes_report
    from rocefort.rdma.judge.run_store import open_history
    from rocefort.rdma.record_report import record_report
    from rocefort.rdma.show import record_of, write_page

    with open_history(kept) as past:
        found = past.load(run_id)
        if html is not None:
            write_page(past, found, html)
            done = WrittenFiles(files=(str(html),), notes=(f"run {found.id} in {html}",))
            write_result(done, notes_report, text=form is options.TraceFormat.TEXT)
            return
    if record:
        write_result(record_of(found), record_report, text=form is options.TraceFormat.TEXT)
        return
    _show(found, form)


@cli.command(
    **documented(
        "rocefort rdma compare last --with heps-paper",
        "rocefort rdma compare last --with 20261123-140000-1a2b --exit-code",
    )
)
def compare(
    run_id: rdma_options.Run,
    with_: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="RUN",
            help="A published reference, such as heps-paper, or another run.",
        ),
    ],
    kept: rdma_options.HistoryFile = rdma_options.HISTORY,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if it is slower than the other run.")
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare a run with published figures or with another run.

    Needs the database that `run` wrote. Lists the conditions that differ. References: bytetuning,
    eantc-ai-fabric, eantc-storage, heps-paper, lanl-400g, redigo.
    """
    from rocefort.rdma.compare import compare_with
    from rocefort.rdma.judge.run_store import open_history
    from rocefort.rdma.rdma_report import compared_report

    with open_history(kept) as past:
        found = compare_with(past, run_id, with_, judged=exit_code)
    write_result(found, compared_report, text=form is options.TraceFormat.TEXT)
    end(failed=exit_code and bool(found.slower))


@cli.command(
    **documented(
        "rocefort rdma history --fabric heps",
        "rocefort rdma history --pair k8sgn08,k8sgn12",
    )
)
def history(
    kept: rdma_options.HistoryFile = rdma_options.HISTORY,
    fabric: Annotated[
        str, typer.Option(help="Only runs of this fabric, by its name.", **values.FABRIC)
    ] = "",
    pair: Annotated[
        str,
        typer.Option(
            help="List all values of this pair instead: k8sgn08,k8sgn12.", **values.SERVERS
        ),
    ] = "",
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """List the stored runs, or all values of one pair.

    Needs the database that `run` wrote.
    """
    from rocefort.rdma.judge.run_store import open_history
    from rocefort.rdma.rdma_report import history_report, pair_report
    from rocefort.rdma.results import RunList
    from rocefort.rdma.show import pair_history

    with open_history(kept) as past:
        text = form is options.TraceFormat.TEXT
        if pair:
            write_result(pair_history(past, pair), pair_report, text=text)
        else:
            write_result(RunList(runs=tuple(past.runs(fabric))), history_report, text=text)


@cli.command(
    **documented(
        "rocefort rdma export last --format csv",
        "rocefort rdma export last --raw --out run.json",
    )
)
def export(
    run_id: rdma_options.Run,
    kept: rdma_options.HistoryFile = rdma_options.HISTORY,
    out: Annotated[
        Path | None, typer.Option(help="File for the run, with mode 0600.", **values.FILE)
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Include the output of the programs.")] = False,
    form: Annotated[
        rdma_options.ExportForm, typer.Option("--format", help=options.OUTPUT_FORMAT)
    ] = rdma_options.ExportForm.JSON,
) -> None:
    """Write a stored run as JSON or CSV.

    Needs the database that `run` wrote.
    """
    from rocefort.design.subject import write_files
    from rocefort.rdma.judge.run_store import open_history
    from rocefort.rdma.show import exported

    with open_history(kept) as past:
        text = exported(past, past.load(run_id), form.value, raw=raw)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_files({out.name: text}, out.parent, private=True)
    typer.echo(f"written: {out}")


@cli.command(
    **documented(
        "rocefort rdma stop heps --connections connections.yaml",
        "rocefort rdma stop heps --connections connections.yaml --servers k8sgn08,k8sgn12",
    )
)
def stop(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    servers: rdma_options.Servers = "",
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Stop all processes of RDMA runs on all servers.

    Needs SSH access to the servers: for a run whose machine was lost.
    """
    from rocefort.fleet.connections import load_connections
    from rocefort.rdma.rdma_report import stopped_report
    from rocefort.rdma.results import StoppedServers
    from rocefort.rdma.run_suite import stop_everything

    found = stop_everything(fabric, load_connections(connections), values.comma_separated(servers))
    done = StoppedServers(servers=tuple(found))
    text = form is options.TraceFormat.TEXT
    write_result(done, lambda done: stopped_report(done.servers), text=text)
    if any(each.why for each in found):
        raise typer.Exit(ExitCode.FAILED)


def _message_writer(form: options.TraceFormat) -> Callable[[str], None]:
    """Return a function that prints progress; on standard error if the output is data."""
    from rocefort.reports.blocks import Note

    def say(sentence: str) -> None:
        if not output.is_quiet():
            write_blocks(Note(sentence), err=form is not options.TraceFormat.TEXT)

    return say


def _write(found: RdmaResult, out: Path) -> None:
    from rocefort.design.subject import write_files

    write_files({out.name: json_text(found) + "\n"}, out.parent, private=True)


def _show(found: RdmaResult, form: options.TraceFormat) -> None:
    from rocefort.rdma.rdma_report import result_report

    write_result(found, result_report, text=form is options.TraceFormat.TEXT)


def _end(found: RdmaResult) -> None:
    """Exit with 3 if a measurement is missing, with 1 if a result is bad."""
    if not found.complete:
        raise typer.Exit(ExitCode.FAILED)
    if not found.passed:
        raise typer.Exit(ExitCode.FINDINGS)
