"""Start time of a twin, and all single failures of HEPS compared with the engine (needs root).

`make bench` runs it if root and FRR are available; twin_trials.py runs only by hand. Wall clock is
printed with the load of the machine, which it depends on. CPU is of this process and of all
processes of the lab.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path

from cutting import after_failure, failed

from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.design.new import Size, new_fabric, write_new
from rocefort.design.subject import subject_of_derived
from rocefort.lab.network import three_opinions
from rocefort.lab.twin.registry import Registry, processes_of
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.validators.failures.study import single_failures
from rocefort.validators.routing.engine import analyse

BARS_S = {(2, 8): 6, (8, 64): 30}  # on two idle cores
TICKS = os.sysconf("SC_CLK_TCK")


def network_of(spines: int, leaves: int) -> Network:
    """Return a fabric with a server on each leaf."""
    with tempfile.TemporaryDirectory() as folder:
        text = new_fabric("bench", Size(spines, leaves, 1), "CE8851-32CQ8DQ-P", "CE9860-4C-EI")
        write_new("bench", text, Path(folder))
        return subject_of_derived(derive(Path(folder) / "bench" / "fabric.yaml")).network


def cpu_s(lab: str = "") -> float:
    """Return CPU seconds of this process, its ended children, and a lab's daemons."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    words = (
        Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        for pid in (processes_of(lab) if lab else ())
    )
    daemons = sum(int(each[11]) + int(each[12]) for each in words) / TICKS
    return sum(each.ru_utime + each.ru_stime for each in own) + daemons


def time_up(spines: int, leaves: int, registry: Registry) -> None:
    """Print the time to start and to stop the lab of a fabric."""
    network = network_of(spines, leaves)
    start, before = time.monotonic(), cpu_s()
    twin = Twin.up(network, "bench", registry=registry)
    wall, cpu = time.monotonic() - start, cpu_s(twin.record.id) - before
    routes = three_opinions(network, twin.fibs(protocols=["bgp"]))
    start = time.monotonic()
    twin.down()
    bar = BARS_S[spines, leaves]
    print(
        f"{spines}x{leaves}: up {wall:.1f} s (bar {bar} s, {'held' if wall <= bar else 'MISSED'}), "
        f"CPU {cpu:.1f} s, "
        f"down {time.monotonic() - start:.1f} s, load {os.getloadavg()[0]:.1f}; "
        f"{len(routes.differences)} of {routes.compared} next-hop sets differ from the engine's"
    )


def every_failure(registry: Registry) -> None:
    """Compare kernels and engine after every single failure of HEPS."""
    network = subject_of_derived(derive(INVENTORY / "heps" / "fabric.yaml")).network
    twin = Twin.up(network, "bench", registry=registry)
    start, compared, differences = time.monotonic(), 0, 0
    failures = single_failures(network, analyse(network))
    for failure in failures:
        with failed(twin, failure):
            result = after_failure(network, failure, twin.fibs(protocols=["bgp"]))
        compared += result.compared
        differences += len(result.differences)
    print(
        f"HEPS, {len(failures)} single failures: {differences} of {compared} next-hop sets differ, "
        f"{time.monotonic() - start:.0f} s, load {os.getloadavg()[0]:.1f}"
    )
    twin.down()


def main() -> None:
    """Run all benchmarks of the twin."""
    registry = Registry(Path(f"/run/rocefort-bench-{os.getpid()}"))
    for spines, leaves in BARS_S:
        time_up(spines, leaves, registry)
    every_failure(registry)


if __name__ == "__main__":
    main()
