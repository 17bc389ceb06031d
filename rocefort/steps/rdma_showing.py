"""Steps of `rdma show|compare|history|export`: what is kept, shown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rocefort.errors import BadInput
from rocefort.models.rdma_plan import Program
from rocefort.models.rdma_result import Measurement, RdmaResult
from rocefort.rdma.history import History
from rocefort.rdma.references import compare, load_reference, reference_names
from rocefort.rdma.regression import regression
from rocefort.reports.page_rdma import RdmaPageContent, Series, rdma_page
from rocefort.steps.judging import write_files

COLUMNS = (
    *("run", "began", "fabric", "suite", "program", "pair", "size_bytes", "outcome", "verdict"),
    *("gbps", "latency_us", "typical_us", "p99_us", "p999_us", "iops", "sentence"),
)


@dataclass(frozen=True)
class Compared:
    """A comparison in words."""

    title: str
    notes: tuple[str, ...]
    lines: tuple[str, ...]


def compare_with(past: History, run: str, other: str) -> Compared:
    """A run beside a reference that ships, or beside another run; raises BadInput."""
    result = past.load(run)
    if other in reference_names():
        reference = load_reference(other)
        caution = (f"caution: {reference.caution}",) if reference.caution else ()
        here = tuple(f"here: {name}: {value}" for name, value in result.conditions.items())
        rows = tuple(row.sentence for row in compare(result, reference))
        return Compared(
            f"run {result.id} beside {reference.title} ({reference.source})",
            (*caution, *here),
            rows,
        )
    if all(other not in (line.id, "last") for line in past.runs()):
        known = ", ".join(reference_names())
        how = f"a reference ({known}), or a run of `rdma history`"
        raise BadInput(f"nothing to compare with is called {other!r}", where="--with", how=how)
    earlier = past.load(other)
    return Compared(
        f"run {result.id} beside run {earlier.id} of {earlier.began:%Y-%m-%d %H:%M} UTC",
        tuple(_unlike(result, earlier)),
        tuple(_beside(result, earlier)) or ("nothing that both have measured",),
    )


def _unlike(result: RdmaResult, earlier: RdmaResult) -> Iterator[str]:
    for name in dict.fromkeys((*result.conditions, *earlier.conditions)):
        ours, theirs = (r.conditions.get(name, "not known") for r in (result, earlier))
        if ours != theirs:
            yield f"differs: {name}: {theirs}, now {ours}"


def _beside(result: RdmaResult, earlier: RdmaResult) -> Iterator[str]:
    before: dict[tuple[Program, str, int | None], list[float]] = {}
    for each in earlier.measurements:
        if each.value is not None:
            before.setdefault(each.key, []).append(each.value)
    for each in result.measurements:
        if each.value is None or each.key not in before:
            continue
        then = before[each.key]
        higher = not each.run.program.measures_latency
        found = regression(then, [each.value], higher_is_better=higher)
        unit = "Gb/s" if higher else "us"
        size = "" if each.run.size_bytes is None else f" of {each.run.size_bytes} bytes"
        change = each.value / then[0] - 1
        yield (
            f"{each.run.pair} {each.run.program}{size}: {then[0]:.2f} {unit}, now "
            f"{each.value:.2f} ({change:+.1%}); {found.sentence}"
        )


def pair_history(past: History, pair: str) -> list[tuple[str, datetime, str, str]]:
    """All values between two servers, either way, the oldest first; raises BadInput for none."""
    names = [name.strip() for name in pair.split(",")]
    if len(names) != 2:
        raise BadInput(f"{pair!r} is not a pair", where="--pair", how="write two: k8sgn08,k8sgn12")
    wanted = {f"{names[0]} -> {names[1]}", f"{names[1]} -> {names[0]}"}
    rows = []
    for line in reversed(past.runs()):
        for each in past.load(line.id).measurements:
            if each.run.pair in wanted and each.value is not None:
                unit = "us" if each.run.program.measures_latency else "Gb/s"
                what = f"{each.run.program} {each.run.size_bytes or ''}".strip()
                rows.append((line.id, line.began, what, f"{each.value:.2f} {unit}"))
    if not rows:
        raise BadInput(f"no value of {pair}", where=str(past.path), how="`rdma history` lists runs")
    return rows


def exported(past: History, result: RdmaResult, form: str, *, raw: bool) -> str:
    """A run as JSON or CSV; raises BadInput for raw outputs in CSV."""
    if form == "json":
        document = result.model_dump(mode="json")
        if raw:
            document["outputs"] = [end.model_dump(mode="json") for end in past.outputs(result.id)]
        return json.dumps(document, indent=1) + "\n"
    if raw:
        raise BadInput("--raw as CSV", how="what programs printed goes into JSON: --format json")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_csv_row(result, each) for each in result.measurements)
    return text.getvalue()


def _csv_row(result: RdmaResult, each: Measurement) -> tuple[object, ...]:
    run, got = each.run, each.figures
    figures = [
        getattr(got, name) if got is not None else None
        for name in ("gbps", "latency_us", "typical_us", "p99_us", "p999_us", "iops")
    ]
    of_run = (result.id, result.began.isoformat(), result.plan.fabric, result.plan.suite.value)
    what = (run.program.value, run.pair, run.size_bytes, each.outcome, each.verdict.value)
    return (*of_run, *what, *figures, each.sentence)


def write_page(past: History, result: RdmaResult, path: Path) -> None:
    """The page of a run, with the earlier values of its pairs."""
    series = []
    for each in dict.fromkeys(m.key for m in result.measurements if m.value is not None):
        program, pair, size = each
        kept = past.series(program.value, pair, size)
        if len(kept) > 1:
            points = tuple((k.run, k.began, k.value, k.good) for k in kept)
            series.append(Series(program=program, pair=pair, size_bytes=size, points=points))
    text = rdma_page(RdmaPageContent(result=result, history=tuple(series)))
    write_files({path.name: text}, path.parent)
