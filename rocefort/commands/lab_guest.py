"""`lab guest`: the small Linux that QEMU runs as a server of a twin."""

from __future__ import annotations

import typer

cli = typer.Typer(
    name="guest",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Soft-RoCE guests: servers of a twin that QEMU runs.",
)


@cli.callback()
def guest() -> None:
    """Soft-RoCE guests: servers of a twin that QEMU runs."""


@cli.command("build")
def guest_build() -> None:
    """Build the guests' image from Debian's packages.

    About 90 MB are downloaded; nothing is installed here. The newest two images are kept.
    """
    from rocefort.steps.lab.guests import build_image

    image = build_image(typer.echo)
    typer.echo(f"guest with kernel {image.kernel}, {len(image.packages)} packages")
