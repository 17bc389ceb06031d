"""Rules on the effect of a change on routing: two versions, compared by one engine.

The loss of a pair that the policy of the new version denies is intended. Routes of a switch that
only one version has are not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import Pair, RouteChange
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.subject import (
    ChangeSubject,
)


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
