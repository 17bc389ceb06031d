"""Topology of a twin as data: plans of switches, hosts, and cables between their ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256

from rocefort.base.errors import Problem, Refused
from rocefort.dialects.frr import Features, LinkState, SwitchPlan, kernel_name, plan_switch
from rocefort.dialects.frr.kernel import lone_member
from rocefort.models.base import Frozen
from rocefort.models.network.network import End, Network, Server

BACKSTAGE = "_lab"  # namespace for ends of cables to nowhere; no node has such a name
MANAGEMENT_BRIDGE = "mgmt"  # in the backstage: joins all management ports
# In the namespace of a server that is a guest: its port to the fabric, and its management port.
GUEST_BRIDGE, GUEST_TAP, MANAGEMENT_TAP = "guest", "tap0", "management"


class VethPair(Frozen):
    """A veth pair: two namespaces, by node, each with the name of its end."""

    a: str
    a_port: str
    b: str
    b_port: str

    @property
    def ends(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Both ends: node and kernel name."""
        return (self.a, self.a_port), (self.b, self.b_port)


class Host(Frozen):
    """A server: its links, its gateway, its switch; guest: QEMU has its address."""

    name: str
    links: tuple[LinkState, ...]
    address: str
    gateway: str | None
    switch: str
    guest: bool = False


class TwinTopology(Frozen):
    """Switches, hosts and cables of a twin."""

    name: str
    switches: tuple[SwitchPlan, ...] = ()
    hosts: tuple[Host, ...] = ()
    cables: tuple[VethPair, ...] = ()

    @property
    def by_switch(self) -> dict[str, SwitchPlan]:
        """Plans of switches by name."""
        return {plan.name: plan for plan in self.switches}

    @property
    def by_host(self) -> dict[str, Host]:
        """Servers by name."""
        return {host.name: host for host in self.hosts}

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node with a namespace, the backstage last."""
        switches = (plan.name for plan in self.switches)
        return (*switches, *(host.name for host in self.hosts), BACKSTAGE)

    def far(self, node: str, port: str) -> tuple[str, str] | None:
        """Return the other end of a cable."""
        for cable in self.cables:
            if (node, port) in cable.ends:
                return cable.ends[1] if cable.ends[0] == (node, port) else cable.ends[0]
        return None

    @property
    def owners(self) -> dict[str, tuple[str, str]]:
        """Switch and kernel name of the link, by address."""
        return {
            address.partition("/")[0]: (plan.name, link.name)
            for plan in self.switches
            for link in plan.links
            for address in link.addresses
        }

    @property
    def sessions(self) -> dict[str, tuple[str, ...]]:
        """Peers that must come up, by switch: enabled here, and configured at the other end too."""
        owners, plans = self.owners, self.by_switch
        own = {
            plan.name: {a.partition("/")[0] for link in plan.links for a in link.addresses}
            for plan in self.switches
        }
        return {
            plan.name: tuple(
                peer
                for peer in plan.peers
                if peer in owners and set(plans[owners[peer][0]].peers) & own[plan.name]
            )
            for plan in self.switches
        }


def topology_of(network: Network, features: Features, *, bfd: bool = True) -> TwinTopology:
    """Plan a twin of a network. Raises Refused with all settings that a twin cannot express."""
    problems: list[Problem] = []
    plans: list[SwitchPlan] = []
    for node in network.nodes:
        try:
            plans.append(plan_switch(node.device, features, bfd=bfd))
        except Refused as error:
            problems += error.problems
    if problems:
        raise Refused(problems=problems)
    hosts = [_host(network, server, features) for server in network.servers or ()]
    by_name = {plan.name: plan for plan in plans}
    return TwinTopology(
        name=network.name,
        switches=tuple(plans),
        hosts=tuple(hosts),
        cables=tuple(_cables(network, by_name, features)),
    )


def _host(network: Network, server: Server, features: Features) -> Host:
    gateways = (
        segment.gateway
        for segment in network.segments or ()
        if segment.leaf == server.port.device and segment.name == server.segment
    )
    gateway = next(gateways, None)
    ports = _host_ports(network, server, features)
    links = [
        LinkState(
            name=name, kind="port", mtu=server.mtu, master="bond0" if len(ports) > 1 else None
        )
        for name in ports.values()
    ]
    address = server.address.with_prefixlen
    if len(ports) > 1:
        settings = "mode 802.3ad miimon 100 xmit_hash_policy layer3+4"
        bond = LinkState(name="bond0", kind="bond", mtu=server.mtu, settings=settings)
        links.insert(0, bond)
    links[0] = links[0].model_copy(update={"addresses": (address,)})
    return Host(
        name=server.name,
        links=tuple(links),
        address=str(server.address.ip),
        gateway=str(gateway.ip) if gateway else None,
        switch=server.port.device,
    )


def _host_ports(network: Network, server: Server, features: Features) -> dict[End, str]:
    """Return names of a server's own ports, by switch port; one port without bonding."""
    ends = server.ports
    if len(ends) > 1 and not features.bonding:
        device = network.by_name[server.port.device].device
        trunk = device.by_interface.get(server.port.interface)
        lone = lone_member(device, trunk) if trunk is not None else None
        ends = tuple(end for end in ends if lone and end.interface == lone.name) or ends[:1]
    return {end: f"eth{n}" for n, end in enumerate(ends)}


def _cables(
    network: Network, plans: Mapping[str, SwitchPlan], features: Features
) -> Iterator[VethPair]:
    """Every cable; a port that has none gets one that ends backstage, so that it has carrier."""
    tied: set[tuple[str, str]] = set()
    for cable in (*_fabric_cables(network), *_host_cables(network, features)):
        tied.update(cable.ends)
        yield cable
    for plan in plans.values():
        for port in plan.ports.values():
            if (plan.name, port) not in tied:
                yield VethPair(
                    a=plan.name, a_port=port, b=BACKSTAGE, b_port=backstage_port(plan.name, port)
                )


def backstage_port(node: str, port: str) -> str:
    """Return the name of the backstage end of a port's cable; m.. for management ports."""
    kind = "m" if port.startswith("MEth") else "v"
    return f"{kind}{sha256(f'{node} {port}'.encode()).hexdigest()[:12]}"


def _fabric_cables(network: Network) -> Iterator[VethPair]:
    for link in network.links or ():
        a, b = link.a, link.b
        if a.device in network.by_name and b.device in network.by_name:
            yield VethPair(
                a=a.device,
                a_port=kernel_name(a.interface),
                b=b.device,
                b_port=kernel_name(b.interface),
            )


def _host_cables(network: Network, features: Features) -> Iterator[VethPair]:
    servers = network.servers or ()
    if network.lack_of_switches:
        one, other, *_ = servers  # back to back: one cable has both
        (nic,) = _host_ports(network, one, features).values()
        yield VethPair(a=other.name, a_port=nic, b=one.name, b_port=nic)
        return
    for server in servers:
        for end, nic in _host_ports(network, server, features).items():
            port = kernel_name(end.interface)
            yield VethPair(a=end.device, a_port=port, b=server.name, b_port=nic)
