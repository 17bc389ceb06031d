"""Command line of `rocefort`: each command is the list of its steps; more are in `commands/`.

Exit codes: 0 clean, 1 findings of severity error (or drift), 2 bad input, 3 a device or service
failed, 4 refused. Each command imports its own modules, so that `rocefort --help` prints at once.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from rocefort import __version__, internal_errors, options, output
from rocefort.commands import growth, health, host, lab, operate, plan, rdma, rehearse, site, trust
from rocefort.commands.batfish_service import announce_service
from rocefort.commands.exit_codes import INTERRUPTED, end
from rocefort.commands.root_group import RootGroup
from rocefort.errors import BadInput, RocefortError
from rocefort.gc_tuning import collect_seldom

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocefort.models.results.difference import FabricDifference
    from rocefort.reports.blocks import Block

cli = typer.Typer(
    cls=RootGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, without the time that importing rich takes
    help="Network-as-code for lossless RoCE fabrics on Huawei CloudEngine.",
)
cli.add_typer(site.cli)
cli.add_typer(growth.cli)
cli.add_typer(plan.cli)
cli.add_typer(rehearse.cli)
cli.add_typer(operate.cli)
cli.add_typer(trust.cli)
cli.add_typer(health.cli)
cli.add_typer(lab.cli, name="lab")
cli.add_typer(host.cli, name="host")
cli.add_typer(rdma.cli, name="rdma")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocefort {__version__}")
        raise typer.Exit


@cli.callback()
def options_of_rocefort(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
    color: options.Color = options.ColorOption.AUTO,
) -> None:
    """Handle the options that precede a command."""
    if color is not options.ColorOption.AUTO:
        output.force_color(on=color is options.ColorOption.ALWAYS)


def app() -> None:
    """Run the command line; print every error as one line, and exit with its code."""
    collect_seldom()
    try:
        cli()
    except RocefortError as error:
        said = internal_errors.masked(str(error))
        _print_error(f"rocefort: {said}" if len(said.splitlines()) < 2 else said)
        sys.exit(error.exit_code)
    except SystemExit as ended:
        if ended.code == INTERRUPTED and _by_ctrl_c(ended):  # Typer prints nothing
            _say_interrupted()
        raise
    except KeyboardInterrupt:  # before Typer has read the commands
        _say_interrupted()
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has ended
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.errno not in output.UNWRITABLE or error.filename is not None:
            _end_by_defect(error)
        output.silence(sys.stdout)
        _print_error(f"rocefort: output cannot be written: {error.strerror}")
        sys.exit(3)
    except Exception as error:  # noqa: BLE001 - a defect: its traceback goes to a file
        _end_by_defect(error)


def _end_by_defect(error: Exception) -> NoReturn:
    _print_error(f"rocefort: internal error: {internal_errors.described(error)}")
    _print_error(f"rocefort: {internal_errors.traceback_hint(error)}")
    sys.exit(internal_errors.EXIT_CODE)


def _print_error(text: str) -> None:
    """Write a line to standard error; if that is closed, only the exit code remains."""
    with suppress(OSError):
        typer.echo(text, err=True)


def _say_interrupted() -> None:
    _print_error("rocefort: interrupted before its end")


def _by_ctrl_c(ended: SystemExit) -> bool:
    """Whether the interruption hit this process, and not a command that it ran."""
    left = ended.__context__
    return left is not None and isinstance(left.__cause__, KeyboardInterrupt)


@cli.command()
def check(
    fabric: options.MaybeFabric = None,
    configs: options.Configs = None,
    form: options.Formatted = options.Format.TEXT,
    select: options.Select = None,
    ignore: options.Ignore = None,
) -> None:
    """Check a fabric or saved configurations against the rules."""
    from rocefort.steps.fabric.report import write_findings
    from rocefort.steps.fabric.subject import subject_of
    from rocefort.validators.checks import check as check_all
    from rocefort.validators.checks import rules as some_rules

    chosen = some_rules(select or (), ignore or ())
    fabric = options.fabric_unless(configs, fabric)
    subject = subject_of(fabric, configs)
    report = check_all(subject.network, subject.sources, run=chosen)
    write_findings(report, form.value, str(fabric or configs))
    for note in subject.notes:
        typer.echo(note, err=form is not options.Format.TEXT)
    end(failed=report.failed)


@cli.command()
def rules() -> None:
    """List the rules."""
    from rocefort.reports.formats.rule_text import rules_report
    from rocefort.steps.fabric.rule_texts import rule_texts
    from rocefort.validators.rules.live.subject import LiveSubject
    from rocefort.validators.rules.registry import Subject
    from rocefort.validators.rules.servers.subject import HostSubject

    output.write_blocks(rules_report(rule_texts(Subject, HostSubject, LiveSubject)))


@cli.command()
def explain(
    rule_id: Annotated[str, typer.Argument(help="Id of a rule, such as PFC004.")],
) -> None:
    """Explain a rule: its requirement, the reason and the fix."""
    from rocefort.reports.formats.rule_text import rule_report
    from rocefort.steps.fabric.rule_texts import rule_texts

    found = {rule.id: rule for rule in rule_texts()}
    if rule_id not in found:
        raise BadInput(f"no rule {rule_id!r}", how=f"one of: {', '.join(found)}")
    output.write_blocks(*rule_report(found[rule_id]))


@cli.command()
def render(
    fabric: options.Fabric,
    out: Annotated[Path | None, typer.Option(help="Directory for one file per switch.")] = None,
    device: Annotated[str | None, typer.Option(help="Render this switch only.")] = None,
    secrets: options.WithSecrets = False,
) -> None:
    """Write the configuration of every switch."""
    from rocefort.steps.fabric.subject import subject_of, with_secrets, write_texts

    subject = subject_of(fabric, None)
    texts = subject.texts
    if device is not None and device not in texts:
        raise BadInput(f"no switch {device!r}", how=f"one of: {', '.join(texts)}")
    chosen = {device: texts[device]} if device else dict(texts)
    if secrets and out is None:
        raise BadInput("--secrets without --out", how="secrets go into files, never on a screen")
    if out is not None:
        ready = with_secrets(chosen, subject.network) if secrets else chosen
        paths = write_texts(ready, out, private=secrets)
        typer.echo(f"{len(paths)} configurations in {out}")
    else:
        typer.echo("".join(chosen.values()), nl=False)


@cli.command()
def show(
    fabric: options.Fabric,
    kind: Annotated[options.TableOption | None, typer.Argument(help="Table to list.")] = None,
    form: options.TableFormatted = options.TableFormat.TEXT,
) -> None:
    """List devices, links, addresses, ports, cabling and more."""
    from rocefort.design.derive.derive import derive
    from rocefort.reports.fabric import tables

    fabric, kind = options.fabric_and_table(fabric, kind)
    network, table = derive(fabric).network, tables.ShowTable(kind.value)
    if form is options.TableFormat.TEXT:
        output.write_blocks(*tables.show_report(network, table))
        return
    as_data = tables.show_csv if form is options.TableFormat.CSV else tables.show_json
    typer.echo(as_data(network, table), nl=False)


@cli.command()
def facts(fabric: options.Fabric, form: options.TraceFormatted = options.TraceFormat.TEXT) -> None:
    """List unconfirmed facts of the switches and their commands.

    A fact is unconfirmed if no source states it for the switch model and release.
    """
    from rocefort.dialects.words import in_words
    from rocefort.reports.fabric.open_facts import facts_report
    from rocefort.steps.fabric.open_facts import open_facts

    found = open_facts(fabric)
    text = form is options.TraceFormat.TEXT
    output.write_result(found, lambda found: facts_report(found, in_words), text=text)


@cli.command("import")
def import_(
    directory: Annotated[Path, typer.Argument(help="Saved configurations, one per switch.")],
    out: Annotated[Path, typer.Option(help="Directory for fabric.yaml: inventory/NAME.")],
    hardware: options.SwitchHardware = None,
    software: options.SwitchReleases = None,
    switches: options.SwitchTable = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 1 if a line is not carried over, or is of another design."
        ),
    ] = False,
) -> None:
    """Write a fabric.yaml from existing configurations.

    Also list the facts that the configurations do not contain.
    """
    from rocefort.steps.fabric.import_texts import facts_of, import_fabric, imported_report

    facts = facts_of(hardware or (), software or (), switches)
    done = import_fabric(directory, out, facts)
    output.write_blocks(*imported_report(done))
    end(failed=strict and not done.is_whole)


@cli.command()
def schema(of: options.SchemaOf = options.SchemaDocument.FABRIC) -> None:
    """Print the JSON Schema of a document or of output."""
    from rocefort.steps.site.schemas import schema_text

    typer.echo(schema_text(of), nl=False)


@cli.command()
def verify(
    fabric: options.MaybeFabric = None,
    configs: options.Configs = None,
    engine: options.VerificationEngine = options.EngineOption.AUTO,
    batfish: options.BatfishService = None,
    failures: options.Failures = None,
    against: options.Against = None,
    timings: options.Timings = False,
    limit: options.QuestionLimit = options.QUESTION_LIMIT_S,
    form: options.Formatted = options.Format.TEXT,
) -> None:
    """Verify sessions, ECMP, reachability and failures.

    The input is the configuration text that the switches receive.
    """
    from rocefort.reports.fabric.failures import failures_report
    from rocefort.reports.fabric.findings import findings_report
    from rocefort.reports.fabric.verification import (
        change_report,
        timings_report,
        verified_report,
    )
    from rocefort.reports.formats.json_report import as_json
    from rocefort.steps.fabric.report import write_findings
    from rocefort.steps.fabric.subject import subject_of
    from rocefort.steps.fabric.verify import VerifyRequest, verify_subject
    from rocefort.validators import engine_choice
    from rocefort.validators.checks import titles

    fabric = options.fabric_unless(configs, fabric)
    subject = subject_of(fabric, configs)
    who = engine_choice.Engine(engine.value)
    asked = VerifyRequest(who, batfish, failures, against, limit)
    announce_service(engine, batfish, limit)
    done = verify_subject(subject, str(fabric or configs), asked)
    verified, service = done.verified, done.verified.asked
    took = service.timings if service else ()
    blocks: list[Block] = []
    if form is options.Format.TEXT:
        blocks.append(verified_report(verified.state, verified.engines, verified.note))
        blocks += [change_report(change, against or "") for change in verified.changes]
        blocks += [failures_report(study) for study in done.studies[:1]]
    if timings and service and form is not options.Format.JSON:
        blocks.append(timings_report(took, service.version))
    for note in (verified.note if form is not options.Format.TEXT else "", *done.notes):
        if note:
            typer.echo(note, err=True)
    if form is options.Format.TEXT:
        output.write_blocks(*blocks, *findings_report(done.report, titles()))
    elif form is options.Format.JSON:
        typer.echo(as_json(done.report, done.studies, verified.changes, took), nl=False)
    else:
        output.write_blocks(*blocks, err=True)
        write_findings(done.report, form.value, str(fabric or configs))
    end(failed=done.report.failed)


@cli.command("trace")
def trace_(
    ends: options.Ends,
    configs: options.Configs = None,
    protocol: Annotated[str, typer.Option(help="Protocol: rdma, tcp, udp or icmp.")] = "rdma",
    port: Annotated[int | None, typer.Option(help="Destination port for tcp and udp.")] = None,
    down: options.Down = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Trace packets from SRC to DST over every equal-cost path.

    Each path is listed hop by hop.
    """
    from rocefort.reports.fabric.trace import trace_report
    from rocefort.steps.fabric.subject import subject_of
    from rocefort.steps.fabric.trace import flow_of, trace_between

    if not 2 <= len(ends) <= (3 if configs is None else 2):
        raise BadInput(
            "name a fabric (or --configs DIR) and two ends",
            how="for example: rocefort trace heps transfer01 storage01",
        )
    fabric = options.fabric_unless(configs, Path(ends[0]) if ends[2:] else None)
    flow = flow_of(protocol, port)
    found = trace_between(subject_of(fabric, configs), (ends[-2], ends[-1]), flow, down or ())
    text = form is options.TraceFormat.TEXT
    output.write_result(found, trace_report, text=text)
    end(failed=not found.delivered)


