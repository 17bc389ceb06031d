"""What Batfish says of a snapshot, as findings with our device, interface and line.

TXT101  Batfish does not understand a line of the translation: its answers are about something else
TXT102  a line refers to what is not defined
BGP110  the two ends of a BGP session are not configured for each other
BGP111  a packet goes round in a circle
ADR101  several interfaces that are up have one address
SEC102  no packet reaches a rule of an ACL
TOP101  the two ends of a layer-3 edge have different MTUs (Batfish does not model MTU: ours)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from rocefort.dialects.eos import EosNames, access_name, applied, rules_of
from rocefort.errors import BadInput
from rocefort.models.device import Device
from rocefort.models.finding import Finding, Report, Severity
from rocefort.models.keyed import natural
from rocefort.models.network import Network, Node, Sources
from rocefort.models.wording import listing
from rocefort.validators.batfish_checks import AclRow, Checks, EdgeRow, SessionMatch, TextRow
from rocefort.validators.batfish_snapshot import Files, host_name
from rocefort.validators.rules.topology import effective_mtu
from rocefort.validators.underlay import Place
from rocefort.validators.waivers import sort_out

UNREAD, UNDEFINED, MISMATCH, LOOP = "TXT101", "TXT102", "BGP110", "BGP111"
DUPLICATE, SHADOWED, EDGE_MTU = "ADR101", "SEC102", "TOP101"
BATFISH_TITLES = {
    UNREAD: "Batfish understands every line of the translation",
    UNDEFINED: "Every reference leads to a definition",
    MISMATCH: "Both ends of every BGP session are configured for each other",
    LOOP: "No packet goes round in a circle",
    DUPLICATE: "No address is on two interfaces",
    SHADOWED: "Packets can reach every rule of every ACL",
    EDGE_MTU: "Both ends of every layer-3 edge have one MTU",
}
# Batfish's words for a peer (its question bgpSessionCompatibility), in ours.
MEANING = {
    "HALF_OPEN": "the other end has no session back to it, or expects another AS",
    "MULTIPLE_REMOTES": "several switches answer for it",
    "NO_LOCAL_AS": "it has no AS number of its own",
    "NO_LOCAL_IP": "no interface that is up is in its subnet",
    "NO_REMOTE_AS": "it has no AS number for the other end",
    "NO_REMOTE_IP": "it has no address of the other end",
    "NO_REMOTE_PREFIX": "it has no prefix of the other end",
    "INVALID_LOCAL_IP": "its own address is on no interface",
    "LOCAL_IP_UNKNOWN_STATICALLY": "its own address depends on routes",
    "UNKNOWN_REMOTE": "no switch has its address",
}
# Blocks of our own translation, and the field of the Device that each comes from.
BLOCKS = {
    "route-map RP-": "route_policies[{}]",
    "ip prefix-list PL-": "prefix_lists[{}]",
    "ip access-list TP-": "filters.policies[{}]",
    "vrf instance VRF-": "vrfs[{}]",
    "router bgp ": "bgp",
    "ip route ": "static_routes",
}


def verify_checks(
    network: Network,
    files: Files,
    checks: Checks,
    sources: Sources | None = None,
    today: date | None = None,
) -> Report:
    """Judge what Batfish says. files: the snapshot, to find what a line of it comes from."""
    known = sources or Sources()
    back = Back(network, files, known)
    findings = (
        *_texts(UNREAD, checks.unread, back),
        *_texts(UNDEFINED, checks.undefined, back),
        *_mismatched(checks.mismatched, back),
        *_loops(checks, back),
        *_duplicates(checks, back),
        *_shadowed(checks.shadowed, back),
        *_edges(checks.edges, back),
    )
    report = Report(network=network.name, rules=tuple(BATFISH_TITLES), findings=findings)
    return sort_out(report, network, known, today)


@dataclass(frozen=True)
class Back:
    """The way back from Batfish's names, files and lines to ours."""

    network: Network
    files: Files
    sources: Sources

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """Switches by Batfish's name."""
        return {host_name(node.name): node for node in self.network.nodes}

    def name(self, node: str) -> str:
        """Our name of a switch or a server."""
        if node in self.nodes:
            return self.nodes[node].name
        return self._servers.get(node, node)

    @cached_property
    def _servers(self) -> Mapping[str, str]:
        return {host_name(server.name): server.name for server in self.network.servers or ()}

    def port(self, node: str, interface: str) -> Place:
        """An interface."""
        try:
            ours = EosNames.to_vrp(interface)
        except BadInput:
            ours = interface  # of a server
        return Place(self.name(node), f"interfaces[{ours}]", ours)

    def line(self, file: str, number: int) -> Place:
        """What a line of a file of the snapshot comes from."""
        node = self.name(file.rpartition("/")[2].removesuffix(".cfg").removesuffix(".json"))
        lines = self.files.get(file, b"").decode().splitlines()[:number]
        head = next((line for line in reversed(lines) if line[:1] not in (" ", "!", "")), "")
        if match := re.fullmatch(r"interface (\S+)", head):
            return self.port(host_name(node), match[1])
        for start, path in BLOCKS.items():
            if head.startswith(start):
                return Place(node, path.format(head.removeprefix(start).split()[0]))
        return Place(node)

    def finding(
        self, rule: str, place: Place, message: str, hint: str, severity: Severity = Severity.ERROR
    ) -> Finding:
        """A finding at a place."""
        where = self.sources.where(place.device, place.path, place.interface)
        return Finding(rule=rule, severity=severity, where=where, message=message, hint=hint)


