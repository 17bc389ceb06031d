"""Steps of `rdma show|history|export`: output of stored runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from rocefort import __version__
from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput
from rocefort.base.json_output import json_text
from rocefort.design.subject import write_files
from rocefort.rdma.judge.run_store import RdmaHistory
from rocefort.rdma.rdma_report import figure
from rocefort.rdma.results import Measurement, PairValue, PairValues, RdmaExport, RdmaResult
from rocefort.rdma.run_page import RdmaPageContent, Series, rdma_page
from rocefort.rdma.run_record import RunRecord

COLUMNS = (
    *("run", "began", "fabric", "suite", "round", "program", "detail", "pair", "size_bytes"),
    *("outcome", "verdict"),
    *("gbps", "latency_us", "typical_us", "p99_us", "p999_us", "iops", "sentence"),
)


def pair_history(past: RdmaHistory, pair: str) -> PairValues:
    """List all values between two servers, both directions, the oldest first; or BadInput."""
    names = [name.strip() for name in pair.split(",")]
    if len(names) != 2:
        raise BadInput(f"{pair!r} is not a pair", where="--pair", how="write two: k8sgn08,k8sgn12")
    pairs = {f"{names[0]} -> {names[1]}", f"{names[1]} -> {names[0]}"}
    rows = []
    for line in reversed(past.runs()):
        for each in past.load(line.id).measurements:
            if each.run.pair in pairs and each.value is not None:
                what = f"{each.run.label} {each.run.size_bytes or ''}".strip()
                value = figure(each)
                rows.append(PairValue(run=line.id, suite=line.suite, measurement=what, value=value))
    if not rows:
        raise BadInput(f"no value of {pair}", where=str(past.path), how="`rdma history` lists runs")
    return PairValues(values=tuple(rows))


def record_of(result: RdmaResult) -> RunRecord:
    """Return the record of a run; raises BadInput for a run that was stored without one."""
    if result.record is None:
        how = "it was stored by a version of rocefort without records; measure again"
        raise BadInput(f"run {result.id} has no record", where="--record", how=how)
    return result.record


def exported(past: RdmaHistory, result: RdmaResult, form: str, *, raw: bool) -> str:
    """Return a run as JSON or CSV; raises BadInput for raw outputs in CSV."""
    if form == "json":
        outputs = tuple(past.outputs(result.id)) if raw else ()
        content = RdmaExport(**dict(result), outputs=outputs)
        return json_text(content) + "\n"
    if raw:
        raise BadInput("--raw as CSV", how="use --format json: only JSON contains raw outputs")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    rounds = {run.id: each.number for each in result.plan.rounds for run in each.runs}
    for each in result.measurements:
        writer.writerows(_csv_rows(result, each, rounds.get(each.run.id)))
    return text.getvalue()


def _csv_rows(
    result: RdmaResult, each: Measurement, round_: int | None
) -> Iterator[tuple[object, ...]]:
    """Yield one row per run, for MPI one per size; values over time are only in the JSON."""
    run = each.run
    of_run = (result.id, result.began.isoformat(), result.plan.fabric, result.plan.suite.value)
    what = (*of_run, round_, run.program.value, run.detail, run.pair)
    ended = (each.outcome, each.verdict.value)
    for point in each.sizes:
        figures = (None, point.average_us, None, None, None, None)
        yield (*what, point.size_bytes, *ended, *figures, each.sentence)
    if not each.sizes:
        names = ("gbps", "latency_us", "typical_us", "p99_us", "p999_us", "iops")
        values = [getattr(each.figures, name) if each.figures else None for name in names]
        yield (*what, run.size_bytes, *ended, *values, each.sentence)


def write_page(past: RdmaHistory, result: RdmaResult, path: Path) -> None:
    """Write the page of a run, with earlier values of its pairs under the same load."""
    series = []
    shapes = result.plan.shapes
    measured = [m for m in result.measurements if m.value is not None]
    for each in {(*m.key, shapes.get(m.run.id, "")): m for m in measured}.values():
        program, pair, size = each.key
        earlier = past.series(program.value, pair, size, shapes.get(each.run.id, ""))
        points = tuple(
            (value.run, value.began, value.value, value.good)
            for value in earlier
            if value.began <= result.began
        )
        if len({run for run, *_ in points}) > 1:
            what = each.run.label
            series.append(
                Series(program=program, what=what, pair=pair, size_bytes=size, points=points)
            )
    content = RdmaPageContent(
        result=result,
        made=f"{utc_now():%Y-%m-%d %H:%M} UTC by Rocefort {__version__}",
        stored_in=str(past.path),
        history=tuple(series),
    )
    text = rdma_page(content)
    write_files({path.name: text}, path.parent)
