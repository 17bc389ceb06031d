"""Commands of a sealed plan: apply, resume, status, pause, abort, approve, rollback, history."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.reports.output import write_blocks, write_result
from rocefort.rollout.run_output import carry_out, follow_run

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

ApprovalWait = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0,
        max=values.MOST,
        help="Time to wait for an approval before the run pauses (s).",
    ),
]
BreakGlass = Annotated[
    str, typer.Option(metavar="REASON", help="Skip approvals; the reason is recorded.")
]
EachWave = Annotated[
    bool, typer.Option("--approve-each-wave", help="Wait for `rocefort approve` before every wave.")
]
RequireApproval = Annotated[
    bool,
    typer.Option(
        "--require-approval", help="As --approve-each-wave, but not by the plan's author."
    ),
]
ApprovalHours = Annotated[
    float,
    typer.Option(
        metavar="HOURS",
        min=0,
        max=values.MOST,
        help="Validity of an approval (h); 0: the value of the fabric.",
    ),
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Run in the background; return once the run has begun.")
]
Follow = Annotated[bool, typer.Option("--follow", help="Print events until the run ends.")]
AllowUnhealthy = Annotated[
    bool,
    typer.Option(
        "--allow-unhealthy", help="Proceed although health checks already failed before the wave."
    ),
]

AllowUnmeasured = Annotated[
    str,
    typer.Option(
        metavar="REASON",
        help="Apply waves whose RDMA gate the fabric's rdma keys do not permit, without it; the "
        "reason is recorded.",
    ),
]

OutsideWindow = Annotated[
    str,
    typer.Option(
        metavar="REASON",
        help="Begin waves that a calendar holds, each with an approval by another person; the "
        "reason is recorded.",
    ),
]

Again = Annotated[
    bool, typer.Option("--again", help="Apply a plan although it was rolled back before.")
]
PolicyBase = Annotated[
    str,
    typer.Option(
        metavar="REVISION:",
        help="Revision whose policy applies; by default the one before the change.",
    ),
]


@cli.command(
    **documented(
        "rocefort apply plan.json --connections connections.yaml",
        "rocefort apply plan.json --connections connections.yaml --approve-each-wave --detach",
        "rocefort apply plan.json --connections connections.yaml --html rollout.html",
        topic=Topic.OPERATE,
    )
)
def apply(
    sealed: options.SealedPlan,
    connections: options.ConnectionsFile,
    journal: options.Journal = None,
    progress: options.ProgressShown = options.ProgressOption.AUTO,
    approve_each_wave: EachWave = False,
    require_approval: RequireApproval = False,
    approval_hours: ApprovalHours = 0,
    approval_wait: ApprovalWait = 0,
    allowed_signers: options.AllowedSigners = None,
    break_glass: BreakGlass = "",
    allow_unmeasured: AllowUnmeasured = "",
    outside_window: OutsideWindow = "",
    drained: options.Drained = None,
    allow_unhealthy: AllowUnhealthy = False,
    base: PolicyBase = "",
    detached: Detach = False,
    again: Again = False,
    html: options.RolloutPage = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Apply a sealed plan wave by wave; roll back on failure.

    The exit code is 5 if an operator stops it (pause, abort, Ctrl-C), or if a wave waits for an
    approval, for its window, or for the time when its RDMA gate may load servers.
    """
    from rocefort.rollout.apply.operate import refuse_second_controller

    refuse_second_controller(sealed, connections)
    _note_earlier_end(sealed, journal, again=again)
    if detached:
        _detach(sealed, journal, form)
        return
    from rocefort.rollout.controller.config import ApplyOptions

    chosen = ApplyOptions(
        each_wave=approve_each_wave,
        required=require_approval,
        expires_h=approval_hours,
        signers=allowed_signers,
        allow_sick=allow_unhealthy,
        base=base,
        approval_timeout_s=approval_wait,
        break_glass=break_glass,
        unmeasured=allow_unmeasured,
        outside=outside_window,
        drained=tuple(drained or ()),
    )
    carry_out((sealed, journal, html), connections, (progress, form), chosen)


