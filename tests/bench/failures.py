"""Failures of a large fabric, in a separate process, so that time and memory can be measured.

`failures.py SPINES LEAVES shared|per-spine failures|rib` builds a fabric whose spines share an AS
or have one each (with as-path-relax), 8 servers a leaf, and prints CPU seconds and peak memory as
one line of JSON. `failures`: the base and every single cable and switch; `rib`: the base alone.
"""

from __future__ import annotations

import json
import runpy
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from rocefort.base.gc_tuning import collect_seldom
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.load.documents import Catalogue, load_fabric
from rocefort.models.network.network import Network
from rocefort.validators.failures.study import study
from rocefort.validators.routing.engine import analyse

FLOW = runpy.run_path(str(Path(__file__).with_name("flow.py")))
SPINES: int = FLOW["SPINES"]
WIDE_LEAF = "BENCH-LEAF"  # more spine uplinks than any shipped leaf


def fabric(spines: int, leaves: int, asns: str) -> Network:
    """Return a fabric of a size; beyond 8 spines on fictitious leaves, and without servers."""
    data: dict[str, Any] = yaml.safe_load(FLOW["fabric_text"](SPINES + leaves))
    hardware: Catalogue = FLOW["catalogue"]()
    if asns == "per-spine":
        data["routing"] |= {"spine_asns": "each"}
    if spines > SPINES:
        first = data["spines"][0]
        data["capacity"]["spines"] = spines
        data["spines"] = [{**first, "id": n, "name": f"spine{n:02}"} for n in range(1, spines + 1)]
        leaf = hardware.hardware[first["hardware"]].model_copy(update={"model": WIDE_LEAF})
        hardware = Catalogue({**hardware.hardware, WIDE_LEAF: leaf}, hardware.families)
        same = {"hardware": WIDE_LEAF, "software": first["software"]}
        data |= {"leaves": [one | same for one in data["leaves"]], "servers": []}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "fabric.yaml"
        file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return derive_loaded(load_fabric(file), hardware).network


def main() -> None:
    """Print the cost of one study, or of one base."""
    spines, leaves, asns, what = sys.argv[1:]
    collect_seldom()  # as in the command line
    network = fabric(int(spines), int(leaves), asns)
    before = time.process_time()
    solution = analyse(network)
    routes = sum(map(len, solution.bgp.values()))
    effects = len(study(network, solution=solution).effects) if what == "failures" else 0
    seconds = time.process_time() - before
    print(json.dumps({"seconds": seconds, "peak MB": FLOW["peak_mb"](), "routes": routes,
                      "failures": effects}))  # fmt: skip


if __name__ == "__main__":
    main()
