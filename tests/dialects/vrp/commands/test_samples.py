"""Commands agree with the vendor's samples, and a change of any row of the table is noticed."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import pytest
import second_opinion
import yaml
from command_samples import FOLDER, complaints, samples, samples_in, unread
from efforts import tries
from row_changes import UNCHANGED, Change, changes, in_force, noticed, rows_of_sample

from rocefort.dialects.vrp.commands.catalogue import Row, rows_by_view
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.models.hardware.hardware import SyntaxFamily

FILES = sorted(FOLDER.glob("*.yaml"))
TABLE = re.compile(
    r"rocefort\.dialects\.vrp\.(commands\.(table_\w+|command|catalogue|match)|patch\.rulebook)\b"
)
TRIED = tries(600)  # changes of rows; `make soak` tries all
ALIKE = tries(10)  # reasons; a change that nothing notices takes all samples


class Same(NamedTuple):
    """Changes that no check can notice, because the changed row means the same."""

    change: str  # regular expression over the description of a change
    reason: str


SAME = [
    Same(**row)
    for row in yaml.load(Path(__file__).with_name("same_rows.yaml").read_text(), yaml.CSafeLoader)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_interpreter_does_what_the_samples_say(path: Path) -> None:
    assert [f"{one}: {text}" for one in samples_in(path) for text in complaints(one)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_saved_line_is_read_and_written_again_or_kept(path: Path) -> None:
    assert [f"{one}: {text}" for one in samples_in(path) for text in unread(one)] == []


def test_every_row_has_a_sample_on_each_of_its_families() -> None:
    sampled = {(id(row), family) for one in samples() for row, family in rows_of_sample(one)}
    without = [
        f"{view}: {row.format} on {family}"
        for view, rows in rows_by_view().items()
        for row in rows
        for family in row.families
        if (id(row), family) not in sampled
    ]
    assert without == [], "add a sample to tests/dialects/samples, from the vendor's reference"


def test_every_sample_names_its_source() -> None:
    assert [str(one) for one in samples() if not one.source.strip()] == []


# -- changed rows ---------------------------------------------------------------------------------


def unnoticed(tried: Iterable[Change]) -> Iterator[Change]:
    """Losses of lines without a row have cases in tests/dialects/vrp/patch/test_unowned.py."""
    for change in (one for one in tried if one.field != "losses"):
        if same(change) is None and not noticed(change):
            yield change


def same(change: Change) -> Same | None:
    return next((row for row in SAME if re.fullmatch(row.change, str(change))), None)


@pytest.mark.soak
def test_changes_of_rows_are_noticed() -> None:
    every = list(changes())
    tried = random.Random(19).sample(every, min(TRIED, len(every)))
    assert [str(change) for change in unnoticed(tried)] == []


@pytest.mark.thorough
def test_each_reason_has_changes_and_no_change_has_two() -> None:
    reasons = [row for change in changes() for row in SAME if re.fullmatch(row.change, str(change))]
    assert {*reasons} == {*SAME}
    assert len(reasons) == sum(same(change) is not None for change in changes())


@pytest.mark.thorough
@pytest.mark.soak
def test_a_change_of_a_reason_is_not_noticed() -> None:
    """One of each that is drawn, by chance."""
    alike = {row: [change for change in changes() if same(change) == row] for row in SAME}
    drawn = random.Random(19).sample(list(alike.values()), min(ALIKE, len(alike)))
    tried = [random.Random(19).choice(some) for some in drawn]
    assert [str(change) for change in tried if noticed(change)] == []


def test_a_change_holds_for_the_interpreter_and_only_for_a_while() -> None:
    change = next(one for one in changes() if str(one).endswith("`lldpx` for `lldp`"))
    with in_force(change), pytest.raises(VrpRefusal):
        apply_lines((), ["lldp enable"], SyntaxFamily.V200)
    assert apply_lines((), ["lldp enable"], SyntaxFamily.V200)


def test_every_field_of_a_row_is_changed_or_told_not_to_be() -> None:
    assert {field.name for field in fields(Row)} == {one.field for one in changes()} | {*UNCHANGED}


# -- independence ---------------------------------------------------------------------------------


def imported(path: Path) -> set[str]:
    """Modules that a file imports, and what it imports from them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize(
    "file",
    [
        "support/vrp/command_samples.py",
        "support/vrp/second_opinion.py",
        "dialects/vrp/fabrics/test_hier_config.py",
    ],
)
def test_a_judge_does_not_look_into_the_table(file: str) -> None:
    names = imported(Path(__file__).parents[3] / file)
    assert [name for name in names if TABLE.match(name)] == []


def test_hier_config_judges_the_same_without_any_row(monkeypatch: pytest.MonkeyPatch) -> None:
    old = "vlan batch 10 20\ninterface Vlanif10\n mtu 9000\nbgp 65001\n peer 10.0.0.0 as-number 1\n"
    new = "vlan batch 10\ninterface Vlanif10\n mtu 4000\n description x\nbgp 65001\n"
    verdict = second_opinion.of_hier_config(old, new)
    assert (len(verdict.gone), len(verdict.come)) == (3, 2)
    monkeypatch.setattr(
        "rocefort.dialects.vrp.commands.match.rows_of", lambda *_: pytest.fail("a row")
    )
    assert second_opinion.of_hier_config(old, new) == verdict
