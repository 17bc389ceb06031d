"""What things cost, as figures and ratios: `make bench`. Nothing here is asserted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rocefort.design.derive import Derived, derive_loaded
from rocefort.design.load import Loaded, load_catalogue
from rocefort.dialects.vrp.patch import make_patch
from rocefort.dialects.vrp.texts import read_back, render_all, render_node
from rocefort.documents.read import Document, read_document
from rocefort.documents.validate import validate
from rocefort.models.fabric import Fabric
from rocefort.models.hardware import SyntaxFamily
from rocefort.paths import INVENTORY
from rocefort.validators import batfish, check
from rocefort.validators.routing import solve

T = TypeVar("T")
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")
COMMAND = Path(sys.executable).with_name("rocefort")


def cpu(work: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of one call, the best of three, and what it gave."""
    best, result = float("inf"), None
    for _ in range(3):
        before = time.process_time()
        result = work()
        best = min(best, time.process_time() - before)
    if result is None:
        raise TypeError("nothing to measure")
    return best, result


def cold(*arguments: str) -> float:
    """Wall seconds of a command from a cold start, the best of three."""
    best = float("inf")
    for _ in range(3):
        before = time.perf_counter()
        subprocess.run([COMMAND, *arguments], check=True, capture_output=True)
        best = min(best, time.perf_counter() - before)
    return best


def fabric(leaves: int) -> Derived:
    """HEPS with more 25G leaves, eight servers each."""
    data: dict[str, Any] = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    data["leaves"] = [
        {**data["leaves"][7], "id": n, "name": f"leaf{n:02}"} for n in range(1, leaves + 1)
    ]
    data["servers"] = [
        {"name": f"r{n}-{p}", "leaf": f"leaf{n:02}", "port": f"25GE1/0/{p}", "segment": "beamline"}
        for n in range(1, leaves + 1)
        for p in range(1, 9)
    ]
    data["rollout"] = {"canary": "leaf01"}
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    return derive_loaded(Loaded(validate(Fabric, document), document), load_catalogue())


def main() -> None:
    """Print the table."""
    print(f"rocefort --help, cold            {cold('--help'):8.2f} s   (bar 0.3)")
    print(f"rocefort check heps, cold        {cold('check', 'heps'):8.2f} s   (bar 1.5)")
    print("\nCPU seconds by size (2 spines)        8 leaves  64 leaves   ratio (8.0 is linear)")
    steps: list[tuple[str, Callable[[Derived], object]]] = [
        ("derive", lambda d: fabric(len(d.network.nodes) - 2)),
        ("check, all rules", lambda d: check(d.network, d.sources)),
        ("render", lambda d: render_all(d.network)),
        ("parse back", lambda d: read_back(d.network, render_all(d.network))),
        ("routing, all server pairs (65-fold)", lambda d: solve(d.network)),
    ]
    small, large = fabric(8), fabric(64)
    for name, step in steps:
        less, more = cpu(partial(step, small))[0], cpu(partial(step, large))[0]
        print(f"{name:<36} {less:8.3f} {more:10.3f} {more / less:8.1f}")
    leaf = small.network.by_name["leaf01"]
    text = render_node(leaf)
    raised = text.replace("xoff static 600", "xoff static 640")
    seconds, patch = cpu(lambda: make_patch(text, raised, SyntaxFamily.V300_G1))
    print(f"\npatch of one leaf and the way back  {seconds:8.3f} s, {len(patch.commands)} commands")
    host, _, port = os.environ.get("ROCEFORT_BATFISH", "127.0.0.1:9996").rpartition(":")
    if batfish.reachable(host, int(port)):
        before = time.perf_counter()
        batfish.ask(small.network, host, int(port))
        theirs = time.perf_counter() - before
        ours = cpu(lambda: solve(small.network))[0]
        print(
            f"routing of 2x8: Batfish {theirs:.1f} s, embedded {ours:.3f} s, {theirs / ours:.0f}x"
        )
    else:
        print(f"routing against Batfish: no service at {host}:{port}")


if __name__ == "__main__":
    main()
