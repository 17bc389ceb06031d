"""The RDMA gate of a rollout: perftest between servers on different leaves, strictly judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from nornir.core import Nornir
from nornir.core.inventory import Host
from nornir.core.task import Result, Task

from rocefort.errors import Refused, RocefortError
from rocefort.fleet import ssh_exec
from rocefort.models.base import Frozen
from rocefort.models.change import Gate, GatePair
from rocefort.models.fabric_rdma import Rdma
from rocefort.models.network import Network, Role, Server
from rocefort.models.rdma_plan import Program
from rocefort.models.rdma_result import Verdict
from rocefort.models.wording import counted
from rocefort.rdma.ends import Commands, run_ends
from rocefort.rdma.outcome import MEANING, Outcome
from rocefort.rdma.perftest import Judgement, judge
from rocefort.rdma.tournament import disjoint_rounds

TOOLS = (Program.WRITE_BW, Program.WRITE_LAT)
DEADLINE_S = 30.0
# Where speed is not judged, whether it works shows soon; an emulated CPU takes its time.
SHORT = {"bandwidth_s": 2, "latency_iterations": 200}
START_S = 3.0  # assumed: until both ends of a tool run, and until what it says is there
ECT0 = 0b10  # ECN-capable transport, RFC 3168: without it a switch drops where it would mark
RUN = "gate"  # what `rdma stop` finds on a server


class Expectation(Frozen):
    """What one pair must reach; where speed is not judged, the reason says why."""

    min_gbps: float | None
    max_latency_us: float | None
    speed_judged: bool
    reason: str = ""


class PairResult(Frozen):
    """One tool between one pair: a number only where the outcome is `measured`."""

    pair: GatePair
    tool: Program
    outcome: Outcome
    gbps: float | None = None
    latency_us: float | None = None
    verdict: Verdict
    sentence: str


class GateResult(Frozen):
    """All measurements of a gate, in the order of its pairs."""

    results: tuple[PairResult, ...]
    speed_judged: bool = True

    @property
    def passed(self) -> bool:
        """Whether everything was measured and nothing was too slow; nothing run has not passed."""
        return bool(self.results) and all(r.verdict is Verdict.PASSED for r in self.results)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence a measurement."""
        if not self.results:
            return ("no pair of servers to measure between",)
        return tuple(result.sentence for result in self.results)

    @property
    def summary(self) -> str:
        """What was measured, or everything that did not pass."""
        if not self.passed:
            failed = [r.sentence for r in self.results if r.verdict is not Verdict.PASSED]
            return "; ".join(failed or self.sentences)
        pairs = len({result.pair for result in self.results})
        measured = f"{counted(pairs, 'pair')} measured"
        if not self.speed_judged:
            return f"{measured}, speed not judged"
        rates = [r.gbps for r in self.results if r.gbps is not None]
        times = [r.latency_us for r in self.results if r.latency_us is not None]
        return f"{measured}: at least {min(rates):.2f} Gb/s, at most {max(times):.2f} us"


# --- planning ---------------------------------------------------------------------------------


def traffic_class(dscp: int) -> int:
    """The --tclass of a DSCP with ECT(0): 34 -> 138."""
    return dscp << 2 | ECT0


def plan_pairs(network: Network, devices: Collection[str] | None = None) -> tuple[GatePair, ...]:
    """Pair RoCE servers on different leaves so that every leaf that has one is in a pair.

    devices: cover only these leaves (a spine among them: all leaves); None covers all. Pairs of
    one port speed come first, then few pairs, then pairs within a segment.
    """
    spines = {node.name for node in network.role(Role.SPINE)}
    everything = devices is None or not spines.isdisjoint(devices)
    candidates = _candidates(network.servers or ())
    leaves = dict.fromkeys(server.port.device for server in candidates)
    wanted = [leaf for leaf in leaves if everything or leaf in (devices or ())]
    open_leaves = dict.fromkeys(wanted)
    pairs = []
    for leaf in wanted:
        if leaf in open_leaves and (found := _best_pair(leaf, candidates, open_leaves)):
            client, server = found
            open_leaves.pop(leaf)
            open_leaves.pop(server.port.device, None)
            pairs.append(_gate_pair(client, server))
    return tuple(pairs)


