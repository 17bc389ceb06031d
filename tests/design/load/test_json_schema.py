"""JSON Schema of a fabric: it explains every key, accepts valid data and refuses invalid data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from json_schema import refused as against
from pydantic import ValidationError

from rocefort import __version__
from rocefort.base.documents.read import read_document
from rocefort.base.options import SchemaDocument
from rocefort.base.repository import INVENTORY, PROFILES
from rocefort.design.load.documents import (
    DEMAND_SCHEMA_FILE,
    MODELINE,
    SCHEMA_FILE,
    demand_schema,
    fabric_schema,
    load_catalogue,
)
from rocefort.design.new import Size, new_fabric, write_new
from rocefort.models.network.demand import Demand
from rocefort.site.schemas import schema_text

CONNECTIONS, SETTINGS = SchemaDocument.CONNECTIONS, SchemaDocument.SETTINGS

SCHEMA: dict[str, Any] = json.loads(fabric_schema())
DEMAND: dict[str, Any] = json.loads(demand_schema())
DEFINED = {**SCHEMA["$defs"], **DEMAND["$defs"]}  # no name is in both; a test checks it
FABRICS = sorted(INVENTORY.glob("*/fabric.yaml"))


def refused(schema: Any, data: Any) -> Iterator[str]:
    """Yield paths of values that a schema refuses."""
    return against({**schema, "$defs": DEFINED}, data)


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from objects(child)


def test_it_says_which_draft_it_is_and_what_for() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["title"] == "Rocefort fabric"


@pytest.mark.parametrize("path", FABRICS, ids=lambda path: str(path.parent.name))
def test_a_shipped_fabric_fits_and_names_the_schema(path: Path) -> None:
    assert list(refused(SCHEMA, read_document(path).data)) == []
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == MODELINE
    assert (path.parent / first.partition("$schema=")[2]).resolve() == SCHEMA_FILE


@pytest.mark.parametrize("path", sorted(PROFILES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_shipped_profiles_fit(path: Path) -> None:
    schema = json.loads(schema_text(SchemaDocument.PROFILES))
    assert list(against(schema, read_document(path, "ecn: ..").data)) == []


@pytest.mark.parametrize("document", SchemaDocument)
def test_a_schema_names_itself_and_the_version(document: SchemaDocument) -> None:
    schema = json.loads(schema_text(document))
    assert schema["$id"] == f"urn:rocefort:schema:{document}:{__version__}"


def test_every_key_is_explained() -> None:
    silent = []
    own = [json.loads(schema_text(document)) for document in (CONNECTIONS, SETTINGS)]
    for model in objects([SCHEMA, DEMAND, *own]):
        for name, part in model.get("properties", {}).items():
            target = DEFINED.get(part.get("$ref", "").rpartition("/")[2], {})
            if not (part.get("description") or target.get("description")):
                silent.append(f"{model.get('title')}.{name}")
    assert silent == []


def test_units_are_in_the_explanation() -> None:
    words = {"_ms": r"\bms\b", "_s": r"\bs\b", "_us": r"\bus\b", "_m": r"\bm\b"}
    words |= {"_kbytes": r"\bkbytes\b"}
    for model in objects(SCHEMA):
        for name, part in model.get("properties", {}).items():
            unit = next((u for u in sorted(words, key=len) if name.endswith(u)), None)
            if unit:
                assert re.search(words[unit], part["description"]), name


def test_no_object_takes_unknown_keys() -> None:
    for model in objects([SCHEMA, DEMAND]):
        has_pattern = "propertyNames" in model and isinstance(model["additionalProperties"], dict)
        assert has_pattern or model["additionalProperties"] is False, model.get("title")


def edited(*path: str | int, value: object) -> Any:
    data = json.loads(json.dumps(read_document(INVENTORY / "heps" / "fabric.yaml").data))
    node = data
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "refusal"),
    [
        (("rooting",), 1, "rooting enum"),
        (("leaves", 0, "pins"), {"gateways": {"a/b": "10.0.0.1/24"}}, "leaves[0].pins.gateways.a/b enum"),
        (("leaves", 0, "name"), "../leaf", "leaves[0].name pattern"),
        (("leaves", 0, "name"), "leaf..1", "leaves[0].name pattern"),
        (("leaves", 0, "segments"), "compute", "leaves[0].segments type"),
        (("leaves",), [], "leaves minItems"),
        (("servers", 0, "port"), "Ethernet1", "servers[0].port pattern"),
        (("servers", 0, "description"), "a | b", "servers[0].description anyOf"),
        (("servers", 0, "roce"), "maybe", "servers[0].roce type"),
        (("mtu",), "9000 bytes", "mtu type"),
        (("mtu",), True, "mtu type"),
        (("mtu",), 100, "mtu minimum"),
        (("pools", "links"), "10.1.0.0", "pools.links pattern"),
        (("pools", "link_prefix_length"), 29, "pools.link_prefix_length enum"),
        (("profiles", "lossless", "heps", "deadlock", "by_family", "v100"), {"reason": "x"}, "profiles.lossless.heps.deadlock.by_family.v100 enum"),
        (("cables", "fabric_m"), 0, "cables.fabric_m exclusiveMinimum"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(path: tuple[str | int, ...], value: object, refusal: str) -> None:
    assert list(refused(SCHEMA, edited(*path, value=value))) == [refusal]


@pytest.mark.parametrize("model", sorted(load_catalogue().hardware))
def test_a_new_fabric_fits(model: str, tmp_path: Path) -> None:
    path = write_new("12", new_fabric("12", Size(1, 1, 0), model, model), tmp_path)
    assert list(refused(SCHEMA, read_document(path).data)) == []


def test_a_shipped_demand_fits_and_names_the_schema() -> None:
    assert not SCHEMA["$defs"].keys() & DEMAND["$defs"].keys()
    path = INVENTORY / "heps" / "demand.yaml"
    assert list(refused(DEMAND, read_document(path).data)) == []
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert (path.parent / first.partition("$schema=")[2]).resolve() == DEMAND_SCHEMA_FILE


@pytest.mark.parametrize("rate", ["3.2 Tb/s", "3200Gb/s", "+1 Gb/s", " 0.5 Gb/s "])
def test_a_rate_that_is_read_fits(rate: str) -> None:
    assert list(refused(DEMAND, {"demand": "x", "peak": rate})) == []
    assert Demand.model_validate({"demand": "x", "peak": rate}).peak > 0


@pytest.mark.parametrize(
    ("key", "value", "refusal"),
    [
        ("peak", "3.2", "peak pattern"),
        ("peak", "3.2 TB", "peak pattern"),
        ("peak", "-1 Gb/s", "peak pattern"),
        ("daily", "800 Tb/s", "daily anyOf"),
        ("weekly", "800 TB", "weekly enum"),
        ("flows", [{"shares": 1}], "flows[0].shares enum"),
        ("flows", [{"share": 0}], "flows[0].share anyOf"),
        ("flows", [{"senders": {"leafs": ["leaf01"]}}], "flows[0].senders anyOf"),
        ("assumed", ["unknown"], "assumed[0] enum"),
    ],
)
def test_a_wrong_demand_is_refused_by_the_schema_and_the_loader(
    key: str, value: object, refusal: str
) -> None:
    data = {"demand": "x", "peak": "1 Gb/s"} | {key: value}
    assert list(refused(DEMAND, data)) == [refusal]
    with pytest.raises(ValidationError):
        Demand.model_validate(data)
