"""Output of commands: JSON, checked against the published schema, and messages without lines of files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from json_schema import refused
from pydantic import BaseModel

from rocefort.base.json_output import OUTPUT_VERSION
from rocefort.base.repository import ROOT
from rocefort.site.outputs import OUTPUTS, PROBLEMS

SCHEMA_FILE = ROOT / "docs" / "reference/output.schema.json"

HEAD = ("schema_version", "command")


@cache
def published() -> dict[str, Any]:
    """Return the published schema."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


def command_of(arguments: Sequence[str]) -> str:
    """Return the command of a command line, as in the schema; "" for a command without JSON."""
    names = (" ".join(arguments[:count]) for count in (3, 2, 1))
    return next((name for name in names if name in OUTPUTS), "")


def fields_of(out: str) -> dict[str, Any]:
    """Return the fields of a result from the JSON of a command, without version and command."""
    document: dict[str, Any] = json.loads(out)
    return {name: each for name, each in document.items() if name not in HEAD}


def refusals(command: str, document: object) -> list[str]:
    """Return paths of values that the schema refuses in the JSON of a command."""
    schema = published()
    kind = PROBLEMS if isinstance(document, dict) and "problems" in document else command
    own = schema["$defs"][kind.replace(" ", "-")]
    return list(refused({**own, "$defs": schema["$defs"]}, document))


def document_of(command: str, result: BaseModel) -> str:
    """Return the JSON of a command with that result."""
    head = dict(zip(HEAD, (OUTPUT_VERSION, command), strict=True))
    return json.dumps(head | result.model_dump(mode="json"))


def hold(arguments: Sequence[str], out: str) -> None:
    """Assert that the JSON of a command fits the schema."""
    command = command_of(arguments)
    unasked = "--format" not in arguments and out.startswith(("{", "["))
    if not command or not out or not ("json" in arguments or unasked):
        return
    try:
        documents = [json.loads(out)]
    except ValueError:  # one document per line, as a rollout writes
        documents = [json.loads(line) for line in out.splitlines()]
    for document in documents:
        assert refusals(command, document) == []


EXCERPT = re.compile(r"  +\d* \| ")


def messages(err: str) -> str:
    """Return standard error without excerpts of files."""
    return "".join(line for line in err.splitlines(keepends=True) if not EXCERPT.match(line))
