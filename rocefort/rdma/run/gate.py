"""RDMA gate of a rollout: perftest between servers on different leaves, strictly judged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import join

from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.base.clock import utc_now
from rocefort.base.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.models.base import Frozen
from rocefort.models.change.plan import Gate, GatePair
from rocefort.models.wording import count_of, names_text
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.parse.perftest import PerftestOutcome, judge
from rocefort.rdma.plan.command_lines import limiter_arguments
from rocefort.rdma.plan.gate_pairs import TOOLS, reach_gbps, rounds_of
from rocefort.rdma.rdma_plan import Program, RdmaRun
from rocefort.rdma.results import Expectation, Figures, MeasurementVerdict, RawEnd
from rocefort.rdma.run.client_server import EndCommands, run_ends

DEADLINE_S = 30.0
RUN = "gate"  # mark of its processes, which `rdma stop` ends


class PairResult(Frozen):
    """Result of one tool between one pair; figures only if the outcome is `measured`.

    run: what ran, without an id. at, seconds: its beginning and duration. outputs: of both ends.
    """

    pair: GatePair
    tool: Program
    outcome: Outcome
    gbps: float | None = None
    latency_us: float | None = None
    verdict: MeasurementVerdict
    sentence: str
    notes: tuple[str, ...] = ()  # lines beside the tables, which changed no figure
    run: RdmaRun
    speed_judged: bool
    figures: Figures | None = None
    at: datetime
    seconds: float
    outputs: tuple[RawEnd, ...] = ()


@dataclass(frozen=True, slots=True)
class _Measured:
    """Outcome of one run of a tool, with its time and the outputs of its ends."""

    outcome: PerftestOutcome
    at: datetime
    seconds: float = 0.0
    outputs: tuple[RawEnd, ...] = ()


class GateResult(Frozen):
    """All results of a gate, in the order of its pairs."""

    results: tuple[PairResult, ...]
    speed_judged: bool = True

    @property
    def passed(self) -> bool:
        """Whether every pair was measured and none was too slow; False without results."""
        return bool(self.results) and all(
            r.verdict is MeasurementVerdict.PASSED for r in self.results
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per measurement."""
        if not self.results:
            return ("no pair of servers to measure between",)
        return tuple(result.sentence for result in self.results)

    @property
    def summary(self) -> str:
        """Summary of the figures, or the sentences of all that did not pass."""
        if not self.passed:
            failed = [
                r.sentence for r in self.results if r.verdict is not MeasurementVerdict.PASSED
            ]
            return "; ".join(failed or self.sentences)
        pairs = len({result.pair for result in self.results})
        measured = f"{count_of(pairs, 'pair')} measured"
        if self.speed_judged:
            rates = [r.gbps for r in self.results if r.gbps is not None]
            times = [r.latency_us for r in self.results if r.latency_us is not None]
            figures = f": at least {min(rates):.2f} Gb/s, at most {max(times):.2f} us"
        else:
            figures = ", speed not judged"
        notes = dict.fromkeys(note for result in self.results for note in result.notes)
        noted = f"; noted: {names_text(notes)}" if notes else ""
        return f"{measured}{figures}{noted}"


def run_gate(nornir: Nornir, gate: Gate, deadline_s: float = DEADLINE_S) -> GateResult:
    """Run both tools between all pairs and judge them; a server's failure raises nothing.

    nornir: a fleet with the servers in it. Pairs that share no server run at the same time.
    deadline_s: for one run of one tool, enforced on each server and by this side.
    """
    results: dict[tuple[GatePair, Program], PairResult] = {}
    for batch in rounds_of(gate.pairs):
        for tool in TOOLS:
            for pair, measured in _run_round(nornir, gate, batch, tool, deadline_s):
                results[pair, tool] = _pair_result(gate, pair, tool, measured)
    ordered = (results[pair, tool] for pair in gate.pairs for tool in TOOLS)
    return GateResult(results=tuple(ordered), speed_judged=gate.speed_judged)


def expectation(gate: Gate, pair: GatePair) -> Expectation:
    """Return the bounds of a pair: a fraction of its slower port or limit, and the latency."""
    return Expectation(
        min_gbps=gate.line_rate_fraction * reach_gbps(gate, pair),
        max_latency_us=gate.latency_us * (1 + gate.latency_tolerance),
        speed_judged=gate.speed_judged,
        reason=gate.speed_note,
    )


def perftest_command(host: Host, tool: Program, gate: Gate, server_address: str = "") -> str:
    """Return the command line of one end; without an address, that of the server."""
    amount = (
        f"-n {gate.latency_iterations}"
        if tool.measures_latency
        else f"--report_gbits -D {gate.bandwidth_s} --cpu_util"
    )
    device, gid = host["rdma_device"], host["gid_index"]
    command = f"{tool} -d {device} -x {gid} -F {amount} --tclass {gate.traffic_class}"
    if timeout := host.data.get("qp_timeout"):
        command += f" -u {timeout}"
    if gate.limit_gbps is not None and server_address and not tool.measures_latency:
        command += f" {join(limiter_arguments(gate.limit_gbps))}"
    return f"{command} {server_address}".rstrip()


