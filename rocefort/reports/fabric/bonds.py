"""Bonds of a network, one row per Eth-Trunk: for `rocefort show FABRIC bonds` and the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rocefort.models.device.eth_trunk import MANUAL, trunk_number
from rocefort.models.device.interface import Interface
from rocefort.models.network.network import End, Network, Node

COLUMNS = (
    "device",
    "eth_trunk",
    "server",
    "speed_gbps",
    "mode",
    "lacp_timeout",
    "minimum_links",
    "members",
)


class BondRow(NamedTuple):
    """Eth-Trunk as its switch configures it, and the server at its other end, if known."""

    device: str
    eth_trunk: str
    server: str | None
    speed_gbps: int | None  # sum of all members; None: unknown for one of them
    mode: str
    lacp_timeout: str | None  # None: no LACP
    minimum_links: int
    members: str


def bond_rows(network: Network, nodes: Iterable[Node]) -> Iterator[BondRow]:
    """Return the Eth-Trunks of the switches, in order."""
    owners = {server.port: server.name for server in network.servers or ()}
    for node in nodes:
        for interface in node.device.interfaces:
            number = trunk_number(interface.name)
            if number is not None:
                members = node.device.members.get(number, ())
                end = End(device=node.name, interface=interface.name)
                yield _row(node, interface, members, owners.get(end))


def _row(
    node: Node, trunk: Interface, members: tuple[Interface, ...], server: str | None
) -> BondRow:
    speeds = [node.speed_gbps(member.name) for member in members]
    known = [speed for speed in speeds if speed is not None]
    return BondRow(
        node.name,
        trunk.name,
        server,
        sum(known) if len(known) == len(speeds) else None,
        trunk.bond.mode,
        None if trunk.bond.mode == MANUAL else trunk.bond.lacp_timeout,
        trunk.bond.minimum_links,
        " ".join(member.name for member in members),
    )
