"""`beamline list`, `show` and `add` as a user types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from beamlines import HEPS, in_blocks, with_beamlines
from efforts import tries
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rocefort.base.errors import Refused
from rocefort.base.repository import INVENTORY
from rocefort.beamline.entry import NewBeamline
from rocefort.beamline.onboard import onboard
from rocefort.design.derive.derive import derive
from rocefort.verification.review.edit import remove

Rocefort = Callable[..., Any]


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.yaml"
    path.write_text(with_beamlines(), encoding="utf-8")
    return path


def test_list(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("beamline", "list", fabric)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "beamline  leaf    ports          peak, Gb/s  average  sends to\n"
        "bl1       leaf05  25GE1/0/11-16          90       90  storage\n"
        "bl2       leaf05  25GE1/0/21             10       10  transfer\n"
        "bl3       leaf06  25GE1/0/11             10       10  compute\n"
        "bl4       leaf07  25GE1/0/11             10       10  transfer\n"
        "\n"
        "heps: 4 beamlines, 120 Gb/s at peak, 120 Gb/s on average\n"
    )
    rows = json.loads(rocefort("beamline", "list", fabric, "--format", "json").out)["beamlines"]
    assert [row["sent_gbps"] for row in rows] == [90, 10, 10, 10]


def test_a_fabric_without_beamlines(rocefort: Rocefort) -> None:
    done = rocefort("beamline", "list", "heps")
    assert done.out == "heps: 0 beamlines; docs/how-to/add-beamline.md shows how to add one\n"
    shown = rocefort("beamline", "show", "heps", "bl1")
    assert (shown.code, shown.out) == (2, "")
    assert "heps has no beamlines; add an entry of `beamlines`" in shown.err


def test_show(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("beamline", "show", fabric, "bl1", "--format", "json")
    view = json.loads(done.out)
    assert view["servers"][0] == ["bl1-1", "25GE1/0/11", "10.64.4.20/24"]
    assert {step["between"]: (step["cables"], step["gbps"]) for step in view["path"]} == {
        "servers to leaf": (6, 90),
        "leaf to spines": (2, 90),
        "spines to leaves": (2, 90),
        "leaves to servers": (1, 90),
    }
    shares = {(one["kind"], one["share"]): one["at"] for one in view["failures"]}
    assert shares["leaf", 0] == ["leaf04", "leaf05"]
    # 90 Gb/s of bl1 and 10 Gb/s of bl2 fill the one uplink that is left.
    assert shares["spine", 1] == ["spine01", "spine02"]
    assert {stop["name"] for stop in view["stops"]} == {"bl2", "bl3"}
    assert {stop["name"] for stop in view["stopped_by"]} == {"bl2", "bl3", "bl4"}
    assert [(p["client"], p["server"], p["gbps"]) for p in view["pairs"]][:2] == [
        ("bl1-1", "storage01", 23),
        ("bl1-2", "storage01", 23),
    ]


def test_a_share_after_a_failure_is_in_proportion(tmp_path: Path, rocefort: Rocefort) -> None:
    """After the loss of a spine, 110 Gb/s of leaf05 meet an uplink of 100 Gb/s."""
    path = tmp_path / "fabric.yaml"
    text = with_beamlines().replace("rate: 10 Gb/s", "rate: 20 Gb/s")
    path.write_text(text, encoding="utf-8")
    view = json.loads(rocefort("beamline", "show", path, "bl2", "--format", "json").out)
    spine = next(one for one in view["failures"] if one["kind"] == "spine")
    assert (spine["share"], spine["gbps"]) == (0.909091, 18.18182)
    assert spine["fullest"] == "leaf05 100GE1/0/2"
    assert view["whole_share"] == 1


def test_add_keeps_every_other_byte(rocefort: Rocefort, fabric: Path) -> None:
    before = fabric.read_text(encoding="utf-8")
    words = ("beamline", "add", fabric, "bl5", "--like", "bl4", "--detector", "40 Gb/s")
    dry = rocefort(*words, "--dry-run")
    assert (dry.code, dry.err, fabric.read_text(encoding="utf-8")) == (0, "", before)
    done = rocefort(*words, "--owner", "imaging group")
    assert (done.code, done.err) == (0, "")
    after = fabric.read_text(encoding="utf-8")
    lines = iter(after.splitlines())
    assert all(line in lines for line in before.splitlines())
    assert yaml.safe_load(after)["beamlines"][-1] == {
        "id": 5,
        "name": "bl5",
        "leaf": "leaf07",
        "ports": ["25GE1/0/2-3"],
        "segment": "beamline",
        "nic": "connectx-dscp34",
        "detectors": [{"name": "eiger", "rate": "40 Gb/s"}],
        "sends_to": [{"to": "transfer"}],
        "owner": "imaging group",
    }
    assert "bl5-1       leaf07 25GE1/0/2  10.64.6.11/24    25" in done.out
    assert (
        "order 2 cables: 2 of 5 m; transceivers: 2 SFP28 in switches and 2 in servers" in done.out
    )
    assert rocefort("check", fabric).code == 0


@pytest.mark.parametrize(
    "rate", ["0.000001 Gb/s", "1.23456789 Gb/s", "0.000000001 Tb/s", "20  Gb/s"]
)
def test_a_rate_is_written_as_typed(fabric: Path, rate: str) -> None:
    onboard(fabric, NewBeamline("bl5", "bl4", [f" {rate} "]))[1].write()
    row = yaml.safe_load(fabric.read_text(encoding="utf-8"))["beamlines"][-1]
    assert row["detectors"] == [{"name": "eiger", "rate": rate}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bl4", "--like", "bl1"), "'bl4' is in use; choose another name"),
        (("bl5", "--like", "bl9"), "no beamline 'bl9'; did you mean 'bl"),
        (("bl 5", "--like", "bl1"), "'bl 5' is not a name; use 1 to 63 letters"),
        (
            ("bl5", "--like", "bl1", "--detector", "40"),
            "--detector: 40 has no unit; write 3200 Gb/s or 3.2 Tb/s",
        ),
        (("bl5", "--like", "bl1", "--leaf", "leaf5"), "--leaf: no leaf 'leaf5'"),
        (
            ("bl5", "--like", "bl4", "--detector", "1.2 Tb/s"),
            "bl5 needs 53 ports of 25 Gb/s on one leaf; of leaf07, leaf05, leaf06 and leaf08 the "
            "emptiest has 47 free: 6 are missing; grow first: rocefort expand heps --add-leaves 1 "
            "--like leaf07",
        ),
        (
            ("bl5", "--like", "bl4", "--detector", "999999999 Tb/s"),
            "the emptiest has 47 free",
        ),
        (
            ("bl5", "--like", "bl4", "--detector", "0.000000001 Gb/s"),
            "less than 1 kb/s to transfer; write a higher rate or share, or leave the path out",
        ),
        (
            ("bl5", "--like", "bl4", "--detector", "90 Gb/s"),
            "bl5: transfer01 on leaf01 would be loaded to 110 %; add receivers first",
        ),
        (
            ("bl5", "--like", "bl3", "--detector", "250 Gb/s"),
            "bl5: leaf06 100GE1/0/1 to spine01 would be loaded to 130 %; grow first: rocefort "
            "expand heps --add-spines 1, or more links_per_pair",
        ),
    ],
)
def test_refusals(rocefort: Rocefort, fabric: Path, words: tuple[str, ...], message: str) -> None:
    before = fabric.read_bytes()
    done = rocefort("beamline", "add", fabric, *words)
    assert done.code in (2, 4)
    assert message in " ".join(done.err.split())
    assert fabric.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("bl9", "--like", "bl4"),
            "bl9 is beamline 9, and the 4 leaves of segment beamline have blocks of 2 ports for 8 "
            "beamlines: 1 port of 25 Gb/s are missing; grow first: rocefort expand heps "
            "--add-leaves 1 --like leaf08",
        ),
        (
            ("bl5", "--like", "bl4", "--detector", "60 Gb/s"),
            "bl5 needs 3 ports of 25 Gb/s, and capacity.beamline_ports keeps 2",
        ),
        *(
            (
                (name, "--like", "bl4"),
                f"{name!r} ends in no number from 1 to 999 that is free; give --id N: with "
                "capacity.beamline_ports, the ports follow from it",
            )
            for name in ("imaging", "tomo0", "hall3", "bl2005")
        ),
        (("imaging", "--like", "bl4", "--id", "7"), "beamline 7 has 25GE1/0/1 of leaf08"),
        (
            ("bl7", "--like", "bl4"),
            "beamline 7 has 25GE1/0/1 of leaf08, which is in use; name a leaf: --leaf LEAF takes "
            "its first free ports",
        ),
    ],
)
def test_refusals_of_blocks(
    rocefort: Rocefort, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(in_blocks(with_beamlines(), 2), encoding="utf-8")
    done = rocefort("beamline", "add", path, *words)
    assert message in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (
            "480 Gb/s",
            "bl16: with spine01 drained and leaf07 100GE1/0/34 - spine02 100GE1/1/7 lost, leaf07 "
            "100GE1/0/39 to spine02 would be loaded to 103 %; grow first, which `rocefort expand "
            "heps-phase1 --add-spines 1` cannot: capacity.spines 1 more spines take id 6; the "
            "reserved capacity is 5 spines, which leaves room for 0, or more links_per_pair",
        ),
        (
            "5 Tb/s",
            "bl16 needs 55 ports of 100 Gb/s on one leaf; of leaf07 the emptiest has 17 free: 38 "
            "are missing; grow first, which `rocefort expand heps-phase1 --add-leaves 1 --like "
            "leaf05` cannot: capacity.leaves 1 more leaves take id 9; the reserved capacity is 8 "
            "leaves, which leaves room for 0",
        ),
    ],
)
def test_a_fabric_that_cannot_grow(tmp_path: Path, rate: str, message: str) -> None:
    """All spines carry the peak after a failure, and not while one is drained and a cable lost."""
    text = (INVENTORY / "heps-phase1" / "fabric.yaml").read_text(encoding="utf-8")
    path = tmp_path / "fabric.yaml"
    text = text.replace("  spines: 8\n", "  spines: 5\n").replace("  leaves: 32\n", "  leaves: 8\n")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Refused) as raised:
        onboard(path, NewBeamline("bl16", "bl05", [rate], leaf="leaf07"))
    assert message in str(raised.value)


def test_nics_of_the_inventory(rocefort: Rocefort, tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(with_beamlines(), encoding="utf-8")
    words = ("beamline", "add", path, "bl5", "--like", "bl4", "--dry-run")
    done = json.loads(rocefort(*words, "--format", "json").out)
    every = ["ConnectX-4", "ConnectX-4 Lx", "ConnectX-5", "ConnectX-6", "ConnectX-6 Dx"]
    assert done["nic_models"] == [*every, "ConnectX-6 Lx", "ConnectX-7"]
    assert done["nic_source"].startswith("NVIDIA MLNX_EN v24.07")


def test_a_speed_that_no_nic_of_the_inventory_has(rocefort: Rocefort, tmp_path: Path) -> None:
    adapter = "{model: NIC of a test, parameters: {}, nics: {Ten: [1, 10]}}"
    profiles = f"profiles:\n  adapter: {{ten: {adapter}}}\n  nic: {{ten: {{adapter: ten}}}}\n"
    text = with_beamlines().replace(
        "nic: connectx-dscp34\n    detectors", "nic: ten\n    detectors"
    )
    path = tmp_path / "fabric.yaml"
    path.write_text(text.replace("profiles:\n", profiles), encoding="utf-8")
    done = rocefort("beamline", "add", path, "bl5", "--like", "bl4")
    assert (
        "bl5: 1 NIC of 25 Gb/s are missing: profile ten is of NIC of a test, and the inventory has "
        "them up to 10 Gb/s; name another NIC profile in the entry that it is like"
    ) in " ".join(done.err.split())
    assert done.code == 4


@settings(max_examples=tries(5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations([5, 8, 11]), rates=st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_beamlines_added_in_any_order_get_the_same_addresses(
    tmp_path: Path, order: list[int], rates: list[int]
) -> None:
    """Law: with ports kept for each beamline, its id alone decides leaf, ports and addresses."""
    rate = dict(zip((5, 8, 11), rates, strict=True))
    addresses = []
    for sequence in ([5, 8, 11], order):
        path = tmp_path / "fabric.yaml"
        path.write_text(in_blocks(with_beamlines(), 2, 3), encoding="utf-8")
        for number in sequence:
            request = NewBeamline(f"bl{number}", "bl4", [f"{rate[number]} Gb/s"])
            onboard(path, request)[1].write()
        network = derive(path).network
        addresses.append({s.name: (s.port, s.address) for s in network.servers or ()})
    assert addresses[0] == addresses[1]
    assert len(addresses[0]) == HEPS.count("    segment: ") + 9 + 3


@settings(
    max_examples=tries(3),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    blocks=st.booleans(),
    order=st.permutations([5, 8, 11]),
    gone=st.sampled_from([5, 8, 11]),
    after=st.integers(1, 3),
)
def test_a_removed_beamline_leaves_its_addresses_unused(
    tmp_path: Path, blocks: bool, order: list[int], gone: int, after: int
) -> None:
    """Law: no beamline that is added later has an address, a port or the id of one that is gone.

    With blocks, the others have the addresses that they would have without it, in any order.
    """
    path = tmp_path / "fabric.yaml"
    text = with_beamlines()
    path.write_text(in_blocks(text, 2, 3) if blocks else text, encoding="utf-8")
    for number in order:
        onboard(path, NewBeamline(f"bl{number}", "bl4", ["24 Gb/s"]))[1].write()
        if number == order[after - 1] and gone in order[:after]:
            held = _held(path, gone)
            remove(path, [f"bl{gone}"]).versions.write()
    if gone not in order[:after]:
        held = _held(path, gone)
        remove(path, [f"bl{gone}"]).versions.write()
    onboard(path, NewBeamline("bl6", "bl4", ["24 Gb/s"]))[1].write()
    network = derive(path).network
    now = {s.name: (str(s.port), str(s.address)) for s in network.servers or ()}
    assert len(held) == 2
    assert held.isdisjoint(now.values())
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert data["capacity"]["retired_beamlines"] == [gone]
    assert gone not in {beamline.id for beamline in network.beamlines}
    if blocks:
        alone = tmp_path / "alone.yaml"
        alone.write_text(in_blocks(with_beamlines(), 2, 3), encoding="utf-8")
        for number in sorted({*order, 6} - {gone}):
            onboard(alone, NewBeamline(f"bl{number}", "bl4", ["24 Gb/s"]))[1].write()
        servers = derive(alone).network.servers or ()
        assert now == {s.name: (str(s.port), str(s.address)) for s in servers}


def _held(path: Path, number: int) -> set[tuple[str, str]]:
    servers = derive(path).network.servers or ()
    return {(str(s.port), str(s.address)) for s in servers if s.name.startswith(f"bl{number}-")}


def test_a_retired_id_and_a_retired_port_are_refused(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("remove", fabric, "bl4")
    assert (done.code, done.err) == (0, "")
    lines = " ".join(done.out.split())
    assert "capacity.retired_beamlines keeps id 4 free: no other beamline gets them" in lines
    assert "retired_ports of leaf07 keeps 25GE1/0/11 free, and so their addresses" in lines
    data = yaml.safe_load(fabric.read_text(encoding="utf-8"))
    leaf = next(leaf for leaf in data["leaves"] if leaf["name"] == "leaf07")
    assert leaf["retired_ports"] == ["25GE1/0/11"]
    refused = rocefort("beamline", "add", fabric, "bl9", "--like", "bl3", "--id", "4")
    assert "id 4 is of a beamline that is gone (capacity.retired_beamlines)" in refused.err
    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(
        text.replace("25GE1/0/11]", "25GE1/0/11-12]").replace(
            "leaf06\n    ports", "leaf07\n    ports"
        ),
        encoding="utf-8",
    )
    checked = rocefort("check", fabric)
    assert (
        "leaf07 25GE1/0/11 was of a beamline that is gone (retired_ports); choose another port, or "
        "remove it from retired_ports to use its address again"
    ) in " ".join(checked.err.split())
