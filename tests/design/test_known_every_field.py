"""Every field of intent and hardware: derived beside another version is as derived alone.

The fields are those of the models, so a new one is edited here without being named here.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import pytest
import yaml
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from rocefort.design.derive import Derived, derive_loaded
from rocefort.design.load import Catalogue, Loaded, load_catalogue
from rocefort.documents.read import YamlPath, document_of, read_document
from rocefort.documents.validate import validate
from rocefort.errors import BadInput
from rocefort.models.fabric import Fabric
from rocefort.models.hardware import Family, Hardware
from rocefort.paths import HARDWARE, INVENTORY

BORDER = Path(__file__).parents[1] / "samples" / "border" / "fabric.yaml"
SENSOR = "huawei-ifm:ifm/interfaces/interface/mib-statistics"
RICH: dict[str, Any] = yaml.safe_load(BORDER.read_text(encoding="utf-8"))
RICH["cables"] |= {"fabric": {"medium": "sr4"}, "server": {"medium": "dac"}}
RICH["capacity"]["links_per_pair"] = 2
RICH["pools"]["links"] = "10.1.0.0/23"
RICH["routing"]["authentication"] = {"password": "env:BGP"}
RICH["spines"][0]["pins"] = {"loopback": "10.0.0.40"}
RICH["leaves"][0]["exits"][1] |= {
    "address": "192.0.2.33/28",
    "peer": "192.0.2.34",
    "cable": {"medium": "sr4"},
}
RICH["leaves"][2] |= {"segments": ["storage", "compute"], "links_per_pair": 2}
RICH["leaves"][3]["breakout"] = {"100GE1/0/2": "4*25GE"}
RICH["leaves"][3]["pins"] = {"gateways": {"compute": "10.65.3.1/24"}}
RICH["links"] = [{"spine": "spine01", "leaf": "leaf03", "cable": {"medium": "dac"}}]
RICH["links"][0]["authentication"] = {"password": "env:LINK"}
RICH["servers"][1] |= {"leaf": "leaf04", "port": "100GE1/0/6"}  # leaf02 is named by no other row
RICH["servers"] += [
    {"name": "pair01", "leaf": "leaf03", "segment": "storage", "host": {"interfaces": []}},
    {"name": "plain01", "leaf": "leaf04", "port": "100GE1/0/2:1", "segment": "compute"},
]
RICH["servers"][-2]["bond"] = {"ports": ["100GE1/0/3", "100GE1/0/4"], "mode": "lacp-static"}
RICH["servers"][-1] |= {"cable": {"medium": "dac"}, "roce": False}
RICH["security"] |= {
    "users": [{"name": "netops", "level": 3}, {"name": "guest", "role": "beam"}],
    "roles": [
        {"name": name, "grants": [{"task_group": "monitor-tg", "rights": ["read"]}]}
        for name in ("beam", "line")
    ],
    "management_access": [{"id": 1, "prefix": "10.255.0.0/24"}],
    "policy": {
        "entries": [
            {"id": 1, "action": "deny", "source": ["compute"], "destination": ["storage"]},
            {"id": 2, "action": "allow", "source": ["storage"], "destination": ["compute"]},
        ]
    },
}
RICH["security"]["policy"]["entries"][1] |= {"protocol": "tcp", "ports": [2049]}
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
RICH["rollout"]["approvals"] = {"required": True, "signers": ["ada ssh-ed25519 AAAAC3Nz"]}
RICH["waivers"] = [
    {"rule": "BUF002", "why": "known", "until": "2030-01-01"},
    {"rule": "BUF003", "device": "leaf01", "why": "known", "until": "2030-01-01"},
]

# A fabric of few rows with switches of all families, and profiles of its own of every kind.
OWN: dict[str, Any] = yaml.safe_load(BORDER.read_text(encoding="utf-8"))
for key in ("management", "security", "services"):
    del OWN[key]
OWN |= dict.fromkeys(("lossless", "congestion_control", "host"), "own")
OWN["rollout"] = {"canary": "leaf02"}
OWN["spines"] = OWN["spines"][:1]
OWN["leaves"] = [OWN["leaves"][3] | {"id": 1, "name": "leaf01"} for _ in "12"]
OWN["leaves"][1] |= {"id": 2, "name": "leaf02", "hardware": "CE8855-32CQ4BQ"}
OWN["servers"] = [OWN["servers"][0] | {"nic": "own"}]


def shipped(kind: str, name: str) -> dict[str, Any]:
    file = "nic" if kind == "adapter" else kind
    found: Any = read_document(INVENTORY / "profiles" / f"{file}.yaml").data
    own: dict[str, Any] = copy.deepcopy(found[kind][name])
    return own


# Each with a key that somebody else gives, and one that nobody does.
OWN["profiles"] = {
    "lossless": {"own": shipped("lossless", "heps-like") | {"ecn": "own"}},
    "ecn": {"own": shipped("ecn", "hpcc-dcqcn")},
    "congestion_control": {"own": shipped("congestion_control", "connectx-dcqcn")},
    "nic": {"own": shipped("nic", "connectx-dscp24") | {"adapter": "own"}},
    "adapter": {"own": shipped("adapter", "connectx")},
    "host": {"own": shipped("host", "roce-server")},
}
for kind, key in (
    ("lossless", "queue"),
    ("ecn", "thresholds"),
    ("congestion_control", "min_rate_mbps"),
    ("nic", "trust"),
    ("adapter", "model"),
    ("host", "sysctl"),
):
    OWN["profiles"][kind]["own"] |= {"sources": {key: "a book"}, "assumed": [key]}
OWN["profiles"]["lossless"]["own"] |= {"headroom_kbytes": 64, "headroom_pool_kbytes": 1024}
OWN["profiles"]["lossless"]["own"]["deadlock"]["by_family"] |= {
    "v300-g1": {"detect_ms": 110, "recovery_ms": 120, "reason": "seen"},
}
del OWN["profiles"]["lossless"]["own"]["scheduling"][1]  # so that another row can be of its queue
OWN["profiles"]["congestion_control"]["own"] |= {"lossless": "own"}
# The other kind of the two profiles that have two.
OTHER = copy.deepcopy(OWN)
OTHER["profiles"]["ecn"]["own"] = shipped("ecn", "ai-ecn-hpc")
OTHER["profiles"]["congestion_control"]["own"] = shipped("congestion_control", "pfc-only")
for kind, marked in (("ecn", "model"), ("congestion_control", "lossless")):
    OTHER["profiles"][kind]["own"] |= {"sources": {marked: "a book"}, "assumed": [marked]}
OTHER["profiles"]["congestion_control"]["own"] |= {"lossless": "own"}

# What no type tells: values by the name of the field.
GIVEN: dict[str, list[Any]] = {
    "hardware": [
        "CE8851-32CQ8DQ-P-T",
        "CE9860-4C-EI-T",
        "CE8851-32CQ8DQ-P",
        "CE8850-64CQ-EI",
        "CE12800E",
    ],
    "software": ["V200R022C10", "V300R023C10"],
    "lossless": ["ai-fabric-hpc"],
    "segments": [["compute", "storage"]],
    "segment": ["storage", "compute"],
    "leaf": ["leaf03", "leaf01", "leaf02"],
    "spine": ["spine02"],
    "source": [["storage"]],
    "destination": [["compute"]],
    "port": ["100GE1/0/5", 57401],
    "ports": [["100GE1/0/3", "100GE1/0/5"], [2050], "100GE1/0/1-31"],
    "protocol": ["tcp"],
    "spine_port": ["100GE1/4/32"],
    "leaf_port": ["100GE1/0/31", "400GE1/0/5"],
    "subnet": ["10.3.0.0/31"],
    "address": ["10.65.0.40", "192.0.2.35/28", "10.250.0.8"],
    "peer": ["192.0.2.36"],
    "announces": [["compute"]],
    "gateways": [{"compute": "10.65.77.1/24"}],
    "management": ["10.255.0.99"],
    "loopback": ["10.0.0.41", "10.0.1.200"],
    "vlan": [777],
    "prefix": ["10.77.0.0/16", "10.255.4.0/24", "V300R023"],
    "breakout": [
        {"100GE1/0/2": "4*25GE", "100GE1/0/3": "4*25GE"},
        {"100GE1/4/32": "4*25GE"},
    ],
    "type": ["200gbase-x-qsfp56"],
    "canary": ["leaf02"],
    "rights": [["read-write"]],
    "role": ["line"],
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


class Shelf(BaseModel):
    """Hardware as a catalogue has it."""

    hardware: dict[str, Hardware]
    families: dict[str, Family]


def catalogue_of(data: dict[str, Any]) -> Catalogue:
    found = Shelf.model_validate(data)
    return Catalogue(found.hardware, found.families)


@cache
def shelf() -> dict[str, Any]:
    """The hardware of OWN, with what no file says: splits of a spine, a card that drops."""
    known = load_catalogue()
    used = sorted({switch["hardware"] for switch in (*OWN["spines"], *OWN["leaves"])})
    hardware = {name: known.hardware[name] for name in used}
    data = Shelf(hardware=hardware, families=dict(known.families)).model_dump(mode="json")
    spine = data["hardware"]["CE9860-4C-EI"]
    spine["breakout"] = [{"ports": ["100GE1/4/1-32"], "types": ["4*25GE"], "source": "a book"}]
    spine["cards"][0]["above_upper_ecn"] = {"value": "dropped", "source": "a book"}
    return data


@cache
def twins() -> Catalogue:
    """With all that RICH names, and models that differ from others in nothing but their name."""
    known, found = load_catalogue(), catalogue_of(shelf())
    hardware = {"CE8850-64CQ-EI": known.hardware["CE8850-64CQ-EI"], **found.hardware}
    own = {f"{n}-T": one.model_copy(update={"model": f"{n}-T"}) for n, one in hardware.items()}
    return Catalogue(hardware | own, found.families)


def derived(
    data: object, known: Derived | None = None, catalogue: Catalogue | None = None
) -> Derived:
    document = document_of(json.dumps(data), "fabric.yaml")
    loaded = Loaded(validate(Fabric, document), document)
    return derive_loaded(loaded, catalogue or twins(), known=known)


def beside_hardware(data: dict[str, Any], known: Derived | None = None) -> Derived:
    return derived(OWN, known, catalogue_of(data))


@dataclass(frozen=True)
class Ground:
    """What is edited, and how a fabric is derived with it."""

    model: type[BaseModel]
    data: dict[str, Any]
    derive: Callable[[dict[str, Any], Derived | None], Derived] = derived

    @cached_property
    def valid(self) -> BaseModel:
        return self.model.model_validate(self.data)

    @cached_property
    def known(self) -> Derived:
        return self.derive(self.data, None)


FABRICS = (Ground(Fabric, OWN), Ground(Fabric, OTHER), Ground(Fabric, RICH))  # small ones first


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
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [one.value for one in annotation]
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
    elif isinstance(value, dict) and value:
        yield {}
    yield from field.examples or ()
    yield from (1, 2, 3, 0.5, 10, 90, "x", "leaf01", "10.9.9.9", "env:OTHER", None)


def edited(data: dict[str, Any], path: YamlPath, value: Any) -> dict[str, Any]:
    at: Any
    data = at = copy.copy(data)
    for part in path[:-1]:  # what is beside it stays the same
        at[part] = copy.copy(at[part] if isinstance(part, int) else at.get(part, {}))
        at = at[part]
    if value is None:
        at.pop(path[-1], None)
    elif value in ("reversed", "shorter"):
        at[path[-1]] = at[path[-1]][:: -1 if value == "reversed" else 1][value == "shorter" :]
    else:
        at[path[-1]] = value
    return data


def unlike(beside: Derived, alone: Derived) -> tuple[str, ...]:
    """What differs between two derivations of the same version."""
    parts = {
        "network": beside.network == alone.network,
        "its text": beside.network.model_dump_json() == alone.network.model_dump_json(),
        "sources": [*beside.sources.table.items()] == [*alone.sources.table.items()],
    }
    return tuple(part for part, same in parts.items() if not same)


class Edit(NamedTuple):
    """An edit of one field that is another version, and how it is derived beside the first."""

    field: tuple[str, str]
    ground: Ground
    path: YamlPath
    value: Any
    unlike: tuple[str, ...]  # what differs from the same version derived by itself


def edits_of(ground: Ground, found: dict[tuple[str, str], Edit]) -> None:
    """For every field of every model that stands there one edit that makes another version."""
    for model, name, path in places(ground.valid):
        field = (type(model).__name__, name)
        if field in found or not isinstance(path[-1], str):
            continue
        for value in others(model, name):
            try:
                data = edited(ground.data, path, value)
                if ground.model.model_validate(data) != ground.valid:
                    alone, beside = ground.derive(data, None), ground.derive(data, ground.known)
                    found[field] = Edit(field, ground, path, value, unlike(beside, alone))
                    break
            except (BadInput, ValidationError, KeyError, IndexError, TypeError):
                continue


@cache
def edits() -> tuple[Edit, ...]:
    """Edits of fabrics."""
    found: dict[tuple[str, str], Edit] = {}
    for ground in FABRICS:
        edits_of(ground, found)
    return tuple(found.values())


@cache
def edits_of_hardware() -> tuple[Edit, ...]:
    """Edits of what the catalogue says of the fabric's switches and their families."""
    found: dict[tuple[str, str], Edit] = {}
    edits_of(Ground(Shelf, shelf(), beside_hardware), found)
    return tuple(found.values())


