"""Several links for each leaf and spine: growth without other changes, pins, and errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import Document, read_document
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.load.documents import Catalogue, LoadedFabric, load_catalogue
from rocefort.design.results import ShowTable, show_csv
from rocefort.dialects.network_text import read_back, render_all
from rocefort.models.change.compare import compare
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import peer_at, place_of
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network, SwitchRole
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import SessionStatus
from rocefort.validators.rules.verification.answers import verify

Edit = Callable[..., Path]
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")
CAPACITY = "  spines: 8\n  leaves: 64\n"
DOUBLE = "  spines: 4\n  leaves: 64\n  links_per_pair: 2\nlinks_per_pair: 2\n"


def grown(
    links: int, most: int, spines: list[int], leaves: list[int], own: dict[int, int] | None = None
) -> DerivedNetwork:
    """Derive HEPS with other switches and numbers of links; own: those of single leaves."""
    data: dict[str, Any] = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    spine, leaf = data["spines"][0], data["leaves"][4]
    data["capacity"] = {"spines": 2, "leaves": 32, "links_per_pair": most}
    data["links_per_pair"] = links
    data["spines"] = [{**spine, "id": i, "name": f"spine{i:02}"} for i in spines]
    data["leaves"] = [
        {**leaf, "id": i, "name": f"leaf{i:02}", "links_per_pair": (own or {}).get(i)}
        for i in leaves
    ]
    data["servers"] = []
    data["rollout"] = {"canary": f"leaf{leaves[0]:02}"}
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    return derive_loaded(LoadedFabric(validate(Fabric, document), document), load_catalogue())


def assert_only_added(before: Network, after: Network) -> None:
    for node in before.nodes:
        edits = compare(node.device, after.by_name[node.name].device)
        assert [edit for edit in edits if edit.before is not None] == []
        lines = render_all(after)[node.name].splitlines()
        assert not Counter(render_all(before)[node.name].splitlines()) - Counter(lines)
    assert set(before.links or ()) <= set(after.links or ())


spine_ids = st.lists(st.integers(1, 2), min_size=1, unique=True)
leaf_ids = st.lists(st.integers(1, 32), min_size=1, max_size=4, unique=True)


@settings(max_examples=tries(25))
@given(spine_ids, leaf_ids, st.integers(1, 3), st.data())
def test_a_further_link_moves_nothing(
    spines: list[int], leaves: list[int], links: int, data: st.DataObject
) -> None:
    """One more leaf, a further link of one leaf, and a larger capacity move nothing, either."""
    more = data.draw(st.integers(links, 4))
    new_leaves = data.draw(st.lists(st.integers(1, 32), max_size=2, unique=True))
    own = {leaves[0]: data.draw(st.integers(more, 4))}
    before = grown(links, 3, spines, leaves).network
    after = grown(more, 4, spines, leaves + [i for i in new_leaves if i not in leaves], own).network
    assert_only_added(before, after)
    for leaf in after.role(SwitchRole.LEAF):
        number = own.get(leaf.id or 0, more)
        pairs = Counter(link.a.device for link in after.links or () if link.b.device == leaf.name)
        assert set(pairs.values()) == {number} == {leaf.links_per_pair}


def test_with_one_link_ports_and_addresses_are_those_of_ever(heps: DerivedNetwork) -> None:
    """HEPS with a capacity of two links, in a pool of twice the size, is unchanged."""
    data: dict[str, Any] = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    data["capacity"] = {"spines": 4, "leaves": 64, "links_per_pair": 2}
    one = dict(data, capacity={"spines": 4, "leaves": 64})
    networks = []
    for content in (one, data):
        document = Document(HEPS.file, content, HEPS.values, HEPS.keys)
        networks.append(
            derive_loaded(
                LoadedFabric(validate(Fabric, document), document), load_catalogue()
            ).network
        )
    assert networks[0].links == networks[1].links
    assert networks[0].nodes == networks[1].nodes
    assert render_all(networks[1]).keys() == render_all(heps.network).keys()


@given(st.integers(1, 64), st.integers(1, 16), st.integers(64, 2048))
def test_a_place_is_kept_for_one_link(peer: int, number: int, peers: int) -> None:
    assert peer_at(place_of(peer, number, peers), peers) == (peer, number)


def test_two_links_are_two_sessions_and_four_paths(edit_heps: Edit) -> None:
    derived = derive(edit_heps((CAPACITY, DOUBLE)))
    network = read_back(derived.network, render_all(derived.network))
    report = check(network, derived.sources)
    assert [f.message for f in report.findings if f.severity is Severity.ERROR] == []
    solution = analyse(network)
    assert len(solution.sessions) == 2 * 2 * 8 * 2
    assert {session.status for session in solution.sessions} == {SessionStatus.ESTABLISHED}
    far = {
        route.width
        for route in solution.state.routes
        if route.device == "leaf01" and str(route.prefix) == "10.0.1.8/32"
    }
    assert far == {4}
    spine = {
        route.width
        for route in solution.state.routes
        if route.device == "spine01" and str(route.prefix) == "10.0.1.8/32"
    }
    assert spine == {2}
    assert [f.message for f in verify(network, solution.state, derived.sources).findings] == []


def test_a_lost_second_link_is_one_finding(edit_heps: Edit) -> None:
    derived = derive(edit_heps((CAPACITY, DOUBLE)))
    network = derived.network
    nodes = tuple(
        node.model_copy(
            update={
                "device": node.device.model_copy(
                    update={
                        "interfaces": tuple(
                            i.model_copy(update={"enabled": False})
                            if (node.name, i.name) == ("leaf01", "100GE1/0/61")
                            else i
                            for i in node.device.interfaces
                        )
                    }
                )
            }
        )
        for node in network.nodes
    )
    broken = network.model_copy(update={"nodes": nodes})
    solution = analyse(broken)
    messages = [f.message for f in verify(broken, solution.state, derived.sources).findings]
    assert messages == [  # and no loss of paths beside it, which has the same cause
        "BGP session of leaf01 with spine01 (10.1.2.0) is not compatible: "
        "leaf01 100GE1/0/61 is shut down"
    ]


def test_ports_and_subnets_of_second_links_follow_all_first_ones(edit_heps: Edit) -> None:
    network = derive(edit_heps((CAPACITY, DOUBLE))).network
    pair = [x for x in network.links or () if (x.a.device, x.b.device) == ("spine02", "leaf03")]
    assert [(x.a.interface, x.b.interface) for x in pair] == [
        ("100GE1/1/3", "100GE1/0/26"),
        ("100GE1/3/3", "100GE1/0/30"),
    ]
    addresses = [str(i.addresses[0]) for x in pair if (i := network.interface(x.a))]
    assert addresses == ["10.1.0.18/31", "10.1.2.18/31"]
    rows = show_csv(network, ShowTable.PORTS).splitlines()
    assert 'spine01,100GE1/1/9,100,reserved,"leaf id 9, link 1"' in rows
    assert 'spine01,100GE1/3/9,100,reserved,"leaf id 9, link 2"' in rows
    assert 'leaf03,100GE1/0/31,100,reserved,"spine id 3, link 2"' in rows
    assert "leaf03,100GE1/0/30,100,used,link to spine02 100GE1/3/3" in rows


def test_one_leaf_may_be_ahead_of_the_others(edit_heps: Edit) -> None:
    """The further links of other leaves stay reserved in the capacity."""
    path = edit_heps(
        (CAPACITY, "  spines: 4\n  leaves: 64\n  links_per_pair: 2\n"),
        ("    name: leaf08\n", "    name: leaf08\n    links_per_pair: 2\n"),
    )
    network = derive(path).network
    assert Counter(x.b.device for x in network.links or ())["leaf08"] == 4
    assert Counter(x.b.device for x in network.links or ())["leaf07"] == 2
    messages = [f.message for f in check(network).findings if f.rule.startswith("TOP")]
    assert messages == []
    rows = show_csv(network, ShowTable.PORTS).splitlines()
    assert 'spine01,100GE1/3/7,100,reserved,"leaf id 7, link 2"' in rows
    assert "spine01,100GE1/3/8,100,used,link to leaf08 100GE1/0/5" in rows


def test_a_pin_is_of_one_link(edit_heps: Edit) -> None:
    pin = (
        "links:\n  - spine: spine01\n    leaf: leaf08\n    number: 2\n    spine_port: 100GE1/4/32\n"
        "    leaf_port: 100GE1/0/8\n    subnet: 192.0.2.0/31\n    cable_m: 70\n\nsecurity:"
    )
    network = derive(edit_heps((CAPACITY, DOUBLE), ("\nsecurity:", "\n" + pin))).network
    pair = [x for x in network.links or () if (x.a.device, x.b.device) == ("spine01", "leaf08")]
    assert [(x.a.interface, x.b.interface, x.cable_m) for x in pair] == [
        ("100GE1/1/8", "100GE1/0/1", 50),
        ("100GE1/4/32", "100GE1/0/8", 70),
    ]


BAD: list[tuple[list[tuple[str, str]], str]] = [
    (
        [(CAPACITY, CAPACITY + "links_per_pair: 2\n")],
        "links_per_pair: 2 links to each spine; the reserved capacity is 1; raise "
        "capacity.links_per_pair to 2: that moves nothing",
    ),
    (
        [("    name: leaf08\n", "    name: leaf08\n    links_per_pair: 3\n")],
        "leaves[7].links_per_pair: 3 links to each spine; the reserved capacity is 1; raise "
        "capacity.links_per_pair to 3: that moves nothing",
    ),
    (
        [
            (CAPACITY, DOUBLE),
            (
                "\nsecurity:",
                "\nlinks:\n  - {spine: spine01, leaf: leaf02, number: 3}\n\nsecurity:",
            ),
        ],
        "links[0].number: no link 3 of spine01 - leaf02: leaf02 has 2 links to each spine; raise "
        "its links_per_pair to 3, or take the link off the list",
    ),
    (
        [(CAPACITY, DOUBLE), ("links: 10.1.0.0/22", "links: 10.1.0.0/23")],
        "pools.links: 10.1.0.0/23 has 512 addresses, the reserved capacity takes 1024; use a /22: "
        "4 spines x 64 leaves x 2 links of 2 addresses",
    ),
    (
        [(CAPACITY, "  spines: 2\n  leaves: 73\n  links_per_pair: 2\n")],
        "spines[0].hardware: CE9860-4C-EI has 128 fabric ports, enough for 64 leaves with 2 links "
        "to each; the reserved capacity is 73 leaves; use one with 146 fabric ports "
        "(inventory/hardware has none); or lower capacity.leaves to 64",
    ),
]


@pytest.mark.parametrize(("edits", "sentence"), BAD)
def test_what_does_not_fit_is_said_with_the_numbers(
    edit_heps: Edit, edits: list[tuple[str, str]], sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        derive(edit_heps(*edits))
    (error,) = str(caught.value).splitlines()
    assert error.partition(": ")[2] == sentence


def test_hardware_that_would_do_is_named(edit_heps: Edit) -> None:
    """The error has one sentence for all switches of a kind, with larger hardware of that speed."""
    shipped = load_catalogue()
    ports = ("100GE1/0/1-300",)
    spine = shipped.hardware["CE9860-4C-EI"]
    big = spine.model_copy(update={"model": "BIG", "ports": ports, "fabric_ports": ports})
    fast = big.model_copy(
        update={"model": "FAST", "ports": (p := ("400GE1/0/1-300",)), "fabric_ports": p}
    )
    catalogue = Catalogue({**shipped.hardware, "BIG": big, "FAST": fast}, shipped.families)
    path = edit_heps((CAPACITY, "  spines: 2\n  leaves: 150\n"))
    document = read_document(path)
    with pytest.raises(BadInput) as caught:
        derive_loaded(LoadedFabric(validate(Fabric, document), document), catalogue)
    (error,) = str(caught.value).splitlines()
    assert error.partition(": ")[2] == (
        "spines[0].hardware: CE9860-4C-EI has 128 fabric ports, enough for 128 leaves with 1 link "
        "to each; the reserved capacity is 150 leaves; use BIG; or lower capacity.leaves to 128"
    )
