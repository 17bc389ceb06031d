"""`beamline`: list the beamlines of a facility, show one, add one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import HelpedGroup, Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_result

cli = typer.Typer(
    cls=HelpedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and add beamlines of a facility.",
    epilog="rocefort beamline show heps-phase1 bl01\n"
    "rocefort beamline add heps-phase1 bl16 --like bl15 --leaf leaf07 --dry-run",
)
BeamlineName = Annotated[str, typer.Argument(help="Name of the beamline.", **values.BEAMLINE)]


@cli.command(
    "list",
    **documented(
        "rocefort beamline list heps-phase1",
        "rocefort beamline list heps-phase1 --format json",
        topic=Topic.DESIGN,
    ),
)
def list_beamlines(
    fabric: options.Fabric, form: options.TraceFormatted = options.TraceFormat.TEXT
) -> None:
    """List the beamlines of a fabric, with the sum of their rates."""
    from rocefort.beamline.facility import facility_of
    from rocefort.beamline.reports import list_report

    write_result(facility_of(fabric), list_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort beamline show heps-phase1 bl01",
        "rocefort beamline show heps-phase1 bl01 --format json",
        topic=Topic.DESIGN,
    )
)
def show(
    fabric: options.NamedFabric,
    name: BeamlineName,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Show one beamline: path, share after failures, pauses.

    The share is that after every single failure. Pauses: whom it can stop, and who can stop it.
    """
    from rocefort.beamline.facility import view_of
    from rocefort.beamline.reports import view_report

    write_result(view_of(fabric, name), view_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort beamline add heps-phase1 bl16 --like bl15 --leaf leaf07 --dry-run",
        "rocefort beamline add heps-phase1 bl16 --like bl15 --detector '200 Gb/s'",
        topic=Topic.DESIGN,
    )
)
def add(
    fabric: options.NamedFabric,
    name: Annotated[str, typer.Argument(help="Name of the new beamline.", metavar="NAME")],
    like: Annotated[
        str, typer.Option(help="Beamline that the new one is like.", **values.BEAMLINE)
    ],
    detector: Annotated[
        list[str] | None,
        typer.Option(
            help="Rate of a detector: '200 Gb/s'; may be repeated. By default those of --like.",
            metavar="RATE",
        ),
    ] = None,
    id_: Annotated[
        int | None,
        typer.Option(
            "--id", min=1, max=999, help="Its permanent number; by default that of its name."
        ),
    ] = None,
    leaf: Annotated[
        str | None,
        typer.Option(help="Leaf whose first free ports it takes.", **values.SWITCH),
    ] = None,
    owner: Annotated[
        str | None, typer.Option(help="Person or group responsible for it.", metavar="TEXT")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the result, but write nothing.")
    ] = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Add a beamline to a fabric.yaml.

    The report lists ports, cables, transceivers and capacity. It is refused where a leaf or a spine
    must come first, with the number that is missing.
    """
    from rocefort.beamline.entry import NewBeamline
    from rocefort.beamline.onboard import onboard
    from rocefort.beamline.reports import onboarding_report
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    request = NewBeamline(name, like, tuple(detector or ()), id_, leaf, owner)
    done, versions = onboard(fabric, request)
    if not dry_run:
        versions.write()
    result = done.model_copy(update={"written": not dry_run})
    write_result(result, onboarding_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort beamline stages heps-phase2",
        "rocefort beamline stages heps-phase2 --write stages --format json",
        topic=Topic.DESIGN,
    )
)
def stages(
    fabric: options.NamedFabric,
    write: Annotated[
        Path | None,
        typer.Option(help="Also write the fabric.yaml of each stage below it.", **values.DIR),
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Show that each stage of a fabric carries its demand.

    Also that it moves nothing of the stage before. The fabric has a stages.yaml beside it.
    """
    from rocefort.beamline.reports import stages_report
    from rocefort.beamline.stages import judged_stages, stage_fabrics, write_stages

    fabrics = stage_fabrics(fabric)
    result = judged_stages(fabrics)
    if write is not None:
        result = result.model_copy(update={"files": write_stages(fabrics, write)})
    write_result(result, stages_report, text=form is options.TraceFormat.TEXT)
    end(failed=not result.sound)
