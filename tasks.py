"""The commands of `rocefort`: each reads as the list of its steps.

Exit codes: 0 clean, 1 findings of severity error, 2 bad input, 3 a device or service failed,
4 refused. What a command needs is imported in it, so that `rocefort --help` is there at once.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocefort.errors import BadInput, RocefortError
from rocefort.garbage import collect_seldom

if TYPE_CHECKING:
    from rocefort.models.finding import Report

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, without the time that importing rich takes
    help="Network-as-code for lossless RoCE fabrics on Huawei CloudEngine.",
)
lab = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A fabric of emulated switches to rehearse on.",
)
cli.add_typer(lab, name="lab")


class Format(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"


class Engine(StrEnum):
    """Who verifies; the words of rocefort.validators.engines.Engine."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    BATFISH = "batfish"
    BOTH = "both"


class Table(StrEnum):
    """The words of rocefort.reports.show.Kind."""

    DEVICES = "devices"
    LINKS = "links"
    ADDRESSES = "addresses"
    PORTS = "ports"
    CABLING = "cabling"


class TableFormat(StrEnum):
    """The words of rocefort.reports.show.Form."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


Fabric = Annotated[Path, typer.Argument(help="A fabric.yaml, its directory, or a name: heps.")]
MaybeFabric = Annotated[
    Path | None, typer.Argument(help="A fabric.yaml, its directory, or a name: heps.")
]
Configs = Annotated[Path | None, typer.Option(help="Judge a directory of configurations instead.")]
Formatted = Annotated[Format, typer.Option("--format", help="How it is written.")]
ConnectionsFile = Annotated[
    Path, typer.Option("--connections", help="YAML: how each switch and server is reached.")
]
MaybeConnections = Annotated[
    Path | None, typer.Option("--connections", help="YAML: how each switch is reached.")
]
BatfishService = Annotated[
    str, typer.Option("--batfish", envvar="ROCEFORT_BATFISH", help="Batfish service, HOST:PORT.")
]


def app() -> None:
    """Run the command line; every error becomes one line and its exit code."""
    collect_seldom()
    try:
        cli()
    except RocefortError as error:
        typer.echo(f"rocefort: {error}" if len(str(error).splitlines()) < 2 else error, err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - a defect of ours: kept whole, shown as one line
        typer.echo(f"rocefort: internal error: {type(error).__name__}: {error}", err=True)
        typer.echo(f"rocefort: please report it with {_keep_traceback()}", err=True)
        sys.exit(70)  # EX_SOFTWARE, none of the documented codes


def _keep_traceback() -> str:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="rocefort-", suffix=".log", delete=False) as file:
        traceback.print_exc(file=file)
    return file.name


@cli.command()
def check(
    fabric: MaybeFabric = None,
    configs: Configs = None,
    form: Formatted = Format.TEXT,
    select: Annotated[
        list[str] | None, typer.Option(help="Only these rules or families: PFC,BUF001.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Not these rules or families: TXT,PFC004.")
    ] = None,
) -> None:
    """Judge a fabric, or a directory of configurations, by the rules."""
    from rocefort.steps.judging import subject_of
    from rocefort.validators import check as check_all
    from rocefort.validators import rules as some_rules

    chosen = some_rules(select or (), ignore or ())
    subject = subject_of(fabric, configs)
    report = check_all(subject.network, subject.sources, run=chosen)
    _show(report, form, fabric or configs)
    _end(failed=report.failed)


@cli.command()
def rules() -> None:
    """List the rules."""
    from rocefort.validators import rules as all_rules

    for rule in all_rules():
        typer.echo(f"{rule.id}  {rule.severity.value:<8} {rule.title}")


@cli.command()
def explain(rule_id: str) -> None:
    """Print what a rule asks for, why, and how to fix what it finds."""
    from rocefort.validators import rules as all_rules

    found = {rule.id: rule for rule in all_rules()}
    if rule_id not in found:
        raise BadInput(f"no rule {rule_id!r}", how=f"one of: {', '.join(found)}")
    rule = found[rule_id]
    typer.echo(f"{rule.id} ({rule.severity.value}): {rule.title}\n\n{rule.explanation}\n")
    typer.echo(f"Source: {rule.source}")


@cli.command()
def render(
    fabric: Fabric,
    out: Annotated[Path | None, typer.Option(help="Write one file a switch there.")] = None,
    device: Annotated[str | None, typer.Option(help="Print this switch only.")] = None,
) -> None:
    """Write the configuration of every switch."""
    from rocefort.steps.judging import subject_of, write_texts

    texts = subject_of(fabric, None).texts
    if device is not None and device not in texts:
        raise BadInput(f"no switch {device!r}", how=f"one of: {', '.join(texts)}")
    chosen = {device: texts[device]} if device else dict(texts)
    if out is not None:
        paths = write_texts(chosen, out)
        typer.echo(f"{len(paths)} configurations in {out}")
    else:
        typer.echo("".join(chosen.values()), nl=False)


@cli.command()
def show(
    fabric: Fabric,
    kind: Annotated[Table, typer.Argument(help="What to list.")],
    form: Annotated[TableFormat, typer.Option("--format", help="How.")] = TableFormat.TEXT,
) -> None:
    """List devices, links, addresses, ports or cabling."""
    from rocefort.design.derive import derive
    from rocefort.reports import show as tables

    network = derive(fabric).network
    typer.echo(tables.show(network, tables.Kind(kind.value), tables.Form(form.value)), nl=False)


@cli.command()
def new(
    name: str,
    spines: Annotated[int, typer.Option(min=1)],
    leaves: Annotated[int, typer.Option(min=1)],
    servers_per_leaf: Annotated[int, typer.Option(min=0)] = 0,
    leaf_hardware: str = "CE8851-32CQ8DQ-P",
    spine_hardware: str = "CE9860-4C-EI",
    directory: Annotated[Path | None, typer.Option(help="Instead of inventory/.")] = None,
) -> None:
    """Write the fabric.yaml of a new fabric that passes `check`."""
    from rocefort.design.new import Size, new_fabric, write_new
    from rocefort.paths import INVENTORY

    size = Size(spines, leaves, servers_per_leaf)
    text = new_fabric(name, size, leaf_hardware, spine_hardware)
    typer.echo(write_new(name, text, directory or INVENTORY))


@cli.command()
def schema() -> None:
    """Print the JSON Schema of a fabric.yaml, for editors."""
    from rocefort.design.schema import fabric_schema

    typer.echo(fabric_schema(), nl=False)


@cli.command()
def verify(
    fabric: MaybeFabric = None,
    configs: Configs = None,
    engine: Annotated[Engine, typer.Option(help="Who is asked.")] = Engine.AUTO,
    batfish: BatfishService = "127.0.0.1:9996",
    form: Formatted = Format.TEXT,
) -> None:
    """Verify sessions, ECMP and reachability from the text that ships."""
    from rocefort.reports.routing import verified_text
    from rocefort.steps.judging import service_of, subject_of
    from rocefort.validators import engines

    subject = subject_of(fabric, configs)
    host, port = service_of(batfish)
    done = engines.run(subject.network, subject.sources, engines.Engine(engine.value), host, port)
    if form is Format.TEXT:
        typer.echo(verified_text(done.state, done.engines, done.note))
    elif done.note:
        typer.echo(done.note, err=True)
    _show(done.report, form, fabric or configs)
    _end(failed=done.report.failed)


@cli.command()
def report(
    fabric: MaybeFabric = None,
    configs: Configs = None,
    out: Annotated[Path, typer.Option(help="Directory of the page.")] = Path("report"),
) -> None:
    """Write one HTML page that shows a whole fabric."""
    from rocefort.steps.judging import subject_of
    from rocefort.steps.reporting import fabric_page, write_page

    typer.echo(write_page(fabric_page(subject_of(fabric, configs)), out))


@cli.command()
def diff(
    before: Annotated[Path, typer.Argument(help="A fabric or a directory of configurations.")],
    after: Fabric,
    patch: Annotated[bool, typer.Option(help="Print the commands, too.")] = False,
) -> None:
    """Show what takes each switch from BEFORE to the fabric AFTER."""
    from rocefort.reports.changes import changes_text
    from rocefort.rollout.plan import make_changes
    from rocefort.steps.judging import running_texts, subject_of

    subject = subject_of(after, None)
    changes = make_changes(subject.network, running_texts(before))
    typer.echo(changes_text(changes, patches=patch), nl=False)


@cli.command()
def plan(
    fabric: Fabric,
    connections: ConnectionsFile,
    out: Annotated[Path, typer.Option(help="Where the sealed plan goes.")] = Path("plan.json"),
    running: Annotated[
        Path | None, typer.Option(help="Running configurations instead of asking the switches.")
    ] = None,
) -> None:
    """Seal a plan that takes what runs to what is intended, in waves."""
    from rocefort.fleet.connections import load_connections
    from rocefort.reports.changes import changes_text, plan_text
    from rocefort.rollout.plan import write_plan
    from rocefort.steps.changing import make_plan, running_of

    access = load_connections(connections)
    sealed = make_plan(fabric, access, running_of(fabric, access, running))
    write_plan(sealed, out)
    typer.echo(changes_text(sealed.changes))
    typer.echo(plan_text(sealed) + f"sealed in {out}")


@cli.command()
def apply(
    sealed: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan that `plan` has sealed.")],
    connections: ConnectionsFile,
    journal: Annotated[
        Path | None, typer.Option(help="Where every step is noted; PLAN.journal by default.")
    ] = None,
) -> None:
    """Carry out a sealed plan, wave by wave, or roll back."""
    from rocefort.fleet.connections import load_connections
    from rocefort.reports.changes import WaveLines, applied_text
    from rocefort.rollout.plan import read_plan
    from rocefort.steps.changing import apply_plan

    applied = apply_plan(
        read_plan(sealed),
        load_connections(connections),
        journal or sealed.with_name(sealed.name + ".journal"),
        [WaveLines(typer.echo)],
    )
    for line in applied_text(applied):
        typer.echo(line)
    if applied.exit_code:
        raise typer.Exit(applied.exit_code)


@lab.command("cli")
def lab_cli(
    fabric: Fabric,
    state: Annotated[Path, typer.Option(help="Keys, known hosts, connections.")] = Path("lab"),
) -> None:
    """Run every switch of a fabric as an emulated CLI over SSH on loopback, until Ctrl-C."""
    from rocefort.steps.changing import run_lab

    run_lab(fabric, state, typer.echo)


@cli.command()
def demo(
    fabric: Fabric = Path("heps"),
    engine: Annotated[Engine, typer.Option(help="Who verifies.")] = Engine.AUTO,
    batfish: BatfishService = "127.0.0.1:9996",
) -> None:
    """Walk the whole way once, on emulated switches."""
    from rocefort.steps.demo import run_demo
    from rocefort.steps.judging import service_of
    from rocefort.validators import engines

    run_demo(fabric, engines.Engine(engine.value), service_of(batfish), typer.echo)


@cli.command()
def day0(
    fabric: Fabric,
    device: Annotated[str, typer.Argument(help="The new switch.")],
    connections: MaybeConnections = None,
    password: Annotated[
        list[str] | None, typer.Option(help="USER=env:NAME or USER=file:PATH, for each user.")
    ] = None,
    with_secrets: Annotated[bool, typer.Option(help="Print the passwords themselves.")] = False,
) -> None:
    """Print what to type on the console of a new switch."""
    from rocefort.reports.instructions import instructions_text
    from rocefort.steps.day0 import day0_steps, installation

    switch = installation(fabric, device, connections)
    steps = day0_steps(switch, password or [], with_secrets=with_secrets)
    typer.echo(instructions_text(f"day 0 of {switch.title}", steps), nl=False)


@cli.command()
def replace(
    fabric: Fabric,
    device: Annotated[str, typer.Argument(help="The failed switch.")],
    connections: ConnectionsFile,
) -> None:
    """Print the steps that replace a failed switch."""
    from rocefort.reports.instructions import instructions_text
    from rocefort.steps.day0 import installation, replace_steps

    switch = installation(fabric, device, connections)
    steps = replace_steps(switch, connections)
    typer.echo(instructions_text(f"a replacement of {switch.title}", steps), nl=False)


def _show(report: Report, form: Format, subject: Path | None) -> None:
    from rocefort.steps.reporting import written

    typer.echo(written(report, form.value, str(subject)), nl=False)


def _end(*, failed: bool) -> None:
    if failed:
        raise typer.Exit(1)
