"""`lab guest`: the small Linux image that QEMU runs as a server of a twin."""

from __future__ import annotations

import typer

cli = typer.Typer(
    name="guest",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Manage Soft-RoCE guests, the servers of a twin in QEMU.",
)


@cli.callback()
def guest() -> None:
    """Manage Soft-RoCE guests, the servers of a twin in QEMU."""


@cli.command("build")
def guest_build() -> None:
    """Build the image of the guests from Debian packages.

    Downloads about 90 MB and installs nothing here. Keeps the newest two images.
    """
    from rocefort.steps.lab.guests import build_image

    image = build_image(typer.echo)
    typer.echo(f"guest with kernel {image.kernel}, {len(image.packages)} packages")
