"""Root of the command line: defaults of `rocefort.toml`, and the script that completes lines."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rocefort.base import json_output
from rocefort.base.command_line.help import HelpedGroup, Topic, documented
from rocefort.base.command_line.verbosity import log_error
from rocefort.base.errors import BadInput
from rocefort.base.repository import SETTINGS_FILE, site_of
from rocefort.base.streams import visible_streams

cli = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class Shell(StrEnum):
    """Shell whose command lines are completed."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@cli.command(
    **documented(
        'eval "$(rocefort completion bash)"  # in ~/.bashrc',
        'eval "$(rocefort completion zsh)"  # in ~/.zshrc, after compinit',
        "rocefort completion fish > ~/.config/fish/completions/rocefort.fish",
        topic=Topic.SITE,
    )
)
def completion(shell: Annotated[Shell, typer.Argument(help="Shell.")]) -> None:
    """Print the script that completes commands and names in a shell.

    It completes commands, options and their values, and the names of fabrics, switches, servers,
    segments, models and rules.
    """
    from rocefort.base.command_line.completion import completion_script

    typer.echo(completion_script(shell.value), nl=False)


WITHOUT_SETTINGS = frozenset({"-h", "--help", "-V", "--version"})  # these work with a broken file
# `comment` works in the checkout of a stranger's change, and `completion` at the start of a shell.
COMMANDS_WITHOUT_SETTINGS = frozenset({"comment", "completion"})


def _default_format(defaults: dict[str, Any]) -> str:
    """Return the format that the settings give to commands."""
    return str(defaults.get("check", {}).get("form", "text"))


class RootGroup(HelpedGroup):
    """Group of all commands; reads the settings before it parses the options of a command."""

    def _main_shell_completion(self, *_arguments: object, **_settings: object) -> None:
        """Answer the script of a shell, if it runs this process."""
        if instruction := os.environ.get("_ROCEFORT_COMPLETE"):
            from rocefort.base.command_line.completion import answer

            sys.stdout.write(f"{answer(self, instruction)}\n")
            raise SystemExit(0)

    def main(self, *arguments: Any, **settings: Any) -> Any:  # noqa: ANN401 - Click's or Typer's
        """Run a command line, whose output and errors are visible text."""
        with visible_streams():
            return super().main(*arguments, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Click's or Typer's
        """Give the context the defaults of the settings, then parse."""
        if not ctx.resilient_parsing:  # a shell completes
            json_output.begin(self, args)
        if args and not ctx.resilient_parsing and not WITHOUT_SETTINGS.intersection(args):
            _, rest, _ = self.make_parser(ctx).parse_args(list(args))
            if not COMMANDS_WITHOUT_SETTINGS.intersection(rest[:1]):
                ctx.default_map = self._defaults()
        if ctx.default_map:
            json_output.begin(self, args, _default_format(ctx.default_map))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Click's or Typer's
        """Run a command; its error is logged before the log ends."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            log_error(error)
            raise

    def _defaults(self) -> dict[str, Any] | None:
        """Read the settings of the site of the current directory; None: there are none."""
        try:
            site = site_of(Path())
        except FileNotFoundError:
            what = "the current directory does not exist"
            raise BadInput(what, how="change to one that does") from None
        file = site.root / SETTINGS_FILE if site else None
        if file is None or not file.is_file():
            return None
        from rocefort.site.settings import load_settings, option_defaults

        return option_defaults(load_settings(file), self)
