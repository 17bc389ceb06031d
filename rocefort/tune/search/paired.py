"""Paired differences of simulations with the same seeds, and t intervals of their means."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist, fmean, stdev

from rocefort.tune.model import ConfidenceInterval


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
