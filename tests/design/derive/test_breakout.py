"""Split ports of a fabric: names, speeds, addresses, links and errors; growth changes none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import Document, read_document
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.dialects.network_text import read_back, render_all
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.hardware.media import parts_of
from rocefort.models.network.network import Network
from rocefort.validators.checks import check

Edit = Callable[..., Path]
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")
LEAF03 = "    name: leaf03\n    hardware: CE8851-32CQ8DQ-P\n"
SPLIT = (LEAF03, f"{LEAF03}    breakout: {{100GE1/0/5-6: 4*25GE, 400GE1/0/1: 2*200GE}}\n")
SERVERS = "servers:\n"


def server(port: str, leaf: str = "leaf03", **more: object) -> tuple[str, str]:
    """Return an edit that adds a server."""
    lines = {"name": "part", "leaf": leaf, "port": port, "segment": "compute", **more}
    row = "\n    ".join(f"{key}: {value}" for key, value in lines.items())
    return SERVERS, f"{SERVERS}  - {row}\n"


def sentences_of(path: Path) -> list[str]:
    """Return the error's sentences without the directory and the position in the file."""
    with pytest.raises(BadInput) as caught:
        derive(path)
    return [
        re.sub(r"^\S*fabric\.yaml:\d+:\d+: ", "", line) for line in str(caught.value).split("\n")
    ]


def test_parts_are_ports_of_their_own_speed(edit_heps: Edit) -> None:
    path = edit_heps(SPLIT, server("100GE1/0/5:2", speed_gbps=25))
    network = derive(path).network
    node = network.by_name["leaf03"]
    assert [(s.port, s.type) for s in node.device.splits] == [
        ("100GE1/0/5", "4*25GE"),
        ("100GE1/0/6", "4*25GE"),
        ("400GE1/0/1", "2*200GE"),
    ]
    one = next(s for s in network.servers or () if s.name == "part")
    assert (one.speed_gbps, str(one.port)) == (25, "leaf03 100GE1/0/5:2")
    # 40 whole ports, so second parts have an index of 40 or more: 10 + 40 + 4
    assert str(one.address) == "10.65.2.54/24"
    assert [node.speed_gbps(p) for p in ("400GE1/0/1:2", "400GE1/0/2", "100GE1/0/7:1")] == [
        200,
        400,
        None,
    ]
    assert {"100GE1/0/5:4", "100GE1/0/7"} <= set(node.port_names)
    assert "100GE1/0/5" not in node.port_names


def test_the_text_says_it_first_and_every_rule_takes_it(edit_heps: Edit) -> None:
    derived = derive(edit_heps(SPLIT, server("100GE1/0/5:2")))
    texts = render_all(derived.network)
    assert texts["leaf03"].startswith(
        "#\nsysname leaf03\n#\n"
        "port split dimension interface 100GE1/0/5 split-type 4*25GE\n"
        "port split dimension interface 100GE1/0/6 split-type 4*25GE\n"
        "port split dimension interface 400GE1/0/1 split-type 2*200GE\n#\n"
    )
    assert "interface 100GE1/0/5:2\n description to part\n" in texts["leaf03"]
    report = check(read_back(derived.network, texts), derived.sources)
    findings = [f for f in report.findings if f.rule in ("TXT003", "TOP003")]
    assert [f"{f.where.device}: {f.message}" for f in findings] == [
        "leaf03: 3 ports split; `port split dimension interface` needs an idle port and has no way "
        "back by rollback: the port is removed with all its lines; a rollback does not "
        "restore them; "
        "refused where it is in an Eth-Trunk or has a subinterface"
    ]
    line = Path(derived.document.file).read_text().splitlines()[(findings[0].where.line or 0) - 1]
    assert line.lstrip().startswith("breakout:")


