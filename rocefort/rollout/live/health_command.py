"""`health`: live checks of the switches of a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort health heps --connections connections.yaml",
        "rocefort health heps --connections connections.yaml --device leaf01 --interval 10",
        topic=Topic.OPERATE,
    )
)
def health(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    device: Annotated[
        list[str] | None, typer.Option(help="Only this switch.", **values.SWITCH)
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=1, max=values.MOST, help="Read twice, with this interval (s)."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="File of an earlier reading; only new errors fail.", **values.FILE),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="File for this reading.", **values.FILE)] = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    clock_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=1, max=values.MOST, help="Largest clock offset (s)."),
    ] = 5.0,
    disk_limit: Annotated[int, typer.Option(min=0, help="Least free flash (MB).")] = 100,
    pause_limit: Annotated[int, typer.Option(min=0, help="Most PFC frames per second.")] = 1000,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.Formatted = options.Format.TEXT,
) -> None:
    """Check the live state of the switches; changes nothing."""
    from rocefort.fleet.connections import load_connections
    from rocefort.rollout.live.health import health_of
    from rocefort.validators.checks import rules
    from rocefort.validators.rules.live.switch_readings import HealthLimits, LiveSubject
    from rocefort.verification.findings import write_findings

    found = health_of(
        fabric,
        load_connections(connections),
        devices=tuple(device or ()),
        baseline=baseline,
        interval_s=interval,
        save=save,
        limits=HealthLimits(clock_limit, disk_limit, pause_limit),
        run=rules(select or (), ignore or (), LiveSubject),
    )
    write_findings(found.report, form.value, str(fabric))
    for note in found.notes:
        output.write_note(note, err=form is not options.Format.TEXT)
    if found.exit_code:
        raise typer.Exit(found.exit_code)
