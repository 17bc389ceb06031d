"""Rules on BGP: both ends of every session agree, and ECMP is wide enough for the spines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from ipaddress import IPv4Address
from typing import NamedTuple

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ForeignDesign
from rocefort.dialects.words import line
from rocefort.models.device.routing import Bfd, Bgp, BgpPeer, BgpSettings
from rocefort.models.finding import Severity
from rocefort.models.network.network import Node, SwitchRole, TextLine
from rocefort.models.wording import listing
from rocefort.validators.facts.overview import ROUTING, LinkEnds, Overview, Owner, overlay_peers
from rocefort.validators.rules.fabric.session_passwords import authentication, differing, unreadable
from rocefort.validators.rules.missing import ROLE, ROUTES, SESSION, SPINES, Missing, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

EBGP_PATHS = "equal paths of EBGP"
WIDTH = Missing("the number of next hops of an EBGP route", "routing table")
SHORTEST_HOLD_S = 3  # RFC 4271, 4.2; 0 is another case: without a hold timer


class BgpProcess:
    """BGP process of one switch, with an index of its peers and subnets.

    The keys are addresses as integers, whose lookup is faster. A spine has a peer for each leaf.
    """

    def __init__(self, node: Node) -> None:
        if node.device.bgp is None:
            raise ValueError(f"{node.name} has no BGP process")
        self.node = node
        self.bgp = bgp = node.device.bgp
        self.peers = {int(peer.address): peer for peer in bgp.peers}
        self._subnets = {
            (a.network.prefixlen, int(a.network.network_address)): (a.ip, interface.name)
            for interface in node.device.interfaces
            for a in interface.addresses
        }
        self._lengths = sorted({length for length, _ in self._subnets}, reverse=True)

    @cached_property
    def sides(self) -> dict[int, PeerSide]:
        """Local side of each peer by address; computed once, used for both ends."""
        return {number: self._side(peer) for number, peer in self.peers.items()}

    def _side(self, peer: BgpPeer) -> PeerSide:
        own, local = self.bgp.settings(peer), self.local(peer.address)
        number = None if local is None else int(local[0])
        terms = own.bfd_enabled, own.bfd, own.keepalive_s, own.hold_s, own.password, own.keychain
        return PeerSide(self, peer, own, local, number, terms)

    def local(self, peer: IPv4Address) -> tuple[IPv4Address, str] | None:
        """Own address and interface in a peer's subnet; the longest prefix wins."""
        number = int(peer)
        for length in self._lengths:
            host_bits = 32 - length
            subnet = self._subnets.get((length, number >> host_bits << host_bits))
            if subnet:
                return subnet
        return None


class PeerSide(NamedTuple):
    """One configured peer, from the side of the switch that configures it."""

    speaker: BgpProcess
    peer: BgpPeer
    settings: BgpSettings  # with those of its group
    local: tuple[IPv4Address, str] | None  # own address and interface in the peer's subnet
    number: int | None  # of that address
    terms: tuple[object, ...]  # settings that must be equal at both ends

    @property
    def node(self) -> Node:
        """The switch that configures the peer."""
        return self.speaker.node

    def agrees(self, speaker: BgpProcess | None) -> bool:
        """Whether both ends of a session agree; a fast check, which nearly all sessions pass."""
        if speaker is None or speaker is self.speaker or self.number is None:
            return False
        other = speaker.sides.get(self.number)
        as_expected = self.settings.asn == speaker.bgp.asn
        return as_expected and other is not None and self.terms == other.terms

    @property
    def path(self) -> str:
        """Path of the peer in its Device."""
        return f"bgp.peers[{self.peer.address}]"

    @property
    def timers(self) -> str:
        """Keepalive and hold time in words."""
        keepalive, hold = self.settings.timers_s
        return f"keepalive {keepalive} s and hold {hold} s"

    @property
    def bfd(self) -> str:
        """BFD timers in words."""
        bfd = self.settings.bfd or Bfd()
        return f"BFD {bfd.min_tx_ms}/{bfd.min_rx_ms} ms x {bfd.multiplier}"


