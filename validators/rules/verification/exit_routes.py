"""Rules on exits, from a routing engine's answers: findings with a device, a line and a cause.

The engine's network has a switch behind each exit, which offers accepted and forbidden prefixes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from rocefort.base.errors import Refused
from rocefort.models.device.routing import DEFAULT_ROUTE
from rocefort.models.finding import Finding, Severity
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import listing
from rocefort.validators.facts.roce_ports import ends_of
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.external_peers import outside_name
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import RoutingState
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.answers import MULTIPATH, EngineSubject

Widths = Mapping[tuple[str, IPv4Network], int]


@rule(
    "BGP105",
    judges=EngineSubject,
    severity=Severity.ERROR,
    source=f"{MULTIPATH}; intent (exits)",
    needs=(Need.EXITS,),
)
def reached(subject: EngineSubject) -> Iterator[Verdict]:
    """Every switch reaches the exits over every border leaf.

    Every switch needs a route to each accepted prefix of an exit over every border leaf of that
    prefix. The announced prefixes must arrive outside. Otherwise external traffic overloads one
    border leaf, or is lost.

    Example: spine01 has 1 of 2 paths to 0.0.0.0/0 behind leaf01 and leaf02
    Fix: Check the sessions of the exits, import and export policies, «network» lines and
    «equal paths over unlike ASNs».
    """
    widths = _widths(subject.state)
    yield from _missing_prefixes(subject, widths)
    for exit_ in subject.network.exits or ():
        for prefix in sorted(set(exit_.announces) - _received_prefixes(exit_, widths)):
            message = f"exit {exit_.name} does not get {prefix} from {exit_.leaf}"
            hint = "check its session, the export policy and the network line"
            yield subject.at(DevicePlace(exit_.leaf, exit_.path), message, hint)


def _widths(state: RoutingState) -> Widths:
    return {(route.device, route.prefix): route.width for route in state.routes}


def _received_prefixes(exit_: Exit, widths: Widths) -> set[IPv4Network]:
    """Prefixes that the switch behind an exit receives; all announced ones without a session."""
    if exit_.asn is None:
        return set(exit_.announces)
    there = outside_name(exit_)
    return {prefix for device, prefix in widths if device == there}


def _required_prefixes(network: Network) -> dict[IPv4Network, set[str]]:
    """Border leaves of each accepted prefix."""
    leaves: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    for exit_ in network.exits or ():
        if exit_.default != "none":
            leaves[DEFAULT_ROUTE].add(exit_.leaf)
        for accepted in exit_.accepts:
            leaves[accepted.prefix].add(exit_.leaf)
    return dict(leaves)


def _cables(network: Network) -> Mapping[tuple[str, str], int]:
    """Number of cables between two switches, counted from both ends."""
    count: defaultdict[tuple[str, str], int] = defaultdict(int)
    for link in network.links or ():
        for near, far in ends_of(link):
            count[near.device, far.device] += 1
    return count


def _missing_prefixes(subject: EngineSubject, widths: Widths) -> Iterator[Finding]:
    network = subject.network
    cables = _cables(network)
    spines = [node.name for node in network.role(SwitchRole.SPINE)]
    for prefix, borders in _required_prefixes(network).items():
        for node in network.nodes:
            if node.role is None or node.name in borders or node.device.bgp is None:
                continue
            senders = sorted(borders) if node.role is SwitchRole.SPINE else spines
            paths = sum(cables.get((node.name, sender), 0) for sender in senders)
            expected = min(paths, node.device.bgp.maximum_paths)
            width = widths.get((node.name, prefix), 0)
            if width < expected:
                share = f"{width} of {expected} paths" if width else "no path"
                message = f"{node.name} has {share} to {prefix} behind {listing(sorted(borders))}"
                hint = (
                    "check the exits' sessions, the policies, and "
                    "«equal paths over unlike ASNs» on the path"
                )
                yield subject.at(DevicePlace(node.name, "bgp"), message, hint)


@rule(
    "BGP106",
    judges=EngineSubject,
    severity=Severity.ERROR,
    source="RFC 7454 (BGP operations and security), 6; intent (exits)",
    needs=(Need.EXITS,),
)
def let_through(subject: EngineSubject) -> Iterator[Verdict]:
    """An exit accepts and announces only the prefixes of the intent.

    A route that is accepted by mistake attracts the fabric's traffic to the outside. A route that
    is announced by mistake attracts external traffic. For this test the engine adds a switch behind
    each exit, which offers accepted and forbidden prefixes.

    Example: leaf01 takes 203.0.113.0/24 from exit wan-a, which must not come in
    Fix: Correct the policies of the session: accept only `accepts` and `default` of the exit,
    announce only `announces`.
    """
    yield from _came_in(subject)
    widths = _widths(subject.state)
    for exit_ in subject.network.exits or ():
        for prefix in sorted(_received_prefixes(exit_, widths) - set(exit_.announces)):
            message = f"{exit_.leaf} announces {prefix} to exit {exit_.name}, which must not go out"
            hint = "correct the export policy: announce only `announces`"
            yield subject.at(DevicePlace(exit_.leaf, exit_.path), message, hint)


def _came_in(subject: EngineSubject) -> Iterator[Finding]:
    """Report routes that a border leaf accepts from an exit's far end, which is a next hop."""
    exits = {(exit_.leaf, exit_.peer): exit_ for exit_ in subject.network.exits or ()}
    for route in subject.state.routes:
        for hop in route.next_hops:
            exit_ = exits.get((route.device, hop))
            if exit_ is None or exit_.lets_in(route.prefix):
                continue
            message = f"{exit_.leaf} takes {route.prefix} from exit {exit_.name}, which must not "
            hint = "correct the import policy: accept only `accepts` and `default`"
            yield subject.at(DevicePlace(exit_.leaf, exit_.path), f"{message}come in", hint)


