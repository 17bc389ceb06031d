"""`lab`: a fabric of emulated switches to rehearse on."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import HelpedGroup, documented
from rocefort.base.command_line.verbosity import end
from rocefort.base.errors import BadInput
from rocefort.emulator.switch.personality import (
    CommitList,
    ForeignEdits,
    Personality,
    TrialMode,
    TrialPrompt,
    TrialStatus,
)
from rocefort.lab import experiment_commands, guest_commands
from rocefort.reports.output import write_result

cli = typer.Typer(
    cls=HelpedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Emulated switches and twins of a fabric to rehearse on.",
    epilog="rocefort lab cli heps --state lab --detach\nsudo rocefort lab up heps",
)
cli.add_typer(experiment_commands.cli)
cli.add_typer(guest_commands.cli)


class Accel(StrEnum):
    """Accelerator of the guests in QEMU."""

    AUTO = "auto"  # KVM where a probe has really booted a kernel
    TCG = "tcg"
    KVM = "kvm"


class Candidates(StrEnum):
    """Owner of a candidate configuration; the reference has one for each session."""

    OWN = "own"
    SHARED = "shared"


State = Annotated[
    Path,
    typer.Option(
        help="Directory for keys, known hosts, connections and configurations.", **values.DIR
    ),
]
Listen = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS:PORT",
        help="Listen address and first port, in order of names; port 0: free ports.",
    ),
]
OpenToOthers = Annotated[
    bool,
    typer.Option("--open-to-others", help="Allow a listen address that other hosts can reach."),
]
Trial = Annotated[
    TrialMode, typer.Option("--trial", help="Effect on a trial commit when its session ends.")
]
Persist = Annotated[
    bool, typer.Option("--persist/--no-persist", help="Support of `commit persist`.")
]
Commits = Annotated[
    CommitList, typer.Option(help="Visibility of a trial commit in the list of commits.")
]
Status = Annotated[
    TrialStatus, typer.Option(help="Content of the trial status; no-time hides the remaining time.")
]
Prompt = Annotated[
    TrialPrompt, typer.Option(help="Mark in the prompt during the session's own trial.")
]
Edits = Annotated[
    ForeignEdits, typer.Option(help="Treatment of edits by other sessions during a trial.")
]
Candidate = Annotated[Candidates, typer.Option(help="One candidate per session, or one for all.")]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SWITCH:NAME@WHAT",
        help="Fault to inject: SWITCH:NAME@WHAT; `rocefort lab faults` lists the names.",
    ),
]
Factory = Annotated[
    list[str] | None,
    typer.Option(
        help="Switch that starts out of its box: day 0 at its console comes first.",
        **values.SWITCH,
    ),
]
PowerLoss = Annotated[
    bool, typer.Option("--power-loss", help="Boot the switches from their saved configurations.")
]
Log = Annotated[
    Path | None,
    typer.Option(help="File for a log of the commands and actions of each switch.", **values.FILE),
]
TimeScale = Annotated[
    float,
    typer.Option(min=1, max=1000, help="Speed of the switches' timers, relative to real time."),
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Run in the background; return once the lab is ready.")
]


@cli.command(
    "cli",
    **documented(
        "rocefort lab cli heps",
        "rocefort lab cli heps --state lab --detach",
        "rocefort lab cli heps --time-scale 10 --log lab.log",
        "rocefort lab cli heps --factory leaf08 --detach",
    ),
)
def lab_cli(
    fabric: options.Fabric,
    state: State = Path("lab"),
    listen: Listen = "127.0.0.1:0",
    open_to_others: OpenToOthers = False,
    trial_mode: Trial = Personality.trial_mode,
    persist: Persist = True,
    commit_list: Commits = Personality.commit_list,
    trial_status: Status = Personality.trial_status,
    trial_prompt: Prompt = Personality.trial_prompt,
    foreign_edits: Edits = Personality.foreign_edits,
    candidate: Candidate = Candidates.OWN,
    fault: Faults = None,
    factory: Factory = None,
    power_loss: PowerLoss = False,
    log: Log = None,
    time_scale: TimeScale = 1,
    detached: Detach = False,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Run every switch as an emulated CLI over SSH.

    The lab listens on loopback and runs until Ctrl-C, or until `lab stop`.
    """
    from rocefort.emulator.options import LabOptions, read_listen
    from rocefort.lab.lab_cli import run_lab

    if open_to_others and time_scale != 1:
        what = "other users would take these timers for those of a switch"
        raise BadInput(what, where="--time-scale", how="leave one of the two out: --open-to-others")
    chosen = LabOptions(
        listen=read_listen(listen, others=open_to_others),
        personality=Personality(
            trial_mode=trial_mode,
            persist="present" if persist else "absent",
            commit_list=commit_list,
            trial_status=trial_status,
            trial_prompt=trial_prompt,
            foreign_edits=foreign_edits,
        ),
        candidate=candidate.value,
        faults=tuple(fault or ()),
        factory=tuple(factory or ()),
        power_loss=power_loss,
        keep=True,
        log=log,
        time_scale=time_scale,
    )
    text = form is options.TraceFormat.TEXT
    if detached:
        _detach(state, text=text)
    else:
        run_lab(fabric, state, chosen, partial(write_result, text=text))


