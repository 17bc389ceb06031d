"""Rules on exits: policies at every external session, no PFC there, one default route."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.interface import NO_DOMAIN
from rocefort.models.device.routing import DEFAULT_ROUTE, BgpSettings
from rocefort.models.finding import Severity
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import End, Network, Node
from rocefort.validators.facts.overview import outside_peers
from rocefort.validators.routing.external_peers import offered_prefixes
from rocefort.validators.rules.missing import Missing, Need, fabric_key
from rocefort.validators.rules.registry import Subject, Verdict, rule

WAYS = ("import", "export")
EXTERNAL = Missing(
    "whether the peer is external", "state of BGP peer", key=fabric_key("leaves.exits")
)


@rule(
    "BGP003",
    severity=Severity.ERROR,
    source="RFC 8212 (no routes to or from outside without a policy); «the vendor's system» takes "
    "and gives all",
)
def external_policies(subject: Subject) -> Iterator[Verdict]:
    """External BGP sessions have import and export policies.

    Without a policy «a switch of this vendor» accepts all routes of the external peer, and
    announces all of its own: one wrong default route outside then moves the traffic of the whole
    fabric.

    Example: peer 192.0.2.0 outside has no import policy
    Fix: Give the peer a route-policy in both directions.
    """
    for node, bgp, peer in outside_peers(subject.overview):
        settings = bgp.settings(peer)
        missing = [
            direction for direction in WAYS if getattr(settings, f"{direction}_policy") is None
        ]
        if missing and subject.network.exits is None:
            yield subject.not_judged(
                node,
                "whether a peer that is not among the texts is external is not known, and it "
                f"has no {' and no '.join(missing)} policy",
                replace(EXTERNAL, value=str(peer.address)),
                path=f"bgp.peers[{peer.address}]",
            )
        elif missing:
            yield subject.finding(
                node,
                f"peer {peer.address} outside has no {' and no '.join(missing)} policy",
                "add «policy of peer: ..» in both directions",
                path=f"bgp.peers[{peer.address}]",
            )


@rule(
    "BGP004",
    severity=Severity.ERROR,
    source="RFC 7454 (BGP operations and security), 6; intent (exits)",
    needs=(Need.EXITS,),
)
def exit_filters(subject: Subject) -> Iterator[Verdict]:
    """Policies of exits permit the intended prefixes, and no others.

    The fabric accepts only the default route and the prefixes of `accepts`, never a part of its own
    prefixes. It announces only whole segments. Loopbacks, links and routes of another exit stay
    inside, because the fabric is no transit.

    Example: no BGP peer 192.0.2.0 for exit wan
    Fix: Permit the intended prefixes, and no others, in the two prefix lists of the exit.
    """
    network = subject.network
    for exit_ in network.exits or ():
        node = network.by_name.get(exit_.leaf)
        if node is None or exit_.asn is None:
            continue
        bgp = node.device.bgp
        peer = next((p for p in bgp.peers if p.address == exit_.peer), None) if bgp else None
        if bgp is None or peer is None:
            yield subject.finding(
                node,
                f"no BGP peer {exit_.peer} for exit {exit_.name}",
                "add the peer, or give the exit no asn",
                path="bgp.peers",
            )
            continue
        yield from _session(subject, node, exit_, bgp.settings(peer))


def _session(subject: Subject, node: Node, exit_: Exit, settings: BgpSettings) -> Iterator[Verdict]:
    if settings.asn != exit_.asn:
        yield subject.finding(
            node,
            f"peer {exit_.peer} of exit {exit_.name} is in AS {settings.asn}, intended {exit_.asn}",
            f"set the AS number of peer {exit_.peer} to {exit_.asn}",
            path=exit_.path,
        )
    policies = settings.import_policy, settings.export_policy
    came = set(offered_prefixes(exit_, subject.network)) | set(_inner(node))
    went = came | set(exit_.announces) | _other_prefixes(exit_, subject.network)
    let_in = {route for route in came if exit_.lets_in(route)}
    for direction, policy, routes, intended in (
        ("in", policies[0], came, let_in),
        ("out", policies[1], went, set(exit_.announces)),
    ):
        if policy is None:
            continue  # BGP003 reports it
        passed = {route for route in routes if passes(node.device, policy, route)}
        at = f"route_policies[{policy}]"
        for route in sorted(passed - intended)[:1]:
            yield subject.finding(
                node,
                f"exit {exit_.name}: {policy} lets {route} {direction}, against the intent",
                f"remove {route} from the prefixes that {policy} permits",
                path=at,
            )
        for route in sorted(intended - passed)[:1]:
            yield subject.finding(
                node,
                f"exit {exit_.name}: {policy} does not let {route} {direction}, against the intent",
                f"permit {route} in the prefix list of {policy}",
                path=at,
            )


def passes(device: Device, policy_name: str, route: IPv4Network) -> bool:
    """Whether a route-policy of a device permits a route; a missing policy permits none."""
    policy = next((p for p in device.route_policies if p.name == policy_name), None)
    lists = {row.name: row for row in device.prefix_lists}
    for node in policy.nodes if policy else ():
        matched = node.match_prefix_list
        if matched is None or (matched in lists and lists[matched].permits(route)):
            return node.action == "permit"
    return False


def _inner(node: Node) -> Iterator[IPv4Network]:
    """Prefixes that only the fabric may have: loopback, links and gateways."""
    for interface in node.device.interfaces:
        if interface.vrf is None:
            yield from (address.network for address in interface.addresses)


def _other_prefixes(exit_: Exit, network: Network) -> set[IPv4Network]:
    """Prefixes that other exits accept; announced here, they would make the fabric a transit."""
    others = (other for other in network.exits or () if other is not exit_)
    return {accepted.prefix for other in others for accepted in other.accepts}


@rule(
    "BGP005",
    severity=Severity.ERROR,
    source="«the vendor's reference», «a static route» (preference 60) and "
    "«preference of BGP» of BGP (255)",
)
def one_default_route(subject: Subject) -> Iterator[Verdict]:
    """Management and fabric have separate default routes.

    A static default route to the management network in the public table takes precedence over
    every default route of BGP: traffic out of the fabric would leave by the management port.

    Example: the default route to 10.255.0.254 by the management port competes with that of exit wan
    Fix: Put the management port into a routing table of its own (`management.vrf`).
    """
    exits = subject.network.exits or ()
    offers = next((exit_.name for exit_ in exits if exit_.default != "none"), None)
    for node in subject.network.nodes:
        yield from _default_route(subject, node, offers)


def _default_route(subject: Subject, node: Node, offers: str | None) -> Iterator[Verdict]:
    """Report a default route by the management port that competes with another one.

    offers: an exit that offers a default route.
    """
    device = node.device
    public = [r for r in device.static_routes if r.prefix == DEFAULT_ROUTE and r.vrf is None]
    if not public:
        return
    ports = [i for i in device.interfaces if i.kind == "management" and i.vrf is None]
    subnets = [address.network for port in ports for address in port.addresses]
    out = [r for r in public if r.next_hop and any(r.next_hop in s for s in subnets)]
    if not out:
        return
    rival = _brings_default(device) if offers is None else f"exit {offers}"
    if other := [r for r in public if r not in out]:
        rival = f"the static route to {other[0].via}"
    if rival:
        yield subject.finding(
            node,
            f"the default route to {out[0].via} by the management port competes with that of "
            f"{rival}",
            "give the management port a routing table of its own: management.vrf",
            path=f"static_routes[{out[0].key}]",
        )


def _brings_default(device: Device) -> str:
    """Policy that permits a default route; for texts, whose exits are not known."""
    bgp = device.bgp
    settings = (*bgp.groups, *bgp.peers) if bgp else ()
    policies = {row.import_policy for row in settings if row.import_policy}
    permitting = sorted(name for name in policies if passes(device, name, DEFAULT_ROUTE))
    return f"route-policy {permitting[0]}" if permitting else ""


@rule(
    "PFC006",
    severity=Severity.ERROR,
    source="Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016 (a pause spreads); "
    "«the vendor's reference», «domain of a port»",
)
def no_pfc_outside(subject: Subject) -> Iterator[Verdict]:
    """PFC ends at an exit, unless the exit is `lossless`.

    A pause from outside would stop a leaf's queue, and then the queues of its neighbours. The DSCP
    of an external sender would put packets into the lossless queue.

    Example: exit wan is not lossless, but its port pauses and obeys pauses (PFC)
    Fix: Remove PFC from the port and set «domain of a port: none»; or set `lossless: true` if the
    other end has the same lossless profile.
    """
    network = subject.network
    for exit_ in network.exits or ():
        end = End(device=exit_.leaf, interface=exit_.port)
        port = network.interface(end)
        if port is None or exit_.lossless:
            continue
        if port.pfc is not None:
            yield subject.finding(
                end,
                f"exit {exit_.name} is not lossless, but its port pauses and obeys pauses (PFC)",
                "remove «PFC on a port» from the port",
                path="pfc",
            )
        if port.domain != NO_DOMAIN:
            yield subject.finding(
                end,
                f"exit {exit_.name} is not lossless, but its port trusts the priorities of packets "
                "from outside",
                "set «domain of a port: none»",
                path="domain",
            )
