"""RDMA gate between guests that also checks the leaves' queue counters for RoCE.

perftest cannot detect a wrong queue: a packet there is delivered as long as no queue is full.
Packets sent by each port and queue are read on the command line of the leaves before and after. On
a twin these are the kernel's counts by DSCP, put into queues by the leaf's running map.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nornir.core import Nornir
from nornir.core.task import Result, Task

from rocefort.base.errors import DeviceFailed
from rocefort.fleet.inventory import NEW_SESSION
from rocefort.models.change.plan import Gate
from rocefort.models.network.network import Network
from rocefort.rdma.run.gate import DEADLINE_S, GateResult, PairResult, run_gate

ENOUGH = 200  # packets of a test in one direction: more than other traffic of a port meanwhile
UNDER_LOAD = "ROCEFORT_UNDER_LOAD"  # name of the lab in which `lab load` sends while a command runs
NOT_COUNTED = "RoCE's queue not judged: `rocefort lab load {}` sends meanwhile, and is counted too"
Passed = Mapping[tuple[str, str], Mapping[int, int]]  # by leaf and port: packets by queue


@dataclass(frozen=True, slots=True)
class QueueVerdict:
    """Verdict of a gate, with the results of its pairs."""

    passed: bool
    summary: str
    results: tuple[PairResult, ...] = ()


MeasuredVerdict = GateResult | QueueVerdict


@dataclass(frozen=True)
class QueueGate:
    """Gate between servers that really send, with a check of the queues that they use."""

    network: Network

    def __call__(self, nornir: Nornir, gate: Gate) -> MeasuredVerdict:
        """Run a gate and judge perftest's result, then the leaves' counters."""
        if lab := os.environ.get(UNDER_LOAD):
            ran = run_gate(nornir, gate, DEADLINE_S)
            summary = f"{ran.summary}; {NOT_COUNTED.format(lab)}"
            return QueueVerdict(ran.passed, summary, ran.results)
        leaves = self._leaves(gate)
        before = _passed_counts(nornir, self.network, leaves)
        ran = run_gate(nornir, gate, DEADLINE_S)
        if not ran.passed or self.network.lossless is None:
            return ran
        queue = self.network.lossless.queue
        wrong = list(wrong_queues(before, _passed_counts(nornir, self.network, leaves), queue))
        if wrong:
            return QueueVerdict(passed=False, summary="; ".join(wrong), results=ran.results)
        summary = f"{ran.summary}; RoCE left by queue {queue}"
        return QueueVerdict(passed=True, summary=summary, results=ran.results)

    def _leaves(self, gate: Gate) -> tuple[str, ...]:
        names = {name for pair in gate.pairs for name in (pair.client, pair.server)}
        servers = self.network.servers or ()
        return tuple(dict.fromkeys(s.port.device for s in servers if s.name in names))


def wrong_queues(before: Passed, after: Passed, queue: int) -> Iterator[str]:
    """Yield a sentence on the ports of each leaf that most packets left by another queue."""
    wrong: dict[tuple[str, int], dict[str, Counter[int]]] = defaultdict(dict)
    for (leaf, port), later in after.items():
        grown = Counter(later)
        grown.subtract(before.get((leaf, port), {}))
        most, packets = max(grown.items(), key=lambda row: row[1], default=(queue, 0))
        if most != queue and packets >= ENOUGH:
            wrong[leaf, most][port] = grown
    for (leaf, most), ports in wrong.items():
        by_most, by_roce = (sum(grown[q] for grown in ports.values()) for q in (most, queue))
        yield (
            f"{leaf} {', '.join(ports)}: {by_most} packets of the test left by queue {most}, and "
            f"{by_roce} by RoCE's queue {queue}: its priority map is not RoCE's"
        )


def _passed_counts(nornir: Nornir, network: Network, leaves: Collection[str]) -> Passed:
    """Return packets sent by the RoCE ports of leaves until now. Raises DeviceFailed."""

    def read(task: Task) -> Result:
        name = task.host.name
        driver = task.host.get_connection(NEW_SESSION, task.nornir.config)
        try:
            counts = {}
            for port in dict.fromkeys(
                p.end.interface for p in network.roce_ports if p.end.device == name
            ):
                rows = driver.get_queues(port)
                if driver.unread:
                    raise DeviceFailed(str(next(iter(driver.unread.values()))[0]), where=name)
                counts[name, port] = {row["queue"]: row["passed_packets"] for row in rows}
            return Result(task.host, result=counts)
        finally:
            task.host.close_connection(NEW_SESSION)

    chosen = nornir.filter(filter_func=lambda host: host.name in set(leaves))
    answers = chosen.run(task=read, on_failed=True)
    passed: dict[tuple[str, str], Mapping[int, int]] = {}
    for name, answer in answers.items():
        if answer.failed:
            why = str(answer.exception).splitlines()[0]
            raise DeviceFailed(f"does not report its queue counters: {why}", where=name)
        passed |= answer[0].result
    return passed