@rule(
    "BGP107",
    judges=EngineSubject,
    severity=Severity.ERROR,
    source="a choice: one border leaf may fail; intent (exits)",
    needs=(Need.EXITS,),
)
def default_outlives(subject: EngineSubject) -> Iterator[Verdict]:
    """The default route survives the failure of any one border leaf.

    Where several border leaves announce the default route, the other switches must keep it if one
    of these leaves fails. If they do not, the remaining border leaves depend on the failed one, or
    announce the route to a part of the fabric only.

    Example: without leaf01, spine01, spine02, leaf03 and leaf04 have no default route, although
    leaf02 remains
    Fix: Check the announcements of the remaining border leaves, and their policies towards the
    spines.
    """
    network = subject.network
    borders = sorted(_required_prefixes(network).get(DEFAULT_ROUTE, ()))
    for lost in borders if len(borders) > 1 else ():
        rest = _network_without(network, lost)
        try:
            state = analyse(rest, subject.sources).state
        except Refused:
            continue  # the engine refused the whole network before, with the reason
        has = {route.device for route in state.routes if route.prefix == DEFAULT_ROUTE}
        own = set(borders)
        short = [n.name for n in rest.nodes if n.role and n.name not in has | own]
        if short:
            message = f"without {lost}, {listing(short)} ha{'s' if len(short) == 1 else 've'} no "
            rest_names = listing([name for name in borders if name != lost])
            message += f"default route, although {rest_names} remain"
            message += "s" if len(borders) == 2 else ""
            hint = "check the policies and sessions of the remaining border leaves"
            yield subject.at(DevicePlace(lost, "bgp"), message, hint)


def _network_without(network: Network, lost: str) -> Network:
    links = network.links
    if links is not None:
        links = tuple(k for k in links if lost not in (k.a.device, k.b.device))
    return network.model_copy(
        update={
            "nodes": tuple(node for node in network.nodes if node.name != lost),
            "links": links,
            "exits": tuple(e for e in network.exits or () if e.leaf != lost),
            "servers": tuple(s for s in network.servers or () if s.port.device != lost),
        }
    )