def _run_round(
    nornir: Nornir, gate: Gate, batch: Sequence[GatePair], tool: Program, deadline_s: float
) -> Iterator[tuple[GatePair, _Measured]]:
    by_client = {pair.client: pair for pair in batch}

    def measure(task: Task) -> Result:
        pair = by_client[task.host.name]
        return Result(task.host, result=_measure(nornir, gate, pair, tool, deadline_s))

    clients = nornir.filter(filter_func=lambda host: host.name in by_client)
    # A host that failed in an earlier task is measured like any other.
    answers = clients.run(task=measure, on_failed=True)
    for pair in batch:
        answer = answers.get(pair.client)
        if answer is None:
            yield pair, _not_run(f"{pair.client} is not in the inventory")
        elif answer.exception is not None:
            raise answer.exception
        else:
            yield pair, answer.result


def _measure(
    nornir: Nornir, gate: Gate, pair: GatePair, tool: Program, deadline_s: float
) -> _Measured:
    at, began_s = utc_now(), time.monotonic()
    client_host = nornir.inventory.hosts[pair.client]
    server_host = nornir.inventory.hosts.get(pair.server)
    if server_host is None:
        return _not_run(f"{pair.server} is not in the inventory")
    server_command = perftest_command(server_host, tool, gate)
    client_command = perftest_command(client_host, tool, gate, pair.server_address)
    commands = EndCommands(client_command, server_command)
    try:
        there = ssh_exec.session(server_host, nornir.config)
        here = ssh_exec.session(client_host, nornir.config)
        both = run_ends(commands, here, there, deadline_s, RUN)
        judged, seconds = judge(tool, both.client, both.server), time.monotonic() - began_s
        return _Measured(judged, at, seconds, both.raw_ends("", commands))
    except RocefortError as error:
        return _not_run(str(error))


def _not_run(why: str) -> _Measured:
    return _Measured(PerftestOutcome(Outcome.NOT_RUN, line=why), utc_now())


# --- judging ----------------------------------------------------------------------------------


def _pair_result(gate: Gate, pair: GatePair, tool: Program, measured: _Measured) -> PairResult:
    judgement, expected = measured.outcome, expectation(gate, pair)
    row = judgement.rows[-1] if judgement.rows else None
    verdict, sentence = _verdict(judgement, expected)
    return PairResult(
        pair=pair,
        tool=tool,
        outcome=judgement.outcome,
        gbps=judgement.gbps,
        latency_us=judgement.latency_us,
        verdict=verdict,
        sentence=f"{pair.client} -> {pair.server} {tool}: {sentence}",
        notes=judgement.notes,
        run=_run_of(gate, pair, tool, None if row is None else row.size_bytes),
        speed_judged=expected.speed_judged,
        figures=None if row is None else row.figures,
        at=measured.at,
        seconds=measured.seconds,
        outputs=measured.outputs,
    )


def _run_of(gate: Gate, pair: GatePair, tool: Program, size_bytes: int | None) -> RdmaRun:
    """Return the run of a pair. size_bytes: as the tool printed it; its default is not set here."""
    run = RdmaRun(
        id="",
        program=tool,
        client=pair.client,
        server=pair.server,
        server_address=pair.server_address,
        size_bytes=size_bytes,
        traffic_class=gate.traffic_class,
    )
    if tool.measures_latency:
        return run.model_copy(update={"iterations": gate.latency_iterations})
    reach = {"reach_gbps": reach_gbps(gate, pair), "limit_gbps": gate.limit_gbps}
    return run.model_copy(update={"duration_s": gate.bandwidth_s, **reach})


def _verdict(judgement: PerftestOutcome, expected: Expectation) -> tuple[MeasurementVerdict, str]:
    if judgement.outcome is Outcome.NOT_RUN:
        return MeasurementVerdict.NOT_MEASURED, f"{MEANING[Outcome.NOT_RUN]}: {judgement.line}"
    if judgement.outcome is not Outcome.MEASURED:
        return MeasurementVerdict.NOT_MEASURED, judgement.sentence
    figure, bound, holds = _compare(judgement, expected)
    if not expected.speed_judged:
        return MeasurementVerdict.PASSED, f"{figure}; speed not judged: {expected.reason}"
    return (
        MeasurementVerdict.PASSED if holds else MeasurementVerdict.TOO_SLOW
    ), f"{figure}, {bound}"


def _compare(judgement: PerftestOutcome, expected: Expectation) -> tuple[str, str, bool]:
    if judgement.gbps is not None:
        least = expected.min_gbps
        holds = least is None or judgement.gbps >= least
        bound = "no bound" if least is None else f"at least {least:.2f} expected"
        return f"{judgement.gbps:.2f} Gb/s", bound, holds
    most, measured = expected.max_latency_us, judgement.latency_us or 0.0
    holds = most is None or measured <= most
    bound = "no bound" if most is None else f"at most {most:.2f} expected"
    return f"{measured:.2f} us on average", bound, holds
