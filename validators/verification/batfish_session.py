"""Session with a Batfish service for all questions: routes, checks, failures, and a change.

A fork takes a second for a dozen switches and 20 for a hundred, so that a sample is the default.
Server pairs are traced only if one question reports a path that no longer delivers: most failures
in a Clos lose none.

One session sends and parses a snapshot once, and deletes everything at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address

from rocefort.base.progress import Step
from rocefort.dialects.eos import EosNames
from rocefort.models.finding import Finding
from rocefort.models.network.network import End, Network, Server, Sources
from rocefort.validators.batfish.access import Service, check_version
from rocefort.validators.batfish.batfish_engine import (
    BatfishAnswers,
    BatfishSession,
    interpret,
    open_session,
    put_questions,
    reachability_of,
    route_rows,
    routes_of,
    trace_rows,
)
from rocefort.validators.batfish.snapshot import (
    CHECK_QUESTIONS,
    Checks,
    Files,
    collect_checks,
    host_name,
    snapshot_files,
    zip_snapshot,
)
from rocefort.validators.failures.impact import FailureCosts, difference
from rocefort.validators.failures.study import SEED, chosen_failures, sampled
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing_results import (
    Failure,
    FailureEffect,
    FailureStudy,
    Reachability,
    RoutingState,
    Timing,
)
from rocefort.validators.rules.verification.engine_difference import EngineDifference

DEFAULT = "single:8"
CIRCLES = "not judged: Batfish does not model buffers"


@dataclass(frozen=True)
class BatfishFailureScope:
    """Failures of a scope, and the number of all possible ones."""

    scope: str
    failures: tuple[Failure, ...]
    population: int


def choose(singles: Sequence[Failure], scope: str) -> BatfishFailureScope:
    """Failures of a scope. Raises as `chosen_failures` does."""
    failures, population = chosen_failures(singles, scope)
    return BatfishFailureScope(scope, tuple(failures), population)


def cabled_failures(network: Network) -> tuple[Failure, ...]:
    """Each cable between switches, then each switch, if the embedded engine has no answer."""
    links = [Failure(links=((link.a, link.b),)) for link in network.links or ()]
    return (*links, *(Failure(nodes=(node.name,)) for node in network.nodes))


def deactivated(failure: Failure) -> tuple[tuple[str, ...], tuple[End, ...]]:
    """Parts that a fork lacks, in Batfish's names: switches, and both ends of each cable."""
    ends = (end for link in failure.links for end in link)
    ports = tuple(
        End(device=host_name(end.device), interface=EosNames.to_eos(end.interface)) for end in ends
    )
    return tuple(map(host_name, failure.nodes)), ports


def fork_name(number: int) -> str:
    """Name of a fork on the service, by the number of its failure."""
    return f"failure-{number}"


def study_of(chosen: BatfishFailureScope, effects: Iterable[FailureEffect]) -> FailureStudy:
    """Study in the form of the embedded engine's."""
    return FailureStudy(
        scope=chosen.scope,
        population=chosen.population,
        seed=SEED if sampled(chosen.scope) else None,
        circles=CIRCLES,
        effects=tuple(effects),
    )


def without_own(network: Network, failure: Failure, hosts: Sequence[str]) -> list[str]:
    """Hosts that are not on a failed switch."""
    dead = {
        host_name(server.name)
        for server in network.servers or ()
        if server.port.device in failure.nodes
    }
    return [host for host in hosts if host not in dead]


def disagreeing(
    ours: FailureStudy, theirs: FailureStudy, names: tuple[str, str], sources: Sources
) -> tuple[int, tuple[Finding, ...]]:
    """Number of failures that both studied, and one finding if some differ, with their number."""
    mine = {effect.failure: effect for effect in ours.effects}
    both = [(mine[e.failure], e) for e in theirs.effects if e.failure in mine]
    differences = [example for pair in both if (example := difference(*pair, names))]
    if not differences:
        return len(both), ()
    device, sentence = differences[0]
    more = f" (and after {len(differences) - 1} other failures)" if differences[1:] else ""
    apart = EngineDifference(
        sources.where(device, "bgp"), f"the engines disagree: {sentence}{more}"
    )
    return len(both), (apart.finding,)


BEFORE = "before"


@dataclass(frozen=True)
class SnapshotExample:
    """RDMA of one server that only one of two snapshots delivers."""

    source: str
    destination: str


