"""A plan of RDMA tests for a person: rounds, who against whom, what to expect."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.results.rdma_plan import UNPROBED, RdmaPlan, RdmaRun, Round
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Items, Note, Section

MOST_ROUNDS = 40


def plan_report(plan: RdmaPlan) -> Iterator[Block]:
    """All of it; of many alike rounds the first."""
    yield Note(
        f"{plan.fabric}, {plan.suite}: {count_of(len(plan.runs), 'run')} in "
        f"{count_of(len(plan.rounds), 'round')}, {_time(plan.least_seconds)} at least"
    )
    yield Items(tuple(_hosts(plan)))
    yield from map(_round, plan.rounds[:MOST_ROUNDS])
    if len(plan.rounds) > MOST_ROUNDS:
        yield Note(f"and {len(plan.rounds) - MOST_ROUNDS} rounds more; --format json has them all")
    if plan.coverage is not None:
        yield Note(plan.coverage.claim)
    yield Items((*(f"not measured: {why}" for why in plan.unmeasured), *plan.notes))


def _hosts(plan: RdmaPlan) -> Iterator[str]:
    """Return the facts that were read from the servers; nothing if none were read."""
    for host in plan.hosts:
        if host.device != UNPROBED:
            node = "" if host.numa_node is None else f", NUMA node {host.numa_node}"
            tool = f", perftest {host.perftest}" if host.perftest else ""
            yield f"{host.name}: {host.device}, GID {host.gid_index}{node}{tool}"


def _time(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _round(each: Round) -> Section:
    lines = [f"{each.fault}: {' or '.join(each.fault_links)}"] if each.fault else []
    lines += [f"{run.pair}: {_run_text(run)}" for run in each.runs]
    if each.total_gbps is not None:
        lines.append(f"together: {each.total_gbps:g} Gb/s")
    return Section(f"round {each.number}: {each.note}", (Items(tuple(lines)),))


def _run_text(run: RdmaRun) -> str:
    parts = [run.program.value]
    if run.size_bytes is not None:
        parts.append(f"{run.size_bytes} bytes")
    parts.append(f"{run.duration_s} s" if run.duration_s else f"{run.iterations} messages")
    if run.qps > 1:
        parts.append(f"{run.qps} QPs")
    if run.limit_gbps is not None:
        together = " over all QPs" if run.qps > 1 else ""
        parts.append(f"limited to {run.limit_gbps:g} Gb/s{together}")
    if run.reach_gbps is not None:
        parts.append(f"up to {run.reach_gbps:.4g} Gb/s ({run.reach_why})")
    elif run.reach_why:
        parts.append(f"not judged ({run.reach_why})")
    return ", ".join(parts)
