"""Law of an import: texts that Rocefort rendered import as a fabric that changes no line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from efforts import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from planned import make_changes
from spelled_texts import spelled

from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.importing.hardware import SwitchInputs
from rocefort.design.importing.import_texts import import_fabric
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.design.new import Size, new_fabric
from rocefort.design.results import ImportedFabric
from rocefort.dialects.network_text import render_all
from rocefort.models.network.network import Network

BORDER = Path(__file__).parents[2] / "samples" / "border" / "fabric.yaml"
LEAVES = ["CE8850-64CQ-EI", "CE6865-48S8CQ-EI", "CE8851-32CQ8DQ-P", "CE6866-48S8CQ-P"]
LEAVES += ["CE8855-32CQ4BQ"]
SPINES = ["CE9860-4C-EI", "CE12800E", "CE8851-32CQ8DQ-P"]
Data = dict[str, Any]


@dataclass(frozen=True)
class RoundTrip:
    """Network, the import of its texts, and the fabric that was imported."""

    done: ImportedFabric
    before: Network
    after: DerivedNetwork

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Commands that the imported fabric would send, by switch."""
        changes = make_changes(self.after.network, render_all(self.before))
        return {change.device: change.patch for change in changes if not change.empty}


def facts_of(network: Network) -> SwitchInputs:
    """Hardware and releases as a user states them."""
    return SwitchInputs(
        {node.name: node.hardware.model for node in network.nodes if node.hardware},
        {node.name: node.software for node in network.nodes if node.software},
    )


def there_and_back(network: Network, place: Path) -> RoundTrip:
    """Render a Network, import the texts with given hardware and releases, and derive the result."""
    configs = place / "configs"
    configs.mkdir()
    for name, text in render_all(network).items():
        (configs / f"{name}.cfg").write_text(text, encoding="utf-8")
    done = import_fabric(configs, place / "inventory" / "again", facts_of(network))
    return RoundTrip(done, network, derive(Path(done.file)))


@pytest.mark.parametrize("file", [INVENTORY / "heps" / "fabric.yaml", BORDER])
def test_a_rendered_fabric_comes_back_without_a_changed_line(file: Path, tmp_path: Path) -> None:
    trip = there_and_back(derive(file).network, tmp_path)
    assert (trip.changes(), trip.done.left, trip.done.added) == ({}, (), ())
    assert trip.done.differences == ()
    assert (
        "\nlinks:" not in Path(trip.done.file).read_text()
    )  # the stride shows the capacity: no pins


@pytest.mark.parametrize("file", [INVENTORY / "heps" / "fabric.yaml", BORDER])
def test_lines_that_a_switch_saves_by_itself_are_no_intent(file: Path, tmp_path: Path) -> None:
    """With them, and with stated defaults and repeated lines, the same fabric is imported."""
    network = derive(file).network
    fabrics = []
    for name in ("plain", "spelled"):
        random, configs = Random(7), tmp_path / name / "configs"
        configs.mkdir(parents=True)
        kinds: set[str] = set()
        for node in network.nodes:
            assert node.family
            text = render_all(network)[node.name]
            if name == "spelled":
                text = spelled(text, node.family, random, kinds, numbers=False)
            (configs / f"{node.name}.cfg").write_text(text, encoding="utf-8")
        done = import_fabric(configs, tmp_path / name / "again", facts_of(network))
        assert (done.whole, done.left, done.added, done.differences) == (True, (), (), ())
        fabrics.append(Path(done.file).read_text(encoding="utf-8"))
    assert {"default", "saved line"} <= kinds
    assert fabrics[0] == fabrics[1]


def test_deadlocks_that_turn_pfc_off_come_back(
    edit_heps: Callable[..., Path], tmp_path: Path
) -> None:
    heps = edit_heps(
        ("        recovery_ms: 10000", "        turn_off: 20\n        recovery_ms: 10000")
    )
    network = derive(heps).network
    assert all("priority 4 turn-off threshold 20" in x for x in render_all(network).values())
    trip = there_and_back(network, tmp_path)
    assert (trip.changes(), trip.done.left, trip.done.added) == ({}, (), ())


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("spine", SPINES)
def test_every_hardware_comes_back(leaf: str, spine: str, tmp_path: Path) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text(new_fabric("lab", Size(2, 2, 2, links_per_pair=2), leaf, spine))
    trip = there_and_back(derive(file).network, tmp_path)
    assert (trip.changes(), trip.done.left, trip.done.added) == ({}, (), ())