CASES = [
    (
        [server("100GE1/0/5:2")],
        "servers[0].port: 100GE1/0/5:2 is a part of 100GE1/0/5, which leaf03 does not split; "
        "add 100GE1/0/5: 4*25GE or 100GE1/0/5: 2*50GE to the breakout of leaf03",
    ),
    (
        [SPLIT, server("100GE1/0/5")],
        "servers[0].port: 100GE1/0/5 of leaf03 is split 4*25GE and cannot be used whole; use "
        "100GE1/0/5:1, 100GE1/0/5:2, 100GE1/0/5:3 and 100GE1/0/5:4",
    ),
    (
        [SPLIT, server("400GE1/0/1:3")],
        "servers[0].port: 400GE1/0/1 of leaf03 is split 2*200GE and has no part 400GE1/0/1:3; use "
        "400GE1/0/1:1 and 400GE1/0/1:2",
    ),
    (
        [SPLIT, server("25GE1/0/5:2")],
        "servers[0].port: CE8851-32CQ8DQ-P has no port 25GE1/0/5:2; the parts of a port keep its "
        "name: 100GE1/0/5:2",
    ),
    (
        [SPLIT, server("100GE1/0/5:2", speed_gbps=100)],
        "servers[0].port: part has a NIC of 100 Gb/s, leaf03 100GE1/0/5:2 is a port of 25 Gb/s; "
        "use a port of the NIC's speed, or fix speed_gbps",
    ),
    (
        [server("25GE1/0/2:1", leaf="leaf05", segment="beamline")],
        "servers[0].port: 25GE1/0/2:1 is a part of 25GE1/0/2, which leaf05 does not split; use "
        "25GE1/0/2",
    ),
    (
        [(LEAF03, f"{LEAF03}    breakout: {{400GE1/0/1: 4*25GE}}\n")],
        "leaves[2].breakout.400GE1/0/1: 400GE1/0/1 of CE8851-32CQ8DQ-P cannot be split 4*25GE; it "
        "can be split 4*100GE or 2*200GE",
    ),
    (
        [(LEAF03, f"{LEAF03}    breakout: {{100GE1/0/33: 4*25GE}}\n")],
        "leaves[2].breakout.100GE1/0/33: CE8851-32CQ8DQ-P has no port 100GE1/0/33; its ports: "
        "100GE1/0/1-32, 400GE1/0/1-8",
    ),
    (
        [(LEAF03, f"{LEAF03}    breakout: {{100GE1/0/5-6: 4*25GE, 100GE1/0/6: 2*50GE}}\n")],
        "leaves[2].breakout.100GE1/0/6: 100GE1/0/6 of leaf03 is split twice, here and by "
        "100GE1/0/5-6; name each port once",
    ),
    (
        [(LEAF03, f"{LEAF03}    breakout: {{100GE1/0/5: 8*10GE}}\n")],
        "leaves[2].breakout.100GE1/0/5: '8*10GE' is not a way to split a port; write 4*25GE: two to "
        "4 parts and the speed of each",
    ),
    (
        [
            (
                "    name: leaf05\n    hardware: CE6866-48S8CQ-P\n",
                "    name: leaf05\n    hardware: CE6866-48S8CQ-P\n"
                "    breakout: {25GE1/0/9: 2*10GE}\n",
            )
        ],
        "leaves[4].breakout.25GE1/0/9: no source states that 25GE1/0/9 of CE6866-48S8CQ-P can be "
        "split; leave it whole, or add it to rocefort.breakout of the hardware's file, with the "
        "source",
    ),
    (
        [
            SPLIT,
            (
                "capacity:\n",
                "links:\n  - {spine: spine01, leaf: leaf03, leaf_port: 100GE1/0/5}\ncapacity:\n",
            ),
        ],
        "links[0].leaf_port: 100GE1/0/5 of leaf03 is split 4*25GE and cannot be used whole; use "
        "100GE1/0/5:1, 100GE1/0/5:2, 100GE1/0/5:3 and 100GE1/0/5:4",
    ),
    (
        [(LEAF03, f"{LEAF03}    breakout: {{100GE1/0/25: 2*50GE}}\n")],
        "leaves[2]: the link spine01 - leaf03 joins 100GE1/1/3 and 100GE1/0/25:1, which differ in "
        "speed; join ports of one speed",
    ),
]


