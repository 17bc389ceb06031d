"""`lab`: a fabric of emulated switches to rehearse on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rocefort import options, output
from rocefort.commands import lab_experiments, lab_guest
from rocefort.commands.exit_codes import end
from rocefort.errors import BadInput
from rocefort.lab.switch.personality import (
    CommitList,
    ForeignEdits,
    Personality,
    TrialMode,
    TrialPrompt,
    TrialStatus,
)

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A fabric of emulated switches to rehearse on.",
)
cli.add_typer(lab_experiments.cli)
cli.add_typer(lab_guest.cli)


class Accel(StrEnum):
    """What runs the instructions of guests."""

    AUTO = "auto"  # KVM where a probe has really booted a kernel
    TCG = "tcg"
    KVM = "kvm"


class Candidates(StrEnum):
    """Whose uncommitted lines are in a candidate; the reference has one for each session."""

    OWN = "own"
    SHARED = "shared"


State = Annotated[Path, typer.Option(help="Keys, known hosts, connections, what the switches run.")]
Listen = Annotated[
    str, typer.Option(help="Address and first port, in order of names; port 0: free ones.")
]
OpenToOthers = Annotated[
    bool, typer.Option("--open-to-others", help="Allow an address that others can reach.")
]
Trial = Annotated[
    TrialMode, typer.Option("--trial", help="What a plain trial does when its session ends.")
]
Persist = Annotated[
    bool, typer.Option("--persist/--no-persist", help="Whether `commit persist` is there.")
]
Commits = Annotated[
    CommitList, typer.Option(help="Whether the list of commits shows one that is on trial.")
]
Status = Annotated[
    TrialStatus, typer.Option(help="What the trial's status shows: no-time hides what is left.")
]
Prompt = Annotated[TrialPrompt, typer.Option(help="Mark of the prompt during one's own trial.")]
Edits = Annotated[ForeignEdits, typer.Option(help="Lines of other sessions during a trial.")]
Candidate = Annotated[
    Candidates, typer.Option(help="A candidate for each session, or one for all.")
]
Faults = Annotated[
    list[str] | None,
    typer.Option(help="SWITCH:NAME@WHAT; `rocefort lab faults` lists the names."),
]
PowerLoss = Annotated[
    bool, typer.Option("--power-loss", help="Switches come up with what they had saved.")
]
Log = Annotated[
    Path | None, typer.Option(help="Add what each switch is told and does to this file.")
]
TimeScale = Annotated[
    float, typer.Option(min=1, max=1000, help="How fast the switches' timers run.")
]


@cli.command("cli")
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
    power_loss: PowerLoss = False,
    log: Log = None,
    time_scale: TimeScale = 1,
) -> None:
    """Run every switch as an emulated CLI over SSH. On loopback, until Ctrl-C."""
    from rocefort.steps.lab.cli import run_lab
    from rocefort.steps.lab.options import LabOptions, read_listen

    if open_to_others and time_scale != 1:
        what = "others would take these timers for those of a switch"
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
        power_loss=power_loss,
        keep=True,
        log=log,
        time_scale=time_scale,
    )
    run_lab(fabric, state, chosen, typer.echo)


@cli.command("faults")
def lab_faults() -> None:
    """List what can go wrong in a lab, by name."""
    from rocefort.reports.lab import faults_report
    from rocefort.steps.lab.options import faults_help

    output.write_blocks(faults_report(faults_help()))


LabName = Annotated[
    str | None, typer.Option("--name", help="Which lab; not needed while there is only one.")
]


@cli.command("up")
def lab_up(
    fabric: options.Fabric,
    name: Annotated[str | None, typer.Option(help="Of the lab; the fabric's by default.")] = None,
    bfd: Annotated[
        bool | None, typer.Option("--bfd/--no-bfd", help="By default up to 64 BGP sessions.")
    ] = None,
    other_frr: Annotated[
        bool, typer.Option("--other-frr", help="Try another FRR than the one it is made for.")
    ] = False,
    guests: Annotated[
        str, typer.Option(help="Servers that QEMU runs with Soft-RoCE: names, or all.")
    ] = "",
    accel: Annotated[Accel, typer.Option(help="What runs the guests.")] = Accel.AUTO,
) -> None:
    """Bring up a twin of a fabric on this machine (Linux, root).

    Every switch is a network namespace with FRR, every cable a veth pair.
    """
    from rocefort.lab.twin.twin import TwinOptions
    from rocefort.reports.lab import status_report
    from rocefort.steps.lab.twin import bring_up, one_lab

    chosen = TwinOptions(bfd=bfd, other_frr=other_frr, accel=accel.value)
    twin = bring_up(fabric, name, chosen, typer.echo, guests)
    output.write_blocks(status_report(one_lab(twin.record.name)))


@cli.command("down")
def lab_down(name: str) -> None:
    """Remove a twin by its name, whole or left behind."""
    from rocefort.steps.lab.twin import end_lab

    end_lab(name)
    typer.echo(f"lab {name} is down")


@cli.command("list")
def lab_list() -> None:
    """List the twins on this machine."""
    from rocefort.reports.lab import labs_report
    from rocefort.steps.lab.twin import all_labs

    output.write_blocks(*labs_report(all_labs()))


@cli.command("status")
def lab_status(name: Annotated[str | None, typer.Argument(help="Of the lab.")] = None) -> None:
    """Tell what runs in a twin, and what does not."""
    from rocefort.reports.lab import status_report
    from rocefort.steps.lab.twin import one_lab

    found = one_lab(name)
    output.write_blocks(status_report(found))
    end(failed=bool(found.wrong))


@cli.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
def lab_exec(node: str, command: list[str], name: LabName = None) -> None:
    """Run a command inside a switch or server.

    For example: lab exec leaf01 vtysh -c 'show bgp summary'.
    """
    from rocefort.steps.lab.twin import find_lab

    raise typer.Exit(find_lab(name).execute(node, command))


@cli.command("trace")
def lab_trace(
    source: str,
    destination: str,
    port: Annotated[int, typer.Option(min=1, max=65535, help="UDP source port.")] = 49152,
    name: LabName = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Follow a RoCEv2 flow through the kernels of a twin.

    Its ends are servers, switches or addresses.
    """
    from rocefort.lab.twin.traffic.trace import trace
    from rocefort.reports.lab import lab_trace_report
    from rocefort.steps.lab.twin import find_lab

    found = trace(find_lab(name), source, destination, port)
    text = form is options.TraceFormat.TEXT
    output.write_result(found, lab_trace_report, text=text)
    end(failed=bool(found.stopped))


