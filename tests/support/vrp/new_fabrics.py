"""Random valid fabrics as a site writes them: `new` with a random size, and options on top."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import yaml

from rocefort.base.errors import RocefortError
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.new import Size, new_fabric

LEAVES = ("CE8851-32CQ8DQ-P", "CE8850-64CQ-EI", "CE8855-32CQ4BQ")  # one of each syntax family
SPINES = (*LEAVES, "CE9860-4C-EI")
PATHS = ("huawei-ifm:ifm/interfaces", "huawei-qos:qos/global")
ENTRIES: list[dict[str, Any]] = [
    {"id": 1, "action": "allow", "protocol": "rdma", "ports": []},
    {"id": 2, "action": "allow", "protocol": "tcp", "ports": [22]},
]
STATIC_ECN = {
    "kind": "static",
    "source": "drawn",
    "thresholds": {
        str(speed): {"kmin_kbytes": 100 * n, "kmax_kbytes": 400 * n, "pmax_percent": 20}
        for n, speed in enumerate((25, 50, 100, 200, 400), 1)
    },
}


def random_fabric(seed: int, directory: Path) -> DerivedNetwork:
    """Write a fabric of a seed, and derive it; draws again if the hardware does not allow it."""
    rng = random.Random(seed)
    while True:
        try:
            return _derived(rng, directory)
        except RocefortError:
            continue


def _derived(rng: random.Random, directory: Path) -> DerivedNetwork:
    size = Size(rng.randint(2, 3), rng.randint(3, 4), 2, 4, 8)
    leaf, spine = rng.choice(LEAVES), rng.choice(SPINES)
    data = yaml.safe_load(new_fabric("random", size, leaf, spine))
    _change(data, rng)
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "fabric.yaml"
    file.write_text(json.dumps(data, indent=1), encoding="utf-8")  # YAML without anchors
    return derive(file)


def _change(data: dict[str, Any], rng: random.Random) -> None:
    """Set options, each with its own chance."""

    def chance() -> bool:
        return rng.random() < 0.6

    data["services"] = {"ntp": ["10.250.0.1", "10.250.0.2"], "syslog": ["10.250.0.3"]}
    if chance():
        keys = {"authentication": "env:A", "privacy": "env:P"}
        data["services"]["snmp"] = [{"name": "monitor", **keys}]
    if chance():
        collector = {"address": "10.250.0.4", "port": 57400}
        row = {"name": "ports", "interval_ms": 1000, "paths": [*PATHS], "collectors": [collector]}
        data["services"]["telemetry"] = [row]
    if chance():
        data["management"] = {"vrf": "MGMT", "gateway": "10.255.0.254"}
    if chance():
        data["security"]["management_access"] = [{"id": 1, "prefix": "10.255.0.0/24"}]
    if chance():
        data["routing"]["authentication"] = {"password": "env:BGP"}
    if chance():
        del data["routing"]["bfd"]
    if chance():
        data["profiles"]["ecn"] = {"fixed": STATIC_ECN}
        data["profiles"]["lossless"]["site"]["ecn"] = "fixed"
    if chance():
        data["cables"]["fabric"] = {"medium": "sr4", "fec": "rs"}
    _add_role(data, rng)
    _add_segment(data, rng)
    _add_servers(data, rng)
    _add_exit(data, rng)


def _add_role(data: dict[str, Any], rng: random.Random) -> None:
    if rng.random() < 0.6:
        grants = [{"task_group": "ifm", "rights": ["read"]}]
        data["security"]["roles"] = [{"name": "beam", "grants": grants}]
        data["security"]["users"].append({"name": "beamline", "role": "beam"})


def _add_segment(data: dict[str, Any], rng: random.Random) -> None:
    row = {"name": "storage", "role": "storage", "vlan": 200, "prefix": "10.80.0.0/16"}
    data["segments"].insert(1, row)
    for leaf in data["leaves"]:
        leaf["segments"] = rng.choice([["compute"], ["compute", "storage"]])
    data["leaves"][0]["segments"] = ["compute", "storage"]
    if rng.random() < 0.5:
        sides = {"source": ["compute", "storage"], "destination": ["compute", "storage"]}
        entries = [entry | sides for entry in ENTRIES]
        data["security"]["policy"] = {"default": "deny", "entries": entries}


def _add_servers(data: dict[str, Any], rng: random.Random) -> None:
    servers = []
    for leaf in data["leaves"]:
        for number, segment in enumerate(leaf["segments"], 1):
            name = f"{leaf['name']}-{segment}"
            row = {"name": name, "leaf": leaf["name"], "segment": segment}
            ports = [f"100GE1/0/{2 * number - 1}", f"100GE1/0/{2 * number}"]
            if rng.random() < 0.4:
                mode = rng.choice(["lacp-static", "lacp-dynamic"])
                row["bond"] = {"ports": ports, "mode": mode, "minimum_links": 1}
            else:
                row["port"] = ports[0]
            servers.append(row)
    data["servers"] = servers


def _add_exit(data: dict[str, Any], rng: random.Random) -> None:
    if rng.random() < 0.6:
        row = {"id": 1, "name": "wan", "port": "100GE1/0/9", "asn": 64900}
        row |= {"address": "192.0.2.1/31", "peer": "192.0.2.0", "default": "accept"}
        row |= {"accepts": [{"id": 1, "prefix": "172.16.0.0/12", "longest": 24}]}
        data["leaves"][0]["exits"] = [row]
