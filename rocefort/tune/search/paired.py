"""Paired differences of simulations with the same seeds, and t intervals of their means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, log, sqrt
from statistics import NormalDist, fmean, stdev

from rocefort.tune.model import ConfidenceInterval, Measures, Simulation
from rocefort.tune.search.objectives import GOALS, log_ratio, weighted

Logs = dict[str, float]  # logarithm of a ratio by goal, below 0 is better
Rates = Callable[[int, Measures], Mapping[str, float]]  # further values of a run, more is better


def no_rates(_scenario: int, _run: Measures) -> Mapping[str, float]:
    """Return that a run has no values but its measures."""
    return {}


def logs_of(own: Measures, other: Measures, scenario: int = 0, rates: Rates = no_rates) -> Logs:
    """Return the logarithms of ratios of one run to another; a goal without a value is left out.

    rates: further values of a run in a scenario, by its number.
    """
    its_rates = rates(scenario, other)
    out = {name: log(its_rates[name] / value) for name, value in rates(scenario, own).items()}
    for goal in GOALS:
        mine, its = goal.read(own), goal.read(other)
        if mine is not None and its is not None:
            out[goal.name] = log_ratio(goal, mine, its)
    return out


def mean_logs(each: Sequence[Logs]) -> Logs:
    """Return the mean of each goal over those that have it: of scenarios, or of seeds."""
    names = dict.fromkeys(name for logs in each for name in logs)
    return {name: fmean(logs[name] for logs in each if name in logs) for name in names}


def logs_by_seed(
    own: Sequence[Simulation], other: Sequence[Simulation], rates: Rates = no_rates
) -> list[Logs]:
    """Return for each seed the mean over the scenarios, which count alike."""
    pairs = [
        [logs_of(a, b, number, rates) for a, b in zip(mine.runs, its.runs, strict=True)]
        for number, (mine, its) in enumerate(zip(own, other, strict=True))
    ]
    return [mean_logs(scenarios) for scenarios in zip(*pairs, strict=True)]


def scores_by_seed(by_seed: Sequence[Logs], objective: str) -> list[float]:
    """Return an objective's score for each seed, below 0 is better."""
    return [weighted(logs, objective) for logs in by_seed]


def interval_of(values: Sequence[float], confidence: float) -> ConfidenceInterval:
    """Return the mean with its two-sided t interval; confidence: share, such as 0.95."""
    mean = fmean(values)
    if len(values) < 2:
        return ConfidenceInterval(mean=mean, low=mean, high=mean)
    half = t_quantile((1 + confidence) / 2, len(values) - 1) * stdev(values) / sqrt(len(values))
    return ConfidenceInterval(mean=mean, low=mean - half, high=mean + half)


def t_quantile(share: float, freedom: int) -> float:
    """Return a quantile of Student's t by its expansion about the normal one.

    Source: Abramowitz and Stegun, 26.7.5. Error below 0.2 % from 7 degrees of freedom on, up to a
    share of 0.99.
    """
    x = NormalDist().inv_cdf(share)
    terms = (
        x,
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return fsum(term / float(freedom) ** power for power, term in enumerate(terms))
