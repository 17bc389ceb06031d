"""Page of an experiment: its verdicts, both levels of each cell, its runs and its grounds."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.experiment.comparison import p_text
from rocefort.experiment.model import CellComparison, ExperimentResult, LevelComparison
from rocefort.experiment.report import (
    cell_table,
    counters_table,
    grounds,
    level_lines,
    number,
    order_line,
    percent_text,
    progress,
    run_table,
    title,
)
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Items
from rocefort.reports.page_parts import EffectChart, EffectRow, LinearScale
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.verification.page.content import Provenance

LEAST_PERCENT = 4.0  # range of an axis
EDGE = 0.9  # share of the changes that an axis contains; others are at its end


def experiment_page(result: ExperimentResult, origin: Provenance) -> str:
    """Return the page; every value is escaped by the template."""
    counters = counters_table(result)
    shown: dict[str, object] = {
        "result": result,
        "progress": progress(result),
        "comparisons": [
            (comparison, effect_chart(comparison), html_of(cell_table(comparison)))
            for comparison in result.comparisons
        ],
        "counters": html_of(counters) if counters else "",
        "levels": html_of(Items(level_lines(result))),
        "order": order_line(result),
        "runs": html_of(run_table(result)),
        "grounds": list(grounds(result)),
    }
    sections = [
        ("verdict", "Verdict"),
        *((f"against-{n}", c.other) for n, c in enumerate(result.comparisons)),
        *([("counters", "Counters")] if counters else []),
        ("levels", "Levels"),
        ("runs", "Runs"),
        ("grounds", "Basis"),
    ]
    complete = result.state == "complete"
    head = PageHead(
        title=f"{result.plan.factor} of {result.plan.fabric}",
        heading=title(result),
        verdict=progress(result),
        tone="clean" if complete else "stopped",
        sizes=(
            count_of(len(result.plan.levels), "level"),
            count_of(len(result.plan.runs), "run"),
            f"suite {result.plan.suite}",
        ),
        provenance=list(_provenance(origin)),
        sections=sections,
    )
    return framed_page("experiment.html.j2", head, shown, files=("rdma.css", "tuning.css"))


def _provenance(origin: Provenance) -> Iterator[tuple[str, str]]:
    yield "Made", f"{origin.made_text} by Rocefort {origin.version}"
    yield "From", f"{origin.source}, {origin.revision_text}"


def effect_chart(comparison: LevelComparison) -> EffectChart | None:
    """Return the change of each cell in percent: its pairs and its mean; None without a cell."""
    if not comparison.cells:
        return None
    ends = sorted((v for cell in comparison.cells for v in cell.changes_percent), key=abs)
    drawn = ends[: max(1, round(len(ends) * EDGE))]
    scale = LinearScale.over([0.0, *drawn], LEAST_PERCENT)
    beyond = sum(
        any(not scale.low <= v <= scale.high for v in cell.changes_percent)
        for cell in comparison.cells
    )
    end = f"; {count_of(beyond, 'test')} beyond an end, drawn at it" if beyond else ""
    return EffectChart(
        title=f"{comparison.other} against {comparison.first}, %{end}",
        zero=scale.percent(0),
        ticks=scale.ticks,
        rows=tuple(_effect(cell, scale) for cell in comparison.cells),
    )


def _effect(cell: CellComparison, scale: LinearScale) -> EffectRow:
    low, high = min(cell.changes_percent), max(cell.changes_percent)
    better = [change > 0 for change in cell.changes_percent]
    if low <= 0 <= high:
        kind = "equal"
    else:
        kind = "better" if all(better) == cell.higher_is_better else "worse"
    goal = "higher" if cell.higher_is_better else "lower"
    words = (
        f"{number(cell.first.mean)} {cell.unit} with {cell.first.level}, "
        f"{number(cell.other.mean)} with {cell.other.level}"
    )
    if low == high == 0:
        words += ": equal in every pair"
    else:
        words += (
            f": {percent_text(cell.change_percent)}, pairs {percent_text(low)} to "
            f"{percent_text(high)} ({goal} is better), p {p_text(cell.p_two_sided)}"
        )
    return EffectRow(
        scenario=cell.cell,
        low=scale.percent(low),
        mean=scale.percent(cell.change_percent),
        high=scale.percent(high),
        kind=kind,
        words=words,
    )
