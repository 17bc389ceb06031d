"""`init`, `connections`, `comment`, `schema`: the repository of a site and its pull requests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.errors import BadInput, Problem
from rocefort.base.streams import is_terminal
from rocefort.reports.output import write_result

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Credential = Annotated[
    str,
    typer.Option(
        metavar="SECRET", help="Password of the switches by reference: env:NAME or file:PATH."
    ),
]
CREDENTIAL = "env:SWITCH_PASSWORD"


@cli.command(
    **documented(
        "rocefort init fabrics --name main --spines 2 --leaves 4",
        "rocefort init hall2 --spines 4 --leaves 16 --servers-per-leaf 8",
        topic=Topic.SITE,
    )
)
def init(
    directory: Annotated[
        Path, typer.Argument(help="Directory of the repository.", **values.DIR)
    ] = Path(),
    name: Annotated[
        str | None, typer.Option(help="Name of its fabric; by default that of the directory.")
    ] = None,
    spines: Annotated[int | None, typer.Option(min=1, help="Number of spines.")] = None,
    leaves: Annotated[int | None, typer.Option(min=1, help="Number of leaves.")] = None,
    servers_per_leaf: options.ServersPerLeaf = 0,
    links_per_pair: options.LinksPerPair = 1,
    leaf_hardware: options.LeafHardware = options.LEAF_HARDWARE,
    spine_hardware: options.SpineHardware = options.SPINE_HARDWARE,
    credential: Credential = CREDENTIAL,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="URL@TAG",
            help="Git repository of Rocefort: jobs and hooks then refer to its commit.",
        ),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write a repository for the fabrics of a site.

    On a terminal it prompts for numbers that are not given. No existing file is replaced.
    """
    from rocefort.base.actions import WrittenFiles
    from rocefort.base.atomic_files import create_together
    from rocefort.design.new import Size, new_fabric
    from rocefort.reports.actions import written_files_report
    from rocefort.site.init import site_files, source_at

    origin = source_at(source) if source else None
    folder_name = directory.resolve().name
    if spines is None or leaves is None:
        _require_terminal(spines, leaves)
        name = name or typer.prompt("Name of the fabric", default=folder_name)
        spines = spines or typer.prompt("Number of spines", type=int, default=2)
        leaves = leaves or typer.prompt("Number of leaves", type=int)
        servers_per_leaf = servers_per_leaf or typer.prompt(
            "Number of servers on each leaf", type=int, default=0
        )
    name = name or folder_name
    size = Size(spines, leaves, servers_per_leaf, links_per_pair=links_per_pair)
    fabric = new_fabric(name, size, leaf_hardware, spine_hardware)
    files = create_together(site_files(name, fabric, credential, origin), directory)
    notes = ("README.md lists the first commands.",)
    done = WrittenFiles(files=tuple(map(str, files)), notes=notes)
    write_result(done, written_files_report, text=form is options.TraceFormat.TEXT)


def _require_terminal(spines: int | None, leaves: int | None) -> None:
    """Raise BadInput for missing numbers if they cannot be asked for."""
    if is_terminal(sys.stdin):
        return
    missing = {"--spines": spines, "--leaves": leaves}
    how = "give a number; the question appears on a terminal only"
    raise BadInput(
        problems=[Problem(name, "is missing", how) for name in missing if missing[name] is None]
    )


@cli.command(
    **documented(
        "rocefort connections heps",
        "rocefort connections heps --user admin --credential env:PASSWORD --out lab.yaml",
        "rocefort connections heps --update",
        topic=Topic.SITE,
    )
)
def connections(
    fabric: options.Fabric,
    out: Annotated[Path, typer.Option(help="File to write.", **values.FILE)] = Path(
        "connections.yaml"
    ),
    user: Annotated[
        str | None,
        typer.Option(help="Login name; by default the fabric's user with the highest level."),
    ] = None,
    credential: Annotated[
        str | None,
        typer.Option(
            metavar="SECRET",
            help="Password of the switches by reference, env:NAME or file:PATH; by default "
            f"{CREDENTIAL}, or that of most entries with --update.",
        ),
    ] = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Add switches that the file lacks, and remove hosts that the fabric lacks.",
        ),
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write the connections file of a fabric.

    It has the management addresses, no secret, and no host key. No existing file is replaced;
    --update changes entries of an existing file, and keeps everything else in it.
    """
    from rocefort.base.actions import WrittenFiles
    from rocefort.base.atomic_files import create_together
    from rocefort.base.documents.edit import replace_file
    from rocefort.base.documents.read import read_text
    from rocefort.design.derive.derive import derive
    from rocefort.reports.actions import written_files_report
    from rocefort.site.connections import connections_text, updated_connections

    derived = derive(fabric)
    if update:
        updated = updated_connections(derived, out, credential, user)
        replace_file(out, read_text(out), updated.text)
        trust = ("`rocefort trust` records the host keys of new switches.",)
        notes = (
            updated.sentence or "has every switch of the fabric",
            *(trust if updated.added else ()),
        )
        done = WrittenFiles(files=(str(out),), notes=notes)
    else:
        text = connections_text(derived, credential or CREDENTIAL, user)
        done = WrittenFiles(files=tuple(map(str, create_together({out.name: text}, out.parent))))
    write_result(done, written_files_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort comment",
        "rocefort comment review/heps/review.md",
        topic=Topic.CHANGE,
    )
)
def comment(
    review: Annotated[Path, typer.Argument(help="The review to post.", **values.FILE)] = Path(
        "review/review.md"
    ),
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Post a review on its pull request, as one comment.

    Run it in a CI job of GitHub or GitLab. The token is in GITHUB_TOKEN or ROCEFORT_GITLAB_TOKEN.
    Without the file, the comment reports that there is no review.
    """
    from rocefort.base.actions import Done
    from rocefort.reports.actions import done_report
    from rocefort.verification.pull_request_comment import keep_comment, review_text, thread_of
    from rocefort.verification.rest_api import RetryTimes
    from rocefort.verification.review.review_files import no_review_markdown

    text = review_text(review)
    thread = thread_of(RetryTimes())
    if thread is None:
        message = "no comment: no open pull request has this commit any more"
    else:
        done = keep_comment(thread, no_review_markdown(thread.log) if text is None else text)
        message = f"comment on {thread.title}: {done}"
    result = Done(message=message)
    write_result(result, done_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort schema > inventory/fabric.schema.json",
        "rocefort schema --of connections",
        topic=Topic.SITE,
    )
)
def schema(of: options.SchemaOf = options.SchemaDocument.FABRIC) -> None:
    """Print the JSON Schema of a document or of output."""
    from rocefort.site.schemas import schema_text

    typer.echo(schema_text(of), nl=False)
