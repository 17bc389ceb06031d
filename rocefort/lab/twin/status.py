"""Status of a lab: processes, forwarding tables, and the path of a flow, hop by hop."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Any

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.lab.twin.config_sync import refusals
from rocefort.lab.twin.faults import active_faults
from rocefort.lab.twin.kernel_routes import read_fib
from rocefort.lab.twin.port_forwarding import LOOPBACK
from rocefort.lab.twin.registry import LabRecord, Registry, connections_of, lines_run
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology
from rocefort.lab.twin.twin import Twin
from rocefort.models.base import Frozen
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT


class LabStatus(Frozen):
    """Status of one lab. whole: brought up without interruption; sessions: that should be up."""

    name: str
    fabric: str
    whole: bool
    started: datetime
    frr: str = ""
    lacks: tuple[str, ...] = ()  # missing kernel features, and what is left out because of them
    switches: int = 0
    servers: int = 0
    cables: int = 0
    sessions: int = 0
    established: int = 0
    guests: tuple[str, ...] = ()  # servers that QEMU runs, each with its address
    connections: str = ""  # file with the connections to its switches
    wrong: tuple[str, ...] = ()  # sessions that are down, daemons that ended, faults that were made


class LabHop(Frozen):
    """Node on a flow's path, with the interfaces that it enters and leaves."""

    node: str
    arrives: str = ""
    leaves: str = ""
    via: IPv4Address | None = None  # next hop, if any


class LabTrace(Frozen):
    """Path of a flow by the kernels' tables. stopped: why it does not arrive."""

    source: IPv4Address
    destination: IPv4Address
    source_port: int = ENTROPY_PORT
    destination_port: int = ROCE_PORT
    hops: tuple[LabHop, ...]
    stopped: str = ""


class LabRoute(Frozen):
    """Route of a kernel; no next hop: connected, or dropped."""

    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...] = ()


class SwitchTables(Frozen):
    """Tables of one switch: its kernel's routes, and the state of BGP sessions by peer."""

    name: str
    routes: tuple[LabRoute, ...]
    sessions: dict[str, str]


class LabSnapshot(Frozen):
    """Tables of all switches of a lab at one time."""

    lab: str
    fabric: str
    at: datetime
    switches: tuple[SwitchTables, ...]


def status_of(name: str, registry: Registry | None = None) -> LabStatus:
    """Return the status of a lab, also of an interrupted one. Raises BadInput if there is none."""
    registry = registry or Registry()
    record = registry.find(name)
    if record.status != "up":
        return _bare(record, (f"it was left {record.status}; `rocefort lab down {name}`",))
    twin = Twin.find(name, registry)
    plans = twin.topology.sessions
    wrong = [f"{daemon} of {switch} does not run" for switch, daemon in twin.dead()]
    wrong += _of_lines(registry, record)
    wrong += _of_guests(twin)
    wrong += [f"broken on purpose: {each}" for each in active_faults(registry, record)]
    connections = connections_of(registry, record)
    states = _states(twin, {switch for switch, daemon in twin.dead() if daemon == "bgpd"})
    down = [
        f"{switch} to {peer}: {states.get(switch, {}).get(peer, 'no answer')}"
        for switch, peers in plans.items()
        for peer in peers
        if states.get(switch, {}).get(peer) != "Established"
    ]
    sessions = sum(map(len, plans.values()))
    return _bare(record, (*wrong, *down)).model_copy(
        update={
            "whole": True,
            "connections": str(connections or ""),
            "guests": _guests(twin),
            "switches": len(twin.topology.switches),
            "servers": len(twin.topology.hosts),
            "cables": len(twin.topology.cables),
            "sessions": sessions,
            "established": sessions - len(down),
        }
    )


def _guests(twin: Twin) -> tuple[str, ...]:
    """Return each guest with its address on loopback."""
    ports = twin.guests.ports
    return tuple(
        f"{name} by {twin.record.accel.upper()}, SSH at {LOOPBACK}:{ports.get(name, '-')}"
        for name in twin.record.guests
    )


def _of_guests(twin: Twin) -> list[str]:
    """Return problems of the guests: they died, or their port forwarding did."""
    problems = [f"guest {name} does not run" for name in twin.guests.dead()]
    if twin.record.guests and not twin.guests.forwarded():
        problems.append("no guest can be reached: their port forwarding does not run")
    return problems


def _of_lines(registry: Registry, record: LabRecord) -> list[str]:
    """Return problems of the command lines: they died, or the twin could not apply a change."""
    problems = [
        f"{switch} runs what the twin does not: {why}"
        for switch, why in refusals(registry, record).items()
    ]
    if connections_of(registry, record) and not lines_run(registry, record):
        problems.append("the command lines of its switches do not run")
    return problems


def _states(twin: Twin, dead: set[str]) -> dict[str, dict[str, str]]:
    alive = {
        plan.name
        for plan in twin.topology.switches
        if "bgpd" in plan.texts and plan.name not in dead
    }
    states: dict[str, dict[str, str]] = {}
    for name in sorted(alive):
        try:
            states[name] = dict(twin.look([name])[name].sessions)
        except ServiceFailed:  # it died during the query: its sessions have no answer
            states[name] = {}
    return states


def _bare(record: LabRecord, wrong: tuple[str, ...]) -> LabStatus:
    return LabStatus(
        name=record.name,
        fabric=record.fabric,
        whole=False,
        started=record.started,
        frr=record.frr,
        lacks=record.lacks,
        wrong=wrong,
    )


