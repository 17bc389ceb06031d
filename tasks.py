"""Command line of `rocefort`: options before a command, its commands, and errors.

Each command imports its own modules, so that `rocefort --help` prints at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from rocefort import __version__
from rocefort.base import internal_errors, json_output, options, output
from rocefort.base.command_line.help import WIDEST, Topic
from rocefort.base.command_line.verbosity import permit_site_rules
from rocefort.base.errors import ExitCode, Problem, RocefortError, exit_codes_text
from rocefort.base.features import is_installed
from rocefort.base.gc_tuning import collect_seldom
from rocefort.base.streams import open_standard_streams, visible_streams
from rocefort.reports import problems
from rocefort.site.root_group import RootGroup

# Commands that act on switches or servers: Ctrl-C is their operator's stop.
ACTING = frozenset(
    {"apply", "resume", "rollback", "rehearse", "rdma run", "tune measure", "experiment"}
)

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
# Modules with commands, in the order of the help: the name of their group, empty at the top level.
COMMANDS = (
    ("rocefort.verification.verification_commands", "", ""),
    ("rocefort.verification.compare_commands", "", ""),
    ("rocefort.verification.growth_commands", "", ""),
    ("rocefort.beamline.beamline_commands", "beamline", Topic.DESIGN),
    ("rocefort.site.site_commands", "", ""),
    ("rocefort.design.design_commands", "", ""),
    ("rocefort.rollout.facts.facts_commands", "facts", Topic.VERIFY),
    ("rocefort.rollout.operate_commands", "", ""),
    ("rocefort.rollout.plan_commands", "", ""),
    ("rocefort.lab.rehearsal.rehearse_command", "", ""),
    ("rocefort.fleet.trust_command", "", ""),
    ("rocefort.rollout.live.health_command", "", ""),
    ("rocefort.lab.demo.demo_commands", "", ""),
    ("rocefort.site.root_group", "", ""),
    ("rocefort.lab.lab_commands", "lab", Topic.LAB),
    ("rocefort.rdma.acceptance.accept_command", "", ""),
    ("rocefort.rdma.host_commands", "host", Topic.OPERATE),
    ("rocefort.rdma.rdma_commands", "rdma", Topic.MEASURE),
    ("rocefort.tune.tune_command", "tune", Topic.MEASURE),
    ("rocefort.experiment.experiment_command", "", ""),
    ("rocefort.paper.paper_command", "", ""),
)
for module, group, topic in COMMANDS:
    if is_installed(module):
        commands = import_module(module).cli
        if group:
            cli.add_typer(commands, name=group, rich_help_panel=topic)
        else:
            cli.add_typer(commands)


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
    site_rules: Annotated[  # noqa: ARG001
        bool | None,  # no key of `rocefort.toml`: the file may be that of a reviewed change
        typer.Option(
            "--site-rules/--no-site-rules",
            is_eager=True,
            callback=permit_site_rules,
            help="Judge by the rules of this site: the default, unless ROCEFORT_SITE_RULES is no.",
        ),
    ] = None,
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
