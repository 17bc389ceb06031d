"""`completion`: the script that completes command lines in a shell."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rocefort.base.command_line.help import Topic, documented

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
