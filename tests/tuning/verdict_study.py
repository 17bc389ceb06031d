"""Verdicts on random scenarios beside the truth: the whole grid over seeds of its own.

    python tests/tuning/verdict_study.py 100 2 > rows.csv    # scenarios, processes

Today's values are a vendor's default. The truth of a candidate is its gain by the objective over
seeds that neither the search nor its verdict uses.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from rocefort.tune.model import ConfidenceInterval, Settings, Simulation
from rocefort.tune.run import SearchPlan, SearchRequest, plan_of
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.executors import Workers
from rocefort.tune.search.objectives import shortfall
from rocefort.tune.search.paired import interval_of, logs_by_seed, mean_logs, scores_by_seed
from rocefort.tune.search.race import fault_of
from rocefort.tune.search.search import Search, SearchOptions
from rocefort.tune.search.verdict import gain_percent

# ECN of a CloudEngine by the speed of a port: both recommendations for static ECN, and the bounds of
# AI-ECN in the vendor's sample (inventory/profiles/ecn.yaml), kbytes of 1,000.
DEFAULTS = {
    25: ((7.2, 153.6, 30), (7.2, 204.8, 10), (204.8, 614.4, 5)),
    100: ((7.2, 512, 30), (7.2, 768, 10), (204.8, 614.4, 5)),
}
GRID = {
    "kmin_kbytes": (8, 100, 300),
    "width_kbytes": (40, 150, 500),
    "pmax_percent": (1, 10, 50, 100),
}
CHOOSING = range(50_000, 50_010)  # seeds that find the best of the grid
TRUTH = range(60_000, 60_030)  # seeds that measure it, and the verdict's choice
REAL_PERCENT = 3.0  # a gain that a verdict has to find
FOUND = 0.8  # share of it


@dataclass(frozen=True)
class StudyRow:
    """A scenario with its verdict and the truth; gains in percent of today's values."""

    seed: int
    scenario: str
    objective: str
    decision: str
    stated: float
    true: float  # of the verdict: 0 if it keeps today's values
    best: float  # of the grid's best candidate
    best_low: float

    @property
    def honest(self) -> bool:
        """Whether the verdict keeps today's values, or its choice is better than they are."""
        return self.decision == "keep" or self.true > 0

    @property
    def has_gain(self) -> bool:
        """Whether the grid has a gain that a verdict has to find."""
        return self.best >= REAL_PERCENT and self.best_low > 0

    @property
    def found(self) -> bool:
        """Whether the verdict finds enough of the grid's gain."""
        return self.true >= FOUND * self.best


def scenario_of_seed(seed: int) -> tuple[dict[str, Any], str]:
    """A random scenario that is quick to simulate, as the content of a file; and an objective."""
    random = Random(seed)
    gbps = random.choice((25, 25, 100))
    factor = gbps // 25
    pattern = random.choice(("incast", "incast", "incast", "pairs", "all_to_all", "read", "write"))
    many = pattern in ("all_to_all", "pairs")
    flows: dict[str, Any] = {"pattern": pattern, "count": random.randint(2, 5 if many else 12)}
    if pattern in ("read", "write"):
        flows["targets"] = random.randint(1, 2)
    flows["start_spread_us"] = random.choice((0, 10, 50))
    keys: dict[str, Any] = {}
    if random.random() < 0.75:
        flows["bytes"] = round(30_000 * 10 ** random.random()) * (1 if factor == 1 else 2)
    else:
        keys = {"duration_ms": 1.2 if factor == 1 else 0.6, "measure_from_ms": 0.1}
    if random.random() < 0.3:
        keys["topology"] = {"kind": "leaf_spine", "leaves": 2, "spines": 2}
    control = random.choice(("dcqcn", "dcqcn", "dcqcn", "dctcp"))
    if control == "dcqcn":
        names = ("connectx-dcqcn", "hpcc-simulator", "paper-dcqcn")
        keys["nic"] = {"profile": random.choice(names)}
    kmin, kmax, pmax = random.choice(DEFAULTS[gbps])
    search = {
        name: [v if name == "pmax_percent" else v * factor for v in values]
        for name, values in GRID.items()
    }
    return {
        "scenario": f"random-{seed}",
        "flows": flows,
        "congestion_control": control,
        "port_gbps": gbps,
        "packet_bytes": random.choice((1500, 4200)),
        "link_delay_us": random.choice((0.5, 1, 2)),
        "ecn": {"kmin_kbytes": kmin, "kmax_kbytes": kmax, "pmax_percent": pmax},
        "buffer": {
            "total_kbytes": 64_000,
            "xoff_kbytes": 614.4 * factor,
            "xon_kbytes": 563.2 * factor,
        },
        "search": search,
        **keys,
    }, random.choice(("both", "latency", "throughput"))