@cli.command(
    **documented(
        "rocefort resume plan.json --connections connections.yaml",
        "rocefort resume plan.json --connections connections.yaml --detach",
        topic=Topic.OPERATE,
    )
)
def resume(
    sealed: options.SealedPlan,
    connections: options.ConnectionsFile,
    journal: options.Journal = None,
    progress: options.ProgressShown = options.ProgressOption.AUTO,
    approval_wait: ApprovalWait = 0,
    break_glass: BreakGlass = "",
    allow_unmeasured: AllowUnmeasured = "",
    outside_window: OutsideWindow = "",
    drained: options.Drained = None,
    detached: Detach = False,
    html: options.RolloutPage = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Resume a paused or interrupted rollout."""
    from rocefort.rollout.apply.operate import refuse_second_controller

    refuse_second_controller(sealed, connections)
    if detached:
        _detach(sealed, journal, form)
        return
    from rocefort.rollout.controller.config import ApplyOptions

    chosen = ApplyOptions(
        resume=True,
        approval_timeout_s=approval_wait,
        break_glass=break_glass,
        unmeasured=allow_unmeasured,
        outside=outside_window,
        drained=tuple(drained or ()),
    )
    carry_out((sealed, journal, html), connections, (progress, form), chosen)


@cli.command(
    **documented(
        "rocefort status plan.json",
        "rocefort status plan.json --follow",
        "rocefort status plan.json --html rollout.html",
        topic=Topic.OPERATE,
    )
)
def status(
    sealed: options.SealedPlan,
    journal: options.Journal = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
    follow: Follow = False,
    html: options.RolloutPage = None,
) -> None:
    """Show the state of a rollout from its journal.

    Takes no lock, and writes only the page. With --follow the page is renewed until the run ends.
    """
    if follow:
        follow_run(sealed, journal, form, html)
        return
    from rocefort.rollout.apply.operate import named_journal, of_rehearsal, status_of_plan
    from rocefort.rollout.apply.policy_of_plan import policy_of_run
    from rocefort.rollout.planning.sealed_files import read_plan
    from rocefort.rollout.report.status_report import status_output, status_report

    plan = read_plan(sealed)
    status = status_of_plan(plan, named_journal(sealed, journal))
    policy = policy_of_run(plan, status.progress.history)
    status = replace(status, rehearsal=of_rehearsal(sealed), policy=policy)
    if html is not None:
        from rocefort.rollout.apply.pages import write_rollout_page
        from rocefort.rollout.journal.run_directory import RunDirectory

        write_rollout_page(plan, RunDirectory.of(sealed, journal), html)
        output.write_note(f"page: {html}")
    if form is options.TraceFormat.JSON:
        output.write_json(status_output(status))
    else:
        write_blocks(*status_report(status))
    end(failed=bool(status.journal.damage))


@cli.command(
    **documented(
        "rocefort pause plan.json",
        "rocefort pause plan.json --journal plan.json.journal",
        topic=Topic.OPERATE,
    )
)
def pause(
    sealed: options.SealedPlan,
    journal: options.Journal = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Pause a rollout before its next wave."""
    from rocefort.base.actions import Done
    from rocefort.reports.actions import done_report
    from rocefort.rollout.apply.operate import ask_to_end

    done = Done(message=ask_to_end(sealed, journal, back=False))
    write_result(done, done_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort abort plan.json",
        "rocefort abort plan.json --journal plan.json.journal",
        topic=Topic.OPERATE,
    )
)
def abort(
    sealed: options.SealedPlan,
    journal: options.Journal = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Roll back the current wave and stop."""
    from rocefort.base.actions import Done
    from rocefort.reports.actions import done_report
    from rocefort.rollout.apply.operate import ask_to_end

    done = Done(message=ask_to_end(sealed, journal, back=True))
    write_result(done, done_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort approve plan.json --wave canary",
        "rocefort approve plan.json --wave canary --by ops@example.org --key ~/.ssh/id_ed25519",
        topic=Topic.OPERATE,
    )
)
def approve(
    sealed: options.SealedPlan,
    wave: Annotated[str, typer.Option(help="Name of the wave, as in the plan.", **values.WAVE)],
    journal: options.Journal = None,
    by: Annotated[
        str, typer.Option(metavar="NAME", help="Approver, one of the allowed signers.")
    ] = "",
    key: Annotated[
        Path | None, typer.Option(help="SSH key that signs the approval.", **values.FILE)
    ] = None,
    must_be_rehearsed: Annotated[
        bool, typer.Option("--require-rehearsal", help="Refuse without a rehearsal that passed.")
    ] = False,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Approve the wave for which a rollout waits."""
    from rocefort.rollout.apply.operate import (
        give_approval,
        named_journal,
        of_rehearsal,
        status_of_plan,
    )
    from rocefort.rollout.apply.policy_of_plan import policy_of_run
    from rocefort.rollout.planning.sealed_files import read_plan
    from rocefort.rollout.report.plan_report import Approval, approval_report

    rehearsal = of_rehearsal(sealed, required=must_be_rehearsed)
    given = give_approval(sealed, journal, wave, by, key)
    plan, file = read_plan(sealed), named_journal(sealed, journal)
    policy = policy_of_run(plan, status_of_plan(plan, file).progress.history)
    done = Approval(
        plan=given.plan,
        wave=given.wave,
        by=given.by,
        outside=given.outside,
        policy=policy,
        rehearsal=rehearsal,
    )
    write_result(done, approval_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort rollback plan.json",
        "rocefort rollback plan.json --apply --connections connections.yaml",
        topic=Topic.OPERATE,
    )
)
def rollback(
    sealed: options.SealedPlan,
    journal: options.Journal = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File for the reverse plan; PLAN.back.json by default.", **values.FILE),
    ] = None,
    apply_it: Annotated[
        bool, typer.Option("--apply", help="Apply the reverse plan at once.")
    ] = False,
    connections: options.MaybeConnections = None,
    sign: options.SigningKey = None,
    progress: options.ProgressShown = options.ProgressOption.AUTO,
    approve_each_wave: EachWave = False,
    require_approval: RequireApproval = False,
    approval_hours: ApprovalHours = 0,
    approval_wait: ApprovalWait = 0,
    allowed_signers: options.AllowedSigners = None,
    break_glass: BreakGlass = "",
    allow_unmeasured: AllowUnmeasured = "",
    outside_window: OutsideWindow = "",
    drained: options.Drained = None,
    allow_unhealthy: AllowUnhealthy = False,
    html: Annotated[
        Path | None,
        typer.Option(
            help="File for an HTML page of the plan; with --apply, of its rollout.", **values.FILE
        ),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Seal a plan that reverts an applied plan.

    The waves run in reverse order.
    """
    from rocefort.base.errors import BadInput
    from rocefort.rollout.apply.operate import make_back
    from rocefort.rollout.apply.policy_of_plan import shown_policy
    from rocefort.rollout.controller.config import ApplyOptions
    from rocefort.rollout.journal.run_directory import RunDirectory
    from rocefort.rollout.report.plan_report import PlanOutput, reverse_report

    if apply_it and connections is None:
        raise BadInput("--apply needs the switches", how="name them: --connections FILE")
    file = out or RunDirectory.of(sealed).back
    back, signature = make_back(sealed, journal, file, sign)
    if connections is None or not apply_it:
        policy = shown_policy(back)
        done = PlanOutput(file=str(file), signature=signature, policy=policy, plan=back)
        if html is not None:
            from rocefort.rollout.apply.pages import with_page

            done = with_page(done, html)
        write_result(done, reverse_report, text=form is options.TraceFormat.TEXT)
        return
    chosen = ApplyOptions(
        each_wave=approve_each_wave,
        required=require_approval,
        expires_h=approval_hours,
        signers=allowed_signers,
        allow_sick=allow_unhealthy,
        approval_timeout_s=approval_wait,
        break_glass=break_glass,
        unmeasured=allow_unmeasured,
        outside=outside_window,
        drained=tuple(drained or ()),
    )
    carry_out((file, None, html), connections, (progress, form), chosen)


@cli.command(
    **documented(
        "rocefort history plan.json",
        "rocefort history --journal plan.json.journal --format json",
        topic=Topic.OPERATE,
    )
)
def history(
    sealed: Annotated[
        Path | None,
        typer.Argument(metavar="PLAN", help="Sealed plan; --journal if there is none."),
    ] = None,
    journal: options.Journal = None,
    restore_head: Annotated[
        str,
        typer.Option(
            metavar="LINK", help="Restore a lost head of the journal from its newest known link."
        ),
    ] = "",
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """List the runs of a plan or a journal, and check its chain.

    Each action is listed with its operator and time.
    """
    from rocefort.rollout.apply.operate import contents_at, restored_head
    from rocefort.rollout.report.status_report import history_output, history_report

    if restore_head:
        said = restored_head(sealed, journal, restore_head)
        typer.echo(said, err=form is options.TraceFormat.JSON)
    contents = contents_at(sealed, journal)
    if form is options.TraceFormat.JSON:
        output.write_json(history_output(contents))
    else:
        write_blocks(*history_report(contents))
    end(failed=bool(contents.damage))


def _note_earlier_end(sealed: Path, journal: Path | None, *, again: bool) -> None:
    """Print how the last run of a plan ended; raises Refused if the plan was rolled back."""
    from rocefort.rollout.apply.earlier_runs import note_of_earlier_end
    from rocefort.rollout.journal.run_directory import RunDirectory
    from rocefort.rollout.planning.sealed_files import read_plan

    run = RunDirectory.of(sealed, journal)
    if note := note_of_earlier_end(read_plan(sealed), run, again=again):
        output.write_note(f"note: {note}")


def _detach(sealed: Path, journal: Path | None, form: options.TraceFormat) -> None:
    """Start this command again in its own session."""
    from rocefort.reports.actions import background_report
    from rocefort.rollout.apply.operate import detach
    from rocefort.rollout.journal.run_directory import RunDirectory

    text = form is options.TraceFormat.TEXT
    words = sys.argv[1:] if text else [*sys.argv[1:], "--format", "text"]
    done = detach(words, RunDirectory.of(sealed, journal))
    if done.running is None:
        typer.echo(done.text, nl=False, err=bool(done.code))
        raise typer.Exit(done.code)
    write_result(done.running, background_report, text=text)
