"""Table of docs/how-to/tuning.md: what each search needs, over 20 seeds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from search_effort import BUDGET, SEEDS, needed, summary

from rocefort.base.repository import ROOT
from rocefort.tune.fabric_search import fabric_search
from rocefort.tune.run import SearchRequest, plan_of
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.executors import workers_of
from rocefort.tune.search.objectives import ratios
from rocefort.tune.search.search import OBJECTIVES

PAGE = ROOT / "docs/how-to/tuning.md"
TABLE = re.compile(r"(?<=<!-- effort -->\n).*(?=<!-- end of effort -->)", re.DOTALL)
METHODS = ("random", "annealing", "tpe", "nsga2")
SCENARIO = """\
scenario: {name}
flows: {{count: {count}}}
packet_bytes: 1500
ecn: {{kmin_kbytes: 41.6, kmax_kbytes: 249.6, pmax_percent: 20}}
buffer: {{alpha: 0.03125, headroom_kbytes: 29.12}}
"""


def rows(folder: Path) -> Iterator[str]:
    yield f"| grid | objective | search | median | 90th percentile | of {len(SEEDS)} seeds |"
    yield "|---|---|---|---|---|---|"
    plans = []
    for name, count in (("2 to 1", 2), ("24 to 1", 24)):
        path = folder / f"{count}.yaml"
        path.write_text(SCENARIO.format(name=f"of-{count}", count=count), encoding="utf-8")
        plan = plan_of(SearchRequest(scenarios=(path,)))
        plans.append((name, plan.bases, plan.space, plan.references[0].settings))
    own = fabric_search(Path("heps"), None, nic=False)
    plans.append(("HEPS", own.bases, own.space, own.references[0].settings))
    results = Path(os.environ.get("ROCEFORT_SIMULATIONS", folder / "results"))
    for name, bases, space, start in plans:
        with workers_of("processes", os.cpu_count() or 1, folder) as workers:
            evaluator = Evaluator(bases, workers, os.cpu_count() or 1, results)
            points = list(space.points())
            settings = [start, *map(space.at, points)]
            first, *evaluated = evaluator.evaluate(settings, [1], "grid")
        table = {p: ratios(e, first) for p, e in zip(points, evaluated, strict=True)}
        for objective in OBJECTIVES:
            for method in METHODS:
                counts = [needed(space, table, objective, method, seed) for seed in SEEDS]
                middle, late, reached = summary(counts)
                cells = (f"{name}, {len(points):,}", objective, method, middle, late, str(reached))
                yield f"| {' | '.join(cells)} |"


@pytest.mark.soak
def test_the_page_has_what_each_search_needs(
    golden_update: bool, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    if pytestconfig.getoption("effort") != "soak":
        pytest.skip("three grids of simulations and 720 searches; make soak runs them")
    table = "".join(f"{line}\n" for line in rows(tmp_path))
    text = PAGE.read_text(encoding="utf-8")
    if golden_update:
        PAGE.write_text(TABLE.sub(lambda _: table, text), encoding="utf-8")
        return
    found = TABLE.search(text)
    assert found is not None
    assert found[0] == table, "run this test with --golden-update"


def test_a_count_ends_at_the_first_point_that_is_near_enough(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.format(name="two", count=2), encoding="utf-8")
    space = plan_of(SearchRequest(scenarios=(path,))).space
    table = {p: {"goodput": 2.0, "queue": 2.0} for p in space.points()}
    best = next(iter(table))
    table[best] = {"goodput": 1.0, "queue": 1.0}
    counts = [needed(space, table, "both", "annealing", seed) for seed in range(3)]
    assert all(count is None or 1 <= count <= BUDGET for count in counts)
    table = {point: {"goodput": 1.005, "queue": 1.0} for point in table}
    assert needed(space, table, "both", "random", 1) == 1
    assert summary([1, None, None]) == ("> 400", "> 400", 1)
