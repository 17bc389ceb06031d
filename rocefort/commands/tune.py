"""`tune`: simulation of congestion control, buffers and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort import options, output
from rocefort.command_line.help import HelpedGroup, Topic, documented

cli = typer.Typer(
    cls=HelpedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Simulate congestion: ECN, PFC and the servers' NICs.",
    epilog="rocefort tune simulate scenario.yaml\nrocefort tune simulate --help",
)


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
    from rocefort.reports.tuning import simulation_report
    from rocefort.steps.tune.simulate import simulate_file

    result = simulate_file(scenario)
    output.write_result(result, simulation_report, text=form is options.TraceFormat.TEXT)
