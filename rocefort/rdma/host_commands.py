"""`host`: settings of servers that must agree with their leaf ports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import HelpedGroup, documented
from rocefort.reports.output import write_result

cli = typer.Typer(
    cls=HelpedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Write the settings of servers, and check them over SSH.",
    epilog="rocefort host render heps --out servers\n"
    "rocefort host check heps --connections connections.yaml",
)


Connections = Annotated[
    Path | None,
    typer.Option(
        "--connections",
        envvar="ROCEFORT_CONNECTIONS",
        help="YAML file: address and credentials of each server.",
        **values.FILE,
    ),
]
Servers = Annotated[
    list[str] | None, typer.Option("--server", help="Only this server.", **values.SERVER)
]


@cli.command(
    **documented(
        "rocefort host render heps --server storage01",
        "rocefort host render heps --out servers",
    )
)
def render(
    fabric: options.Fabric,
    server: Servers = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory for one directory per server.", **values.DIR)
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write the script and the systemd units of every server."""
    from rocefort.design.results import RenderedTexts, notes_report
    from rocefort.rdma.host_settings import plans_of, rendered_text, write_hosts

    _, plans = plans_of(fabric, server or ())
    text = form is options.TraceFormat.TEXT
    if out is not None:
        done = RenderedTexts(notes=tuple(write_hosts(plans, out)))
        write_result(done, notes_report, text=text)
        return
    texts = {name: rendered_text(plan) for name, plan in plans.items()}
    if text:
        typer.echo("".join(texts.values()), nl=False)
    else:
        output.write_json(RenderedTexts(texts=texts))


@cli.command(
    **documented(
        "rocefort host check heps --connections connections.yaml",
        "rocefort host check heps --connections connections.yaml --server storage01",
        "rocefort host check heps --outputs outputs",
    )
)
def check(
    fabric: options.Fabric,
    connections: Connections = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            help="Directory of outputs to read in place of the servers: SERVER.txt,"
            " SERVER.mlnx_qos.txt, SERVER.ethtool-g.txt, SERVER.ip-addr.txt.",
            **values.DIR,
        ),
    ] = None,
    server: Servers = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare each server with its leaf port; changes nothing.

    Reads the servers over SSH. With --outputs it contacts none, and reads outputs that a person
    kept: of `mlnx_qos -i NIC`, `ethtool -g NIC` and `ip addr`. What no file shows is not judged.
    """
    from rocefort.base.errors import BadInput
    from rocefort.verification.findings import write_findings

    if outputs is not None:
        from rocefort.rdma.host_settings import check_outputs

        found = check_outputs(fabric, outputs, server or ())
    elif connections is not None:
        from rocefort.fleet.connections import load_connections
        from rocefort.rdma.server_readings import check_servers

        found = check_servers(fabric, load_connections(connections), server or ())
    else:
        raise BadInput("neither --connections nor --outputs is given", how="give one of them")
    write_findings(found.report, form.value, str(fabric))
    for note in found.notes:
        output.write_note(note, err=form is not options.TraceFormat.TEXT)
    if found.exit_code:
        raise typer.Exit(found.exit_code)
