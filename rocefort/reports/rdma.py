"""Runs of RDMA tests for a person, in 80 columns: figures, what was judged, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rocefort.models.rdma_result import Measurement, RdmaResult, RunLine, Stopped, Verdict
from rocefort.models.wording import counted
from rocefort.reports.rdma_plan import wrapped
from rocefort.reports.rdma_tables import measured_table

MOST_ROWS = 60  # of one section


def result_text(result: RdmaResult) -> str:
    """One run: a line a measurement, then what was judged beside them."""
    return _joined(_result(result))


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _result(result: RdmaResult) -> Iterator[str]:
    yield from wrapped(f"{_title(result)}: {verdict_words(result)}")
    if result.conditions:
        told = (f"{name.replace('_', ' ')}: {value}" for name, value in result.conditions.items())
        yield from wrapped("; ".join(told), "  ")
    yield from measured_table(result)
    yield from _section("too slow", _sentences(result.measurements, Verdict.TOO_SLOW))
    lost = (*result.unmeasured, *_sentences(result.measurements, Verdict.NOT_MEASURED))
    yield from _section("not measured", lost)
    yield from _section("bad", [j.sentence for j in result.judged if j.ok is False])
    yield from _section("good", [j.sentence for j in result.judged if j.ok is True])
    yield from _section("told, not judged", [j.sentence for j in result.judged if j.ok is None])
    planned = [f"not planned: {why}" for why in result.plan.unmeasured]
    yield from _section("of the plan", [*planned, *result.plan.notes])


def _title(result: RdmaResult) -> str:
    return f"{result.plan.fabric}, {result.plan.suite}, run {result.id}"


def verdict_words(result: RdmaResult) -> str:
    """`passed`, or how much was not measured and what is bad."""
    lost = sum(m.verdict is Verdict.NOT_MEASURED for m in result.measurements)
    slow = sum(m.verdict is Verdict.TOO_SLOW for m in result.measurements)
    bad = sum(j.ok is False for j in result.judged)
    told = [f"{lost} of {len(result.measurements)} runs not measured"] if lost else []
    if result.unmeasured:
        told.append(f"{counted(len(result.unmeasured), 'server')} left out")
    told += [f"{slow} too slow"] if slow else []
    told += [f"{bad} judged bad"] if bad else []
    if not result.measurements:
        told.append("nothing was measured")
    if told:
        return ", ".join(told)
    judged = any(m.verdict is Verdict.PASSED for m in result.measurements)
    return "passed" if judged else "all measured, speed not judged"


def _sentences(measurements: Iterable[Measurement], verdict: Verdict) -> list[str]:
    return [m.sentence for m in measurements if m.verdict is verdict]


def _section(title: str, sentences: Iterable[str]) -> Iterator[str]:
    counts = Counter(sentences)
    told = [f"{said} ({many} times)" if many > 1 else said for said, many in counts.items()]
    if told:
        yield ""
        yield f"{title}:"
    for sentence in told[:MOST_ROWS]:
        yield from wrapped(sentence, "  ")
    if len(told) > MOST_ROWS:
        yield f"  and {len(told) - MOST_ROWS} more; --format json has them all"


def compared_text(title: str, notes: Sequence[str], sentences: Sequence[str]) -> str:
    """A run beside published figures, or beside another run."""
    lines = [line for sentence in (title, *notes) for line in wrapped(sentence)]
    return _joined([*lines, "", *(line for s in sentences for line in wrapped(s))])


def history_text(runs: Sequence[RunLine]) -> str:
    """All runs, a line each, the latest first."""
    if not runs:
        return "no runs yet\n"
    lines = [f"{'RUN':<22}{'BEGAN (UTC)':<18}{'FABRIC':<14}{'SUITE':<10}{'RUNS':>6}  RESULT"]
    for each in runs:
        whole = ("passed" if each.judged else "measured") if each.passed else "failed"
        word = whole if each.complete else f"{each.runs - each.measured} not measured"
        began = f"{each.began:%Y-%m-%d %H:%M}"
        lines.append(
            f"{each.id:<22}{began:<18}{each.fabric:<14}{each.suite:<10}{each.runs:>6}  "
            f"{word if each.complete or each.runs > each.measured else 'not complete'}"
        )
    return _joined(line.rstrip() for line in lines)


def pair_text(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """All values of one pair: run (whose id begins with its time, UTC), suite, what, figure."""
    lines = [f"{'RUN (UTC)':<22}{'SUITE':<10}{'WHAT':<33}{'FIGURE':>13}"]
    lines += [f"{run:<22}{suite:<10}{what:<33}{shown:>13}" for run, suite, what, shown in rows]
    return _joined(lines)


def stopped_text(found: Sequence[Stopped]) -> str:
    """What was ended, server by server."""
    lines = []
    for each in found:
        if each.why:
            lines += wrapped(each.why)
        elif not each.ended:
            lines.append(f"{each.server}: nothing of ours runs")
        else:
            lines.append(f"{each.server}: {len(each.ended)} of ours ended")
            lines += [line for one in each.ended for line in wrapped(one, "  ")]
    return _joined(lines)
