"""Live rules on routing: BGP sessions, received prefixes, and the ECMP width in the FIB."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.models.network.observed import DeviceSeen, StateTopic
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.live.switch_readings import LiveSubject, reading
from rocefort.validators.rules.missing import ROUTES
from rocefort.validators.rules.registry import Verdict, rule

BGP_PEER = "«the vendor's reference», «state of BGP peers»"
FEW = 3  # prefixes that a message names


@rule(
    "LIV003",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=BGP_PEER,
    reads=reading(StateTopic.PEERS),
)
def bgp_sessions(subject: LiveSubject) -> Iterator[Verdict]:
    """BGP is established with every intended peer.

    The embedded engine computes the intended sessions from the configuration. A session that is
    down removes its paths for every server behind it. Check «state of BGP peer: ADDRESS», the
    cable, and the addresses, AS numbers and passwords of both ends. A peer that is not in the
    fabric is a warning.

    Example: peer 10.1.1.2 (spine01): the session is not established
    Fix: Check the output of «state of BGP peer: ADDRESS», the cable, and both ends of the session.
    """
    if subject.intended.refused:
        yield subject.not_judged(None, subject.intended.refused, ROUTES)
        return
    for node, seen in subject.answering_switches:
        intended = subject.intended.up.get(node.name, {})
        reported = {peer.address: peer for peer in seen.peers or ()}
        for address, up in sorted(intended.items()):
            name, path = subject.named_address(address), f"bgp.peers[{address}]"
            hint = f"«state of BGP peer: {address}» shows the cause"
            if address not in reported and subject.may_be_unread(
                node, seen, StateTopic.PEERS, str(address)
            ):
                continue
            if address not in reported:
                message = f"peer {name}: the switch has no such peer"
                yield subject.finding(node, message, "compare what runs there", path=path)
            elif up and not reported[address].established:
                message = f"peer {name}: the session is not established"
                yield subject.finding(node, message, hint, path=path)
        for address in sorted(reported.keys() - intended.keys()):
            message = f"peer {subject.named_address(address)}: the fabric has no such peer"
            hint = "remove it from the switch, or add it to the fabric"
            yield subject.finding(node, message, hint, path="bgp", severity=Severity.WARNING)


@rule(
    "LIV004",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source=BGP_PEER,
    reads=reading(StateTopic.PEERS),
)
def bgp_prefixes(subject: LiveSubject) -> Iterator[Verdict]:
    """Every peer announces the prefixes that are used from it.

    More prefixes are no finding: the switch may have better paths to some of them, and whether
    «a switch of this vendor» counts rejected prefixes is not confirmed. Fewer prefixes mean that
    the peer has lost routes, or that a route-policy or prefix list drops them: compare
    «routes received from: ADDRESS» with the fabric.

    Example: peer 10.1.1.2 (spine01): 1 prefix received, at least 2 intended
    Fix: Check the peer's own sessions and routes, and the policies of both ends.
    """
    if subject.intended.refused:
        yield subject.not_judged(None, subject.intended.refused, ROUTES)
        return
    for node, seen in subject.answering_switches:
        for peer in seen.peers or ():
            least = subject.intended.used.get((node.name, peer.address), 0)
            if peer.established and peer.prefixes is not None and peer.prefixes < least:
                message = (
                    f"peer {subject.named_address(peer.address)}: "
                    f"{count_of(peer.prefixes, 'prefix')} received, at least {least} intended"
                )
                hint = "check the peer's own sessions and routes, and the policies of both ends"
                path = f"bgp.peers[{peer.address}]"
                yield subject.finding(node, message, hint, path=path)


@rule(
    "LIV005",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «routing table» (flag D: in the FIB)",
    reads=reading(StateTopic.ROUTES),
)
def ecmp_width(subject: LiveSubject) -> Iterator[Verdict]:
    """Server prefixes have their intended next hops in the FIB.

    With fewer next hops, the flows of a leaf share fewer uplinks, and PFC pauses traffic that would
    have fitted. A next hop that is not intended attracts traffic to a wrong path.

    Example: next hops without 10.1.1.4 (spine02): 1 to 10.10.2.0/24, intended 2
    Fix: Check the sessions of the missing next hops, «equal paths of BGP», and with one AS a spine
    «equal paths over unlike ASNs».
    """
    if subject.intended.refused:
        yield subject.not_judged(None, subject.intended.refused, ROUTES)
        return
    for node, seen in subject.answering_switches:
        yield from _widths(subject, node, seen)


Change = tuple[tuple[IPv4Address, ...], tuple[IPv4Address, ...], int, int]


def _widths(subject: LiveSubject, node: Node, seen: DeviceSeen) -> Iterator[Verdict]:
    """One finding for all prefixes that miss the same next hops."""
    tables = {route.prefix: route.next_hops for route in seen.routes or ()}
    groups: dict[Change, list[IPv4Network]] = defaultdict(list)
    for prefix, hops in subject.intended.hops.get(node.name, {}).items():
        if prefix not in tables and subject.may_be_unread(
            node, seen, StateTopic.ROUTES, str(prefix)
        ):
            continue
        reported = tables.get(prefix, ())
        missing = tuple(sorted(set(hops) - set(reported)))
        extra = tuple(sorted(set(reported) - set(hops)))
        if missing or extra:
            groups[missing, extra, len(reported), len(hops)].append(prefix)
    for (missing, extra, width, intended), prefixes in sorted(groups.items()):
        # The fault is before the colon, its numbers after it: see rollout.live.new_errors.
        what = [f"without {listing(map(subject.named_address, missing))}"] if missing else []
        what += [f"by {listing(map(subject.named_address, extra))}, not intended"] if extra else []
        message = (
            f"next hops {listing(what)}: {width} to {_prefixes(prefixes)}, intended {intended}"
        )
        hint = "check «routes to: PREFIX» and the sessions of these next hops"
        yield subject.finding(node, message, hint, path="bgp.maximum_paths")


def _prefixes(prefixes: list[IPv4Network]) -> str:
    first = sorted(prefixes)[:FEW]
    if len(prefixes) <= FEW:
        return listing(first)
    return f"{count_of(len(prefixes), 'prefix')} from {first[0]} on"