@cli.command("snapshot")
def lab_snapshot(name: LabName = None) -> None:
    """Print routes and sessions of every switch, as JSON."""
    from rocefort.lab.twin.status import snapshot_of
    from rocefort.steps.lab.twin import find_lab

    typer.echo(snapshot_of(find_lab(name)).model_dump_json(indent=2))


@cli.command("break")
def lab_break(
    name: Annotated[str, typer.Argument(help="Of the lab.")],
    fault: Annotated[str, typer.Argument(help="Without one, all are listed.")] = "",
    where: Annotated[
        str, typer.Argument(help="leaf01, leaf01:100GE1/0/25, with =N, or leaf01@LINE.")
    ] = "",
) -> None:
    """Break something in a twin on purpose.

    A cable, a switch, an MTU, bgpd, a command line: `lab break NAME` lists all.
    """
    from rocefort.lab.twin.faults import faults_help
    from rocefort.reports.lab import faults_report
    from rocefort.steps.lab.twin import break_one

    if not fault:
        output.write_blocks(faults_report(faults_help()))
        return
    typer.echo(f"broken: {break_one(name, fault, where)}; `rocefort lab mend {name}` mends it")


@cli.command("mend")
def lab_mend(
    name: Annotated[str, typer.Argument(help="Of the lab.")],
    what: Annotated[str, typer.Argument(help="Everything: faults mend together.")] = "all",
) -> None:
    """Mend all that `lab break` and `lab chaos` have broken."""
    from rocefort.steps.lab.twin import repair_faults, require_all

    require_all(what)
    mended = repair_faults(name)
    typer.echo("\n".join(f"mended: {each}" for each in mended) or "nothing is broken on purpose")
