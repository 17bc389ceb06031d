"""`facts`: unconfirmed facts of the switches."""

from __future__ import annotations

from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line import values
from rocefort.base.command_line.help import DefaultGroup, documented
from rocefort.reports.output import write_result

cli = typer.Typer(
    cls=DefaultGroup,
    rich_markup_mode=None,
    help="List unconfirmed facts of the switches, and settle them.",
    epilog="rocefort facts heps\nrocefort facts probe leaf03 heps --connections connections.yaml",
)


@cli.command(
    DefaultGroup.default_command,
    **documented("rocefort facts heps", "rocefort facts list heps --format json"),
)
def list_(fabric: options.Fabric, form: options.TraceFormatted = options.TraceFormat.TEXT) -> None:
    """List unconfirmed facts of the switches and their commands.

    A fact is unconfirmed if no source states it for the switch model and release. `facts FABRIC` is
    short for it.
    """
    from rocefort.dialects.words import in_words
    from rocefort.rollout.facts.open_facts import facts_report, open_facts

    found = open_facts(fabric)
    text = form is options.TraceFormat.TEXT
    write_result(found, lambda found: facts_report(found, in_words), text=text)


@cli.command(
    **documented(
        "rocefort facts probe leaf03 heps --connections connections.yaml",
        "rocefort facts probe leaf03 heps --connections connections.yaml --time-limit 120",
    )
)
def probe(
    switch: Annotated[str, typer.Argument(help="Switch to probe.", **values.SWITCH)],
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, max=values.MOST, help="Time after which no more is tried (s)."
        ),
    ] = 600.0,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Try unconfirmed forms on one switch; commits nothing.

    Each form is typed into the candidate configuration, compared there and discarded. Numbers are
    read from displays and from the help of `?`. The answers are written to inventory/facts of the
    site, and count for switches of the same model and release. A switch with uncommitted changes or
    with a trial is refused.
    """
    from rocefort.fleet.connections import load_connections
    from rocefort.rollout.facts.open_facts import probe_report
    from rocefort.rollout.facts.probe import probe as probe_switch

    done = probe_switch(fabric, load_connections(connections), switch, time_limit)
    write_result(done, probe_report, text=form is options.TraceFormat.TEXT)
