"""Rules on cabling: the leaf-spine mesh, one cable a port, and MTUs along the path."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

from rocefort.models.device.interface import (
    ETHERNET_MTU,
    FRAME_OVERHEAD_BYTES,
    JUMBO_FRAME_BYTES,
    Interface,
    gateway_vlan,
)
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import expand_ports
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import End, Network, Node, Server, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.validators.facts.links import effective_mtu
from rocefort.validators.facts.overview import LinkEnds
from rocefort.validators.rules.missing import Missing, Need, fabric_key
from rocefort.validators.rules.registry import Subject, Verdict, rule

# IBTA RoCEv2 (annex A17): a 4096-byte payload with IPv4 20, UDP 8, BTH 12, RETH 16, immediate 4
# and ICRC 4 bytes is an IP packet of 4160 bytes.
ROCE_PACKET_BYTES = 4096 + 20 + 8 + 12 + 16 + 4 + 4

HEPS = "HEPS: Network 2025, 5(4), 53"

Subnet = tuple[int, int, Interface]  # mask and prefix as integers, and the gateway


@rule(
    "TOP001",
    severity=Severity.ERROR,
    source=f"{HEPS} (every leaf to both spines); BGP multipath shares by next hop",
    needs=(Need.CABLING, Need.ROLE),
)
def full_mesh(subject: Subject) -> Iterator[Verdict]:
    """Every leaf has equal links to every spine.

    With a missing link a leaf has fewer paths than ECMP needs. ECMP gives unequal links an equal
    share of the traffic, so that the slower link fills first and PFC pauses the others. Without
    intent, another number of links that is the same to each spine is information.

    Example: no link to spine02; every leaf needs 1 link to every spine
    Fix: Add or remove links until every leaf has the same number of links to all spines.
    """
    network = subject.network
    spines = [node.name for node in network.role(SwitchRole.SPINE)]
    leaves = network.role(SwitchRole.LEAF)
    expected = network.spines if network.spines is not None else max(len(spines), 1)
    if len(spines) != expected and all(node.role for node in network.nodes):
        yield subject.finding(
            None,
            f"{count_of(len(spines), 'spine')} here, but every leaf should see {expected}",
            "add the missing spine to the fabric, or correct the number of spines",
        )
    uplinks: dict[tuple[str, str], list[End]] = defaultdict(list)
    for end, spine_end in subject.overview.uplinks:
        uplinks[end.device, spine_end.device].append(end)
    usual = Counter(len(uplinks[leaf.name, s]) for leaf in leaves for s in spines)
    width = max((n for n, _ in usual.most_common(1) if n), default=1)
    for leaf in leaves:
        own = {len(uplinks[leaf.name, spine]) for spine in spines}
        if leaf.links_per_pair is None and len(own) == 1 and not own & {0, width}:
            links = count_of(min(own), "link")
            yield subject.finding(
                leaf,
                f"{links} to each spine, but elsewhere {width} to each spine",
                "judge the texts by a fabric, which can have leaves with other numbers of links",
                severity=Severity.INFO,
            )
            continue
        for spine in spines:
            count, required = len(uplinks[leaf.name, spine]), leaf.links_per_pair or width
            if count != required:
                yield _missing(subject, leaf, spine, count, required)
        yield from _unequal_speed(subject, leaf, uplinks, spines)


def _missing(subject: Subject, leaf: Node, spine: str, count: int, width: int) -> Verdict:
    links, there = count_of(width, "link"), count_of(count, "link") if count else "no link"
    if leaf.links_per_pair:
        why = f"; this leaf is intended to have {links} to every spine"
    elif count:
        why = f", but elsewhere {width} to each spine"
    else:
        why = f"; every leaf needs {links} to every spine"
    message = f"{there} to {spine}{why}"
    return subject.finding(leaf, message, f"cable {leaf.name} to {spine} as the other leaves are")


def _unequal_speed(
    subject: Subject, leaf: Node, uplinks: dict[tuple[str, str], list[End]], spines: list[str]
) -> Iterator[Verdict]:
    ports = [end.interface for spine in spines for end in uplinks[leaf.name, spine]]
    values = {leaf.speed_gbps(port) for port in ports}
    speeds = sorted(speed for speed in values if speed is not None)
    if len(speeds) > 1:
        yield subject.finding(
            leaf,
            f"uplinks run at {listing(speeds)} Gb/s; ECMP gives each the same share, "
            "so all must have one speed",
            "use uplink ports of one speed towards every spine",
        )


@rule(
    "TOP002",
    severity=Severity.ERROR,
    source=f"{HEPS} (no link between spines); Tagger, CoNEXT 2017 (bounces and deadlock)",
    needs=(Need.CABLING, Need.ROLE),
)
def no_spine_link(subject: Subject) -> Iterator[Verdict]:
    """No link joins two spines.

    A path from leaf to leaf needs only one spine. A link between spines allows paths that go up
    again after coming down. Such a bounce can close a cyclic buffer dependency, which is a
    condition of a PFC deadlock.

    Example: linked to spine02 100GE1/0/31; spines must not be linked to each other
    Fix: Remove the cable; leaves reach each other over any one spine.
    """
    spines = {node.name for node in subject.network.role(SwitchRole.SPINE)}
    for link in subject.links:
        if {link.a.device, link.b.device} <= spines:
            yield subject.finding(
                link.a,
                f"linked to {link.b}; spines must not be linked to each other",
                "remove the cable; leaves reach each other over any one spine",
            )


@rule(
    "TOP003",
    severity=Severity.ERROR,
    source="a port takes one cable; port lists of the hardware data",
    needs=(Need.CABLING,),
    wants=(Need.SERVERS,),
)
def port_used_once(subject: Subject) -> Iterator[Verdict]:
    """Every cabled port exists and carries one cable.

    A fabric with two cables on one port, or with a port that the switch model does not have, cannot
    be built.

    Example: 2 cables on one port: the link to spine01 100GE1/0/1 and server node3
    Fix: Give each link and server its own port of the model's port list.
    """
    whole = {n.name: _whole_ports(n) for n in subject.network.nodes}
    for (device, port), users in _users(subject).items():
        if port in whole.get(device, ()) and len(users) == 1:
            continue  # as nearly all
        end, uses = End(device=device, interface=port), [_use(user) for user in users]
        if len(uses) > 1:
            yield subject.finding(
                end,
                f"{len(uses)} cables on one port: {listing(uses)}",
                "move all but one of them to free ports",
            )
        yield from _absent(subject, end, uses[0])


def _users(subject: Subject) -> dict[tuple[str, str], list[End | Server | Exit]]:
    """Users of each port, by device and interface; for a link its other end."""
    users: dict[tuple[str, str], list[End | Server | Exit]] = defaultdict(list)
    for link in subject.links:
        a, b = link.a, link.b
        users[a.device, a.interface].append(b)
        users[b.device, b.interface].append(a)
    for server in subject.servers:
        for end in server.ports:
            users[end.device, end.interface].append(server)
    for exit_ in subject.network.exits or ():
        users[exit_.leaf, exit_.port].append(exit_)
    return users


def _use(user: End | Server | Exit) -> str:
    if isinstance(user, End):
        return f"the link to {user}"
    return f"{'server' if isinstance(user, Server) else 'exit'} {user.name}"


def _whole_ports(node: Node) -> frozenset[str]:
    """Ports that the model and the configuration of a switch have; none where it splits some."""
    if node.device.splits:
        return frozenset()
    ports = frozenset(name for name in node.device.by_interface if ":" not in name)
    return ports & _names(node.hardware.ports) if node.hardware else ports


@cache
def _names(ports: tuple[str, ...]) -> frozenset[str]:
    """All port names of a model's port ranges; cached, as a fabric has few models."""
    return frozenset(name for part in ports for name in expand_ports(part))


