"""Lab with BFD: chaos of every fault, stopped and killed, and losses of flows by silent faults."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random

import pytest
from twin_labs import HEPS, PATIENT_S, commands_see, law_holds, whole

from rocefort.lab.bring_up import bring_up
from rocefort.lab.experiments.fault_injection import FailoverOptions, FailoverRun, pair_of
from rocefort.lab.network import running_network, timers_of
from rocefort.lab.twin.faults import active_faults, mend_lab
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down

pytestmark = [pytest.mark.twin, pytest.mark.thorough]
CHAOS = """
import signal
import sys
from pathlib import Path
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin
from rocefort.lab.experiments.fault_injection import run_chaos
from rocefort.base.processes import stop_on_signals

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` lets it be ignored


def say(chaos):
    print(len(chaos.steps), flush=True)

with stop_on_signals() as stop:
    found = run_chaos(Twin.find("heps", Registry(Path(sys.argv[1]))), int(sys.argv[2]), 60, stop, say)
print(found.stopped)
"""


@pytest.fixture(scope="module")
def twin(registry: Registry) -> Iterator[Twin]:
    """HEPS with its command lines and BFD, in a registry of this module."""
    with commands_see(registry):
        yield bring_up(HEPS, "heps", TwinOptions(bfd=True), lambda _: None)
        take_down("heps", registry)


def test_the_law_holds_after_each_step_of_a_chaos(twin: Twin) -> None:
    law_holds(twin, seed=3, steps=12)


def begun(twin: Twin, seed: int, steps: int) -> subprocess.Popen[str]:
    """Start a chaos in a process of its own, and wait for some steps."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHAOS, str(twin.registry.root), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while int(process.stdout.readline()) < steps:
        pass
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_chaos_that_is_stopped_leaves_nothing_broken(twin: Twin, number: signal.Signals) -> None:
    process = begun(twin, 5, 2)
    process.send_signal(number)
    try:
        out, _ = process.communicate(timeout=PATIENT_S)
    finally:
        process.kill()
    assert out.splitlines()[-1] == "asked to"
    assert active_faults(twin.registry, twin.record) == ()
    assert whole(twin)


@pytest.mark.parametrize("seed", [11, 12])
def test_mend_puts_back_what_a_killed_chaos_has_left(twin: Twin, seed: int) -> None:
    process = begun(twin, seed, 1)
    time.sleep(Random(seed).random())
    process.kill()
    process.communicate()
    mend_lab(twin.registry, "heps")
    assert active_faults(twin.registry, twin.record) == ()
    assert whole(twin)


def test_loss_by_fault(twin: Twin) -> None:
    """No duration is judged: the affected flows follow from routes alone."""
    network = running_network(twin)
    pair = pair_of(twin, network, None, None)
    work = FailoverRun(twin, network, pair, FailoverOptions(16, 100, PATIENT_S), lambda: False)
    silent = work.row("silent spine", "silent-node", pair.spine)
    assert 0 < silent.hit < 16
    assert silent.window_ms is not None and silent.window_ms > 0
    assert silent.settled_s is not None
    dead = work.row("bgpd of the far leaf killed", "bgpd-killed", pair.far)
    assert (dead.hit, dead.window_ms) == (16, None)
    assert dead.lost > 16
    assert whole(twin)


def test_timers_in_use(twin: Twin) -> None:
    assert [str(each) for each in timers_of(twin)] == [
        "BGP keepalive 10 s, hold 30 s, BFD 3 x 300 ms"
    ]
