"""`lab`: a fabric of emulated switches to rehearse on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocefort import options

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A fabric of emulated switches to rehearse on.",
)


class Trial(StrEnum):
    """What a plain trial does when its session ends; which of the two a release does is unknown."""

    SURVIVES = "survives"
    DIES = "dies-with-session"


@cli.command("cli")
def lab_cli(
    fabric: options.Fabric,
    state: Annotated[
        Path, typer.Option(help="Keys, known hosts, connections, what the switches run.")
    ] = Path("lab"),
    listen: Annotated[
        str, typer.Option(help="Address and first port, in order of names; port 0: free ones.")
    ] = "127.0.0.1:0",
    open_to_others: Annotated[
        bool, typer.Option("--open-to-others", help="Allow an address that others can reach.")
    ] = False,
    trial: Annotated[
        Trial, typer.Option(help="What a trial does when its session ends.")
    ] = Trial.SURVIVES,
    persist: Annotated[
        bool, typer.Option("--persist/--no-persist", help="Whether `commit persist` is there.")
    ] = True,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="SWITCH:NAME@WHAT; `rocefort lab faults` lists the names."),
    ] = None,
    power_loss: Annotated[
        bool, typer.Option("--power-loss", help="Switches come up with what they had saved.")
    ] = False,
) -> None:
    """Run every switch of a fabric as an emulated CLI over SSH on loopback, until Ctrl-C."""
    from rocefort.steps.emulating import run_lab
    from rocefort.steps.lab_options import LabOptions, read_listen

    chosen = LabOptions(
        listen=read_listen(listen, others=open_to_others),
        trial="survives" if trial is Trial.SURVIVES else "dies-with-session",
        persist=persist,
        faults=tuple(fault or ()),
        power_loss=power_loss,
        keep=True,
    )
    run_lab(fabric, state, chosen, typer.echo)


@cli.command("faults")
def lab_faults() -> None:
    """List what can go wrong in a lab, by name."""
    from rocefort.steps.lab_options import fault_help

    fault_help(typer.echo)
