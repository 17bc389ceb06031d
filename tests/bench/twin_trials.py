"""Failover by fault and timers, and growth by a spine under load, on the twin of HEPS (root).

    .venv/bin/python tests/bench/twin_trials.py [failover] [growth]

Nothing is asserted. Wall clock is printed with the load of the machine, which it depends on.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from rocefort.base.repository import INVENTORY
from rocefort.change.expand import GrowthOptions, expand, wanted_of
from rocefort.fleet.connections import load_connections
from rocefort.fleet.running_configs import running_of
from rocefort.lab.bring_up import bring_up
from rocefort.lab.experiments.fault_injection import FailoverOptions, measure_failover
from rocefort.lab.experiments.under_load import under_load
from rocefort.lab.grow_running import grow_running
from rocefort.lab.lab_report import failover_report, load_report
from rocefort.lab.twin import registry as registries
from rocefort.lab.twin.registry import Registry, lines_directory
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan

HEPS = INVENTORY / "heps" / "fabric.yaml"
TIMERS = ((10, 30, True), (10, 30, False), (3, 9, False), (1, 3, False))  # keepalive, hold, BFD
RUNS = 5


def up(fabric: Path, *, bfd: bool) -> Twin:
    """Start the twin of a fabric with its command lines."""
    return bring_up(fabric, "trials", TwinOptions(bfd=bfd), lambda _: None)


def failover(folder: Path) -> None:
    """Print a table for each set of timers."""
    for keepalive, hold, bfd in TIMERS:
        text = HEPS.read_text(encoding="utf-8")
        text = text.replace("keepalive_s: 10\n", f"keepalive_s: {keepalive}\n")
        text = text.replace("hold_s: 30\n", f"hold_s: {hold}\n")
        fabric = folder / "fabric.yaml"
        fabric.write_text(text, encoding="utf-8")
        twin = up(fabric, bfd=bfd)
        measured = measure_failover(
            twin, None, None, FailoverOptions(), lambda _: None, lambda: False
        )
        print(
            text_of(failover_report(measured), width=80) + f"load {os.getloadavg()[0]:.1f}\n",
            flush=True,
        )
        twin.down()


def growth(folder: Path) -> None:
    """Add a spine, each time on a new twin, a number of times."""
    for number in range(1, RUNS + 1):
        fabric = folder / "fabric.yaml"
        fabric.write_bytes(HEPS.read_bytes())
        twin = up(fabric, bfd=True)
        expand(fabric, wanted_of(GrowthOptions(1, 0, 0, (), ()))).versions.write()
        journal = folder / f"{number}.journal"
        work = partial(roll_out, twin, fabric, journal)
        measured, confirmed = under_load(twin, FailoverOptions(48, 50), work)
        print(f"run {number}, {len(confirmed)} switches confirmed, load {os.getloadavg()[0]:.1f}")
        print(text_of(load_report(measured), width=80), flush=True)
        twin.down()


def roll_out(twin: Twin, fabric: Path, journal: Path) -> tuple[str, ...]:
    """Grow the lab, plan and apply."""
    begin = time.monotonic()
    grow_running(twin, fabric)
    print(f"lab grown in {time.monotonic() - begin:.1f} s")
    access = load_connections(lines_directory(twin.registry, twin.record) / "connections.yaml")
    plan = make_plan(fabric, access, running_of(fabric, access, None))
    done = apply_plan(plan, access, RunDirectory.of_journal(journal), [])
    if done.failure:
        sys.exit(done.failure)
    return done.confirmed


def main() -> None:
    """Run the named trials, or all."""
    root = Path(f"/run/rocefort-trials-{os.getpid()}")
    registries.Registry.__init__.__defaults__ = (root,)
    names = sys.argv[1:] or ["failover", "growth"]
    try:
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                {"failover": failover, "growth": growth}[name](Path(folder))
    finally:
        for name in Registry().names():
            Twin.find(name).down()


if __name__ == "__main__":
    main()
