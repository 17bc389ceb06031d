"""Command line of `rocefort`: options before a command, and errors; `commands/` has the commands.

Each command imports its own modules, so that `rocefort --help` prints at once.
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from rocefort import __version__
from rocefort.base import internal_errors, json_output, options, output
from rocefort.base.command_line.help import WIDEST, Topic
from rocefort.base.errors import ExitCode, Problem, RocefortError, exit_codes_text
from rocefort.base.gc_tuning import collect_seldom
from rocefort.base.streams import open_standard_streams, visible_streams
from rocefort.design import design_commands
from rocefort.fleet import trust_command
from rocefort.lab import lab_commands
from rocefort.lab.demo import demo_commands
from rocefort.lab.rehearsal import rehearse_command
from rocefort.rdma import host_commands, rdma_commands
from rocefort.reports import problems
from rocefort.rollout import operate_commands, plan_commands
from rocefort.rollout.facts import facts_commands
from rocefort.rollout.live import health_command
from rocefort.site import root_group, site_commands
from rocefort.site.root_group import RootGroup
from rocefort.tune import tune_command
from rocefort.verification import compare_commands, growth_commands, verification_commands

# Commands that act on switches or servers: Ctrl-C is their operator's stop.
ACTING = frozenset({"apply", "resume", "rollback", "rehearse", "rdma run", "tune measure"})

NAME = "rocefort"  # also of `python tasks.py` and `python -m rocefort`: one text for all

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
cli.add_typer(verification_commands.cli)
cli.add_typer(compare_commands.cli)
cli.add_typer(growth_commands.cli)
cli.add_typer(site_commands.cli)
cli.add_typer(design_commands.cli)
cli.add_typer(facts_commands.cli, name="facts", rich_help_panel=Topic.VERIFY)
cli.add_typer(operate_commands.cli)
cli.add_typer(plan_commands.cli)
cli.add_typer(rehearse_command.cli)
cli.add_typer(trust_command.cli)
cli.add_typer(health_command.cli)
cli.add_typer(demo_commands.cli)
cli.add_typer(root_group.cli)
cli.add_typer(lab_commands.cli, name="lab", rich_help_panel=Topic.LAB)
cli.add_typer(host_commands.cli, name="host", rich_help_panel=Topic.OPERATE)
cli.add_typer(rdma_commands.cli, name="rdma", rich_help_panel=Topic.MEASURE)
cli.add_typer(tune_command.cli, name="tune", rich_help_panel=Topic.MEASURE)


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
    open_standard_streams()
    with visible_streams():
        _run()


def _run() -> None:
    collect_seldom()
    try:
        cli(prog_name=NAME)
    except RocefortError as error:
        output.print_error(internal_errors.masked(output.text_of_error(error)))
        problems.write_problems(error.problems, error.exit_code)
        sys.exit(error.exit_code)
    except SystemExit as ended:
        problems.write_usage_error(ended)
        if ended.code == ExitCode.INTERRUPTED and _by_ctrl_c(ended):  # Typer prints nothing
            _end_by_ctrl_c()
        raise
    except KeyboardInterrupt:  # before Typer has read the commands
        _end_by_ctrl_c()
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
    problems.write_problems((Problem("internal error", what, how),), ExitCode.INTERNAL)
    sys.exit(ExitCode.INTERNAL)


def _end_by_ctrl_c() -> NoReturn:
    """Exit by Ctrl-C; a command in control of switches or servers does not end here."""
    acts = json_output.request.command in ACTING
    what = (
        "stopped before it touched a switch or a server" if acts else "interrupted before its end"
    )
    code = ExitCode.STOPPED if acts else ExitCode.INTERRUPTED
    output.print_error(f"rocefort: {what}")
    problems.write_problems((Problem("", what),), code)
    sys.exit(code)


def _by_ctrl_c(ended: SystemExit) -> bool:
    """Whether the interruption hit this process, and not a command that it ran."""
    left = ended.__context__
    return left is not None and isinstance(left.__cause__, KeyboardInterrupt)


if __name__ == "__main__":  # `python tasks.py check heps` in a clone
    app()
