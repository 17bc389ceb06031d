"""Result of a packet simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rocefort.models.results.simulation import Measures, Simulation
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Items, Note, Section, Table, columns

Reader = Callable[[Measures], float | None]


def _completion(name: str) -> Reader:
    """Return a reader of a completion time; None if no flow ended."""
    return lambda m: None if m.completion_us is None else float(getattr(m.completion_us, name))


ROWS: dict[str, Reader] = {
    "goodput, Gb/s": lambda m: m.goodput_gbps,
    "fairness (Jain)": lambda m: m.fairness,
    "queue, mean, kbytes": lambda m: m.queue_kbytes.mean,
    "queue, p50": lambda m: m.queue_kbytes.p50,
    "queue, p95": lambda m: m.queue_kbytes.p95,
    "queue, p99": lambda m: m.queue_kbytes.p99,
    "queue, max": lambda m: m.queue_kbytes.max,
    "completion, min, us": _completion("min"),
    "completion, mean": _completion("mean"),
    "completion, p50": _completion("p50"),
    "completion, p99": _completion("p99"),
    "completion, max": _completion("max"),
    "flows that did not end": lambda m: m.unfinished,
    "packets marked": lambda m: m.marks,
    "pause frames": lambda m: m.pauses,
    "paused, us": lambda m: m.paused_us,
    "packets dropped": lambda m: m.drops,
}


def simulation_report(result: Simulation) -> Iterator[Block]:
    """Show the means of all measures, with their lowest and highest run."""
    runs = count_of(len(result.runs), "run")
    control = result.congestion_control
    yield Note(f"{result.scenario}: {control}, {runs}; kbytes of 1,000 bytes")
    rows = []
    for name, value in ROWS.items():
        mean = value(result)
        if mean is None:
            continue
        of_runs = [number for run in result.runs if (number := value(run)) is not None]
        rows.append((name, short(mean), short(min(of_runs)), short(max(of_runs))))
    yield Table(columns("measure", "mean", "lowest run", "highest run"), tuple(rows))
    ports = ", ".join(dict.fromkeys(run.queue_port for run in result.runs))
    yield Note(f"The queue is that of the port with the longest one: {ports}.")
    yield Section("", (Note("Not modelled:"), Items(result.not_modelled)))


def short(value: float) -> str:
    """Return a number with about four digits."""
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:,.{digits}f}".removesuffix(".00")
