"""Published figures of congestion, with the scenarios that they were measured in."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from simulators import run_scenario

from rocefort.tune.model import Completion, Measures, Simulation

CELL_KBYTES = 0.208  # ByteTuning's switches
SEEDS = (11, 12, 13, 14, 15)
Reader = Callable[[Measures], float]


def goodput(result: Measures) -> float:
    return result.goodput_gbps


def queue(result: Measures) -> float:
    return result.queue_kbytes.mean


def pauses(result: Measures) -> float:
    return result.pauses


def longest_ms(result: Measures) -> float:
    assert result.completion_us is not None
    return result.completion_us.max / 1000


@dataclass(frozen=True)
class Figure:
    """One published figure; percent, absolute: what it may differ by, the larger of both.

    percent None: not judged, because a condition is not published.
    """

    name: str
    read: Reader
    value: float
    percent: float | None
    absolute: float = 0


@dataclass(frozen=True)
class Case:
    """Scenario with its published figures."""

    title: str
    source: str
    keys: dict[str, Any] = field(hash=False)
    figures: tuple[Figure, ...]
    seeds: tuple[int, ...] = SEEDS

    def result(self) -> Simulation:
        return _result(self)


@cache
def _result(case: Case) -> Simulation:
    return run_scenario(seeds=case.seeds, **case.keys)


def cells(
    senders: int, kmin: int, pmax: float, alpha: float, headroom: int, kmax: int | None = None
) -> dict[str, Any]:
    """ByteTuning's parameters at 25 Gb/s, with 1,500-byte packets and a buffer of 8 MiB."""
    top = kmin + 500 if kmax is None else kmax
    return {
        "flows": {"count": senders},
        "packet_bytes": 1500,
        "ecn": {
            "kmin_kbytes": kmin * CELL_KBYTES,
            "kmax_kbytes": top * CELL_KBYTES,
            "pmax_percent": pmax,
        },
        "buffer": {
            "alpha": alpha,
            "headroom_kbytes": headroom * CELL_KBYTES,
            "interface_quanta": 0,  # the prototype has the peer's response only
        },
    }


def measured(gbps: float | None, kbytes: float, pause: float | None = None) -> tuple[Figure, ...]:
    """Goodput within 5 %, mean queue within 15 % or 5 kbytes, pauses within 25 %."""
    out = [Figure("queue", queue, kbytes, 15, 5)]
    if gbps is not None:
        out.insert(0, Figure("goodput, Gb/s", goodput, gbps, 5))
    if pause is not None:
        out.append(Figure("pauses", pauses, pause, 25))
    return tuple(out)


def long_flows(senders: int) -> dict[str, Any]:
    """The DCQCN paper's algorithm and thresholds at 40 Gb/s, in its steady state."""
    nic = {
        "profile": "paper-dcqcn",
        "hyper_increase_mbps": 40,  # the paper's hyper increase is not in the fluid model
        "clamp_target_rate": True,
        "decrease_period_us": 1,  # a cut at every CNP
    }
    return {
        "flows": {"count": senders},
        "port_gbps": 40,
        "ecn": {"kmin_kbytes": 5, "kmax_kbytes": 200, "pmax_percent": 1},
        "nic": nic,
        "duration_ms": 100,
        "measure_from_ms": 40,
    }


def two_large_flows(kmin: int) -> dict[str, Any]:
    """Two flows of 25 MB to one server."""
    keys = cells(2, kmin, 90, 1 / 32, 140)
    return {**keys, "packet_bytes": 1048, "flows": {"count": 2, "bytes": 25_000_000}}


def fluid_flows(senders: int) -> dict[str, Any]:
    """The same with the cuts of the fluid model: one in each 50 us with a mark."""
    keys = long_flows(senders)
    cuts = {"cnp_interval_us": 0, "decrease_period_us": 50}
    return {**keys, "nic": {**keys["nic"], **cuts}}


def fixed_points(
    senders: int, exact: float, approximate: float, prototype: float
) -> Iterator[Case]:
    title = f"{senders} to 1, 40 Gb/s, DCQCN paper"
    figure = Figure("queue, exact fixed point", queue, exact, 25)
    yield Case(f"{title}, cuts on a grid", FLUID, fluid_flows(senders), (figure,))
    figures = (
        Figure("queue, approximation", queue, approximate, 10),
        Figure("queue, prototype", queue, prototype, 15, 5),
    )
    yield Case(f"{title}, cuts by CNP", FLUID, long_flows(senders), figures, tuple(range(1, 17)))


