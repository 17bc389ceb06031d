"""ECN profiles: the configuration derived from them, errors, and growth without other changes."""

from __future__ import annotations

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
from rocefort.design.load.profiles import profiles_of
from rocefort.dialects.network_text import render_all
from rocefort.models.device.lossless_queue import (
    AiEcn,
    AiEcnQueue,
    DropLimits,
    DropProfile,
    QueueMarking,
)
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.lossless import AiEcnProfile, StaticEcn

Edit = Callable[..., Path]
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")
ECN = "ecn: ai-ecn-hpc"
OWN = """  ecn:
    own:
      kind: static
      thresholds:
        25: {kmin_kbytes: 10, kmax_kbytes: 100, pmax_percent: 5}
        100: {kmin_kbytes: 40, kmax_kbytes: 400, pmax_percent: 5}
  lossless:
"""
BLOCK = "profiles:\n  lossless:\n"


def sentences_of(path: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        derive(path)
    return [line.replace(f"{path.parent}/", "") for line in str(caught.value).splitlines()]


def own(edit_heps: Edit) -> Path:
    return edit_heps((ECN, "ecn: own"), (BLOCK, f"profiles:\n{OWN}"))


def test_heps_marks_by_ai_ecn_and_by_nothing_else(heps: DerivedNetwork) -> None:
    model = AiEcn(enabled=True, queues=(AiEcnQueue(queue=4, model="ai_ecn_hpc"),))
    for node in heps.network.nodes:
        assert node.device.ai_ecn == model
        assert (node.device.drop_profiles, node.device.ecn_enabled) == ((), False)
        assert not any(port.markings for port in node.device.interfaces)
        position = heps.sources.find(node.name, "ai_ecn")
        assert position is not None
        assert position.file.endswith("profiles/ecn.yaml")


def test_static_thresholds_by_the_speed_of_the_port(edit_heps: Edit) -> None:
    derived = derive(own(edit_heps))
    leaf = derived.network.by_name["leaf05"].device  # V300 G1, servers at 25 Gb/s
    names = {i.name: i.markings for i in leaf.interfaces if i.pfc}
    assert {port.partition("GE")[0] for port in names} == {"25", "100"}
    for port, markings in names.items():
        speed = port.partition("GE")[0]
        assert markings == (QueueMarking(queue=4, profile=f"own-{speed}g", ecn=True),)
    assert leaf.drop_profiles == (
        DropProfile(
            name="own-25g", ecn=DropLimits(low=10240, high=102400, percent=5, unit="bytes")
        ),
        DropProfile(
            name="own-100g", ecn=DropLimits(low=40960, high=409600, percent=5, unit="bytes")
        ),
    )
    assert (leaf.ai_ecn, leaf.ecn_enabled) == (AiEcn(), True)
    spine = derived.network.by_name["spine01"].device  # V200, 100 Gb/s only
    assert [profile.name for profile in spine.drop_profiles] == ["own-100g"]
    assert not spine.ecn_enabled


def test_a_threshold_leads_back_to_its_line(edit_heps: Edit) -> None:
    path = own(edit_heps)
    lines = path.read_text(encoding="utf-8").splitlines()
    position = derive(path).sources.find("leaf05", "drop_profiles[own-25g].ecn")
    assert position is not None
    assert lines[position.line - 1].strip().startswith("25: {kmin_kbytes: 10")


@pytest.mark.parametrize(
    ("replacements", "sentences"),
    [
        (
            [("        25: {kmin_kbytes: 10, kmax_kbytes: 100, pmax_percent: 5}\n", "")],
            [
                "profiles.ecn.own.thresholds: no thresholds for ports of 25 Gb/s, which leaf05 "
                "25GE1/0/1 and 3 more have; add 25, or name another ECN profile in the lossless "
                "profile"
            ],
        ),
        (
            [("        25: {", "        26: {")],
            [
                "profiles.ecn.own.thresholds.26: '26' cannot be used; known here: 10, 100, 200, 25, "
                "40, 400, 50, 800"
            ],
        ),
        (
            [("kind: static", "kind: statik")],
            ["profiles.ecn.own.kind: there is no kind 'statik'; did you mean 'static'?"],
        ),
        (
            [("kmax_kbytes: 100, pmax_percent: 5", "kmax_kbytes: 100, pmax_percent: 101")],
            [
                "profiles.ecn.own.thresholds.25.pmax_percent: 101 is out of range; write a percentage from 1 to 100"
            ],
        ),
    ],
)
def test_what_an_ecn_profile_must_say(
    edit_heps: Edit, replacements: list[tuple[str, str]], sentences: list[str]
) -> None:
    path = own(edit_heps)
    text = path.read_text(encoding="utf-8")
    for old, new in replacements:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    assert [line.split(": ", 1)[1] for line in sentences_of(path)] == sentences


def test_an_ecn_profile_that_is_not_there_or_of_another_kind(edit_heps: Edit) -> None:
    missing = sentences_of(edit_heps((ECN, "ecn: ai-ecn-hcp")))
    assert [line.split(": ", 1)[1] for line in missing] == [
        "profiles.lossless.heps.ecn: there is no ECN profile 'ai-ecn-hcp'; did you mean 'ai-ecn-hpc'?"
    ]


def test_a_name_must_leave_room_for_the_speed(edit_heps: Edit) -> None:
    for length, wrong in ((26, False), (27, True)):
        name = "n" * length
        path = own(edit_heps)
        path.write_text(path.read_text().replace("own", name), encoding="utf-8")
        if not wrong:
            assert derive(path).network.by_name["leaf05"].device.drop_profiles
            continue
        assert [line.split(": ", 1)[1] for line in sentences_of(path)] == [
            f"profiles.ecn.{name}: a static ECN profile with a name of 27 characters; use 26 at "
            "most: switches get drop profiles named after it, such as nnnnnn-100g"
        ]


def test_profiles_of_name_their_source_and_can_be_named_after() -> None:
    library = profiles_of()
    profiles = {name: library.get("ecn", name) for name in library.names("ecn")}
    shipped = {name: chosen.profile for name, chosen in profiles.items() if chosen}
    assert {type(profile).__name__ for profile in shipped.values()} == {"AiEcnProfile", "StaticEcn"}
    for name, profile in shipped.items():
        assert isinstance(profile, AiEcnProfile | StaticEcn)
        assert profile.source, name
        vendor = ("V300R023C00", "EDOC")
        assert profile.confirmed == profile.source.startswith(vendor), name


ids = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True)


def grown(leaf_ids: list[int]) -> dict[str, str]:
    """Render HEPS with other leaves, half of them with servers, marked by static thresholds."""
    data = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    heps = {**data["profiles"]["lossless"]["heps"], "ecn": "huawei-throughput"}
    leaf = data["leaves"][4]
    data["profiles"] = {"lossless": {"heps": heps}}
    data["leaves"] = [{**leaf, "id": i, "name": f"leaf{i:02}"} for i in leaf_ids]
    data["servers"] = [
        {"name": f"r{i}", "leaf": f"leaf{i:02}", "port": "25GE1/0/7", "segment": "beamline"}
        for i in leaf_ids
        if i % 2
    ]
    data["rollout"] = {"canary": f"leaf{leaf_ids[0]:02}"}
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    loaded = LoadedFabric(validate(Fabric, document), document)
    return render_all(derive_loaded(loaded, load_catalogue()).network)


@settings(max_examples=tries(8))
@given(ids, ids)
def test_leaves_that_come_change_others_by_added_lines_only(old: list[int], new: list[int]) -> None:
    before, after = grown(old), grown(sorted({*old, *new}))
    for name, text in before.items():
        assert not set(text.splitlines()) - set(after[name].splitlines())
