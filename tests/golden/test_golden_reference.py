"""Pages of docs/reference about files and commands agree with the code (`make golden`)."""

from __future__ import annotations

import json
import re

import pytest
from json_schema import refused
from reference import PAGES

from rocefort.options import SchemaDocument
from rocefort.paths import ROOT
from rocefort.steps.site.schemas import schema_text

FOLDER = ROOT / "docs/reference"
COLUMN = re.compile(r"(?<!\\)\|")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_that_of_the_code(name: str, golden_update: bool) -> None:
    text = PAGES[name]()
    if golden_update:
        (FOLDER / name).write_text(text, encoding="utf-8")
    assert (FOLDER / name).read_text(encoding="utf-8") == text, "run `make golden`"


@pytest.mark.parametrize("name", PAGES)
def test_every_key_has_a_meaning_and_an_example(name: str) -> None:
    rows = [
        [cell.strip() for cell in COLUMN.split(line)[1:-1]]
        for line in PAGES[name]().splitlines()
        if line.startswith("| `")
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
