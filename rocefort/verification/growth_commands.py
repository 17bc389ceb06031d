"""`new`, `expand`, `remove`, `rename`, `stages`: size of a fabric, and its changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_result

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the result, but write nothing.")]


@cli.command(
    **documented(
        "rocefort new hall2 --spines 2 --leaves 6",
        "rocefort new hall3 --spines 4 --leaves 16 --servers-per-leaf 8 --links-per-pair 2",
        topic=Topic.DESIGN,
    )
)
def new(
    name: Annotated[str, typer.Argument(help="Name of the fabric.")],
    spines: Annotated[int, typer.Option(min=1, help="Number of spines.")],
    leaves: Annotated[int, typer.Option(min=1, help="Number of leaves.")],
    servers_per_leaf: options.ServersPerLeaf = 0,
    links_per_pair: options.LinksPerPair = 1,
    leaf_hardware: options.LeafHardware = options.LEAF_HARDWARE,
    spine_hardware: options.SpineHardware = options.SPINE_HARDWARE,
    directory: Annotated[
        Path | None,
        typer.Option(
            help="Parent directory; by default the inventory of the site, or inventory.",
            **values.DIR,
        ),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write the fabric.yaml of a new fabric that passes `check`.

    Numbers in names have the width of the capacity: of 128 leaves, the first is leaf001.
    """
    from rocefort.base.actions import WrittenFiles
    from rocefort.base.repository import SHIPPED, Site, site_of
    from rocefort.design.load.hardware_catalogue import load_catalogue
    from rocefort.design.new import Size, new_fabric, write_new
    from rocefort.reports.actions import written_files_report

    here = Path.cwd()
    parent = directory or (site_of(here) or Site(here)).inventory
    catalogue = load_catalogue(site_of(parent) or SHIPPED)
    size = Size(spines, leaves, servers_per_leaf, links_per_pair=links_per_pair)
    text = new_fabric(name, size, leaf_hardware, spine_hardware, catalogue)
    done = WrittenFiles(files=(str(write_new(name, text, parent)),))
    write_result(done, written_files_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort expand heps --add-spines 1 --dry-run",
        "rocefort expand heps --add-leaves 2 --like leaf04 --servers 4",
        topic=Topic.DESIGN,
    )
)
def expand(
    fabric: options.Fabric,
    add_spines: options.AddSpines = 0,
    add_leaves: options.AddLeaves = 0,
    hardware: options.NewHardware = None,
    servers: options.NewServers = 0,
    racks: options.NewRacks = None,
    like: options.NewLike = None,
    segments: options.NewSegments = None,
    names: options.NewNames = None,
    dry_run: DryRun = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Add spines and leaves to a fabric.yaml.

    The report proves that nothing in the existing fabric moves.
    """
    from rocefort.change.expand import GrowthOptions, wanted_of
    from rocefort.change.expand import expand as grow
    from rocefort.change.growth import GrowthOutput, growth_report
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    given = GrowthOptions(add_spines, add_leaves, servers, hardware, racks, like, segments, names)
    expansion = grow(fabric, wanted_of(given))
    if not dry_run:
        expansion.versions.write()
    done = GrowthOutput(**dict(expansion.growth), written=not dry_run)
    text = form is options.TraceFormat.TEXT
    write_result(done, lambda done: growth_report(done, written=done.written), text=text)


@cli.command(
    **documented(
        "rocefort remove heps readout04 --dry-run",
        "rocefort remove heps readout03 readout04",
        topic=Topic.DESIGN,
    )
)
def remove(
    fabric: options.NamedFabric,
    names: Annotated[list[str], typer.Argument(help="Spines, leaves and servers.", **values.NAME)],
    dry_run: DryRun = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Remove spines, leaves and servers from a fabric.yaml.

    The report proves that nothing in the remaining fabric moves, and lists the steps in their
    order.
    """
    from rocefort.change.growth import RemovalOutput
    from rocefort.verification.review.edit import removal_report
    from rocefort.verification.review.edit import remove as without
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    done = without(fabric, tuple(dict.fromkeys(names)))
    if not dry_run:
        done.versions.write()
    result = RemovalOutput(**dict(done.removal), written=not dry_run)
    text = form is options.TraceFormat.TEXT
    write_result(result, lambda one: removal_report(one, written=one.written), text=text)


@cli.command(
    **documented(
        "rocefort rename heps readout04 readout05 --dry-run",
        "rocefort rename heps leaf06 leaf-b06",
        topic=Topic.DESIGN,
    )
)
def rename(
    fabric: options.NamedFabric,
    old: Annotated[str, typer.Argument(help="Name of a spine, leaf or server.", **values.NAME)],
    new: Annotated[str, typer.Argument(metavar="NEW-NAME", help="Its new name.")],
    dry_run: DryRun = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Rename a spine, leaf or server, and all references to it.

    The report proves that only names and descriptions change.
    """
    from rocefort.change.growth import RenamingOutput
    from rocefort.verification.review.edit import rename as with_name
    from rocefort.verification.review.edit import renaming_report
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    done = with_name(fabric, old, new)
    if not dry_run:
        done.versions.write()
    result = RenamingOutput(**dict(done.renaming), written=not dry_run)
    text = form is options.TraceFormat.TEXT
    write_result(result, lambda one: renaming_report(one, written=one.written), text=text)


@cli.command(
    **documented(
        "rocefort stages heps --add-leaves 2 --like leaf01",
        "rocefort stages heps --add-spines 1",
        topic=Topic.CHANGE,
    )
)
def stages(
    fabric: options.Fabric,
    add_spines: options.AddSpines = 0,
    add_leaves: options.AddLeaves = 0,
    hardware: options.NewHardware = None,
    servers: options.NewServers = 0,
    racks: options.NewRacks = None,
    like: options.NewLike = None,
    segments: options.NewSegments = None,
    names: options.NewNames = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Verify every intermediate state of an expansion.

    Writes nothing.
    """
    from rocefort.change.expand import GrowthOptions, stages_of, wanted_of
    from rocefort.change.expand import expand as grow
    from rocefort.change.growth import staged_report

    given = GrowthOptions(add_spines, add_leaves, servers, hardware, racks, like, segments, names)
    found = stages_of(grow(fabric, wanted_of(given)))
    write_result(found, staged_report, text=form is options.TraceFormat.TEXT)
    end(failed=found.wrong)
