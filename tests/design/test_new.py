"""A new fabric passes `check`, comes up, and round trips; errors name what does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import read_document
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.load.documents import MODELINE, Catalogue, LoadedFabric, load_catalogue
from rocefort.design.new import Size, new_fabric, write_new
from rocefort.design.subject import subject_of_derived
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Hardware, port_speed_gbps
from rocefort.models.network.network import Network, SwitchRole
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import SessionStatus

CATALOGUE = load_catalogue()
MODELS = sorted(CATALOGUE.hardware)
LEAF, SPINE = "CE8850-64CQ-EI", "CE9860-4C-EI"


def free_ports(leaf: Hardware) -> int:
    """Count ports of the most common speed that are not reserved for spines."""
    hardware = leaf.in_role(spine=False)
    reserved = set(hardware.fabric_port_names())
    speeds = [port_speed_gbps(port) for port in hardware.port_names() if port not in reserved]
    return max((speeds.count(speed) for speed in speeds), default=0)


def derived(text: str, folder: Path) -> DerivedNetwork:
    path = folder / "fabric.yaml"
    path.write_text(text, encoding="utf-8")
    document = read_document(path)
    return derive_loaded(LoadedFabric(validate(Fabric, document), document), CATALOGUE)


def errors(network: Network) -> list[str]:
    return [
        f"{f.rule} {f.message}" for f in check(network).findings if f.severity is Severity.ERROR
    ]


def assert_sound(network: Network, size: Size) -> None:
    assert errors(network) == []
    sessions = analyse(network).sessions
    assert {session.status for session in sessions} == {SessionStatus.ESTABLISHED}
    assert len(sessions) == 2 * size.spines * size.leaves * size.links_per_pair
    assert len(network.role(SwitchRole.SPINE)) == size.spines
    assert len(network.role(SwitchRole.LEAF)) == size.leaves
    assert len(network.servers or ()) == size.leaves * size.servers_per_leaf


@settings(max_examples=tries(40))
@given(st.sampled_from(MODELS), st.sampled_from(MODELS), st.data())
def test_what_fits_is_sound(
    tmp_path_factory: pytest.TempPathFactory, leaf: str, spine: str, data: st.DataObject
) -> None:
    up, down = (
        len(CATALOGUE.hardware[model].in_role(spine=is_spine).fabric_port_names())
        for model, is_spine in ((leaf, False), (spine, True))
    )
    each = data.draw(st.integers(1, 2))
    up, down = up // each, down // each
    capacity = data.draw(st.integers(1, min(up, 64))), data.draw(st.integers(1, down))
    size = Size(
        spines=data.draw(st.integers(1, min(capacity[0], 8))),
        leaves=data.draw(st.integers(1, min(capacity[1], 6))),
        servers_per_leaf=data.draw(st.integers(0, min(free_ports(CATALOGUE.hardware[leaf]), 12))),
        capacity_spines=data.draw(st.sampled_from([None, capacity[0]])),
        capacity_leaves=data.draw(st.sampled_from([None, capacity[1]])),
        links_per_pair=each,
    )
    text = new_fabric("tried", size, leaf, spine)
    assert_sound(derived(text, tmp_path_factory.mktemp("new")).network, size)


@pytest.mark.parametrize("leaf", MODELS)
def test_every_port_can_be_taken(leaf: str, tmp_path: Path) -> None:
    hardware = CATALOGUE.hardware[leaf].in_role(spine=False)
    size = Size(min(len(hardware.fabric_port_names()), 8), 2, free_ports(hardware))
    network = derived(new_fabric("full", size, leaf, SPINE), tmp_path)
    assert_sound(network.network, size)
    subject = subject_of_derived(network)  # by way of its text
    assert_sound(subject.network, size)
    one_more = Size(size.spines, size.leaves, size.servers_per_leaf + 1)
    with pytest.raises(BadInput, match=f"^{leaf} as a leaf has {size.servers_per_leaf} ports for"):
        new_fabric("full", one_more, leaf, SPINE)


def test_servers_reach_each_other(tmp_path: Path) -> None:
    network = derived(new_fabric("small", Size(2, 3, 2), LEAF, SPINE), tmp_path).network
    reached = analyse(network).state.reachability
    assert reached.delivered == reached.pairs == 6 * 5


def test_a_new_fabric_grows_to_its_capacity_without_moving(tmp_path: Path) -> None:
    small = derived(new_fabric("grown", Size(1, 2, 1), LEAF, SPINE), tmp_path).network
    large = derived(new_fabric("grown", Size(8, 12, 1), LEAF, SPINE), tmp_path).network
    assert set(small.links or ()) <= set(large.links or ())
    assert set(small.servers or ()) <= set(large.servers or ())
    for node in small.nodes:
        after = large.by_name[node.name]
        assert (node.management, node.device.by_interface["LoopBack0"]) == (
            after.management,
            after.device.by_interface["LoopBack0"],
        )


def site(**changes: Any) -> Catalogue:
    """Return the catalogue with a switch of the site: a changed leaf."""
    own = CATALOGUE.hardware[LEAF].model_copy(update={"model": "OWN", "spine_ports": (), **changes})
    return Catalogue({**CATALOGUE.hardware, "OWN": own}, CATALOGUE.families)


def test_the_largest_capacity_has_pools_apart(tmp_path: Path) -> None:
    ports = tuple(f"100GE{slot}/0/1-64" for slot in range(1, 18))
    catalogue = site(ports=ports, fabric_ports=ports[:16], buffer_kbytes=None)
    text = new_fabric("huge", Size(64, 1, 1), "OWN", "OWN", catalogue)
    path = tmp_path / "fabric.yaml"
    path.write_text(text, encoding="utf-8")
    document = read_document(path)
    fabric = validate(Fabric, document)
    assert (fabric.capacity.spines, fabric.capacity.leaves) == (64, 1024)
    network = derive_loaded(LoadedFabric(fabric, document), catalogue).network
    assert len(network.links or ()) == 64
    # two-byte private AS numbers end at 65534
    assert (fabric.routing.leaf_asn_base, fabric.routing.spine_asn) == (4200000000, 4200000000)


def test_two_byte_as_numbers_while_they_last(tmp_path: Path) -> None:
    network = derived(new_fabric("asn", Size(1, 2, 0), LEAF, SPINE), tmp_path).network
    assert [n.device.bgp.asn for n in network.nodes if n.device.bgp] == [64512, 64513, 64514]


def test_xoff_fits_a_buffer_and_says_so(tmp_path: Path) -> None:
    size = Size(1, 1, 0)
    for model in MODELS:
        lossless = derived(new_fabric("xoff", size, model, SPINE), tmp_path).lossless
        buffer = CATALOGUE.hardware[model].buffer_kbytes
        ports = len(CATALOGUE.hardware[model].port_names())
        assert lossless.xon_kbytes == lossless.xoff_kbytes - 50
        assert buffer is None or ports * lossless.xoff_kbytes < buffer.value
    assert "xoff_kbytes: 500  # fits the buffer of CE6865-48S8CQ-EI with every port" in (
        new_fabric("xoff", size, "CE6865-48S8CQ-EI", SPINE)
    )
    assert "xoff_kbytes: 600  # assumed, as HEPS has it" in new_fabric("xoff", size, SPINE, SPINE)


@pytest.mark.parametrize("name", ["demo", "a-b_c.d", "12", "1e5", "0x10", "true", "Null", "no"])
def test_any_name_stays_text(name: str, tmp_path: Path) -> None:
    assert derived(new_fabric(name, Size(1, 1, 0), LEAF, SPINE), tmp_path).fabric.fabric == name


def test_only_what_the_hardware_needs_is_written() -> None:
    v200 = new_fabric("a", Size(1, 1, 0), LEAF, SPINE)
    g1 = new_fabric("a", Size(1, 1, 0), "CE8851-32CQ8DQ-P", "CE8851-32CQ8DQ-P")
    assert ("headroom_pool" in v200, "v200:" in v200, "servers:" in v200) == (False, True, False)
    assert ("headroom_pool" in g1, "by_family" in g1) == (True, False)


CASES = [
    (
        ("a b", Size(2, 2, 2), LEAF, SPINE),
        [
            "'a b' is not a name; use 1 to 63 letters, digits, '.', '_' or '-', beginning with a "
            "letter or digit"
        ],
    ),
    (
        ("hardware", Size(2, 2, 2), LEAF, SPINE),
        [
            "a fabric named 'hardware' would be mixed with other files of inventory/hardware; "
            "choose another name"
        ],
    ),
    (
        ("profiles", Size(2, 2, 2), LEAF, SPINE),
        [
            "a fabric named 'profiles' would be mixed with other files of inventory/profiles; "
            "choose another name"
        ],
    ),
    (
        ("x", Size(2, 2, 2), "CE8850-64CQ", "CE9860"),
        [
            "no hardware 'CE8850-64CQ' in inventory/hardware; did you mean 'CE8850-64CQ-EI'?",
            "no hardware 'CE9860' in inventory/hardware; did you mean 'CE9860-4C-EI'?",
        ],
    ),
    (
        ("x", Size(9, 129, 57), LEAF, SPINE),
        [
            "CE8850-64CQ-EI as a leaf has ports for 8 spines with 1 link to each, not 9; ask for at "
            "most 8 spines, or as leaf hardware CE12800E or CE9860-4C-EI",
            "CE9860-4C-EI as a spine has ports for 128 leaves with 1 link to each, not 129; ask for "
            "at most 128 leaves, or as spine hardware CE12800E",
            "CE8850-64CQ-EI as a leaf has 56 ports for servers, not 57; ask for at most 56 servers "
            "per leaf, or choose another leaf hardware",
        ],
    ),
    (
        ("x", Size(2, 2, 2, capacity_spines=1, capacity_leaves=200), LEAF, SPINE),
        [
            "a capacity of 1 spines is less than the 2 spines asked for; reserve 2 or more",
            "CE9860-4C-EI as a spine has ports for 128 leaves with 1 link to each, not 200; ask for "
            "at most 128 leaves, or as spine hardware one with 200 fabric ports (inventory/hardware "
            "has none)",
        ],
    ),
    (
        ("x", Size(2, 65, 0, links_per_pair=2), LEAF, SPINE),
        [
            "CE9860-4C-EI as a spine has ports for 64 leaves with 2 links to each, not 65; ask for "
            "at most 64 leaves, or as spine hardware CE12800E",
        ],
    ),
    (
        ("x", Size(2, 2, 0, links_per_pair=17), LEAF, SPINE),
        ["17 links from each leaf to each spine; ask for 1 to 16"],
    ),
    (
        ("x", Size(0, -1, -2), LEAF, SPINE),
        [
            "0 spines; a fabric has one or more",
            "-1 leaves; a fabric has one or more",
            "-2 servers per leaf; ask for none or more",
        ],
    ),
]


@pytest.mark.parametrize(("arguments", "sentences"), CASES)
def test_what_does_not_fit_is_said(arguments: tuple[Any, ...], sentences: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        new_fabric(*arguments)
    assert str(caught.value).splitlines() == sentences


def test_fabric_ports_of_two_speeds_are_refused() -> None:
    catalogue = site(ports=("100GE1/0/1-8", "400GE1/0/1-8"), fabric_ports=("400GE1/0/1-8",))
    with pytest.raises(BadInput) as caught:
        new_fabric("x", Size(1, 1, 1), "OWN", SPINE, catalogue)
    assert str(caught.value) == (
        "leaf-spine links would join ports that differ in speed: OWN 400GE1/0/8, "
        "CE9860-4C-EI 100GE1/4/32; choose hardware whose fabric ports have one speed"
    )


def test_it_is_written_whole_and_never_over_another(tmp_path: Path) -> None:
    text = new_fabric("lab", Size(1, 1, 1), LEAF, SPINE)
    path = write_new("lab", text, tmp_path)
    assert path == tmp_path / "lab" / "fabric.yaml"
    assert path.read_text(encoding="utf-8") == text and text.startswith(MODELINE + "\n")
    assert derive(path.parent).network.name == "lab"
    with pytest.raises(Refused) as caught:
        write_new("lab", "other", tmp_path)
    assert str(caught.value) == (
        f"{path}: is there already; choose another name, or remove it first"
    )
    assert path.read_text(encoding="utf-8") == text
    assert [p.name for p in path.parent.iterdir()] == ["fabric.yaml"]


@pytest.mark.parametrize("name", ["../up", "a/b", "", "hardware"])
def test_a_name_never_leads_elsewhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        write_new(name, "text", tmp_path / "in")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RocefortError) as caught:
        write_new("lab", "text", tmp_path / "file")
    assert (
        str(caught.value) == f"{tmp_path}/file/lab/fabric.yaml: cannot be written: Not a directory"
    )
    assert caught.value.exit_code == 3


def test_the_same_numbers_give_the_same_bytes() -> None:
    one, two = (new_fabric("same", Size(2, 4, 3), LEAF, SPINE) for _ in range(2))
    assert one == two
    assert json.dumps(one).isascii() and max(map(len, one.splitlines())) <= 100


@pytest.mark.parametrize(("capacity", "first"), [(9, "leaf01"), (64, "leaf01"), (128, "leaf001")])
def test_names_have_the_width_of_the_capacity_and_the_page_says_so(
    capacity: int, first: str
) -> None:
    size = Size(2, 3, 0, capacity_leaves=capacity)
    text = new_fabric("wide", size, "CE8850-64CQ-EI", "CE9860-4C-EI")
    assert f"\n    name: {first}\n" in text
    assert "# numbers in names have the width of the capacity" in text