def test_bonds_split_ports_cables_and_roles_come_back(tmp_path: Path) -> None:
    data: Data = yaml.safe_load((INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8"))
    leaf, servers = data["leaves"][2], data["servers"]
    leaf["breakout"] = {"100GE1/0/5-6": "4*25GE"}
    own = {"leaf": "leaf03", "segment": "compute"}
    bond: Data = {"ports": ["100GE1/0/5:2", "100GE1/0/5:1"], "mode": "lacp-static"}
    bond |= {"timeout": "slow", "minimum_links": 2}
    servers.append({"name": "split", **own, "bond": bond, "roce": False})
    manual = {"ports": ["100GE1/0/8", "100GE1/0/9"], "mode": "manual", "id": 77}
    servers.append({"name": "both", **own, "bond": manual, "cable": {"medium": "sr4"}})
    dynamic = {"ports": ["100GE1/0/12"], "mode": "lacp-dynamic"}
    servers.append({"name": "boots", **own, "bond": dynamic})
    servers.append({"name": "racked", **own, "port": "100GE1/0/10", "description": "rack 7: left"})
    data["cables"]["fabric"] = {"medium": "lr4"}
    data["links"] = [{"spine": "spine01", "leaf": "leaf03", "cable": {"medium": "sr4"}}]
    grants = [{"task_group": "monitor-tg", "rights": ["read", "debug"]}]
    data["security"]["roles"] = [{"name": "beamline", "grants": grants}]
    data["security"]["users"].append({"name": "watcher", "role": "beamline"})
    file = tmp_path / "fabric.yaml"
    file.write_text(json.dumps(data), encoding="utf-8")
    trip = there_and_back(derive(file).network, tmp_path)
    assert (trip.changes(), trip.done.left, trip.done.added) == ({}, (), ())
    servers_after = {server.name: server for server in trip.after.fabric.servers}
    assert servers_after["both"].bond is not None
    assert servers_after["both"].bond.id == 77
    assert servers_after["split"].roce is False


NAMES = st.sampled_from(["leaf{:02}", "b1-leaf{}", "row{}x", "torA"])
THRESHOLDS = st.tuples(st.integers(100, 500), st.integers(20, 60))
ECN = ["ai-ecn-hpc", "ai-ecn-centralized-storage", "hpcc-dcqcn"]
KINDS: list[Data | None] = [
    None,
    {"medium": "sr4"},
    {"medium": "lr4"},
    {"medium": "dac", "fec": "rs"},
]
PASSWORDS: list[Data | None] = [
    None,
    {"password": "env:FABRIC"},
    {"password": "file:/k", "version": 2},
]
FABRIC_OPTIONS = {
    "mtu": st.sampled_from([1500, 4200, 9000]),
    "management": st.sampled_from(
        [{}, {"vrf": "MGMT"}, {"vrf": "MGMT", "gateway": "10.255.0.200"}]
    ),
}
SUBSCRIPTION = {
    "name": "ports",
    "paths": ["huawei-ifm:ifm/interfaces/interface"],
    "interval_ms": 10000,
    "collectors": [{"address": "10.255.0.252", "port": 57400, "tls": False}],
}
ENTRIES: list[Data] = [
    {
        "id": 7,
        "action": "allow",
        "source": ["compute"],
        "destination": ["scratch"],
        "protocol": "rdma",
    },
    {"id": 8, "action": "deny", "source": ["compute"], "destination": ["scratch", "compute"]},
    {
        "id": 9,
        "action": "allow",
        "source": ["scratch"],
        "destination": ["compute"],
        "protocol": "tcp",
        "ports": [22, 25],
    },
]


@st.composite
def fabrics(draw: st.DrawFn) -> Data:
    """Draw a fabric with other ids, names, pins, links, cables, exits, ECN, policy and services."""
    size = Size(
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        draw(st.integers(0, 2)),
        capacity_spines=4,
        capacity_leaves=draw(st.integers(4, 12)),
        links_per_pair=draw(st.integers(1, 2)),
    )
    text = new_fabric("random", size, draw(st.sampled_from(LEAVES)), "CE9860-4C-EI")
    data: Data = yaml.safe_load(text)
    data |= {key: draw(option) for key, option in FABRIC_OPTIONS.items()}
    data["routing"]["spine_asns"] = draw(st.sampled_from(["shared", "each"]))
    data["routing"]["leaf_asn_base"] += 10
    data["routing"]["authentication"] = draw(st.sampled_from(PASSWORDS))
    data["cables"]["fabric"] = draw(st.sampled_from(KINDS))
    lossless = data["profiles"]["lossless"]["site"]
    lossless["xoff_kbytes"], gap = draw(THRESHOLDS)
    lossless["xon_kbytes"] = lossless["xoff_kbytes"] - gap
    lossless["roce_dscp"] = draw(st.integers(0, 63))
    lossless["queue"] = draw(st.sampled_from([3, 4]))
    lossless["ecn"] = draw(st.sampled_from(ECN))
    _rename(draw, data)
    _segments(draw, data)
    _pins(draw, data)
    _exits(draw, data)
    data["services"]["telemetry"] = draw(st.sampled_from([[], [SUBSCRIPTION]]))
    return data


def _rename(draw: st.DrawFn, data: Data) -> None:
    """Rename leaves so that their names contain their ids, or do not."""
    pattern, ids = draw(NAMES), iter(draw(st.permutations(range(1, 5))))
    letters = count(65)
    names = {}
    for leaf in data["leaves"]:
        leaf["id"] = next(ids)
        new = pattern.format(leaf["id"]) if "{" in pattern else f"{pattern}{chr(next(letters))}"
        names[leaf["name"]] = leaf["name"] = new
    for server in data.get("servers", ()):
        server["leaf"] = names[server["leaf"]]
    data["rollout"]["canary"] = data["leaves"][0]["name"]


def _segments(draw: st.DrawFn, data: Data) -> None:
    data["segments"].append(
        {"name": "scratch", "role": "storage", "vlan": 200, "prefix": "10.200.0.0/16"}
    )
    for leaf in data["leaves"]:
        if draw(st.booleans()):
            leaf["segments"].append("scratch")
    entries = draw(st.lists(st.sampled_from(ENTRIES), unique_by=lambda entry: entry["id"]))
    default = draw(st.sampled_from(["allow", "deny"]))
    data["security"]["policy"] = {"default": default, "entries": entries}


def _pins(draw: st.DrawFn, data: Data) -> None:
    for number, switch in enumerate([*data["spines"], *data["leaves"]], 1):
        options = {
            "asn": 4200001000 + number,
            "loopback": f"192.168.7.{number}",
            "management": f"10.255.0.{100 + number}",
        }
        chosen = draw(st.sets(st.sampled_from(sorted(options))))
        switch["pins"] = {key: options[key] for key in sorted(chosen)}
    if draw(st.booleans()):
        spine, leaf = data["spines"][0]["name"], data["leaves"][0]["name"]
        pin = {"spine": spine, "leaf": leaf, "subnet": "172.31.0.4/30"}
        data["links"] = [pin | {"authentication": {"password": "env:OWN"}}]


def _exits(draw: st.DrawFn, data: Data) -> None:
    port = "100GE1/0/20" if data["leaves"][0]["hardware"].startswith("CE88") else "25GE1/0/20"
    choices: list[Data] = [
        {"asn": 64999, "accepts": [{"id": 3, "prefix": "172.20.0.0/16", "longest": 24}]},
        {"asn": 64999, "default": "none", "announces": ["scratch"], "lossless": True},
        {"asn": 64999, "default": "static", "bfd": {"min_tx_ms": 400}},
        {"default": "static", "description": "the way out", "mtu": 1400},
    ]
    for number, leaf in enumerate(data["leaves"]):
        if draw(st.booleans()):
            base = {"id": 40 + number, "name": f"wan{number}", "port": port}
            base |= {"address": f"192.0.2.{number * 4 + 1}/30", "peer": f"192.0.2.{number * 4 + 2}"}
            leaf["exits"] = [base | draw(st.sampled_from(choices))]


UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # to shrink a whole fabric takes minutes


@pytest.mark.soak
@settings(max_examples=tries(10), phases=UNSHRUNK)
@given(fabrics())
def test_any_fabric_comes_back_without_a_changed_line(data: Data) -> None:
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "fabric.yaml"
        file.write_text(json.dumps(data), encoding="utf-8")
        trip = there_and_back(derive(file).network, Path(scratch))
        assert (trip.changes(), trip.done.left, trip.done.added) == ({}, (), ())
        assert Path(trip.done.file).read_text().startswith("# yaml-language-server: $schema=")


def test_models_of_the_law_are_all_that_there_are() -> None:
    assert {*LEAVES, *SPINES} == {*load_catalogue().hardware}