@pytest.mark.parametrize(("edits", "sentence"), CASES)
def test_what_does_not_go_is_said_once(
    edit_heps: Edit, edits: list[tuple[str, str]], sentence: str
) -> None:
    assert sentences_of(edit_heps(*edits)) == [sentence]


def fabric(spine_split: bool, leaves: list[int], extra: dict[str, str]) -> Network:
    """Derive HEPS on 400GE spine ports, all split into 4 x 100GE, with other leaves and splits."""
    data = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    spine, leaf = data["spines"][0], data["leaves"][2]
    breakout = {"400GE1/0/1-8": "4*100GE"} if spine_split else {}
    data["capacity"] = {"spines": 2, "leaves": 32 if spine_split else 8}
    data["spines"] = [
        {**spine, "hardware": "SPINE400", "software": "V300R023C00", "breakout": breakout}
    ]
    data["leaves"] = [{**leaf, "id": i, "name": f"leaf{i:02}", "breakout": extra} for i in leaves]
    data["servers"] = [
        {"name": f"s{i}", "leaf": f"leaf{i:02}", "port": "100GE1/0/2", "segment": "compute"}
        for i in leaves
    ] + [
        {"name": f"p{i}-{n}", "leaf": f"leaf{i:02}", "port": part, "segment": "compute"}
        for i in leaves
        for n, part in enumerate(
            p for port, split_type in extra.items() for p in parts_of(port, split_type)
        )
    ]
    data["rollout"] = {"canary": f"leaf{leaves[0]:02}"}
    shipped = load_catalogue()
    own = shipped.hardware["CE8851-32CQ8DQ-P"].model_copy(
        update={"model": "SPINE400", "fabric_ports": ("400GE1/0/1-8",)}
    )
    catalogue = type(shipped)({**shipped.hardware, "SPINE400": own}, shipped.families)
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    return derive_loaded(LoadedFabric(validate(Fabric, document), document), catalogue).network


def test_split_spine_ports_take_four_times_the_leaves() -> None:
    network = fabric(True, [1, 8, 9, 32], {})
    assert {link.b.device: link.a.interface for link in network.links or ()} == {
        "leaf01": "400GE1/0/1:1",
        "leaf08": "400GE1/0/8:1",
        "leaf09": "400GE1/0/1:2",
        "leaf32": "400GE1/0/8:4",
    }
    assert network.by_name["spine01"].fabric_places[:9:8] == ("400GE1/0/1:1", "400GE1/0/1:2")


SPARE = [f"100GE1/0/{n}" for n in range(3, 8)]
SPLITS = st.dictionaries(st.sampled_from(SPARE), st.sampled_from(["4*25GE", "2*50GE"]))
LEAVES = st.lists(st.integers(1, 32), min_size=1, max_size=4, unique=True)


@settings(max_examples=tries(25))
@given(LEAVES, LEAVES, SPLITS, SPLITS)
def test_growth_and_further_splits_move_nothing(
    leaves: list[int], more: list[int], splits: dict[str, str], further: dict[str, str]
) -> None:
    before = fabric(True, leaves, splits)
    grown = [*leaves, *(i for i in more if i not in leaves)]
    after = fabric(True, grown, {**further, **splits})
    assert set(before.links or ()) <= set(after.links or ())
    addresses = {(s.port, s.address) for s in after.servers or ()}
    assert {(s.port, s.address) for s in before.servers or ()} <= addresses
    texts, later = render_all(before), render_all(after)
    for name, text in texts.items():
        assert set(text.splitlines()) <= set(later[name].splitlines())
    assert read_back(after, later).nodes == after.nodes


def test_heps_splits_nothing(heps: DerivedNetwork) -> None:
    assert not any(node.device.splits for node in heps.network.nodes)
