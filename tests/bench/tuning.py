"""Speed of the simulator and of its searches: ByteTuning's grid by processes.

    python tests/bench/tuning.py

`run.py` prints its lines. A grid has 3,300 combinations, one seed, 10 ms at 25 Gb/s, 1,500 bytes.
A bar is the seconds of an idle machine with two cores: the CPU seconds of its workers, halved.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from simulators import profile_of, scenario_of

from rocefort.tune.model import Settings
from rocefort.tune.run import SearchRequest, search
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.executors import workers_of
from rocefort.tune.search.jobs import Base
from rocefort.tune.search.points import Space, axes_of, published_space, settings_of
from rocefort.tune.simulator.layout import ground_of
from rocefort.tune.simulator.simulate import simulate

PEAK_MB = runpy.run_path(str(Path(__file__).with_name("calibration.py")))["peak_mb"]
BARS_S = {2: 25.0, 24: 45.0}  # senders: seconds of a grid, on two cores
TURNS, SAMPLE = 3, {2: 330, 24: 110}  # combinations of the comparison by workers
SCENARIO = """\
scenario: two-to-one
flows: {count: 2}
port_gbps: 25
packet_bytes: 1500
ecn: {kmin_kbytes: 41.6, kmax_kbytes: 249.6, pmax_percent: 20}
buffer: {alpha: 0.03125, headroom_kbytes: 29.12}
seeds: [1, 2, 3, 4, 5]
"""


@dataclass(frozen=True)
class Grid:
    """ByteTuning's grid of an incast."""

    base: Base
    settings: Sequence[Settings]


def grid_of(senders: int) -> Grid:
    """Return the grid of so many senders to one."""
    scenario = scenario_of(flows={"count": senders}, packet_bytes=1500, duration_ms=10)
    space = Space(axes_of(published_space(25, static=False)), lambda v: settings_of(v, scenario))
    base = Base(scenario, profile_of(scenario), ground_of(scenario))
    return Grid(base, [space.at(point) for point in space.points()])


@dataclass(frozen=True)
class Cost:
    """Cost of simulations: seconds by the wall, and CPU seconds of the workers."""

    wall: float
    cpu: float


def cost_of(grid: Grid, settings: Sequence[Settings], workers: int) -> Cost:
    """Return the cost of some simulations by so many processes, which have begun."""
    with workers_of("processes", workers, Path()) as executor:
        evaluator = Evaluator((grid.base,), executor, workers, None)
        evaluator.evaluate(settings[: 4 * workers], [2], "begin the processes")
        before, used = time.perf_counter(), workers_cpu_s()
        evaluator.evaluate(settings, [1], "simulate")
        return Cost(time.perf_counter() - before, workers_cpu_s() - used)


def workers_cpu_s() -> float:
    """Return the CPU seconds of all processes that this one started."""
    ticks = 0
    for pid in started():
        with contextlib.suppress(OSError):  # it has ended
            stat = Path("/proc", str(pid), "stat").read_text(encoding="ascii", errors="replace")
            ticks += sum(map(int, stat.rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def started() -> set[int]:
    """Return the processes that this one started, and theirs: a fork server has the workers."""
    family = {os.getpid()}
    for _ in range(2):
        family |= {int(p.name) for p in Path("/proc").glob("[0-9]*") if parent_of(p) in family}
    return family - {os.getpid()}


def parent_of(process: Path) -> int:
    """Return the number of the process that started one; 0: it has ended."""
    try:
        stat = (process / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def verdict(figure: float, bar: float) -> str:
    """Return the word for a bar that holds or is missed."""
    return "held" if figure <= bar else "MISSED"


def main() -> None:
    """Print grids with their bars, the growth by workers, and a whole search."""
    cores = os.cpu_count() or 1
    print(f"\nsimulator and searches on {cores} cores; an idle machine needs the CPU seconds only")
    for senders, bar in BARS_S.items():
        grid = grid_of(senders)
        scenario = grid.base.scenario
        simulate(scenario, grid.base.profile, grid.base.ground)  # compiled, or from its cache
        growth(senders, grid)
        whole = cost_of(grid, grid.settings, cores)
        idle, count = whole.cpu / cores, len(grid.settings)
        print(f"{senders:2} to 1, the grid of {count:,}: {whole.wall:.1f} s by the wall, "
              f"{count / whole.wall:.1f}/s; {whole.cpu:.1f} CPU s, {idle:.1f} s a core "
              f"(bar {bar:g} s, {verdict(idle, bar)})")  # fmt: skip
    sys.stdout.flush()
    whole_search(cores)


def growth(senders: int, grid: Grid) -> None:
    """Print combinations per second of 1 and 2 processes, each the best of several turns."""
    part = grid.settings[:: len(grid.settings) // SAMPLE[senders]]
    turns = [(cost_of(grid, part, 1), cost_of(grid, part, 2)) for _ in range(TURNS)]
    one, two = (min((turn[n] for turn in turns), key=lambda cost: cost.wall) for n in (0, 1))
    dearer = min(turn[1].cpu for turn in turns) / min(turn[0].cpu for turn in turns)
    print(f"{senders:2} to 1, {len(part)} combinations: 1 process {len(part) / one.wall:.1f}/s, "
          f"2 processes {len(part) / two.wall:.1f}/s by the wall, {one.wall / two.wall:.2f} times; "
          f"by CPU seconds {2 / dearer:.2f} times")  # fmt: skip


def whole_search(cores: int) -> None:
    """Print `tune search` of the 2 to 1 grid: first seed, front, doubt, queues over time.

    Its workers end with it, so only the memory of this process is read.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "scenario.yaml")
        file.write_text(SCENARIO, encoding="utf-8")
        before = time.perf_counter()
        request = SearchRequest(scenarios=(file,), workers=cores, results=Path(directory, "done"))
        done = search(request).result
        seconds = time.perf_counter() - before
    print(f" 2 to 1, all of `tune search`, {done.simulated:,} simulations: {seconds:.1f} s, "
          f"{PEAK_MB():.0f} MB in this process")  # fmt: skip


if __name__ == "__main__":
    main()
