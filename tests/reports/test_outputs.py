"""Every command's JSON has a published schema, and keeps to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import EnumMeta
from pathlib import Path
from typing import Any

import pytest
import typer
from outputs import hold, refusals
from typer.testing import CliRunner

from rocefort.reports.outputs import OUTPUTS
from rocefort.tasks import cli

ELSEWHERE = {"lab snapshot", "review"}  # always JSON, or JSON in a file


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(path), command
        return
    for name, child in inner.items():
        yield from _commands(child, (*path, name))


def _writes_json(command: Any) -> bool:
    params = [each for each in command.params if each.name != "_progress"]  # on standard error
    kinds = [getattr(each.type_descriptor, "annotation", None) for each in params]
    return any("JSON" in kind.__members__ for kind in kinds if isinstance(kind, EnumMeta))


def test_every_command_that_writes_json_is_in_the_schema() -> None:
    commands = dict(_commands(typer.main.get_command(cli)))
    assert {name for name, each in commands.items() if _writes_json(each)} | ELSEWHERE == set(
        OUTPUTS
    )


@pytest.mark.parametrize(
    "command",
    [
        *(f"show heps {kind}" for kind in ("devices", "cabling", "profiles", "exits")),
        "check heps",
        "verify heps --engine embedded",
        "verify heps --engine embedded --against HEAD:heps",
        "facts heps",
        "trace heps readout01 storage01",
        "diff heps heps",
        "capacity heps",
        "rdma plan heps --servers k8sgn08,k8sgn09",
    ],
)
def test_json_keeps_to_the_schema(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [*command.split(), "--format", "json"]
    done = CliRunner().invoke(cli, arguments)
    assert json.loads(done.output)
    hold(arguments, done.output)


def test_a_difference_keeps_to_the_schema(edit_heps: Any) -> None:
    fabric: Path = edit_heps(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    arguments = ["diff", "heps", str(fabric), "--format", "json"]
    out = CliRunner().invoke(cli, arguments).output
    assert json.loads(out)["switches"]
    hold(arguments, out)


def test_what_is_not_in_the_schema_is_refused() -> None:
    document = {"network": "heps", "table": "ports", "rows": [{"port": [1]}], "more": 1}
    assert refusals("show", document) == ["rows[0].port anyOf", "more enum"]
