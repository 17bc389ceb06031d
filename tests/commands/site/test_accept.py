"""`accept` on an emulated lab: an accepted stage, a killed one, an item by a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.fleet.connections import save_connections
from rocefort.models.fabric.beamlines import Beamline, DataPath, Detector
from rocefort.rdma.acceptance import stage
from rocefort.rdma.acceptance.stage import incast_sinks
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.run_suite import run_tests
from rocefort.rollout.plan.acceptance import read_record

Rocefort = Callable[..., Any]
SERVERS = "leaf001-s01,leaf002-s01"
WRONG = {
    (
        "--cable-at",
        "8",
    ): "--cable-at: it is not stated who takes the cable away; name it: --cable-by",
    ("--passed", "mesh=good"): "a machine does mesh; measure it again: --again mesh",
    ("--passed", "optics"): "--passed: 'optics' has no text; write ITEM=TEXT",
    ("--override", "mesh=why"): "'mesh' is no failed item; these failed: optics",
    ("--again", "mesh"): "its switches and servers are measured first; name their connections",
    ("--passed", "a b=c"): "'a b' is no name of an item; use letters, digits and",
}


@pytest.fixture
def confirmed(rocefort: Rocefort, tmp_path: Path) -> Iterator[tuple[Rehearsal, Path]]:
    """A lab with a confirmed rollout, and its plan."""
    small = ("--spines", 1, "--leaves", 2, "--servers-per-leaf", 1, "--directory", tmp_path)
    assert rocefort("new", "plant", *small).code == 0
    fabric = tmp_path / "plant" / "fabric.yaml"
    subject, out = subject_of(fabric, None), tmp_path / "plan.json"
    fabric.write_text(fabric.read_text().replace("ntp: []", "ntp: [10.255.0.254]"))
    options = LabOptions(keep=True, time_scale=100)
    with rehearse(subject.network, subject.texts, tmp_path / "lab", options) as lab:
        access = ("--connections", lab.file)
        assert rocefort("plan", fabric, *access, "--out", out).code == 0
        early = rocefort("accept", out, *access, "--servers", SERVERS)
        assert (early.code, "its rollout is not finished; a stage is" in early.err) == (4, True)
        assert rocefort("apply", out, *access).code == 0
        yield lab, out


def check_that_only_the_network_of_the_rollout_is_measured(
    rocefort: Rocefort, lab: Rehearsal, out: Path
) -> None:
    """Accept with connections of no lab, where a switch has another host than in the rollout."""
    known, file = lab.connections, out.with_name("elsewhere.yaml")
    moved = known.devices[0].model_copy(update={"port": 9})
    update = {"emulated": False, "speed_note": "", "devices": (moved, *known.devices[1:])}
    save_connections(known.model_copy(update=update), file)
    before = known.devices[0].endpoint
    refusal = f"{moved.name}: the rollout reached it at {before}, {file} names 127.0.0.1:9"
    for words, code, sentence in (
        ((), 4, refusal),
        (("--cable-by", "lab"), 2, "leads to no lab that runs on this machine"),
    ):
        done = rocefort("accept", out, "--connections", file, "--servers", SERVERS, *words)
        assert (done.code, sentence in done.err) == (code, True), done.err


def test_a_stage_is_measured_once_and_a_failed_item_blocks_the_next_plan(
    rocefort: Rocefort,
    confirmed: tuple[Rehearsal, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab, out = confirmed
    fabric, page = tmp_path / "plant", tmp_path / "acceptance.html"
    check_that_only_the_network_of_the_rollout_is_measured(rocefort, lab, out)
    assert not (fabric / "acceptance").exists()
    words: list[object] = ["accept", out, "--connections", lab.file, "--servers", SERVERS]
    words += [
        "--soak",
        2,
        "--suite",
        "mesh",
        "--suite",
        "incast",
        "--history",
        tmp_path / "rdma.db",
    ]
    began: list[Suite] = []

    def killed(*given: Any) -> Any:
        began.append(given[2].suite)
        if began == [Suite.MESH, Suite.INCAST]:
            raise MemoryError  # as a kill: nothing handles it
        return run_tests(*given)

    monkeypatch.setattr(stage, "run_tests", killed)
    rocefort(*words)
    record = next((fabric / "acceptance").glob("*.json"))
    mesh = next(item for item in read_record(record).items if item.name == "mesh")
    assert mesh.run

    done = rocefort(*words, "--html", page)
    assert began == [Suite.MESH, Suite.INCAST, Suite.INCAST, Suite.INCAST], "mesh is not repeated"
    assert done.code == 0
    assert "accepted, 5 items not judged" in done.words
    items = {item.name: item for item in read_record(record).items}
    assert items["mesh"].run == mesh.run
    assert [name for name, item in items.items() if item.state == "passed"] == [
        *("rollout", "hosts", "cabling", "errors", "routing", "lossless", "switches")
    ]
    few = "incast takes 3 RoCE servers, 2 may be used"
    assert items["incast-leaf001"].sentences == (few,)
    for line in done.out.splitlines():
        assert len(line) <= 80 or str(tmp_path) in line

    later, source = tmp_path / "later.json", fabric / "fabric.yaml"
    source.write_text(source.read_text().replace("10.255.0.254", "10.255.0.253"))
    assert rocefort("plan", fabric, "--connections", lab.file, "--out", later).code == 0
    entered = rocefort("accept", out, "--failed", "optics=leaf001 receives <b>-14 dBm")
    assert (entered.code, "not accepted: 1 item failed" in entered.words) == (1, True)
    refused = rocefort("plan", fabric, "--connections", lab.file, "--out", tmp_path / "next.json")
    assert (refused.code, "optics: its acceptance failed: leaf001" in refused.err) == (4, True)
    applied = rocefort("apply", later, "--connections", lab.file)
    assert (applied.code, "optics: its acceptance failed: leaf001" in applied.err) == (4, True)
    overridden = rocefort(
        *("accept", out, "--override", "optics=replaced on Monday", "--html", page),
        *("--format", "json"),
    )
    assert json.loads(overridden.out)["accepted"] is True
    text = page.read_text()
    assert "accepted with overrides" in text
    assert "leaf001 receives &lt;b&gt;-14 dBm" in text
    assert "replaced on Monday (approved by" in text
    after = rocefort("plan", fabric, "--connections", lab.file, "--out", tmp_path / "next.json")
    assert (after.code, "optics failed, overridden by" in after.words) == (0, True)
    assert rocefort("apply", later, "--connections", lab.file).code == 0
    assert "optics failed, overridden by" in rocefort("status", later).words

    for entry, sentence in WRONG.items():
        wrong = rocefort("accept", out, *entry)
        assert (wrong.code, sentence in wrong.err) == (2, True)


WITH_BEAMLINE = {  # in the text of a new fabric: two blocks of two ports, one of them used
    "  leaves: 128\n": "  leaves: 128\n  beamline_ports: 2\n  beamlines_per_leaf: 2\n",
    "  - name: management  # out": "  - {name: beamline, role: beamline, vlan: 110, "
    "prefix: 10.64.128.0/17, leaf_prefix_length: 24}\n  - name: management  # out",
    "    segments: [compute]\n  - id: 2": "    segments: [compute, beamline]\n  - id: 2",
    "    leaf: leaf001\n    port: 100GE1/0/1\n": "    leaf: leaf001\n    port: 100GE1/0/5\n",
    "ntp: []": "ntp: [10.255.0.254]",
    "\nsecurity:\n": """
