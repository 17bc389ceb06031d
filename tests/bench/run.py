"""Benchmarks (`make bench`): figures and ratios, each with its bar. Nothing is asserted.

Figures are CPU seconds unless stated. The best of several runs counts, because other work shares
the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from rocefort.base.errors import ServiceFailed
from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_node
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.lab.twin.requirements import require_host
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Network
from rocefort.validators.batfish import batfish_engine
from rocefort.validators.routing.engine import solve
from rocefort.verification.verify import service_of

T = TypeVar("T")
Costs = dict[str, float]
HERE = Path(__file__).parent
COMMAND = Path(sys.executable).with_name("rocefort")
PEER_PYTHON = "ROCEFORT_PYAVD_PYTHON"
SMALL, LARGE = 500, 2000  # switches
PEER_LEAVES = (8, 32, 100)
SPINES = 8  # as in flow.py and peer.py
# Bars from the issue and the design: CPU seconds and MB of SMALL, ratio of LARGE to it.
PARSED = "total with parse back"
BARS = {"total": 3.0, PARSED: 6.0, "peak MB": 250.0}
RATIO_BAR = 4.5
FAILURE_BARS = (
    ("8 120 shared failures", 5.0, 500.0),
    ("8 120 per-spine failures", 5.0, 500.0),
    ("16 512 shared rib", 10.0, 1000.0),
)
START_BARS = (("--help", 0.2), ("--version", 0.2), ("check heps", 1.0))  # of an idle machine
TAB_BAR = 0.3
DEVICES, MOST_DEVICES, DEVICES_PER_S, CLIENT_MS = 200, 1000, 25.0, 20.0
STEPS = ("start and imports", "load and validate", "derive", "check, all rules", "render")


def main() -> None:
    """Print the tables."""
    starts()
    with tempfile.TemporaryDirectory() as directory:
        scale(Path(directory))
        beside_pyavd(Path(directory))
    network = derive(Path("heps")).network
    patch(network)
    sys.stdout.flush()
    subprocess.run([sys.executable, HERE / "vrp_text.py"], check=True)
    routing(network)
    failures()
    sys.stdout.flush()
    subprocess.run([sys.executable, HERE / "reviews.py"], check=True)
    subprocess.run([sys.executable, HERE / "page.py"], check=True)
    subprocess.run([sys.executable, HERE / "tuning.py"], check=True)
    devices()
    sys.stdout.flush()
    subprocess.run([sys.executable, HERE / "live.py"], check=True)
    twin()


def starts() -> None:
    """Print commands from a cold start, in wall and CPU seconds; a Tab waits for the last."""
    print(
        f"{'first answer':<36} {'wall s':>8} {'CPU s':>8}   bars (CPU; an idle machine needs as much)"
    )
    for words, bar in START_BARS:
        wall, cpu = cold(*words.split())
        print(f"rocefort {words:<27} {wall:8.2f} {cpu:8.2f}   at most {bar}, {verdict(cpu, bar)}")
    tab = {"_ROCEFORT_COMPLETE": "bash_complete", "COMP_CWORD": "4"}
    wall, cpu = cold(variables={**tab, "COMP_WORDS": "rocefort render heps --device le"})
    print(f"{'completion of a switch':<36} {wall:8.2f} {cpu:8.2f}   at most {TAB_BAR}, "
          f"{verdict(cpu, TAB_BAR)}")  # fmt: skip


def scale(directory: Path) -> None:
    """Print the whole flow at two sizes, step by step."""
    small, large = (flow(directory, size, times=n) for size, n in ((SMALL, 3), (LARGE, 2)))
    for size, costs in ((SMALL, small), (LARGE, large)):
        whole = flow(directory, size, "--parse-back", times=1)
        costs |= {PARSED: whole["total"], "parse back": whole["parse back"]}
    print(f"\nCPU seconds, 8 servers a leaf {SMALL:>9} {LARGE:>10} switches  ratio   bars")
    for step in (*STEPS, "total", "peak MB", "parse back", PARSED):
        less, more = small[step], large[step]
        print(f"{step:<28} {less:10.2f} {more:10.2f} {more / less:15.2f}   {_bars(step, small)}")
    ratio = large["total"] / small["total"]
    print(f"{LARGE} switches cost {ratio:.2f} times {SMALL} (bar {RATIO_BAR}, "
          f"{verdict(ratio, RATIO_BAR)}; 4.0 is linear)")  # fmt: skip


def _bars(step: str, small: Costs) -> str:
    bar = BARS.get(step)
    return "" if bar is None else f"{SMALL}: at most {bar:g}, {verdict(small[step], bar)}"


def verdict(figure: float, bar: float) -> str:
    """Return the word for a bar that holds or is missed."""
    return "held" if figure <= bar else "MISSED"


def flow(directory: Path, switches: int, *options: str, times: int) -> Costs:
    """Return the cost of the flow in a fresh process, the cheapest of several runs."""
    file = directory / f"{switches}.yaml"
    script = HERE / "flow.py"
    subprocess.run([sys.executable, script, "write", str(switches), file], check=True)
    runs = [_answer([sys.executable, script, "run", file, *options]) for _ in range(times)]
    return min(runs, key=lambda costs: costs["total"])


def _answer(command: list[str | Path]) -> Costs:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    costs: Costs = json.loads(done.stdout.splitlines()[-1])
    return costs


def beside_pyavd(directory: Path) -> None:
    """Print the cost of pyavd for as many switches and servers, if a Python has it."""
    python = os.environ.get(PEER_PYTHON)
    if not python:
        print(f"\npyavd: not measured; {PEER_PYTHON} names no Python that has it")
        return
    print("\nbeside pyavd (8 spines)      CPU: pyavd  rocefort  ratio   MB: pyavd  rocefort  ratio")
    for leaves in PEER_LEAVES:
        try:
            theirs = _answer([python, HERE / "peer.py", str(leaves)])
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"pyavd: not measured; {error}")
            return
        ours = flow(directory, SPINES + leaves, times=1)
        cells = [_beside(theirs[name], ours[name], width) for name, width in
                 (("total", 8), ("peak MB", 8))]  # fmt: skip
        print(f"{leaves:4} leaves {'':<14} {cells[0]}  {cells[1]}")
    print("pyavd validates its inputs and writes EOS text; rocefort reads YAML, checks all rules,")
    print("and writes VRP text with PFC, ECN and priorities. Both include the start of Python.")


def _beside(theirs: float, ours: float, width: int) -> str:
    return f"{theirs:{width + 2}.2f} {ours:{width + 1}.2f} {theirs / ours:6.1f}"


def patch(network: Network) -> None:
    """Print the cost of a patch of one leaf, with its rollback."""
    text = render_node(network.by_name["leaf03"])
    raised = text.replace("xoff static 600", "xoff static 640")
    seconds, patched = cpu(lambda: make_patch(text, raised, SyntaxFamily.V300_G1))
    print(
        f"\npatch of one leaf and the way back  {seconds:8.3f} s, {len(patched.commands)} commands"
    )


def routing(network: Network) -> None:
    """Print the cost of all server pairs of HEPS, by the embedded engine, and Batfish if named."""
    ours = cpu(lambda: solve(network))[0]
    service = service_of(os.environ.get("ROCEFORT_BATFISH"))
    if service is None:
        print(f"routing of HEPS: embedded {ours:.3f} s; ROCEFORT_BATFISH names no service")
        return
    before = time.perf_counter()
    batfish_engine.ask(network, service.host, service.port, service.access)
    theirs = time.perf_counter() - before
    print(f"routing of HEPS: Batfish {theirs:.1f} s wall, embedded {ours:.3f} s, "
          f"{theirs / ours:.0f}x")  # fmt: skip


def failures() -> None:
    """Print every single failure of 8 x 120, and base RIBs of 16 x 512: spines, leaves, ASNs."""
    for words, bar, mb_bar in FAILURE_BARS:
        costs = _answer([sys.executable, HERE / "failures.py", *words.split()])
        print(f"{words:<34} {costs['seconds']:6.2f} s {costs['peak MB']:6.0f} MB   (bars {bar:g} s, "
              f"{mb_bar:g} MB: {verdict(costs['seconds'], bar)}, "
              f"{verdict(costs['peak MB'], mb_bar)})")  # fmt: skip


def devices() -> None:
    """Print a change, trial and confirm on many emulated switches, which share the cores."""
    print(
        "\nload 10 lines, diff, trial and confirm, without soak: devices/s by the wall, CPU ms, MB"
    )
    for count in (DEVICES, MOST_DEVICES):
        costs = _answer([sys.executable, HERE / "devices.py", "run", str(count)])
        slow = costs["slowness"]
        line = f"{count:5} devices {costs['devices/s']:8.1f}/s in {costs['wall']:.1f} s; "
        for side, mb in (("client", costs["MB"]), ("emulator", costs["emulator MB"])):
            ms = costs[f"{side} ms"]
            line += f"{side} {ms:.1f} ms ({ms / slow:.1f} calibrated), {mb:.0f} MB; "
        print(f"{line}this machine is {slow:.2f} times slower than a quiet one")
        if count == DEVICES:
            ms = costs["client ms"] / slow
            print(f"{'':14} bars: at least {DEVICES_PER_S:g}/s, "
                  f"{verdict(DEVICES_PER_S, costs['devices/s'] * slow)}; client at most "
                  f"{CLIENT_MS:g} ms, {verdict(ms, CLIENT_MS)} (both calibrated)")  # fmt: skip


def twin() -> None:
    """Print the start time of a twin, if root and FRR are available."""
    try:
        require_host()
    except ServiceFailed as error:
        print(f"\ntwin: not measured; {str(error).splitlines()[0]}")
        return
    print("\ntwin: FRR in network namespaces, by the wall", flush=True)
    subprocess.run([sys.executable, HERE / "twin.py"], check=True)


def cpu(work: Callable[[], T]) -> tuple[float, T]:
    """Return CPU seconds of one call, the best of three, and its result."""
    best, result = float("inf"), None
    for _ in range(3):
        before = time.process_time()
        result = work()
        best = min(best, time.process_time() - before)
    if result is None:
        raise TypeError("nothing to measure")
    return best, result


def cold(*arguments: str, variables: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Return wall and CPU seconds of a command from a cold start, the cheapest of three runs."""
    runs = []
    for _ in range(3):
        before, used = time.perf_counter(), children_s()
        environment = {**os.environ, **(variables or {})}
        subprocess.run([COMMAND, *arguments], check=True, capture_output=True, env=environment)
        runs.append((time.perf_counter() - before, children_s() - used))
    return min(runs, key=lambda run: run[1])


def children_s() -> float:
    """Return the CPU seconds of the processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
