"""Small eBGP fabrics as models, their faults, and the paths of their recordings."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
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
from rocefort.models.network.network import End, Link, Network, Node, Segment, Server

Edit = Callable[[Device], Device]
Clos = Callable[..., Network]

RECORDED = Path(__file__).parents[2] / "recorded"


def routed(name: str, address: str) -> Interface:
    return Interface(name=name, routed=True, mtu=9216, addresses=(IPv4Interface(address),))


def leaf(number: int, spines: int) -> Device:
    uplinks = [
        routed(f"100GE1/0/{s}", f"10.0.{number}.{2 * s - 1}/31") for s in range(1, spines + 1)
    ]
    entries = (
        PrefixEntry(index=10, prefix=IPv4Network("10.1.0.0/16"), greater_equal=24, less_equal=24),
        PrefixEntry(index=20, prefix=IPv4Network("10.9.0.0/24"), greater_equal=32),
    )
    return Device(
        name=f"leaf{number}",
        vlans=(110,),
        interfaces=(
            *uplinks,
            Interface(name="25GE1/0/1", link_type="access", access_vlan=110),
            Interface(name="Vlanif110", addresses=(IPv4Interface(f"10.1.{number}.1/24"),)),
            Interface(name="LoopBack0", addresses=(IPv4Interface(f"10.9.0.{number}/32"),)),
        ),
        prefix_lists=(PrefixList(name="OWN", entries=entries),),
        route_policies=(
            RoutePolicy(name="OUT", nodes=(PolicyNode(node=10, match_prefix_list="OWN"),)),
        ),
        bgp=Bgp(
            asn=65100 + number,
            router_id=IPv4Address(f"10.9.0.{number}"),
            groups=(BgpGroup(name="SPINES", asn=65000, export_policy="OUT", active=True),),
            peers=tuple(
                BgpPeer(address=IPv4Address(f"10.0.{number}.{2 * s - 2}"), group="SPINES")
                for s in range(1, spines + 1)
            ),
            networks=(IPv4Network(f"10.1.{number}.0/24"), IPv4Network(f"10.9.0.{number}/32")),
            maximum_paths=spines,
        ),
    )


def spine(number: int, leaves: int) -> Device:
    near, far = 2 * number - 2, 2 * number - 1
    return Device(
        name=f"spine{number}",
        interfaces=tuple(
            routed(f"100GE1/0/{n}", f"10.0.{n}.{near}/31") for n in range(1, leaves + 1)
        ),
        bgp=Bgp(
            asn=65000,
            router_id=IPv4Address(f"10.9.1.{number}"),
            maximum_paths=8,
            peers=tuple(
                BgpPeer(address=IPv4Address(f"10.0.{n}.{far}"), asn=65100 + n, active=True)
                for n in range(1, leaves + 1)
            ),
        ),
    )


def build_clos(spines: int = 2, leaves: int = 2, **edits: Edit) -> Network:
    """A Clos with a server a leaf; `edits` change Devices by name, as a fault would."""
    devices = [leaf(n, spines) for n in range(1, leaves + 1)]
    devices += [spine(s, leaves) for s in range(1, spines + 1)]
    nothing: Edit = lambda device: device  # noqa: E731 - the identity needs no name of its own
    nodes = tuple(Node(device=edits.get(d.name, nothing)(d)) for d in devices)
    numbers = range(1, leaves + 1)
    return Network(
        name=f"clos-{spines}x{leaves}",
        origin="fabric",
        nodes=nodes,
        links=tuple(
            Link(
                a=End(device=f"leaf{n}", interface=f"100GE1/0/{s}"),
                b=End(device=f"spine{s}", interface=f"100GE1/0/{n}"),
            )
            for n in numbers
            for s in range(1, spines + 1)
        ),
        servers=tuple(
            Server(
                name=f"server{n}",
                port=End(device=f"leaf{n}", interface="25GE1/0/1"),
                segment="compute",
                address=IPv4Interface(f"10.1.{n}.11/24"),
                mtu=4200,
                speed_gbps=25,
            )
            for n in numbers
        ),
        segments=tuple(
            Segment(
                name="compute",
                leaf=f"leaf{n}",
                vlan=110,
                gateway=IPv4Interface(f"10.1.{n}.1/24"),
            )
            for n in numbers
        ),
    )


def with_fields(model: Any, **fields: object) -> Any:
    """A validated copy with other fields."""
    kept = {name: getattr(model, name) for name in type(model).model_fields}
    return type(model)(**{**kept, **fields})


def with_bgp(**fields: object) -> Edit:
    """An edit of a Device's BGP process."""

    def edit(device: Device) -> Device:
        changed: Device = with_fields(device, bgp=with_fields(device.bgp, **fields))
        return changed

    return edit


def with_port(name: str, **fields: object) -> Edit:
    """An edit of one interface of a Device."""

    def edit(device: Device) -> Device:
        ports = [with_fields(i, **fields) if i.name == name else i for i in device.interfaces]
        changed: Device = with_fields(device, interfaces=tuple(ports))
        return changed

    return edit


def _drop_last_peer(device: Device) -> Device:
    assert device.bgp is not None
    return with_bgp(peers=device.bgp.peers[:-1])(device)


WRONG_AS = (BgpGroup(name="SPINES", asn=64999, export_policy="OUT", active=True),)
FAULTS: dict[str, Edit] = {
    "wrong-as": with_bgp(groups=WRONG_AS),
    "no-ecmp": with_bgp(maximum_paths=1),
    "missing-session": _drop_last_peer,
}


def as_per_spine(spines: int, leaves: int, *, relaxed: bool) -> Network:
    """A Clos whose spines have an AS each; leaves share paths over them only if relaxed."""

    def leaf_edit(device: Device) -> Device:
        assert device.bgp is not None
        groups = (BgpGroup(name="SPINES", export_policy="OUT", active=True),)
        peers = tuple(
            with_fields(peer, asn=65001 + number) for number, peer in enumerate(device.bgp.peers)
        )
        return with_bgp(groups=groups, peers=peers, as_path_relax=relaxed)(device)

    edits = {f"spine{s}": with_bgp(asn=65000 + s) for s in range(1, spines + 1)}
    return build_clos(
        spines, leaves, **edits, **{f"leaf{n}": leaf_edit for n in range(1, leaves + 1)}
    )


@pytest.fixture
def clos() -> Clos:
    return build_clos


@pytest.fixture
def port_edit() -> Callable[..., Edit]:
    return with_port


@pytest.fixture
def bgp_edit() -> Callable[..., Edit]:
    return with_bgp


@pytest.fixture
def copy_with() -> Callable[..., Any]:
    return with_fields


def _recorded_networks() -> dict[str, Network]:
    networks = {"clos-2x2": build_clos(2, 2), "clos-2x3": build_clos(2, 3)}
    for fault, edit in FAULTS.items():
        networks[f"clos-2x3-{fault}"] = build_clos(2, 3, leaf1=edit)
    for suffix, relaxed in (("", True), ("-unrelaxed", False)):
        networks[f"clos-2x3-as-per-spine{suffix}"] = as_per_spine(2, 3, relaxed=relaxed)
    return {name: with_fields(network, name=name) for name, network in networks.items()}


@pytest.fixture
def recorded() -> Callable[[str], tuple[Network, Path]]:
    """A network by the name of its recording, and the file."""
    networks = _recorded_networks()
    return lambda name: (networks[name], RECORDED / f"{name}.json")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recording" in metafunc.fixturenames:
        metafunc.parametrize("recording", sorted(_recorded_networks()))
