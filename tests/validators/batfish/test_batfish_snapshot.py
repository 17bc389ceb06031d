"""The folder that Batfish reads: the same bytes for the same fabric, and cabling without guesses."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput, Refused
from rocefort.models.network.network import End, Link, Network, Sources, TextLine
from rocefort.validators.batfish.access import Service
from rocefort.validators.batfish.snapshot import (
    snapshot_digest,
    snapshot_files,
    write_snapshot,
    zip_snapshot,
)
from rocefort.validators.engine_choice import Engine, run

Clos = Callable[..., Network]
Copy = Callable[..., Any]


def cables(network: Network) -> set[tuple[str, str]]:
    topology = json.loads(snapshot_files(network)["batfish/layer1_topology.json"])
    ends = ((edge["node1"], edge["node2"]) for edge in topology["edges"])
    return {
        (f"{a['hostname']} {a['interfaceName']}", f"{b['hostname']} {b['interfaceName']}")
        for a, b in ends
    }


def host(network: Network, name: str) -> dict[str, Any]:
    content = json.loads(snapshot_files(network)[f"hosts/{name}.json"])
    port: dict[str, Any] = content["hostInterfaces"]["eth0"]
    return port


def test_a_snapshot_has_every_switch_every_server_and_the_cabling(
    clos: Clos, tmp_path: Path
) -> None:
    files = snapshot_files(clos())
    assert list(files) == [
        "batfish/layer1_topology.json",
        "configs/leaf1.cfg",
        "configs/leaf2.cfg",
        "configs/spine1.cfg",
        "configs/spine2.cfg",
        "hosts/server1.json",
        "hosts/server2.json",
    ]
    write_snapshot(files, tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    with zipfile.ZipFile(io.BytesIO(zip_snapshot(files))) as archive:
        assert {name: archive.read(f"snapshot/{name}") for name in files} == files


def test_the_digest_does_not_depend_on_the_order_of_anything(clos: Clos, copy_with: Copy) -> None:
    network = clos()
    assert network.links is not None
    assert network.servers is not None
    turned = tuple(Link(a=link.b, b=link.a) for link in reversed(network.links))
    other = copy_with(
        network, nodes=network.nodes[::-1], links=turned, servers=network.servers[::-1]
    )
    one, two = snapshot_files(network), snapshot_files(other)
    assert snapshot_digest(one) == snapshot_digest(two)
    assert zip_snapshot(one) == zip_snapshot(two)


def test_the_digest_changes_with_one_line_and_with_one_cable(
    clos: Clos, copy_with: Copy, bgp_edit: Callable[..., Any]
) -> None:
    network = clos()
    assert network.links is not None
    line = clos(leaf1=bgp_edit(maximum_paths=1))
    cable = copy_with(network, links=network.links[1:])
    assert len({snapshot_digest(snapshot_files(n)) for n in (network, line, cable)}) == 3


def test_cables_run_both_ways_between_translated_names(clos: Clos) -> None:
    found = cables(clos())
    assert ("leaf1 Ethernet100/1/0/2", "spine2 Ethernet100/1/0/1") in found
    assert ("server2 eth0", "leaf2 Ethernet25/1/0/1") in found
    assert {(b, a) for a, b in found} == found


def test_a_switch_without_cables_is_tied_to_nowhere_so_that_nothing_is_guessed(
    clos: Clos, copy_with: Copy
) -> None:
    network = clos()
    assert network.links is not None
    left = tuple(link for link in network.links if link.b.device != "spine2")
    found = cables(copy_with(network, links=left))
    spine2 = {(a, b) for a, b in found if a.startswith("spine2")}
    assert spine2 == {("spine2 Ethernet100/1/0/1", "rocefort-nowhere eth0")}


def test_unknown_cabling_is_left_to_the_addresses(clos: Clos, copy_with: Copy) -> None:
    network = clos()
    bare = copy_with(network, links=None, servers=None)
    assert "batfish/layer1_topology.json" not in snapshot_files(bare)
    assert {a.split()[0] for a, _ in cables(copy_with(network, links=None))} == {
        "server1",
        "server2",
        "leaf1",
        "leaf2",
    }


def test_a_cabled_port_that_the_text_passes_over_stands_at_its_default(
    clos: Clos, copy_with: Copy
) -> None:
    def forget(device: Any) -> Any:
        ports = tuple(i for i in device.interfaces if i.name != "25GE1/0/1")
        return copy_with(device, interfaces=ports)

    text = snapshot_files(clos(leaf1=forget))["configs/leaf1.cfg"].decode()
    assert (
        "interface Ethernet25/1/0/1\n   switchport mode access\n   switchport access vlan 1\n"
        in text
    )


def test_a_server_has_its_segments_gateway_or_else_the_leafs_address(
    clos: Clos, copy_with: Copy, port_edit: Callable[..., Any]
) -> None:
    network = clos()
    assert network.segments is not None
    told = tuple(
        copy_with(s, gateway="10.1.1.254/24") if s.leaf == "leaf1" else s for s in network.segments
    )
    assert host(copy_with(network, segments=told), "server1") == {
        "name": "eth0",
        "prefix": "10.1.1.11/24",
        "gateway": "10.1.1.254",
    }
    untold = copy_with(network, segments=None)
    assert host(untold, "server2")["gateway"] == "10.1.2.1"
    trunk = port_edit("25GE1/0/1", link_type="trunk", access_vlan=None, trunk_vlans=(110,))
    assert host(clos(leaf1=trunk), "server1")["encapsulationVlan"] == 110


def test_what_cannot_be_translated_is_told_for_all_switches_together(clos: Clos) -> None:
    def policy_gone(device: Any) -> Any:
        return device.model_copy(update={"route_policies": ()})

    with pytest.raises(Refused) as caught:
        snapshot_files(clos(leaf1=policy_gone, leaf2=policy_gone))
    assert caught.value.exit_code == 4  # as the embedded engine does
    assert [(p.where, p.what) for p in caught.value.problems] == [
        (f"leaf{n} peer 10.0.{n}.{last}", "route-policy OUT does not exist")
        for n in (1, 2)
        for last in (0, 2)
    ]


def test_names_that_batfish_takes_for_one_are_refused(clos: Clos, copy_with: Copy) -> None:
    network = clos()
    assert network.servers is not None
    first, second = network.servers
    clash = copy_with(network, servers=(copy_with(first, name="LEAF2"), second))
    with pytest.raises(BadInput, match="leaf2: the name is there twice for Batfish"):
        snapshot_files(clash)
    path = copy_with(network, servers=(copy_with(first, name="../server"), second))
    with pytest.raises(BadInput, match=r"\.\./server: the name is not one word"):
        snapshot_files(path)


def test_a_cable_to_a_switch_without_text_is_refused(clos: Clos, copy_with: Copy) -> None:
    network = clos()
    assert network.links is not None
    end = End(device="spine9", interface="100GE1/0/1")
    links = (*network.links, Link(a=End(device="leaf1", interface="100GE1/0/9"), b=end))
    with pytest.raises(Refused, match="spine9: a cable ends on a switch that has no config"):
        snapshot_files(copy_with(network, links=links))


@pytest.mark.parametrize(
    ("address", "far"),
    [
        ("10.0.1.3/30", "10.0.1.2/31 at spine2"),  # starts at 10.0.1.0
        ("10.0.1.3/24", "10.0.1.2/31 at spine2"),
    ],
)
def test_a_link_that_batfish_would_not_follow_is_refused(
    clos: Clos, port_edit: Any, address: str, far: str
) -> None:
    wide = port_edit("100GE1/0/2", addresses=(IPv4Interface(address),))
    with pytest.raises(Refused) as caught:
        snapshot_files(clos(leaf1=wide))
    assert str(caught.value) == (
        f"leaf1 100GE1/0/2: {address} here and {far} 100GE1/0/1: Batfish does not follow such a "
        "link; give both ends one mask, or use --engine embedded"
    )


def test_auto_keeps_the_embedded_answer_where_batfish_cannot_be_asked(
    clos: Clos, port_edit: Any
) -> None:
    wide = port_edit("100GE1/0/2", addresses=(IPv4Interface("10.0.1.3/24"),))
    network, service = clos(leaf1=wide), Service("127.0.0.1", 1)
    done = run(network, Sources(), Engine.AUTO, service)
    assert done.engines == ("embedded",)
    assert done.note.startswith("no answer of Batfish: leaf1 100GE1/0/2: 10.0.1.3/24 here and ")
    with pytest.raises(Refused, match="Batfish does not follow such a link"):
        run(network, Sources(), Engine.BOTH, service)


def test_a_session_starts_from_the_longest_subnet_where_several_hold_its_peer(
    clos: Clos, port_edit: Any
) -> None:
    wide = port_edit("100GE1/0/1", addresses=(IPv4Interface("10.0.1.1/24"),))
    text = snapshot_files(clos(leaf1=wide))["configs/leaf1.cfg"].decode()
    assert [line.strip() for line in text.splitlines() if "update-source" in line] == [
        "neighbor 10.0.1.2 update-source Ethernet100/1/0/2"
    ]
    assert "update-source" not in snapshot_files(clos())["configs/leaf1.cfg"].decode()


def test_a_line_that_may_forward_and_is_not_understood_is_refused_not_left_out(
    clos: Clos, copy_with: Copy
) -> None:
    """Batfish is shown the models only: what they leave out it would answer without."""
    network = clos()
    static = TextLine((), "ip route-static 10.1.2.0 24 NULL0", 34)
    ntp = TextLine((), "ntp unicast-server 10.0.0.1 version 4", 35)
    leaf1, *rest = network.nodes
    nodes = (leaf1.model_copy(update={"unmodelled": (static, ntp)}), *rest)
    with pytest.raises(Refused) as caught:
        snapshot_files(copy_with(network, nodes=nodes))
    assert str(caught.value) == (
        "leaf1 line 34: `ip route-static 10.1.2.0 24 NULL0` may change the routes and is not "
        "modelled; leave the line out: no routing engine models it"
    )
    nodes = (leaf1.model_copy(update={"unmodelled": (ntp,)}), *rest)
    assert snapshot_files(copy_with(network, nodes=nodes)) == snapshot_files(network)
