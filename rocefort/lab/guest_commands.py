"""`lab guest`: the small Linux image that QEMU runs as a server of a twin."""

from __future__ import annotations

from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line.help import HelpedGroup, documented
from rocefort.reports.output import write_result

cli = typer.Typer(
    cls=HelpedGroup,
    name="guest",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Manage Soft-RoCE guests, the servers of a twin in QEMU.",
    epilog="rocefort lab guest build\nrocefort lab guest build --help",
)


@cli.callback()
def guest() -> None:
    """Manage Soft-RoCE guests, the servers of a twin in QEMU."""


@cli.command(
    "build",
    **documented(
        "rocefort lab guest build",
        "rocefort lab guest build --transfers",
    ),
)
def guest_build(
    transfers: Annotated[
        bool,
        typer.Option("--transfers", help="Add iperf, lftp, ProFTPD, rsync and scp (RDMA suite)."),
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Build the image of the guests from Debian packages.

    Downloads about 90 MB and installs nothing here. Keeps the newest two images.
    """
    from functools import partial

    from rocefort.lab.guest_connections import build_image
    from rocefort.lab.lab_report import GuestImage, guest_report

    text = form is options.TraceFormat.TEXT
    image = build_image(partial(typer.echo, err=not text), transfers=transfers)
    done = GuestImage(kernel=image.kernel, packages=len(image.packages))
    write_result(done, guest_report, text=text)
