"""Objectives of ByteTuning: throughput-sensitive by switch, latency-sensitive by flow.

ByteTuning, IEEE Trans. Cloud Computing 13(1), doi 10.1109/TCC.2025.3525496. Maximum and smallest
are of the candidates that were evaluated: a switch has its own, and flows have those of any flow,
because the path of a flow differs between seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rocefort.tune.model import Measures

Key = TypeVar("Key")
THROUGHPUT, LATENCY = "bytetuning-throughput", "bytetuning-latency"
BYTE_TUNING = (THROUGHPUT, LATENCY)
BETA, GAMMA = 0.5, 1.0  # beta: both weights of the published program are 0.5; gamma: not published


@dataclass(frozen=True, slots=True)
class Weights:
    """beta: weight of throughput, 0 to 1. gamma: weight of the spread between flows."""

    beta: float = BETA
    gamma: float = GAMMA


DEFAULT_WEIGHTS = Weights()


@dataclass(slots=True)
class ExtremeUse:
    """Highest goodput of a switch, or of a flow, Gb/s, and the smallest queue, kbytes."""

    gbps: float
    kbytes: float


@dataclass
class Extremes:
    """Extremes of all evaluated candidates, by scenario; `add` a candidate before its value."""

    switches: dict[tuple[int, str], ExtremeUse] = field(default_factory=dict)
    flows: dict[int, ExtremeUse] = field(default_factory=dict)

    def add(self, evaluation: Sequence[Measures]) -> None:
        """Take the measures of a candidate, one for each scenario, into the extremes."""
        for number, m in enumerate(evaluation):
            for use in m.switches:
                most = self.switches.setdefault(
                    (number, use.switch), ExtremeUse(use.goodput_gbps, use.queue_kbytes)
                )
                most.gbps = max(most.gbps, use.goodput_gbps)
                most.kbytes = min(most.kbytes, use.queue_kbytes)
            flows = m.flows
            most = self.flows.setdefault(
                number, ExtremeUse(flows.highest_gbps, flows.least_queue_kbytes)
            )
            most.gbps = max(most.gbps, flows.highest_gbps)
            most.kbytes = min(most.kbytes, flows.least_queue_kbytes)

    def value(self, objective: str, evaluation: Sequence[Measures], weights: Weights) -> float:
        """Return an objective, 0 to 1, more is better: the mean over the scenarios."""
        values = (self.value_of_run(objective, n, m, weights) for n, m in enumerate(evaluation))
        return sum(values) / len(evaluation)

    def value_of_run(self, objective: str, number: int, m: Measures, weights: Weights) -> float:
        """Return an objective in one scenario, by its number."""
        of = self._throughput if objective == THROUGHPUT else self._latency
        return of(number, m, weights)

    def best(
        self, objective: str, table: Mapping[Key, Sequence[Measures]], weights: Weights
    ) -> Key:
        """Return the first of the best candidates of a table that is not empty."""
        return max(table, key=lambda key: self.value(objective, table[key], weights))

    def _throughput(self, number: int, m: Measures, weights: Weights) -> float:
        """Mean over the switches of beta T/Tmax + (1 - beta) Qmin/Q; the paper has their sum."""
        parts = [
            _weighted(use.goodput_gbps / most.gbps, _share(most.kbytes, use.queue_kbytes), weights)
            for use in m.switches
            if (most := self.switches[number, use.switch]).gbps > 0
        ]
        return sum(parts) / len(parts) if parts else 0.0

    def _latency(self, number: int, m: Measures, weights: Weights) -> float:
        """Mean over the flows of the same, divided by 1 + gamma S.

        The paper divides by gamma times the squared difference of a throughput now and the same
        throughput now, which is 0, for a spread between flows. S is the variance of T/Tmax over
        the flows instead; the 1 keeps the value of equal flows.
        """
        most, flows = self.flows[number], m.flows
        if not most.gbps:
            return 0.0
        queue = _share(most.kbytes, flows.harmonic_queue_kbytes)
        spread = flows.spread_gbps / most.gbps
        whole = _weighted(flows.mean_gbps / most.gbps, queue, weights)
        return whole / (1 + weights.gamma * spread**2)


def _weighted(throughput: float, queue: float, weights: Weights) -> float:
    return weights.beta * throughput + (1 - weights.beta) * queue


def _share(smallest: float, queue: float) -> float:
    """Return Qmin/Q; a switch whose queues are empty has the smallest."""
    return smallest / queue if queue > 0 else 1.0
