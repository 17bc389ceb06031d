"""Rules on oversubscription of the leaves, and on free ports for the reserved capacity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.network import Network, Reserved, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.validators.facts.links import towards_spines
from rocefort.validators.facts.overview import Overview
from rocefort.validators.rules.missing import SPEED, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule


@rule(
    "TOP005",
    severity=Severity.ERROR,
    source="RFC 7938, 5.1 (oversubscription of a Clos); the limit is the fabric's own policy",
    needs=(Need.CABLING, Need.SERVERS, Need.ROLE, Need.OVERSUBSCRIPTION),
)
def oversubscription(subject: Subject) -> Iterator[Verdict]:
    """No leaf is oversubscribed beyond the policy.

    Oversubscription is the total speed of a leaf's servers divided by the total speed of its
    uplinks. Above one, servers that send across the spines at the same time fill the uplinks, and
    PFC pauses them.

    Example: 100 Gb/s of servers and 200 Gb/s of uplinks are 0.50 to 1; the policy allows 0.4 to 1
    Fix: Move servers to other leaves, add uplinks, or raise policy.oversubscription.
    """
    network = subject.network
    limit, uplinks = network.oversubscription or 0.0, towards_spines(subject.overview)
    servers: Counter[str] = Counter()
    for server in subject.servers:
        servers[server.port.device] += server.speed_gbps
    for leaf in network.role(SwitchRole.LEAF):
        down, up = servers[leaf.name], uplinks.get(leaf.name, 0)
        if up is None:
            yield subject.not_judged(
                leaf, "the speed of an uplink is not known from its name", SPEED
            )
        elif down > limit * up:
            ratio = f"{down / up:.2f} to 1" if up else "without any uplink"
            yield subject.finding(
                leaf,
                f"{down} Gb/s of servers and {up} Gb/s of uplinks are {ratio}; "
                f"the policy allows {limit:g} to 1",
                "move servers to other leaves, add uplinks, or raise policy.oversubscription",
            )


@rule(
    "TOP006",
    severity=Severity.ERROR,
    source="the fabric's own capacity; fabric port lists of the hardware data",
    needs=(Need.CABLING, Need.SERVERS, Need.ROLE, Need.HARDWARE, Need.RESERVED),
)
def ports_for_growth(subject: Subject) -> Iterator[Verdict]:
    """Fabric ports are free for all future spines and leaves.

    A fabric can grow to its reserved capacity without moving a cable only if every spine has a free
    port for each future leaf, and every leaf one for each future spine.

    Example: 30 fabric ports free, but 31 needed for 31 more leaves of the reserved capacity
    Fix: Free fabric ports, use switches with more of them, or reserve less (capacity).
    """
    network, reserved = subject.network, subject.network.reserved
    if reserved is None:
        raise TypeError(f"rule {subject.rule.id} uses the capacity without needing it")
    used, pairs = _used_ports(network), _links_of_pairs(subject.overview)
    each, more_links = max(reserved.links_per_pair, _usual(pairs)), _links_to_come(pairs, reserved)
    there = Counter(node.role for node in network.nodes)
    to_come_to = {
        SwitchRole.LEAF: ("spines", reserved.spines - there[SwitchRole.SPINE]),
        SwitchRole.SPINE: ("leaves", reserved.leaves - there[SwitchRole.LEAF]),
    }
    for node in network.nodes:
        if node.hardware is None or node.role is None:
            continue
        peers, to_come = to_come_to[node.role]
        free = sum(name not in used[node.name] for name in node.fabric_places)
        further = more_links[node.name]
        needed = to_come * each + further
        if free < needed:
            uses = [f"{to_come} more {peers}"] if to_come else []
            uses += [f"{count_of(further, 'more link')} to those there"] if further else []
            yield subject.finding(
                node,
                f"{count_of(free, 'fabric port')} free, but {needed} needed for {listing(uses)} "
                "of the reserved capacity",
                f"free fabric ports, use a larger switch, or lower capacity.{peers}",
            )


def _used_ports(network: Network) -> dict[str, set[str]]:
    """Ports in use by device; a split port is in use if one of its parts is."""
    used: dict[str, set[str]] = defaultdict(set)
    ends = [end for link in network.links or () for end in (link.a, link.b)]
    servers = network.servers or ()
    for end in (*ends, *(port for server in servers for port in server.ports)):
        used[end.device].add(end.interface)
        if ":" in end.interface:
            used[end.device].add(whole_port(end.interface))
    return used


def _links_of_pairs(overview: Overview) -> Counter[tuple[str, str]]:
    """Number of links between a leaf and a spine, by their names."""
    return Counter((leaf.device, spine.device) for leaf, spine in overview.uplinks)


def _links_to_come(pairs: Counter[tuple[str, str]], reserved: Reserved) -> Counter[str]:
    """Number of future links of each switch to its present neighbours."""
    links: Counter[str] = Counter()
    for pair, count in pairs.items():
        for name in pair:
            links[name] += max(reserved.links_per_pair - count, 0)
    return links


def _usual(pairs: Counter[tuple[str, str]]) -> int:
    """Most common number of links between a leaf and a spine; one where no pair has a link."""
    common = Counter(pairs.values()).most_common(1)
    return common[0][0] if common else 1