@cli.command()
def report(
    fabric: options.MaybeFabric = None,
    configs: options.Configs = None,
    out: Annotated[Path, typer.Option(help="Directory for the page.")] = Path("report"),
) -> None:
    """Write one HTML page that shows a whole fabric."""
    from rocefort.steps.fabric.capacity import demand_of
    from rocefort.steps.fabric.report import fabric_page, write_page
    from rocefort.steps.fabric.subject import subject_of

    fabric = options.fabric_unless(configs, fabric)
    subject = subject_of(fabric, configs)
    given = demand_of(fabric, None, subject.network)
    typer.echo(write_page(fabric_page(subject, given), out))


@cli.command()
def diff(
    before: Annotated[str, typer.Argument(help=options.SIDE)],
    after: Annotated[str, typer.Argument(help=options.SIDE)],
    patch: Annotated[bool, typer.Option("--patch", help=options.PATCH)] = False,
    back: Annotated[
        bool, typer.Option("--back", help="Show the commands that undo each change.")
    ] = False,
    form: options.DifferenceFormatted = options.DifferenceFormat.TEXT,
    exit_code: options.ExitCode = False,
) -> None:
    """Show the changes from BEFORE to AFTER on each switch."""
    from rocefort.reports.fabric.diff import DifferenceOptions, diff_report
    from rocefort.steps.fabric.compare import compare_sides

    difference = compare_sides(before, after)
    blocks = diff_report(difference, DifferenceOptions(patch=patch, back=back))
    verdict = "" if difference.differs else "nothing changes"
    _write_difference(difference, blocks, f"from {before} to {after}", verdict, form)
    end(failed=exit_code and difference.differs)


