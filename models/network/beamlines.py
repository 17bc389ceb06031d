"""Servers, switches, RDMA pairs and expected rates of a beamline in a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rocefort.models.base import Frozen
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.network.network import Network, Server, SwitchRole


class ExpectedRate(Frozen):
    """Rate of raw data that must come through from a beamline to segments, Gb/s.

    It is that of its detectors at peak, for one burst at least; average_gbps: with their duty.
    burst_ms: the longest burst; None: they send always.
    """

    beamline: str
    to: tuple[str, ...]
    gbps: float
    average_gbps: float
    burst_ms: float | None = None


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


def expected_rates(beamline: Beamline) -> tuple[ExpectedRate, ...]:
    """Return the expected rate of each data path, then that of all together if there are several.

    A beamline sends by all its paths at the same time.
    """
    bursts = [one.burst_ms for one in beamline.detectors if one.burst_ms is not None]
    paths: list[tuple[tuple[str, ...], float]] = [((p.to,), p.share) for p in beamline.sends_to]
    if len(paths) > 1:
        paths.append((tuple(p.to for p in beamline.sends_to), sum(share for _, share in paths)))
    return tuple(
        ExpectedRate(
            beamline=beamline.name,
            to=to,
            gbps=beamline.peak_gbps * share,
            average_gbps=beamline.average_gbps * share,
            burst_ms=max(bursts, default=None),
        )
        for to, share in paths
    )


def spread_over_leaves(servers: Sequence[Server]) -> tuple[Server, ...]:
    """Return servers in turn of their leaves, so that the first ones are behind many."""
    leaves: dict[str, list[Server]] = {}
    for server in servers:
        leaves.setdefault(server.port.device, []).append(server)
    return tuple(s for row in zip_longest(*leaves.values()) for s in row if s is not None)
