"""`accept`: accept the stage of a plan after its last wave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.errors import BadInput, ExitCode
from rocefort.rdma.options import (
    HISTORY,
    CableAt,
    CableBy,
    Duration,
    HistoryFile,
    Servers,
    SuiteName,
)
from rocefort.reports.output import write_result

if TYPE_CHECKING:
    from rocefort.rdma.acceptance.report import AcceptanceOutput

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Texts = list[str] | None
USUAL = [SuiteName.MESH, SuiteName.SWEEP, SuiteName.INCAST]


@cli.command(
    **documented(
        "rocefort accept plan.json --connections connections.yaml --html acceptance.html",
        "rocefort accept plan.json --connections lab/connections.yaml --cable-by lab",
        "rocefort accept plan.json --passed optics='all levels in range, by ada'",
        "rocefort accept plan.json --override sweep='server s3 is replaced on Monday'",
        "rocefort accept plan.json --sign ~/.ssh/id_ed25519",
        topic=Topic.OPERATE,
    )
)
def accept(
    sealed: options.SealedPlan,
    connections: options.MaybeConnections = None,
    journal: options.Journal = None,
    suite: Annotated[
        list[SuiteName] | None, typer.Option(help="Suite to run; by default mesh, sweep, incast.")
    ] = None,
    servers: Servers = "",
    duration: Duration = None,
    drained: options.Drained = None,
    soak: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, max=values.MOST, help="Time between two readings (s)."
        ),
    ] = 60,
    cable_by: CableBy = None,
    cable_at: CableAt = None,
    passed: Annotated[
        Texts, typer.Option(metavar="ITEM=TEXT", help="Item that a person found good.")
    ] = None,
    failed: Annotated[
        Texts, typer.Option(metavar="ITEM=TEXT", help="Item that a person found bad.")
    ] = None,
    again: Annotated[Texts, typer.Option(metavar="ITEM", help="Item to measure again.")] = None,
    override: Annotated[
        Texts,
        typer.Option(metavar="ITEM=REASON", help="Failed item that is not to block the next plan."),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="NAME", help="Approver of overrides, one of the signers.")
    ] = "",
    key: Annotated[
        Path | None, typer.Option(help="SSH key that signs the overrides.", **values.FILE)
    ] = None,
    sign: options.SigningKey = None,
    kept: HistoryFile = HISTORY,
    html: Annotated[
        Path | None, typer.Option(help="File for the report as a page.", **values.FILE)
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Accept a stage after the last wave of its plan.

    Runs suites between servers under the rules of load, reads all switches twice, and keeps every
    item in a record beside the fabric. The command continues where it was stopped. What a person
    does is entered by hand: an entry, an override or a signature alone measures nothing. A failed
    item without a valid override refuses the next plan of the fabric.
    """
    from rocefort.base.processes import stop_on_signals
    from rocefort.rdma.acceptance.carry_out import Entries, accepted
    from rocefort.rdma.acceptance.report import acceptance_report
    from rocefort.rdma.acceptance.stage import AcceptanceRequest
    from rocefort.rdma.rdma_plan import Suite

    request = AcceptanceRequest(
        suites=tuple(Suite(each.value) for each in suite or USUAL),
        servers=tuple(name for name in servers.split(",") if name),
        soak_s=soak,
        duration_s=duration,
        drained=tuple(drained or ()),
        cable_by=cable_by.value if cable_by else None,
        cable_at_s=cable_at,
        again=tuple(again or ()),
    )
    entries = Entries(
        passed=_pairs("--passed", passed),
        failed=_pairs("--failed", failed),
        overrides=_pairs("--override", override),
        by=by,
        key=key,
        sign=sign,
    )
    text = form is options.TraceFormat.TEXT

    def say(line: str) -> None:
        output.write_note(line, err=not text)

    with stop_on_signals() as stopped:
        done = accepted((sealed, journal, kept), connections, request, entries, (say, stopped))
    if html is not None:
        done = _with_page(done, html)
    write_result(done, acceptance_report, text=text)
    if stopped() and not done.finished:
        raise typer.Exit(ExitCode.STOPPED)
    if done.blocking:
        raise typer.Exit(ExitCode.FINDINGS)


def _pairs(option: str, texts: Texts) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in texts or ():
        name, equals, rest = text.partition("=")
        if not equals or not name.strip() or not rest.strip():
            raise BadInput(f"{text!r} has no text", where=option, how="write ITEM=TEXT")
        pairs.append((name.strip(), rest.strip()))
    return tuple(pairs)


def _with_page(done: AcceptanceOutput, page: Path) -> AcceptanceOutput:
    from rocefort.design.subject import write_files
    from rocefort.rdma.acceptance.report import acceptance_page

    done = done.model_copy(update={"page": str(page)})
    write_files({page.name: acceptance_page(done)}, page.parent)
    return done
