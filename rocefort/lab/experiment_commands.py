"""Experiments in a running lab: random faults and measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_result

cli = typer.Typer()
Name = Annotated[str, typer.Argument(help="Name of the lab.")]
LabNames = Annotated[
    list[str] | None, typer.Argument(help="Names of labs; by default the only one.")
]
FLOWS = "Number of flows."
RATE = "Packets per second of each flow."


@cli.command(
    "opinions",
    **documented(
        "sudo rocefort lab opinions",
        "sudo rocefort lab opinions heps --failures --format json",
    ),
)
def lab_opinions(
    names: LabNames = None,
    failures: Annotated[
        bool,
        typer.Option("--failures", help="Compare also after each single failure, one at a time."),
    ] = False,
    recordings: Annotated[
        Path | None, typer.Option(help="Directory of recorded Batfish answers.", **values.DIR)
    ] = None,
    batfish: Annotated[
        str | None, typer.Option("--batfish", metavar="HOST:PORT", help="Batfish service.")
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare next hops of kernels, embedded engine and Batfish."""
    from rocefort.base.processes import stop_on_signals
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.experiments.opinions import Batfish
    from rocefort.lab.experiments.opinions import lab_opinions as compare
    from rocefort.lab.lab_report import OpinionRow, Opinions, opinions_report
    from rocefort.verification.verify import service_of

    answers = Batfish.of(recordings, service_of(batfish))
    rows: list[OpinionRow] = []
    with stop_on_signals() as stop:
        for name in names or (None,):
            rows += compare(find_lab(name), answers, failures=failures, say=_print_note, stop=stop)
    found = Opinions(rows=tuple(rows))
    text = form is options.TraceFormat.TEXT
    write_result(found, lambda found: opinions_report(found.rows), text=text)
    end(failed=any(sum(row.differing.values()) for row in rows), stopped=stop())


def _print_note(text: str) -> None:
    output.write_note(text)


@cli.command(
    "chaos",
    **documented(
        "sudo rocefort lab chaos heps",
        "sudo rocefort lab chaos heps --seed 7 --minutes 30 --journal chaos.json",
    ),
)
def lab_chaos(
    name: Name,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed; the same seed injects the same faults.")
    ] = 1,
    minutes: Annotated[
        float,
        typer.Option(
            metavar="MINUTES",
            min=0.0,
            max=values.MOST,
            help="Time after which no new round starts (min).",
        ),
    ] = 5.0,
    journal: Annotated[
        Path | None,
        typer.Option(help="File for the JSON result, rewritten after each step.", **values.FILE),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Inject and repair random faults in a twin.

    After each step the kernels are checked. At the end all faults are repaired.
    """
    from rocefort.base.processes import stop_on_signals
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.experiments.fault_injection import ChaosReporter, run_chaos
    from rocefort.lab.lab_report import chaos_sum
    from rocefort.reports.blocks import Code

    text = form is options.TraceFormat.TEXT
    with stop_on_signals() as stop:
        told = ChaosReporter(typer.echo if text else _nothing, journal)
        found = run_chaos(find_lab(name), seed, minutes, stop, told)
    write_result(found, lambda found: Code((chaos_sum(found),)), text=text)
    end(failed=found.failed, stopped=stop())


def _nothing(text: str) -> None:
    """Print nothing: the result is written at the end."""


From = Annotated[
    str | None,
    typer.Option("--from", metavar="SERVER", help="Source server; by default the first."),
]
To = Annotated[
    str | None, typer.Option("--to", metavar="SERVER", help="Destination server on another leaf.")
]


@cli.command(
    "failover",
    **documented(
        "sudo rocefort lab failover heps",
        "sudo rocefort lab failover heps --from transfer01 --to storage01 --flows 64",
    ),
)
def lab_failover(
    name: Name,
    source: From = None,
    target: To = None,
    flows: Annotated[int, typer.Option(min=1, max=1000, help=FLOWS)] = 16,
    rate: Annotated[int, typer.Option(min=1, help=RATE)] = 250,
    limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            max=values.MOST,
            help="Time limit for convergence after a fault (s).",
        ),
    ] = 60.0,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Measure the packet loss time of flows for each fault.

    Links, a spine and bgpd fail one after another under load.
    """
    from rocefort.base.processes import stop_on_signals
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.experiments.fault_injection import FailoverOptions, measure_failover
    from rocefort.lab.lab_report import failover_report

    with stop_on_signals() as stop:
        wish = FailoverOptions(flows, rate, limit)
        found = measure_failover(find_lab(name), source, target, wish, _print_note, stop)
    write_result(found, failover_report, text=form is options.TraceFormat.TEXT)
    end(failed=False, stopped=stop())


@cli.command(
    "spread",
    **documented(
        "sudo rocefort lab spread heps",
        "sudo rocefort lab spread heps --from transfer01 --to storage01 --flows 5000",
    ),
)
def lab_spread(
    name: Name,
    source: From = None,
    target: To = None,
    flows: Annotated[int, typer.Option(min=10, max=10000, help=FLOWS)] = 1000,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Count the flows on each equal-cost path.

    The flows resemble RoCEv2: two servers, one source port for each flow.
    """
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.experiments.ecmp_spread import measure_spread
    from rocefort.lab.lab_report import spread_report

    found = measure_spread(find_lab(name), source, target, flows)
    write_result(found, spread_report, text=form is options.TraceFormat.TEXT)
    end(failed=not found.fair)


@cli.command(
    "grow",
    **documented(
        "sudo rocefort lab grow heps inventory/heps",
        "sudo rocefort lab grow rehearsal inventory/larger/fabric.yaml",
    ),
)
def lab_grow(
    name: Name,
    fabric: Annotated[Path, typer.Argument(help="Larger fabric, written by `expand`.")],
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Add the new nodes of a larger fabric to a running twin.

    New switches get their day-0 configuration. Existing ones stay unchanged.
    """
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.grow_running import grow_running
    from rocefort.lab.lab_report import LabGrowth, lab_growth_report

    found = grow_running(find_lab(name), fabric)
    done = LabGrowth(
        lab=name,
        switches=tuple(found.switches),
        servers=tuple(found.servers),
        cables=found.cables,
    )
    write_result(done, lab_growth_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    "load",
    **documented(
        "sudo rocefort lab load heps -- rocefort apply plan.json",
        "sudo rocefort lab load heps --flows 64 -- sleep 60",
    ),
)
def lab_load(
    name: Name,
    command: Annotated[
        list[str], typer.Argument(help="Command after `--`: rocefort apply PLAN ..")
    ],
    flows: Annotated[int, typer.Option(min=1, max=1000, help=FLOWS)] = 24,
    rate: Annotated[int, typer.Option(min=1, help=RATE)] = 100,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Run a command under load and report lost packets.

    Also report the BGP sessions that were reset.
    """
    from functools import partial

    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.experiments.fault_injection import FailoverOptions
    from rocefort.lab.experiments.under_load import run_command, under_load
    from rocefort.lab.lab_report import load_report

    wish = FailoverOptions(flows, rate)
    found, code = under_load(find_lab(name), wish, partial(run_command, command, name))
    write_result(found, load_report, text=form is options.TraceFormat.TEXT)
    raise typer.Exit(code)
