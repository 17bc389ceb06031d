"""`demo`: the whole workflow on emulated switches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options
from rocefort.base.command_line.help import Topic, documented
from rocefort.verification.batfish_service import announce_service

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort demo",
        "rocefort demo --rollout",
        topic=Topic.LAB,
    )
)
def demo(
    fabric: options.NamedFabric = Path("heps"),
    engine: options.VerificationEngine = options.EngineOption.AUTO,
    batfish: options.BatfishService = None,
    rollout: Annotated[
        bool,
        typer.Option("--rollout", help="Only the rollout: waves, a fault, a killed controller."),
    ] = False,
    on_twin: Annotated[
        bool,
        typer.Option("--lab", help="Run on a twin: real BGP, a gate, a fault, a rollback (root)."),
    ] = False,
) -> None:
    """Run the whole workflow once on emulated switches."""
    from rocefort.lab.demo.emulated_demo import run_demo, run_rollout_demo
    from rocefort.validators import engine_choice
    from rocefort.verification.verify import service_of

    if on_twin:
        from rocefort.lab.demo.twin_demo import run_lab_demo

        run_lab_demo(fabric, typer.echo)
    elif rollout:
        run_rollout_demo(fabric, typer.echo)
    else:
        announce_service(engine, batfish)
        run_demo(fabric, engine_choice.Engine(engine.value), service_of(batfish), typer.echo)
