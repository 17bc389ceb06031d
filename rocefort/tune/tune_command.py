"""`tune`: simulation of congestion control, buffers and thresholds, and searches over it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import HelpedGroup, Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_result
from rocefort.tune import compare_command
from rocefort.tune.options import (
    BETA,
    GAMMA,
    Beta,
    Evaluations,
    Gamma,
    ResultsFolder,
    SearchObjectiveOption,
)

cli = typer.Typer(
    cls=HelpedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Simulate congestion, and search thresholds of ECN and PFC.",
    epilog="rocefort tune simulate scenario.yaml\nrocefort tune search --help",
)

cli.add_typer(compare_command.cli)

# Options of `search` and of `measure`, which begins with a search.
Objective = Annotated[options.ObjectiveOption, typer.Option(help="What the choice is best for.")]
WriteChoice = Annotated[
    bool, typer.Option("--write", help="Write the choice as profiles into fabric.yaml.")
]


@cli.command(
    **documented(
        "rocefort tune simulate scenario.yaml",
        "rocefort tune simulate scenario.yaml --format json",
        topic=Topic.MEASURE,
    )
)
def simulate(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="YAML file: traffic, buffers, ECN, NICs.")
    ],
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Simulate a scenario packet by packet.

    The result has goodput, completion times, queues, marks, pauses and drops.

    `rocefort schema --of scenario` documents its keys. The first run compiles the simulator.
    """
    from rocefort.tune.report import simulation_report
    from rocefort.tune.run import simulate_file

    result = simulate_file(scenario)
    write_result(result, simulation_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort tune search heps --objective latency --report tuning",
        "rocefort tune search heps --objective latency --write",
        "rocefort tune search --scenario two-to-one.yaml --method annealing",
        topic=Topic.MEASURE,
    )
)
def search(
    fabric: options.MaybeFabric = None,
    demand: options.DemandFile = None,
    scenarios: Annotated[
        list[Path] | None,
        typer.Option(
            "--scenario",
            help="Scenario of `tune simulate`, instead of a fabric; its `search` lists values.",
            **values.FILE,
        ),
    ] = None,
    objective: Annotated[
        SearchObjectiveOption, typer.Option(help="What the choice is best for.")
    ] = SearchObjectiveOption.BOTH,
    beta: Beta = BETA,
    gamma: Gamma = GAMMA,
    nic: Annotated[bool, typer.Option("--nic", help="Search parameters of the NICs, too.")] = False,
    method: Annotated[
        options.MethodOption,
        typer.Option(help="Method; auto: the grid of up to 3,300 combinations, else nsga2."),
    ] = options.MethodOption.AUTO,
    evaluations: Evaluations = 400,
    executor: Annotated[
        str,
        typer.Option(
            metavar="KIND[=PLACE]",
            help="Workers: processes, dask, dask=HOST:PORT, slurm, slurm=PARTITION or submitit.",
        ),
    ] = "processes",
    workers: Annotated[
        int, typer.Option(min=0, help="Number of workers; 0: one for each core.")
    ] = 0,
    results: ResultsFolder = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Folder for a page, with its data as CSV and JSON.", **values.DIR),
    ] = None,
    write: WriteChoice = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Search thresholds of ECN and PFC for a fabric's demand.

    Candidates are within the buffers, headroom and ranges of the switch models.

    A search that was ended continues with the simulations that it has.
    """
    from rocefort.base.errors import BadInput
    from rocefort.tune.report import search_report
    from rocefort.tune.run import SearchRequest
    from rocefort.tune.run import search as find
    from rocefort.tune.search.byte_tuning import Weights

    if scenarios and (fabric or demand or write):
        what = "--scenario searches no fabric"
        raise BadInput(what, how="remove --scenario, or FABRIC, --demand and --write")
    named = None if scenarios else options.fabric_unless(None, fabric)
    request = SearchRequest(
        fabric=named,
        demand=demand,
        scenarios=tuple(scenarios or ()),
        objective=objective.value,
        weights=Weights(beta, gamma),
        method=method.value,
        evaluations=evaluations,
        nic=nic,
        executor=executor,
        workers=workers,
        results=results,
    )
    searched = find(request)
    result = searched.result
    if write:
        from rocefort.tune.write import write_choice

        result = write_choice(searched)
    if report is not None:
        from rocefort.tune.run import write_pictures

        write_pictures(searched, result, report)
        output.write_note(f"page: {report / 'index.html'}")
    write_result(result, search_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort tune measure heps --servers k8sgn08,k8sgn12,readout04"
        " --connections connections.yaml",
        "rocefort tune measure heps --servers k8sgn08,k8sgn12,readout04"
        " --connections connections.yaml --trials 3 --write",
        topic=Topic.MEASURE,
    )
)
def measure(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    servers: Annotated[
        str,
        typer.Option(
            help="Servers to load; by default rdma.servers of the fabric.", **values.SERVERS
        ),
    ] = "",
    target: Annotated[
        str | None,
        typer.Option(help="Receiving server, behind the canary leaf.", **values.SERVER),
    ] = None,
    demand: options.DemandFile = None,
    objective: Objective = options.ObjectiveOption.BOTH,
    method: Annotated[
        options.MethodOption, typer.Option(help="Method of the search, as of `tune search`.")
    ] = options.MethodOption.AUTO,
    evaluations: Evaluations = 400,
    trials: Annotated[int, typer.Option(min=1, max=50, help="Most candidates to measure.")] = 5,
    minutes: Annotated[
        float, typer.Option(min=1, max=values.MOST, help="Most time of all measurements (min).")
    ] = 30,
    duration: Annotated[
        int, typer.Option(metavar="SECONDS", min=4, help="Duration of each bandwidth test (s).")
    ] = 10,
    results: ResultsFolder = None,
    history: Annotated[Path, typer.Option(help="Database of the runs.", **values.FILE)] = Path(
        "tuning.db"
    ),
    write: WriteChoice = False,
    outside_window: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="Measure although a calendar holds it; the reason is in the result.",
        ),
    ] = "",
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Measure the best candidates of a search on the canary leaf.

    Each candidate is one commit trial; the leaf always ends at the values it had.

    Needs rollout.tuning_window in the fabric, RDMA servers, and one of them behind the leaf. A
    calendar of the fabric (rollout.calendar) holds it as a wave of a rollout.
    """
    from rocefort.fleet.connections import load_connections
    from rocefort.tune.measure import MeasureRequest
    from rocefort.tune.measure import measure as run
    from rocefort.tune.report import measured_report
    from rocefort.tune.run import SearchRequest

    search_request = SearchRequest(
        fabric=fabric,
        demand=demand,
        objective=objective.value,
        method=method.value,
        evaluations=evaluations,
        results=results,
    )
    request = MeasureRequest(
        search_request,
        servers=values.comma_separated(servers),
        target=target,
        trials=trials,
        minutes=minutes,
        duration_s=duration,
        history=history,
        write=write,
        outside=outside_window,
    )
    done = run(request, load_connections(connections), output.write_note)
    write_result(done, measured_report, text=form is options.TraceFormat.TEXT)
    end(failed=False, stopped=done.stopped)
