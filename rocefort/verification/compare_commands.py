"""`diff`, `drift`, `review`: differences between two states of a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.base.errors import BadInput
from rocefort.reports.output import write_blocks
from rocefort.verification.batfish_service import announce_service

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocefort.change.results import FabricDifference
    from rocefort.reports.blocks import Block


cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort diff HEAD:inventory/heps heps",
        "rocefort diff HEAD~1:inventory/heps heps --patch --back",
        topic=Topic.CHANGE,
    )
)
def diff(
    before: Annotated[str, typer.Argument(help=options.SIDE)],
    after: Annotated[str, typer.Argument(help=options.SIDE)],
    patch: Annotated[bool, typer.Option("--patch", help=options.PATCH)] = False,
    back: Annotated[
        bool, typer.Option("--back", help="Show the commands that undo each change.")
    ] = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.DifferenceFormatted = options.DifferenceFormat.TEXT,
    exit_code: options.ExitCode = False,
) -> None:
    """Show the changes from BEFORE to AFTER on each switch."""
    from rocefort.change.difference import compare_sides
    from rocefort.change.differences_report import DifferenceOptions, diff_report

    difference = compare_sides(before, after, output.write_note)
    blocks = diff_report(difference, DifferenceOptions(patch=patch, back=back))
    verdict = "" if difference.differs else "nothing changes"
    _write_difference(difference, blocks, f"from {before} to {after}", verdict, form)
    end(failed=exit_code and difference.differs)


@cli.command(
    **documented(
        "rocefort drift heps --connections connections.yaml",
        "rocefort drift heps --configs configs --patch --format markdown",
        topic=Topic.CHANGE,
    )
)
def drift(
    fabric: options.Fabric,
    configs: Annotated[
        Path | None, typer.Option(help="Directory of the running configurations.", **values.DIR)
    ] = None,
    connections: options.MaybeConnections = None,
    patch: Annotated[bool, typer.Option("--patch", help=options.PATCH)] = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.DifferenceFormatted = options.DifferenceFormat.TEXT,
) -> None:
    """Compare the running configurations with the intent.

    Reads them from a directory, or without one from the switches now.
    """
    from rocefort.change.difference import drift_of
    from rocefort.change.differences_report import DifferenceOptions, drift_report, drift_summary

    running = configs or _texts_of_switches(fabric, connections)
    difference = drift_of(fabric, running, output.write_note)
    blocks = drift_report(difference, DifferenceOptions(patch=patch, places=True))
    title = f"{difference.before} beside {difference.after}"
    _write_difference(difference, blocks, title, drift_summary(difference), form)
    end(failed=difference.drifts)


def _texts_of_switches(fabric: Path, connections: Path | None) -> Mapping[str, str]:
    """Read what the switches run now; raises BadInput without connections."""
    if connections is None:
        how = "name one of them: --connections FILE, or --configs DIR"
        raise BadInput("neither the switches nor a directory of their texts is named", how=how)
    from rocefort.fleet.connections import load_connections
    from rocefort.fleet.running_configs import running_of

    return running_of(fabric, load_connections(connections), None)


@cli.command(
    **documented(
        "rocefort review --base main",
        "rocefort review heps --base HEAD~1 --out review --engine embedded",
        topic=Topic.CHANGE,
    )
)
def review(
    fabric: options.MaybeFabric = None,
    base: Annotated[
        str, typer.Option(metavar="REVISION", help="Git revision before the change: main, HEAD~1.")
    ] = "HEAD",
    head: Annotated[
        str, typer.Option(metavar="REVISION", help="Git revision after the change, or worktree.")
    ] = "worktree",
    out: Annotated[Path, typer.Option(help="Directory for the four files.", **values.DIR)] = Path(
        "review"
    ),
    page_url: options.PageUrl = "review.html",
    engine: options.VerificationEngine = options.EngineOption.AUTO,
    batfish: options.BatfishService = None,
    failures: options.Failures = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Review a change in git: Markdown, HTML, JSON and SARIF.

    Without a fabric: all that the change touches, each in a folder of its own.
    """
    from rocefort.validators import engine_choice
    from rocefort.verification.review.fabrics import reviews_summary
    from rocefort.verification.review.review import ReviewRequest, make_reviews, write_reviews
    from rocefort.verification.review.review_files import reviews_output
    from rocefort.verification.review.sections import notes_of, review_summary

    asked = ReviewRequest(fabric, base, head, engine_choice.Engine(engine.value), batfish, failures)
    announce_service(engine, batfish)
    found = make_reviews(asked)
    paths = write_reviews(found, out, page_url)
    for note in dict.fromkeys(note for done in found.reviews for note in notes_of(done)):
        output.write_note(f"note: {note}")
    for problem in (problem for fabric in found.unreviewed for problem in fabric.problems):
        output.print_error(f"rocefort: {problem}")
    if form is options.TraceFormat.TEXT:
        write_blocks(*map(review_summary, found.reviews))
        if not found.only:
            write_blocks(reviews_summary(found))
        typer.echo(f"written: {', '.join(map(str, paths))}")
    else:
        output.write_json(reviews_output(found))
    if found.exit_code:
        raise typer.Exit(found.exit_code)


def _write_difference(
    difference: FabricDifference,
    blocks: Iterable[Block],
    title: str,
    verdict: str,
    form: options.DifferenceFormat,
) -> None:
    """Write a difference with its verdict: last in text, first in a comment."""
    from rocefort.change.differences_report import difference_output
    from rocefort.reports.blocks import Note, Section
    from rocefort.reports.writers.markdown import markdown_of

    summary = (Note(verdict),) if verdict else ()
    if form is options.DifferenceFormat.TEXT:
        write_blocks(*blocks, *summary)
    elif form is options.DifferenceFormat.MARKDOWN:
        comment = Section(f"Rocefort: {title}", (*summary, Section("", tuple(blocks))))
        typer.echo(markdown_of(comment), nl=False)
    else:
        output.write_json(difference_output(difference))