def _absent(subject: Subject, end: End, use: str) -> Iterator[Verdict]:
    node = subject.network.by_name.get(end.device)
    if node is None:
        message = f"{use} needs this port, but there is no such switch"
    elif node.hardware and end.interface.partition(":")[0] not in _names(node.hardware.ports):
        message = f"{use} needs this port, but {node.hardware.model} has no such port"
    elif end.interface not in node.device.by_interface:
        message = f"{use} needs this port, but the switch's configuration does not name it"
    elif what := _not_so(node, end.interface):
        message = f"{use} needs this port, but the switch's configuration {what}"
    else:
        return
    yield subject.finding(end, message, "correct the port's name, or use a port that exists")


def _not_so(node: Node, interface: str) -> str | None:
    """Reason why a port that the configuration names does not exist: the port splits."""
    if ":" in interface:
        exists = interface in node.device.part_speeds
        return None if exists else f"does not split {whole_port(interface)} so"
    split_type = {split.port: split.type for split in node.device.splits}.get(interface)
    return f"splits it {split_type}" if split_type else None


@rule(
    "TOP004",
    severity=Severity.ERROR,
    source="IBTA RoCEv2 (annex A17), packet sizes; «the vendor's reference», "
    "«MTU of a port» and «longest frame» defaults",
    needs=(Need.LINKS,),
    wants=(Need.SERVERS,),
)
def mtu_along_the_path(subject: Subject) -> Iterator[Verdict]:
    """MTUs are equal at both ends and large enough for servers.

    A routed port drops packets that are larger than its MTU (1500 unless set), and RoCE does not
    recover well from drops. A RoCE packet of 4096 bytes needs an MTU of 4160.

    Example: MTU 4159 on the link to leaf01 100GE1/0/31; the servers need at least 4160
    Fix: Set one MTU on all fabric links and gateways, not below any server's.
    """
    network = subject.network
    needed, why = _needed_mtu(network)
    for cable in subject.overview.cables:
        here, there = cable.interfaces
        if here is None or there is None:
            continue  # TOP003 reports it
        if here.mtu != there.mtu or (here.mtu or ETHERNET_MTU) < needed:
            yield from _link_mtu(subject, cable, needed, why)
    for server in subject.servers:
        if not ROCE_PACKET_BYTES <= server.mtu <= JUMBO_FRAME_BYTES - FRAME_OVERHEAD_BYTES:
            yield from _server_mtu(subject, server)
    yield from _gateway_mtu(subject)


