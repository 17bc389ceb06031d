"""Fabric ports belong to a switch's role: those of its model as leaf or spine, or its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import document_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.design.expand import GrowthRequest, grow
from rocefort.design.importing.hardware import SwitchInputs
from rocefort.design.importing.import_texts import import_fabric
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.design.new import Size, new_fabric
from rocefort.dialects.network_text import render_all
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.finding import Severity
from rocefort.models.hardware.hardware import Hardware, expand_all
from rocefort.models.network.network import Network, SwitchRole
from rocefort.validators.checks import check
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import SessionStatus

Edit = Callable[..., Path]
EANTC = INVENTORY / "eantc-hpc" / "fabric.yaml"
HARDWARE = load_catalogue().hardware
SPINE, LEAF = "CE8850-64CQ-EI", "CE6865-48S8CQ-EI"


def eantc(links: int, folder: Path, **edits: str) -> Path:
    """Write EANTC's test bed with a number of links a pair, and pieces of its YAML replaced."""
    text = EANTC.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^links_per_pair: 1", f"links_per_pair: {links}", text)
    for old, new in edits.items():
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    path = folder / "fabric.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def ports_between(network: Network, spine: str, leaf: str) -> list[tuple[str, str]]:
    return [
        (link.a.interface, link.b.interface)
        for link in network.links or ()
        if (link.a.device, link.b.device) == (spine, leaf)
    ]


# --- EANTC's HPC test bed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "first", "last"),
    [
        (1, [("100GE1/0/57", "100GE1/0/5")], [("100GE1/0/7", "100GE1/0/6")]),
        (
            2,
            [("100GE1/0/57", "100GE1/0/5"), ("100GE1/0/1", "100GE1/0/7")],
            [("100GE1/0/7", "100GE1/0/6"), ("100GE1/0/15", "100GE1/0/8")],
        ),
    ],
)
def test_eantc_s_bed_derives_by_roles(
    links: int, first: list[tuple[str, str]], last: list[tuple[str, str]], tmp_path: Path
) -> None:
    """The CE8850 counts from the ports that a leaf has, too; the CE12800E counts ports from 0."""
    network = derive(eantc(links, tmp_path)).network
    assert len(network.links or ()) == 16 * links
    assert ports_between(network, "spine01", "leaf01") == first
    assert ports_between(network, "spine02", "leaf08") == last
    uplinks = Counter(link.b.device for link in network.links or ())
    servers = Counter(server.port.device for server in network.servers or ())
    assert set(uplinks.values()) == {2 * links}
    assert set(servers.values()) == {4}
    assert {server.speed_gbps for server in network.servers or ()} == {100}
    models = {n.name: n.hardware.model for n in network.role(SwitchRole.SPINE) if n.hardware}
    assert models == {"spine01": SPINE, "spine02": "CE12800E"}


@pytest.mark.parametrize("links", [1, 2])
def test_eantc_s_bed_is_sound(links: int, tmp_path: Path) -> None:
    network = derive(eantc(links, tmp_path)).network
    findings = check(network).findings
    assert [f.message for f in findings if f.severity is Severity.ERROR] == []
    sessions = analyse(network).sessions
    assert len(sessions) == 32 * links
    assert {session.status for session in sessions} == {SessionStatus.ESTABLISHED}


def test_eantc_s_storage_bed_derives_and_is_sound() -> None:
    """11 compute nodes and 4 storage servers at 25G, each on one leaf."""
    network = derive(INVENTORY / "eantc-storage" / "fabric.yaml").network
    servers = network.servers or ()
    assert Counter(server.segment for server in servers) == {"compute": 11, "storage": 4}
    assert {server.speed_gbps for server in servers} == {25}
    assert [f.message for f in check(network).findings if f.severity is Severity.ERROR] == []
    sessions = analyse(network).sessions
    assert {session.status for session in sessions} == {SessionStatus.ESTABLISHED}


