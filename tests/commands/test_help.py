"""`--help` of every command: a summary that fits its line, and a sentence for every parameter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from rocefort.tasks import cli

SUMMARY_COLUMNS = 72  # of 80, without the indent and the gap; the longest name takes the rest


def groups(group: TyperGroup, path: str = "rocefort") -> Iterator[tuple[str, TyperGroup]]:
    yield path, group
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from groups(command, f"{path} {name}")


ROOT_GROUP = get_command(cli)
assert isinstance(ROOT_GROUP, TyperGroup)
GROUPS = dict(groups(ROOT_GROUP))


@pytest.mark.parametrize("path", GROUPS)
def test_every_summary_fits_its_line(path: str) -> None:
    commands = GROUPS[path].commands
    columns = SUMMARY_COLUMNS - max(map(len, commands))
    summaries = {name: each.get_short_help_str(columns) for name, each in commands.items()}
    assert [name for name, text in summaries.items() if not text or text.endswith("...")] == []


@pytest.mark.parametrize("path", GROUPS)
def test_every_parameter_has_a_help_sentence(path: str) -> None:
    without = [
        f"{name} {parameter.name}"
        for name, command in GROUPS[path].commands.items()
        for parameter in command.params
        if not str(getattr(parameter, "help", None) or "").endswith(".")
    ]
    assert without == []