@dataclass(frozen=True)
class BatfishResult:
    """Answers of the service, and the duration of each question."""

    state: RoutingState
    checks: Checks
    files: Files
    version: str
    note: str = ""  # on the version
    study: FailureStudy | None = None
    before: RoutingState | None = None
    examples: tuple[SnapshotExample, ...] = ()
    timings: tuple[Timing, ...] = ()


def ask_all(
    network: Network,
    service: Service,
    failures: BatfishFailureScope | None = None,
    before: Network | None = None,
) -> BatfishResult:
    """Verify a network whose Devices were parsed from text; before: one to compare it with.

    Raises as `batfish.ask` does.
    """
    whole = with_outside(network)
    files = snapshot_files(whole)
    earlier = None if before is None else with_outside(before)
    earlier_zip = b"" if earlier is None else zip_snapshot(snapshot_files(earlier))
    with Step("Batfish"), open_session(files, service) as asking:
        with Step("checks", CHECK_QUESTIONS):
            checks = collect_checks(asking.rows)
        answers = put_questions(asking, whole)
        state = interpret(whole, answers)
        result = BatfishResult(state, checks, files, asking.version)
        if failures is not None:
            costs = FailureCosts(network, state)
            effects = _effects(asking, whole, answers, costs, failures)
            result = replace(result, study=study_of(failures, effects))
        if earlier is not None:
            with Step("earlier state"):
                asking.speaker.add_snapshot(asking.session, earlier_zip, BEFORE)
                then = put_questions(asking, earlier, BEFORE)
                result = replace(
                    result,
                    before=interpret(earlier, then),
                    examples=tuple(_examples(asking, whole, earlier, (answers, then))),
                )
        note = check_version(asking.version, str(service))
        return replace(result, note=note, timings=tuple(asking.session.timings))


def _effects(
    asking: BatfishSession,
    network: Network,
    answers: BatfishAnswers,
    costs: FailureCosts,
    failures: BatfishFailureScope,
) -> Iterator[FailureEffect]:
    with Step("failures", len(failures.failures)):
        for number, failure in enumerate(failures.failures):
            name = fork_name(number)
            with Step(str(failure), counted=True):
                asking.speaker.fork(asking.session, name, *deactivated(failure))
                yield costs.effect(failure, _after(asking, network, answers, failure, name))
                asking.speaker.forget(asking.session, name)


def _after(
    asking: BatfishSession, network: Network, answers: BatfishAnswers, failure: Failure, of: str
) -> RoutingState:
    """Routes after a failure, and the reachability matrix if any path no longer delivers."""
    up = without_own(network, failure, answers.hosts_up)
    routes = route_rows(asking, of)
    state = RoutingState(
        engine="batfish",
        sessions=(),
        routes=routes_of(network, routes),
        reachability=Reachability(),
    )
    addresses = [s.address.ip for s in network.servers or () if host_name(s.name) in up]
    if not up or not asking.speaker.failing(asking.session, up, addresses, of):
        return state
    traces = trace_rows(asking, network, up, of)
    seen = answers.model_copy(update={"hosts_up": tuple(up), "traces": traces})
    return state.model_copy(update={"reachability": reachability_of(network, seen)})


def _examples(
    asking: BatfishSession,
    network: Network,
    earlier: Network,
    answers: tuple[BatfishAnswers, BatfishAnswers],
) -> Iterator[SnapshotExample]:
    """Results of Batfish's own differential question, for servers that did not move."""
    servers = _unmoved(network, earlier)
    up = [name for name in servers if all(name in answer.hosts_up for answer in answers)]
    by_address: dict[IPv4Address, str] = {s.address.ip: s.name for s in servers.values()}
    if not up:
        return
    addresses = sorted(by_address)
    filtered = any(n.device.filters.policies for n in (*network.nodes, *earlier.nodes))
    for row in asking.speaker.differing(asking.session, up, addresses, None, BEFORE):
        source = servers[row["Flow"]["ingressNode"]]
        target = IPv4Address(row["Flow"]["dstIp"])
        # The service may forge the source address, which only filters evaluate.
        forged = IPv4Address(row["Flow"]["srcIp"]) != source.address.ip
        if target != source.address.ip and not (forged and filtered):
            yield SnapshotExample(source.name, by_address[target])


def _unmoved(network: Network, earlier: Network) -> dict[str, Server]:
    then = {server.name: server.address for server in earlier.servers or ()}
    return {
        host_name(server.name): server
        for server in network.servers or ()
        if then.get(server.name) == server.address
    }
