"""Command line of `rocefort`: options before a command, and errors; `commands/` has the commands.

Each command imports its own modules, so that `rocefort --help` prints at once.
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from rocefort import __version__, internal_errors, options, output
from rocefort.command_line.help import WIDEST, Topic
from rocefort.commands import (
    compare,
    completion,
    demo,
    fabric,
    failures,
    growth,
    health,
    host,
    lab,
    operate,
    plan,
    rdma,
    rehearse,
    site,
    trust,
    tune,
    verify,
)
from rocefort.commands.root_group import RootGroup
from rocefort.errors import Problem, RocefortError
from rocefort.exit_codes import ExitCode, exit_codes_text
from rocefort.gc_tuning import collect_seldom
from rocefort.visible_output import visible_streams

cli = typer.Typer(
    cls=RootGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, without the time that importing rich takes
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    help="Network-as-code for lossless RoCE fabrics on Huawei CloudEngine.\n\n"
    f"Exit codes: {exit_codes_text()}.",
    epilog="rocefort check heps\nrocefort verify heps\nrocefort plan --help",
)
cli.add_typer(verify.cli)
cli.add_typer(compare.cli)
cli.add_typer(growth.cli)
cli.add_typer(site.cli)
cli.add_typer(fabric.cli)
cli.add_typer(operate.cli)
cli.add_typer(plan.cli)
cli.add_typer(rehearse.cli)
cli.add_typer(trust.cli)
cli.add_typer(health.cli)
cli.add_typer(demo.cli)
cli.add_typer(completion.cli)
cli.add_typer(lab.cli, name="lab", rich_help_panel=Topic.LAB)
cli.add_typer(host.cli, name="host", rich_help_panel=Topic.OPERATE)
cli.add_typer(rdma.cli, name="rdma", rich_help_panel=Topic.MEASURE)
cli.add_typer(tune.cli, name="tune", rich_help_panel=Topic.MEASURE)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocefort {__version__}")
        raise typer.Exit


@cli.callback()
def options_of_rocefort(
    _version: Annotated[
        bool,
        typer.Option(
            "-V",
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        ),
    ] = False,
    quiet: options.Quiet = False,  # noqa: ARG001 - its callback takes it
    verbose: options.Verbose = False,  # noqa: ARG001
    log_file: options.LogFile = None,  # noqa: ARG001
    color: options.Color = options.ColorOption.AUTO,
) -> None:
    """Handle the options that precede a command."""
    if color is not options.ColorOption.AUTO:
        output.force_color(on=color is options.ColorOption.ALWAYS)


def app() -> None:
    """Run the command line; print every error as visible text, and exit with its code."""
    with visible_streams():
        _run()


def _run() -> None:
    collect_seldom()
    try:
        cli()
    except RocefortError as error:
        output.print_error(internal_errors.masked(output.text_of_error(error)))
        failures.write_problems(error.problems, error.exit_code)
        sys.exit(error.exit_code)
    except SystemExit as ended:
        failures.write_usage_error(ended)
        if ended.code == ExitCode.INTERRUPTED and _by_ctrl_c(ended):  # Typer prints nothing
            _say_interrupted()
        raise
    except KeyboardInterrupt:  # before Typer has read the commands
        _say_interrupted()
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has ended
        sys.stderr.close()
        sys.exit(ExitCode.FINDINGS)
    except OSError as error:
        if error.errno not in output.UNWRITABLE or error.filename is not None:
            _end_by_defect(error)
        output.silence(sys.stdout)
        output.print_error(f"rocefort: output cannot be written: {error.strerror}")
        sys.exit(ExitCode.FAILED)
    except Exception as error:  # noqa: BLE001 - a defect: its traceback goes to a file
        _end_by_defect(error)


def _end_by_defect(error: Exception) -> NoReturn:
    what, how = internal_errors.described(error), internal_errors.traceback_hint(error)
    output.print_error(f"rocefort: internal error: {what}")
    output.print_error(f"rocefort: {how}")
    failures.write_problems((Problem("internal error", what, how),), ExitCode.INTERNAL)
    sys.exit(ExitCode.INTERNAL)


def _say_interrupted() -> None:
    what = "interrupted before its end"
    output.print_error(f"rocefort: {what}")
    failures.write_problems((Problem("", what),), ExitCode.INTERRUPTED)


def _by_ctrl_c(ended: SystemExit) -> bool:
    """Whether the interruption hit this process, and not a command that it ran."""
    left = ended.__context__
    return left is not None and isinstance(left.__cause__, KeyboardInterrupt)
