"""Trials of a running lab: what breaks it at random, and what is measured in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort import options, output
from rocefort.commands.exit_codes import end

cli = typer.Typer()
Name = Annotated[str, typer.Argument(help="Of the lab.")]
LabNames = Annotated[list[str] | None, typer.Argument(help="Of labs; by default the only one.")]


@cli.command("opinions")
def lab_opinions(
    names: LabNames = None,
    failures: Annotated[
        bool, typer.Option("--failures", help="And after each single failure, mended again.")
    ] = False,
    recordings: Annotated[
        Path | None, typer.Option(help="Folder of Batfish's recorded answers.")
    ] = None,
    batfish: Annotated[
        str | None, typer.Option("--batfish", help="A Batfish service to ask: HOST:PORT.")
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare next hops: kernels, the embedded engine, Batfish."""
    from rocefort.models.results.lab_experiments import OpinionRow
    from rocefort.reports.lab_experiments import opinions_report, rows_json
    from rocefort.steps.fabric.verify import service_of
    from rocefort.steps.interrupts import stop_on_signals
    from rocefort.steps.lab.opinions import Batfish
    from rocefort.steps.lab.opinions import lab_opinions as compare
    from rocefort.steps.lab.twin import find_lab

    answers = Batfish.of(recordings, service_of(batfish))
    rows: list[OpinionRow] = []
    with stop_on_signals() as stop:
        for name in names or (None,):
            rows += compare(find_lab(name), answers, failures=failures, say=_print_note, stop=stop)
    if form is options.TraceFormat.TEXT:
        output.write_blocks(opinions_report(rows))
    else:
        typer.echo(rows_json(rows))
    end(failed=any(sum(row.differing.values()) for row in rows))


def _print_note(text: str) -> None:
    typer.echo(text, err=True)


@cli.command("chaos")
def lab_chaos(
    name: Name,
    seed: Annotated[int, typer.Option(min=0, help="The same seed breaks the same things.")] = 1,
    minutes: Annotated[float, typer.Option(min=0.0, help="No new round after so long.")] = 5.0,
    journal: Annotated[
        Path | None, typer.Option(help="Write JSON here, whole after each step.")
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Break and mend a twin at random.

    After each step its kernels are judged; it ends mended.
    """
    from rocefort.reports.lab_experiments import chaos_sum
    from rocefort.steps.interrupts import stop_on_signals
    from rocefort.steps.lab.chaos import ChaosReporter, run_chaos
    from rocefort.steps.lab.twin import find_lab

    text = form is options.TraceFormat.TEXT
    with stop_on_signals() as stop:
        told = ChaosReporter(typer.echo if text else _nothing, journal)
        found = run_chaos(find_lab(name), seed, minutes, stop, told)
    typer.echo(chaos_sum(found) if text else found.model_dump_json(indent=2))
    end(failed=found.failed)


def _nothing(text: str) -> None:
    """Say nothing: what is found is written at the end."""


From = Annotated[str | None, typer.Option("--from", help="A server; by default the first.")]
To = Annotated[str | None, typer.Option("--to", help="A server of another leaf.")]


@cli.command("failover")
def lab_failover(
    name: Name,
    source: From = None,
    target: To = None,
    flows: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 16,
    rate: Annotated[int, typer.Option(min=1, help="Packets a second, of each flow.")] = 250,
    limit: Annotated[
        float, typer.Option(min=0.0, help="Seconds that routes may take to rest after a fault.")
    ] = 60.0,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Measure how long flows lose packets, by fault.

    Links, a spine and bgpd are broken one after another under load.
    """
    from rocefort.reports.lab_experiments import failover_report
    from rocefort.steps.interrupts import stop_on_signals
    from rocefort.steps.lab.failover import FailoverOptions, measure_failover
    from rocefort.steps.lab.twin import find_lab

    with stop_on_signals() as stop:
        wish = FailoverOptions(flows, rate, limit)
        found = measure_failover(find_lab(name), source, target, wish, _print_note, stop)
    output.write_result(found, failover_report, text=form is options.TraceFormat.TEXT)


@cli.command("spread")
def lab_spread(
    name: Name,
    source: From = None,
    target: To = None,
    flows: Annotated[int, typer.Option(min=10, max=10000, help="How many.")] = 1000,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Count the flows that take each of several equal paths.

    They are RoCEv2-like flows of two servers, each from its own source port.
    """
    from rocefort.reports.lab_experiments import spread_report
    from rocefort.steps.lab.ecmp_spread import measure_spread
    from rocefort.steps.lab.twin import find_lab

    found = measure_spread(find_lab(name), source, target, flows)
    output.write_result(found, spread_report, text=form is options.TraceFormat.TEXT)
    end(failed=not found.fair)


@cli.command("grow")
def lab_grow(
    name: Name,
    fabric: Annotated[Path, typer.Argument(help="The larger fabric, as `expand` writes it.")],
) -> None:
    """Add to a running twin what a larger fabric has more.

    New switches run their day 0; what is there is not touched.
    """
    from rocefort.models.wording import count_of
    from rocefort.steps.lab.grow import grow_running
    from rocefort.steps.lab.twin import find_lab

    found = grow_running(find_lab(name), fabric)
    named = ", ".join((*found.switches, *found.servers)) or "no node"
    typer.echo(f"lab {name} has {named} more, and {count_of(found.cables, 'cable')}")
    typer.echo("what is there was not touched; `rocefort plan` and `apply` configure the rest")


@cli.command("load")
def lab_load(
    name: Name,
    command: Annotated[list[str], typer.Argument(help="After --: rocefort apply PLAN ..")],
    flows: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 24,
    rate: Annotated[int, typer.Option(min=1, help="Packets a second, of each flow.")] = 100,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Run a command while servers send; tell what was lost.

    And which BGP sessions were reset.
    """
    from functools import partial

    from rocefort.reports.lab_experiments import load_report
    from rocefort.steps.lab.failover import FailoverOptions
    from rocefort.steps.lab.twin import find_lab
    from rocefort.steps.lab.under_load import run_command, under_load

    wish = FailoverOptions(flows, rate)
    found, code = under_load(find_lab(name), wish, partial(run_command, command, name))
    output.write_result(found, load_report, text=form is options.TraceFormat.TEXT)
    raise typer.Exit(code)
