"""`experiment`: levels of one factor, compared by repeated runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_result

MOST = 10**12  # bytes of a message

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort experiment heps --factor ecn=static,ai --suite mpi --repeat 5 --simulate",
        "rocefort experiment heps --factor xoff_kbytes=600,900 --simulate --sizes 65536",
        topic=Topic.MEASURE,
    )
)
def experiment(
    fabric: options.Fabric,
    factor: Annotated[
        str,
        typer.Option(
            metavar="KEY=VALUE,VALUE",
            help="Key of a profile with its levels: ecn=static,ai, or xoff_kbytes=600,900.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="Test suite of `rdma run`; simulated: mpi.")] = "mpi",
    repeat: Annotated[int, typer.Option(min=1, max=100, help="Number of runs of each level.")] = 5,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Run the levels in the packet simulator.")
    ] = False,
    servers: Annotated[
        str, typer.Option(help="Servers that take part; by default all.", **values.SERVERS)
    ] = "",
    sizes: Annotated[
        str,
        typer.Option(
            metavar="BYTES,..",
            help="Message sizes; by default 256 and 262144, those of EANTC's examples.",
        ),
    ] = "",
    processes: Annotated[
        str,
        typer.Option(
            "--processes-per-server",
            metavar="NUMBER,..",
            help="Processes of MPI on each server; the published test does not state them.",
        ),
    ] = "1,36",
    directory: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the experiment; by default experiments/FABRIC-KEY.", **values.DIR
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Number of workers; 0: one for each core.")
    ] = 0,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Folder of simulations that are done; by default in the user's cache.",
            **values.DIR,
        ),
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare levels of one factor by repeated runs in the order AB BA.

    Each level is a fabric that differs in one profile key. The result has minimum, mean and maximum
    of each test, and a signed-rank test over pairs of runs. The folder keeps everything: a command
    that was ended continues by the same command.
    """
    from rocefort.base.errors import BadInput
    from rocefort.experiment.conduct import ExperimentRequest, simulated_experiment
    from rocefort.experiment.report import experiment_report

    request = ExperimentRequest(
        fabric=fabric,
        factor=factor,
        suite=suite,
        repeat=repeat,
        servers=tuple(filter(None, (name.strip() for name in servers.split(",")))),
        directory=directory,
        sizes=_numbers(sizes, "--sizes"),
        processes=_numbers(processes, "--processes-per-server"),
        workers=workers,
        results=results,
    )
    if not simulate:
        raise BadInput("real runs are not available yet", how="add --simulate")
    result = simulated_experiment(request)
    write_result(result, experiment_report, text=form is options.TraceFormat.TEXT)
    end(failed=False, stopped=result.state == "stopped")


def _numbers(text: str, where: str) -> tuple[int, ...]:
    """Return positive numbers that commas separate; raises BadInput."""
    from rocefort.base.errors import BadInput

    words = [word.strip() for word in text.split(",") if word.strip()]
    bad = next((word for word in words if not word.isascii() or not word.isdigit()), None)
    if bad is not None or not all(0 < int(word) <= MOST for word in words):
        what = f"{bad or text!r} is no number above 0"
        raise BadInput(what, where=where, how="write numbers with commas, such as 2048,65536")
    return tuple(dict.fromkeys(int(word) for word in words))
