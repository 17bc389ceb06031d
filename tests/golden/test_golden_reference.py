"""Pages of docs/reference about files and commands agree with the code (`make golden`)."""

from __future__ import annotations

import json
import re

import pytest
from event_page import ACTS, acts_of_rollouts
from json_schema import refused
from key_pages import HEADS
from reference import PAGES
from typer.main import get_command

from rocefort.base.command_line.help import all_commands
from rocefort.base.options import SchemaDocument
from rocefort.base.repository import ROOT
from rocefort.site.outputs import OUTPUTS
from rocefort.site.schemas import schema_text
from rocefort.tasks import cli

FOLDER = ROOT / "docs/reference"
COLUMN = re.compile(r"(?<!\\)\|")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_that_of_the_code(name: str, golden_update: bool) -> None:
    text = PAGES[name]()
    if golden_update:
        (FOLDER / name).write_text(text, encoding="utf-8")
    assert (FOLDER / name).read_text(encoding="utf-8") == text, "run `make golden`"


@pytest.mark.parametrize("name", [name for name in PAGES if name not in {"options.md", "json.md"}])
def test_every_key_has_a_meaning_and_an_example(name: str) -> None:
    rows = [
        [cell.strip() for cell in COLUMN.split(line)[1:-1]]
        for line in PAGES[name]().splitlines()
        if line.startswith("| `") and len(COLUMN.split(line)) == len(HEADS) + 2
    ]
    assert len(rows) > 5
    for key, kind, _, default, example, meaning in rows:
        assert meaning, key
        assert default, key
        assert example or "[keys]" in kind, key


@pytest.mark.parametrize("document", [each for each in SchemaDocument if each != "output"])
def test_every_example_fits_its_key(document: SchemaDocument) -> None:
    schema = json.loads(schema_text(document))
    shared = schema.get("$defs", {})
    tried = 0
    for model in (schema, *shared.values()):
        for key, about in model.get("properties", {}).items():
            for example in about.get("examples", ()):
                tried += 1
                assert list(refused({**about, "$defs": shared}, example)) == [], (key, example)
    assert tried or document == SchemaDocument.SETTINGS


def test_the_acts_are_those_of_the_events() -> None:
    assert sorted(ACTS) == sorted(acts_of_rollouts())


def test_every_output_has_its_keys() -> None:
    text = (FOLDER / "json.md").read_text(encoding="utf-8")
    sections = re.findall(r"(?m)^### (.+)$", text)
    assert {*(f"rocefort {name}" for name in OUTPUTS), "problems", "progress"} <= {*sections}
    anchors = [re.sub(r"[^\w -]", "", heading.lower()) for heading in sections]
    assert len({*anchors}) == len(anchors)
    assert {*re.findall(r"\(#(\w+)\)", text)} <= {*anchors}


def test_every_command_has_its_options() -> None:
    text = (FOLDER / "options.md").read_text(encoding="utf-8")
    leaves = [(p, c) for p, c in all_commands(get_command(cli)) if not hasattr(c, "commands")]
    assert len(leaves) > 60
    for path, command in leaves:
        section = text.partition(f"\n### {path}\n")[2].partition("\n### ")[0]
        for option in command.params:
            name = max(option.opts, key=len)
            assert option.hidden or name in section or option.metavar in section, (path, name)