def test_a_second_link_a_pair_moves_nothing(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    before, after = derive(EANTC).network, derive(eantc(2, tmp_path / "two")).network
    assert set(before.links or ()) <= set(after.links or ())
    texts, more = render_all(before), render_all(after)
    for name, text in texts.items():
        assert not Counter(text.splitlines()) - Counter(more[name].splitlines())


def test_own_fabric_ports_come_back_from_texts(tmp_path: Path) -> None:
    network = derive(EANTC).network
    (tmp_path / "configs").mkdir()
    for name, text in render_all(network).items():
        (tmp_path / "configs" / f"{name}.cfg").write_text(text, encoding="utf-8")
    facts = SwitchInputs(
        {node.name: node.hardware.model for node in network.nodes if node.hardware},
        {node.name: node.software for node in network.nodes if node.software},
    )
    done = import_fabric(tmp_path / "configs", tmp_path / "inventory" / "again", facts)
    assert (done.left, done.added, done.differences) == ((), (), ())
    assert "fabric_ports: [100GE1/0/5, 100GE1/0/6]" in Path(done.file).read_text()
    again = derive(Path(done.file)).network
    assert render_all(again) == render_all(network)


# --- roles of a model --------------------------------------------------------------------------


def test_a_spine_has_ports_that_a_leaf_keeps_for_servers(tmp_path: Path) -> None:
    model = HARDWARE[SPINE]
    leaf, spine = model.in_role(spine=False), model.in_role(spine=True)
    assert leaf.fabric_port_names() == expand_all(("100GE1/0/57-64",))
    assert len(spine.fabric_port_names()) == len(set(spine.fabric_port_names())) == 64
    path = tmp_path / "fabric.yaml"
    path.write_text(new_fabric("both", Size(2, 3, 56), SPINE, SPINE))
    fabric = derive(path)
    assert (fabric.fabric.capacity.spines, fabric.fabric.capacity.leaves) == (8, 64)
    network = fabric.network
    assert ports_between(network, "spine01", "leaf03") == [("100GE1/0/59", "100GE1/0/57")]
    assert len(network.servers or ()) == 3 * 56


split = st.sampled_from(["4*25GE", "2*50GE"])


@settings(max_examples=tries(60))
@given(st.sampled_from(sorted(n for n, m in HARDWARE.items() if m.spine_ports)), st.data())
def test_further_ports_of_a_spine_move_no_link(name: str, data: st.DataObject) -> None:
    """A model as it was without spine_ports, and with them: the first places are the same."""
    model = HARDWARE[name]
    before = model.model_copy(update={"spine_ports": ()})
    ports = st.sampled_from(model.fabric_port_names())
    splits = data.draw(st.dictionaries(ports, split, max_size=4))
    first = before.fabric_places(splits)
    assert model.in_role(spine=True).fabric_places(splits)[: len(first)] == first
    assert model.in_role(spine=False).fabric_places(splits) == first


def test_ports_of_the_switch_replace_those_of_its_model() -> None:
    own = HARDWARE[SPINE].in_role(spine=True, own=("100GE1/0/1-4",))
    assert own.fabric_port_names() == expand_all(("100GE1/0/1-4",))
    assert isinstance(own, Hardware)
    assert own.in_role(spine=True) == own


# --- errors ------------------------------------------------------------------------------------

WRONG = [
    (
        "fabric_ports: [100GE1/0/5-8]", "fabric_ports: [100GE1/0/8-9]",
        "leaves[0].fabric_ports[0]: CE6865-48S8CQ-EI has no port 100GE1/0/9; its ports: "
        "25GE1/0/1-48, 100GE1/0/1-8",
    ),
    (
        "fabric_ports: [100GE1/0/5-8]", "fabric_ports: [100GE1/0/5-8, 100GE1/0/7]",
        "leaves[0].fabric_ports[1]: 100GE1/0/7 is in the fabric ports of leaf01 twice; name each "
        "port once",
    ),
    (
        "fabric_ports: [100GE1/0/5-8]", "fabric_ports: [100GE1/0/5-7]",
        "leaves[0].fabric_ports: leaf01 has 3 fabric ports, enough for 1 spine with 2 links to "
        "each; the reserved capacity is 2 spines; add ports to its fabric_ports, 4 in all; or "
        "lower capacity.spines to 1",
    ),
    (
        "    port: 100GE1/0/4", "    port: 100GE1/0/5",
        "servers[3].port: leaf01 100GE1/0/5 is reserved for spines; fabric ports of leaf01: "
        "100GE1/0/5-8; fabric_ports sets others",
    ),
    (
        "    fabric_ports: [100GE1/0/5-8]\n", "",
        "servers[0].port: leaf01 100GE1/0/1 is reserved for spines; fabric ports of "
        "CE6865-48S8CQ-EI: 100GE1/0/1-8; fabric_ports sets others",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG)
def test_ports_that_a_role_cannot_have(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        derive(eantc(1, tmp_path, **{old: new}))
    assert sentence in re.sub(r"(?m)^.*fabric\.yaml:\d+:\d+: ", "", str(error.value)).splitlines()


# --- growth ------------------------------------------------------------------------------------


def test_a_new_leaf_has_the_fabric_ports_of_the_one_that_it_is_like(tmp_path: Path) -> None:
    """Its servers are on the ports that are not among them."""
    text = EANTC.read_text(encoding="utf-8")
    for first, following in (
        ("  - id: 8\n    name: leaf08", "\n# Published: 32"),
        ("  - name: node29", "\nsecurity:"),
    ):
        text = text[: text.index(first)] + text[text.index(following) :]
    text = text.replace("canary: leaf08", "canary: leaf07")
    document = document_of(text, "fabric.yaml")
    loaded = LoadedFabric(validate(Fabric, document), document)
    done = grow(text, loaded, load_catalogue(), GrowthRequest(0, 1, 4, like=("leaf07",)))
    path = tmp_path / "fabric.yaml"
    path.write_text(done.text, encoding="utf-8")
    fabric = derive(path)
    assert fabric.fabric.leaves[-1].fabric_ports == ("100GE1/0/5-8",)
    new = [s.port.interface for s in (fabric.network.servers or ())[28:]]
    assert new == [f"100GE1/0/{number}" for number in range(1, 5)]