def _link_mtu(subject: Subject, cable: LinkEnds, needed: int, why: str) -> Iterator[Verdict]:
    a, b = cable.link.a, cable.link.b
    mtu_a, mtu_b = (effective_mtu(i) if i else None for i in cable.interfaces)
    if mtu_a is None or mtu_b is None:
        return
    if mtu_a != mtu_b:
        yield subject.finding(
            a,
            f"MTU {mtu_a} here, {mtu_b} at {b}; both ends of a link need the same",
            f"set mtu {max(mtu_a, mtu_b)} at both ends",
            path="mtu",
        )
        return
    if mtu_a < needed:
        yield subject.finding(
            a,
            f"MTU {mtu_a} on the link to {b}; {why} need at least {needed}",
            f"set mtu {needed} or more on every fabric link",
            path="mtu",
        )


def _needed_mtu(network: Network) -> tuple[int, str]:
    """Smallest MTU of a fabric link, and the traffic that needs it, in words."""
    largest = max((server.mtu for server in network.servers or ()), default=0)
    roce = network.lossless is not None or any(server.roce for server in network.servers or ())
    if roce and largest < ROCE_PACKET_BYTES:
        return ROCE_PACKET_BYTES, "RoCE packets of 4096 bytes"
    return largest, "the servers"