@rule(
    "BGP001",
    severity=Severity.ERROR,
    source="«the vendor's reference», BGP; RFC 4271; RFC 5882 (BFD)",
    wants=(Need.LINKS,),
)
def ends_agree(subject: Subject) -> Iterator[Verdict]:
    """Both ends of every BGP session are configured and agree.

    The peer's address is on another switch, and that switch peers back. Each end has the other's
    AS number and enables IPv4. BFD is on at both ends or at neither; the same holds for a password
    or keychain. Different timers are a warning: BGP uses the smaller hold time, so one of the two
    values has no effect. A switch prints passwords encrypted, so that two of them cannot be
    compared: the rule then only checks that both ends have one.

    Example: peer 10.1.1.2: the password of env:P here, no password at spine01; TCP does not connect
    Fix: Set at each end what the other expects: address, AS number, BFD, password and timers.
    """
    network, overview = subject.network, subject.overview
    owners = overview.owners
    speakers = {n.name: BgpProcess(n) for n in network.nodes if n.device.bgp}
    exits = {(exit_.leaf, int(exit_.peer)) for exit_ in network.exits or ()}
    for node in network.nodes:
        if node.name not in speakers:
            yield from _no_process(subject, node)
    for node in subject.network.nodes:
        yield from _own_sides(subject, node)
    for speaker in speakers.values():
        for address, side in speaker.sides.items():
            far = _far(side, owners.get(address, []), speakers)
            if far is not None and side.agrees(speakers.get(far.name)):
                continue
            if far is None and (speaker.node.name, address) in exits:
                continue  # the far end is outside: BGP004 judges this one
            if far is None:
                yield from _missing_peer(subject, side)
            else:
                yield from _far_side(subject, side, far, speakers.get(far.name))
    for cable in overview.cables:
        yield from _no_session(subject, cable, speakers)
    yield from unreadable(subject)


def _far(side: PeerSide, owners: list[Owner], speakers: dict[str, BgpProcess]) -> Node | None:
    """The switch that has the peer's address; of several (ADR001) the one that peers back."""
    local = side.local
    for node, _ in owners if owners[1:] else ():
        speaker = speakers.get(node.name)
        if speaker is not None and local is not None and int(local[0]) in speaker.peers:
            return node
    return owners[0][0] if owners else None


def _no_process(subject: Subject, node: Node) -> Iterator[Verdict]:
    if design := subject.overview.design_of(node, *ROUTING):
        reason = f"no BGP process: {design} may route instead, and is not modelled"
        yield subject.not_judged(node, reason, ROUTES)
    elif node.role is None:
        reason = "no BGP process, and without a role it may need none"
        yield subject.not_judged(node, reason, ROLE)
    else:
        yield subject.finding(
            node,
            "no BGP process; every spine and leaf needs one",
            "give the switch an AS number and its peers",
            path="bgp",
        )


def _own_sides(subject: Subject, node: Node) -> Iterator[Verdict]:
    """Faults that the configuration of one end shows alone."""
    bgp = node.device.bgp
    if bgp is None:
        return
    overlay = overlay_peers(node)
    for peer in bgp.peers:
        settings = bgp.settings(peer)
        bfd_is_missing = settings.bfd_enabled and not node.device.bfd
        if settings.asn is not None and settings.active and not bfd_is_missing:
            continue
        path = f"bgp.peers[{peer.address}]"
        if settings.asn is None:
            yield subject.finding(
                node,
                f"peer {peer.address} has no AS number",
                "add «AS number of peer: ..» to the peer or its group",
                path=path,
            )
        if not settings.active and peer.address not in overlay:
            yield subject.finding(
                node,
                f"peer {peer.address} is not enabled in the IPv4 family, so it brings no routes",
                "add «use of peer: ..» under «the IPv4 family»",
                path=path,
            )
        if bfd_is_missing:
            yield subject.finding(
                node,
                f"peer {peer.address} has BFD enabled, but BFD is off on the switch",
                "add «BFD» in the system view",
                path=path,
            )


