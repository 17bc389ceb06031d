"""Rules on Eth-Trunks of servers: their members, and the place of each setting."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.dialects.choose import dialect_of
from rocefort.models.device.device import without_port_defaults
from rocefort.models.device.interface import MANUAL, Interface, trunk_name, trunk_number
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Node, Server
from rocefort.models.wording import count_of
from rocefort.validators.rules.missing import Missing, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

ETH_TRUNK = "«the vendor's reference», Eth-Trunk"
MEMBERS = Missing("the members of the Eth-Trunk", "what runs")

# Fields of an Interface, and their names in messages.
OF_MEMBERS = {
    "pfc": "PFC",
    "thresholds": "PFC thresholds",
    "drr": "scheduling by weight («queues by weight»)",
    "markings": "marking of queues",
    "flow_control": "802.3x flow control",
}
OF_TRUNKS = {
    "routed": "«a routed port»",
    "link_type": "a link type",
    "access_vlan": "a VLAN",
    "trunk_vlans": "VLANs",
    "edge": "«an edge port»",
    "trust_dscp": "«trust of DSCP»",
    "domain": "«domain of a port»",
}


def _trunks(node: Node) -> Iterator[tuple[Interface, tuple[Interface, ...]]]:
    """Every Eth-Trunk that a switch has, with its members."""
    for interface in node.device.interfaces:
        trunk = interface.name.startswith("Eth-Trunk")
        number = trunk_number(interface.name) if trunk else None
        if number is not None:
            yield interface, node.device.members.get(number, ())


def _unread_members(node: Node, trunk: Interface) -> str:
    """Line of an Eth-Trunk's view that may name its members and has no model; empty: none."""
    dialect = dialect_of(node)
    own = (line for line in node.unmodelled if trunk.name in " ".join(line.path[-1:]).split())
    return next((line.text for line in own if dialect.forwarding_effect(line)), "")


def _end(node: Node, interface: Interface) -> End:
    return End(device=node.name, interface=interface.name)


@rule(
    "LAG001",
    severity=Severity.ERROR,
    source=f"{ETH_TRUNK}, «member of Eth-Trunk» (one speed), and DCB, «PFC on a port» (by "
    "member port)",
)
def members_alike(subject: Subject) -> Iterator[Verdict]:
    """All members of an Eth-Trunk are alike in speed and PFC.

    A hash puts each flow on one member. Where one member pauses and another does not, or pauses
    later, some flows lose packets and others do not. LACP uses members of one speed only.

    Example: 400 Gb/s in Eth-Trunk1, where 100GE1/0/1 has 100 Gb/s
    Fix: Give all members the same PFC, thresholds and scheduling.
    """
    for node in subject.network.nodes:
        yield from _member_mismatches(subject, node)


def _member_mismatches(subject: Subject, node: Node) -> Iterator[Verdict]:
    for number, (first, *others) in node.device.members.items():
        for port in others:
            speeds = [node.speed_gbps(member.name) for member in (first, port)]
            if None not in speeds and speeds[0] != speeds[1]:
                yield subject.finding(
                    _end(node, port),
                    f"{speeds[1]} Gb/s in {trunk_name(number)}, where {first.name} has "
                    f"{speeds[0]} Gb/s",
                    "bundle ports of one speed",
                    path="eth_trunk",
                )
            for field, words in OF_MEMBERS.items():
                if getattr(port, field) != getattr(first, field):
                    yield subject.finding(
                        _end(node, port),
                        f"{words}: differs from {first.name}, another member of "
                        f"{trunk_name(number)}",
                        "give all members of an Eth-Trunk the same setting",
                        path=field,
                    )


@rule(
    "LAG002",
    severity=Severity.ERROR,
    source=f"{ETH_TRUNK}, «member of Eth-Trunk» (no service on a member); views of the commands of "
    "VLAN, «trust of a port», QoS and DCB",
)
def settings_in_their_place(subject: Subject) -> Iterator[Verdict]:
    """Each setting is at the right level: Eth-Trunk or member.

    A switch refuses to add a port with layer-2 settings to an Eth-Trunk, which has these settings
    for all its members. PFC, thresholds and scheduling are commands of physical ports only: on an
    Eth-Trunk they have no effect.

    Example: PFC on an Eth-Trunk, where it has no effect
    Fix: Move layer-2 settings to the Eth-Trunk, and PFC, thresholds and scheduling to its members.
    """
    for node in subject.network.nodes:
        yield from _in_place(subject, node)


def _in_place(subject: Subject, node: Node) -> Iterator[Verdict]:
    for number, ports in node.device.members.items():
        for port in ports:
            for field in _set(without_port_defaults(port), OF_TRUNKS):
                yield subject.finding(
                    _end(node, port),
                    f"{OF_TRUNKS[field]} on a member of {trunk_name(number)}, which has it for all "
                    "its members",
                    f"move it to {trunk_name(number)}",
                    path=field,
                )
    for trunk, _ in _trunks(node):
        for field in _set(trunk, OF_MEMBERS):
            yield subject.finding(
                _end(node, trunk),
                f"{OF_MEMBERS[field]} on an Eth-Trunk, where it has no effect",
                "move it to each member",
                path=field,
            )


def _set(interface: Interface, fields: dict[str, str]) -> Iterator[str]:
    defaults = type(interface).model_fields
    return (name for name in fields if getattr(interface, name) != defaults[name].get_default())


