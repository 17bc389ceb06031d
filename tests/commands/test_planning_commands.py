"""Commands of the planner: new, show, schema."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from rocefort.base import options
from rocefort.design.load.documents import DEMAND_SCHEMA_FILE, SCHEMA_FILE
from rocefort.design.results import ShowTable

Rocefort = Callable[..., Any]


def test_a_new_fabric_passes_check_and_is_never_overwritten(
    rocefort: Rocefort, tmp_path: Path
) -> None:
    words = ("new", "lab1", "--spines", 2, "--leaves", 4, "--servers-per-leaf", 3)
    done = rocefort(*words, "--directory", tmp_path)
    path = tmp_path / "lab1" / "fabric.yaml"
    assert (done.code, done.out) == (0, f"{path}\n")
    assert rocefort("check", path).code == 0
    text = path.read_text()
    again = rocefort(*words, "--directory", tmp_path)
    assert again.code == 4
    assert again.err.startswith(f"rocefort: {path}: ")
    assert path.read_text() == text


def test_show_lists_the_same_rows_in_every_form(rocefort: Rocefort) -> None:
    rows = json.loads(rocefort("show", "heps", "cabling", "--format", "json").out)["rows"]
    table = list(
        csv.DictReader(io.StringIO(rocefort("show", "heps", "cabling", "--format", "csv").out))
    )
    assert len(rows) == len(table) == 16 + 12
    text = rocefort("show", "heps", "cabling").out
    assert max(map(len, text.splitlines())) <= 80


def test_schema_is_the_shipped_file(rocefort: Rocefort) -> None:
    assert rocefort("schema").out == SCHEMA_FILE.read_text(encoding="utf-8")
    demand = DEMAND_SCHEMA_FILE.read_text(encoding="utf-8")
    assert rocefort("schema", "--of", "demand").out == demand


@pytest.mark.parametrize(("ours", "theirs"), [(options.TableOption, ShowTable)])
def test_the_words_of_the_command_line_are_those_of_the_table(
    ours: type[StrEnum], theirs: type[StrEnum]
) -> None:
    assert [word.value for word in ours] == [word.value for word in theirs]


def test_show_writes_the_file_of_a_scheduler(rocefort: Rocefort) -> None:
    words = ("show", "heps", "slurm-topology", "--segments", "storage")
    assert rocefort(*words).out.splitlines()[1:] == [
        *('SwitchName=leaf04 Nodes="\\', "storage01,\\", '"'),
        *('SwitchName=heps Switches="\\', "leaf04,\\", '"'),
    ]
    row = {"server": "storage01", "segment": "storage", "leaf": "leaf04", "fabric": "heps"}
    assert json.loads(rocefort(*words, "--format", "json").out)["rows"] == [row]
    assert rocefort(*words, "--format", "csv").out.splitlines() == [
        ",".join(row),
        ",".join(row.values()),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("links", "--segments", "storage"),
            "--segments: not for links; use it for slurm-topology, slurm-blocks, kubernetes-labels",
        ),
        (
            ("slurm-topology", "--block-sizes", "4"),
            "--block-sizes: not for slurm-topology; use it for slurm-blocks",
        ),
        (
            ("slurm-blocks", "--block-sizes", "4,x"),
            "--block-sizes: 'x' is no number of servers; use whole numbers: 4,16",
        ),
    ],
)
def test_an_option_of_another_table_is_an_error(
    rocefort: Rocefort, words: tuple[str, ...], message: str
) -> None:
    done = rocefort("show", "heps", *words)
    assert (done.code, done.err) == (2, f"rocefort: {message}\n")
