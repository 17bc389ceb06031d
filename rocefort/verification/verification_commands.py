"""`check`, `verify`, `trace`, `report`, `rules`, `explain`, `capacity`: judge a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocefort.base import options, output
from rocefort.base.command_line import values
from rocefort.base.command_line.help import Topic, documented
from rocefort.base.command_line.verbosity import end
from rocefort.base.errors import BadInput
from rocefort.reports.output import write_blocks, write_result
from rocefort.verification.batfish_service import announce_service

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocefort.design.subject import ReadNetwork
    from rocefort.reports.blocks import Block


cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def _write_notes(subject: ReadNetwork) -> None:
    """Write notes on the data of the subject, such as files of a site that precede shipped ones."""
    for note in subject.notes:
        output.write_note(note)


def _running_texts(
    fabric: Path | None, configs: Path | None, connections: Path | None
) -> Mapping[str, str] | None:
    """Read what the switches of a fabric run; None without connections."""
    if fabric is None or connections is None:
        return None
    if configs is not None:
        what = "both --configs and --connections say where the running configurations are"
        raise BadInput(what, how="give one of them")
    from rocefort.fleet.connections import load_connections
    from rocefort.fleet.running_configs import running_of

    return running_of(fabric, load_connections(connections), None)


@cli.command(
    **documented(
        "rocefort check heps",
        "rocefort check heps --select PFC,BUF001",
        "rocefort check --configs configs --format sarif",
        "rocefort check heps --configs configs",
        topic=Topic.VERIFY,
    )
)
def check(
    fabric: options.MaybeFabric = None,
    configs: options.JudgedConfigs = None,
    connections: options.RunningConnections = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.Formatted = options.Format.TEXT,
    select: options.Select = None,
    ignore: options.Ignore = None,
) -> None:
    """Check a fabric, or configurations, against the rules.

    With a fabric and configurations (or connections), what the switches run is judged by the
    intent of the fabric.
    """
    from rocefort.verification.findings import write_findings
    from rocefort.verification.judged import check_subject, judged_subject, judging_rules
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    fabric = options.fabric_unless(configs, fabric)
    texts = configs is not None or connections is not None
    chosen = judging_rules(fabric, texts=texts, select=select or (), ignore=ignore or ())
    subject = judged_subject(fabric, configs, _running_texts(fabric, configs, connections))
    report = check_subject(subject, chosen)
    write_findings(report, form.value, str(fabric or configs))
    for note in subject.notes:
        output.write_note(note, err=form is not options.Format.TEXT)
    end(failed=report.failed)


@cli.command(
    **documented(
        "rocefort verify heps",
        "rocefort verify heps --engine embedded --failures 2",
        "rocefort verify heps --against HEAD~1:inventory/heps",
        topic=Topic.VERIFY,
    )
)
def verify(
    fabric: options.MaybeFabric = None,
    configs: options.JudgedConfigs = None,
    connections: options.RunningConnections = None,
    engine: options.VerificationEngine = options.EngineOption.AUTO,
    batfish: options.BatfishService = None,
    failures: options.Failures = None,
    against: options.Against = None,
    timings: options.Timings = False,
    limit: options.QuestionLimit = options.QUESTION_LIMIT_S,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.Formatted = options.Format.TEXT,
) -> None:
    """Verify sessions, ECMP, reachability and failures.

    Computes the network from the configuration text that the switches receive. It shows which BGP
    sessions come up, the routes with their ECMP width, whether every path between servers
    delivers, and what each failure of a link or switch interrupts. With a fabric and
    configurations (or connections), it verifies what the switches run. Configurations name no
    servers: packets are sent between all segments instead. It judges no state of switches:
    `health` does.
    """
    from rocefort.reports.formats.json_report import findings_output
    from rocefort.validators import engine_choice
    from rocefort.validators.checks import titles
    from rocefort.validators.routing.reachability_matrix import denied_pairs
    from rocefort.verification.failures import failures_report
    from rocefort.verification.findings import findings_report, write_findings
    from rocefort.verification.judged import judged_subject
    from rocefort.verification.verify import (
        VerifyRequest,
        change_report,
        segment_pairs_of,
        timings_report,
        uncertain_answers,
        verified_report,
        verify_subject,
    )

    fabric = options.fabric_unless(configs, fabric)
    subject = judged_subject(fabric, configs, _running_texts(fabric, configs, connections))
    _write_notes(subject)
    who = engine_choice.Engine(engine.value)
    asked = VerifyRequest(who, batfish, failures, against, limit)
    announce_service(engine, batfish, limit)
    done = verify_subject(subject, str(fabric or configs), asked)
    verified, service = done.verified, done.verified.asked
    took = service.timings if service else ()
    blocks: list[Block] = []
    if form is options.Format.TEXT:
        pairs = segment_pairs_of(subject, verified)
        unsure = uncertain_answers(verified)
        denied = denied_pairs(subject.network, verified.state.reachability)
        blocks.append(
            verified_report(verified.state, verified.engines, verified.note, pairs, unsure, denied)
        )
        blocks += [change_report(change, against or "") for change in verified.changes]
        blocks += [failures_report(study) for study in done.studies[:1]]
    if timings and service and form is not options.Format.JSON:
        blocks.append(timings_report(took, service.version))
    for note in (verified.note if form is not options.Format.TEXT else "", *done.notes):
        if note:
            output.write_note(note)
    if form is options.Format.TEXT:
        write_blocks(*blocks, *findings_report(done.report, titles()))
    elif form is options.Format.JSON:
        output.write_json(findings_output(done.report, done.studies, verified.changes, took))
    else:
        write_blocks(*blocks, err=True)
        write_findings(done.report, form.value, str(fabric or configs))
    end(failed=done.report.failed)


@cli.command(
    "trace",
    **documented(
        "rocefort trace heps transfer01 storage01",
        "rocefort trace heps leaf01 leaf02 --protocol tcp --port 22",
        "rocefort trace heps compute storage --down spine01 --down leaf03:100GE1/0/25",
        topic=Topic.VERIFY,
    ),
)
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
    from rocefort.design.subject import subject_of
    from rocefort.verification.trace import flow_of, trace_between, trace_report

    if not 2 <= len(ends) <= (3 if configs is None else 2):
        raise BadInput(
            "name a fabric (or --configs DIR) and two ends",
            how="for example: rocefort trace heps transfer01 storage01",
        )
    fabric = options.fabric_unless(configs, Path(ends[0]) if ends[2:] else None)
    flow = flow_of(protocol, port)
    found = trace_between(subject_of(fabric, configs), (ends[-2], ends[-1]), flow, down or ())
    text = form is options.TraceFormat.TEXT
    write_result(found, trace_report, text=text)
    end(failed=not found.delivered)


@cli.command(
    **documented(
        "rocefort report heps",
        "rocefort report --configs configs --out page",
        topic=Topic.VERIFY,
    )
)
def report(
    fabric: options.MaybeFabric = None,
    configs: options.Configs = None,
    out: Annotated[Path, typer.Option(help="Directory for the page.", **values.DIR)] = Path(
        "report"
    ),
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Write one HTML page that shows a whole fabric."""
    from rocefort.base.actions import WrittenFiles
    from rocefort.design.subject import subject_of
    from rocefort.reports.actions import written_files_report
    from rocefort.verification.capacity import demand_of
    from rocefort.verification.page.fabric_page import fabric_page, provenance_of, write_page
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    fabric = options.fabric_unless(configs, fabric)
    subject = subject_of(fabric, configs)
    _write_notes(subject)
    given = demand_of(fabric, None, subject.network)
    provenance = provenance_of(configs or fabric or Path())
    page = write_page(fabric_page(subject, given, provenance), out)
    done = WrittenFiles(files=(str(page),))
    write_result(done, written_files_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort rules",
        "rocefort rules PFC BUF --severity error",
        topic=Topic.VERIFY,
    )
)
def rules(
    words: Annotated[
        list[str] | None, typer.Argument(help="Rules or families: PFC BUF001; by default all.")
    ] = None,
    severity: Annotated[
        list[options.SeverityOption] | None,
        typer.Option("--severity", help="Only rules of this severity; may be repeated."),
    ] = None,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """List the rules by family."""
    from rocefort.models.finding import Severity
    from rocefort.reports.formats.rule_text import rules_report
    from rocefort.verification.findings import rules_named
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    chosen = [Severity(each.value) for each in severity or options.SeverityOption]
    found = rules_named(words or (), chosen)
    write_result(found, rules_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort explain PFC004",
        "rocefort explain BUF001",
        topic=Topic.VERIFY,
    )
)
def explain(
    rule_ids: Annotated[
        list[str],
        typer.Argument(help="Ids of rules such as PFC004, or a family: PFC.", **values.RULE),
    ],
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Explain rules: why, an example, the fix, and a waiver."""
    from rocefort.reports.formats.rule_text import explanations_report
    from rocefort.verification.findings import rules_named
    from rocefort.verification.rules_in_force import judge_by_site_rules

    judge_by_site_rules()
    found = rules_named(rule_ids)
    write_result(found, explanations_report, text=form is options.TraceFormat.TEXT)


@cli.command(
    **documented(
        "rocefort capacity heps",
        "rocefort capacity heps --drained spine01 --failures 2",
        "rocefort capacity heps --failures single:2 --format json",
        topic=Topic.VERIFY,
    )
)
def capacity(
    fabric: options.Fabric,
    demand: options.DemandFile = None,
    failures: options.SingleFailures = None,
    drained: Annotated[
        list[str] | None,
        typer.Option(help="Spine that takes no traffic; may be repeated.", **values.SWITCH),
    ] = None,
    _progress: options.StepProgress = options.ProgressOption.AUTO,
    form: options.TraceFormatted = options.TraceFormat.TEXT,
) -> None:
    """Compare a traffic demand with the capacity of a fabric.

    With and without failures.
    """
    from rocefort.verification.capacity import capacity_report, judge_capacity

    found = judge_capacity(fabric, demand, failures, tuple(drained or ()))
    write_result(found, capacity_report, text=form is options.TraceFormat.TEXT)
    end(failed=not found.fits)
