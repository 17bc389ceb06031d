"""Readings of a network with lines of uncertain effect, and verdicts certain in all of them.

Such a line, or a policy that is not defined, has a few possible effects. Each gives a network that
an engine can solve: the answers that are equal in all of them are certain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from ipaddress import IPv4Network

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import RoutingEffect, RoutingLine
from rocefort.models.device.device import Device
from rocefort.models.device.routing import (
    DEFAULT_ROUTE,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    StaticRoute,
)
from rocefort.models.finding import Finding, NotJudged, Report, Where
from rocefort.models.network.network import Network, Node, Sources, TextLine
from rocefort.models.wording import listing
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.running_lines import (
    announced_too,
    as_it_runs,
    closing,
    imported,
    outranked,
    own_settings,
    peers_of,
    routing_lines,
    with_peers,
)
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import NotCertain
from rocefort.validators.rules.missing import ROUTES

PLACES_NAMED = 3  # of a doubt, in a sentence
Edit = Callable[[Device], Device]
Edits = dict[str, Edit]  # by device


@dataclass(frozen=True)
class Doubt:
    """Lines of one kind whose effect is not certain, and the Devices of each possible effect.

    usual: the effect that figures are computed with. others: further possible ones.
    """

    name: str  # of the lines
    words: str  # a clause: the lines, and why their effect is not known
    places: tuple[DevicePlace, ...]
    usual: Edits
    others: tuple[Edits, ...]


@dataclass(frozen=True)
class Reading:
    """Network with one possible effect of every doubtful line; `of`: those with another effect."""

    network: Network
    of: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class NetworkReadings:
    """All readings of a network; the first one has the usual effect of every doubtful line."""

    doubts: tuple[Doubt, ...]
    all: tuple[Reading, ...]

    @property
    def first(self) -> Reading:
        """The reading by which figures are computed."""
        return self.all[0]


def readings(network: Network, sources: Sources) -> NetworkReadings:
    """Readings of a network: one alone where nothing is doubtful.

    Beside the first one, each other effect of one doubt alone, and of all doubts together.
    """
    rows = _doubtful_lines(network, sources)
    doubts = (*_of_lines(network, rows, sources), *_of_names(network, sources))
    if not doubts:
        return NetworkReadings((), (Reading(network),))
    plain = _without(network, rows)
    usual = [doubt.usual for doubt in doubts]
    first = Reading(_edited(plain, usual))
    more = [
        Reading(_edited(plain, [*usual[:at], other, *usual[at + 1 :]]), (doubt,))
        for at, doubt in enumerate(doubts)
        for other in doubt.others
    ]
    if len(doubts) > 1:
        for at in range(max(len(doubt.others) for doubt in doubts)):
            together = [doubt.others[min(at, len(doubt.others) - 1)] for doubt in doubts]
            more.append(Reading(_edited(plain, together), doubts))
    return NetworkReadings(doubts, (first, *more))


def _edited(network: Network, edits: Iterable[Edits]) -> Network:
    by_device: defaultdict[str, list[Edit]] = defaultdict(list)
    for some in edits:
        for name, edit in some.items():
            by_device[name].append(edit)
    nodes = (
        node.model_copy(
            update={"device": reduce(lambda d, edit: edit(d), by_device[node.name], node.device)}
        )
        if node.name in by_device
        else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": tuple(nodes)})


Row = tuple[Node, TextLine, RoutingLine]


def _doubtful_lines(network: Network, sources: Sources) -> list[Row]:
    """Lines whose effect is uncertain, of nodes as they run."""
    running = as_it_runs(network, sources).network
    return [(node, *row) for node in running.nodes for row in routing_lines(node)]


def _without(network: Network, rows: Sequence[Row]) -> Network:
    """Network without doubtful lines."""
    doubtful: defaultdict[str, set[int]] = defaultdict(set)
    for node, line, _ in rows:
        doubtful[node.name].add(line.line)
    nodes = (
        node.model_copy(
            update={"unmodelled": tuple(x for x in node.unmodelled if x.line not in own)}
        )
        if (own := doubtful.get(node.name))
        else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": tuple(nodes)})


def _of_lines(network: Network, rows: Sequence[Row], sources: Sources) -> Iterator[Doubt]:
    """Doubts by lines; lines of one form, and lines of one policy, have one effect."""
    groups: defaultdict[tuple[RoutingEffect, str], list[Row]] = defaultdict(list)
    for node, line, meaning in rows:
        of_policy = meaning.effect in (
            RoutingEffect.MAY_CHANGE_POLICY,
            RoutingEffect.MAY_CHANGE_LIST,
        )
        form = meaning.name if of_policy else line.text.replace(f" {meaning.name} ", " .. ")
        groups[meaning.effect, form].append((node, line, meaning))
    prefixes = {p for node in network.nodes if node.device.bgp for p in node.device.bgp.networks}
    for group in groups.values():
        effects = [
            (node.name, *_effects(node.device, line.shown_text, meaning, prefixes))
            for node, line, meaning in group
        ]
        places = tuple(DevicePlace(n.name, f"unmodelled[{x.line}]") for n, x, _ in group)
        node, line, _ = group[0]
        effect = dialect_of(node).forwarding_effect(line)
        name = _some([f"`{text}`" for text in dict.fromkeys(x.shown_text for _, x, _ in group)])
        yield Doubt(
            name=name,
            words=f"{name} may change {effect} and is not modelled ({_at(places, sources)})",
            places=places,
            usual={},
            others=tuple(_joined((name, both[at]) for name, *both in effects) for at in range(2)),
        )


def _joined(edits: Iterable[tuple[str, Edit]]) -> Edits:
    """Edits by device, several of one device in a row."""
    by_device: Edits = {}
    for name, edit in edits:
        by_device[name] = partial(_both, by_device[name], edit) if name in by_device else edit
    return by_device


def _both(first: Edit, second: Edit, device: Device) -> Device:
    return second(first(device))


def _at(places: Iterable[DevicePlace], sources: Sources) -> str:
    """Devices with the lines of places, each once."""
    positions = dict.fromkeys((place, sources.find(place.device, place.path)) for place in places)
    shown = (f"{one.device} {at.file}:{at.line}" if at else one.device for one, at in positions)
    return _some(list(dict.fromkeys(shown)))


def _some(shown: Sequence[str]) -> str:
    more = len(shown) - PLACES_NAMED
    return listing([*shown[:PLACES_NAMED], *([f"{more} more"] if more > 0 else [])])


def _effects(
    device: Device, text: str, meaning: RoutingLine, prefixes: set[IPv4Network]
) -> tuple[Edit, Edit]:
    """Two further effects that a line may have, beside none; text: of the line."""
    name, prefix = meaning.name, meaning.prefix
    close: Edit = partial(closing, name=name)
    if meaning.routes_only:
        close = partial(_silent, name=name, policy=f"`{text}`")
    both: tuple[Edit, Edit] = close, partial(_open, name=name)
    match meaning.effect:
        case RoutingEffect.MAY_CHANGE_POLICY | RoutingEffect.MAY_CHANGE_LIST as effect:
            define = with_policy if effect is RoutingEffect.MAY_CHANGE_POLICY else with_list
            both = partial(define, name=name, permit=False), partial(define, name=name, permit=True)
        case RoutingEffect.MAY_PREFER_BGP:
            gone = set(outranked(device, meaning.preference))
            both = (partial(_without_routes, prefixes=gone),) * 2
        case RoutingEffect.MAY_ROUTE if prefix is not None:
            one = {prefix}
            both = partial(_discarding, prefixes=one), partial(_without_routes, prefixes=one)
        case RoutingEffect.IMPORTS | RoutingEffect.MAY_IMPORT:
            both = (partial(announced_too, prefixes=imported(device, meaning)),) * 2
        case RoutingEffect.MAY_ANNOUNCE if prefix is not None:
            connected = imported(device, RoutingLine(RoutingEffect.IMPORTS))
            own = [subnet for subnet in connected if subnet == prefix]
            originate = partial(_originating, prefixes={prefix} - set(own))
            both = partial(announced_too, prefixes=own), originate
        case RoutingEffect.MAY_ANNOUNCE_DEFAULT:
            both = (partial(_originating, prefixes={DEFAULT_ROUTE}),) * 2
        case RoutingEffect.MAY_ANNOUNCE_ALL:
            own_networks = set(device.bgp.networks) if device.bgp else set()
            both = (partial(_originating, prefixes=prefixes - own_networks),) * 2
    return both


def _open(device: Device, name: str) -> Device:
    """Device whose policies of a peer or group pass everything; without a name, of all peers."""
    return _with_policies(device, name, None)


def _silent(device: Device, name: str, policy: str) -> Device:
    """Device that exchanges no route with a peer or group; without a name, with all peers."""
    return with_policy(_with_policies(device, name, policy), policy, permit=False)


def _with_policies(device: Device, name: str, policy: str | None) -> Device:
    bgp = device.bgp
    both = {"import_policy": policy, "export_policy": policy}
    rows = peers_of(device, name)
    return with_peers(device, {p.address: own_settings(bgp, p, **both) for p in rows if bgp})


def _without_routes(device: Device, prefixes: set[IPv4Network]) -> Device:
    """Device without its static routes to prefixes."""
    kept = [r for r in device.static_routes if r.vrf is not None or r.prefix not in prefixes]
    return device.model_copy(update={"static_routes": tuple(kept)})


def _discarding(device: Device, prefixes: set[IPv4Network]) -> Device:
    """Device that drops packets to prefixes, unless they are connected."""
    bare = _without_routes(device, prefixes)
    routes = (*bare.static_routes, *(StaticRoute(prefix=p) for p in sorted(prefixes)))
    return device.model_copy(update={"static_routes": routes})


def _originating(device: Device, prefixes: set[IPv4Network]) -> Device:
    """Device that announces prefixes whose packets it cannot deliver."""
    return announced_too(_discarding(device, prefixes), sorted(prefixes))


def with_policy(device: Device, name: str, *, permit: bool) -> Device:
    """Device with a route-policy that passes everything, or nothing."""
    nodes = (PolicyNode(node=1),) if permit else ()
    others = (policy for policy in device.route_policies if policy.name != name)
    row = RoutePolicy(name=name, nodes=nodes)
    return device.model_copy(update={"route_policies": (*others, row)})


def with_list(device: Device, name: str, *, permit: bool) -> Device:
    """Device with a prefix list that permits everything, or nothing."""
    everything = PrefixEntry(index=1, prefix=DEFAULT_ROUTE, less_equal=32)
    others = (row for row in device.prefix_lists if row.name != name)
    row = PrefixList(name=name, entries=(everything,) if permit else ())
    return device.model_copy(update={"prefix_lists": (*others, row)})


def _of_names(network: Network, sources: Sources) -> Iterator[Doubt]:
    """Doubts by policies, lists and groups that are named and not defined."""
    uses: defaultdict[tuple[str, str], list[DevicePlace]] = defaultdict(list)
    for node in network.nodes:
        for kind, name, path in undefined_names(node.device):
            uses[kind, name].append(DevicePlace(node.name, path))
    for (kind, name), places in uses.items():
        devices = list(dict.fromkeys(place.device for place in places))
        define = with_policy if kind == "route-policy" else with_list
        usual: Edit = partial(define, name=name, permit=True)
        other: Edit = partial(define, name=name, permit=False)
        if kind == "peer group":
            usual, other = partial(_ungrouped, name=name), partial(closing, name=name)
        yield Doubt(
            name=f"{kind} {name}, which is not defined",
            words=f"{kind} {name} is not defined, with an unconfirmed effect "
            f"({_at(places, sources)})",
            places=tuple(places),
            usual=dict.fromkeys(devices, usual),
            others=(dict.fromkeys(devices, other),),
        )


def _ungrouped(device: Device, name: str) -> Device:
    """Device whose peers of a group have their own settings alone."""
    bgp = device.bgp
    peers = [p for p in bgp.peers if p.group == name] if bgp else []
    return with_peers(device, {p.address: own_settings(bgp, p) for p in peers if bgp})


def undefined_names(device: Device) -> Iterator[tuple[str, str, str]]:
    """Kind, name and place of each policy, list or group that is in use and not defined."""
    bgp = device.bgp
    if bgp is None:
        return
    groups = {group.name for group in bgp.groups}
    policies = {policy.name: policy for policy in device.route_policies}
    lists = {row.name for row in device.prefix_lists}
    used: dict[str, None] = {}
    for peer in bgp.peers:
        path = f"bgp.peers[{peer.address}]"
        if peer.group is not None and peer.group not in groups:
            yield "peer group", peer.group, f"{path}.group"
        settings = bgp.settings(peer)
        for way in ("import_policy", "export_policy"):
            if (name := getattr(settings, way)) and name not in policies:
                own = getattr(peer, way) is not None or peer.group is None
                yield "route-policy", name, f"{path if own else f'bgp.groups[{peer.group}]'}.{way}"
            elif name:
                used[name] = None
    for name in used:
        for row in policies[name].nodes:
            if row.match_prefix_list and row.match_prefix_list not in lists:
                path = f"route_policies[{name}].nodes[{row.node}]"
                yield "prefix list", row.match_prefix_list, path


_Key = tuple[str, Where]


def certain(reports: Sequence[Report], readings: NetworkReadings, network: Network) -> Report:
    """Report of the verdicts that all readings share; `reports` in the order of the readings.

    A finding that only some readings have is not judged, with the line as its cause: it may be
    right or wrong. So is one whose extent differs.
    """
    if len(reports) == 1:
        return reports[0]
    keyed = [_by_key(report) for report in reports]
    shared = set.intersection(*map(set, keyed))
    findings = []
    for key, messages in keyed[0].items():
        if key in shared:
            same = [finding for finding in messages.values() if _in_all(finding, keyed)]
            findings += same or [min((x for own in keyed for x in own[key].values()), key=_extent)]
    kept = {(_key(finding), finding.message) for finding in findings}
    doubtful: dict[tuple[_Key, str], NotJudged] = {}
    for at, found in enumerate(keyed):
        for key, messages in found.items():
            for finding in messages.values():
                if (key, finding.message) not in kept | doubtful.keys():
                    causes = _causes(at, finding, keyed, readings)
                    doubtful[key, finding.message] = _not_judged(finding, causes, network)
    waived = {(_key(one.finding), one.finding.message) for one in reports[0].waived}
    unjudged = dict.fromkeys(row for report in reports for row in report.not_judged)
    return reports[0].model_copy(
        update={
            "findings": tuple(f for f in findings if (_key(f), f.message) not in waived),
            "not_judged": (*unjudged, *doubtful.values()),
        }
    )


def _by_key(report: Report) -> dict[_Key, dict[str, Finding]]:
    """Findings, waived or not, by rule and place, and by message."""
    found: dict[_Key, dict[str, Finding]] = {}
    for finding in (*report.findings, *(one.finding for one in report.waived)):
        found.setdefault(_key(finding), {})[finding.message] = finding
    return found


def _key(finding: Finding) -> _Key:
    return finding.rule, finding.where


def _in_all(finding: Finding, keyed: Sequence[dict[_Key, dict[str, Finding]]]) -> bool:
    return all(finding.message in own[_key(finding)] for own in keyed)


def _extent(finding: Finding) -> tuple[int, str]:
    return len(finding.message), finding.message


def _causes(
    at: int,
    finding: Finding,
    keyed: Sequence[dict[_Key, dict[str, Finding]]],
    readings: NetworkReadings,
) -> Sequence[Doubt]:
    """Doubts by which a finding comes or goes: of the first reading that shows it alone."""
    if of := readings.all[at].of:
        return of
    key = _key(finding)
    without = (
        reading.of
        for reading, own in zip(readings.all, keyed, strict=True)
        if finding.message not in own.get(key, {})
    )
    return next(without, readings.doubts)


def _not_judged(finding: Finding, causes: Sequence[Doubt], network: Network) -> NotJudged:
    node = network.by_name.get(finding.where.device or "")
    return NotJudged(
        rule=finding.rule,
        where=finding.where,
        reason=f"{finding.message}, depending on {listing([cause.name for cause in causes])}",
        missing=ROUTES.of_switch(node),
        shared_cause="; ".join(cause.words for cause in causes),
    )


def uncertain(solutions: Sequence[Solution]) -> NotCertain:
    """Numbers of good answers of the first solution that not all solutions share."""
    first = solutions[0]
    up = [{(s.device, s.peer) for s in solved.sessions if s.far} for solved in solutions]
    lost = [{(one.source, one.gateway) for one in solved.gateways.lost} for solved in solutions]
    sources = first.gateways.by_device
    least = min(solved.reachability.delivered for solved in solutions)
    return NotCertain(
        sessions=len(up[0].difference(up[0].intersection(*up))),
        pairs=first.reachability.delivered - least,
        segment_pairs=sum(sources[source] for source, _ in lost[0].union(*lost) - lost[0]),
    )


def sentences(readings: NetworkReadings) -> Iterator[str]:
    """Notes on the lines through which a verification has several readings."""
    for doubt in readings.doubts:
        yield f"{doubt.words}: answers that it may change are not judged"