TEXT_WORDS = {
    UNREAD: ("Batfish does not understand {}", "what it answers is about less than the text"),
    UNDEFINED: ("{} is not defined", "define it, or remove the reference"),
}


def _texts(rule: str, rows: tuple[TextRow, ...], back: Back) -> Iterator[Finding]:
    words, hint = TEXT_WORDS[rule]
    for row in rows:
        yield back.finding(rule, back.line(row.file, row.line), words.format(row.what), hint)


def _mismatched(rows: tuple[SessionMatch, ...], back: Back) -> Iterator[Finding]:
    for row in rows:
        place = Place(back.name(row.node), f"bgp.peers[{row.peer}]")
        why = MEANING.get(row.status, row.status)
        message = f"peer {row.peer} of {place.device} is not what it should be: {why}"
        hint = "compare addresses and AS numbers of both ends"
        # BGP101 is the error; this is why it is one, in the service's view.
        yield back.finding(MISMATCH, place, message, hint, Severity.INFO)


def _loops(checks: Checks, back: Back) -> Iterator[Finding]:
    """By the circle: however many addresses go round in it, it is one mistake."""
    found: defaultdict[frozenset[str], list[tuple[str, str, list[str]]]] = defaultdict(list)
    for row in checks.loops:
        nodes = [back.name(node) for node in row.nodes]
        circle = nodes[nodes.index(nodes[-1]) :]
        target = str(row.destination)
        found[frozenset(circle)].append((back.name(row.source), target, circle))
    for cases in found.values():
        source, target, circle = cases[0]
        path = " > ".join(circle)
        message = f"packets from {source} to {target} go round in a circle: {path}"
        place = Place(circle[0], "static_routes")
        yield back.finding(LOOP, place, message, "look at the static and default routes of both")


def _duplicates(checks: Checks, back: Back) -> Iterator[Finding]:
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in checks.duplicates:
        place = back.port(row.node, row.interface)
        found[str(row.address)].add((place.device, place.interface or ""))
    for address, owners in found.items():
        ports = sorted(owners, key=lambda owner: (natural(owner[0]), natural(owner[1])))
        # The last to have it is what was most likely added.
        device, interface = next(
            (p for p in reversed(ports) if p[0] in back.network.by_name), ports[-1]
        )
        place = Place(device, f"interfaces[{interface}]", interface)
        message = f"{address} is on {listing(' '.join(port) for port in ports)}"
        yield back.finding(DUPLICATE, place, message, "give one of them another address")


def _shadowed(rows: tuple[AclRow, ...], back: Back) -> Iterator[Finding]:
    for row in rows:
        node = back.nodes[row.node]
        rules = _rules(node.device, row.access_list)
        number = _position(row.line)
        if not 0 <= number < len(rules):
            continue  # the line that the translation adds at the end
        acl, index = rules[number]
        blocking = [rules[n] for n in map(_position, row.blocking) if 0 <= n < len(rules)]
        by = f"rule {listing(str(i) for _, i in blocking)} " if blocking else "an earlier rule "
        does = "does the opposite" if row.other_action else "does the same"
        message = f"no packet reaches rule {index} of ACL {acl}: {by}takes them and {does}"
        place = Place(node.name, f"filters.acls[{acl}].rules[{index}]")
        severity = Severity.ERROR if row.other_action else Severity.WARNING
        yield back.finding(SHADOWED, place, message, "remove it, or put it before", severity)


def _rules(device: Device, access_list: str) -> list[tuple[str, int]]:
    """ACL and rule of each line of an access list of the translation."""
    for use in applied(device):
        if access_name(use.policy) == access_list:
            return [(acl, rule.index) for acl, rule, _ in rules_of(device, use.policy)]
    return []


def _position(line: str) -> int:
    """Which line of an access list: the translation counts them in tens."""
    number = line.split(" ", 1)[0]
    return int(number) // 10 - 1 if number.isdecimal() else -1


def _edges(rows: tuple[EdgeRow, ...], back: Back) -> Iterator[Finding]:
    """Each edge once, from the end whose name comes first."""
    for row in rows:
        ends = [(row.node, row.interface), (row.far_node, row.far_interface)]
        if not all(node in back.nodes for node, _ in ends) or ends != sorted(ends):
            continue
        near, far = (back.port(*end) for end in ends)
        mtus = [_mtu(back.network, place) for place in (near, far)]
        if None in mtus or mtus[0] == mtus[1]:
            continue
        message = f"MTU {mtus[0]} here, {mtus[1]} at {far.device} {far.interface}"
        yield back.finding(EDGE_MTU, near, message, "set one MTU at both ends")


def _mtu(network: Network, place: Place) -> int | None:
    interface = network.by_name[place.device].device.by_interface.get(place.interface or "")
    return effective_mtu(interface) if interface else None
