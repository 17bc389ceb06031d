"""Failures of cables and switches of a lab by loss of carrier, compared with the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rocefort.base.errors import BadInput
from rocefort.dialects.frr import kernel_name
from rocefort.lab.network import OpinionCounts, Tables, compare_tables
from rocefort.lab.twin.topology import TwinTopology
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network
from rocefort.validators.failures.study import dense
from rocefort.validators.routing_results import Failure

Port = tuple[str, str]  # node, kernel name


@contextmanager
def failed(twin: Twin, failure: Failure) -> Iterator[None]:
    """Cut cables or switches, wait until routes are stable, and restore them afterwards.

    Raises BadInput for a port or switch that the lab does not have.
    """
    ports = ports_of(twin.topology, failure)
    _set(twin, ports, "down")
    try:
        twin.converge(gone=lost_sessions(twin.topology, ports, failure.nodes))
        yield
    finally:
        _set(twin, ports, "up")
    twin.converge()


def ports_of(topology: TwinTopology, failure: Failure) -> list[Port]:
    """Return the ports that lose carrier: both ends of a cable, all cabled ports of a switch."""
    ends = [(e.device, kernel_name(e.interface)) for pair in failure.links for e in pair]
    for node in failure.nodes:
        ends += [end for cable in topology.cables for end in cable.ends if end[0] == node]
    cabled = {end for cable in topology.cables for end in cable.ends}
    missing = [f"switch {name}" for name in failure.nodes if name not in topology.by_switch]
    missing += [f"cable at {node} {port}" for node, port in ends if (node, port) not in cabled]
    if missing:
        raise BadInput(f"the lab has no {missing[0]}")
    return ends


def lost_sessions(topology: TwinTopology, ports: list[Port], nodes: tuple[str, ...]) -> set[str]:
    """Return sessions that are down without these ports: `switch peer`, both sides of each."""
    dark = {*ports, *(far for port in ports if (far := topology.far(*port)) is not None)}
    owners = topology.owners
    return {
        f"{switch} {peer}"
        for switch, peers in topology.sessions.items()
        for peer in peers
        if owners[peer] in dark or switch in nodes or owners[peer][0] in nodes
    }


def _set(twin: Twin, ports: list[Port], state: str) -> None:
    by_node: dict[str, list[str]] = {}
    for node, port in ports:
        by_node.setdefault(node, []).append(f"link set dev {port} {state}")
    for node, lines in by_node.items():
        twin.ip(node, lines)


def after_failure(network: Network, failure: Failure, tables: Tables) -> OpinionCounts:
    """Compare kernels with the engine after a failure; switches that failed are left out."""
    alive = {name: table for name, table in tables.items() if name not in failure.nodes}
    solution = dense(network, failure)
    return compare_tables(solution.state, alive, solution.ties)