def _far_side(
    subject: Subject, side: PeerSide, far: Node, speaker: BgpProcess | None
) -> Iterator[Verdict]:
    """Faults that only both ends together show."""
    peer, local = side.peer.address, side.local
    if far.name == side.node.name:
        yield subject.finding(
            side.node,
            f"peer {peer} is an address of this switch itself",
            "peer with the address of the far end of the link",
            path=side.path,
        )
    elif local is None and _between_loopbacks(side, far):
        yield subject.not_judged(
            side.node, "a session between loopbacks is not modelled", SESSION, path=side.path
        )
    elif local is None:
        yield subject.finding(
            side.node,
            f"no interface here is in one subnet with peer {peer} of {far.name}",
            "give the link's port an address in the peer's subnet, or correct the peer",
            path=side.path,
        )
    elif speaker is not None:
        yield from _pair(subject, side, local[0], speaker)


def _between_loopbacks(side: PeerSide, far: Node) -> bool:
    """Whether a session goes from a loopback to one of the far switch."""
    source = side.node.device.by_interface.get(side.settings.source_interface or "")
    theirs = {
        address.ip
        for interface in far.device.interfaces
        if interface.kind == "loopback"
        for address in interface.addresses
    }
    return source is not None and source.kind == "loopback" and side.peer.address in theirs


def _missing_peer(subject: Subject, side: PeerSide) -> Iterator[Verdict]:
    """Report a peer whose address no switch has.

    A directory of texts may lack the far end's file, so that the peer is not judged; a fabric, or
    a switch with a known cable to the peer, is complete.
    """
    local = side.local
    cabled = local is not None and (side.node.name, local[1]) in subject.overview.cabled
    if subject.network.origin == "text" and not cabled:
        yield subject.not_judged(
            side.node,
            "the configuration of a peer is not among the texts",
            Missing(
                "the configuration of the peer", "what runs", run="rocefort check --configs DIR"
            ),
            path=side.path,
        )
    else:
        yield subject.finding(
            side.node,
            f"peer {side.peer.address} is not an address of any switch",
            "peer with the address of the far end of the link",
            path=side.path,
        )


def _pair(
    subject: Subject, side: PeerSide, local: IPv4Address, speaker: BgpProcess
) -> Iterator[Verdict]:
    peer, asn, far = side.peer.address, speaker.bgp.asn, speaker.node.name
    if side.settings.asn is not None and side.settings.asn != asn:
        yield subject.finding(
            side.node,
            f"peer {peer} is expected in AS {side.settings.asn}, but {far} is AS {asn}",
            f"set the peer's as-number to {asn}, or correct the AS of {far}",
            path=side.path,
        )
    other = speaker.sides.get(int(local))
    if other is None:
        yield subject.finding(
            side.node,
            f"peer {peer} does not peer back: {far} has no peer {local}",
            f"add peer {local} on {far}",
            path=side.path,
        )
        return
    if other.settings.bfd_enabled and not side.settings.bfd_enabled:
        yield subject.finding(
            side.node,
            f"BFD is off for peer {peer}, but on at {far}",
            "enable BFD at both ends or at none",
            path=side.path,
        )
    if side.node.name < far:  # the loop sees each pair twice; report differences once
        yield from _timers(subject, side, other)
        if what := differing(side.settings, other.settings):
            here, there = (authentication(s.settings) for s in (side, other))
            yield subject.finding(
                side.node,
                f"peer {peer}: {here} here, {there} at {far}; {what}",
                "give both ends the same password, by the same reference, or neither",
                path=f"{side.path}.password",
            )