@rule(
    "LAG003",
    severity=Severity.WARNING,
    source=f"{ETH_TRUNK}, «mode of a bond» and «timeout of LACP»; IEEE 802.1AX (LACP)",
)
def lacp_where_lossless(subject: Subject) -> Iterator[Verdict]:
    """An Eth-Trunk with lossless members runs LACP.

    In manual mode a member is in use as long as it has carrier. A member that no longer reaches
    the server (a NIC fault, a cable in a wrong port) drops all flows that are hashed to it, and
    RDMA retries until its connections break. LACP removes such a member within seconds.

    Example: manual mode with lossless members; a member that fails silently drops RoCE flows
    Fix: Use mode lacp-static, and an 802.3ad bond on the server.
    """
    for node in subject.network.nodes:
        yield from _manual_trunks(subject, node)


def _manual_trunks(subject: Subject, node: Node) -> Iterator[Verdict]:
    for trunk, members in _trunks(node):
        if trunk.bond.mode == MANUAL and any(member.pfc for member in members):
            yield subject.finding(
                _end(node, trunk),
                "manual mode with lossless members; a member that fails silently drops RoCE flows",
                "use «a bond with LACP», and LACP (802.3ad) on the server",
                path="bond.mode",
            )


@rule(
    "LAG004", severity=Severity.ERROR, source=f"{ETH_TRUNK}, «member of Eth-Trunk» (created before)"
)
def trunk_exists(subject: Subject) -> Iterator[Verdict]:
    """A member names an Eth-Trunk that exists.

    A switch adds a port only to an Eth-Trunk that exists. At start-up the line is lost, and the
    port is a single port in VLAN 1.

    Example: a member of Eth-Trunk11, which does not exist
    Fix: Create the Eth-Trunk before its members.
    """
    for node in subject.network.nodes:
        yield from _trunkless(subject, node)


def _trunkless(subject: Subject, node: Node) -> Iterator[Verdict]:
    for number, ports in node.device.members.items():
        if trunk_name(number) not in node.device.by_interface:
            for port in ports:
                yield subject.finding(
                    _end(node, port),
                    f"a member of {trunk_name(number)}, which does not exist",
                    f"create it with «an interface: {trunk_name(number)}», or remove the member",
                    path="eth_trunk",
                )


@rule("LAG005", severity=Severity.ERROR, source=f"{ETH_TRUNK}, «members that must be up»")
def enough_members(subject: Subject) -> Iterator[Verdict]:
    """Every Eth-Trunk has enough members to come up.

    Without a member, or with fewer than «members that must be up», an Eth-Trunk never comes up. Its
    VLAN and its server are then unreachable.

    Example: no member, but 1 must be up; it never comes up
    Fix: Add ports, lower the number, or remove the Eth-Trunk.
    """
    for node in subject.network.nodes:
        for trunk, members in _trunks(node):
            least, there = trunk.bond.minimum_links, len(members)
            if there < least and (line := _unread_members(node, trunk)):
                yield subject.not_judged(
                    _end(node, trunk), f"`{line}` may add members, and is not read", MEMBERS
                )
            elif there < least:
                has = count_of(there, "member") if there else "no member"
                yield subject.finding(
                    _end(node, trunk),
                    f"{has}, but {least} must be up; it never comes up",
                    f"add ports with «member of Eth-Trunk: {trunk_number(trunk.name)}», or "
                    + ("lower the number" if there else f"remove {trunk.name}"),
                    path="bond.minimum_links" if there else "",
                )


@rule(
    "LAG006",
    severity=Severity.ERROR,
    source=f"{ETH_TRUNK}, «member of Eth-Trunk» (both ends bundle the same links)",
    needs=(Need.SERVERS,),
)
def ports_of_the_server(subject: Subject) -> Iterator[Verdict]:
    """The members of an Eth-Trunk are the ports of one server.

    Both ends of a link must bundle it. A switch port outside the bundle drops frames, or returns
    them over another member. A port that only the switch bundles never becomes active.

    Example: server node1 bonds this port in Eth-Trunk1, but it is in no Eth-Trunk
    Fix: Bundle the same ports on the server and on its leaf.
    """
    users = {
        (end.device, end.interface): server for server in subject.servers for end in server.ports
    }
    for (device, name), server in users.items():
        node = subject.network.by_name.get(device)
        interface = node.device.by_interface.get(name) if node else None
        required = trunk_number(server.port.interface) if server.members else None
        if interface is not None and interface.eth_trunk != required:
            yield subject.finding(
                End(device=device, interface=name),
                f"{_wants(server)}, but it is {_is_in(interface)}",
                "bundle the same ports on the server and on its leaf",
                path="eth_trunk",
            )
    owners = {server.port: server for server in subject.servers if server.members}
    for bond, owner in owners.items():
        node, number = subject.network.by_name.get(bond.device), trunk_number(bond.interface)
        if node is None or number is None:
            continue  # TOP003 reports it
        for port in node.device.members.get(number, ()):
            if (bond.device, port.name) not in users:
                yield subject.finding(
                    End(device=bond.device, interface=port.name),
                    f"a member of {trunk_name(number)}, which is server {owner.name}'s, but the "
                    "server has no port here",
                    "remove the port, or add it to the server's bond",
                    path="eth_trunk",
                )


def _wants(server: Server) -> str:
    if server.members:
        return f"server {server.name} bonds this port in {server.port.interface}"
    return f"server {server.name} has this port alone"


def _is_in(interface: Interface) -> str:
    number = interface.eth_trunk
    return "in no Eth-Trunk" if number is None else f"a member of {trunk_name(number)}"