@cli.command()
def drift(
    fabric: options.Fabric,
    configs: Annotated[Path, typer.Option(help="Directory of the running configurations.")],
    patch: Annotated[bool, typer.Option("--patch", help=options.PATCH)] = False,
    form: options.DifferenceFormatted = options.DifferenceFormat.TEXT,
) -> None:
    """Compare the running configurations with the intent."""
    from rocefort.reports.fabric.diff import DifferenceOptions, drift_report, drift_summary
    from rocefort.steps.fabric.compare import drift_of

    difference = drift_of(fabric, configs)
    blocks = drift_report(difference, DifferenceOptions(patch=patch, places=True))
    title = f"{difference.before} beside {difference.after}"
    _write_difference(difference, blocks, title, drift_summary(difference), form)
    end(failed=difference.drifts)


@cli.command()
def review(
    fabric: options.MaybeFabric = None,
    base: Annotated[
        str, typer.Option(help="Git revision before the change: main, HEAD~1.")
    ] = "HEAD",
    head: Annotated[
        str, typer.Option(help="Git revision after the change, or worktree.")
    ] = "worktree",
    out: Annotated[Path, typer.Option(help="Directory for the four files.")] = Path("review"),
    page_url: options.PageUrl = "review.html",
    engine: options.VerificationEngine = options.EngineOption.AUTO,
    batfish: options.BatfishService = None,
    failures: options.Failures = None,
) -> None:
    """Review a change in git: Markdown, HTML, JSON and SARIF.

    Without a fabric: all that the change touches, each in a folder of its own.
    """
    from rocefort.reports.review.content import notes_of, review_summary
    from rocefort.reports.review.fabrics import reviews_summary
    from rocefort.steps.review.review import ReviewRequest, make_reviews, write_reviews
    from rocefort.validators import engine_choice

    asked = ReviewRequest(fabric, base, head, engine_choice.Engine(engine.value), batfish, failures)
    announce_service(engine, batfish)
    found = make_reviews(asked)
    paths = write_reviews(found, out, page_url)
    for note in dict.fromkeys(note for done in found.reviews for note in notes_of(done)):
        typer.echo(f"note: {note}", err=True)
    for problem in (problem for fabric in found.unreviewed for problem in fabric.problems):
        _print_error(f"rocefort: {problem}")
    output.write_blocks(*map(review_summary, found.reviews))
    if not found.only:
        output.write_blocks(reviews_summary(found))
    typer.echo(f"written: {', '.join(map(str, paths))}")
    if found.exit_code:
        raise typer.Exit(found.exit_code)


