"""Lines of `rdma compare` on two runs: all pairs together, and each pair with its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.rdma.judge.regression import LEAST_HISTORY, paired, regression
from rocefort.rdma.judge.verdicts import GoodRuns, measured_words
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import Measurement, RdmaResult


def unlike(result: RdmaResult, earlier: RdmaResult) -> Iterator[str]:
    """Yield a sentence for each condition that differs between two runs."""
    for name in dict.fromkeys((*result.conditions, *earlier.conditions)):
        ours, theirs = (r.conditions.get(name, "not known") for r in (result, earlier))
        if ours != theirs:
            yield f"differs: {name}: {theirs}, now {ours}"


Key = tuple[Program, str, int | None, str]


@dataclass(frozen=True)
class _ComparisonLine:
    """One line of the comparison; slower: whether it is a regression."""

    sentence: str
    slower: bool = False


def comparison_lines(
    result: RdmaResult, earlier: RdmaResult, good: GoodRuns
) -> Iterator[_ComparisonLine]:
    """Yield lines: all pairs together, each pair against its history, then unmatched runs."""
    then, now = _by_key(earlier), _by_key(result)
    both = [key for key in now if key in then]
    if not both:
        yield _ComparisonLine("no pair was measured in both runs under the same load")
    for program in dict.fromkeys(key[0] for key in both):
        yield _together(program, [(key, then[key], now[key]) for key in both if key[0] is program])
    short = 0
    for key in both:
        past = good.get((key[0].value, *key[1:]), ())
        short += len(past) < LEAST_HISTORY
        for before, after in zip(then[key], now[key], strict=False):
            yield _pair_line(before, after, past)
    if short:
        yield _ComparisonLine(
            f"too short a history: {short} of {len(both)} kinds of runs, {LEAST_HISTORY} earlier "
            "good ones are needed"
        )
    alone = sum(len(now[key]) for key in now if key not in then)
    gone = sum(len(then[key]) for key in then if key not in now)
    if alone or gone:
        counts = f"{alone} runs only in the first, {gone} only in the other"
        yield _ComparisonLine(f"not compared: {counts}")


def _by_key(result: RdmaResult) -> dict[Key, list[Measurement]]:
    measurements: dict[Key, list[Measurement]] = {}
    for each in result.measurements:
        if each.value:
            key = (*each.key, result.plan.shapes.get(each.run.id, ""))
            measurements.setdefault(key, []).append(each)
    return measurements


def _together(
    program: Program, both: list[tuple[Key, list[Measurement], list[Measurement]]]
) -> _ComparisonLine:
    """Return one test over all pairs; values of a pair are in the same order on both sides."""
    before: dict[str, list[float]] = {}
    now: dict[str, list[float]] = {}
    for (_, pair, *_), theirs, ours in both:
        for one, other in zip(theirs, ours, strict=False):
            before.setdefault(pair, []).append(one.value or 0.0)
            now.setdefault(pair, []).append(other.value or 0.0)
    comparison = paired(before, now, higher_is_better=not program.measures_latency)
    return _ComparisonLine(f"{program}, {comparison.sentence}", bool(comparison.slower))


def _pair_line(before: Measurement, after: Measurement, good: Sequence[float]) -> _ComparisonLine:
    """Compare one pair with the earlier run, and with its history if that is long enough."""
    then, now = before.value or 0.0, after.value or 0.0
    higher = not after.run.program.measures_latency
    past = regression(good, [now], higher_is_better=higher)
    own = "" if past.slower is None else f"; own history: {past.sentence}"
    unit = "Gb/s" if higher else "us"
    what = f"{after.run.pair} {measured_words(after.run)}"
    change = f"{then:.2f} {unit}, now {now:.2f} ({now / then - 1:+.1%})"
    return _ComparisonLine(f"{what}: {change}{own}", bool(past.slower))
