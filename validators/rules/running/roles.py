"""Rules on roles in configurations without intent, and on switches and gateways that lack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocefort.models.device.device import without_port_defaults
from rocefort.models.device.interface import gateway_vlan
from rocefort.models.device.routing import BgpPeer
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node, RoleEvidence, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.running.running_subject import VoteSubject

CLOS = "RFC 7938, 3.2 and 5.1 (a Clos with eBGP)"
MOST_NAMED = 4


@rule("TOP201", judges=VoteSubject, severity=Severity.WARNING, source=CLOS)
def every_switch_has_a_text(subject: VoteSubject) -> Iterator[Verdict]:
    """Every switch that all spines, or most leaves, peer with has a text.

    A peer that no text has is usually outside of the fabric. But if every spine has a peer of one
    AS number, that is a leaf; and if most leaves have peers of one AS number, that is a spine. Its
    configuration is missing here, so that nothing is judged of it.

    Example: leaf05 (AS 65105) is in no text, and 2 of 2 spines peer with it
    Fix: Save the configuration of this switch, too.
    """
    spines, leaves = subject.network.role(SwitchRole.SPINE), subject.network.role(SwitchRole.LEAF)
    for members, words, share in ((spines, "spine", 1.0), (leaves, "leaf", 0.5)):
        absent: defaultdict[str, list[tuple[Node, BgpPeer]]] = defaultdict(list)
        for node in members:
            for peer in _unowned_peers(subject, node):
                absent[_peer_name(node, peer)].append((node, peer))
        for name, peers in absent.items():
            names = dict.fromkeys(node.name for node, _ in peers)
            if len(names) > 1 and len(names) >= share * len(members):
                node, peer = peers[0]
                plural = "leaves" if words == "leaf" else "spines"
                yield subject.finding(
                    node,
                    f"{name} is in no text, and {len(names)} of {len(members)} "
                    f"{plural} peer with it",
                    "save the configuration of this switch, too",
                    path=f"bgp.peers[{peer.address}]",
                )


def _unowned_peers(subject: VoteSubject, node: Node) -> Iterator[BgpPeer]:
    bgp = node.device.bgp
    for peer in bgp.peers if bgp else ():
        if int(peer.address) not in subject.overview.owners:
            yield peer


def _peer_name(node: Node, peer: BgpPeer) -> str:
    bgp = node.device.bgp
    asn = bgp.settings(peer).asn if bgp else None
    return f"{peer.description} (AS {asn})" if peer.description else f"AS {asn}"


@rule("TOP202", judges=VoteSubject, severity=Severity.ERROR, source="RFC 1812, 5.2.1 (a gateway)")
def every_vlan_has_a_gateway(subject: VoteSubject) -> Iterator[Verdict]:
    """Every VLAN of servers has a gateway, if nearly all have one.

    Servers of a VLAN without a gateway reach only servers of the same VLAN on the same leaf. If two
    thirds of the VLANs with ports have a gateway on their leaf, one without it is a fault.

    Example: VLAN 110 has 1 port and no gateway; 9 of 10 VLANs with ports have one on their leaf
    Fix: Add the gateway's interface with its address, or remove the VLAN from the ports.
    """
    ports: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    having: set[tuple[str, int]] = set()
    for node in subject.network.role(SwitchRole.LEAF):
        for port in map(without_port_defaults, node.device.interfaces):
            vlans = {port.access_vlan} if port.access_vlan else set(port.trunk_vlans)
            for vlan in vlans if port.kind in ("ethernet", "eth-trunk") else ():
                ports[node.name, vlan].append(port.name)
            if port.kind == "vlanif" and port.addresses and (own := gateway_vlan(port.name)):
                having.add((node.name, own))
    without = {key: names for key, names in ports.items() if key not in having}
    if 3 * len(without) > len(ports):
        return
    for (name, vlan), names in without.items():
        has = len(ports) - len(without)
        yield subject.finding(
            End(device=name, interface=names[0]),
            f"VLAN {vlan} has {count_of(len(names), 'port')} and no gateway; {has} of "
            f"{count_of(len(ports), 'VLAN')} with ports have one on their leaf",
            "add the gateway's interface with its address, or remove the VLAN from the ports",
            path="access_vlan",
        )


@rule("TOP203", judges=VoteSubject, severity=Severity.ERROR, source=CLOS)
def roles_are_known(subject: VoteSubject) -> Iterator[Verdict]:
    """The role of each switch with BGP sessions is known.

    Roles come from gateways, sessions and cables, BGP groups and AS numbers, and names together.
    Without a role, rules on spines and leaves judge nothing of a switch: an error, because a check
    that judges nothing must not pass. A role with evidence against it is information.

    Example: its role is not known, though it has BGP sessions with 1 switch here: rules on spines
    and leaves judge nothing of it
    Fix: Name it spine or leaf in its sysname, or judge the texts by a fabric.
    """
    for node in subject.network.nodes:
        if node.role is None and (others := _session_partners(subject, node)):
            yield subject.finding(
                node,
                "its role is not known, though it has BGP sessions with "
                f"{count_of(len(others), 'switch')} here: rules on spines and leaves judge "
                "nothing of it",
                "name it spine or leaf in its sysname, or judge the texts by a fabric",
                path="name",
            )
        weak = node.role is SwitchRole.LEAF and RoleEvidence.GATEWAYS not in node.role_by
        if node.role is not None and (node.role_against or weak):
            against = f"; against it: {listing(node.role_against)}" if node.role_against else ""
            doubt = against or ", without a gateway"
            yield subject.finding(
                node,
                f"taken as {node.role} by {listing(node.role_by)}{doubt}",
                "",
                severity=Severity.INFO,
                path="name",
            )


def _session_partners(subject: VoteSubject, node: Node) -> set[str]:
    """Switches with which a switch has a BGP session, configured at both ends."""
    bgp = node.device.bgp
    partners = set()
    for peer in bgp.peers if bgp else ():
        for other, _ in subject.overview.owners.get(int(peer.address), ()):
            back = other.device.bgp.by_address if other.device.bgp else {}
            own = {a.ip for i in node.device.interfaces for a in i.addresses}
            if other.name != node.name and own & back.keys():
                partners.add(other.name)
    return partners