def _timers(subject: Subject, side: PeerSide, other: PeerSide) -> Iterator[Verdict]:
    pairs = [(side.timers, other.timers)]
    if side.settings.bfd_enabled and other.settings.bfd_enabled:
        pairs.append((side.bfd, other.bfd))
    for here, there in pairs:
        if here != there:
            yield subject.finding(
                side.node,
                f"peer {side.peer.address}: {here} here, {there} at {other.node.name}",
                "set the same timers at both ends",
                path=side.path,
                severity=Severity.WARNING,
            )


def _no_session(
    subject: Subject, cable: LinkEnds, speakers: dict[str, BgpProcess]
) -> Iterator[Verdict]:
    """Report a link without a session; with one end configured, that end has the finding."""
    a, b = cable.link.a, cable.link.b
    for end, far in ((a, cable.interfaces[1]), (b, cable.interfaces[0])):
        speaker = speakers.get(end.device)
        if speaker is None or far is None or not far.addresses:
            return  # TOP003, ADR003 or BGP001 (no process) reports it
        if any(int(address) in speaker.peers for address in far.addresses):
            return
    yield subject.finding(
        a,
        f"no BGP session on the link to {b}",
        "configure the peers at both ends, or remove the link",
    )


@rule(
    "BGP002",
    severity=Severity.ERROR,
    source="«the vendor's reference», «equal paths of BGP» (default 1), "
    "«equal paths over unlike ASNs»",
    needs=(Need.ROLE,),
    wants=(Need.LINKS,),
)
def ecmp_width(subject: Subject) -> Iterator[Verdict]:
    """BGP load-balancing is as wide as the links to the spines.

    With the default, one path, every leaf sends all traffic over one link. A value that is enough
    today and too small for the reserved capacity is a warning, because growth should only add
    lines. Paths over spines with different AS numbers are equal only with
    «equal paths over unlike ASNs».

    Example: «equal paths of BGP» is 1, but there are 2 equal paths
    Fix: Set «equal paths of BGP» to as many as there are, or as the reserved capacity will have.
    """
    network = subject.network
    spine_nodes = network.role(SwitchRole.SPINE)
    spines = network.spines if network.spines is not None else len(spine_nodes)
    if not spines:
        yield subject.not_judged(None, "the number of spines is not known", SPINES)
        return
    asns = sorted({node.device.bgp.asn for node in spine_nodes if node.device.bgp})
    widths = _parallel(subject.overview)
    for node in (*spine_nodes, *network.role(SwitchRole.LEAF)):
        if node.device.bgp is None:
            continue  # BGP001 reports it
        leaf = node.role is SwitchRole.LEAF
        needed = max(spines if leaf else 1, widths[node.name])
        if other := _other_width(node):
            reason = f"`{other.text}` sets equal paths, and is not modelled"
            yield subject.not_judged(node, reason, WIDTH, path=f"unmodelled[{other.line}]")
        elif not node.device.bgp.peers and subject.overview.design_of(node, ForeignDesign.IPV6):
            yield subject.not_judged(
                node, "no peer has an IPv4 address: IPv6 is not modelled", WIDTH
            )
        else:
            yield from _width(subject, node, node.device.bgp.maximum_paths, needed)
            yield from _width_to_come(subject, node, node.device.bgp.maximum_paths, needed)
        if leaf and len(asns) > 1 and not node.device.bgp.as_path_relax:
            yield subject.finding(
                node,
                f"the spines are AS {listing(asns)}, and «equal paths over unlike ASNs» is off: "
                "paths over different spines are not shared",
                "add «equal paths over unlike ASNs», or give the spines one AS number",
                path="bgp.as_path_relax",
            )


def _other_width(node: Node) -> TextLine | None:
    """Line outside the models that sets the equal paths of EBGP routes alone."""
    if EBGP_PATHS not in dialect_of(node).words.quoted:
        return None
    command = line(node, EBGP_PATHS)
    return next((row for row in node.unmodelled if row.text.startswith(f"{command} ")), None)


