"""A plan of RDMA tests for a person, in 80 columns: rounds, who against whom, what to expect."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from rocefort.models.rdma_plan import UNPROBED, RdmaPlan, RdmaRun, Round
from rocefort.models.wording import counted

COLUMNS = 80
MOST_ROUNDS = 40


def plan_text(plan: RdmaPlan) -> str:
    """All of it; of many alike rounds the first."""
    return "".join(f"{line}\n" for line in _lines(plan))


def wrapped(sentence: str, indent: str = "") -> list[str]:
    """A sentence in 80 columns, its further lines indented by two more."""
    return wrap(
        sentence,
        COLUMNS,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _lines(plan: RdmaPlan) -> Iterator[str]:
    yield (
        f"{plan.fabric}, {plan.suite}: {counted(len(plan.runs), 'run')} in "
        f"{counted(len(plan.rounds), 'round')}, {_time(plan.least_seconds)} at least"
    )
    yield from _asked(plan)
    for each in plan.rounds[:MOST_ROUNDS]:
        yield ""
        yield from _round(each)
    if len(plan.rounds) > MOST_ROUNDS:
        yield ""
        yield f"and {len(plan.rounds) - MOST_ROUNDS} rounds more; --format json has them all"
    if plan.coverage is not None:
        yield ""
        yield from wrapped(plan.coverage.claim)
    told = [f"not measured: {why}" for why in plan.unmeasured] + list(plan.notes)
    if told:
        yield ""
    for sentence in told:
        yield from wrapped(sentence)


def _asked(plan: RdmaPlan) -> Iterator[str]:
    """What the servers said of themselves; nothing where nobody asked them."""
    told = [host for host in plan.hosts if host.device != UNPROBED]
    if told:
        yield ""
    for host in told:
        node = "" if host.numa_node is None else f", NUMA node {host.numa_node}"
        tool = f", perftest {host.perftest}" if host.perftest else ""
        yield f"{host.name}: {host.device}, GID {host.gid_index}{node}{tool}"


def _time(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _round(each: Round) -> Iterator[str]:
    yield from wrapped(f"round {each.number}: {each.note}")
    if each.fault:
        yield from wrapped(f"{each.fault}: {' or '.join(each.fault_links)}", "  ")
    for run in each.runs:
        yield from wrapped(f"{run.pair}: {_what(run)}", "  ")
    if each.total_gbps is not None:
        yield f"  together: {each.total_gbps:g} Gb/s"


def _what(run: RdmaRun) -> str:
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
