"""Derivation: growth changes no existing value (law 3), pins, forms of links, and sources."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import Document, read_document
from rocefort.base.documents.validate import validate
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.derive.lossless import Multiples, multiples
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.models.device.device import Device
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.lossless import Deadlock
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Network, SwitchRole

Edit = Callable[..., Path]
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")


def test_heps_is_the_published_fabric(heps: DerivedNetwork) -> None:
    network = heps.network
    assert [n.name for n in network.role(SwitchRole.SPINE)] == ["spine01", "spine02"]
    assert len(network.role(SwitchRole.LEAF)) == 8
    assert {link.a.device for link in network.links or ()} == {"spine01", "spine02"}
    assert len(network.links or ()) == 16
    ports = [i for n in network.nodes for i in n.device.interfaces if i.thresholds]
    assert {(t.queue, t.xoff_kbytes, t.xon_kbytes) for p in ports for t in p.thresholds} == {
        (4, 600, 550)
    }


def test_the_seven_published_servers_have_pairs_across_the_spines(heps: DerivedNetwork) -> None:
    published = {"transfer01", "k8sgn08", "k8sgn09", "k8sgn12"} | {
        "daisycn01",
        "daisygn02",
        "daisygn01",
    }
    leaves = {s.name: s.port.device for s in heps.network.servers or () if s.name in published}
    assert leaves.keys() == published
    assert len(set(leaves.values())) == 4


def test_no_two_switches_share_a_leaf_asn_and_the_spines_share_one(heps: DerivedNetwork) -> None:
    asns = {n.name: n.device.bgp.asn for n in heps.network.nodes if n.device.bgp}
    leaves = [asns[n.name] for n in heps.network.role(SwitchRole.LEAF)]
    assert len(set(leaves)) == 8
    assert {asns["spine01"], asns["spine02"]} == {65000}


def grown(spine_ids: list[int], leaf_ids: list[int]) -> Network:
    """Derive HEPS with other switches; servers only on leaves that remain."""
    data = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    spine, leaf = data["spines"][0], data["leaves"][4]
    data["spines"] = [{**spine, "id": i, "name": f"spine{i:02}"} for i in spine_ids]
    data["leaves"] = [{**leaf, "id": i, "name": f"leaf{i:02}"} for i in leaf_ids]
    data["servers"] = [
        {"name": f"r{i}", "leaf": f"leaf{i:02}", "port": "25GE1/0/7", "segment": "beamline"}
        for i in leaf_ids
    ]
    data["rollout"] = {"canary": f"leaf{leaf_ids[0]:02}"}
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    loaded = LoadedFabric(validate(Fabric, document), document)
    return derive_loaded(loaded, load_catalogue()).network


def fields(device: Device) -> set[str]:
    """Return every scalar of a Device with its path; rows of lists by their key."""

    def walk(path: str, value: object) -> set[str]:
        if isinstance(value, dict):
            return {line for key, part in value.items() for line in walk(f"{path}.{key}", part)}
        if isinstance(value, list):
            keys = ("name", "address", "queue", "value", "index", "node", "first")
            out: set[str] = set()
            for part in value:
                key = (
                    next((part[k] for k in keys if k in part), part)
                    if isinstance(part, dict)
                    else part
                )
                out |= walk(f"{path}[{key}]", part)
            return out
        return {f"{path}={value}"}

    return walk("", device.model_dump(mode="json"))


ids = st.lists(st.integers(1, 8), min_size=1, max_size=4, unique=True)
leaf_ids = st.lists(st.integers(1, 64), min_size=1, max_size=8, unique=True)


@settings(max_examples=tries(40))
@given(ids, leaf_ids, st.data())
def test_growth_moves_nothing(spines: list[int], leaves: list[int], data: st.DataObject) -> None:
    new_spines = data.draw(st.lists(st.integers(1, 8), max_size=3, unique=True))
    new_leaves = data.draw(st.lists(st.integers(1, 64), max_size=5, unique=True))
    before = grown(spines, leaves)
    after = grown(
        spines + [i for i in new_spines if i not in spines],
        leaves + [i for i in new_leaves if i not in leaves],
    )
    for node in before.nodes:
        assert fields(node.device) <= fields(after.by_name[node.name].device)
        assert node.management == after.by_name[node.name].management
    assert set(before.links or ()) <= set(after.links or ())
    assert set(before.servers or ()) <= set(after.servers or ())


@settings(max_examples=tries(20))
@given(st.permutations([1, 2, 3]), st.permutations([1, 5, 9, 64]))
def test_the_order_of_the_yaml_does_not_count(spines: list[int], leaves: list[int]) -> None:
    reordered, plain = grown(spines, leaves), grown([1, 2, 3], [1, 5, 9, 64])
    for node in plain.nodes:
        assert reordered.by_name[node.name].device == node.device


def test_every_derived_value_can_be_pinned(edit_heps: Edit) -> None:
    pins = (
        "    pins:\n      asn: 64999\n      loopback: 192.0.2.9\n      management: 10.255.0.99\n"
        "      gateways: {beamline: 10.64.200.254/24}\n"
    )
    links = (
        "links:\n  - spine: spine02\n    leaf: leaf08\n    spine_port: 100GE1/3/1\n"
        "    leaf_port: 100GE1/0/8\n    subnet: 192.0.2.20/31\n    cable_m: 120\n\nsecurity:"
    )
    path = edit_heps(
        ("    name: leaf08\n", "    name: leaf08\n" + pins),
        ("\nsecurity:", "\n" + links),
        (
            "leaf: leaf08\n    port: 25GE1/0/1\n",
            "leaf: leaf08\n    port: 25GE1/0/1\n    address: 10.64.200.7\n",
        ),
    )
    network = derive(path).network
    device = network.by_name["leaf08"].device
    assert device.bgp and device.bgp.asn == 64999 and str(device.bgp.router_id) == "192.0.2.9"
    assert network.by_name["leaf08"].management == IPv4Interface("10.255.0.99/24")
    assert device.by_interface["Vlanif110"].addresses == (IPv4Interface("10.64.200.254/24"),)
    assert device.by_interface["100GE1/0/8"].addresses == (IPv4Interface("192.0.2.21/31"),)
    spine = network.by_name["spine02"].device
    assert spine.by_interface["100GE1/3/1"].addresses == (IPv4Interface("192.0.2.20/31"),)
    assert spine.bgp and 64999 in {peer.asn for peer in spine.bgp.peers}
    assert [link.cable_m for link in network.links or () if link.b.interface == "100GE1/0/8"] == [
        120
    ]
    assert {str(s.address) for s in network.servers or () if s.name == "readout04"} == {
        "10.64.200.7/24"
    }


@pytest.mark.parametrize(("length", "usable"), [(31, (0, 1)), (30, (1, 2))])
def test_links_are_31_bits_or_30_by_option(
    edit_heps: Edit, length: int, usable: tuple[int, int]
) -> None:
    path = edit_heps(
        ("link_prefix_length: 31", f"link_prefix_length: {length}"),
        ("links: 10.1.0.0/22", "links: 10.1.0.0/21"),
    )
    network = derive(path).network
    link = (network.links or ())[0]
    ends = [network.interface(end) for end in (link.a, link.b)]
    subnet = IPv4Network(f"10.1.0.0/{length}")
    assert [i.addresses[0].ip for i in ends if i] == [subnet[n] for n in usable]


@pytest.mark.parametrize(
    ("device", "field", "text"),
    [
        ("leaf03", "interfaces[100GE1/0/25].mtu", "mtu: 9000"),
        ("leaf03", "interfaces[100GE1/0/25].thresholds[4].xoff_kbytes", "xoff_kbytes: 600"),
        ("leaf03", "interfaces[100GE1/0/1].description", "name: k8sgn12"),
        ("leaf03", "pfc.detect_ms", "detect_ms: 100"),
        ("spine01", "bgp.maximum_paths", "maximum_paths: 32"),
        ("spine01", "sysname", "name: spine01"),
    ],
)
def test_every_value_knows_its_line_of_yaml(
    heps: DerivedNetwork, device: str, field: str, text: str
) -> None:
    position = heps.sources.find(device, field)
    assert position
    line = Path(position.file).read_text(encoding="utf-8").splitlines()[position.line - 1]
    assert text in line


def test_a_family_has_the_common_time_where_it_gives_only_one(edit_heps: Edit) -> None:
    path = edit_heps(("            recovery_ms: 100\n", ""))
    device = derive(path).network.by_name["leaf03"].device
    # 100 ms is the family's default, so the switch does not save it; PFC004 reports the 10 s.
    assert (device.pfc.detect_ms, device.pfc.recovery_ms) == (None, 10000)


@pytest.mark.parametrize(
    ("detect_ms", "recovery_ms", "interval", "counts"),
    [
        (100, 100, 10, (10, 10)),
        (150, 310, 10, (15, 31)),
        (200, 200, 100, (2, 2)),
        (7500, 500, 500, (15, 1)),
        (10000, 10000, 1000, (10, 10)),
        (1550, 100, 10, (155, 10)),  # no interval fits both: one is out of its range
        (150, 10000, 10, (15, 1000)),
    ],
)
def test_times_are_counted_in_the_smallest_interval_that_says_both(
    detect_ms: int, recovery_ms: int, interval: int, counts: tuple[int, int]
) -> None:
    family = load_catalogue().families[SyntaxFamily.V300_G2]
    timers = multiples(Deadlock(detect_ms=detect_ms, recovery_ms=recovery_ms), family)
    assert timers == Multiples(interval, *counts)
    inside = [
        limits is not None and count in limits
        for count, limits in zip(
            counts, (family.deadlock_detect_time, family.deadlock_recovery_time), strict=True
        )
    ]
    assert all(inside) is (detect_ms not in (1550, 150) or recovery_ms == 310)


def test_vlan_2_does_not_take_the_place_of_a_pool(edit_heps: Edit) -> None:
    """In a spine's prefix list, VLANs number the entries; pools have other numbers."""
    network = derive(edit_heps(("vlan: 110", "vlan: 2"))).network
    (listed,) = network.by_name["spine01"].device.prefix_lists
    assert [entry.index for entry in listed.entries] == [1, 2, 120, 130, 140, 4095]
