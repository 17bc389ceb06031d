"""`plan`, `apply`, `day0`, `replace`: what reaches the switches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort import options

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command()
def plan(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    out: Annotated[Path, typer.Option(help="Where the sealed plan goes.")] = Path("plan.json"),
    running: options.Running = None,
    rotate: options.Rotate = None,
) -> None:
    """Seal a plan that takes what runs to what is intended, in waves."""
    from rocefort.fleet.connections import load_connections
    from rocefort.reports.changes import changes_text, plan_text
    from rocefort.rollout.plan import write_plan
    from rocefort.steps.changing import make_plan, running_of

    access = load_connections(connections)
    sealed = make_plan(fabric, access, running_of(fabric, access, running), rotate or ())
    write_plan(sealed, out)
    typer.echo(changes_text(sealed.changes))
    typer.echo(plan_text(sealed) + f"sealed in {out}")


@cli.command()
def apply(
    sealed: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan that `plan` has sealed.")],
    connections: options.ConnectionsFile,
    journal: options.Journal = None,
) -> None:
    """Carry out a sealed plan, wave by wave, or roll back."""
    from rocefort.fleet.connections import load_connections
    from rocefort.reports.changes import WaveLines, applied_text
    from rocefort.rollout.plan import read_plan
    from rocefort.steps.changing import apply_plan

    applied = apply_plan(
        read_plan(sealed),
        load_connections(connections),
        journal or sealed.with_name(sealed.name + ".journal"),
        [WaveLines(typer.echo)],
    )
    for line in applied_text(applied):
        typer.echo(line)
    if applied.exit_code:
        raise typer.Exit(applied.exit_code)


@cli.command()
def day0(
    fabric: options.Fabric,
    device: Annotated[str, typer.Argument(help="The new switch.")],
    connections: options.MaybeConnections = None,
    password: options.Passwords = None,
    with_secrets: Annotated[bool, typer.Option(help="Print the passwords themselves.")] = False,
) -> None:
    """Print what to type on the console of a new switch."""
    from rocefort.reports.instructions import instructions_text
    from rocefort.steps.day0 import day0_steps, installation

    switch = installation(fabric, device, connections)
    steps = day0_steps(switch, password or [], with_secrets=with_secrets)
    typer.echo(instructions_text(f"day 0 of {switch.title}", steps), nl=False)


@cli.command()
def replace(
    fabric: options.Fabric,
    device: Annotated[str, typer.Argument(help="The failed switch.")],
    connections: options.ConnectionsFile,
) -> None:
    """Print the steps that replace a failed switch."""
    from rocefort.reports.instructions import instructions_text
    from rocefort.steps.day0 import installation, replace_steps

    switch = installation(fabric, device, connections)
    steps = replace_steps(switch, connections)
    typer.echo(instructions_text(f"a replacement of {switch.title}", steps), nl=False)
