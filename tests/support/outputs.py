"""What a command wrote as JSON, held against the published schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from json_schema import refused

from rocefort.paths import ROOT
from rocefort.reports.outputs import OUTPUTS

SCHEMA_FILE = ROOT / "docs" / "output.schema.json"


@cache
def published() -> dict[str, Any]:
    """The schema as it is published."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


def command_of(arguments: Sequence[str]) -> str:
    """The command of a command line, as the schema names it; "" where it has no JSON."""
    names = (" ".join(arguments[:2]), arguments[0] if arguments else "")
    return next((name for name in names if name in OUTPUTS), "")


def refusals(command: str, document: object) -> list[str]:
    """Paths of what the schema refuses in the JSON of a command."""
    schema = published()
    own = schema["$defs"][command.replace(" ", "-")]
    return list(refused({**own, "$defs": schema["$defs"]}, document))


def hold(arguments: Sequence[str], out: str) -> None:
    """Assert that JSON of a command is as published, also of one that writes nothing else."""
    command = command_of(arguments)
    unasked = "--format" not in arguments and out.startswith(("{", "["))
    if not command or not out or not ("json" in arguments or unasked):
        return
    try:
        documents = [json.loads(out)]
    except ValueError:  # a document a line, as a rollout writes them
        documents = [json.loads(line) for line in out.splitlines()]
    for document in documents:
        assert refusals(command, document) == []
