"""`experiment`: levels of one factor, compared by repeated runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.rdma.options import CableBy, Groups, TcpGbps
from rocefort.reports.output import write_result

MOST = 10**12  # bytes of a message
NUMBER = re.compile(r"[0-9]{1,13}")
LONGEST_SHOWN = 20
cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort experiment heps --factor ecn=static,ai --suite mpi --repeat 5 --simulate",
        "rocefort experiment heps --factor xoff_kbytes=600,700 --simulate --sizes 65536",
        "rocefort experiment heps --factor ecn=static,ai --suite mpi --repeat 5"
        " --servers k8sgn08,k8sgn12 --connections connections.yaml",
        topic=Topic.MEASURE,
    )
)
def experiment(
    fabric: options.Fabric,
    factor: Annotated[
        str,
        typer.Option(
            metavar="KEY=VALUE,VALUE",
            help="Key of a profile with its levels: ecn=static,ai, or xoff_kbytes=600,700.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="Test suite of `rdma run`; simulated: mpi.")] = "mpi",
    repeat: Annotated[int, typer.Option(min=1, max=100, help="Number of runs of each level.")] = 5,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Run the levels in the packet simulator.")
    ] = False,
    connections: options.MaybeConnections = None,
    servers: Annotated[
        str, typer.Option(help="Servers that take part, as of `rdma run`.", **values.SERVERS)
    ] = "",
    sizes: Annotated[
        str,
        typer.Option(
            metavar="BYTES,..",
            help="Message sizes; simulated: by default 256 and 262144, those of EANTC's examples.",
        ),
    ] = "",
    processes: Annotated[
        str,
        typer.Option(
            "--processes-per-server",
            metavar="NUMBER,..",
            help="Processes of MPI on each server, as of `rdma run`; simulated: by default 1 and "
            "36, because the published test does not state them.",
        ),
    ] = "",
    duration: Annotated[
        int | None,
        typer.Option(metavar="SECONDS", min=4, help="Duration of each bandwidth test (s)."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=5, help="Number of iterations of each latency test.")
    ] = None,
    storage_directory: Annotated[
        str | None,
        typer.Option(
            "--storage-directory",
            metavar="DIR,..",
            help="Suite storage: directories where targets are mounted, one each.",
        ),
    ] = None,
    targets: Annotated[
        str,
        typer.Option(metavar="N,..", help="Suite storage: numbers of targets, as of `rdma run`."),
    ] = "",
    tcp_gbps: TcpGbps = None,
    groups: Groups = 1,
    cable_by: CableBy = None,
    drained: options.Drained = None,
    history: Annotated[
        Path | None,
        typer.Option(help="Database of runs; by default rdma.db in the folder.", **values.FILE),
    ] = None,
    restore: Annotated[
        bool,
        typer.Option("--restore", help="Do no further run; return the switches to the start."),
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the experiment; by default experiments/FABRIC-KEY.", **values.DIR
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Simulated: number of workers; 0: one for each core.")
    ] = 0,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Simulated: folder of results that exist; by default in the user's cache.",
            **values.DIR,
        ),
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare levels of one factor by repeated runs.

    Each level is a fabric that differs in one profile key. With --connections each level is rolled
    out by a sealed plan with its gates, the suite runs on it, and the switches end as they began.
    The result has minimum, mean and maximum of each test, and a signed-rank test over pairs of
    runs. The folder keeps everything: a command that was ended continues by the same command.
    """
    from rocefort.base.errors import BadInput
    from rocefort.experiment.conduct import (
        ExperimentRequest,
        simulated_experiment,
    )
    from rocefort.experiment.report import experiment_report

    request = ExperimentRequest(
        fabric=fabric,
        factor=factor,
        suite=suite,
        repeat=repeat,
        servers=values.comma_separated(servers),
        directory=directory,
        tcp_gbps=tcp_gbps,
        workers=workers,
        results=results,
    )
    if simulate == (connections is not None):
        how = "add --simulate, or --connections FILE with the switches and servers"
        raise BadInput("an experiment is simulated or measured", how=how)
    measuring = {
        "--duration": duration,
        "--iterations": iterations,
        "--storage-directory": storage_directory,
        "--targets": targets,
        "--groups": groups > 1,
        "--cable-by": cable_by,
        "--drained": drained,
        "--history": history,
        "--restore": restore,
    }
    _refuse_others(simulate, measuring, {"--workers": workers, "--results": results})
    if connections is None:
        numbers = _numbers(processes, "--processes-per-server")
        request = replace(
            request, sizes=_numbers(sizes, "--sizes"), processes=numbers or request.processes
        )
        result = simulated_experiment(request)
    else:
        from rocefort.base.features import optional_module
        from rocefort.fleet.connections import load_connections
        from rocefort.rollout.controller.config import ApplyOptions

        optional_module("rocefort.rdma.run_suite", "a measured experiment needs RDMA tests")
        from rocefort.experiment.measured import MeasuredRequest, measured_experiment, tests_of

        chosen = {
            "duration_s": duration,
            "iterations": iterations,
            "storage_directory": storage_directory,
            "targets": targets,
            "tcp_gbps": tcp_gbps,
            "groups": groups,
            "cable_by": cable_by.value if cable_by else None,
        }
        number = _numbers(processes, "--processes-per-server")
        tests = tests_of(request, sizes, tuple(drained or ()), number, chosen)
        measured = MeasuredRequest(
            access=load_connections(connections),
            tests=tests,
            options=ApplyOptions(drained=tuple(drained or ())),
            history=history,
            restore=restore,
        )
        result = measured_experiment(request, measured, output.write_note)
    write_result(result, experiment_report, text=form is options.TraceFormat.TEXT)


def _refuse_others(
    simulate: bool, measuring: Mapping[str, object], simulating: Mapping[str, object]
) -> None:
    """Raise BadInput for options of the other kind of experiment; an unset one is false."""
    from rocefort.base.errors import BadInput, Problem

    kind, own = ("simulated", "--connections") if simulate else ("measured", "--simulate")
    others = measuring if simulate else simulating
    problems = [
        Problem(name, f"a {kind} experiment does not use it", f"use it with {own}")
        for name, value in others.items()
        if value
    ]
    if problems:
        raise BadInput(problems=problems)


def _numbers(text: str, where: str) -> tuple[int, ...]:
    """Return positive numbers that commas separate; raises BadInput."""
    from rocefort.base.errors import BadInput

    words = values.comma_separated(text)
    bad = next((word for word in words if not NUMBER.fullmatch(word)), None)
    if bad is not None or not all(0 < int(word) <= MOST for word in words):
        what = f"{(bad or text)[:LONGEST_SHOWN]!r} is no number above 0"
        raise BadInput(what, where=where, how="write numbers with commas, such as 2048,65536")
    return tuple(dict.fromkeys(int(word) for word in words))
