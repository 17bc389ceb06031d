"""`rehearse`: run a sealed plan on a twin of its fabric before its approval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_result

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "sudo rocefort rehearse plan.json",
        "sudo rocefort rehearse plan.json --guests transfer01,storage01",
        "rocefort rehearse plan.json --show",
        topic=Topic.CHANGE,
    )
)
def rehearse(
    sealed: options.SealedPlan,
    running: Annotated[
        Path | None,
        typer.Option(
            help="Directory of configurations before the plan, if it does not contain them.",
            **values.DIR,
        ),
    ] = None,
    guests: Annotated[
        str, typer.Option(help="Servers that QEMU runs, with real RDMA, or all.", **values.SERVERS)
    ] = "",
    bfd: Annotated[
        bool | None,
        typer.Option("--bfd/--no-bfd", help="Run BFD; by default up to 64 BGP sessions."),
    ] = None,
    other_frr: Annotated[
        bool, typer.Option("--other-frr", help="Accept another FRR release than the supported one.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Only print the report of the last rehearsal.")
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Rehearse a sealed plan on a twin of its fabric (root).

    The report is attached to the plan.
    """
    from rocefort.lab.rehearsal.rehearsal_checks import rehearsal_report
    from rocefort.lab.rehearsal.rehearse import RehearsalOptions, rehearse_plan
    from rocefort.lab.twin.twin import TwinOptions
    from rocefort.rollout.planning.rehearsal import attached
    from rocefort.rollout.planning.sealed_files import read_plan
    from rocefort.rollout.report.event_lines import WaveLines

    text = form is options.TraceFormat.TEXT

    def say(line: str) -> None:
        output.write_note(line, err=not text)

    if show:
        report = attached(sealed, read_plan(sealed))
    else:
        wishes = RehearsalOptions(running, guests, TwinOptions(bfd=bfd, other_frr=other_frr))
        report = rehearse_plan(sealed, wishes, say, WaveLines(say))
    write_result(report, rehearsal_report, text=text)
    end(failed=not report.passed)
