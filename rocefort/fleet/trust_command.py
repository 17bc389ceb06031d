"""`trust`: record the SSH host keys of switches and servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.reports.output import write_blocks, write_result

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort trust heps --connections connections.yaml",
        "rocefort trust heps --connections connections.yaml --known-hosts keys --yes",
        topic=Topic.SITE,
    )
)
def trust(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    known_hosts: Annotated[
        Path | None,
        typer.Option(
            help="File of host keys; by default the one in the connections file.", **values.FILE
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Add the keys without a question: their fingerprints are checked."
        ),
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Record SSH host keys after a check of their fingerprints.

    Keys are collected over the network; a changed key is refused.
    """
    from rocefort.fleet.connections import load_connections
    from rocefort.fleet.host_keys import collect_keys, fail_silent, key_rows, refuse_changed
    from rocefort.fleet.host_keys import trust as put_on_record
    from rocefort.fleet.trusted_keys import TrustedKeys, keys_report, recorded_report

    collected = collect_keys(fabric, load_connections(connections), known_hosts)
    text, rows = form is options.TraceFormat.TEXT, key_rows(collected.keys)
    write_blocks(keys_report(rows), err=not text)  # before the question
    refuse_changed(collected)
    if collected.new:
        put_on_record(collected, agreed=yes or _is_confirmed(len(collected.new), err=not text))
    done = TrustedKeys(
        known_hosts=str(collected.known_hosts),
        added=len(collected.new),
        keys=rows,
        silent=tuple(error.problem.subject for error in collected.silent),
    )
    write_result(done, recorded_report, text=text)
    fail_silent(collected)


def _is_confirmed(count: int, *, err: bool) -> bool:
    """Ask the user; an end of input is a no. err: ask on standard error."""
    try:
        return typer.confirm(f"Are these the hosts' own fingerprints? Add {count}", err=err)
    except typer.Abort:
        return False
