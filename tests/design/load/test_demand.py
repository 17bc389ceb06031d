"""demand.yaml: valid content, and the error of each invalid value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.load.documents import demand_beside, load_demand
from rocefort.models.network.demand import GBPS_OF_TB_A_DAY
from rocefort.models.units import gbps, terabytes

HEAD = "demand: trial\npeak: 1 Tb/s\n"
FLOW = HEAD + "flows:\n  - senders: {%s}\n    receivers: {segments: [compute]}\n    share: 1\n"


def _flow(senders: str) -> str:
    return FLOW % senders


def _load(text: str, heps: DerivedNetwork, directory: Path) -> list[str]:
    path = directory / "demand.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        load_demand(path, heps.network)
    except BadInput as error:
        return [str(problem).removeprefix(f"{path}:") for problem in error.problems]
    return []


BAD: list[tuple[str, list[str]]] = [
    (HEAD, []),
    ("", ["1:1: the file is empty; begin with `demand: NAME`"]),
    ("demand: trial\n", ["1:1: peak: 'peak' is missing; add it, for example peak: 3.2 Tb/s"]),
    (
        "demand: trial\npeak: 3200\n",
        ["2:7: peak: 3200 has no unit; write 3200 Gb/s or 3.2 Tb/s"],
    ),
    (
        "demand: trial\npeak: -3.2 Tb/s\n",
        ["2:7: peak: -3.2 Tb/s is negative; a demand is more than 0"],
    ),
    (
        "demand: trial\npeak: 0 Gb/s\n",
        ["2:7: peak: 0 Gb/s is no demand; write more than 0, or leave it out"],
    ),
    (
        "demand: trial\npeak: 400 GB/s\n",
        ["2:7: peak: unit 'GB/s' is not Gb/s or Tb/s; write 3200 Gb/s or 3.2 Tb/s"],
    ),
    (
        "demand: trial\npeak: true\n",
        ["2:7: peak: 'True' is not a number with a unit; write 3200 Gb/s or 3.2 Tb/s"],
    ),
    (
        HEAD + "daily: 800 TiB\n",
        ["3:8: daily: unit 'TiB' is not GB or TB or PB; write 800 TB or 1 PB"],
    ),
    (HEAD + "daily: 10.8 PB\n", []),  # exactly a day at peak
    (
        HEAD + "daily: 10.9 PB\n",
        [
            "3:8: daily: 10,900 TB are more than 24 hours at the peak of 1,000 Gb/s bring: "
            "10,800 TB; write a higher peak, or a smaller volume"
        ],
    ),
    (
        HEAD + "daily: 800 TB\nbusiest_day: 700 TB\n",
        [
            "4:14: busiest_day: 700 TB are less than the 800 TB of an average day; "
            "write at least as much"
        ],
    ),
    (
        HEAD + "peak: 2 Tb/s\n",
        ["3:1: peak: key 'peak' is there twice; remove one: the first is on line 2"],
    ),
    (HEAD + "peaks: 2 Tb/s\n", ["3:1: peaks: unknown key 'peaks'; did you mean 'peak'?"]),
    (_flow("leaves: [leaf05]"), []),
    (
        _flow("leaves: [leaf99]"),
        [
            "4:24: flows[0].senders.leaves[0]: the fabric has no leaf 'leaf99'; "
            "did you mean 'leaf08'?"
        ],
    ),
    (
        _flow("leaves: [spine01]"),
        [
            "4:24: flows[0].senders.leaves[0]: the fabric has no leaf 'spine01'; "
            "known here: leaf01, leaf02, leaf03, leaf04, leaf05, leaf06, leaf07, leaf08"
        ],
    ),
    (
        _flow("segments: [beamlin]"),
        [
            "4:26: flows[0].senders.segments[0]: the fabric has no segment 'beamlin'; "
            "did you mean 'beamline'?"
        ],
    ),
    (
        _flow("servers: [readout09]"),
        [
            "4:25: flows[0].senders.servers[0]: the fabric has no server 'readout09'; "
            "did you mean 'readout04'?"
        ],
    ),
    (
        _flow("servers: [readout01, readout01]"),
        [
            "4:36: flows[0].senders.servers[1]: server 'readout01' is there twice; "
            "the first is servers[0]; remove one"
        ],
    ),
    (
        HEAD + "flows:\n  - senders: {}\n    share: 1\n",
        ["4:14: flows[0].senders: an empty group; name segments, leaves or servers"],
    ),
    (
        HEAD + "flows:\n  - senders: {servers: [readout01]}\n",
        ["4:5: flows[0]: neither share nor peak; give the share of the facility's peak, or a rate"],
    ),
    (
        HEAD + "flows:\n  - {share: 1, peak: 1 Tb/s}\n",
        ["4:5: flows[0]: both share and peak; give the share of the facility's peak, or a rate"],
    ),
    (
        HEAD + "flows:\n  - {share: -1}\n",
        [
            "4:13: flows[0].share: -1 is out of range; write a share of the peak above 0 and at most 100 (1 is all of it)"
        ],
    ),
    (
        HEAD + "flows:\n  - {share: 0.5}\n  - {share: 0.5}\n",
        [
            "5:5: flows[1]: the same senders and receivers as flows[0]; "
            "write one flow with both amounts together"
        ],
    ),
    (  # the same servers, written in another way
        HEAD + "flows:\n"
        "  - {senders: {segments: [storage]}, share: 1}\n"
        "  - {senders: {servers: [storage01]}, share: 1}\n",
        [
            "5:5: flows[1]: the same senders and receivers as flows[0]; "
            "write one flow with both amounts together"
        ],
    ),
    (
        HEAD + "flows:\n"
        "  - {senders: {segments: [storage]}, receivers: {servers: [storage01]}, share: 1}\n",
        ["4:5: flows[0]: storage01 alone would send to itself; name other senders or receivers"],
    ),
    (
        HEAD + "assumed: [volume]\n",
        ["3:11: assumed[0]: 'volume' cannot be used; known here: busiest_day, daily, flows, peak"],
    ),
]


@pytest.mark.parametrize(("text", "errors"), BAD)
def test_each_bad_demand_has_its_sentence(
    text: str, errors: list[str], heps: DerivedNetwork, tmp_path: Path
) -> None:
    assert _load(text, heps, tmp_path) == errors


def test_a_segment_or_a_leaf_without_servers_is_said(heps: DerivedNetwork, tmp_path: Path) -> None:
    network = heps.network
    rest = tuple(s for s in network.servers or () if s.port.device != "leaf05")
    rest = tuple(s for s in rest if s.segment != "transfer")
    bare = replace(heps, network=network.model_copy(update={"servers": rest}))
    assert _load(_flow("segments: [transfer], leaves: [leaf05]"), bare, tmp_path) == [
        "4:26: flows[0].senders.segments[0]: segment 'transfer' has no server, so nothing sends "
        "or receives there; add servers to it in the fabric, or leave it out",
        "4:46: flows[0].senders.leaves[0]: leaf 'leaf05' has no server, so nothing sends "
        "or receives there; add servers to it in the fabric, or leave it out",
    ]
    none = replace(heps, network=network.model_copy(update={"servers": ()}))
    assert _load(HEAD, none, tmp_path) == [
        "1:1: fabric heps has no server that could send; add servers to the fabric"
    ]


def test_all_problems_are_told_at_once(heps: DerivedNetwork, tmp_path: Path) -> None:
    text = _flow("leaves: [leaf99], servers: [absent]") + "daily: 99 PB\n"
    assert len(_load(text, heps, tmp_path)) == 3


def test_the_published_numbers_of_heps(heps: DerivedNetwork) -> None:
    path = INVENTORY / "heps" / "demand.yaml"
    assert demand_beside(INVENTORY / "heps") is not None
    demand = load_demand(path, heps.network).demand
    assert (demand.peak, demand.daily, demand.busiest_day) == (3200, 800, 1000)
    assert demand.assumed == ("flows",)
    assert (demand.source or "").startswith("Network 2025, 5(4), 53")
    assert round(800 * GBPS_OF_TB_A_DAY, 2) == 74.07  # 800e12 bytes x 8 / 86,400 s
    assert round(3200 / GBPS_OF_TB_A_DAY) == 34560  # TB a day at peak


def test_units_are_decimal() -> None:
    assert (gbps("3.2 Tb/s"), gbps("3200Gb/s")) == (3200, 3200)
    assert (terabytes("1 PB"), terabytes("500 GB")) == (1000, 0.5)


def test_no_demand_beside_a_fabric(heps_file: Path, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_bytes(heps_file.read_bytes())
    assert demand_beside(tmp_path) is None
    (tmp_path / "demand.yaml").write_text(HEAD, encoding="utf-8")
    assert demand_beside(tmp_path / "fabric.yaml") == tmp_path / "demand.yaml"
