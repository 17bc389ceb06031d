"""A running Batfish gives the recorded answers again; with ROCEFORT_RECORD=1, records them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import (
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)
from rocefort.models.network.network import Network
from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.rules.verification.engine_difference import disagreements
from rocefort.validators.verification.batfish_recording import record, replay

pytestmark = pytest.mark.batfish

Clos = Callable[..., Network]
Edit = Callable[[Device], Device]


def test_the_service_still_says_what_was_recorded(
    service: tuple[str, int], recorded: Callable[[str], tuple[Network, Path]], recording: str
) -> None:
    network, path = recorded(recording)
    if os.environ.get("ROCEFORT_RECORD") == "1":
        record(network, path, *service)
    assert ask(network, *service) == replay(network, path)


def everything(device: Device) -> Device:
    """Every form of the translation; none may cause a warning."""
    lists = (
        *device.prefix_lists,
        PrefixList(name="permit"),
        PrefixList(
            name="a.b-c_d",
            entries=(
                PrefixEntry(index=1, prefix=IPv4Network("0.0.0.0/0"), less_equal=32),
                PrefixEntry(
                    index=4294967295,
                    action="deny",
                    prefix=IPv4Network("10.0.0.0/8"),
                    greater_equal=8,
                ),
            ),
        ),
    )
    nodes = (
        PolicyNode(node=0, action="deny", match_prefix_list="permit"),
        PolicyNode(node=65535, match_prefix_list="a.b-c_d"),
    )
    policies = (
        *device.route_policies,
        RoutePolicy(name="in", nodes=nodes),
        RoutePolicy(name="empty"),
    )
    ports = (
        *device.interfaces,
        Interface(name="MEth0/0/0", addresses=(IPv4Interface("192.168.1.1/24"),)),
        Interface(name="10GE1/0/3:2", link_type="trunk", trunk_vlans=(110, 120), enabled=False),
        Interface(name="200GE1/0/9", addresses=(IPv4Interface("172.16.9.1/30"),)),
        Interface(
            name="100GE1/0/9",
            routed=True,
            addresses=(IPv4Interface("172.16.0.1/30"), IPv4Interface("172.16.1.1/30")),
        ),
        Interface(name="25GE1/0/9", access_vlan=999),
        Interface(name="Vlanif999", addresses=(IPv4Interface("172.18.0.1/24"),)),
        Interface(name="Vlanif1", addresses=(IPv4Interface("172.17.0.1/24"),)),
        Interface(name="NULL0"),
    )
    assert device.bgp is not None
    peers = (
        *device.bgp.peers,
        BgpPeer(address=IPv4Address("172.16.0.2"), group="inside", import_policy="in"),
        BgpPeer(address=IPv4Address("172.16.1.2"), asn=4200000000, export_policy="empty"),
    )
    groups = (*device.bgp.groups, BgpGroup(name="inside", external=False, active=True))
    fields: dict[str, Any] = {"as_path_relax": True, "router_id": None, "maximum_paths": 128}
    bgp = device.bgp.model_copy(update={"peers": peers, "groups": groups, **fields})
    return Device(
        name=device.name,
        vlans=(1, 110, 120),
        interfaces=ports,
        prefix_lists=lists,
        route_policies=policies,
        bgp=bgp,
    )


def test_every_form_of_the_translation_is_read_without_a_warning(
    service: tuple[str, int], clos: Clos
) -> None:
    state = ask(clos(leaf1=everything), *service)
    down = [(s.device, str(s.peer)) for s in state.sessions if s.status != "established"]
    assert down == [("leaf1", "172.16.0.2"), ("leaf1", "172.16.1.2")]
    assert state.reachability.lost == ()


@pytest.mark.parametrize(
    ("port", "fields"),
    [
        ("25GE1/0/1", {"enabled": False}),
        ("25GE1/0/1", {"access_vlan": None}),
        ("25GE1/0/1", {"link_type": "trunk", "access_vlan": None, "trunk_vlans": (110,)}),
        ("25GE1/0/1", {"link_type": "trunk", "access_vlan": None}),
        ("100GE1/0/1", {"enabled": False}),
        ("100GE1/0/1", {"routed": False}),
        ("100GE1/0/1", {"addresses": ()}),
        ("Vlanif110", {"addresses": (IPv4Interface("10.1.1.254/24"),)}),
        ("Vlanif110", {"addresses": (IPv4Interface("10.1.1.1/25"),)}),
        ("LoopBack0", {"enabled": False}),
    ],
)
def test_both_engines_agree_on_a_fault_of_one_port(
    service: tuple[str, int],
    clos: Clos,
    port_edit: Callable[..., Edit],
    port: str,
    fields: dict[str, Any],
) -> None:
    network = clos(leaf1=port_edit(port, **fields))
    assert disagreements(analyse(network), ask(network, *service)) == ()


def test_both_engines_agree_on_cabling_faults(
    service: tuple[str, int], clos: Clos, copy_with: Callable[..., Any]
) -> None:
    network = clos()
    assert network.links is not None
    uncabled = [link for link in network.links if link.b.device != "spine1"]
    for links in (tuple(uncabled), None):
        other: Network = copy_with(network, links=links)
        assert disagreements(analyse(other), ask(other, *service)) == ()


def test_a_limit_below_the_equal_paths_is_counted_as_the_switch_does(
    service: tuple[str, int], clos: Clos, bgp_edit: Callable[..., Edit]
) -> None:
    network = clos(3, 2, leaf1=bgp_edit(maximum_paths=2))
    state = ask(network, *service)
    assert {route.width for route in state.routes if route.device == "leaf1"} == {2}
    assert {route.width for route in state.routes if route.device == "leaf2"} == {3}
    assert disagreements(analyse(network), state) == ()


def test_an_address_that_two_servers_have_is_delivered_to_neither_by_all_paths(
    service: tuple[str, int], clos: Clos, copy_with: Callable[..., Any]
) -> None:
    network = clos()
    assert network.servers is not None
    first, second = network.servers
    twins = (first, copy_with(second, address=first.address))
    state = ask(copy_with(network, servers=twins), *service)
    assert (state.reachability.pairs, state.reachability.delivered) == (2, 0)


def test_nothing_of_a_question_stays_on_the_service(
    service: tuple[str, int], clos: Clos, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pybatfish.client.session import Session  # noqa: PLC0415 - the extra may be missing

    name = f"rocefort-test-{uuid.uuid4().hex}"
    monkeypatch.setattr("rocefort.validators.batfish.client.network_name", lambda: name)
    ask(clos(), *service)
    assert name not in Session(host=service[0], port=service[1]).list_networks()
