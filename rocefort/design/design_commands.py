"""`render`, `show`, `import`: a fabric and its texts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.base.errors import BadInput
from rocefort.reports.output import write_blocks, write_result

if TYPE_CHECKING:
    from rocefort.design.schedulers import SchedulerOptions

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class TableFormat(StrEnum):
    """Output format of a table; the text of a scheduler's table is its file."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@cli.command(
    **documented(
        "rocefort render heps --device leaf01",
        "rocefort render heps --out configs",
        topic=Topic.DESIGN,
    )
)
def render(
    fabric: options.Fabric,
    out: Annotated[
        Path | None, typer.Option(help="Directory for one file per switch.", **values.DIR)
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Render this switch only.", **values.SWITCH)
    ] = None,
    secrets: options.WithSecrets = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write the configuration of every switch."""
    from rocefort.base.documents.suggest import nearest
    from rocefort.design.results import RenderedTexts, notes_report
    from rocefort.design.subject import refuse_refuted, subject_of, write_texts
    from rocefort.dialects.secrets import with_secrets

    subject = subject_of(fabric, None)
    texts = subject.texts
    if lack := subject.network.lack_of_switches:
        raise BadInput(lack, where=subject.network.name, how="its hosts: `rocefort host render`")
    if device is not None and device not in texts:
        raise BadInput(f"no switch {device!r}", how=nearest(device, texts))
    chosen = {device: texts[device]} if device else dict(texts)
    refuse_refuted(subject.network, chosen)
    if secrets and out is None:
        raise BadInput("--secrets without --out", how="secrets go into files, never on a screen")
    if out is not None:
        ready = with_secrets(chosen, subject.network) if secrets else chosen
        paths = write_texts(ready, out, private=secrets)
        summary = f"{len(paths)} configurations in {out}"
        result = RenderedTexts(files=tuple(map(str, paths)), notes=(summary,))
        write_result(result, notes_report, text=form is options.TraceFormat.TEXT)
    elif form is options.TraceFormat.JSON:
        output.write_json(RenderedTexts(texts=chosen))
    else:
        typer.echo("".join(chosen.values()), nl=False)


@cli.command(
    **documented(
        "rocefort show heps links",
        "rocefort show heps cabling --format csv",
        "rocefort show heps slurm-topology --segments compute",
        topic=Topic.DESIGN,
    )
)
def show(
    fabric: options.Fabric,
    table: options.TableName = None,
    segments: Annotated[
        str | None,
        typer.Option(help="Servers of these segments, for a scheduler.", **values.SEGMENTS),
    ] = None,
    block_sizes: Annotated[
        str | None,
        typer.Option(metavar="N,..", help="BlockSizes of Slurm; by default of the smallest leaf."),
    ] = None,
    form: Annotated[
        TableFormat,
        typer.Option("--format", envvar="ROCEFORT_FORMAT", help=options.OUTPUT_FORMAT),
    ] = TableFormat.TEXT,
) -> None:
    """List devices, links, addresses, ports, cabling and more.

    slurm-topology, slurm-blocks and kubernetes-labels are files for a scheduler.
    """
    from rocefort.design import results, schedulers
    from rocefort.design.derive.derive import derive

    fabric, kind = options.fabric_and_table(fabric, table)
    chosen = _scheduler_options(kind, segments, block_sizes)
    network, shown = derive(fabric).network, results.ShowTable(kind.value)
    if chosen is not None:
        network = schedulers.with_servers_of(network, chosen.segments)
    if form is TableFormat.CSV:
        typer.echo(results.show_csv(network, shown), nl=False)
    elif form is TableFormat.JSON:
        output.write_json(results.show_output(network, shown))
    elif chosen is not None:
        typer.echo(schedulers.FILES[shown](network, chosen), nl=False)
    else:
        write_blocks(*results.show_report(network, shown))


def _scheduler_options(
    kind: options.TableOption, segments: str | None, block_sizes: str | None
) -> SchedulerOptions | None:
    """Return the options of a scheduler's file; None for another table, which has none."""
    from rocefort.design.schedulers import FILES, SchedulerOptions

    blocks = options.TableOption.SLURM_BLOCKS
    for option, text, tables in (
        ("--segments", segments, list(FILES)),
        ("--block-sizes", block_sizes, [blocks.value]),
    ):
        if text is not None and kind not in tables:
            raise BadInput(f"not for {kind}", where=option, how=f"use it for {', '.join(tables)}")
    if kind not in FILES:
        return None
    sizes = values.comma_separated(block_sizes or "")
    if wrong := [size for size in sizes if not size.isdecimal() or int(size) < 1]:
        what, how = f"{wrong[0]!r} is no number of servers", "use whole numbers: 4,16"
        raise BadInput(what, where="--block-sizes", how=how)
    return SchedulerOptions(values.comma_separated(segments or ""), tuple(map(int, sizes)))


@cli.command(
    "import",
    **documented(
        "rocefort import configs --out inventory/copy",
        "rocefort import configs --out inventory/other --hardware leaf03=CE8850-64CQ-EI",
        topic=Topic.DESIGN,
    ),
)
def import_(
    directory: Annotated[
        Path,
        typer.Argument(help="Directory of saved configurations, one per switch.", **values.DIR),
    ],
    out: Annotated[
        Path, typer.Option(help="Directory for fabric.yaml: inventory/NAME.", **values.DIR)
    ],
    hardware: options.SwitchHardware = None,
    software: options.SwitchReleases = None,
    switches: options.SwitchTable = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 1 if a line is not carried over, or is of another design."
        ),
    ] = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write a fabric.yaml from existing configurations.

    Also list the facts that the configurations do not contain.
    """
    from rocefort.design.importing.import_texts import facts_of, import_fabric, imported_report

    facts = facts_of(hardware or (), software or (), switches)
    done = import_fabric(directory, out, facts)
    write_result(done, imported_report, text=form is options.TraceFormat.TEXT)
    end(failed=strict and not done.whole)
