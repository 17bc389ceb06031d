"""Rule on traffic between segments: a routing engine's answers, compared with the policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network
from rocefort.models.wording import listing
from rocefort.validators.routing.forwarding import PathEnd
from rocefort.validators.routing.isolation import Isolation
from rocefort.validators.routing_results import Pair, Reachability
from rocefort.validators.rules.missing import FILTER, Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.subject import EngineSubject

ClassPair = tuple[int, int]
_Key = tuple[str, str, bool, PathEnd | None]  # segments, whether allowed, cause of a drop


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

    The engine evaluates flows between segments, with ACLs: RDMA, each flow that the policy names,
    and ICMP, TCP and UDP at ports that no entry names. A denied flow must not be delivered, and an
    allowed flow must be. BGP103 reports allowed RDMA that is not delivered, for any cause; other
    flows with the same cause are not reported again. All other packets between the segments are
    compared as sets, as by SEC010: a line that treats any against the policy is reported once.

    Example: RDMA of readout01 reaches daisycn01, which the policy denies
    Fix: Compare the ACL of the sender's gateway with `security.policy`.
    """
    network, state, solution = subject.network, subject.state, subject.solution
    policy = network.policy
    if policy is None:
        return
    segment = {server.name: server.segment for server in network.servers or ()}
    wrong: defaultdict[_Key, list[tuple[Flow, Pair, int]]] = defaultdict(list)
    reached = state.reachability
    flows = [(reached.witness(a, b), Flow()) for a, b in reached.lost_classes()]  # see BGP103
    for a, b in _delivered_though_denied(network, reached):
        key = reached.classes[a].segment, reached.classes[b].segment, False, None
        pair = reached.witness(a, b)
        wrong[key].append((Flow(), pair, reached.count(a, b)))
        flows.append((pair, Flow()))
    for answer in state.answers:
        pair, flow = (answer.source, answer.destination), answer.flow
        names = segment[answer.source], segment[answer.destination]
        allowed, stop = policy.allows(*names, flow), None
        if answer.delivered is allowed:
            continue
        flows.append((pair, flow))
        if allowed and solution is not None:
            stop = solution.trips.stop(*pair, flow)
            if (
                stop
                and policy.allows(*names, Flow())
                and stop == solution.trips.stop(*pair, Flow())
            ):
                continue  # BGP103 reports the pair
        wrong[*names, allowed, stop].append((flow, pair, 1))
    for (_, _, allowed, stop), rows in sorted(wrong.items(), key=lambda item: _order(*item)):
        pair = min(rows, key=_row_order)[1]
        place = stop.place if stop else subject.port_of(pair[0])
        yield subject.at(
            place,
            _message(rows, "does not reach" if allowed else "reaches", stop),
            "compare the ACL of the sender's gateway with security.policy",
        )
    yield from _of_other_packets(subject, Isolation.of(policy, network), flows)


def _of_other_packets(
    subject: EngineSubject, isolation: Isolation, flows: Iterable[tuple[Pair, Flow]]
) -> Iterator[Verdict]:
    """Report lines that treat packets against the policy, except the causes of reported flows."""
    nodes, servers = subject.network.by_name, subject.network.servers or ()
    server = {one.name: one for one in servers}
    causes = {isolation.decision_on(server[a], server[b], flow) for (a, b), flow in flows}
    for (leaf, path), reason in isolation.unknown.items():
        yield subject.not_judged(nodes[leaf], reason, FILTER, path=path)
    for decision, message in isolation.violations():
        if decision not in causes:
            yield subject.at(decision.place, message, "correct this line, or security.policy")


def _row_order(row: tuple[Flow, Pair, int]) -> tuple[bool, Pair, str]:
    """RDMA first, then by name."""
    flow, pair, _ = row
    return flow != Flow(), pair, str(flow)


def _order(_: _Key, rows: list[tuple[Flow, Pair, int]]) -> tuple[bool, Pair, str]:
    return min(map(_row_order, rows))


def _message(rows: list[tuple[Flow, Pair, int]], verb: str, stop: PathEnd | None) -> str:
    flow, (source, destination), _ = min(rows, key=_row_order)
    does = "denies" if verb == "reaches" else "allows"
    message = f"{flow} of {source} {verb} {destination}, which the policy {does}"
    if stop is not None:
        message += f": {stop.reason}"
    count = sum(count for one, _, count in rows if one == flow) - 1
    more = [f"{count} more pair{'s' if count > 1 else ''}"] if count else []
    more += sorted({str(one) for one, _, _ in rows if one != flow})
    return message + (f" (and {listing(more)})" if more else "")
