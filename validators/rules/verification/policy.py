"""Rule on traffic between segments: a routing engine's answers, compared with the policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network
from rocefort.models.results.reachability import Pair, Reachability, ServerClass
from rocefort.validators.routing.forwarding import PathEnd
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.subject import EngineSubject

ClassPair = tuple[int, int]


def is_denied(network: Network, source: ServerClass, destination: ServerClass) -> bool:
    """Whether the policy denies RDMA between two classes; it does not cover switched traffic."""
    policy = network.policy
    return (
        policy is not None
        and source.subnet != destination.subnet
        and not policy.allows(source.segment, destination.segment, Flow())
    )


def _delivered_though_denied(network: Network, reached: Reachability) -> Iterator[ClassPair]:
    """Pairs of classes with delivered traffic that the policy denies."""
    policy = network.policy
    if policy is None:
        return
    members: defaultdict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(reached.classes):
        members[one.segment].append(number)
    for segment, targets in members.items():
        closed = {
            number
            for source, numbers in members.items()
            if not policy.allows(source, segment, Flow())
            for number in numbers
        }
        for target in targets if closed else ():
            for source in sorted(closed - reached.sources_lost_to(target)):
                if reached.classes[source].subnet != reached.classes[target].subnet:
                    yield source, target


@rule(
    "SEC101",
    judges=EngineSubject,
    severity=Severity.ERROR,
    source="the fabric's security.policy",
    needs=(Need.SERVERS, Need.POLICY),
)
def between_segments(subject: EngineSubject) -> Iterator[Verdict]:
    """Traffic between segments is delivered or denied as the policy requires.

    The engine evaluates each flow of the policy between segments, with ACLs. A denied flow must not
    be delivered, and an allowed flow must be. BGP103 reports allowed RDMA that is not delivered,
    for any cause.

    Example: RDMA of readout01 reaches daisycn01, which the policy denies
    Fix: Compare the ACL of the sender's gateway with `security.policy`.
    """
    network, state, solution = subject.network, subject.state, subject.solution
    policy = network.policy
    if policy is None:
        return
    segment = {server.name: server.segment for server in network.servers or ()}
    wrong: defaultdict[tuple[str, str, Flow], list[tuple[Pair, int]]] = defaultdict(list)
    reached = state.reachability
    for a, b in _delivered_though_denied(network, reached):
        key = reached.classes[a].segment, reached.classes[b].segment, Flow()
        wrong[key].append((reached.witness(a, b), reached.count(a, b)))
    for answer in state.answers:
        key = segment[answer.source], segment[answer.destination], answer.flow
        if answer.delivered is not policy.allows(*key):
            wrong[key].append(((answer.source, answer.destination), 1))
    for key, pairs in sorted(wrong.items(), key=lambda item: _order(*item)):
        stop, (pair, _) = None, min(pairs)
        allowed = policy.allows(*key)
        if allowed and solution is not None:
            stop = solution.trips.stop(*pair, key[2])
        verb = "does not reach" if allowed else "reaches"
        message = _message(key[2], verb, pair, sum(count for _, count in pairs), stop)
        place = stop.place if stop else subject.port_of(pair[0])
        yield subject.at(
            place, message, "compare the ACL of the sender's gateway with security.policy"
        )


def _order(key: tuple[str, str, Flow], pairs: list[tuple[Pair, int]]) -> tuple[bool, Pair, str]:
    """RDMA first, then by name."""
    return key[2] != Flow(), min(pairs)[0], str(key[2])


def _message(flow: Flow, verb: str, pair: Pair, count: int, stop: PathEnd | None) -> str:
    source, destination = pair
    does = "denies" if verb == "reaches" else "allows"
    message = f"{flow} of {source} {verb} {destination}, which the policy {does}"
    if stop is not None:
        message += f": {stop.reason}"
    more = count - 1
    return message + (f" (and {more} more pair{'s' if more > 1 else ''})" if more else "")
