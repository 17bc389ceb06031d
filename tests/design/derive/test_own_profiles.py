"""Lossless profiles of single switches and racks: precedence, laws, errors, lines of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import Document, document_of, read_document
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.change.advice.causes import document_changes, origins
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.derive.host_plans import host_plans
from rocefort.design.expand import GrowthRequest, NewSwitchModel, grow
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.design.remove import remove
from rocefort.design.results import ShowTable, show_output
from rocefort.dialects.network_text import render_all
from rocefort.models.fabric.fabric import Fabric

Edit = Callable[..., Path]
HEPS = read_document(INVENTORY / "heps" / "fabric.yaml")
SPINES = [f"spine{n:02}" for n in (1, 2)]
LEAVES = [f"leaf{n:02}" for n in range(1, 9)]
RACKS = ["net1", "net2", "row1", "row2", "hall1", "hall2"]
EARLY = {
    "kind": "static",
    "thresholds": {
        "25": {"kmin_kbytes": 20, "kmax_kbytes": 100, "pmax_percent": 10},
        "100": {"kmin_kbytes": 40, "kmax_kbytes": 300, "pmax_percent": 10},
    },
}
OWN = "profiles:\n  lossless:\n"
PROFILE = f"""{OWN}    shallow:
      queue: 4
      roce_dscp: 34
      cnp_dscp: 48
      xoff_kbytes: 400
      xon_kbytes: 350
      deadlock: {{detect_ms: 200, recovery_ms: 200, by_family: {{v200: {{detect_time: 20, \
recovery_time: 20, reason: as seen}}}}}}
      ecn: ai-ecn-hpc
