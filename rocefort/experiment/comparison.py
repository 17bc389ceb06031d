"""Comparison of levels: changes of pairs, `improved: N of M`, and exact signed-rank tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from rocefort.base.signed_rank import MOST_EXACT_PAIRS, signed_rank
from rocefort.experiment.model import (
    CellComparison,
    CellValue,
    ExperimentRun,
    Level,
    LevelComparison,
    LevelFigures,
)
from rocefort.models.wording import count_of

DIGITS = 12  # further digits are rounding noise, which would separate equal changes
LEAST_SHOWN = 0.001  # a smaller p is no stronger evidence


def level_pairs(levels: Sequence[Level]) -> list[tuple[str, str]]:
    """Return the levels to compare: those of the first value with those of each other one.

    Of two values with AI-ECN, equal ends are compared, so that only the factor differs.
    """
    first, *others = dict.fromkeys(level.word for level in levels)
    return [
        (one.name, two.name)
        for other in others
        for one in (level for level in levels if level.word == first)
        for two in (level for level in levels if level.word == other)
        if one.end == two.end or not (one.end and two.end)
    ]


def compared(runs: Sequence[ExperimentRun], first: str, other: str) -> LevelComparison:
    """Compare two levels over the cells that each repetition of both has measured."""
    by_level = {
        level: {run.run.repetition: run for run in runs if run.run.level == level}
        for level in (first, other)
    }
    pairs = sorted(by_level[first].keys() & by_level[other].keys())
    cells: list[CellComparison] = []
    names = dict.fromkeys(value.cell for run in by_level[first].values() for value in run.values)
    for name in names:
        sides = [
            [_value_of(by_level[level][pair], name) for pair in pairs] for level in (first, other)
        ]
        own = [[value for value in side if value and value.value] for side in sides]
        if pairs and all(len(side) == len(pairs) for side in own):
            cells.append(_cell(name, first, own[0], other, own[1]))
    improved = sum(cell.improved for cell in cells)
    logs = [_log(cell.first.mean, cell.other.mean, cell.higher_is_better) for cell in cells]
    one_sided, two_sided = p_values(logs)
    return LevelComparison(
        first=first,
        other=other,
        improved=improved,
        cells=tuple(cells),
        p_one_sided=one_sided,
        p_two_sided=two_sided,
        sentence=_sentence(
            first, other, f"{improved} of {len(cells)}", sum(map(bool, logs)), two_sided
        ),
    )


def _value_of(run: ExperimentRun, cell: str) -> CellValue | None:
    return next((value for value in run.values if value.cell == cell), None)


def _log(before: float, now: float, higher_is_better: bool) -> float:
    """Return the logarithm of the ratio of two values, above 0 if the later one is better."""
    return round(math.log(now / before) * (1 if higher_is_better else -1), DIGITS)


def _cell(
    name: str, first: str, before: Sequence[CellValue], other: str, now: Sequence[CellValue]
) -> CellComparison:
    one, two = _figures(first, before), _figures(other, now)
    higher = before[0].higher_is_better
    logs = [_log(a, b, higher) for a, b in zip(one.values, two.values, strict=True)]
    one_sided, two_sided = p_values(logs)
    return CellComparison(
        cell=name,
        unit=before[0].unit,
        higher_is_better=higher,
        first=one,
        other=two,
        change_percent=_percent(one.mean, two.mean),
        changes_percent=tuple(map(_percent, one.values, two.values)),
        improved=_log(one.mean, two.mean, higher) > 0,
        p_one_sided=one_sided,
        p_two_sided=two_sided,
    )


def _percent(before: float, now: float) -> float:
    return 100 * (now - before) / before


def _figures(level: str, values: Sequence[CellValue]) -> LevelFigures:
    numbers = [value.value or 0.0 for value in values]
    names = dict.fromkeys(name for value in values for name in value.counters)
    return LevelFigures(
        level=level,
        minimum=min(numbers),
        mean=fmean(numbers),
        maximum=max(numbers),
        values=tuple(numbers),
        counters={name: fmean(v.counters.get(name, 0.0) for v in values) for name in names},
    )


def p_values(changes: Sequence[float]) -> tuple[float | None, float | None]:
    """Return p of the signed-rank test: of the side of the changes, and of both sides.

    None without a change.
    """
    differing = [change for change in changes if change != 0]
    if not differing:
        return None, None
    sides = signed_rank(differing), signed_rank([-change for change in differing])
    return min(sides), min(1.0, 2 * min(sides))


def p_text(p: float | None) -> str:
    """Return p as text."""
    if p is None:
        return "-"
    return f"{p:.2g}" if p >= LEAST_SHOWN else f"< {LEAST_SHOWN:g}"


def _sentence(first: str, other: str, improved: str, differing: int, p: float | None) -> str:
    head = f"{other} against {first}: improved: {improved}"
    if p is None:
        return f"{head}; no test differs"
    kind = "exact" if differing <= MOST_EXACT_PAIRS else "normal approximation"
    return f"{head}; signed-rank test over the tests, two-sided, {kind}: p = {p_text(p)}"


def least_p(pairs: int) -> str:
    """Return the smallest p that so many pairs can have, as a sentence."""
    one_sided, two_sided = 2.0**-pairs, min(1.0, 2.0 ** (1 - pairs))
    return (
        f"{count_of(pairs, 'pair')}: the smallest p of one test is {p_text(one_sided)} one-sided, "
        f"{p_text(two_sided)} two-sided"
    )


def drift_sentence(repeat: int) -> str:
    """Return what the order of the runs does about a drift."""
    if repeat % 2:
        return (
            f"order AB BA: {count_of(repeat, 'repetition')}, an odd number, so a slow drift does "
            "not meet all levels alike; of an even number it does"
        )
    return "order AB BA: a slow drift meets all levels alike; a change from run to run does not"


def ordered_runs(levels: Sequence[str], repeat: int) -> list[tuple[int, str]]:
    """Return repetition and level of each run: AB BA AB .., as `drift_sentence` explains."""
    return [
        (repetition, level)
        for repetition in range(1, repeat + 1)
        for level in (levels if repetition % 2 else reversed(levels))
    ]
