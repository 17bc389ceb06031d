"""Creation and change of a lab's namespaces, cables, hosts and switches, area by area."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rocefort.dialects.frr import LinkState, SwitchDelta, SwitchPlan, delta
from rocefort.lab.guest.qemu import MANAGEMENT
from rocefort.lab.twin.frr import Daemons
from rocefort.lab.twin.namespaces import inside, ip_batch, run, set_sysctls
from rocefort.lab.twin.registry import end_processes, namespace, remove_namespaces
from rocefort.lab.twin.topology import (
    BACKSTAGE,
    GUEST_BRIDGE,
    GUEST_TAP,
    MANAGEMENT_BRIDGE,
    MANAGEMENT_TAP,
    Host,
    TwinTopology,
    VethPair,
)
from rocefort.models.device.packet_filters import ENTROPY_PORT

HOST_SYSCTLS = (
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
    # Ephemeral ports of programs do not overlap the source ports of flows.
    ("net.ipv4.ip_local_port_range", f"32768 {ENTROPY_PORT - 1}"),
)
# bgpd 8.4.4 may keep one path when the number is lowered and raised within 0.1 s (in the fourth of
# such tests; in none of 100 with this): peers send their routes again, no session is reset.
PATHS, CHOOSE_AGAIN = "maximum-paths", "clear bgp ipv4 unicast * soft in"
GUEST_QUEUE = 20_000
Job = tuple[str, Callable[[], None]]


@dataclass(frozen=True)
class Builder:
    """Builder of one lab; lab: its id, directory: of its files."""

    lab: str
    directory: Path

    def namespace(self, node: str) -> str:
        """Return the namespace of a node."""
        return namespace(self.lab, node)

    def daemons(self, switch: str) -> Daemons:
        """Return the daemons of a switch."""
        return Daemons(self.lab, switch, self.directory / "nodes" / switch)

    def change(self, old: TwinTopology, new: TwinTopology) -> None:
        """Change a lab from one topology to another; equal parts are not touched."""
        is_first = not old.switches and not old.hosts
        old_nodes, new_nodes = set[str]() if is_first else set(old.nodes), set(new.nodes)
        fresh = [node for node in new.nodes if node not in old_nodes]
        gone = [node for node in old.nodes if node in old_nodes and node not in new_nodes]
        self._make_namespaces(fresh, new)
        self._remove_cables([c for c in old.cables if c not in set(new.cables)], gone)
        laid = [c for c in new.cables if c not in set(old.cables)]
        self._lay_cables(laid)
        renewed = {end for cable in laid for end in cable.ends}
        inside(
            (
                *self._host_jobs(old, new, renewed),
                *self._switch_jobs(old, new, renewed),
            )
        )
        names = [self.namespace(node) for node in gone]
        if names:
            end_processes(self.lab, set(names))
            remove_namespaces(self.lab, names)

    def _make_namespaces(self, nodes: list[str], topology: TwinTopology) -> None:
        """Create namespaces with their sysctls, before their first link."""
        ip_batch(self.lab, [f"netns add {self.namespace(node)}" for node in nodes])
        sysctls = {plan.name: plan.sysctls for plan in topology.switches}
        inside(
            (self.namespace(node), partial(set_sysctls, sysctls.get(node, HOST_SYSCTLS)))
            for node in nodes
        )
        if BACKSTAGE in nodes:
            lines = [f"link add name {MANAGEMENT_BRIDGE} type bridge"]
            lines.append(f"link set dev {MANAGEMENT_BRIDGE} up")
            self.ip(BACKSTAGE, lines)

    def ip(self, node: str, lines: Iterable[str]) -> None:
        """Run lines of `ip -batch` in a node."""
        inside([(self.namespace(node), partial(ip_batch, self.lab, tuple(lines), where=node))])

    def _remove_cables(self, cables: Iterable[VethPair], gone: Collection[str]) -> None:
        """Remove cables by one end each; those of removed nodes go with the namespaces."""
        lines: dict[str, list[str]] = {}
        for cable in cables:
            if cable.a not in gone and cable.b not in gone:
                lines.setdefault(cable.a, []).append(f"link del dev {cable.a_port}")
        for node, commands in lines.items():
            self.ip(node, commands)

    def _lay_cables(self, cables: list[VethPair]) -> None:
        """Create both ends in their namespaces; backstage ends are brought up here."""
        ip_batch(
            self.lab,
            [
                f"link add name {c.a_port} netns {self.namespace(c.a)} "
                f"type veth peer name {c.b_port} netns {self.namespace(c.b)}"
                for c in cables
            ],
        )
        ends = [c.b_port for c in cables if c.b == BACKSTAGE]
        lines = [
            f"link set dev {port} master {MANAGEMENT_BRIDGE}" for port in ends if port[0] == "m"
        ]
        if ends:
            self.ip(BACKSTAGE, [*lines, *(f"link set dev {port} up" for port in ends)])

    def _host_jobs(
        self, old: TwinTopology, new: TwinTopology, renewed: Collection[tuple[str, str]]
    ) -> Iterator[Job]:
        nodes = {node for node, _ in renewed}
        for host in new.hosts:
            if host.name in nodes or old.by_host.get(host.name) != host:
                yield self.namespace(host.name), partial(self._set_up_host, host)

    def _set_up_host(self, host: Host) -> None:
        run(self.lab, ("ip", "address", "flush", "dev", host.links[0].name), check=False)
        if host.guest:
            new = not run(self.lab, ("ip", "link", "show", "dev", GUEST_BRIDGE), check=False)
            ip_batch(self.lab, guest_lines(host, new=new), where=host.name)
        else:
            ip_batch(self.lab, host_lines(host), where=host.name)

    def _switch_jobs(
        self, old: TwinTopology, new: TwinTopology, renewed: Collection[tuple[str, str]]
    ) -> Iterator[Job]:
        before = old.by_switch
        for plan in new.switches:
            was = before.get(plan.name)
            ports = {port for node, port in renewed if node == plan.name}
            change = delta(without_ports(was or SwitchPlan(name=plan.name), ports), plan)
            bare = sorted(ports - set(plan.ports.values()))
            if bare or not change.empty:
                work = partial(self.apply, change, bare, fresh=was is None)
                yield self.namespace(plan.name), work

    def apply(self, change: SwitchDelta, bare: Iterable[str] = (), *, fresh: bool = False) -> None:
        """Change a switch, in the namespace of the calling thread.

        bare: ports that its configuration does not contain, and that are up by default, as on a
        switch.
        """
        set_sysctls(change.sysctls)
        lines = (*change.ip, *(f"link set dev {port} up" for port in bare))
        ip_batch(self.lab, lines, where=change.name)
        if change.nft:
            run(self.lab, ("nft", "-f", "-"), change.nft, where=change.name)
        daemons = self.daemons(change.name)
        if fresh:
            daemons.prepare()
        for name in change.stop:
            daemons.stop(name)
        daemons.start(change.start)
        for name, commands in change.lines:
            with daemons.vty(name) as vty:
                vty.configure(commands)
                if any(line.startswith(PATHS) for line in commands):
                    vty.ask(CHOOSE_AGAIN)


def without_ports(plan: SwitchPlan, ports: Collection[str]) -> SwitchPlan:
    """Return a plan without the settings of these ports, because the ports are new."""
    gone = {link.name for link in plan.links if link.name in ports or link.parent in ports}
    return plan.model_copy(update={"links": tuple(k for k in plan.links if k.name not in gone)})


def host_lines(host: Host) -> list[str]:
    """Return lines of `ip -batch` that bring a server up."""
    lines = ["link set dev lo up"]
    for link in host.links:
        lines += _host_link(link)
    if host.gateway is not None:
        lines.append(f"route replace default via {host.gateway}")
    return lines


def guest_lines(host: Host, *, new: bool) -> list[str]:
    """Return lines that connect a server's cable to its guest; new: its taps do not exist yet.

    An emulated guest reads its tap late: the usual queue of 1000 packets loses RoCE packets.
    """
    first, *members = host.links
    lines = ["link set dev lo up"]
    for link in (first.model_copy(update={"addresses": ()}), *members):
        lines += _host_link(link)
    if new:
        lines += [
            f"link add name {GUEST_BRIDGE} type bridge",
            f"tuntap add dev {GUEST_TAP} mode tap",
            f"link set dev {GUEST_TAP} txqueuelen {GUEST_QUEUE} master {GUEST_BRIDGE}",
            f"tuntap add dev {MANAGEMENT_TAP} mode tap",
            f"address add {MANAGEMENT[0]}/{MANAGEMENT[2]} dev {MANAGEMENT_TAP}",
            f"link set dev {MANAGEMENT_TAP} up",
        ]
    mtu = f"mtu {first.mtu} " if first.mtu is not None else ""
    lines.append(f"link set dev {first.name} master {GUEST_BRIDGE}")
    lines += [f"link set dev {name} {mtu}up" for name in (GUEST_TAP, GUEST_BRIDGE)]
    return lines


def _host_link(link: LinkState) -> Iterator[str]:
    if link.kind == "bond":
        yield f"link add name {link.name} type bond {link.settings}"
    if link.mtu is not None:
        yield f"link set dev {link.name} mtu {link.mtu}"
    if link.master is not None:
        yield f"link set dev {link.name} master {link.master}"
    for address in link.addresses:
        yield f"address replace {address} dev {link.name}"
    yield f"link set dev {link.name} up"
