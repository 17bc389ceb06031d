"""One run of the whole flow on a large fabric, in a separate process for measurement.

`flow.py write SWITCHES FILE` writes a fabric as YAML; `flow.py run FILE [--parse-back]` loads,
derives, checks and renders it, and prints the cost of each step as one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from calibration import peak_mb

from rocefort.base.gc_tuning import collect_seldom
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.load.documents import Catalogue, load_catalogue, load_fabric
from rocefort.dialects.network_text import read_back, render_all
from rocefort.validators.checks import check

SPINES, SERVERS_PER_LEAF, MOST_LEAVES = 8, 8, 2048
SPINE_MODEL = "BENCH-SPINE"
LEAF_MODELS = (("CE6865-48S8CQ-EI", "V200R022C00"), ("CE6866-48S8CQ-P", "V300R023C00"))
SEGMENT = "beamline"


def catalogue() -> Catalogue:
    """Return the shipped hardware, and a fictitious spine with a port for every leaf."""
    shipped = load_catalogue()
    ports = (f"100GE1/0/1-{MOST_LEAVES}",)
    spine = shipped.hardware["CE9860-4C-EI"].model_copy(
        update={"model": SPINE_MODEL, "ports": ports, "fabric_ports": ports}
    )
    return Catalogue({**shipped.hardware, SPINE_MODEL: spine}, shipped.families)


def fabric_text(switches: int) -> str:
    """Return HEPS grown to a size: 8 spines, 25G leaves of two syntax families, 8 servers a leaf."""
    leaves = switches - SPINES
    data: dict[str, Any] = yaml.safe_load((INVENTORY / "heps" / "fabric.yaml").read_text())
    data["capacity"] = {"spines": SPINES, "leaves": leaves}
    # HEPS uses private 2-byte AS numbers, which end at 65534.
    data["routing"] |= {"spine_asn": 4200000000, "leaf_asn_base": 4200000100}
    data["pools"] = {
        "spine_loopbacks": "10.0.0.0/26",
        "leaf_loopbacks": "10.0.16.0/20",
        "links": "10.8.0.0/15",
    }
    data["segments"] = [
        {"name": SEGMENT, "role": "beamline", "vlan": 110, "prefix": "10.64.0.0/13"},
        {"name": "management", "role": "management", "prefix": "10.248.0.0/20"},
    ]
    data["spines"] = [
        {"id": n, "name": f"spine{n:02}", "hardware": SPINE_MODEL, "software": "V200R022C00"}
        for n in range(1, SPINES + 1)
    ]
    data["leaves"] = [_leaf(n) for n in range(1, leaves + 1)]
    data["servers"] = [
        {
            "name": f"server{n:04}-{p}",
            "leaf": f"leaf{n:04}",
            "port": f"25GE1/0/{p}",
            "segment": SEGMENT,
            "nic": "connectx-dscp34",
        }
        for n in range(1, leaves + 1)
        for p in range(1, SERVERS_PER_LEAF + 1)
    ]
    data["congestion_control"] = "connectx-dcqcn"
    del data["security"]["policy"]  # of segments that it does not have
    data["rollout"] = {"canary": "leaf0001"}
    data.pop("links", None)
    return yaml.safe_dump(data, sort_keys=False)


def _leaf(number: int) -> dict[str, Any]:
    hardware, software = LEAF_MODELS[number % 2]
    name = f"leaf{number:04}"
    return {
        "id": number,
        "name": name,
        "hardware": hardware,
        "software": software,
        "segments": [SEGMENT],
    }


def run(file: Path, *, parse_back: bool) -> dict[str, float]:
    """Return CPU seconds of each step and of the whole process, and its peak memory in MB."""
    collect_seldom()  # as in the command line
    marks = [("start and imports", time.process_time())]

    def mark(step: str) -> None:
        marks.append((step, time.process_time()))

    hardware = catalogue()
    loaded = load_fabric(file)
    mark("load and validate")
    derived = derive_loaded(loaded, hardware)
    mark("derive")
    check(derived.network, derived.sources)
    mark("check, all rules")
    texts = render_all(derived.network)
    mark("render")
    if parse_back:
        read_back(derived.network, texts)
        mark("parse back")
    costs = {step: now - before for (_, before), (step, now) in pairwise([("", 0.0), *marks])}
    return {**costs, "total": sum(costs.values()), "peak MB": peak_mb(), "devices": len(texts)}


def main() -> None:
    """Write a fabric, or run the flow on one."""
    action, *rest = sys.argv[1:]
    if action == "write":
        Path(rest[1]).write_text(fabric_text(int(rest[0])), encoding="utf-8")
    else:
        print(json.dumps(run(Path(rest[0]), parse_back="--parse-back" in rest)))


if __name__ == "__main__":
    main()
