"""DCQCN's reaction point, step by step: cuts, recoveries and the decay of alpha."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from simulators import memory_of

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.congestion_control import (
    cut,
    notified,
    raise_by_time,
    update_alpha,
)
from rocefort.tune.simulator.kernel.memory import draw
from rocefort.tune.simulator.tables import Memory

US = 1_000_000
LINE = 25e9


@pytest.fixture
def idle() -> Memory:
    """One flow at line rate, with the parameters of the DCQCN paper, before its first packet."""
    nic = {"profile": "paper-dcqcn", "initial_alpha_of_1024": 1024, "recovery_stages": 5}
    return memory_of(flows={"count": 1}, duration_ms=1e-9, measure_from_ms=0, nic=nic)


def at(memory: Memory) -> tuple[int, int]:
    """Address of the flow, and of its floats."""
    flow = int(memory.integers[c.FLOWS_AT])
    return flow, int(memory.integers[flow + c.FLOATS])


def test_the_first_cnp_halves_the_rate_and_five_recoveries_follow(idle: Memory) -> None:
    m, x = idle.integers, idle.floats
    flow, floats = at(idle)
    notified(m, x, flow, 0)
    cut(m, x, flow, 0)
    assert x[floats + c.RATE] == LINE / 2
    assert x[floats + c.TARGET] == LINE  # no increase came before the cut
    shares = []
    for step in range(5):
        raise_by_time(m, x, flow, (step + 1) * 55 * US)
        shares.append(x[floats + c.RATE] / LINE)
    assert shares == [0.75, 0.875, 0.9375, 0.96875, 0.984375]
    assert x[floats + c.TARGET] == LINE
    x[floats + c.TARGET] = LINE / 2  # an additive step is visible below line rate
    raise_by_time(m, x, flow, 6 * 55 * US)
    assert x[floats + c.TARGET] == LINE / 2 + 40e6


def test_a_cut_after_an_increase_lowers_the_target(idle: Memory) -> None:
    m, x = idle.integers, idle.floats
    flow, floats = at(idle)
    notified(m, x, flow, 0)
    cut(m, x, flow, 0)
    raise_by_time(m, x, flow, 55 * US)
    cut(m, x, flow, 55 * US)
    assert x[floats + c.TARGET] == 0.75 * LINE


@pytest.mark.parametrize(("kept", "periods"), [(1020, 177.1), (1019, 141.6)])
def test_alpha_halves_in_the_published_number_of_periods(kept: int, periods: float) -> None:
    nic = {"alpha_kept_of_1024": kept, "alpha_period_us": 1}
    memory = memory_of(flows={"count": 1}, duration_ms=1e-9, measure_from_ms=0, nic=nic)
    m, x = memory.integers, memory.floats
    flow, floats = at(memory)
    notified(m, x, flow, 0)
    update_alpha(m, x, flow, 1000 * US)
    half_life = 1000 * log(0.5) / log(x[floats + c.ALPHA])
    assert half_life == pytest.approx(periods, abs=0.05)


def test_alpha_is_the_same_at_once_and_period_by_period(idle: Memory) -> None:
    flow, floats = at(idle)
    alphas = []
    for steps in ([7 * 55], [55 * n for n in range(1, 8)]):
        m, x = idle.integers.copy(), idle.floats.copy()
        notified(m, x, flow, 0)
        notified(m, x, flow, 10)  # the mark of the first period
        for us in steps:
            update_alpha(m, x, flow, us * US)
        alphas.append(x[floats + c.ALPHA])
    assert alphas[0] == pytest.approx(alphas[1], rel=1e-12)
    assert alphas[0] == pytest.approx((1020 / 1024) ** 6, rel=1e-12)


def test_draws_are_uniform_and_depend_on_the_seed() -> None:
    draws = []
    for seed in (1, 2):
        m = memory_of(seed=seed, flows={"count": 1}, duration_ms=1e-9, measure_from_ms=0).integers
        draws.append(np.array([draw(m) for _ in range(20_000)]))
    for one in draws:
        assert 0 <= one.min() < one.max() < 1
        counts = np.histogram(one, bins=20, range=(0, 1))[0]
        chi_square = ((counts - 1000) ** 2 / 1000).sum()
        assert chi_square < 43.8  # 19 degrees of freedom, 0.1 %
    assert (draws[0] != draws[1]).all()