def _detach(state: Path, *, text: bool) -> None:
    """Start this command again in its own session."""
    from rocefort.lab.lab_cli import detach_lab, started
    from rocefort.reports.actions import background_report

    lab = detach_lab(sys.argv[1:] if text else [*sys.argv[1:], "--format", "text"], state)
    if lab.code is None:
        write_result(started(lab, state), background_report, text=text)
        raise typer.Exit
    typer.echo(lab.text, nl=False, err=bool(lab.code))
    raise typer.Exit(lab.code)


@cli.command(
    "console",
    **documented(
        "rocefort lab console leaf09 day0.txt",
        "rocefort lab console leaf09 day0.txt --state lab",
    ),
)
def lab_console(
    switch: Annotated[str, typer.Argument(help="Name of the switch.", **values.SWITCH)],
    file: Annotated[
        Path, typer.Argument(help="Text to type, written by `day0 --out`.", **values.FILE)
    ],
    state: State = Path("lab"),
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Type a text at the console of a switch out of its box.

    The switch started with `lab cli --factory`. Every question gets the answer Y.
    """
    from rocefort.lab.lab_cli import type_at_console
    from rocefort.reports.actions import done_report

    done = type_at_console(state, switch, file)
    write_result(done, done_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    "stop",
    **documented(
        "rocefort lab stop",
        "rocefort lab stop --state lab",
    ),
)
def lab_stop(
    state: State = Path("lab"),
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """End the lab that `lab cli` runs with a directory."""
    from rocefort.base.actions import Done
    from rocefort.lab.lab_cli import stop_lab
    from rocefort.reports.actions import done_report

    stop_lab(state)
    done = Done(message=f"the lab in {state} has ended")
    write_result(done, done_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    "faults",
    **documented(
        "rocefort lab faults",
        "rocefort lab faults | grep commit",
    ),
)
def lab_faults(
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """List the faults that `lab cli` can inject."""
    from rocefort.emulator.options import faults_help
    from rocefort.lab.lab_report import fault_kinds, faults_report

    done = fault_kinds(faults_help())
    write_result(done, faults_report, text=form is options.TraceFormat.TEXT)


LabName = Annotated[
    str | None, typer.Option("--name", help="Name of the lab; by default the only one.")
]


@cli.command(
    "up",
    **documented(
        "sudo rocefort lab up heps",
        "sudo rocefort lab up heps --name rehearsal --guests transfer01,storage01",
    ),
)
def lab_up(
    fabric: options.Fabric,
    name: Annotated[
        str | None, typer.Option(help="Name of the lab; by default that of the fabric.")
    ] = None,
    bfd: Annotated[
        bool | None,
        typer.Option("--bfd/--no-bfd", help="Run BFD; by default up to 64 BGP sessions."),
    ] = None,
    other_frr: Annotated[
        bool, typer.Option("--other-frr", help="Accept another FRR release than the supported one.")
    ] = False,
    guests: Annotated[
        str, typer.Option(help="Servers that QEMU runs with Soft-RoCE, or all.", **values.SERVERS)
    ] = "",
    accel: Annotated[
        Accel, typer.Option(help="Accelerator of the guests; auto uses KVM if it works.")
    ] = Accel.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Bring up a twin of a fabric on this machine (Linux, root).

    Every switch is a network namespace with FRR, every cable a veth pair.
    """
    from rocefort.lab.bring_up import bring_up, one_lab
    from rocefort.lab.lab_report import status_report
    from rocefort.lab.twin.twin import TwinOptions

    chosen = TwinOptions(bfd=bfd, other_frr=other_frr, accel=accel.value)
    text = form is options.TraceFormat.TEXT
    twin = bring_up(fabric, name, chosen, partial(typer.echo, err=not text), guests)
    write_result(one_lab(twin.record.name), status_report, text=text)


@cli.command(
    "down",
    **documented(
        "sudo rocefort lab down heps",
        "sudo rocefort lab down rehearsal",
    ),
)
def lab_down(
    name: Annotated[str, typer.Argument(help="Name of the lab.")],
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Remove a twin, also an incomplete one."""
    from rocefort.base.actions import Done
    from rocefort.lab.bring_up import end_lab
    from rocefort.reports.actions import done_report

    end_lab(name)
    done = Done(message=f"lab {name} is down")
    write_result(done, done_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    "list",
    **documented(
        "sudo rocefort lab list",
        "sudo rocefort lab list | grep heps",
    ),
)
def lab_list(
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """List the twins on this machine."""
    from rocefort.lab.bring_up import all_labs
    from rocefort.lab.lab_report import Labs, labs_report

    done = Labs(labs=tuple(all_labs()))
    text = form is options.TraceFormat.TEXT
    write_result(done, lambda done: labs_report(done.labs), text=text)


@cli.command(
    "status",
    **documented(
        "sudo rocefort lab status",
        "sudo rocefort lab status heps",
    ),
)
def lab_status(
    name: Annotated[
        str | None, typer.Argument(help="Name of the lab; by default the only one.")
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Show the processes of a twin, running and failed."""
    from rocefort.lab.bring_up import one_lab
    from rocefort.lab.lab_report import status_report

    found = one_lab(name)
    write_result(found, status_report, text=form is options.TraceFormat.TEXT)
    end(failed=bool(found.wrong))


@cli.command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    **documented(
        "sudo rocefort lab exec leaf01 vtysh -c 'show bgp summary'",
        "sudo rocefort lab exec --name heps transfer01 ip route",
    ),
)
def lab_exec(
    node: Annotated[str, typer.Argument(help="Switch or server.")],
    command: Annotated[list[str], typer.Argument(help="Command with its arguments.")],
    name: LabName = None,
) -> None:
    """Run a command inside a switch or server.

    For example: lab exec leaf01 vtysh -c 'show bgp summary'.
    """
    from rocefort.lab.bring_up import find_lab

    own = command[1:] if command[0] == "--" else command  # as docker and kubectl take it
    raise typer.Exit(find_lab(name).execute(node, own))


@cli.command(
    "trace",
    **documented(
        "sudo rocefort lab trace transfer01 storage01",
        "sudo rocefort lab trace transfer01 storage01 --port 50000",
    ),
)
def lab_trace(
    source: Annotated[str, typer.Argument(help="Server, switch or address.")],
    destination: Annotated[str, typer.Argument(help="Server, switch or address.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="UDP source port.")] = 49152,
    name: LabName = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Trace a RoCEv2 flow through the kernels of a twin."""
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.lab_report import lab_trace_report
    from rocefort.lab.twin.status import trace

    found = trace(find_lab(name), source, destination, port)
    text = form is options.TraceFormat.TEXT
    write_result(found, lab_trace_report, text=text)
    end(failed=bool(found.stopped))


@cli.command(
    "snapshot",
    **documented(
        "sudo rocefort lab snapshot",
        "sudo rocefort lab snapshot --name heps > routes.json",
    ),
)
def lab_snapshot(name: LabName = None) -> None:
    """Print the routes and sessions of every switch as JSON."""
    from rocefort.lab.bring_up import find_lab
    from rocefort.lab.twin.status import snapshot_of

    output.write_json(snapshot_of(find_lab(name)))


@cli.command(
    "break",
    **documented(
        "sudo rocefort lab break heps",
        "sudo rocefort lab break heps link-down leaf03:100GE1/0/25",
    ),
)
def lab_break(
    name: Annotated[str, typer.Argument(help="Name of the lab.")],
    fault: Annotated[
        str, typer.Argument(help="Name of the fault; without a name, all are listed.")
    ] = "",
    where: Annotated[
        str,
        typer.Argument(help="Target: leaf03, leaf03:100GE1/0/25, with =N, or leaf03@LINE."),
    ] = "",
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Inject a fault into a twin.

    A cable, a switch, an MTU, bgpd, a command line: `lab break NAME` lists all.
    """
    from rocefort.base.actions import Done
    from rocefort.lab.bring_up import break_one
    from rocefort.lab.lab_report import fault_kinds, faults_report
    from rocefort.lab.twin.faults import faults_help
    from rocefort.reports.actions import done_report

    text = form is options.TraceFormat.TEXT
    if not fault:
        write_result(fault_kinds(faults_help()), faults_report, text=text)
        return
    cure = shlex.join(("rocefort", "lab", "mend", name))
    done = Done(message=f"broken: {break_one(name, fault, where)}; `{cure}` repairs it")
    write_result(done, done_report, text=text)


@cli.command(
    "mend",
    **documented(
        "sudo rocefort lab mend heps",
        "sudo rocefort lab mend heps all",
    ),
)
def lab_mend(
    name: Annotated[str, typer.Argument(help="Name of the lab.")],
    what: Annotated[str, typer.Argument(help="Only `all`: faults are repaired together.")] = "all",
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Repair all faults of `lab break` and `lab chaos`."""
    from rocefort.lab.bring_up import repair_faults, require_all
    from rocefort.lab.lab_report import RepairedFaults, repaired_report

    require_all(what)
    done = RepairedFaults(repaired=tuple(map(str, repair_faults(name))))
    write_result(done, repaired_report, text=form is options.TraceFormat.TEXT)