def plan_gate(  # noqa: PLR0913, PLR0917 - the network, and what is known of its servers
    network: Network,
    rdma: Rdma,
    devices: Collection[str] | None = None,
    speed_note: str = "",
    accessible: Collection[str] | None = None,
    lacking: str = "",
) -> Gate:
    """The gate for a wave of devices; a speed_note says why speed is not judged there.

    accessible: the servers that can be logged in to; None: all. A leaf without RoCE servers, or
    without any on another leaf, stands in `unmeasured`. Raises Refused for a leaf that could be
    measured if its servers, or a partner's, were accessible, unless `lacking` says why they are
    not; RocefortError where the network does not say which DSCP RoCE has.
    """
    if network.lossless is None:
        raise RocefortError(
            "the DSCP of RoCE is not known", where=network.name, how="plan from a fabric file"
        )
    usable = tuple(
        server
        for server in network.servers or ()
        if accessible is None or server.name in accessible
    )
    pairs = plan_pairs(network.model_copy(update={"servers": usable}), devices)
    return Gate(
        pairs=pairs,
        unmeasured=tuple(_unmeasured(network, pairs, devices, lacking)),
        traffic_class=traffic_class(network.lossless.roce_dscp),
        **(SHORT if speed_note else {}),
        line_rate_fraction=rdma.line_rate_fraction,
        latency_us=rdma.latency_us,
        latency_tolerance=rdma.latency_tolerance,
        speed_judged=not speed_note,
        speed_note=speed_note,
    )


def _unmeasured(
    network: Network, pairs: Iterable[GatePair], devices: Collection[str] | None, lacking: str
) -> Iterator[str]:
    """Leaves of a wave that nobody can measure, each with the reason."""
    roce = {server.name: server.port.device for server in network.servers or () if server.roce}
    measured = {roce[name] for pair in pairs for name in (pair.client, pair.server)}
    leaves = set(roce.values())
    for leaf in _leaves_of(network, devices):
        if leaf in measured:
            continue
        if leaf not in leaves:
            yield f"{leaf} has no RoCE server"
        elif leaves == {leaf}:
            yield f"{leaf} has the only RoCE servers"
        elif lacking:
            yield f"{leaf}, {lacking}"
        else:
            raise Refused(
                "its RoCE servers, or all on other leaves, cannot be logged in to",
                where=leaf,
                how=f"add {' or '.join(n for n, at in roce.items() if at == leaf)}, and one on "
                "another leaf, to the connections' servers",
            )


def _leaves_of(network: Network, devices: Collection[str] | None) -> Iterator[str]:
    """The leaves that a wave touches: a spine touches them all."""
    spines = {node.name for node in network.role(Role.SPINE)}
    for node in network.role(Role.LEAF):
        if devices is None or node.name in devices or not spines.isdisjoint(devices):
            yield node.name


def _candidates(servers: Iterable[Server]) -> tuple[Server, ...]:
    """One RoCE server for each leaf, segment and speed: another tells nothing new of the fabric."""
    first: dict[tuple[str, str, int], Server] = {}
    for server in servers:
        if server.roce:
            first.setdefault((server.port.device, server.segment, server.flow_gbps), server)
    return tuple(first.values())


def _best_pair(
    leaf: str, candidates: Sequence[Server], open_leaves: Collection[str]
) -> tuple[Server, Server] | None:
    def cost(pair: tuple[Server, Server]) -> tuple[bool, bool, bool]:
        client, server = pair
        return (
            client.flow_gbps != server.flow_gbps,
            server.port.device not in open_leaves,
            client.segment != server.segment,
        )

    here = [server for server in candidates if server.port.device == leaf]
    there = [server for server in candidates if server.port.device != leaf]
    return min(((one, two) for one in here for two in there), key=cost, default=None)


def _gate_pair(client: Server, server: Server) -> GatePair:
    return GatePair(
        client=client.name,
        server=server.name,
        server_address=str(server.address.ip),
        client_rate_gbps=client.flow_gbps,  # a test is one flow: of a bond it gets one member
        server_rate_gbps=server.flow_gbps,
    )


def gate_s(gate: Gate) -> float:
    """How long a gate takes that nothing delays, s: each round of pairs runs both tools."""
    rounds = sum(1 for _ in _rounds(gate.pairs))
    return rounds * (gate.bandwidth_s + START_S * len(TOOLS))


# --- running ----------------------------------------------------------------------------------


