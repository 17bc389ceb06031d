"""Rules on the effect of a change on routing: lost routes, lost pairs, and lost redundancy.

The loss of a pair that the policy of the new version denies is intended. Routes of a switch that
only one version has are not compared.

What a fabric has never had is not lost: a fabric with one spine from the beginning passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import (
    Failure,
    FailureEffect,
    FailureStudy,
    Pair,
    RouteChange,
)
from rocefort.validators.rules.missing import Missing, Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.answers import ChangeSubject, RedundancySubject


@rule(
    "CHG101",
    judges=ChangeSubject,
    severity=Severity.ERROR,
    source="a choice: a change loses no server pair by mistake",
    needs=(Need.SERVERS,),
)
def lost_pairs(subject: ChangeSubject) -> Iterator[Verdict]:
    """The change does not interrupt a server pair.

    Before the change, the packets of this pair were delivered; after the change they are not. The
    finding has the cause where the engine finds it.

    Example: by the change server2 no longer reaches server1 by every path: leaf2 has no route to
    10.1.1.0/24
    Fix: Undo the cause, or deny the pair by the policy: the loss is then intended, and only
    reported (info).
    """
    network, solution = subject.network, subject.solution
    by_cause: defaultdict[tuple[DevicePlace, str, bool], list[Pair]] = defaultdict(list)
    for pair in subject.change.lost:
        meant = _is_denied(network, pair)
        stop = solution.trips.stop(*pair, Flow()) if solution and not meant else None
        place = subject.port_of(pair[0])
        by_cause[(stop.place, stop.reason, meant) if stop else (place, "", meant)].append(pair)
    for (place, reason, meant), pairs in by_cause.items():
        message = _pairs(pairs)
        message += ", which the policy now denies" if meant else ""
        message += f": {reason}" if reason else ""
        hint = "undo the cause, or deny the pairs by the policy"
        yield subject.at(place, message, hint, Severity.INFO if meant else None)


def _is_denied(network: Network, pair: Pair) -> bool:
    if network.policy is None:
        return False
    at = {server.name: server for server in network.servers or () if server.name in pair}
    source, target = (at[name] for name in pair)
    routed = source.address.network != target.address.network
    return routed and not network.policy.allows(source.segment, target.segment, Flow())


def _pairs(pairs: Sequence[Pair]) -> str:
    source, target = pairs[0]
    more = f" (and {count_of(len(pairs) - 1, 'more pair')})" if pairs[1:] else ""
    return f"by the change {source} no longer reaches {target} by every path{more}"


@rule(
    "CHG102",
    judges=ChangeSubject,
    severity=Severity.WARNING,
    source="a choice: a change withdraws no route by mistake",
)
def lost_routes(subject: ChangeSubject) -> Iterator[Verdict]:
    """No switch loses a route or paths by the change.

    A switch of both versions loses a route, or has fewer equal paths to it than before. The loss
    may be intended, for example when a leaf is removed.

    Example: by the change 3 switches lose their routes to 10.1.1.0/24 (2 -> 0)
    Fix: Check whether the withdrawal is intended; if not, check the sessions, policies and
    «network» lines of the change.
    """
    change = subject.change
    for routes, one, many in (
        (change.gone, "loses its route", "lose their routes"),
        (change.narrower, "has fewer paths", "have fewer paths"),
    ):
        by_device: defaultdict[str, list[RouteChange]] = defaultdict(list)
        for route in routes:
            by_device[route.device].append(route)
        alike: defaultdict[tuple[IPv4Network, ...], list[str]] = defaultdict(list)
        for device, own in by_device.items():
            alike[tuple(route.prefix for route in own)].append(device)
        for prefixes, devices in alike.items():
            first = by_device[devices[0]][0]
            who = devices[0] if len(devices) == 1 else f"{len(devices)} switches"
            message = f"by the change {who} {many if devices[1:] else one} to {first.prefix}"
            message += f" ({first.was} -> {first.now})"
            if more := len(prefixes) - 1:
                message += f" and to {more} more prefix{'es' if more > 1 else ''}"
            hint = "check whether the withdrawal is intended"
            yield subject.at(DevicePlace(devices[0], "bgp"), message, hint)


@rule(
    "CHG103",
    judges=ChangeSubject,
    severity=Severity.INFO,
    source="a choice: a reviewer of a change sees the connections that it opens",
    needs=(Need.SERVERS,),
)
def gained_pairs(subject: ChangeSubject) -> Iterator[Verdict]:
    """Server pairs that the change newly connects.

    Before the change, the packets of this pair were not delivered; after the change they are. No
    other output shows a reviewer that an ACL was opened.

    Example: by the change server2 reaches server1
    Fix: Check whether it is intended.
    """
    gained = subject.change.gained
    if not gained:
        return
    source, target = gained[0]
    message = f"by the change {source} reaches {target}"
    if more := len(gained) - 1:
        message += f" (and {count_of(more, 'more pair')} are newly delivered)"
    yield subject.at(subject.port_of(source), message, "check whether it is intended")


LeafPair = tuple[str, str]  # two leaves, in one direction
CHOICE = "a choice: a change removes no redundancy by mistake"
EVERY_SINGLE = Missing(
    "the effect of every single failure", run="rocefort verify FABRIC --failures single"
)


def _leaves(network: Network) -> tuple[str, ...]:
    return tuple(node.name for node in network.role(SwitchRole.LEAF))


def _every_single(study: FailureStudy | None) -> bool:
    """Whether a study has every single failure: neither pairs nor a sample."""
    failures = [effect.failure for effect in study.effects] if study else []
    single = all(len(failure.links) + len(failure.nodes) == 1 for failure in failures)
    return study is not None and study.seed is None and single


def _cut_pairs(effect: FailureEffect, leaves: tuple[str, ...]) -> Iterator[LeafPair]:
    """Pairs of leaves that one failure separates."""
    yield from ((loss.source, loss.destination) for loss in effect.lost)
    for leaf in effect.cut_off:
        others = (other for other in leaves if other != leaf and other not in effect.failure.nodes)
        for other in others:
            yield from ((leaf, other), (other, leaf))


@rule(
    "CHG104",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.ROLE, Need.LINKS),
)
def lone_spine(subject: RedundancySubject) -> Iterator[Verdict]:
    """The change leaves more than one spine where there were several.

    Before the change, every leaf reached the others over several spines; after it, every path
    crosses one spine. Its failure, and its maintenance, separate all leaves. A fabric that had one
    spine before does not fail this rule.

    Example: the change removes all spine redundancy: spine2 goes, and the loss of spine1 cuts 2 of
    2 leaf pairs
    Fix: Keep a second spine, or accept the loss with a waiver until the next one is cabled.
    """
    gone = subject.removed_spines
    if not gone:
        return
    spine = next(spine for up in subject.uplinks[1].values() for spine in up)
    study, leaves = subject.studies[1], _leaves(subject.network)
    effects = study.effects if study else ()
    lost = next((e for e in effects if e.failure == Failure(nodes=(spine,))), None)
    cuts = "separates all leaves"
    if lost is not None:
        pairs = len(leaves) * (len(leaves) - 1)
        cuts = f"cuts {len(set(_cut_pairs(lost, leaves)))} of {count_of(pairs, 'leaf pair')}"
    message = f"the change removes all spine redundancy: {listing(sorted(gone))} "
    message += f"{'go' if gone[1:] else 'goes'}, and the loss of {spine} {cuts}"
    hint = "keep a second spine, or accept the loss with a waiver"
    yield subject.at(DevicePlace(spine), message, hint)


@rule(
    "CHG105",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.ROLE, Need.LINKS),
)
def lone_uplink(subject: RedundancySubject) -> Iterator[Verdict]:
    """The change leaves no leaf with one uplink or one spine.

    Before the change, the leaf had several uplinks, or uplinks to several spines; now the failure
    of one cable or of one spine cuts it off, with all its servers. If the fabric as a whole has one
    spine left, CHG104 reports it instead.

    Example: the change leaves leaf2 its one uplink to spine1, instead of uplinks to spine1 and
    spine2: the loss of spine1 cuts it off
    Fix: Keep an uplink to a second spine, or accept the loss with a waiver.
    """
    for leaf, message in subject.narrowed.items():
        hint = "keep an uplink to a second spine, or accept the loss with a waiver"
        yield subject.at(DevicePlace(leaf), message, hint)


@rule(
    "CHG106",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.SERVERS,),
)
def lone_port(subject: RedundancySubject) -> Iterator[Verdict]:
    """The change leaves no server with one port that had several.

    The server had a bond of several ports, and one of them could fail. Now the failure of one
    cable, port or module ends its service.

    Example: the change leaves srv1-1 1 port of 2: the loss of leaf1 25GE1/0/1 ends its service
    Fix: Keep the bond, or accept the loss with a waiver.
    """
    was = {server.name: server for server in subject.before.servers or ()}
    for server in subject.servers:
        earlier = was.get(server.name, server)
        if len(earlier.ports) > 1 and len(server.ports) == 1:
            message = f"the change leaves {server.name} 1 port of {len(earlier.ports)}: the loss "
            message += f"of {server.ports[0]} ends its service"
            hint = "keep the bond, or accept the loss with a waiver"
            yield subject.at(subject.port_of(server.name), message, hint)


@rule(
    "CHG107",
    judges=RedundancySubject,
    severity=Severity.ERROR,
    source=CHOICE,
    needs=(Need.ROLE, Need.LINKS),
)
def lone_path(subject: RedundancySubject) -> Iterator[Verdict]:
    """Leaf pairs that survived every single failure still do.

    Before the change, no failure of one cable or one switch separated the two leaves; now one
    does, and no cabling is left that avoids it. Pairs of a leaf that CHG105 reports are left out,
    and BGP108 reports pairs that cabling still connects.

    Example: the change removes the redundancy of 2 leaf pairs: the loss of spine2 cuts leaf1 from
    leaf2
    Fix: Keep cables over two spines that both leaves share, or accept the loss with a waiver.
    """
    was, now = subject.studies
    if was is None or now is None or not (_every_single(was) and _every_single(now)):
        reason = "not every single failure of both versions is studied"
        yield subject.not_judged(None, reason, EVERY_SINGLE)
        return
    if subject.removed_spines:
        return
    both = subject.before.by_name.keys() & subject.network.by_name.keys() - subject.narrowed.keys()
    leaves = [_leaves(side) for side in (subject.before, subject.network)]
    seen = {pair for effect in was.effects for pair in _cut_pairs(effect, leaves[0])}
    for effect in sorted(now.effects, key=lambda e: not e.failure.nodes):  # switches first
        missed = [loss for loss in effect.lost if not loss.expected]
        still_cabled = {(loss.source, loss.destination) for loss in missed}
        cut = dict.fromkeys(_cut_pairs(effect, leaves[1]))
        pairs = [p for p in cut if p not in seen | still_cabled and both.issuperset(p)]
        seen.update(pairs)
        if pairs:
            (leaf, other), number = pairs[0], count_of(len(pairs), "leaf pair")
            message = f"the change removes the redundancy of {number}: the loss of "
            message += f"{effect.failure} cuts {leaf} from {other}"
            hint = "keep cables over two spines that both leaves share"
            yield subject.at(DevicePlace(leaf), message, hint)
