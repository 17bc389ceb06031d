"""A search as one HTML page: pictures, and the tables of its text; no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence

from rocefort.models.results.search import SearchResult
from rocefort.models.wording import count_of
from rocefort.reports.tuning.charts import Candidate, front_plots, heat, queue_plots, sensitivity
from rocefort.reports.tuning.search import (
    byte_tuning_table,
    certainty_sentence,
    comparison,
    counts,
    options_table,
    parameter_name,
)
from rocefort.reports.writers.html import html_of
from rocefort.reports.writers.pages import PageHead, framed_page


def search_page(result: SearchResult, candidates: Sequence[Candidate]) -> str:
    """Return the page; every value is escaped by the template. Same content, same bytes."""
    shown: dict[str, object] = {
        "result": result,
        "choice": [(parameter_name(name), v) for name, v in result.chosen.values.items()],
        "certainty": certainty_sentence(result),
        "comparison": html_of(*comparison(result)),
        "fronts": front_plots(result, candidates),
        "members": html_of(options_table(result.front)),
        "heat": list(heat(result)),
        "sensitivity": sensitivity(result),
        "queues": queue_plots(result),
        "byte_tuning": html_of(byte_tuning_table(result)),
        "counts": list(counts(result)),
    }
    sections = (
        ("choice", "Choice", True),
        ("compared", "Before and after", True),
        ("front", "Front", True),
        ("heat", "Heat maps", shown["heat"]),
        ("sensitivity", "Sensitivity", True),
        ("queues", "Queues", True),
        ("byte-tuning", "ByteTuning", True),
        ("search", "Search", True),
    )
    title = f"Thresholds of {result.search} for {result.objective}"
    head = PageHead(
        title=title,
        heading=title,
        verdict="simulated, not measured",
        tone="busy",
        sizes=(
            count_of(result.combinations, "combination"),
            f"{result.evaluated} evaluated by {result.method}",
            count_of(len(result.seeds), "seed"),
        ),
        sections=[(name, words) for name, words, content in sections if content],
    )
    return framed_page("tuning.html.j2", head, shown, files=("rdma.css",))