def all_the_time(
    title: str, keys: dict[str, Any], pause: float, percent: float | None = 25
) -> Case:
    """Pauses of all 10 ms: whether the prototype counts those of the first is not published."""
    name = "pauses" if percent is not None else "pauses (Pmax not published)"
    return Case(
        f"{title}, all 10 ms",
        PROTOTYPE,
        {**keys, "measure_from_ms": 0},
        (Figure(name, pauses, pause, percent),),
    )


PROTOTYPE, INDEPENDENT = "prototype", "HPCC simulator"
FLUID = "fluid model, CoNEXT'16"
CASES = (
    Case(
        "2 to 1, start point", PROTOTYPE, cells(2, 200, 20, 1 / 32, 140, 1200), measured(23.2, 33)
    ),
    Case("2 to 1, Kmin 0, Pmax 60 %", PROTOTYPE, cells(2, 0, 60, 1 / 64, 140), measured(None, 0.9)),
    Case(
        "24 to 1, start point",
        PROTOTYPE,
        cells(24, 200, 20, 1 / 32, 140, 1200),
        measured(21.5, 1206, 448),
    ),
    Case(
        "24 to 1, Kmin 3500, alpha 1/64",
        PROTOTYPE,
        cells(24, 3500, 20, 1 / 64, 500),
        (*measured(24.19, 891), Figure("pauses (Pmax not published)", pauses, 895, None)),
    ),
    Case(
        "24 to 1, Kmin 0, Pmax 60 %, alpha 1/64",
        PROTOTYPE,
        cells(24, 0, 60, 1 / 64, 500),
        measured(None, 494, 424),
    ),
    all_the_time("24 to 1, start point", cells(24, 200, 20, 1 / 32, 140, 1200), 448),
    all_the_time("24 to 1, Kmin 3500, alpha 1/64", cells(24, 3500, 20, 1 / 64, 500), 895, None),
    all_the_time("24 to 1, Kmin 0, Pmax 60 %, alpha 1/64", cells(24, 0, 60, 1 / 64, 500), 424),
    Case(
        "2 flows of 25 MB, Kmin 0, Pmax 90 %",
        INDEPENDENT,
        two_large_flows(0),
        (Figure("goodput by completion, Gb/s", goodput, 19.4, 10),),
    ),
    Case(
        "2 flows of 25 MB, Kmin 5000",
        INDEPENDENT,
        two_large_flows(5000),
        (
            Figure("goodput by completion, Gb/s", goodput, 23.9, 10),
            Figure("completion of the last, ms", longest_ms, 50e6 * 8 / 23.9e9 * 1000, 10),
        ),
    ),
    *fixed_points(2, 20.2, 23.0, 24.0),
    *fixed_points(4, 41.8, 50.2, 51.7),
    *fixed_points(8, 93.8, 118.7, 113.7),
)


REFERENCE_FIGURES: dict[str, Reader] = {
    "goodput_gbps": goodput,
    "completion_mean_us": lambda result: completion(result).mean,
    "completion_max_us": lambda result: completion(result).max,
    "queue_mean_kbytes": queue,
    "queue_p99_kbytes": lambda result: result.queue_kbytes.p99,
    "queue_max_kbytes": lambda result: result.queue_kbytes.max,
}


def completion(result: Measures) -> Completion:
    assert result.completion_us is not None
    return result.completion_us


def reference_cases() -> Iterator[Case]:
    """Cases that tests/bench/hpcc_simulator.py ran: its pauses take effect at once."""
    with Path(__file__).with_name("hpcc_simulator.csv").open(encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            gbps, control = int(row["gbps"]), row["control"]
            keys: dict[str, Any] = {
                "congestion_control": control,
                "flows": {"count": int(row["senders"]), "bytes": int(row["bytes"])},
                "port_gbps": gbps,
                "buffer": {
                    "headroom_kbytes": 0.375 * gbps,  # 3 us
                    "response_quanta": 0,
                    "interface_quanta": 0,
                    "cnp_queue": "data" if control in ("dctcp", "hpcc") else "strict",
                },
            }
            thresholds = ("kmin_kbytes", "kmax_kbytes", "pmax_percent")
            if row["kmin_kbytes"]:
                keys["ecn"] = {key: float(row[key]) for key in thresholds}
            title = f"{control}, {row['senders']} to 1 at {gbps} Gb/s"
            figures = (
                Figure(name, read, float(row[name]), None)
                for name, read in REFERENCE_FIGURES.items()
            )
            yield Case(title, INDEPENDENT, keys, tuple(figures), tuple(range(1, 11)))
