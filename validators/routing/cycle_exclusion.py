"""Proofs that no cyclic buffer dependency can exist, without a search."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.routing import PolicyNode
from rocefort.models.network.network import Network
from rocefort.validators.routing.longest_match import PrefixTable


def excluded(network: Network) -> str:
    """Reason why no cycle can exist, whatever fails; empty: the paths must be searched."""
    if not network.links or not all_routed(network) or not bgp_alone(network):
        return ""
    if one_as_cuts_every_link(network):
        return "no path passes the AS of the spines twice"
    if an_end_of_every_link_passes_nothing_on(network):
        return "one end of every link passes nothing on"
    return ""


def bgp_alone(network: Network) -> bool:
    """Whether BGP alone decides the paths between gateways, by one prefix for each subnet.

    Where a static route, or a wider or longer prefix, leads to a gateway, the path of a packet is
    not one path of BGP. The far end of an exit may announce such prefixes.
    """
    if network.exits:
        return False
    devices = [node.device for node in network.nodes]
    addressed = [i for device in devices for i in device.interfaces if i.addresses and not i.vrf]
    vlanifs, ports = (
        {a.network for i in addressed if (i.kind == "vlanif") is vlanif for a in i.addresses}
        for vlanif in (True, False)
    )
    announced = {prefix for device in devices if device.bgp for prefix in device.bgp.networks}
    static = {r.prefix for device in devices for r in device.static_routes if r.vrf is None}
    others = static | ports | (announced - vlanifs)
    subnets, prefixes = PrefixTable(vlanifs), PrefixTable(others)
    return not (
        any(prefixes.holding(subnet.network_address) for subnet in vlanifs)
        or any(subnets.holding(prefix.network_address) for prefix in others)
    )


def all_routed(network: Network) -> bool:
    """Whether routing alone decides what crosses a link: no end is a switched port."""
    ends = (network.interface(end) for link in network.links or () for end in (link.a, link.b))
    return all(interface is not None and interface.layer3 for interface in ends)


def one_as_cuts_every_link(network: Network) -> bool:
    """Whether every link has exactly one end in one common AS, as with all spines in one.

    Then no path can pass that AS twice (RFC 4271, 9.1.2), so that no path goes up again after
    coming down. The rule then needs no routing solution.
    """
    asns = {node.name: node.device.bgp.asn for node in network.nodes if node.device.bgp}
    ends = [(asns.get(x.a.device), asns.get(x.b.device)) for x in network.links or ()]
    common = [asn for asn in (ends[0] if ends else ()) if asn is not None]
    return any(all((a == asn) != (b == asn) for a, b in ends) for asn in common)


def an_end_of_every_link_passes_nothing_on(network: Network) -> bool:
    """Whether every link has an end that announces only prefixes which it alone originates.

    Such a switch receives no transit traffic, so that its buffers wait for no other buffer of the
    fabric. The second of two consecutive buffers therefore waits for none. Leaves with export
    policies are such switches: the rule then needs no routing solution, even if each spine has its
    own AS.
    """
    origins = Counter(
        prefix for node in network.nodes if (bgp := node.device.bgp) for prefix in bgp.networks
    )
    ends = {name for link in network.links or () for name in (link.a.device, link.b.device)}
    silent = {name for name in ends if _announces_its_own(network.by_name[name].device, origins)}
    return all(not silent.isdisjoint((x.a.device, x.b.device)) for x in network.links or ())


def _announces_its_own(device: Device, origins: Counter[IPv4Network]) -> bool:
    """Whether every export policy permits nothing but networks that only this switch originates."""
    if (bgp := device.bgp) is None:
        return True
    lent = {group.name: group.export_policy for group in bgp.groups}
    used = {peer.export_policy or lent.get(peer.group or "") for peer in bgp.peers}
    policies = {policy.name: policy for policy in device.route_policies}
    lists = {row.name: row for row in device.prefix_lists}
    permitted = [
        lists.get(node.match_prefix_list or "")
        for name in used
        for node in (policies[name].nodes if name in policies else (PolicyNode(node=0),))
        if node.action == "permit"
    ]
    own = frozenset(bgp.networks)
    return all(
        row is not None
        and all(
            entry.lengths == (entry.prefix.prefixlen, entry.prefix.prefixlen)
            and (origins[entry.prefix] == (entry.prefix in own))
            for entry in row.entries
            if entry.action == "permit"
        )
        for row in permitted
    )