def studied(seed: int) -> StudyRow:
    """Search a random scenario, and compare the verdict with the truth."""
    scenario, objective = scenario_of_seed(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.yaml"
        path.write_text(yaml.safe_dump(scenario), encoding="utf-8")
        plan = plan_of(SearchRequest(scenarios=(path,)))
    with Workers(lambda: ThreadPoolExecutor(1)) as workers:
        evaluator = Evaluator(plan.bases, workers, 1, None)
        options = SearchOptions(objective, seeds=plan.seeds)
        result = Search(plan.name, plan.space, plan.references, evaluator, options).run()
        verdict = result.verdict
        choice = result.chosen.settings if verdict.decision == "change" else None
        best = best_of_grid(plan, evaluator, objective)
        today, its, *own = evaluator.evaluate(
            [plan.references[0].settings, best, *([choice] if choice else [])], TRUTH, "truth"
        )
    best_gain = gain(its, today, objective)
    true = gain(own[0], today, objective).mean if own else 0.0
    if own and flawed(own[0], today, objective):
        true = -100.0
    return StudyRow(
        seed=seed,
        scenario=describe(scenario),
        objective=objective,
        decision=verdict.decision,
        stated=round(verdict.gain_percent.mean, 2),
        true=round(true, 2),
        best=round(best_gain.mean, 2),
        best_low=round(best_gain.low, 2),
    )


def describe(scenario: dict[str, Any]) -> str:
    flows = scenario["flows"]
    size = f"{flows['bytes'] // 1000} kB" if "bytes" in flows else "endless"
    names = (flows["pattern"], str(flows["count"]), size, f"{scenario['port_gbps']}G")
    return " ".join((*names, scenario["congestion_control"]))


def best_of_grid(plan: SearchPlan, evaluator: Evaluator, objective: str) -> Settings:
    """The best candidate of the whole grid that has no fault, by seeds of its own."""
    settings = [plan.space.at(point) for point in plan.space.points()]
    today, *every = evaluator.evaluate(
        [plan.references[0].settings, *settings], CHOOSING, "whole grid"
    )
    sound = [
        (fmean(scores_by_seed(logs_by_seed(own, today), objective)), number)
        for number, own in enumerate(every)
        if not flawed(own, today, objective)
    ]
    return settings[min(sound)[1]] if sound else plan.references[0].settings


def flawed(own: Sequence[Simulation], today: Sequence[Simulation], objective: str) -> bool:
    logs = mean_logs(logs_by_seed(own, today))
    return bool(fault_of(tuple(own), tuple(today))) or shortfall(logs, objective) > 0


def gain(
    own: Sequence[Simulation], today: Sequence[Simulation], objective: str
) -> ConfidenceInterval:
    scores = scores_by_seed(logs_by_seed(own, today), objective)
    return gain_percent(interval_of(scores, 0.95))


def summary(rows: Sequence[StudyRow]) -> dict[str, float]:
    """Figures of docs/reference/figures.md."""
    real = [row for row in rows if row.has_gain]
    return {
        "scenarios": len(rows),
        "kept": sum(row.decision == "keep" for row in rows),
        "honest": sum(row.honest for row in rows),
        "with a gain": len(real),
        "found": sum(row.found for row in real),
        "share of the gain": round(sum(row.true for row in real) / sum(row.best for row in real), 3)
        if real
        else 1.0,
    }


def figure_of(counts: dict[str, float]) -> str:
    """The sentence of a figure."""
    return (
        f"verdicts on {counts['scenarios']} random scenarios: {counts['honest']} keep a vendor's "
        f"default or are better than it, {counts['kept']} keep it; {counts['with a gain']} have a "
        f"gain of 3 % or more, and {counts['found']} verdicts find 80 % of it or more, "
        f"{100 * counts['share of the gain']:.0f} % of all gains together"
    )


def main() -> None:
    count, processes = (int(word) for word in sys.argv[1:3])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rows = []
    writer = csv.writer(sys.stdout, lineterminator="\n")
    with ProcessPoolExecutor(processes) as pool:
        for row in pool.map(studied, range(first, first + count)):
            rows.append(row)
            writer.writerow([*asdict(row).values(), row.honest, row.has_gain, row.found])
            sys.stdout.flush()
    sys.stderr.write(f"{figure_of(summary(rows))}\n")


if __name__ == "__main__":
    main()