def fields_of(model: type[BaseModel]) -> set[tuple[str, str]]:
    """Fields that hold no models and can have another value."""
    return {
        (below.__name__, name)
        for below in reached(model, set())
        for name, field in below.model_fields.items()
        if not list(models(field.annotation))
        and (len(literals(field.annotation)) != 1 or NoneType in get_args(field.annotation))
    }


@pytest.mark.soak
def test_an_edit_of_any_field_is_derived_as_if_nothing_was_known() -> None:
    """One test for all that looks at the edits: each worker that runs a part finds them anew."""
    missing = sorted(fields_of(Fabric) - {edit.field for edit in edits()})
    assert missing == [], "no edit of it: give a value in GIVEN, or the model in RICH or OWN"
    missing = sorted(fields_of(Shelf) - {edit.field for edit in edits_of_hardware()})
    assert missing == [], "no edit of it: give a value in GIVEN, or the model in `shelf`"
    every = (*edits(), *edits_of_hardware())
    assert [(edit.path, edit.value, edit.unlike) for edit in every if edit.unlike] == []
    assert_random_pairs_are_derived_alike()


some = st.lists(st.integers(0, 10_000), max_size=4)


@settings(max_examples=tries(12))
@given(before=some, after=some, which=st.sampled_from(FABRICS))
def assert_random_pairs_are_derived_alike(
    before: list[int], after: list[int], which: Ground
) -> None:
    """Versions of a fabric that are some edits apart."""
    own = [edit for edit in edits() if edit.ground is which]
    sides = []
    for chosen in (before, after):
        data = which.data
        for number in chosen:
            edit = own[number % len(own)]
            try:
                more = edited(data, edit.path, edit.value)
                derived(more)
            except (BadInput, KeyError, IndexError, TypeError):
                continue
            data = more
        sides.append(data)
    assert unlike(derived(sides[1], derived(sides[0])), derived(sides[1])) == ()


