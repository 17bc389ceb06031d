"""`render`, `show`, `import`: a fabric and its texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.base.errors import BadInput
from rocefort.reports.output import write_blocks, write_result

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


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
        topic=Topic.DESIGN,
    )
)
def show(
    fabric: options.Fabric,
    table: options.TableName = None,
    form: options.TableFormatted = options.TableFormat.TEXT,
) -> None:
    """List devices, links, addresses, ports, cabling and more."""
    from rocefort.design import results
    from rocefort.design.derive.derive import derive

    fabric, kind = options.fabric_and_table(fabric, table)
    network, shown = derive(fabric).network, results.ShowTable(kind.value)
    if form is options.TableFormat.TEXT:
        write_blocks(*results.show_report(network, shown))
    elif form is options.TableFormat.CSV:
        typer.echo(results.show_csv(network, shown), nl=False)
    else:
        output.write_json(results.show_output(network, shown))


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
