"""`lab`: a fabric of emulated switches to rehearse on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort import options

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A fabric of emulated switches to rehearse on.",
)


@cli.command("cli")
def lab_cli(
    fabric: options.Fabric,
    state: Annotated[Path, typer.Option(help="Keys, known hosts, connections.")] = Path("lab"),
) -> None:
    """Run every switch of a fabric as an emulated CLI over SSH on loopback, until Ctrl-C."""
    from rocefort.steps.changing import run_lab

    run_lab(fabric, state, typer.echo)