def _width(subject: Subject, node: Node, maximum: int, needed: int) -> Iterator[Verdict]:
    if maximum < needed:
        yield subject.finding(
            node,
            f"«equal paths of BGP» is {maximum}, but there are {needed} equal paths",
            f"set «equal paths of BGP» to {needed} or more",
            path="bgp.maximum_paths",
        )


def _width_to_come(subject: Subject, node: Node, maximum: int, needed: int) -> Iterator[Verdict]:
    """Report a width that is enough now and too small for the reserved capacity."""
    reserved = subject.network.reserved
    if reserved is None:
        return
    width = reserved.links_per_pair * (reserved.spines if node.role is SwitchRole.LEAF else 1)
    if needed <= maximum < width:
        yield subject.finding(
            node,
            f"«equal paths of BGP» is {maximum}, but the reserved capacity has {width} equal paths",
            f"set it to {width} now, so that growth changes no line",
            path="bgp.maximum_paths",
            severity=Severity.WARNING,
        )


def _parallel(overview: Overview) -> Counter[str]:
    """Number of equal paths by cabling: all uplinks of a leaf, a spine's links to one leaf."""
    uplinks = Counter(leaf.device for leaf, _ in overview.uplinks)
    pairs = Counter((spine.device, leaf.device) for leaf, spine in overview.uplinks)
    for (spine, _), count in pairs.items():
        uplinks[spine] = max(uplinks[spine], count)
    return uplinks


@rule(
    "BGP006",
    severity=Severity.ERROR,
    source="«the vendor's reference», BGP timers (the hold time must be at least three times the "
    "keepalive time); RFC 4271, 4.2 and 4.4",
)
def timers(subject: Subject) -> Iterator[Verdict]:
    """The BGP hold time is at least three keepalives, and 3 s.

    A peer is taken for lost when nothing arrives from it within the hold time. With less than three
    keepalives in it, one or two lost packets end the session. The lower hold time of both ends is
    used, so that one end with a short hold time is enough. RFC 4271 forbids hold times of 1 and
    2 s. A timer of 0 is a warning: with hold time 0 no peer is ever taken for lost, and with
    keepalive 0 the keepalive timer does not start.

    Example: group SPINE: hold time 5 s is less than three keepalives of 10 s
    Fix: Set the hold time to three keepalives or more, such as keepalive 10 s and hold time 30 s.
    """
    for node in subject.network.nodes:
        bgp = node.device.bgp
        for path, name, settings in _own_timers(bgp) if bgp else ():
            keepalive, hold = settings.timers_s
            what, hint, severity = "", "", Severity.ERROR
            if hold == 0:
                what, severity = "hold time 0: no peer is ever taken for lost", Severity.WARNING
                hint = f"set a hold time, such as {max(3 * keepalive, 30)} s"
            elif hold < SHORTEST_HOLD_S:
                what = f"hold time {hold} s; the shortest is {SHORTEST_HOLD_S} s"
                hint = f"set a hold time of {max(3 * keepalive, SHORTEST_HOLD_S)} s or more"
            elif hold < 3 * keepalive:
                what = f"hold time {hold} s is less than three keepalives of {keepalive} s"
                hint = f"set the hold time to {3 * keepalive} s, or the keepalive to {hold // 3} s"
            elif keepalive == 0:
                what = "keepalive 0: the keepalive timer does not start"
                hint, severity = f"set the keepalive to {hold // 3} s", Severity.WARNING
            if what:
                yield subject.finding(
                    node, f"{name}: {what}", hint, path=f"{path}.hold_s", severity=severity
                )


def _own_timers(bgp: Bgp) -> Iterator[tuple[str, str, BgpSettings]]:
    """Each group and peer with timers of its own: its path, its name and its settings."""
    for group in bgp.groups:
        if group.keepalive_s is not None or group.hold_s is not None:
            yield f"bgp.groups[{group.name}]", f"group {group.name}", group
    for peer in bgp.peers:
        if peer.keepalive_s is not None or peer.hold_s is not None:
            yield f"bgp.peers[{peer.address}]", f"peer {peer.address}", bgp.settings(peer)
