"""An RDMA run as one HTML page: pictures and sentences; no script, nothing fetched."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.report.charts import heat_maps, latency_spreads, over_time, sparks, sweeps
from rocefort.rdma.report.rdma_report import verdict_words
from rocefort.rdma.report.tables import WORDS, figure, label
from rocefort.rdma.results import Measurement, MeasurementVerdict, RdmaResult
from rocefort.reports.writers.pages import PageHead, framed_page

OUTLIERS = "slow pairs"  # subject of what is judged of them
MOST_LINES = 2000


class Series(Frozen):
    """All values of one program, pair, size and load: run, when, value, whether it was good.

    what: the program in words, distinct from its other runs.
    """

    program: Program
    what: str = ""
    pair: str
    size_bytes: int | None
    points: tuple[tuple[str, datetime, float, bool], ...]


class RdmaPageContent(Frozen):
    """Content of the page: a run, and the earlier values of its pairs.

    made: time and version; stored_in: database of the runs.
    """

    result: RdmaResult
    made: str = ""
    stored_in: str = ""
    history: tuple[Series, ...] = ()


def rdma_page(content: RdmaPageContent) -> str:
    """The page; every value is escaped by the template. Same content, same bytes."""
    result = content.result
    drawn, more = sparks(
        (s.program, s.what or s.program.value, s.pair, s.size_bytes, s.points)
        for s in content.history
    )
    slow = [m for m in result.measurements if m.verdict is MeasurementVerdict.TOO_SLOW]
    lost = [m for m in result.measurements if m.verdict is MeasurementVerdict.NOT_MEASURED]
    listed = result.measurements[:MOST_LINES]
    plan = result.plan
    shown: dict[str, object] = {
        "result": result,
        "plan": plan,
        "heat": heat_maps(result),
        "spreads": latency_spreads(result),
        "sweeps": sweeps(result),
        "over_time": over_time(result),
        "sparks": drawn,
        "more_sparks": more,
        "outliers": [j.sentence for j in result.judged if j.subject == OUTLIERS],
        "slow": slow,
        "lost": [*result.unmeasured, *(m.sentence for m in lost)],
        "notes": Counter(note for m in result.measurements for note in m.notes).most_common(),
        "judged": [j for j in result.judged if j.subject != OUTLIERS],
        "rows": [
            (m.run.id, m.run.pair, label(m.run), _size(m), figure(m), WORDS[m.verdict])
            for m in listed
        ],
        "listed": {m.run.id for m in listed},
    }
    sections = (
        ("outliers", "Outliers", shown["outliers"] or slow),
        ("bandwidth", "Bandwidth", shown["heat"]),
        ("latency", "Latency", shown["spreads"]),
        ("sweep", "Sizes", shown["sweeps"]),
        ("time", "Over time", shown["over_time"]),
        ("history", "History", drawn),
        ("judged", "Judged", True),
        ("all", "All runs", True),
    )
    words = verdict_words(result)
    conditions = (f"{name.replace('_', ' ')}: {value}" for name, value in result.conditions.items())
    head = PageHead(
        title=f"RDMA run {result.id} of {plan.fabric}: {words}",
        heading=f"RDMA on {plan.fabric}, {plan.suite.value}",
        verdict=words,
        tone="clean" if result.passed else "failed",
        sizes=(
            f"run {result.id}",
            f"{result.began:%Y-%m-%d %H:%M} UTC",
            count_of(len(plan.rounds), "round"),
            count_of(len(result.measurements), "run"),
            *conditions,
        ),
        provenance=[
            *([("Made", content.made)] if content.made else []),
            *([("From", f"run {result.id} of {content.stored_in}")] if content.stored_in else []),
        ],
        sections=[(name, title) for name, title, content in sections if content],
    )
    return framed_page("rdma.html.j2", head, shown, files=("rdma.css",))


def _size(each: Measurement) -> int | None:
    """Of MPI the size that the figure is of."""
    return each.sizes[0].size_bytes if each.sizes else each.run.size_bytes
