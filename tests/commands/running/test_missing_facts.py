"""Each verdict (not judged) names the one fact that settles it, and how to find it out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from outputs import fields_of

from rocefort.dialects.vrp import terms
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.finding import MissingFact
from rocefort.models.hardware.netbox import AddedFacts
from rocefort.validators.rules.missing import Missing

Rocefort = Callable[..., Any]

SUBJECTS = {
    "HEPS": ("check", "heps"),
    "HEPS verified": ("verify", "heps"),
    "texts": ("check", "--configs", "{}"),
    "texts verified": ("verify", "--configs", "{}"),
    "texts of HEPS": ("check", "heps", "--configs", "{}"),
    "texts of HEPS verified": ("verify", "heps", "--configs", "{}"),
}
NONE = {"HEPS verified", "texts of HEPS verified"}  # everything is judged
KEY = re.compile(r"([a-z_.]+)(?=[, ])")


def _missing(rocefort: Rocefort, *command: str) -> list[MissingFact]:
    found = fields_of(rocefort(*command, "--format", "json").out)["not_judged"]
    return [MissingFact.model_validate(each["missing"]) for each in found]


@pytest.fixture
def commands(saved: Callable[..., Path]) -> dict[str, list[str]]:
    directory = str(saved())
    return {name: [w.format(directory) for w in words] for name, words in SUBJECTS.items()}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_verdict_has_a_fact_and_a_way(
    rocefort: Rocefort, commands: dict[str, list[str]], subject: str
) -> None:
    found = _missing(rocefort, *commands[subject])
    assert bool(found) is (subject not in NONE)
    names = set(_names(Fabric.model_json_schema())) | set(_names(AddedFacts.model_json_schema()))
    for missing in found:
        assert missing.fact
        assert missing.ask or missing.key, missing
        assert not missing.ask or missing.ask in terms.WORDS.quoted.values()
        for key in KEY.findall(missing.key.partition(" in ")[0] + " "):
            parts = set(key.split(".")) - {"of", "the", "profile"}
            assert parts <= names, missing


def _names(schema: object) -> Iterator[str]:
    """Names of all properties of a schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for each in schema.values():
            yield from _names(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names(each)


def test_a_fact_without_a_way_is_a_mistake_of_the_rule() -> None:
    with pytest.raises(TypeError, match="no term, key or command for the missing fact 'x'"):
        Missing("x")


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "junit"])
def test_every_format_shows_it(rocefort: Rocefort, form: str) -> None:
    facts = {str(missing) for missing in _missing(rocefort, "check", "heps")}
    out = rocefort("check", "heps", "--format", form).out
    if form == "sarif":
        out = "\n".join(_texts(json.loads(out)))
    shown = " ".join(html.unescape(out).split())
    assert [fact for fact in facts if fact not in shown] == []


def _texts(document: object) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    for each in document.values() if isinstance(document, dict) else ():
        yield from _texts(each)
    for each in document if isinstance(document, list) else ():
        yield from _texts(each)


def test_the_page_shows_it(rocefort: Rocefort, tmp_path: Path) -> None:
    facts = {missing.fact for missing in _missing(rocefort, "check", "heps")}
    rocefort("report", "heps", "--out", tmp_path)
    (page,) = tmp_path.glob("*.html")
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert [fact for fact in facts if f"Missing: {fact}" not in text] == []


@pytest.mark.parametrize("field", sorted(terms.FACTS))
def test_a_command_of_a_fact_is_asked_in_a_view_or_shows_something(field: str) -> None:
    command = terms.FACTS[field]
    assert command.endswith(" ?") is not command.startswith("display ")