beamlines:
  - id: 1
    name: bl01
    leaf: leaf001
    ports: [100GE1/0/1-2]
    segment: beamline
    detectors: [{name: detector, rate: 100 Gb/s, duty: 0.1, burst_ms: 200}]
    sends_to: [{to: compute}]

security:
""",
}


@pytest.mark.thorough
def test_a_beamline_from_its_entry_to_an_accepted_stage(rocefort: Rocefort, tmp_path: Path) -> None:
    small = ("--spines", 2, "--leaves", 2, "--servers-per-leaf", 1, "--directory", tmp_path)
    assert rocefort("new", "plant", *small).code == 0
    fabric, plan = tmp_path / "plant" / "fabric.yaml", tmp_path / "plan.json"
    text = fabric.read_text()
    for old, new in WITH_BEAMLINE.items():
        assert old in text, old
        text = text.replace(old, new, 1)
    fabric.write_text(text)
    before = subject_of(fabric, None)
    assert rocefort("beamline", "add", fabric, "bl02", "--like", "bl01").code == 0
    full = rocefort("beamline", "add", fabric, "bl03", "--like", "bl01", "--dry-run")
    assert (full.code, "2 ports of 100 Gb/s are missing; grow first: " in full.err) == (4, True)
    options = LabOptions(keep=True, time_scale=100)
    network = subject_of(fabric, None).network
    with rehearse(network, before.texts, tmp_path / "lab", options) as lab:
        access = ("--connections", lab.file)
        assert rocefort("plan", fabric, *access, "--out", plan).code == 0
        assert rocefort("apply", plan, *access).code == 0
        servers = ("--servers", "bl01-1,bl02-1,bl02-2,leaf002-s01")
        done = rocefort("accept", plan, *access, *servers, "--suite", "incast", "--soak", 2)
    assert done.code == 0
    assert "(1 switch of a lab): accepted" in done.words
    record = read_record(next((fabric.parent / "acceptance").glob("*.json")))
    states = {item.name: str(item.state) for item in record.items}
    assert states["incast-bl02-compute"] == "not judged"
    assert {states[name] for name in ("rollout", "hosts", "cabling", "errors")} == {"passed"}


def test_each_rack_and_each_data_path_of_a_beamline_has_an_incast(heps: DerivedNetwork) -> None:
    network = heps.network
    names = [server.name for server in network.servers or ()]
    racks = {node.rack or node.name for node in network.nodes if any(
        server.port.device == node.name for server in network.servers or ())}  # fmt: skip
    assert {sink.name for sink in incast_sinks(network, names)} == {f"incast-{r}" for r in racks}

    servers = tuple(
        server.model_copy(update={"name": "bl07-1"}) if server.name == "readout01" else server
        for server in network.servers or ()
    )
    beamline = Beamline(
        id=7,
        name="bl07",
        leaf="leaf05",
        ports=("25GE1/0/1",),
        segment="beamline",
        detectors=(Detector.model_validate({"name": "eiger", "rate": "10 Gb/s"}),),
        sends_to=(DataPath(to="storage"),),
    )
    grown = network.model_copy(update={"beamlines": (beamline,), "servers": servers})
    sinks = [*incast_sinks(grown, [*names, "bl07-1"])]
    assert sinks[-1].name == "incast-bl07-storage"
    assert sinks[-1].servers == ("bl07-1", "storage01")
