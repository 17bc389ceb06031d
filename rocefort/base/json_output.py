"""JSON of a command on standard output: one document, which names its schema and its command."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import click

from napalm_cloudengine.masking import cut_path
from napalm_cloudengine.text import visible

if TYPE_CHECKING:
    from pydantic import BaseModel

OUTPUT_VERSION: Final = 1  # of output.schema.json; a change that breaks a reader raises it
FORMAT, VARIABLE = "--format", "ROCEFORT_FORMAT"


@dataclass
class OutputRequest:
    """Command of this process, the requested format of its output, and whether that is written."""

    command: str = ""
    form: str = "text"
    written: bool = False


request = OutputRequest()


def begin(group: Any, args: Sequence[str], default: str = "text") -> None:  # noqa: ANN401 - Typer's
    """Take the command and its format from a command line, before Typer parses it.

    A bad option or a bad settings file is then reported in that format, too. default: the format of
    the settings.
    """
    names: list[str] = []
    words, before = [*args], ""
    while words and hasattr(group, "commands"):
        word = words.pop(0)
        if word in group.commands:
            names.append(word)
            group = group.commands[word]
        elif not (word.startswith("-") or before.startswith("-")):  # no option, no value of one
            break
        before = word
    if command := getattr(group, "default_command", ""):  # the command of a line without one
        names.append(command)
        group, words = group.commands[command], [*args]
    is_known = not hasattr(group, "commands")
    formatted = any(FORMAT in each.opts for each in group.params)
    request.command, request.written = " ".join(names), False
    request.form = _format_of(words if is_known else args) or os.environ.get(VARIABLE) or default
    if is_known and not formatted:  # such as `lab exec`: the words are those of another program
        request.form = "text"


def _format_of(words: Sequence[str]) -> str:
    """Return the value of the last `--format`; "" without one."""
    own = words[: words.index("--")] if "--" in words else words
    values = [word.partition("=")[2] for word in own if word.startswith(f"{FORMAT}=")]
    values += [value for word, value in pairwise(own) if word == FORMAT]
    return "".join(values[-1:])


def json_text(content: BaseModel, *, indent: int | None = 2) -> str:
    """Return a result as JSON: version of the schema and command, then the fields of the result.

    Unseen characters are spelled as `\\u009b`, which is the same value. A running line without a
    model is cut at a word like the name of a secret.
    indent: None for one line, as in a stream of events.
    """
    head = json.dumps(
        {"schema_version": OUTPUT_VERSION, "command": request.command},
        indent=indent,
        separators=(",", ": " if indent else ":"),
    )
    body = visible(_data(content, indent))
    return f"{head.rstrip('}').rstrip()},{body[1:]}" if body != "{}" else head


def _data(content: BaseModel, indent: int | None) -> str:
    context = {"cut": cut_path}
    try:
        return content.model_dump_json(indent=indent, by_alias=True, context=context)
    except ValueError:  # the name of a file that is not UTF-8 has surrogates for its bytes
        values = content.model_dump(mode="json", by_alias=True, context=context)
        separators = (",", ": " if indent else ":")
        return json.dumps(values, indent=indent, separators=separators, ensure_ascii=False)


def write_json(content: BaseModel, *, indent: int | None = 2) -> None:
    """Write a result to standard output as JSON."""
    text = json_text(content, indent=indent)
    request.written = True  # also if an interrupt cuts it: no second document follows
    click.echo(text)
