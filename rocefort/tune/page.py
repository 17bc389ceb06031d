"""Page of a search: its verdict, its pictures and tables, and its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.models.wording import count_of, listing
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.tune.charts import effect_charts, front_plots, heat, queue_plots, sensitivity
from rocefort.tune.model import SearchResult
from rocefort.tune.report import (
    byte_tuning_lead,
    byte_tuning_table,
    comparison,
    counts,
    front_lead,
    option_tables,
)
from rocefort.tune.search.comparison import TriedCandidate
from rocefort.tune.verdict_report import (
    changes_table,
    effects_lead,
    grounds,
    references_table,
)
from rocefort.verification.page.content import Provenance


def search_page(
    result: SearchResult, candidates: Sequence[TriedCandidate], origins: Sequence[Provenance] = ()
) -> str:
    """Return the page; every value is escaped by the template. Same content, same bytes.

    origins: of the files with the fabric or the scenarios.
    """
    maps, verdict = heat(result), result.verdict
    change = verdict.decision == "change"
    shown: dict[str, object] = {
        "result": result,
        "change": change,
        "grounds": list(grounds(result)),
        "changes": html_of(changes_table(verdict)) if verdict.changes else "",
        "effects": effect_charts(verdict),
        "effects_lead": effects_lead(verdict),
        "references": html_of(references_table(verdict)) if verdict.references else "",
        "comparison": html_of(*comparison(result, spreads=True), level=3),
        "fronts": front_plots(result, candidates),
        "front_lead": front_lead(result),
        "members": html_of(*option_tables(result.front)),
        "heat": [each for each in maps.values() if each.colored],
        "equal": listing(goal for goal, each in maps.items() if not each.colored),
        "sensitivity": sensitivity(result),
        "queues": queue_plots(result),
        "byte_tuning": html_of(byte_tuning_table(result)),
        "byte_tuning_lead": byte_tuning_lead(result),
        "counts": list(counts(result)),
    }
    sections = (
        ("verdict", "Verdict", True),
        ("effects", "Effects", True),
        ("references", "Shipped references", verdict.references),
        ("compared", "Figures", True),
        ("front", "Front", True),
        ("heat", "Heat maps", maps),
        ("sensitivity", "Sensitivity", True),
        ("queues", "Queues", True),
        ("byte-tuning", "ByteTuning", True),
        ("search", "Search", True),
    )
    tried = f"{verdict.tried:,} of {count_of(result.combinations, 'combination')} tried"
    title = f"Thresholds of {result.search} for {result.objective}"
    head = PageHead(
        title=title,
        heading=title,
        verdict="change" if change else "keep today's values",
        tone="busy" if change else "clean",
        sizes=(
            "simulated, not measured",
            f"{tried} by {result.method}",
            count_of(len(verdict.seeds), "fresh seed"),
        ),
        provenance=list(_provenance(result, origins)),
        sections=[(name, words) for name, words, content in sections if content],
    )
    return framed_page("tuning.html.j2", head, shown, files=("rdma.css", "tuning.css"))


def _provenance(result: SearchResult, origins: Sequence[Provenance]) -> Iterator[tuple[str, str]]:
    if origins:
        yield "Made", f"{origins[0].made_text} by Rocefort {origins[0].version}"
    for each in origins:
        yield "From", f"{each.source}, {each.revision_text}"
    names = [each.scenario for each in result.start.scenarios]
    yield ("Scenario" if len(names) == 1 else "Scenarios"), listing(names)
    yield "Objective", result.objective
    yield "Seeds", ", ".join(map(str, result.seeds))
