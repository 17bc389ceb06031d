"""Rules on traffic between segments: delivered by every path, or denied, as the policy requires."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address

from rocefort.models.device.packet_filters import Flow
from rocefort.models.device.routing import DEFAULT_ROUTE, StaticRoute
from rocefort.models.finding import Finding, Severity
from rocefort.models.network.network import Network, Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.external_peers import outside_name
from rocefort.validators.routing.forwarding import PathEnd
from rocefort.validators.routing.isolation import Isolation
from rocefort.validators.routing.reachability_matrix import LostSegment
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import Pair, Reachability, SessionStatus
from rocefort.validators.rules.missing import FILTER, ROUTES, Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.answers import EngineSubject, GatewaySubject
from rocefort.validators.rules.verification.causes import Cause, lacks_route, silence

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


FORWARDING = "RFC 1812, 5.2.4.3 (the longest match decides)"
HOP_BY_HOP = "change this line, or follow the path hop by hop: rocefort trace"


@rule("BGP201", judges=GatewaySubject, severity=Severity.ERROR, source=FORWARDING)
def segment_pairs(subject: GatewaySubject) -> Iterator[Verdict]:
    """Packets between segments are delivered by every path.

    Configurations do not contain servers. So packets are followed from each switch with a gateway
    to every segment of the others, and to each part of it that some route treats apart. A black
    hole, a loop, or a prefix that no switch announces is reported at the line that causes it. Where
    servers are known, segments that BGP103 reports are left out.

    Example: packets from leaf01 to 10.65.1.0/24 of leaf02 are lost, and those of 8 more segment
    pairs: spine01 drops 10.65.1.0/25 (NULL0)
    Fix: Change the line that is named, or follow the path: `rocefort trace --configs DIR A B`.
    """
    solution = subject.solution
    if solution is None:
        reason = "the embedded engine does not model this network"
        yield subject.not_judged(None, reason, ROUTES)
        return
    reached = subject.state.reachability
    reported = {reached.classes[there].subnet for _, there in reached.lost_classes()}
    subnets = {lost.gateway.subnet for lost in solution.gateways.lost}
    left_out = {subnet for subnet in subnets if any(map(subnet.overlaps, reported))}
    by_cause: defaultdict[Cause, list[LostSegment]] = defaultdict(list)
    for lost in solution.gateways.lost:
        if lost.gateway.subnet not in left_out:
            by_cause[_cause(subject, solution, lost)].append(lost)
    for (reason, place, fix), lost_segments in by_cause.items():
        first = lost_segments[0]
        pairs = sum(solution.gateways.by_device[lost.source] for lost in lost_segments)
        more = f", and those of {count_of(pairs - 1, 'more segment pair')}" if pairs > 1 else ""
        yield subject.at(
            place,
            f"packets from {first.source} to {first.gateway.subnet} of {first.gateway.device} "
            f"are lost{more}: {reason}",
            fix,
        )


def _cause(subject: EngineSubject, solution: Solution, lost: LostSegment) -> Cause:
    """Cause of a loss: where it ends, or why BGP has no route from its source."""
    gateway, end = lost.gateway, lost.end
    if not lacks_route(solution, lost.source, gateway.device, gateway.subnet):
        return _stated(end)
    silent = silence(subject, lost.source, gateway.device, gateway.subnet)
    if silent is not None:
        return silent.reason, silent.place, silent.hint or HOP_BY_HOP
    up = {s.device for s in solution.sessions if s.status is SessionStatus.ESTABLISHED}
    for name in (gateway.device, lost.source):
        if name not in up:
            return f"{name} has no BGP session that is up", DevicePlace(name, "bgp"), HOP_BY_HOP
    return _stated(end)


def _stated(end: PathEnd) -> Cause:
    reason = f"{end.place.device} has no route" if end.no_route else end.reason
    return reason, end.place, HOP_BY_HOP


@rule("BGP202", judges=EngineSubject, severity=Severity.ERROR, source=FORWARDING)
def default_routes_lead_out(subject: EngineSubject) -> Iterator[Verdict]:
    """A switch that announces a default route leads out of the fabric.

    A default route attracts all traffic that no other route matches. A switch that announces one
    without a way out drops that traffic, or sends it in a circle. With a fabric, only a leaf with
    an exit that has a default route may announce one.

    Example: leaf02 announces a default route, and drops what it attracts (NULL0)
    Fix: Remove the «network» line of 0.0.0.0/0, or give the switch an exit with a default route.
    """
    network, solution = subject.network, subject.solution
    if solution is None:
        return
    exits = {exit_.leaf for exit_ in network.exits or () if exit_.default != "none"}
    outside = {outside_name(exit_) for exit_ in network.exits or ()}
    for node in solution.underlay.network.nodes:
        bgp = node.device.bgp
        hops = solution.underlay.static[node.name].get(DEFAULT_ROUTE, ())
        if bgp is None or DEFAULT_ROUTE not in bgp.networks or node.name in exits | outside:
            continue
        why = ""
        if network.exits is not None and hops:
            why = "and the fabric intends no exit with a default route there"
        elif hops:
            why = _leads_inside(solution, node, hops)
        if why:  # without a route of its own the line announces nothing
            yield subject.at(
                DevicePlace(node.name, f"bgp.networks[{DEFAULT_ROUTE}]"),
                f"{node.name} announces a default route, {why}",
                "remove the «network» line of 0.0.0.0/0, or give the switch an exit with a default "
                "route",
            )


def _leads_inside(solution: Solution, node: Node, hops: Sequence[IPv4Address | None]) -> str:
    """Next hop of a default route that does not lead out, in words; empty: all lead out."""
    management = [
        address.network
        for interface in node.device.interfaces
        for address in interface.addresses
        if interface.kind == "management"
    ]
    for hop in hops:
        if hop is None:
            return "and drops what it attracts (NULL0)"
        if any(hop in subnet for subnet in management):
            return f"and sends what it attracts to {hop}, by the management port"
        if hop in solution.underlay.owners:
            return f"and sends what it attracts to {hop}, which is inside"
    return ""


@rule("BGP203", judges=EngineSubject, severity=Severity.WARNING, source=FORWARDING)
def static_routes_catch_nothing(subject: EngineSubject) -> Iterator[Verdict]:
    """No static route catches packets to segments that BGP routes.

    A static route to a segment of another switch, or to a part of it, overrides the route of BGP:
    its packets lose equal paths and the failover of BGP. One to a larger prefix catches them when
    the route of BGP is gone. Prefixes that the switch announces are aggregates and exits. A
    route to NULL0 on a switch with a way out keeps packets to unused addresses inside.

    Example: the static route to 10.65.1.0/24 overrides the route of BGP to 10.65.1.0/24 of leaf02
    Fix: Remove the static route, or give it a prefix that contains no segment of another switch.
    """
    if (solution := subject.solution) is None:
        return
    for node in subject.network.nodes:
        if node.device.bgp is None:
            continue
        for route in node.device.static_routes:
            if route.vrf is None and route.prefix not in (DEFAULT_ROUTE, *node.device.bgp.networks):
                yield from _caught(subject, solution, node, route)


def _caught(
    subject: EngineSubject, solution: Solution, node: Node, route: StaticRoute
) -> Iterator[Finding]:
    """Report segments of other switches that a static route overlaps and BGP routes."""
    gateways = [
        gateway
        for gateway in solution.gateways.gateways
        if gateway.device != node.name
        and gateway.subnet.overlaps(route.prefix)
        and (learned := solution.learned.get(gateway.subnet))
        and learned.of(node.name)
    ]
    if not gateways:
        return
    first = f"{gateways[0].subnet} of {gateways[0].device}"
    place = DevicePlace(node.name, f"static_routes[{route.key}]")
    if any(lost.end.place == place for lost in solution.gateways.lost):
        return  # an error: packets are lost there
    larger = route.prefix.prefixlen < gateways[0].subnet.prefixlen
    if larger and route.next_hop is None and _has_way_out(solution, node):
        return
    if larger:
        more = len(gateways) - 1
        others = f" and to {count_of(more, 'more segment')}" if more else ""
        what = f"catches packets to {first}{others} when BGP has no route to them"
    else:
        what = f"overrides the route of BGP to {first}"
    yield subject.at(
        place,
        f"the static route to {route.prefix} {what}",
        "remove the static route, or give it a prefix that contains no segment of another switch",
    )


def _has_way_out(solution: Solution, node: Node) -> bool:
    """Whether a switch has a static default route, or a BGP peer that no switch is."""
    if any(route.prefix == DEFAULT_ROUTE for route in node.device.static_routes):
        return True
    addresses = {
        address.ip
        for other in solution.underlay.network.nodes
        for interface in other.device.interfaces
        for address in interface.addresses
    }
    bgp = node.device.bgp
    return bgp is not None and any(peer.address not in addresses for peer in bgp.peers)
