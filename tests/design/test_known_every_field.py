"""Every field of the intent: what is derived beside another version is what is derived alone.

The fields are those of the models, so a new one is edited here without being named here.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from rocefort.design.derive import Derived, derive_loaded
from rocefort.design.load import Loaded, load_catalogue
from rocefort.documents.read import YamlPath, document_of
from rocefort.documents.validate import validate
from rocefort.errors import BadInput
from rocefort.models.fabric import Fabric
from rocefort.paths import INVENTORY

BORDER = Path(__file__).parents[1] / "samples" / "border" / "fabric.yaml"
SENSOR = "huawei-ifm:ifm/interfaces/interface/mib-statistics"
RICH: dict[str, Any] = yaml.safe_load(BORDER.read_text(encoding="utf-8"))
RICH["cables"] |= {"fabric": {"medium": "sr4"}, "server": {"medium": "dac"}}
RICH["capacity"]["links_per_pair"] = 2
RICH["pools"]["links"] = "10.1.0.0/23"
RICH["routing"]["authentication"] = {"password": "env:BGP"}
RICH["spines"][0]["pins"] = {"loopback": "10.0.0.40"}
RICH["leaves"][0]["exits"][1]["cable"] = {"medium": "sr4"}
RICH["leaves"][3]["breakout"] = {"100GE1/0/2": "4*25GE"}
RICH["leaves"][3]["pins"] = {"gateways": {"compute": "10.65.3.1/24"}}
RICH["links"] = [{"spine": "spine01", "leaf": "leaf02", "cable": {"medium": "dac"}}]
RICH["links"][0]["authentication"] = {"password": "env:LINK"}
RICH["servers"] += [
    {"name": "pair01", "leaf": "leaf03", "segment": "storage", "host": {"interfaces": []}},
    {"name": "plain01", "leaf": "leaf04", "port": "100GE1/0/2:1", "segment": "compute"},
]
RICH["servers"][-2]["bond"] = {"ports": ["100GE1/0/3", "100GE1/0/4"], "mode": "lacp-static"}
RICH["servers"][-1] |= {"cable": {"medium": "dac"}, "roce": False}
RICH["security"] |= {
    "roles": [{"name": "beam", "grants": [{"task_group": "monitor-tg", "rights": ["read"]}]}],
    "management_access": [{"id": 1, "prefix": "10.255.0.0/24"}],
    "policy": {
        "entries": [{"id": 1, "action": "deny", "source": ["compute"], "destination": ["storage"]}]
    },
}
RICH["services"] |= {
    "snmp": [{"name": "monitor", "authentication": "env:A", "privacy": "env:P"}],
    "telemetry": [
        {
            "name": "counters",
            "paths": [SENSOR],
            "interval_ms": 1000,
            "collectors": [{"address": "10.250.0.9", "port": 57400}],
        }
    ],
}
RICH["rollout"]["approvals"] = {"required": True}
RICH["waivers"] = [{"rule": "BUF002", "why": "known", "until": "2030-01-01"}]

HEPS = yaml.safe_load((INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8"))
# Modules of profiles: `test_a_profile_is_an_input` has the two kinds that a Device is derived from.
OF_PROFILES = ("lossless", "ecn", "congestion", "nic", "fabric_hosts", "fabric_profiles")

# What no type tells: values by the name of the field.
GIVEN: dict[str, list[Any]] = {
    "hardware": ["CE8851-32CQ8DQ-P", "CE8850-64CQ-EI", "CE12800E"],
    "software": ["V200R022C10", "V300R023C10"],
    "lossless": ["ai-fabric-hpc"],
    "segments": [["compute", "storage"]],
    "segment": ["storage"],
    "leaf": ["leaf01", "leaf02"],
    "spine": ["spine02"],
    "source": [["storage"]],
    "destination": [["compute"]],
    "port": ["100GE1/0/5", 57401],
    "ports": [["100GE1/0/3", "100GE1/0/5"], [2049]],
    "protocol": ["tcp"],
    "spine_port": ["100GE1/1/20"],
    "leaf_port": ["100GE1/0/31", "400GE1/0/5"],
    "subnet": ["10.3.0.0/31"],
    "address": ["10.66.3.40", "192.0.2.6/31", "10.250.0.8"],
    "peer": ["192.0.2.7"],
    "announces": [["compute"]],
    "gateways": [{"compute": "10.65.77.1/24"}],
    "management": ["10.255.0.99"],
    "loopback": ["10.0.0.41", "10.0.1.200"],
    "vlan": [777],
    "prefix": ["10.77.0.0/16", "10.255.4.0/24"],
    "breakout": [{"100GE1/0/2": "4*25GE", "100GE1/0/3": "4*25GE"}],
    "canary": ["leaf02"],
    "rights": [["read-write"]],
    "paths": [[SENSOR + "s"]],
    "interfaces": [["ens1", "ens2"], ["ens1"]],
    "servers": [["node01"]],
    "window": ["22:00-05:30"],
    "medium": ["aoc", "lr4", "dac"],
    "reason": ["another"],
    "retired_spines": [[4]],
    "retired_leaves": [[16]],
    "timeout": ["fast"],
    "longest": [20],
    "until": ["2031-01-01"],
    "ntp": [["10.250.0.7"]],
    "syslog": [["10.250.0.7"]],
    "nic": ["connectx-dscp34"],
    "host": ["roce-server", {"interfaces": []}],
    "congestion_control": ["connectx-dcqcn"],
    "description": ["other words"],
    "device": ["leaf01"],
    "users": [[{"name": "someone", "level": 1}]],
}
# Fields that must agree with others, so that no edit of one alone need be a fabric.
TOGETHER = {
    ("CableKind", "autonegotiation"),
    ("ExitIntent", "address"),
    ("ExitIntent", "peer"),
    ("Leaf", "hardware"),
    ("Leaf", "name"),
    ("LinkPin", "number"),
    ("LinkPin", "spine_port"),
    ("PolicyEntry", "ports"),
    ("ServerIntent", "address"),
    ("ServerIntent", "leaf"),
    ("ServerIntent", "segment"),
    ("Switch", "breakout"),
    ("User", "role"),
    ("Waiver", "interface"),
}


def derived(data: object, known: Derived | None = None) -> Derived:
    document = document_of(json.dumps(data, indent=1), "fabric.yaml")
    loaded = Loaded(validate(Fabric, document), document)
    return derive_loaded(loaded, load_catalogue(), known=known)


@cache
def base() -> Derived:
    return derived(RICH)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Models that an annotation names, at any depth of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models(inner)


def reached(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    if model not in seen:
        seen.add(model)
        for field in model.model_fields.values():
            for below in models(field.annotation):
                reached(below, seen)
    return seen


def places(model: BaseModel, path: YamlPath = ()) -> Iterator[tuple[BaseModel, str, YamlPath]]:
    """Every field of every model of a fabric, with its path."""
    for name in type(model).model_fields:
        value, here = getattr(model, name), (*path, name)
        yield model, name, here
        rows = enumerate(value) if isinstance(value, tuple) else ()
        below = value.items() if isinstance(value, dict) else rows
        for key, one in ((None, value), *below):
            if isinstance(one, BaseModel):
                yield from places(one, here if key is None else (*here, key))


def literals(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [value for inner in get_args(annotation) for value in literals(inner)]


def others(model: BaseModel, name: str) -> Iterator[Any]:
    """Other values of a field, the likeliest first; None: without it."""
    value, field = getattr(model, name), type(model).model_fields[name]
    yield from GIVEN.get(name, ())
    yield from (one for one in literals(field.annotation) if one != value)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, value * 2, value / 2)
    elif isinstance(value, IPv4Interface | IPv4Network | IPv4Address):
        yield str(value).replace("10.", "11.", 1)
    elif isinstance(value, str):
        yield from (f"{value}x", f"x{value}")
    elif isinstance(value, tuple) and value:
        yield "reversed"
        yield "shorter"
    yield from field.examples or ()
    yield from (1, 2, 3, 0.5, 10, 90, "x", "leaf01", "10.9.9.9", "env:OTHER", None)


def edited(data: dict[str, Any], path: YamlPath, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(data)
    at: Any = data
    for part in path[:-1]:
        at = at[part] if isinstance(part, int) else at.setdefault(part, {})
    if value is None:
        at.pop(path[-1], None)
    elif value in ("reversed", "shorter"):
        at[path[-1]] = at[path[-1]][:: -1 if value == "reversed" else 1][value == "shorter" :]
    else:
        at[path[-1]] = value
    return data


Edit = tuple[tuple[str, str], YamlPath, Any, Derived]


@cache
def edits() -> tuple[Edit, ...]:
    """For every field of every model of the fabric one edit that makes another fabric."""
    found: dict[tuple[str, str], Edit] = {}
    for model, name, path in places(base().fabric):
        field = (type(model).__name__, name)
        if field in found or not isinstance(path[-1], str):
            continue
        for value in others(model, name):
            try:
                data = edited(RICH, path, value)
                document = document_of(json.dumps(data, indent=1), "fabric.yaml")
                if validate(Fabric, document) != base().fabric:
                    found[field] = field, path, value, derived(data)
                    break
            except (BadInput, KeyError, IndexError, TypeError):
                continue
    return tuple(found.values())


def agree(data: object, known: Derived, alone: Derived) -> None:
    beside = derived(data, known)
    assert beside.network == alone.network
    assert beside.network.model_dump_json() == alone.network.model_dump_json()
    assert dict(beside.sources.table) == dict(alone.sources.table)
    assert list(beside.sources.table) == list(alone.sources.table)


def test_there_is_an_edit_of_every_field() -> None:
    """Where one is missing: give a value in GIVEN, or the model in RICH."""
    have = {field for field, *_ in edits()}
    wanted = {
        (model.__name__, name)
        for model in reached(Fabric, set())
        for name, field in model.model_fields.items()
        if not model.__module__.endswith(OF_PROFILES) and not list(models(field.annotation))
    }
    assert wanted - have <= TOGETHER


def test_an_edit_of_any_field_is_derived_as_if_nothing_was_known() -> None:
    for _, path, value, alone in edits():
        agree(edited(RICH, path, value), base(), alone)


some = st.lists(st.integers(0, 10_000), max_size=4)


@settings(max_examples=12, deadline=None)
@given(before=some, after=some)
def test_random_pairs_of_fabrics(before: list[int], after: list[int]) -> None:
    sides = []
    for chosen in (before, after):
        data = RICH
        for number in chosen:
            _, path, value, _ = edits()[number % len(edits())]
            try:
                more = edited(data, path, value)
                derived(more)
            except (BadInput, KeyError, IndexError, TypeError):
                continue
            data = more
        sides.append(data)
    agree(sides[1], derived(sides[0]), derived(sides[1]))


@pytest.mark.parametrize("profile", ["lossless", "ecn"])
def test_a_profile_is_an_input(profile: str) -> None:
    """Those that ship are files, each of which has several of a kind."""
    lossless = {"own": copy.deepcopy(HEPS["profiles"]["lossless"]["heps"])}
    data = RICH | {"lossless": "own", "profiles": {"lossless": lossless}}
    known = derived(data)
    changes: dict[str, dict[str, Any]] = {
        "lossless": {"xoff_kbytes": 610, "roce_dscp": 35, "domain": "other"},
        "ecn": {"ecn": "ai-ecn-file-storage"},
    }
    for key, value in changes[profile].items():
        other = edited(data, ("profiles", "lossless", "own", key), value)
        agree(other, known, derived(other))
