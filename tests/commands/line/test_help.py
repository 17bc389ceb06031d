"""Help of every command: whole summaries, words for values, and examples that are true."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from rocefort.base.command_line.help import Topic, all_commands
from rocefort.rdma.options import LEAST_DURATION_S
from rocefort.rdma.plan import site
from rocefort.tasks import cli

Rocefort = Callable[..., Any]


ROOT_GROUP: Any = get_command(cli)
COMMANDS = dict(all_commands(ROOT_GROUP))
GROUPS: dict[str, Any] = {
    path: each for path, each in COMMANDS.items() if isinstance(each, TyperGroup)
}
EXAMPLES = {path: str(command.epilog).splitlines() for path, command in COMMANDS.items()}


def arguments_of(example: str) -> list[str]:
    """Words after `rocefort`, without what a shell reads: variables, sudo, pipes, files."""
    inner = re.sub(r'^eval "\$\((.*?)\)".*', r"\1", example)
    words = shlex.split(re.split(r" [|>] ", inner)[0])
    return words[words.index("rocefort") + 1 :]


def parsed(arguments: list[str]) -> str:
    """Parse a command line as a run does, and return the command's path."""
    context: Any = ROOT_GROUP.make_context("rocefort", arguments)
    while isinstance(context.command, TyperGroup):
        words = [*context._protected_args, *context.args]
        found: Any = context.command.resolve_command(context, words)
        name, command, rest = found
        context = command.make_context(name, rest, parent=context)
    return str(context.command_path)


@pytest.mark.parametrize("path", COMMANDS)
@pytest.mark.parametrize("width", [80, 200])
def test_a_page_fits_and_has_all_its_sections(
    path: str, width: int, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    page = rocefort(*path.split()[1:], "--help").out
    assert rocefort(*path.split()[1:], "-h").out == page
    assert page.startswith(f"Usage: {path} [OPTIONS]")
    assert "\nExamples:\n  " in page
    assert "-h, --help " in page
    assert [line for line in page.splitlines() if len(line) > min(width, 100)] == []
    assert not re.search(r"<[a-z\[\]|]+>|\{", page), "a type instead of a word"
    assert "..." not in re.sub(r"[A-Z\]]\.\.\.", "", page), "a text is cut"


@pytest.mark.parametrize("path", GROUPS)
def test_every_summary_is_one_whole_line(
    path: str, rocefort: Rocefort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = rocefort(*path.split()[1:], "-h").out
    for name, command in GROUPS[path].commands.items():
        (line,) = re.findall(rf"(?m)^  {name} +(.*)$", page.split("\nExamples")[0])
        assert line == command.help.strip().split("\n")[0]
        assert line.endswith(".")


def test_every_command_of_the_root_has_a_topic() -> None:
    topics = {name: each.rich_help_panel for name, each in ROOT_GROUP.commands.items()}
    assert [name for name, topic in topics.items() if topic not in set(Topic)] == []
    assert set(topics.values()) == set(Topic)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_parameter_has_a_help_sentence(path: str) -> None:
    without = [
        parameter.name
        for parameter in COMMANDS[path].params
        if not str(getattr(parameter, "help", None) or "").endswith(".")
    ]
    assert without == []


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_examples_that_parse(path: str) -> None:
    assert len(EXAMPLES[path]) >= 2
    for example in EXAMPLES[path]:
        arguments = arguments_of(example)
        if arguments[-1] == "--help":
            assert "rocefort " + " ".join(arguments[:-1]) in COMMANDS
        else:
            assert parsed(arguments).startswith(path)


# Cheap examples, in an order in which each finds the files that it names.
RUN = """render, check, report, trace, rules, explain, facts list, capacity, beamline list,
beamline show, show, schema, import, diff, drift, connections, day0, new, expand, rename,
remove, stages, init, host render, rdma plan, lab faults"""
NEEDS_SWITCHES = "--connections connections.yaml"


@pytest.mark.thorough
def test_examples_run(clone: Any, forked: str, author: dict[str, str]) -> None:
    folder: Path = clone.top
    clone.edit(("hold_s: 30", "hold_s: 45"))
    clone.commit("longer hold time")
    for name in re.split(r",\s+", RUN):
        for example in EXAMPLES[f"rocefort {name}"]:
            if NEEDS_SWITCHES in example:
                continue
            clone.git("checkout", "--quiet", "--", "inventory")
            environment = {**os.environ, **author, "PATH": forked, "PASSWORD": "Secret-123"}
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", example],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, ""), example


def test_the_least_duration_is_that_of_the_plan() -> None:
    assert LEAST_DURATION_S == site.LEAST_DURATION_S


def test_version_has_a_short_form(rocefort: Rocefort) -> None:
    assert rocefort("-V").out == rocefort("--version").out != ""


def test_a_command_has_the_help_class() -> None:
    assert {
        type(each).__name__ for each in COMMANDS.values() if isinstance(each, TyperCommand)
    } == {"HelpedCommand"}


FLOATS = [
    (path, max(option.opts, key=len))
    for path, command in COMMANDS.items()
    for option in command.params
    if option.type_descriptor.annotation is float
]


def test_every_option_with_a_fraction_is_in_the_table() -> None:
    assert {"--min-gbps", "--max-latency", "--batfish-limit"} <= {name for _, name in FLOATS}


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e999", "-1e999", "1e300"])
@pytest.mark.parametrize(("path", "option"), FLOATS)
def test_no_option_takes_an_infinite_number(
    path: str, option: str, value: str, rocefort: Rocefort
) -> None:
    words = ["5" for each in COMMANDS[path].params if each.param_type_name == "argument"]
    result = rocefort(*path.split()[1:], *words, f"{option}={value}")
    assert result.code == 2
    words_of = rf"Error: Invalid value for '{option}'.*: it is at (least [\d.]+|most \d+)\n"
    assert re.search(words_of, result.err)
