"""Servers, switches and RDMA pairs of a beamline in a network."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.network.network import Network, Server, SwitchRole


def receivers_of(network: Network, beamline: Beamline) -> tuple[Server, ...]:
    """Return the servers that a beamline sends to, in the network's order."""
    targets = {path.to for path in beamline.sends_to}
    own = {*beamline.servers}
    servers = network.servers or ()
    return tuple(s for s in servers if s.segment in targets and s.name not in own)


def switches_of(network: Network, beamline: Beamline) -> tuple[str, ...]:
    """Return the switches whose change can touch a beamline, in the network's order.

    They are its leaf, the leaves of its receivers, and all spines.
    """
    leaves = {beamline.leaf, *(s.port.device for s in receivers_of(network, beamline))}
    return tuple(
        node.name for node in network.nodes if node.role is SwitchRole.SPINE or node.name in leaves
    )


def pairs_of(network: Network, beamline: Beamline) -> Iterator[tuple[Server, Server]]:
    """Yield pairs for RDMA tests of a beamline: each of its servers with a receiver, in turn.

    Receivers are on another leaf if there are any, so that the pairs cross the spines.
    """
    if beamline.transport != "roce":
        return
    servers = {server.name: server for server in network.servers or ()}
    receivers = [server for server in receivers_of(network, beamline) if server.roce]
    receivers = [s for s in receivers if s.port.device != beamline.leaf] or receivers
    for number, name in enumerate(beamline.servers):
        if receivers:
            yield servers[name], receivers[(beamline.id + number) % len(receivers)]
