"""`health`: what the switches of a fabric say of their state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort import options

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command()
def health(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    device: Annotated[list[str] | None, typer.Option(help="These switches only.")] = None,
    interval: Annotated[
        float | None, typer.Option(min=1, help="Read twice, so far apart: seconds.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="An earlier reading: only new errors fail.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Keep this reading there.")] = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    clock_limit: Annotated[float, typer.Option(min=1, help="Seconds off this clock.")] = 5.0,
    disk_limit: Annotated[int, typer.Option(min=0, help="Megabytes free.")] = 100,
    pause_limit: Annotated[int, typer.Option(min=0, help="PFC frames a second.")] = 1000,
    form: options.Formatted = options.Format.TEXT,
) -> None:
    """Judge what the switches say of their state; changes nothing."""
    from rocefort.fleet.connections import load_connections
    from rocefort.steps.fabric.report import write_findings
    from rocefort.steps.rollout.health import health_of
    from rocefort.validators.checks import rules
    from rocefort.validators.rules.live.subject import HealthLimits, LiveSubject

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
        typer.echo(note, err=form is not options.Format.TEXT)
    if found.exit_code:
        raise typer.Exit(found.exit_code)
