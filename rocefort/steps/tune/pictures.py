"""Write the page of a search, with its data as CSV and JSON."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

from rocefort.base.atomic_files import put_together
from rocefort.models.results.search import SearchResult
from rocefort.reports.tuning.page import search_page
from rocefort.steps.tune.search import Searched


def write_pictures(searched: Searched, result: SearchResult, folder: Path) -> None:
    """Write index.html, candidates.csv and search.json; raises BadInput."""
    files = {
        "index.html": search_page(result, searched.candidates),
        "candidates.csv": candidates_csv(searched),
        "search.json": result.model_dump_json(indent=1) + "\n",
    }
    put_together(files, folder)


def candidates_csv(searched: Searched) -> str:
    """Return a line for each evaluated candidate: its values, and its ratios to the start point."""
    out = StringIO()
    names = list(searched.result.chosen.values)
    goals = list(searched.result.start.ratios)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, *(f"{goal} ratio" for goal in goals)])
    for values, ratios in searched.candidates:
        writer.writerow([*(values[n] for n in names), *(f"{ratios[g]:.6g}" for g in goals)])
    return out.getvalue()