def run_gate(nornir: Nornir, gate: Gate, deadline_s: float = DEADLINE_S) -> GateResult:
    """Run both tools between all pairs and judge them; never raises for what a server does.

    nornir: a fleet with the servers in it. Pairs that share no server run at the same time.
    deadline_s: for one run of one tool, held by each server itself and by this side.
    """
    results: dict[tuple[GatePair, Program], PairResult] = {}
    for batch in _rounds(gate.pairs):
        for tool in TOOLS:
            for pair, judgement in _run_round(nornir, gate, batch, tool, deadline_s):
                expected = expectation(gate, pair)
                results[pair, tool] = _pair_result(pair, tool, judgement, expected)
    ordered = (results[pair, tool] for pair in gate.pairs for tool in TOOLS)
    return GateResult(results=tuple(ordered), speed_judged=gate.speed_judged)


def expectation(gate: Gate, pair: GatePair) -> Expectation:
    """What a pair must reach: a share of its slower port, the latency across the spines."""
    slower = min(pair.client_rate_gbps, pair.server_rate_gbps)
    return Expectation(
        min_gbps=gate.line_rate_fraction * slower,
        max_latency_us=gate.latency_us * (1 + gate.latency_tolerance),
        speed_judged=gate.speed_judged,
        reason=gate.speed_note,
    )


def perftest_command(host: Host, tool: Program, gate: Gate, server_address: str = "") -> str:
    """The command line of one end; without an address it is the server's."""
    amount = (
        f"-n {gate.latency_iterations}"
        if tool.measures_latency
        else f"--report_gbits -D {gate.bandwidth_s}"
    )
    device, gid = host["rdma_device"], host["gid_index"]
    command = f"{tool} -d {device} -x {gid} -F {amount} --tclass {gate.traffic_class}"
    if timeout := host.data.get("qp_timeout"):
        command += f" -u {timeout}"
    return f"{command} {server_address}".rstrip()


def _rounds(pairs: Iterable[GatePair]) -> Iterator[list[GatePair]]:
    """Groups of pairs in which no server is used twice."""
    yield from disjoint_rounds(dict.fromkeys(pairs), lambda pair: (pair.client, pair.server))


def _run_round(
    nornir: Nornir, gate: Gate, batch: Sequence[GatePair], tool: Program, deadline_s: float
) -> Iterator[tuple[GatePair, Judgement]]:
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
) -> Judgement:
    client_host = nornir.inventory.hosts[pair.client]
    server_host = nornir.inventory.hosts.get(pair.server)
    if server_host is None:
        return _not_run(f"{pair.server} is not in the inventory")
    server_command = perftest_command(server_host, tool, gate)
    client_command = perftest_command(client_host, tool, gate, pair.server_address)
    try:
        there = ssh_exec.session(server_host, nornir.config)
        here = ssh_exec.session(client_host, nornir.config)
        both = run_ends(Commands(client_command, server_command), here, there, deadline_s, RUN)
        return judge(tool, both.client, both.server)
    except RocefortError as error:
        return _not_run(str(error))


def _not_run(why: str) -> Judgement:
    return Judgement(Outcome.NOT_RUN, line=why)


# --- judging ----------------------------------------------------------------------------------


def _pair_result(
    pair: GatePair, tool: Program, judgement: Judgement, expected: Expectation
) -> PairResult:
    verdict, said = _verdict(judgement, expected)
    return PairResult(
        pair=pair,
        tool=tool,
        outcome=judgement.outcome,
        gbps=judgement.gbps,
        latency_us=judgement.latency_us,
        verdict=verdict,
        sentence=f"{pair.client} -> {pair.server} {tool}: {said}",
    )


def _verdict(judgement: Judgement, expected: Expectation) -> tuple[Verdict, str]:
    if judgement.outcome is Outcome.NOT_RUN:
        return Verdict.NOT_MEASURED, f"{MEANING[Outcome.NOT_RUN]}: {judgement.line}"
    if judgement.outcome is not Outcome.MEASURED:
        return Verdict.NOT_MEASURED, judgement.sentence
    figure, bound, holds = _compare(judgement, expected)
    if not expected.speed_judged:
        return Verdict.PASSED, f"{figure}; speed not judged: {expected.reason}"
    return (Verdict.PASSED if holds else Verdict.TOO_SLOW), f"{figure}, {bound}"


def _compare(judgement: Judgement, expected: Expectation) -> tuple[str, str, bool]:
    if judgement.gbps is not None:
        least = expected.min_gbps
        holds = least is None or judgement.gbps >= least
        bound = "no bound" if least is None else f"at least {least:.2f} expected"
        return f"{judgement.gbps:.2f} Gb/s", bound, holds
    most, measured = expected.max_latency_us, judgement.latency_us or 0.0
    holds = most is None or measured <= most
    bound = "no bound" if most is None else f"at most {most:.2f} expected"
    return f"{measured:.2f} us on average", bound, holds
