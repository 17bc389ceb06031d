"""`tune compare`: tables of published systems, computed by the simulator."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import HelpedGroup, documented
from rocefort.reports.output import write_result
from rocefort.tune.options import (
    BETA,
    GAMMA,
    PUBLISHED_BUDGET,
    PUBLISHED_NIC,
    Beta,
    Evaluations,
    Gamma,
    ResultsFolder,
    Seeds,
    Workers,
    table_seeds,
)

cli = typer.Typer(
    cls=HelpedGroup,
    name="compare",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Compute tables of published systems by simulation.",
    epilog="rocefort tune compare heps\nrocefort tune compare bytetuning --help",
)


class ByteTuningObjectiveOption(StrEnum):
    """Objective of ByteTuning; BYTE_TUNING of rocefort.tune.search.byte_tuning."""

    THROUGHPUT = "bytetuning-throughput"
    LATENCY = "bytetuning-latency"


class PublishedMethodOption(StrEnum):
    """Method of ByteTuning's search."""

    ANNEALING = "annealing"
    GRID = "grid"


@cli.callback()
def compare() -> None:
    """Compute tables of published systems by simulation."""


@cli.command(
    **documented(
        "rocefort tune compare bytetuning",
        "rocefort tune compare bytetuning --objective bytetuning-latency --beta 0.2 --format json",
    )
)
def bytetuning(
    objective: Annotated[
        ByteTuningObjectiveOption, typer.Option(help="What the tuned column is best for.")
    ] = ByteTuningObjectiveOption.THROUGHPUT,
    beta: Beta = BETA,
    gamma: Gamma = GAMMA,
    method: Annotated[
        PublishedMethodOption,
        typer.Option(help="Method of the tuned column; grid: all 3,300 combinations."),
    ] = PublishedMethodOption.ANNEALING,
    evaluations: Evaluations = PUBLISHED_BUDGET,
    nic: Annotated[
        str, typer.Option("--nic", metavar="PROFILE", help="Profile of the NICs' DCQCN.")
    ] = PUBLISHED_NIC,
    seeds: Seeds = 20,
    workers: Workers = 0,
    results: ResultsFolder = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compute Table V of ByteTuning: DCTCP, baselines and its search.

    24 servers behind two access and two aggregation switches; 23 of them write to one.

    Takes half a minute of CPU time with annealing, and 3 minutes with the grid.
    """
    from rocefort.tune.compare_report import watermark_report
    from rocefort.tune.run import evaluators, results_folder
    from rocefort.tune.search.byte_tuning import Weights
    from rocefort.tune.watermark_table import TableRequest, watermark_table

    request = TableRequest(
        nic=nic,
        objective=objective.value,
        weights=Weights(beta, gamma),
        method=method.value,
        budget=evaluations,
        seeds=table_seeds(seeds),
    )
    with evaluators("processes", workers, results or results_folder()) as evaluator_of:
        result = watermark_table(request, evaluator_of)
    write_result(result, watermark_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort tune compare heps",
        "rocefort tune compare heps --algorithms dcqcn,timely --seeds 5 --format json",
    )
)
def heps(
    fabric: Annotated[
        Path, typer.Option("--fabric", help="Fabric with servers and ECN.", **values.FABRIC)
    ] = Path("heps"),
    algorithms: Annotated[
        str, typer.Option(metavar="NAME,..", help="Congestion controls of the NICs.")
    ] = "dcqcn,hpcc,dctcp",
    seeds: Seeds = 20,
    workers: Workers = 0,
    results: ResultsFolder = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compute Table 2 of HEPS: bandwidth and latency by algorithm.

    The published figures are beside those of the simulator, with what it leaves out.

    Takes a quarter of a minute of CPU time.
    """
    from rocefort.tune.algorithm_table import algorithm_table, controls_of
    from rocefort.tune.compare_report import algorithm_report
    from rocefort.tune.run import evaluators, results_folder

    names = controls_of([name for part in algorithms.split(",") if (name := part.strip())])
    with evaluators("processes", workers, results or results_folder()) as evaluator_of:
        result = algorithm_table(fabric, names, table_seeds(seeds), evaluator_of)
    write_result(result, algorithm_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort tune compare stages heps-phase2",
        "rocefort tune compare stages heps-phase2 --seeds 3 --html curve --format json",
    )
)
def stages(
    fabric: options.NamedFabric,
    seeds: Seeds = 2,
    html: Annotated[
        Path | None, typer.Option("--html", help="Folder for a page with the curve.", **values.DIR)
    ] = None,
    workers: Workers = 0,
    results: ResultsFolder = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compute the throughput of each stage.

    Of the model, and of the packet simulator with 1 and with 16 queue pairs of each flow.

    HEPS states that throughput grows linearly with spines. The fabric has a stages.yaml.

    Takes 80 s of CPU time for 6 fabrics of up to 39 switches.
    """
    from rocefort.base.atomic_files import put_together
    from rocefort.design.load.documents import find_fabric
    from rocefort.tune.run import evaluators, results_folder
    from rocefort.tune.stage_throughput import stage_curve, stage_curve_report, stage_page
    from rocefort.verification.page.fabric_page import provenance_of

    with evaluators("processes", workers, results or results_folder()) as evaluator_of:
        result = stage_curve(fabric, table_seeds(seeds), evaluator_of)
    if html is not None:
        page = stage_page(result, provenance_of(find_fabric(fabric)))
        put_together({"index.html": page}, html)
    write_result(result, stage_curve_report, text=form is options.TraceFormat.TEXT)
