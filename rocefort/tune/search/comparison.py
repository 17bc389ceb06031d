"""Figures of candidates beside the start point's, as they are: ratios, noise, thresholds.

What a search minimises is in `objectives`; no person reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from statistics import stdev

from rocefort.tune.model import Measures, Settings, Simulation
from rocefort.tune.search.jobs import Base
from rocefort.tune.search.objectives import GOALS, PAUSES, QUEUE, Goal

SUMS = (QUEUE, PAUSES)  # goals that add up over scenarios, and may be 0
LEAST_NOISE = 0.001  # of a figure: less is no difference, although a simulator repeats it
UNKNOWN_NOISE = 0.01  # with one seed


@dataclass(frozen=True, slots=True)
class TriedCandidate:
    """Candidate that was simulated, beside the start point over the same seeds.

    ratios: as `ratios_to` has them. lossy: it drops packets, or leaves flows unfinished, that the
    start point does not. scenarios: with means over the seeds.
    """

    values: Mapping[str, float]
    ratios: dict[str, float | None]
    lossy: bool
    scenarios: tuple[Simulation, ...]


def ratios_to(measured: Sequence[Measures], start: Sequence[Measures]) -> dict[str, float | None]:
    """Return each goal's figure by the start point's; 1.01: 1 % more, which may be worse.

    Goodput and completion times have the geometric mean over scenarios; queue and pauses, which may
    be 0, are added first. None: the start point has 0, the candidate has not. A goal that no
    scenario measures is left out.
    """
    out: dict[str, float | None] = {}
    for goal in GOALS:
        pairs = [
            (own, other)
            for m, s in zip(measured, start, strict=True)
            if (own := goal.read(m)) is not None and (other := goal.read(s)) is not None
        ]
        if pairs:
            out[goal.name] = _ratio(goal, pairs)
    return out


def _ratio(goal: Goal, pairs: Sequence[tuple[float, float]]) -> float | None:
    if goal.name in SUMS:
        pairs = [(fsum(own for own, _ in pairs), fsum(other for _, other in pairs))]
    if any(other == 0 < own for own, other in pairs):
        return None
    logs = [log(own / other) if own else -float("inf") for own, other in pairs if other]
    return exp(fsum(logs) / len(logs)) if logs else 1.0


def noise_percent(start: Sequence[Simulation], bases: Sequence[Base]) -> dict[str, float]:
    """Return, by goal, how far figures differ by the seed alone, percent of the start point's.

    Twice the standard deviation of the start point's figure over its seeds; of the queue a packet
    at least, of pauses one frame.
    """
    out = {}
    least = {QUEUE: fsum(base.scenario.packet_bytes for base in bases) / 1000, PAUSES: 1.0}
    for goal in GOALS:
        own = [s for s in start if goal.read(s) is not None]
        if not own:
            continue
        runs = [[each.runs[n] for each in own] for n in range(len(own[0].runs))]
        ratios = [ratio for run in runs if (ratio := ratios_to(run, own).get(goal.name))]
        noise = 2 * stdev(ratios) if len(ratios) > 1 else UNKNOWN_NOISE
        if goal.name in SUMS:
            whole = fsum(goal.read(each) or 0.0 for each in own)
            noise = max(noise, least[goal.name] / whole if whole else 1.0)
        out[goal.name] = 100 * max(noise, LEAST_NOISE)
    return out


def thresholds(base: Base, settings: Settings, port: str) -> dict[str, float]:
    """Return the thresholds of settings at a port, kbytes; without xoff where it is dynamic.

    port: of a queue, `switch>neighbor`.
    """
    from rocefort.tune.simulator.tables import marking_of  # noqa: PLC0415 - numpy is optional

    scenario = settings.applied(base.scenario)
    ends = set(port.split(">"))
    speeds = (c.gbps for c in base.ground.cables if {c.a, c.b} == ends)
    limits = marking_of(scenario).of_port(next(speeds), scenario.port_gbps)
    out = {}
    if limits.pmax_percent > 0:
        out = {"Kmin": limits.kmin_kbytes, "Kmax": limits.kmax_kbytes}
    buffer = scenario.buffer
    if buffer.pfc and buffer.xoff_kbytes is not None and buffer.xon_kbytes is not None:
        out |= {"xoff": buffer.xoff_kbytes, "xon": buffer.xon_kbytes}
    return out
