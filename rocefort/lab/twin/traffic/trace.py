"""Path of a flow through a lab, as each kernel on it decides: `ip route get`, hop by hop."""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Any

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.lab.twin.status import LabHop, LabTrace
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology
from rocefort.lab.twin.twin import Twin
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT

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
