"""What a routing engine's answers mean for the exits: findings with a device, a line and a cause.

BGP105  a switch lacks a route of an exit, or paths over every border leaf that has it
BGP106  a route comes in, or goes out, that intent does not let through at an exit
BGP107  without one border leaf the others no longer give the fabric its default route

The engine was shown a switch behind each exit that offers what is accepted and what must not be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from rocefort.dialects.words import in_words
from rocefort.errors import Refused
from rocefort.models.finding import Finding, Severity
from rocefort.models.network import Network, Role, Sources
from rocefort.models.routing import RoutingState
from rocefort.models.static import DEFAULT_ROUTE
from rocefort.models.wording import listing
from rocefort.validators.outside import outside_name
from rocefort.validators.ports import ends_of
from rocefort.validators.routing import analyse

OUTSIDE, FILTERED, LOSS = "BGP105", "BGP106", "BGP107"
EXIT_TITLES = {
    OUTSIDE: "Every switch reaches the exits over every border leaf",
    FILTERED: "Only what intent lets through comes in and goes out at an exit",
    LOSS: "The default route outlives any one border leaf",
}

Widths = Mapping[tuple[str, IPv4Network], int]


def verify_exits(network: Network, state: RoutingState, sources: Sources) -> Iterator[Finding]:
    """Judge what an engine says of the exits; nothing where the fabric has none."""
    if not network.exits:
        return
    widths = {(route.device, route.prefix): route.width for route in state.routes}
    yield from _reached(network, widths, sources)
    yield from _came_in(network, state, sources)
    yield from _went_out(network, widths, sources)
    yield from _losses(network, sources)


def _wanted(network: Network) -> dict[IPv4Network, set[str]]:
    """Leaves that lead to each prefix that intent lets in."""
    leaves: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    for exit_ in network.exits or ():
        if exit_.default != "none":
            leaves[DEFAULT_ROUTE].add(exit_.leaf)
        for accepted in exit_.accepts:
            leaves[accepted.prefix].add(exit_.leaf)
    return dict(leaves)


def _cables(network: Network) -> Mapping[tuple[str, str], int]:
    """How many cables join two switches, counted from both ends."""
    count: defaultdict[tuple[str, str], int] = defaultdict(int)
    for link in network.links or ():
        for near, far in ends_of(link):
            count[near.device, far.device] += 1
    return count


def _reached(network: Network, widths: Widths, sources: Sources) -> Iterator[Finding]:
    cables = _cables(network)
    spines = [node.name for node in network.role(Role.SPINE)]
    for prefix, borders in _wanted(network).items():
        for node in network.nodes:
            if node.role is None or node.name in borders or node.device.bgp is None:
                continue
            senders = sorted(borders) if node.role is Role.SPINE else spines
            paths = sum(cables.get((node.name, sender), 0) for sender in senders)
            expected = min(paths, node.device.bgp.maximum_paths)
            found = widths.get((node.name, prefix), 0)
            if found < expected:
                said = f"{found} of {expected} paths" if found else "no path"
                message = f"{node.name} has {said} to {prefix} behind {listing(sorted(borders))}"
                hint = (
                    "look at the exits' sessions, at policies, and at "
                    "«equal paths over unlike ASNs» on the way"
                )
                yield _finding(OUTSIDE, sources, (node.name, "bgp"), message, hint)


def _came_in(network: Network, state: RoutingState, sources: Sources) -> Iterator[Finding]:
    """Routes that a border leaf took from the far end of an exit: its address is a next hop."""
    exits = {(exit_.leaf, exit_.peer): exit_ for exit_ in network.exits or ()}
    for route in state.routes:
        for hop in route.next_hops:
            exit_ = exits.get((route.device, hop))
            if exit_ is None or exit_.lets_in(route.prefix):
                continue
            message = f"{exit_.leaf} takes {route.prefix} from exit {exit_.name}, which must not "
            hint = "let in only what `accepts` and `default` say, by the import policy"
            place = exit_.leaf, exit_.path
            yield _finding(FILTERED, sources, place, f"{message}come in", hint)


def _went_out(network: Network, widths: Widths, sources: Sources) -> Iterator[Finding]:
    for exit_ in network.exits or ():
        if exit_.asn is None:
            continue
        there = outside_name(exit_)
        seen = {prefix for device, prefix in widths if device == there}
        place = exit_.leaf, exit_.path
        for prefix in sorted(seen - set(exit_.announces)):
            message = f"{exit_.leaf} announces {prefix} to exit {exit_.name}, which must not go out"
            hint = "let out only what `announces` says, by the export policy"
            yield _finding(FILTERED, sources, place, message, hint)
        for prefix in sorted(set(exit_.announces) - seen):
            message = f"exit {exit_.name} does not get {prefix} from {exit_.leaf}"
            hint = "look at its session, the export policy and the network line"
            yield _finding(OUTSIDE, sources, place, message, hint)


def _losses(network: Network, sources: Sources) -> Iterator[Finding]:
    """Take away each border leaf that gives the default route, if there are others."""
    borders = sorted(_wanted(network).get(DEFAULT_ROUTE, ()))
    for lost in borders if len(borders) > 1 else ():
        rest = _without(network, lost)
        try:
            state = analyse(rest, sources).state
        except Refused:
            continue  # the whole network was refused before, and said why
        has = {route.device for route in state.routes if route.prefix == DEFAULT_ROUTE}
        own = set(borders)
        short = [n.name for n in rest.nodes if n.role and n.name not in has | own]
        if short:
            message = f"without {lost}, {listing(short)} ha{'s' if len(short) == 1 else 've'} no "
            message += f"default route, though {listing([b for b in borders if b != lost])} stand"
            message += "s" if len(borders) == 2 else ""
            hint = "look at the policies and sessions of the border leaves that are left"
            yield _finding(LOSS, sources, (lost, "bgp"), message, hint)


def _without(network: Network, lost: str) -> Network:
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


def _finding(rule: str, sources: Sources, at: tuple[str, str], message: str, hint: str) -> Finding:
    where, hint = sources.where(*at), in_words(hint)
    return Finding(rule=rule, severity=Severity.ERROR, where=where, message=message, hint=hint)
