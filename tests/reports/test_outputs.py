"""Every command's JSON has a published schema, and keeps to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from enum import EnumMeta
from pathlib import Path
from typing import Any

import pytest
import typer
from outputs import hold, refusals
from typer.testing import CliRunner

from rocefort import tasks
from rocefort.base.json_output import OUTPUT_VERSION
from rocefort.base.repository import ROOT
from rocefort.site.outputs import OUTPUTS
from rocefort.tasks import cli

# Commands without --format json, each with the reason.
WITHOUT_JSON = {
    "demo": "runs other commands, for a person who looks on",
    "schema": "prints JSON Schema",
    "completion": "prints a script of a shell",
    "lab exec": "its output is that of another program",
    "lab snapshot": "its output is always JSON",
}


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


COMMANDS = dict(_commands(typer.main.get_command(cli)))


def test_every_command_writes_json() -> None:
    assert {name for name, each in COMMANDS.items() if not _writes_json(each)} == {*WITHOUT_JSON}


def test_every_output_is_in_the_schema() -> None:
    assert {*OUTPUTS} == {*COMMANDS} - {*WITHOUT_JSON} | {"lab snapshot"}


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {*WITHOUT_JSON}))
def test_every_command_reports_a_bad_command_line_as_json(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*command.split(), "--no-such-option", "--format", "json"]
    monkeypatch.setattr(sys, "argv", ["rocefort", *arguments])
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    done = capsys.readouterr()
    found = json.loads(done.out)
    assert refusals(command, found) == []
    assert (ended.value.code, found["exit_code"], found["command"]) == (2, 2, command)
    assert found["problems"][0]["what"].startswith("No such option")
    assert "No such option" in done.err


@pytest.mark.parametrize(
    "command",
    [
        *(f"show heps {kind}" for kind in ("devices", "cabling", "profiles", "exits")),
        "check heps",
        "verify heps --engine embedded",
        "verify heps --engine embedded --against HEAD:heps",
        "facts list heps",
        "trace heps readout01 storage01",
        "diff heps heps",
        "capacity heps",
        "rdma plan heps --servers k8sgn08,k8sgn09",
        "new hall2 --spines 2 --leaves 6 --directory .",
        "init site --spines 2 --leaves 2",
        "connections heps",
        "render heps",
        "render heps --out texts",
        "report heps --out page",
        "expand heps --add-leaves 1 --like leaf01 --dry-run",
        "remove heps readout01 --dry-run",
        "rename heps readout01 readout91 --dry-run",
        "stages heps --add-leaves 1 --like leaf01",
        "rules PFC",
        "explain pfc004 buf",
        "day0 heps leaf08",
        "replace heps leaf08 --connections connections.yaml",
        "host render heps --server k8sgn08",
        "host render heps --server k8sgn08 --out servers",
        "lab faults",
        "lab list",
    ],
)
def test_json_keeps_to_the_schema(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT if "HEAD:" in command else tmp_path)
    if "connections.yaml" in command:
        CliRunner().invoke(cli, ["connections", "heps"])
    arguments = [*command.split(), "--format", "json"]
    done = CliRunner().invoke(cli, arguments)
    assert json.loads(done.stdout), done.output
    assert command.startswith(json.loads(done.stdout)["command"])
    hold(arguments, done.stdout)


def test_a_difference_keeps_to_the_schema(edit_heps: Any) -> None:
    fabric: Path = edit_heps(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    arguments = ["diff", "heps", str(fabric), "--format", "json"]
    out = CliRunner().invoke(cli, arguments).output
    assert json.loads(out)["switches"]
    hold(arguments, out)


def test_what_is_not_in_the_schema_is_refused() -> None:
    head = {"schema_version": OUTPUT_VERSION, "command": "show"}
    document = {**head, "network": "heps", "table": "ports", "rows": [{"port": [1]}], "more": 1}
    assert refusals("show", document) == ["rows[0].port anyOf", "more enum"]
