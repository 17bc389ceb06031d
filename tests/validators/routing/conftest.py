"""Small Clos fabrics as Devices, and edits that break them."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import (
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)
from rocefort.models.network.network import (
    End,
    Link,
    Network,
    Node,
    Position,
    Segment,
    Server,
    Sources,
    SwitchRole,
)

Clos = Callable[..., Network]
Edit = Callable[..., Network]


def _link_addresses(index: int) -> tuple[IPv4Interface, IPv4Interface]:
    low = IPv4Address("172.16.0.0") + 2 * index
    return IPv4Interface(f"{low}/31"), IPv4Interface(f"{low + 1}/31")


def _spine(name: str, asn: int, index: int, ports: list[Interface], peers: list[BgpPeer]) -> Device:
    loopback = IPv4Interface(f"10.254.0.{index}/32")
    return Device(
        name=name,
        interfaces=(Interface(name="LoopBack0", routed=True, addresses=(loopback,)), *ports),
        bgp=Bgp(
            asn=asn,
            router_id=loopback.ip,
            groups=(BgpGroup(name="LEAF", active=True),),
            peers=tuple(peers),
            networks=(loopback.network,),
            maximum_paths=32,
        ),
    )


def _leaf(index: int, ports: list[Interface], peers: list[BgpPeer], servers: int) -> Device:
    loopback = IPv4Interface(f"10.255.0.{index}/32")
    gateway = IPv4Interface(f"10.{index}.10.1/24")
    own = PrefixList(
        name="LOCAL",
        entries=(
            PrefixEntry(index=10, prefix=loopback.network),
            PrefixEntry(index=20, prefix=gateway.network),
        ),
    )
    access = [
        Interface(name=f"25GE1/0/{k}", link_type="access", access_vlan=10)
        for k in range(1, servers + 1)
    ]
    return Device(
        name=f"leaf{index}",
        vlans=(10,),
        interfaces=(
            Interface(name="LoopBack0", routed=True, addresses=(loopback,)),
            Interface(name="Vlanif10", routed=True, addresses=(gateway,)),
            *access,
            *ports,
        ),
        bgp=Bgp(
            asn=65100 + index,
            router_id=loopback.ip,
            groups=(BgpGroup(name="SPINE", active=True, export_policy="EXPORT"),),
            peers=tuple(peers),
            networks=(loopback.network, gateway.network),
            maximum_paths=32,
        ),
        prefix_lists=(own,),
        route_policies=(
            RoutePolicy(name="EXPORT", nodes=(PolicyNode(node=10, match_prefix_list="LOCAL"),)),
        ),
    )


def _clos(
    spines: int = 2,
    leaves: int = 3,
    links: int = 1,
    servers: int = 1,
    asn_per_spine: bool = False,
) -> Network:
    ports: dict[str, list[Interface]] = {}
    peers: dict[str, list[BgpPeer]] = {}
    cables, index = [], 0
    for s in range(1, spines + 1):
        for leaf in range(1, leaves + 1):
            for k in range(1, links + 1):
                low, high = _link_addresses(index)
                index += 1
                a = End(device=f"spine{s}", interface=f"100GE1/0/{(leaf - 1) * links + k}")
                b = End(device=f"leaf{leaf}", interface=f"100GE1/0/{(s - 1) * links + k}")
                cables.append(Link(a=a, b=b))
                spine_asn = 65000 + (s if asn_per_spine else 0)
                for end, mine, other, group, asn in (
                    (a, low, high, "LEAF", 65100 + leaf),
                    (b, high, low, "SPINE", spine_asn),
                ):
                    port = Interface(name=end.interface, routed=True, addresses=(mine,))
                    ports.setdefault(end.device, []).append(port)
                    peer = BgpPeer(address=other.ip, group=group, asn=asn)
                    peers.setdefault(end.device, []).append(peer)
    nodes = [
        Node(
            device=_spine(
                f"spine{s}",
                65000 + (s if asn_per_spine else 0),
                s,
                ports.get(f"spine{s}", []),
                peers.get(f"spine{s}", []),
            ),
            role=SwitchRole.SPINE,
            id=s,
        )
        for s in range(1, spines + 1)
    ]
    nodes += [
        Node(
            device=_leaf(n, ports.get(f"leaf{n}", []), peers.get(f"leaf{n}", []), servers),
            role=SwitchRole.LEAF,
            id=n,
        )
        for n in range(1, leaves + 1)
    ]
    return Network(
        name="clos",
        origin="fabric",
        nodes=tuple(nodes),
        links=tuple(cables),
        servers=tuple(
            Server(
                name=f"srv{n}-{k}",
                port=End(device=f"leaf{n}", interface=f"25GE1/0/{k}"),
                segment="compute",
                address=IPv4Interface(f"10.{n}.10.{10 + k}/24"),
                mtu=9000,
                speed_gbps=25,
            )
            for n in range(1, leaves + 1)
            for k in range(1, servers + 1)
        ),
        segments=tuple(
            Segment(
                name="compute",
                leaf=f"leaf{n}",
                vlan=10,
                gateway=IPv4Interface(f"10.{n}.10.1/24"),
            )
            for n in range(1, leaves + 1)
        ),
        spines=spines,
    )


def _edit(network: Network, name: str, **changes: Any) -> Network:
    """The network with fields of one device replaced."""
    nodes = tuple(
        node.model_copy(update={"device": node.device.model_copy(update=changes)})
        if node.name == name
        else node
        for node in network.nodes
    )
    return Network(**{**{k: getattr(network, k) for k in Network.model_fields}, "nodes": nodes})


def _edit_bgp(network: Network, name: str, **changes: Any) -> Network:
    bgp = network.by_name[name].device.bgp
    assert bgp is not None
    return _edit(network, name, bgp=bgp.model_copy(update=changes))


def _edit_peer(network: Network, name: str, address: str, **changes: Any) -> Network:
    bgp = network.by_name[name].device.bgp
    assert bgp is not None
    wanted = IPv4Address(address)
    assert wanted in {peer.address for peer in bgp.peers}
    peers = tuple(p.model_copy(update=changes) if p.address == wanted else p for p in bgp.peers)
    return _edit_bgp(network, name, peers=peers)


def _drop_peer(network: Network, name: str, address: str) -> Network:
    bgp = network.by_name[name].device.bgp
    assert bgp is not None
    rest = tuple(peer for peer in bgp.peers if peer.address != IPv4Address(address))
    assert len(rest) + 1 == len(bgp.peers)
    return _edit_bgp(network, name, peers=rest)


def _edit_port(network: Network, name: str, port: str, /, **changes: Any) -> Network:
    device = network.by_name[name].device
    assert port in device.by_interface
    interfaces = tuple(
        i.model_copy(update=changes) if i.name == port else i for i in device.interfaces
    )
    return _edit(network, name, interfaces=interfaces)


def _hide(network: Network, name: str, prefix: str) -> Network:
    """Deny one prefix in what the device announces."""
    entry = PrefixEntry(index=5, action="deny", prefix=IPv4Network(prefix))
    device = network.by_name[name].device
    lists = tuple(
        p.model_copy(update={"entries": (entry, *p.entries)}) for p in device.prefix_lists
    )
    return _edit(network, name, prefix_lists=lists)


@pytest.fixture(scope="session")
def clos() -> Clos:
    """Builds a whole fabric: clos(spines, leaves, links, servers, asn_per_spine)."""
    return _clos


@pytest.fixture(scope="session")
def edits() -> dict[str, Edit]:
    """Edits of a network by name."""
    return {
        "device": _edit,
        "bgp": _edit_bgp,
        "peer": _edit_peer,
        "drop_peer": _drop_peer,
        "port": _edit_port,
        "hide": _hide,
    }


@pytest.fixture(scope="session")
def sources() -> Sources:
    """Lines of some fields, as a loader would give them."""
    lines = {
        "leaf1/": 1,
        "leaf1/bgp": 40,
        "leaf1/bgp.peers[172.16.0.0]": 45,
        "leaf1/bgp.maximum_paths": 50,
        "leaf1/interfaces[100GE1/0/1]": 20,
        "leaf3/interfaces[25GE1/0/1].enabled": 31,
        "spine1/bgp": 60,
    }
    table = {
        key: Position(f"{key.split('/', maxsplit=1)[0]}.cfg", line) for key, line in lines.items()
    }
    return Sources(table)
