"""A fabric of two switches with TinyOS."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

import tiny_dialect

from rocefort.dialects.syntax_families import read_families
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.hardware.hardware import Hardware, Release
from rocefort.models.network.network import Network, Node

(FAMILY,) = read_families(Path(tiny_dialect.__path__[0])).values()
PORT = "100GE1/0/1"
HARDWARE = Hardware(
    model="TINY-1",
    ports=(PORT,),
    fabric_ports=(PORT,),
    releases=(Release(prefix="1", family=FAMILY.name),),
    template=None,
    source="made up",
)
NAMES = ("leaf01", "leaf02")


def network(mtu: int, description: str) -> Network:
    """Two leaves, each with a port and a peer."""
    port = Interface(
        name=PORT,
        routed=True,
        mtu=mtu,
        description=description,
        addresses=(IPv4Interface("10.0.0.1/31"),),
    )
    peer = BgpPeer(address=IPv4Address("10.0.0.0"), asn=65000, active=True)
    nodes = (
        Node(
            device=Device(name=name, interfaces=(port,), bgp=Bgp(asn=65101, peers=(peer,))),
            hardware=HARDWARE,
            software="1.0",
            family=FAMILY,
        )
        for name in NAMES
    )
    return Network(name="tiny", origin="fabric", nodes=tuple(nodes))