def snapshot_of(twin: Twin) -> LabSnapshot:
    """Return tables and sessions of every switch. Raises ServiceFailed if a bgpd has died."""
    if dead := twin.dead():
        switch, daemon = dead[0]
        how = f"rocefort lab status {twin.record.name}"
        raise ServiceFailed(f"{daemon} does not run", where=switch, how=how)
    seen = twin.look()
    fibs = {name: read_fib(each.routes) for name, each in seen.items()}
    fibs |= twin.fibs([name for name in twin.topology.by_switch if name not in seen])
    return LabSnapshot(
        lab=twin.record.name,
        fabric=twin.record.fabric,
        at=datetime.now(UTC),
        switches=tuple(
            SwitchTables(
                name=name,
                routes=tuple(
                    LabRoute(prefix=prefix, next_hops=tuple(sorted(hops)))
                    for prefix, hops in sorted(fibs[name].items())
                ),
                sessions=dict(seen[name].sessions) if name in seen else {},
            )
            for name in twin.topology.by_switch
        ),
    )


MOST_HOPS = 32


@dataclass(frozen=True)
class TracePoint:
    """A node, and the kernel name of a packet's input link; empty: the flow starts here."""

    node: str
    link: str = ""


def trace(twin: Twin, source: str, destination: str, port: int = ENTROPY_PORT) -> LabTrace:
    """Follow a RoCEv2 flow between two nodes, or addresses of nodes; port: its UDP source port.

    Raises BadInput for an end that the lab does not have.
    """
    topology = twin.topology
    node, start = _end(topology, source)
    _, target = _end(topology, destination)
    hops: list[LabHop] = []
    point, stopped = TracePoint(node), f"no end after {MOST_HOPS} hops: a loop"
    while len(hops) < MOST_HOPS:
        arrives = _switch_name(topology, point.node, point.link)
        answer = _ask(twin, point, start, target, port)
        if isinstance(answer, str):
            hops.append(LabHop(node=point.node, arrives=arrives))
            stopped = f"{point.node}: {answer}"
            break
        if answer.get("type") == "local" or answer["dev"] == "lo":
            hops.append(LabHop(node=point.node, arrives=arrives))
            stopped = ""
            break
        via = IPv4Address(answer["gateway"]) if "gateway" in answer else None
        leaves = _switch_name(topology, point.node, answer["dev"])
        hops.append(LabHop(node=point.node, arrives=arrives, leaves=leaves, via=via))
        beyond = _beyond(topology, point.node, answer["dev"], str(via or target))
        if beyond is None:
            stopped = f"{point.node}: nothing at {leaves} has {via or target}"
            break
        point = beyond
    return LabTrace(
        source=start, destination=target, source_port=port, hops=tuple(hops), stopped=stopped
    )


def _ask(
    twin: Twin, point: TracePoint, source: IPv4Address, target: IPv4Address, port: int
) -> dict[str, Any] | str:
    """Return the kernel's decision for the flow; the reason as text if it drops it."""
    words = ["ip", "-j", "route", "get", str(target), "from", str(source)]
    words += ["iif", point.link] if point.link else []
    words += ["ipproto", "udp", "sport", str(port), "dport", str(ROCE_PORT)]
    code, output = twin.run(point.node, words)
    if code != 0:
        return output.strip().rpartition("answers: ")[2].splitlines()[0] if output else "no answer"
    route: dict[str, Any] = json.loads(output)[0]
    return route


def _end(topology: TwinTopology, text: str) -> tuple[str, IPv4Address]:
    """Return a node and its address, by name or address; a switch has its first loopback."""
    addresses = _addresses(topology)
    for node, owned in addresses.items():
        if text == node and owned:
            return node, IPv4Address(owned[0])
        if text in owned:
            return node, IPv4Address(text)
    try:
        IPv4Address(text)
    except AddressValueError:
        names = (name for name in topology.nodes if name != BACKSTAGE)
        raise BadInput(f"no node is called {text!r}", how=nearest(text, names)) from None
    raise BadInput(f"no node has address {text}", how="use the name of a node")


def _addresses(topology: TwinTopology) -> dict[str, list[str]]:
    by_node = {host.name: [host.address] for host in topology.hosts}
    for plan in topology.switches:
        links = sorted(plan.links, key=lambda link: link.kind != "loopback")
        by_node[plan.name] = [a.partition("/")[0] for link in links for a in link.addresses]
    return by_node


def _switch_name(topology: TwinTopology, node: str, link: str) -> str:
    plan = topology.by_switch.get(node)
    names = {each.name: each.interface for each in plan.links} if plan else {}
    return names.get(link) or link


def _beyond(topology: TwinTopology, node: str, link: str, address: str) -> TracePoint | None:
    """Return the input of a packet that leaves by a link, for an address there."""
    plan = topology.by_switch.get(node)
    links = plan.links if plan else topology.by_host[node].links
    members = [each.name for each in links if each.master == link]
    bundled = [each.name for each in links if each.master in members]
    owners = {name for name, owned in _addresses(topology).items() if address in owned}
    for port in (link, *members, *bundled):
        far = topology.far(node, port)
        if far is not None and far[0] in owners:
            return TracePoint(far[0], _incoming(topology, *far))
    return None


def _incoming(topology: TwinTopology, node: str, port: str) -> str:
    """Return the link that has the addresses for a port: itself, or its master."""
    plan = topology.by_switch.get(node)
    links = {each.name: each for each in (plan.links if plan else topology.by_host[node].links)}
    while port in links and (master := links[port].master) in links:
        if links[port].addresses or master is None:
            break
        port = master
    return port
