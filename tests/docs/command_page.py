"""Page of docs/reference with every command, its arguments, options and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from key_pages import sentence, table
from typer.core import TyperGroup
from typer.main import get_command

from rocefort.base.command_line.help import COMMON_OPTIONS, Topic, all_commands, described
from rocefort.tasks import cli

HEADS = ("option", "values", "default", "meaning")
FACTS = re.compile(r"(.*?)  \[(.*)\]", re.DOTALL)


def commands_page() -> str:
    """Return the page: commands in the order of `rocefort --help`."""
    root = get_command(cli)
    every = [(path, command) for path, command in all_commands(root) if path != "rocefort"]
    leaves = [each for each in every if not isinstance(each[1], TyperGroup)]
    topics = {path.split()[1]: command.rich_help_panel for path, command in every[::-1]}
    parts = [HEAD, table(HEADS, _rows(root, "rocefort", common=True))]
    for topic in Topic:
        parts.append(f"\n## {topic}\n")
        parts += [
            _section(path, command) for path, command in leaves if topics[path.split()[1]] == topic
        ]
    return "\n".join(parts)


HEAD = """\
# Options of every command

`make golden` writes this page from the code.

`rocefort COMMAND -h` prints the same. [Commands](commands.md) has the topics, progress and errors,
[settings](settings.md) the environment variables, and [JSON output](output.md) the exit codes.

Every command has these options:
"""


def _context(path: str, command: Any) -> Any:
    """Context of a command with a fabric, which it needs where a site has several."""
    with patch("rocefort.base.repository.only_fabric", lambda: Path("heps")):
        return command.make_context(path, [], resilient_parsing=True)


def _section(path: str, command: Any) -> str:
    text = "\n\n".join(sentence(part) for part in (command.help or "").split("\n\n"))
    context = _context(path, command)
    usage = " ".join((path, *command.collect_usage_pieces(context)))
    examples = "".join(f"{line}\n" for line in (command.epilog or "").splitlines())
    rows = table(HEADS, _rows(command, path))
    return f"### {path}\n\n{text}\n\n```text\n{usage}\n```\n\n{rows}\nExamples:\n\n```sh\n{examples}```\n"


def _rows(command: Any, path: str, *, common: bool = False) -> Iterator[tuple[str, ...]]:
    context = _context(path, command)
    for parameter in command.params:
        record = described(parameter, context)
        if record is None or (common and parameter.name not in COMMON_OPTIONS):
            continue
        name, text = record
        facts = ""
        if match := FACTS.fullmatch(text):
            text, facts = match.groups()
        values, default = [], "required" if parameter.required else "none"
        for fact in filter(None, facts.split("; ")):
            kind, _, value = fact.partition(": ")
            if kind == "default":
                default = f"`{value}`"
            elif kind == "one of":
                values.append(", ".join(f"`{each}`" for each in value.split(", ")))
            elif kind not in {"required", "env var"}:
                values.append(fact)
        default = "off" if getattr(parameter, "is_flag", False) and default == "none" else default
        yield f"`{name.strip()}`", "; ".join(values), default, sentence(text)
