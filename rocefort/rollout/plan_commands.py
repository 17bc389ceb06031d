"""`plan`, `windows`, `plan-console`, `day0`, `replace`: prepare changes of switches."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_blocks, write_result

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@cli.command(
    **documented(
        "rocefort plan heps --connections connections.yaml",
        "rocefort plan heps --connections connections.yaml --out leaves.json --adopt leaf01",
        "rocefort plan heps --connections connections.yaml --base HEAD~1: --sign ~/.ssh/id_ed25519",
        "rocefort plan heps --connections connections.yaml --html plan.html",
        topic=Topic.CHANGE,
    )
)
def plan(
    fabric: options.Fabric,
    connections: options.ConnectionsFile,
    out: Annotated[Path, typer.Option(help="File for the sealed plan.", **values.FILE)] = Path(
        "plan.json"
    ),
    running: options.Running = None,
    limit: options.Limit = None,
    rotate: options.Rotate = None,
    base: Annotated[
        str,
        typer.Option(
            metavar="REVISION:", help="Intent of the last rollout, to detect drift: HEAD~1:."
        ),
    ] = "",
    adopt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SWITCH[:PATH]", help="Drift to overwrite: leaf01, or leaf01:PATH with *."
        ),
    ] = None,
    sign: options.SigningKey = None,
    html: options.PlanPage = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Seal a plan from the running to the intended state.

    Reads the running configuration of every switch, and changes nothing on it. The plan has for
    each switch the commands to the state of the fabric and those back, and the waves in which
    switches change: a canary first. A digest seals it: `apply` refuses a plan that was edited, a
    fabric that changed since, and a switch that no longer runs what was read. No plan is made while
    a switch is on trial, because it may go back to its earlier configuration.
    """
    from rocefort.fleet.connections import load_connections
    from rocefort.fleet.running_configs import running_of
    from rocefort.rollout.apply.policy_of_plan import shown_policy, windows_of
    from rocefort.rollout.plan.acceptance import refuse_unaccepted
    from rocefort.rollout.plan.make_plan import PlanOptions, make_plan, running_at_rest, signed
    from rocefort.rollout.plan.procedures import NeedsMaintenance
    from rocefort.rollout.planning.sealed_files import write_plan
    from rocefort.rollout.report.plan_report import PlanOutput, procedure_report, sealed_report
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    for note in refuse_unaccepted(fabric):
        output.write_note(note, err=form is not options.TraceFormat.TEXT)
    access = load_connections(connections)
    wishes = PlanOptions(rotate or (), base, adopt or (), limit or ())
    try:
        if running is None:
            texts = running_at_rest(fabric, access)
        else:
            texts = running_of(fabric, access, running, say=output.write_note)
        sealed = make_plan(fabric, access, texts, wishes)
    except NeedsMaintenance as error:
        procedures = (
            procedure_report(each.device, each.why, each.steps) for each in error.procedures
        )
        text = form is options.TraceFormat.TEXT
        write_blocks(*chain.from_iterable(procedures), err=not text)
        raise
    write_plan(sealed, out)
    policy = shown_policy(sealed)
    done = PlanOutput(
        file=str(out),
        signature=signed(out, sign),
        policy=policy,
        windows=windows_of(sealed, policy, access.time_scale),
        plan=sealed,
    )
    if html is not None:
        from rocefort.rollout.apply.pages import with_page

        done = with_page(done, html)
    write_result(done, sealed_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort windows plan.json",
        "rocefort windows plan.json --at 2027-03-28T01:30",
        topic=Topic.OPERATE,
    )
)
def windows(
    sealed: options.SealedPlan,
    connections: options.MaybeConnections = None,
    at: Annotated[
        str, typer.Option(metavar="TIME", help="Time of the begin, ISO 8601; now by default.")
    ] = "",
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Show whether a calendar holds the waves of a plan.

    Reads the calendar of the fabric and no switch. The exit code is 1 if a wave would wait.
    Connections name how fast the timers of a lab run.
    """
    from rocefort.base.clock import utc_now
    from rocefort.fleet.connections import load_connections
    from rocefort.rollout.apply.policy_of_plan import approval_policy, time_of, windows_of
    from rocefort.rollout.planning.sealed_files import read_plan
    from rocefort.rollout.report.plan_report import PlanWindows, plan_windows_report

    plan = read_plan(sealed)
    policy = approval_policy(plan)
    begin = time_of(at, policy) or utc_now()
    scale = load_connections(connections).time_scale if connections else 1.0
    done = PlanWindows(
        plan=plan.digest,
        at=begin.isoformat(timespec="seconds"),
        calendars=tuple(each.file for each in policy.calendars),
        windows=windows_of(plan, policy, scale, begin),
    )
    write_result(done, plan_windows_report, text=form is options.TraceFormat.TEXT)
    end(failed=any(each.reason for each in done.windows))


@cli.command(
    "plan-console",
    **documented(
        "rocefort plan-console plan.json",
        "rocefort plan-console plan.json --device leaf01",
        topic=Topic.CHANGE,
    ),
)
def plan_console(
    sealed: Annotated[Path, typer.Argument(metavar="PLAN", help="Sealed plan, written by `plan`.")],
    device: Annotated[
        list[str] | None,
        typer.Option(help="Only this switch; by default all that change.", **values.SWITCH),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Print the console commands that undo a plan.

    Keep them on paper: they work without Rocefort.
    """
    from rocefort.rollout.journal.pending_trials import persist_id
    from rocefort.rollout.plan.make_plan import devices_of
    from rocefort.rollout.plan.procedures import console_procedure
    from rocefort.rollout.planning.sealed_files import read_plan
    from rocefort.rollout.report.plan_report import Procedures, procedures_report

    approved = read_plan(sealed)
    persist = persist_id(approved.digest)
    names = devices_of(approved, device or ())
    rollbacks = tuple(console_procedure(approved, name, persist) for name in names)
    done = Procedures(procedures=rollbacks)
    write_result(done, procedures_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort day0 heps leaf01",
        "rocefort day0 heps leaf01 --connections connections.yaml --password netops=env:PASSWORD",
        "rocefort day0 heps leaf01 --password netops=env:PASSWORD --with-secrets --out day0.txt",
        topic=Topic.OPERATE,
    )
)
def day0(
    fabric: options.NamedFabric,
    device: Annotated[str, typer.Argument(help="Name of the new switch.", **values.SWITCH)],
    connections: options.MaybeConnections = None,
    password: options.Passwords = None,
    with_secrets: Annotated[bool, typer.Option(help="Print the passwords themselves.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the console text alone, readable by its owner only.", **values.FILE
        ),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Print the console commands of a new switch."""
    from rocefort.rollout.plan.procedures import console_file, day0_steps, installation
    from rocefort.rollout.report.plan_report import Procedures, procedure_of, procedures_report

    switch = installation(fabric, device, connections)
    steps = day0_steps(switch, password or [], with_secrets=with_secrets)
    if out is not None:
        steps = (console_file(steps[0], out), *steps[1:])
    done = Procedures(procedures=(procedure_of(f"day 0 of {switch.title}", steps),))
    write_result(done, procedures_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort replace heps leaf01 --connections connections.yaml",
        "rocefort replace heps spine02 --connections lab/connections.yaml",
        topic=Topic.OPERATE,
    )
)
def replace(
    fabric: options.NamedFabric,
    device: Annotated[str, typer.Argument(help="Name of the failed switch.", **values.SWITCH)],
    connections: options.ConnectionsFile,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Print the steps that replace a failed switch."""
    from rocefort.rollout.plan.procedures import installation, replace_steps
    from rocefort.rollout.report.plan_report import Procedures, procedure_of, procedures_report

    switch = installation(fabric, device, connections)
    steps = replace_steps(switch, connections)
    done = Procedures(procedures=(procedure_of(f"a replacement of {switch.title}", steps),))
    write_result(done, procedures_report, text=form is options.TraceFormat.TEXT)