def _server_mtu(subject: Subject, server: Server) -> Iterator[Verdict]:
    if server.roce and server.mtu < ROCE_PACKET_BYTES:
        yield subject.finding(
            server.port,
            f"server {server.name} has MTU {server.mtu}; "
            f"RoCE packets of 4096 bytes need at least {ROCE_PACKET_BYTES}",
            f"give {server.name} an MTU of {ROCE_PACKET_BYTES} or more, usually 9000",
        )
    port = subject.network.interface(server.port)
    switched = port is not None and not port.layer3
    if switched and server.mtu + FRAME_OVERHEAD_BYTES > JUMBO_FRAME_BYTES:
        yield subject.finding(
            server.port,
            f"server {server.name} has MTU {server.mtu}; with {FRAME_OVERHEAD_BYTES} bytes of "
            f"Ethernet that is more than the port's default of {JUMBO_FRAME_BYTES}",
            f"give {server.name} an MTU of {JUMBO_FRAME_BYTES - FRAME_OVERHEAD_BYTES} or less",
        )


def _gateway_mtu(subject: Subject) -> Iterator[Verdict]:
    """Compare the MTU of each gateway with the largest MTU of its servers."""
    network = subject.network
    largest: dict[tuple[str, str], tuple[Server, Interface]] = {}
    subnets = {node.name: _subnets(node) for node in network.nodes}
    for server in subject.servers:
        node = network.by_name.get(server.port.device)
        port = node.device.by_interface.get(server.port.interface) if node else None
        if node is None or port is None:
            continue  # TOP003 reports it
        gateway = _gateway(int(server.address), port, subnets[node.name])
        if gateway is None:
            yield subject.not_judged(
                server.port,
                "no gateway of the leaf has the server's subnet, so there is no MTU to compare",
                Missing("the gateway of the server", key=fabric_key("leaves.segments")),
            )
            continue
        previous = largest.get((node.name, gateway.name))
        if previous is None or previous[0].mtu < server.mtu:
            largest[node.name, gateway.name] = server, gateway
    for (device, name), (server, gateway) in largest.items():
        limit = effective_mtu(gateway) or ETHERNET_MTU
        if server.mtu > limit:
            yield subject.finding(
                End(device=device, interface=name),
                f"MTU {limit} on the gateway of server {server.name}, which sends up to "
                f"{server.mtu}",
                f"set mtu {server.mtu} on {name}, or lower the server's MTU",
                path="mtu",
            )


def _gateway(address: int, port: Interface, subnets: list[Subnet]) -> Interface | None:
    """The layer-3 interface of a leaf that shares a server's subnet: its port, or a Vlanif."""
    own = _of_interface(port) if port.addresses else ()
    return next((i for mask, prefix, i in (*own, *subnets) if address & mask == prefix), None)


def _subnets(node: Node) -> list[Subnet]:
    """Subnets of the gateways of a switch, with masks and addresses as integers."""
    return [subnet for interface in node.device.vlanifs for subnet in _of_interface(interface)]


def _of_interface(interface: Interface) -> Iterator[Subnet]:
    for address in interface.addresses:
        network = address.network
        yield int(network.netmask), int(network.network_address), interface


@rule(
    "TOP008",
    severity=Severity.WARNING,
    source="CloudEngine configuration guide (V300R023C00), A VLANIF Interface Goes Down",
)
def idle_gateways(subject: Subject) -> Iterator[Verdict]:
    """Every gateway has a port in its VLAN.

    A gateway is down until a port of its VLAN is up, and BGP does not announce its prefix until
    then. So it is for a leaf that is built before its servers. A server that the fabric has, or a
    port that is shut down, is an error of its own (BGP102).

    Example: no port has VLAN 10: its gateway is down, and its prefix is not announced
    Fix: Add the leaf's servers to the fabric once they are cabled; nothing else needs a change.
    """
    for name, gateways in subject.overview.idle_gateways.items():
        vlans = sorted(filter(None, (gateway_vlan(gateway.name) for gateway in gateways)))
        one = not vlans[1:]
        its = "its gateway is" if one else "their gateways are"
        prefixes = "its prefix is" if one else "their prefixes are"
        yield subject.finding(
            subject.network.by_name[name],
            f"no port has VLAN {listing(vlans)}: {its} down, and {prefixes} not announced",
            "add the leaf's servers once they are cabled; until then nothing is to be done",
            path=f"interfaces[{gateways[0].name}]",
        )
