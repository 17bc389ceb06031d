"""Output of a rollout that a command applies or follows: progress, page and outcome."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rocefort.base import options, output
from rocefort.base.errors import ExitCode
from rocefort.base.streams import is_terminal
from rocefort.reports.output import write_blocks

if TYPE_CHECKING:
    from rocefort.models.change.plan import Plan
    from rocefort.rollout.apply.pages import LivePage
    from rocefort.rollout.controller.config import ApplyOptions
    from rocefort.rollout.journal.events import RolloutOutcome
    from rocefort.rollout.journal.run_directory import RunDirectory
    from rocefort.rollout.journal.runs import TimedEvent


def follow_run(
    sealed: Path, journal: Path | None, form: options.TraceFormat, html: Path | None
) -> None:
    """Print the events of a run, then its state; exit with the code of `apply`."""
    from rocefort.rollout.apply.operate import follow
    from rocefort.rollout.journal.run_directory import RunDirectory
    from rocefort.rollout.planning.sealed_files import read_plan
    from rocefort.rollout.report.event_lines import JsonLines, WaveLines, followed_output
    from rocefort.rollout.report.status_report import status_report

    waves, lines = WaveLines(typer.echo), JsonLines(typer.echo)
    plan, run = read_plan(sealed), RunDirectory.of(sealed, journal)
    page = _live_page(plan, run, html)

    def tell(happened: TimedEvent) -> None:
        page(happened.event)
        if form is options.TraceFormat.JSON:
            lines.tell(happened.event, happened.at)
        else:
            waves(happened.event)

    if not run.journal.exists():
        output.write_note(f"rocefort: no journal {run.journal} yet; waiting for a run of the plan")
    try:
        with page:
            status = follow(plan, run.journal, tell)
    except KeyboardInterrupt:
        typer.echo("rocefort: no longer followed; the rollout continues", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if form is options.TraceFormat.JSON:
        output.write_json(followed_output(status), indent=None)
    else:
        write_blocks(*status_report(status))
    if code := ExitCode.FINDINGS if status.journal.damage else status.code:
        raise typer.Exit(code)


def _live_page(plan: Plan, run: RunDirectory, html: Path | None) -> LivePage | WithoutPage:
    """Listener that renews the page of a rollout, or does nothing."""
    if html is None:
        return WithoutPage()
    from rocefort.rollout.apply.pages import LivePage

    output.write_note(f"page: {html}, renewed while the rollout runs")
    return LivePage(plan, run, html, output.write_note)


class WithoutPage(nullcontext[None]):
    """Listener of a rollout without a page."""

    def __call__(self, _event: object, /) -> None:
        """Do nothing."""


def carry_out(
    files: tuple[Path, Path | None, Path | None],
    connections: Path,
    shown_as: tuple[options.ProgressOption, options.TraceFormat],
    chosen: ApplyOptions,
) -> None:
    """Apply a plan and show its outcome; a failed write to the output ends no wave.

    files: the plan, its journal unless it is the default one, and the page if there is one. With
    the format JSON, standard output has the outcome alone, and standard error the progress.
    """
    from rocefort.base.errors import RocefortError
    from rocefort.base.output import lasting_output
    from rocefort.rollout.apply.operate import hint_of_session, plan_and_connections, watched
    from rocefort.rollout.journal.run_directory import RunDirectory

    sealed, journal, html = files
    plan, access = plan_and_connections(sealed, connections)
    from rocefort.rollout.apply.apply import apply_plan  # slow
    from rocefort.rollout.apply.policy_of_plan import policy_of_start

    run = RunDirectory.of(sealed, journal)
    progress, form = shown_as
    text = form is options.TraceFormat.TEXT
    kind = progress if text or progress is not progress.AUTO else progress.PLAIN
    hides = output.is_quiet() and progress is not progress.JSON
    say = partial(output.write_note if hides else typer.echo, err=not text)
    from rocefort.reports.blocks import Note

    head = [plan.limit.sentence] if plan.limit else []
    if policy := policy_of_start(plan, run.journal, chosen):
        head.append(policy)
    hint = hint_of_session(os.environ, terminal=is_terminal(sys.stdout))
    shown = f"`rocefort status {sealed}` shows"
    with lasting_output(f"the rollout continues: {shown} it"):
        data = (not text) + (progress is progress.JSON)  # streams for programs
        if data < 2 - output.is_quiet():  # beside data it is a note; `status` has it
            write_blocks(*map(Note, head), err=bool(data))
        if hint:
            output.write_note(f"note: {hint}")
        how = progress.PLAIN if hides else kind
        with (
            _live_page(plan, run, html) as page,
            watched(how.value, plan, access, run.journal, say) as listener,
        ):
            listeners = [listener, *([page] if page else [])]
            try:
                applied = apply_plan(plan, access, run, listeners, chosen)
            except RocefortError:
                raise
            except Exception:  # a defect that the controller could not handle
                effect = f"trial commits revert when their timers end; {shown} every switch"
                typer.echo(f"the rollout did not finish; {effect}", err=True)
                raise
        _report_outcome(applied, run, progress, form)


def _report_outcome(
    applied: RolloutOutcome,
    run: RunDirectory,
    progress: options.ProgressOption,
    form: options.TraceFormat,
) -> None:
    """Print the outcome and the seal of the journal; exit with the code of the outcome."""
    from rocefort.base.errors import RocefortError
    from rocefort.reports.blocks import Note, Section
    from rocefort.rollout.journal.runs import JournalContents, contents_of
    from rocefort.rollout.report.event_lines import applied_report, ended_output, seal_report

    journal = run.journal
    try:
        seal, unread = contents_of(journal), ""
    except RocefortError as error:  # the outcome of the switches is reported nevertheless
        seal, unread = JournalContents(str(journal)), str(error)
    found = ended_output(applied, journal, seal.head, seal.damage or unread)
    if form is options.TraceFormat.JSON:
        output.write_json(found)
    elif progress is options.ProgressOption.JSON:
        output.write_json(found, indent=None)  # the last line of the events
    else:
        sealed = seal_report(journal, seal.rows, seal.head, seal.damage)
        notes = (Note(unread),) if unread else ()
        write_blocks(
            Section("", (*applied_report(applied, shlex.join(run.arguments())), *sealed, *notes))
        )
    if applied.exit_code:
        raise typer.Exit(applied.exit_code)