@cli.command()
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
    from rocefort.steps.demo.fabric import run_demo
    from rocefort.steps.demo.rollout import run_rollout_demo
    from rocefort.steps.fabric.verify import service_of
    from rocefort.validators import engine_choice

    if on_twin:
        from rocefort.steps.demo.twin import run_lab_demo

        run_lab_demo(fabric, typer.echo)
    elif rollout:
        run_rollout_demo(fabric, typer.echo)
    else:
        announce_service(engine, batfish)
        run_demo(fabric, engine_choice.Engine(engine.value), service_of(batfish), typer.echo)


def _write_difference(
    difference: FabricDifference,
    blocks: Iterable[Block],
    title: str,
    verdict: str,
    form: options.DifferenceFormat,
) -> None:
    """Write a difference with its verdict: last in text, first in a comment."""
    from rocefort.reports.blocks import Note, Section
    from rocefort.reports.fabric.diff import difference_json
    from rocefort.reports.writers.markdown import markdown_of

    summary = (Note(verdict),) if verdict else ()
    if form is options.DifferenceFormat.TEXT:
        output.write_blocks(*blocks, *summary)
    elif form is options.DifferenceFormat.MARKDOWN:
        comment = Section(f"Rocefort: {title}", (*summary, Section("", tuple(blocks))))
        typer.echo(markdown_of(comment), nl=False)
    else:
        typer.echo(difference_json(difference), nl=False)