HARDWARE_FILES = [
    ("ce8851-32cq8dq-p.yaml", "fabric_ports: [100GE1/0/25-32]", "fabric_ports: [100GE1/0/17-24]"),
    ("ce8851-32cq8dq-p.yaml", "{value: 65536,", "{value: 32768,"),
    ("ce8851-32cq8dq-p.yaml", "0/1, type: 100gbase-x-qsfp28", "0/1, type: 200gbase-x-qsfp56"),
    ("ce8851-32cq8dq-p.yaml", "family: v300-g1", "family: v300-g2"),
    ("families.yaml", "cell_bytes: {value: 128,", "cell_bytes: {value: 256,"),
    ("families.yaml", "ecn_enable: true", "ecn_enable: false"),
    (
        "cards/ce9860-32cq.yaml",
        "}/32', type: 100gbase-x-qsfp28",
        "}/32', type: 200gbase-x-qsfp56",
    ),
]


@pytest.mark.parametrize(("file", "old", "new"), HARDWARE_FILES)
def test_a_file_of_hardware_is_another(tmp_path: Path, file: str, old: str, new: str) -> None:
    """As in a review: the same fabric, and each side with the catalogue of its own revision."""
    known = derived(OWN, None, load_catalogue())
    shutil.copytree(HARDWARE, tmp_path / "hardware")
    changed = tmp_path / "hardware" / file
    text = changed.read_text(encoding="utf-8")
    assert old in text
    changed.write_text(text.replace(old, new), encoding="utf-8")
    alone = derived(OWN, None, load_catalogue(tmp_path / "hardware"))
    beside = derived(OWN, known, load_catalogue(tmp_path / "hardware"))
    assert unlike(beside, alone) == ()
    assert alone.network != known.network