"""


def derived(
    own: Mapping[str, str], racks: Mapping[str, str], more: Mapping[str, object], default: str
) -> DerivedNetwork:
    """Derive HEPS with profiles of switches and racks; more: values of profile `own`."""
    data = dict(HEPS.data) if isinstance(HEPS.data, dict) else {}
    profiles = data["profiles"]["lossless"]
    data["profiles"] = {
        "lossless": {**profiles, "own": {**profiles["heps"], **more}},
        "ecn": {"early": EARLY},
    }
    data["lossless"] = default
    data["racks"] = [{"name": name, "lossless": profile} for name, profile in racks.items()]
    for group in ("spines", "leaves"):
        data[group] = [
            {**row, "lossless": own[row["name"]]} if row["name"] in own else row
            for row in data[group]
        ]
    document = Document(HEPS.file, data, HEPS.values, HEPS.keys)
    return derive_loaded(LoadedFabric(validate(Fabric, document), document), load_catalogue())


def texts(
    own: Mapping[str, str], racks: Mapping[str, str], more: Mapping[str, object], default: str
) -> dict[str, str]:
    return render_all(derived(own, racks, more, default).network)


NAMES = st.sampled_from(["heps", "own"])
OWNED = st.dictionaries(st.sampled_from([*SPINES, *LEAVES]), NAMES)
VALUES = st.fixed_dictionaries(
    {"xoff_kbytes": st.integers(560, 900), "ecn": st.sampled_from(["early", "ai-ecn-hpc"])},
    optional={
        "domain": st.just("other"),
        "headroom_pool_kbytes": st.just(1024),
        "scheduling": st.just([]),
        "queue": st.just(3),
    },
)


@settings(max_examples=tries(6))
@given(own=OWNED, racks=st.dictionaries(st.sampled_from(RACKS), NAMES), more=VALUES)
def test_each_switch_is_as_in_a_fabric_with_its_profile_everywhere(
    own: dict[str, str], racks: dict[str, str], more: dict[str, object]
) -> None:
    """Nothing of a profile reaches a switch that has another one."""
    everywhere = {name: texts({}, {}, more, name) for name in ("heps", "own")}
    mixed = derived(own, racks, more, "heps")
    of_switch = {
        s.name: own.get(s.name) or racks.get(s.rack or "", "heps")
        for s in (*mixed.fabric.spines, *mixed.fabric.leaves)
    }
    for name, text in render_all(mixed.network).items():
        assert text == everywhere[of_switch[name]][name]
        assert mixed.lossless_of(name).name == of_switch[name]
    assert set(mixed.network.own_lossless) == {n for n, of in of_switch.items() if of == "own"}


@pytest.mark.parametrize(
    "by",
    [
        {"own": dict.fromkeys([*SPINES, *LEAVES], "heps"), "racks": {}},
        {"own": {}, "racks": dict.fromkeys(RACKS, "heps")},
    ],
)
def test_naming_the_default_everywhere_changes_nothing(by: dict[str, dict[str, str]]) -> None:
    heps = derived({}, {}, {}, "heps")
    named = derived(by["own"], by["racks"], {}, "heps")
    assert named.network == heps.network
    assert dict(named.sources.table) == dict(heps.sources.table)


def test_values_have_the_lines_of_the_switch_s_profile(edit_heps: Edit) -> None:
    path = edit_heps((OWN, PROFILE), ("name: leaf02", "name: leaf02\n    lossless: shallow"))
    made, lines = derive(path), path.read_text(encoding="utf-8").splitlines()

    def line(device: str, field: str) -> str:
        position = made.sources.find(device, field)
        assert position is not None
        return lines[position.line - 1].split("#")[0].strip()

    port = "interfaces[100GE1/0/1]"
    for field, own, common in (
        (f"{port}.thresholds[4].xoff_kbytes", "xoff_kbytes: 400", "xoff_kbytes: 600"),
        (f"{port}.thresholds[4].xon_kbytes", "xon_kbytes: 350", "xon_kbytes: 550"),
        ("domains[roce].dscp[34]", "roce_dscp: 34", "roce_dscp: 34"),
    ):
        assert line("leaf02", field) == own
        assert line("leaf01", field) == common
    assert line("leaf02", "lossless.queue") == line("", "lossless.queue") == "queue: 4"
    assert made.sources.find("leaf02", "lossless.queue") != made.sources.find("", "lossless.queue")


RACKS_TOO = "lossless: heps\nracks:\n  - {name: row1, lossless: shallow}  # old optics\n"
WITH_OWN = (
    (OWN, PROFILE),
    ("lossless: heps\n", RACKS_TOO),
    ("name: leaf08", "name: leaf08\n    lossless: shallow"),
)


def test_the_table_lists_the_profile_of_each_switch(edit_heps: Edit) -> None:
    network = derive(edit_heps(*WITH_OWN)).network
    rows = show_output(network, ShowTable.LOSSLESS).model_dump(mode="json")["rows"]
    shallow = [row["device"] for row in rows if row["profile"] == "shallow"]
    assert shallow == ["leaf01", "leaf02", "leaf08"]
    values = {(row["profile"], row["xoff_kbytes"], row["xon_kbytes"], row["ecn"]) for row in rows}
    assert values == {
        ("heps", 600, 550, "AI-ECN ai_ecn_hpc"),
        ("shallow", 400, 350, "AI-ECN ai_ecn_hpc"),
    }
    blind = network.model_copy(update={"lossless": None, "own_lossless": {}})
    (row, *_) = show_output(blind, ShowTable.LOSSLESS).rows
    assert (row["profile"], row["queue"], row["xoff_kbytes"]) == (None, 4, 600)


def test_servers_have_the_classes_of_their_leaf_s_profile(edit_heps: Edit) -> None:
    path = edit_heps(
        (OWN, PROFILE.replace("queue: 4", "queue: 5").replace("roce_dscp: 34", "roce_dscp: 40")),
        ("name: leaf08", "name: leaf08\n    lossless: shallow"),
    )
    plans = host_plans(derive(path))
    assert {(p.queue, p.roce_dscp) for p in plans.values() if p.leaf != "leaf08"} == {(4, 34)}
    own = plans["readout04"]
    assert (own.queue, own.roce_dscp, own.cnp_dscp) == (5, 40, 48)
    assert own.nic is not None
    assert own.nic.priorities == {40: 5, 48: 6}
    assert own.nic.paused == (5,)
    assert not any("lossless profile" in sentence for sentence in own.unconfirmed)
    assert any("lossless profile heps" in s for s in plans["readout03"].unconfirmed)


def loaded(text: str) -> LoadedFabric:
    document = document_of(text, "fabric.yaml")
    return LoadedFabric(validate(Fabric, document), document)


def test_a_rack_s_values_go_with_its_last_switch(edit_heps: Edit) -> None:
    text = edit_heps(*WITH_OWN).read_text(encoding="utf-8")
    on_leaf02 = ["leaf02", "k8sgn09", "daisycn01"]
    assert "racks" in remove(text, loaded(text), on_leaf02).text
    both = remove(text, loaded(text), [*on_leaf02, "leaf01", "transfer01", "k8sgn08"])
    assert "the values of rack row1, which is empty, are removed" in both.beside
    assert both.loaded.fabric.racks == ()
    assert derive_loaded(both.loaded).network.own_lossless.keys() == {"leaf08"}


def test_a_new_leaf_has_the_profile_of_the_one_it_is_like_and_of_its_rack(edit_heps: Edit) -> None:
    text = edit_heps(*WITH_OWN).read_text(encoding="utf-8")

    def profiles(like: str, racks: list[str]) -> list[str]:
        request = GrowthRequest(leaves=2, like=[like], racks={"leaves": racks} if racks else {})
        fabric = grow(text, loaded(text), load_catalogue(), request).loaded.fabric
        return [fabric.lossless_of(leaf) for leaf in fabric.leaves[-2:]]

    assert profiles("leaf08", []) == ["shallow", "shallow"]
    assert profiles("leaf07", []) == ["heps", "heps"]
    assert profiles("leaf02", []) == ["heps", "heps"]  # the rack of a new leaf is not copied
    assert profiles("leaf07", ["row1", "hall2"]) == ["shallow", "heps"]


def test_leaves_with_unlike_profiles_are_of_two_kinds(edit_heps: Edit) -> None:
    text = edit_heps(*WITH_OWN).read_text(encoding="utf-8")
    hardware = {"leaves": NewSwitchModel("CE6866-48S8CQ-P")}
    with pytest.raises(BadInput) as caught:
        grow(text, loaded(text), load_catalogue(), GrowthRequest(leaves=1, hardware=hardware))
    assert (
        "for beamline with the usual profile (leaf05) and for beamline with lossless profile "
        "shallow (leaf08)"
    ) in str(caught.value)


def test_a_review_names_the_line_of_the_leaf_or_rack(edit_heps: Edit) -> None:
    """The lines of the profile that a switch now has are unchanged: they are no cause."""
    before = derive(edit_heps((OWN, PROFILE), ("lossless: heps\n", "lossless: heps\n\n\n")))
    path = edit_heps(*WITH_OWN)
    after, lines = derive(path), path.read_text(encoding="utf-8").splitlines()
    changes = tuple(document_changes(before.document, after.document))
    assert [change.path for change in changes] == ["racks", "leaves[leaf08].lossless"]
    beside = origins(after.sources, after.network, changes, {}, head=True).beside
    causes = {name: lines[int(place.rpartition(":")[2]) - 1] for name, place in beside.items()}
    assert causes == {
        "leaf01": "racks:",
        "leaf02": "racks:",
        "leaf08": "    lossless: shallow",
    }


def sentences(path: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        derive(path)
    return [line.replace(f"{path.parent}/", "") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        (
            [("name: leaf02", "name: leaf02\n    lossless: shalow")],
            "leaves[1].lossless: there is no lossless profile 'shalow'; did you mean 'shallow'?",
        ),
        (
            [("name: spine02", "name: spine02\n    lossless: early")],
            "spines[1].lossless: there is no lossless profile 'early'",
        ),
        (
            [("lossless: heps\n", "lossless: heps\nracks:\n  - {name: row1, lossless: shalow}\n")],
            "racks[0].lossless: there is no lossless profile 'shalow'; did you mean 'shallow'?",
        ),
        (
            [("lossless: heps\n", "lossless: heps\nracks:\n  - {name: row3, lossless: shallow}\n")],
            "racks[0].name: no rack 'row3' with a switch; did you mean 'row2'?",
        ),
        (  # a profile that one leaf alone uses is checked, too
            [
                ("name: leaf02", "name: leaf02\n    lossless: shallow"),
                ("xon_kbytes: 350", "xon_kbytes: 450"),
            ],
            "profiles.lossless.shallow.xon_kbytes: xon 450 kbytes is above xoff 400 kbytes; write "
            "less than 400: pauses end two frames or more below xoff",
        ),
        (
            [
                ("name: leaf03", "name: leaf03\n    lossless: shallow"),
                (
                    "xon_kbytes: 350",
                    "xon_kbytes: 350\n      scheduling: [{queue: 4, weight: 2}, "
                    "{queue: 4, weight: 3}]",
                ),
            ],
            "profiles.lossless.shallow.scheduling[1].queue: queue '4' is given twice; write another "
            "one: the first is on line ",
        ),
        (
            [
                ("name: leaf02", "name: leaf02\n    lossless: shallow"),
                (
                    ", by_family: {v200: {detect_time: 20, recovery_time: 20, reason: as seen}}",
                    "",
                ),
            ],
            "profiles.lossless.shallow.deadlock: leaf02 is v200, whose timer unit no source confirms",
        ),
    ],
)
def test_a_wrong_profile_is_reported_where_it_is_named(
    edit_heps: Edit, edits: list[tuple[str, str]], says: str
) -> None:
    path = edit_heps((OWN, PROFILE))
    text = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    (sentence,) = sentences(path)
    assert says in sentence
