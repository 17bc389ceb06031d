"""Rules on Batfish's checks of a snapshot: findings with device, interface and line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocefort.dialects.eos import access_name, applied_policies, rules_of
from rocefort.models.base import natural
from rocefort.models.device.device import Device
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network
from rocefort.models.wording import listing
from rocefort.validators.facts.links import effective_mtu
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.answers import BGP
from rocefort.validators.rules.verification.batfish_subject import BatfishSubject

# Status words of Batfish's question bgpSessionCompatibility, as reasons in messages.
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


@rule(
    "TXT101",
    judges=BatfishSubject,
    severity=Severity.ERROR,
    source="Batfish, questions `fileParseStatus` and `initIssues`",
)
def translation_read(subject: BatfishSubject) -> Iterator[Verdict]:
    """Batfish understands every line of the translation.

    Batfish reads a translation of the text. Its answers ignore a line that it does not understand,
    so that they do not cover the whole text. The finding is at the source of the line.

    Example: Batfish does not understand x
    Fix: This is a defect of the translation: report it.
    """
    for row in subject.checks.unread:
        yield subject.at(
            subject.line(row.file, row.line),
            f"Batfish does not understand {row.what}",
            "the answers of Batfish do not cover this part of the text; report it",
        )


@rule(
    "TXT102",
    judges=BatfishSubject,
    severity=Severity.ERROR,
    source="Batfish, question `undefinedReferences`",
)
def references(subject: BatfishSubject) -> Iterator[Verdict]:
    """Every reference leads to a definition.

    A line names a policy, a list or an interface that is not defined. The behaviour of the switch
    is then not the intent: an undefined policy may permit all routes, or none.

    Example: x is not defined
    Fix: Define it, or remove the reference.
    """
    for row in subject.checks.undefined:
        place, hint = subject.line(row.file, row.line), "define it, or remove the reference"
        yield subject.at(place, f"{row.what} is not defined", hint)


@rule(
    "BGP110",
    judges=BatfishSubject,
    severity=Severity.INFO,
    source=f"Batfish, question `bgpSessionCompatibility`; {BGP}",
)
def session_ends(subject: BatfishSubject) -> Iterator[Verdict]:
    """Both ends of every BGP session are configured for each other.

    Batfish's reason why a session cannot come up: one end has no address or AS number for the
    other, or no session back. BGP101 reports the session itself as an error.

    Example: peer 10.0.1.0 of leaf1 is misconfigured: the other end has no session back to it, or
    expects another AS
    Fix: Compare addresses and AS numbers of both ends.
    """
    for row in subject.checks.mismatched:
        place = DevicePlace(subject.name(row.node), f"bgp.peers[{row.peer}]")
        why = MEANING.get(row.status, row.status)
        message = f"peer {row.peer} of {place.device} is misconfigured: {why}"
        yield subject.at(place, message, "compare addresses and AS numbers of both ends")


@rule(
    "BGP111",
    judges=BatfishSubject,
    severity=Severity.ERROR,
    source="Batfish, question `detectLoops`",
)
def loops(subject: BatfishSubject) -> Iterator[Verdict]:
    """No forwarding loop exists.

    A packet in a loop passes the same links until its TTL ends, and takes the bandwidth of many
    packets. In a lossless queue it can stop the switches of the loop.

    Example: packets from server1 to 10.7.0.0 are in a forwarding loop: leaf1 > spine1 > leaf1
    Fix: Check the static and default routes of the switches in the loop.
    """
    # One loop is one mistake, for any number of addresses.
    by_loop: defaultdict[frozenset[str], list[tuple[str, str, list[str]]]] = defaultdict(list)
    for row in subject.checks.loops:
        nodes = [subject.name(node) for node in row.nodes]
        circle = nodes[nodes.index(nodes[-1]) :]
        target = str(row.destination)
        by_loop[frozenset(circle)].append((subject.name(row.source), target, circle))
    for cases in by_loop.values():
        source, target, circle = cases[0]
        path = " > ".join(circle)
        message = f"packets from {source} to {target} are in a forwarding loop: {path}"
        place = DevicePlace(circle[0], "static_routes")
        yield subject.at(place, message, "check the static and default routes of these switches")


@rule(
    "ADR101",
    judges=BatfishSubject,
    severity=Severity.ERROR,
    source="Batfish, question `ipOwners`; RFC 791 (an address names one interface)",
)
def one_owner(subject: BatfishSubject) -> Iterator[Verdict]:
    """No address is on two interfaces.

    Traffic to a duplicate address alternates between the two interfaces. ADR001 checks the same for
    the intent and for servers.

    Example: 10.9.0.1 is on leaf1 LoopBack0 and leaf2 LoopBack0
    Fix: Give one of them another address.
    """
    by_address: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in subject.checks.duplicates:
        place = subject.port(row.node, row.interface)
        by_address[str(row.address)].add((place.device, place.interface or ""))
    for address, owners in by_address.items():
        ports = sorted(owners, key=lambda owner: (natural(owner[0]), natural(owner[1])))
        # The last owner is most likely the new one.
        device, interface = next(
            (p for p in reversed(ports) if p[0] in subject.network.by_name), ports[-1]
        )
        place = DevicePlace(device, f"interfaces[{interface}]", interface)
        message = f"{address} is on {listing(' '.join(port) for port in ports)}"
        yield subject.at(place, message, "give one of them another address")


@rule(
    "SEC102",
    judges=BatfishSubject,
    severity=Severity.ERROR,
    source="Batfish, question `filterLineReachability`",
)
def reachable_rules(subject: BatfishSubject) -> Iterator[Verdict]:
    """Packets can reach every rule of every ACL.

    A rule has no effect if earlier rules match all of its packets. It is an error where they have
    the opposite action, and a warning where they have the same action.

    Example: no packet reaches rule 10 of ACL 3000: rule 5 takes them and does the opposite
    Fix: Remove it, or put it before the earlier rules.
    """
    for row in subject.checks.shadowed:
        node = subject.nodes[row.node]
        rules = _rules(node.device, row.access_list)
        number = _position(row.line)
        if not 0 <= number < len(rules):
            continue  # the line that the translation adds at the end
        acl, index = rules[number]
        blocking = [rules[n] for n in map(_position, row.blocking) if 0 <= n < len(rules)]
        by = f"rule {listing(str(i) for _, i in blocking)} " if blocking else "an earlier rule "
        does = "does the opposite" if row.other_action else "does the same"
        message = f"no packet reaches rule {index} of ACL {acl}: {by}takes them and {does}"
        place = DevicePlace(node.name, f"filters.acls[{acl}].rules[{index}]")
        severity = Severity.ERROR if row.other_action else Severity.WARNING
        yield subject.at(place, message, "remove it, or put it before the earlier rules", severity)


def _rules(device: Device, access_list: str) -> list[tuple[str, int]]:
    """ACL and rule of each line of an access list of the translation."""
    for use in applied_policies(device):
        if access_name(use.policy) == access_list:
            return [(acl, rule.index) for acl, rule, _ in rules_of(device, use.policy)]
    return []


def _position(line: str) -> int:
    """Index of a line in an access list; the translation numbers the lines in tens."""
    number = line.split(" ", 1)[0]
    return int(number) // 10 - 1 if number.isdecimal() else -1


@rule(
    "TOP101",
    judges=BatfishSubject,
    severity=Severity.ERROR,
    source="Batfish, question `layer3Edges`; «the vendor's reference», «MTU of a port»",
)
def edge_mtus(subject: BatfishSubject) -> Iterator[Verdict]:
    """Both ends of every layer-3 edge have one MTU.

    An end drops a packet that is larger than its MTU without a message, and routers of the fabric
    do not fragment RoCE. Batfish computes the edges; the MTUs come from the text, because Batfish
    does not model them.

    Example: MTU 1500 here, 9216 at spine1 100GE1/0/1
    Fix: Set one MTU at both ends.
    """
    for row in subject.checks.edges:
        ends = [(row.node, row.interface), (row.far_node, row.far_interface)]
        if not all(node in subject.nodes for node, _ in ends) or ends != sorted(ends):
            continue  # each edge once, from the end whose name comes first
        near, far = (subject.port(*end) for end in ends)
        mtus = [_mtu(subject.network, place) for place in (near, far)]
        if None in mtus or mtus[0] == mtus[1]:
            continue
        message = f"MTU {mtus[0]} here, {mtus[1]} at {far.device} {far.interface}"
        yield subject.at(near, message, "set one MTU at both ends")


def _mtu(network: Network, place: DevicePlace) -> int | None:
    interface = network.by_name[place.device].device.by_interface.get(place.interface or "")
    return effective_mtu(interface) if interface else None
