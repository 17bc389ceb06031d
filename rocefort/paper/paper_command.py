"""`paper`: tables of the published systems, beside simulations and stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.rdma.options import HISTORY, HistoryFile
from rocefort.reports.output import write_result
from rocefort.tune.options import ResultsFolder, Seeds, Workers, table_seeds

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort paper heps",
        "rocefort paper --all --html papers.html",
        topic=Topic.MEASURE,
    )
)
def paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME..", help="heps, eantc, redigo, bytetuning or lanl."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all documents.")] = False,
    fabric: Annotated[
        Path, typer.Option(help="Fabric that is simulated for HEPS.", **values.FABRIC)
    ] = Path("heps"),
    seeds: Seeds = 5,
    workers: Workers = 0,
    results: ResultsFolder = None,
    history: HistoryFile = HISTORY,
    run: Annotated[
        str, typer.Option(metavar="RUN", help="Only this stored run; by default the latest.")
    ] = "",
    experiments: Annotated[
        Path | None,
        typer.Option(help="Folder of experiments; by default experiments.", **values.DIR),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="File for the tables as a page.", **values.FILE)
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Print published tables beside our figures.

    Printed figures are those of inventory/references. Beside them are figures of the packet
    simulator, of stored runs between guests, and of stored runs between real servers. An empty cell
    has its reason below the table. HEPS takes a quarter, ByteTuning half a minute of CPU time.
    """
    from rocefort.base.errors import BadInput
    from rocefort.design.subject import write_files
    from rocefort.experiment.store import FOLDERS
    from rocefort.paper.model import Papers
    from rocefort.paper.paper import paper_of, references_of
    from rocefort.paper.report import papers_page, papers_report
    from rocefort.paper.simulated import SimulationRequest
    from rocefort.paper.stored_runs import stored_runs
    from rocefort.tune.run import evaluators, results_folder

    if bool(names) == every:
        raise BadInput("one document or all", where="NAME", how="name one, or add --all")
    references = references_of(names or ())
    runs = stored_runs(history, run, experiments or FOLDERS)
    folder = results or results_folder()
    request = SimulationRequest(
        table_seeds(seeds),
        lambda: evaluators("processes", workers, folder),
        fabric,
        experiments or FOLDERS,
    )
    papers = tuple(paper_of(name, request, runs) for name in references)
    done = Papers(papers=papers, page=str(html or ""))
    if html is not None:
        write_files({html.name: papers_page(done)}, html.parent)
    write_result(done, papers_report, text=form is options.TraceFormat.TEXT)
