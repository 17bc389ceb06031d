"""DCQCN's reaction point as a ConnectX has it (rdma-hw.cc, "Mellanox's version of DCQCN").

Cuts are on a grid of the decrease period, which begins with the first CNP. Alpha is brought up to
date when it is used.
"""

from __future__ import annotations

from rocefort.tuning.kernel import columns as c
from rocefort.tuning.kernel.compile import jit
from rocefort.tuning.kernel.memory import Floats, Ints, set_time


@jit
def change_rate(m: Ints, x: Floats, flow: int, rate: float) -> None:
    """Set a flow's rate; the gap after its last packet changes with it."""
    f = m[flow + c.FLOATS]
    bits = m[flow + c.LAST_SIZE] * 8e12
    m[flow + c.AVAILABLE] += int(bits / rate) - int(bits / x[f + c.RATE])
    x[f + c.RATE] = rate


@jit
def set_timer(m: Ints, flow: int) -> None:
    """Set a flow's timer to its next cut, increase or repetition."""
    time = min(m[flow + c.CUT_AT], m[flow + c.RAISE_AT], m[flow + c.RETRY])
    set_time(m, m[flow + c.SLOT], time)


@jit
def update_alpha(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Bring alpha up to date: it grows after a period with a CNP, and decays after others."""
    period = int(x[c.ALPHA_PS])
    periods = (now - m[flow + c.ALPHA_AT]) // period
    if periods <= 0:
        return
    kept = x[c.ALPHA_KEPT]
    alpha = x[m[flow + c.FLOATS] + c.ALPHA] * kept**periods
    if m[flow + c.ALPHA_MARK] == 1:  # it was in the first of these periods
        alpha += (1 - kept) * kept ** (periods - 1)
        m[flow + c.ALPHA_MARK] = 0
    x[m[flow + c.FLOATS] + c.ALPHA] = alpha
    m[flow + c.ALPHA_AT] += periods * period


@jit
def notified(m: Ints, x: Floats, flow: int, now: int) -> None:
    """React to a CNP."""
    f = m[flow + c.FLOATS]
    if m[flow + c.BEGUN] == 0:
        m[flow + c.BEGUN] = 1
        x[f + c.ALPHA] = x[c.ALPHA_FIRST]
        m[flow + c.ALPHA_AT] = now
        m[flow + c.CUT_MARK] = 1
        m[flow + c.CUT_AT] = now + int(x[c.CUT_PS])
        m[flow + c.GRID] = m[flow + c.CUT_AT]
        if x[c.FIRST_RATE] > 0:
            x[f + c.TARGET] = x[c.FIRST_RATE]
            change_rate(m, x, flow, x[c.FIRST_RATE])
    else:
        update_alpha(m, x, flow, now)
        m[flow + c.ALPHA_MARK] = 1
        if m[flow + c.CUT_MARK] == 0:
            m[flow + c.CUT_MARK] = 1
            period = int(x[c.CUT_PS])
            origin = m[flow + c.GRID]
            m[flow + c.CUT_AT] = origin + ((now - origin) // period + 1) * period
    set_timer(m, flow)


@jit
def cut(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Reduce a flow's rate by its alpha, and begin its recovery again."""
    f = m[flow + c.FLOATS]
    update_alpha(m, x, flow, now)
    by_timer = x[c.CLAMP_TIMER] == 1 and m[flow + c.TIME_STAGE] > 0
    if x[c.CLAMP] == 1 or by_timer or m[flow + c.BYTE_STAGE] > 0:
        x[f + c.TARGET] = x[f + c.RATE]
    kept = max(1 - x[f + c.ALPHA] * x[c.CUT_SHARE], x[c.LEAST_KEPT])
    change_rate(m, x, flow, min(x[f + c.RATE], max(x[c.MIN_RATE], x[f + c.RATE] * kept)))
    m[flow + c.TIME_STAGE] = m[flow + c.BYTE_STAGE] = m[flow + c.CUT_MARK] = 0
    m[flow + c.CUT_AT] = c.NEVER
    m[flow + c.RAISE_AT] = now + int(x[c.RAISE_PS])
    m[flow + c.BYTES_LEFT] = int(x[c.BYTE_COUNTER])


@jit
def increase(m: Ints, x: Floats, flow: int, low: int, high: int) -> None:
    """Increase a flow's rate; low, high: the lower and the higher of its stages."""
    f = m[flow + c.FLOATS]
    if high >= x[c.STAGES]:
        step = x[c.STEP] if low <= x[c.STAGES] else x[c.HYPER_STEP]
        x[f + c.TARGET] = min(x[f + c.MAX_RATE], x[f + c.TARGET] + step)
    change_rate(m, x, flow, (x[f + c.RATE] + x[f + c.TARGET]) / 2)


@jit
def raise_by_time(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Increase a flow's rate because its timer ended."""
    stage, other = m[flow + c.TIME_STAGE], m[flow + c.BYTE_STAGE]
    if x[c.BYTE_COUNTER] == 0:
        other = stage
    increase(m, x, flow, min(stage, other), max(stage, other))
    m[flow + c.TIME_STAGE] += 1
    m[flow + c.RAISE_AT] = now + int(x[c.RAISE_PS])


@jit
def count_bytes(m: Ints, x: Floats, flow: int, size: int) -> None:
    """Count sent bytes; increase a flow's rate each time that its counter ends."""
    if x[c.BYTE_COUNTER] == 0 or m[flow + c.BEGUN] == 0:
        return
    m[flow + c.BYTES_LEFT] -= size
    if m[flow + c.BYTES_LEFT] <= 0:
        stage, other = m[flow + c.TIME_STAGE], m[flow + c.BYTE_STAGE]
        increase(m, x, flow, min(stage, other), max(stage, other))
        m[flow + c.BYTE_STAGE] += 1
        m[flow + c.BYTES_LEFT] = int(x[c.BYTE_COUNTER])
