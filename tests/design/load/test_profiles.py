"""Named profiles, shipped and own: lookup of a name, and errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.base.repository import PROFILES, Site
from rocefort.design.derive.check_profiles import REFERENCES
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_loaded
from rocefort.design.load.documents import load_fabric
from rocefort.design.load.profiles import KINDS, profiles_of
from rocefort.dialects.network_text import render_all
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.models.fabric.hosts import Adapter, NicProfile
from rocefort.models.fabric.types import Sourced
from rocefort.validators.checks import check

Edit = Callable[..., Path]
OWN = "profiles:\n"
LOSSLESS = "lossless: heps\n"
FIRST_SERVER = "    port: 100GE1/0/1\n    segment: transfer\n"
SHIPPED = list(profiles_of().known.values())


def sentences_of(path: Path) -> list[str]:
    """Return the error's sentences without directories."""
    with pytest.raises(BadInput) as caught:
        derive(path)
    assert caught.value.exit_code == 2
    return [line.removeprefix(f"{path.parent}/") for line in str(caught.value).splitlines()]


def placed(path: Path, sentence: str) -> str:
    """Replace `<text#2>` in a sentence by the number of the second line with that text."""
    lines = path.read_text(encoding="utf-8").splitlines()

    def number(match: re.Match[str]) -> str:
        text, _, which = match[1].partition("#")
        numbers = [n for n, line in enumerate(lines, 1) if text in line]
        return str(numbers[int(which or 1) - 1])

    return re.sub(r"<([^<>]+)>", number, sentence)


CASES: list[tuple[list[tuple[str, str]], list[str]]] = [
    (
        [(LOSSLESS, "lossless: hepz\n")],
        [
            "fabric.yaml:<lossless: >:11: lossless: there is no lossless profile 'hepz'; did you mean 'heps'?"
        ],
    ),
    (
        [(LOSSLESS, "lossless: connectx-dcqcn\ncongestion_control: heps\n")],
        [
            "fabric.yaml:<lossless: >:11: lossless: 'connectx-dcqcn' is no lossless profile, but one of kind "
            "congestion_control; known here: ai-fabric-hpc, heps, heps-like",
            "fabric.yaml:<congestion_control: >:21: congestion_control: 'heps' is no congestion control "
            "profile, but one of kind lossless; known here: connectx-dcqcn, hpcc-simulator, paper-dcqcn, pfc-only",
        ],
    ),
    (
        [(FIRST_SERVER, f"{FIRST_SERVER}    nic: connectx\n")],
        [
            "fabric.yaml:<nic: connectx>:10: servers[0].nic: 'connectx' is no NIC profile, but one of kind "
            "adapter; known here: connectx-dscp24, connectx-dscp34, connectx-factory"
        ],
    ),
    (  # together with other problems of the same stage
        [(LOSSLESS, "lossless: nothing-like-it\n"), ("canary: leaf08", "canary: leaf09")],
        [
            "fabric.yaml:<lossless: >:11: lossless: there is no lossless profile 'nothing-like-it'; known "
            "here: ai-fabric-hpc, heps, heps-like",
            "fabric.yaml:<canary: >:11: rollout.canary: no leaf 'leaf09'; did you mean 'leaf08'?",
        ],
    ),
    (
        [("    heps:\n", "    heps-like:\n"), (LOSSLESS, "lossless: heps-like\n")],
        [
            "fabric.yaml:<    heps-like:>:5: profiles.lossless.heps-like: lossless profile 'heps-like' is at "
            "inventory/profiles/lossless.yaml:4:3, too; give this one another name"
        ],
    ),
    (
        [("    heps:\n", "    heps: {}\n    heps:\n")],
        [
            "fabric.yaml:<    heps:#2>:5: profiles.lossless.heps: key 'heps' is there twice; remove one: the first "
            "is on line <    heps:#1>"
        ],
    ),
    (
        [(OWN, f"{OWN}  nic:\n    ours: {{adapter: conectx}}\n")],
        [
            "fabric.yaml:<ours:>:21: profiles.nic.ours.adapter: there is no adapter profile 'conectx'; "
            "did you mean 'connectx'?"
        ],
    ),
    (
        [(OWN, f"{OWN}  nic:\n    ours: {{trust: dscp, assumed: [trusted]}}\n")],
        [
            "fabric.yaml:<ours:>:11: profiles.nic.ours: 'trusted' is marked, but is no value of it; "
            "name one of its keys"
        ],
    ),
    (
        [(OWN, f"{OWN}  nic:\n    ours: {{dscp2prio: {{64: 3, 24: 8, x: 1}}}}\n")],
        [
            "fabric.yaml:<ours:>:28: profiles.nic.ours.dscp2prio.64: '64' is out of range; write a "
            "DSCP from 0 to 63 (the field has 6 bits)",
            "fabric.yaml:<ours:>:35: profiles.nic.ours.dscp2prio.24: 8 is out of range; write a "
            "priority from 0 to 7 (802.1Q has eight)",
            "fabric.yaml:<ours:>:41: profiles.nic.ours.dscp2prio.x: 'x' is not a whole number; write "
            "the number alone",
        ],
    ),
    (
        [
            (
                OWN,
                f"{OWN}  congestion_control:\n    a: {{kind: hpcc}}\n    b: {{}}\n"
                "    c: {kind: dcqcn, increase_timer: 55}\n"
                "    d: {kind: pfc_only, lossless: ai}\n"
                "    e: {kind: dcqcn, increase_timer_us: 55 us}\n",
            )
        ],
        [
            "fabric.yaml:<    a: >:15: profiles.congestion_control.a.kind: there is no kind 'hpcc'; known "
            "here: dcqcn, pfc_only",
            "fabric.yaml:<    b: >:8: profiles.congestion_control.b.kind: 'kind' is missing; add it",
            "fabric.yaml:<    c: >:22: profiles.congestion_control.c.increase_timer: unknown key "
            "'increase_timer'; did you mean 'increase_timer_us'?",
            "fabric.yaml:<    e: >:41: profiles.congestion_control.e.increase_timer_us: '55 us' is not a "
            "whole number; write the number alone, in microseconds",
        ],
    ),
    (
        [
            (LOSSLESS, f"{LOSSLESS}congestion_control: a\n"),
            (
                OWN,
                f"{OWN}  congestion_control:\n    a: {{kind: pfc_only, lossless: heps-like}}\n"
                "    b: {kind: pfc_only, lossless: heps-lik}\n    c: {kind: pfc_only, lossless: heps}\n",
            ),
        ],
        [
            "fabric.yaml:<congestion_control: >:21: congestion_control: profile 'a' is made for lossless profile "
            "'heps-like', and the fabric has 'heps'; name one that is made for it, or for any",
            "fabric.yaml:<    b: >:35: profiles.congestion_control.b.lossless: there is no lossless "
            "profile 'heps-lik'; did you mean 'heps-like'?",
        ],
    ),
    (  # an unknown key below names of the author's own
        [("            detect_time: 10", "            detect_times: 10")],
        [
            "fabric.yaml:<detect_times>:13: profiles.lossless.heps.deadlock.by_family.v200.detect_times: "
            "unknown key 'detect_times'; did you mean 'detect_time'?"
        ],
    ),
]


@pytest.mark.parametrize(("edits", "sentences"), CASES)
def test_each_error_says_where_what_and_how(
    edit_heps_without_nics: Edit, edits: list[tuple[str, str]], sentences: list[str]
) -> None:
    path = edit_heps_without_nics(*edits)
    assert sentences_of(path) == [placed(path, sentence) for sentence in sentences]


def planned(edit_heps_without_nics: Edit, nic: str = "connectx-dscp24") -> DerivedNetwork:
    """Derive HEPS with the vendor's lossless profile."""
    return derive(
        edit_heps_without_nics(
            (LOSSLESS, "lossless: ai-fabric-hpc\ncongestion_control: connectx-dcqcn\n"),
            (FIRST_SERVER, f"{FIRST_SERVER}    nic: {nic}\n"),
        )
    )


def test_the_vendors_plan_maps_roce_and_cnp(edit_heps_without_nics: Edit) -> None:
    derived = planned(edit_heps_without_nics)
    text = render_all(derived.network)["leaf03"]
    assert " ip-dscp-inbound 24 phb af4 green\n ip-dscp-inbound 25 phb cs6 green\n" in text
    assert " dcb pfc buffer 4 xon static 100 kbytes xoff static 125 kbytes\n" in text


def test_values_of_a_shipped_profile_point_at_its_file(edit_heps_without_nics: Edit) -> None:
    derived = planned(edit_heps_without_nics)
    at = [
        derived.sources.find("leaf01", "interfaces[100GE1/0/1].thresholds"),
        derived.sources.find("", "nics[connectx-dscp24].dscp2prio"),
        derived.sources.find("", "congestion.increase_timer_us"),
    ]
    lines = []
    for position in at:
        assert position is not None
        line = Path(position.file).read_text(encoding="utf-8").splitlines()[position.line - 1]
        lines.append(f"{Path(position.file).name} {line.strip()}")
    assert lines == [
        "lossless.yaml xoff_kbytes: 125",
        "nic.yaml dscp2prio: {24: 4, 25: 6}  # 3 by default",
        "congestion_control.yaml increase_timer_us: 300",
    ]


def test_a_value_of_an_own_profile_points_at_the_fabric(heps: DerivedNetwork) -> None:
    position = heps.sources.find("leaf01", "interfaces[100GE1/0/1].thresholds")
    assert position is not None
    assert position == heps.document.key_at(("profiles", "lossless", "heps", "xoff_kbytes"))


def test_an_error_in_a_shipped_value_points_at_its_file(
    edit_heps_without_nics: Edit, tmp_path: Path
) -> None:
    shipped = (PROFILES / "lossless.yaml").read_text(encoding="utf-8")
    ours = shipped.replace("heps-like:", "ours:").replace(
        "queue: 5, weight: 1", "queue: 4, weight: 1"
    )
    site = Site(tmp_path)
    directory = site.profiles
    directory.mkdir(parents=True)
    (directory / "ours.yaml").write_text(ours, encoding="utf-8")
    loaded = load_fabric(edit_heps_without_nics((LOSSLESS, "lossless: ours\n")), site)
    with pytest.raises(BadInput) as caught:
        derive_loaded(loaded)
    assert str(caught.value).replace(f"{directory}/", "") == placed(
        directory / "ours.yaml",
        "ours.yaml:<queue: 4#3>:17: lossless.ours.scheduling[5].queue: queue '4' is given twice; "
        "write another one: the first is on line <queue: 4#2>",
    )


def hst(derived: DerivedNetwork) -> list[str]:
    report = check(derived.network, derived.sources)
    return [f"{f.rule} {f.message}" for f in report.findings if f.rule.startswith("HST")]


@pytest.mark.parametrize(
    ("nic", "rules"),
    [
        ("connectx-dscp24", []),
        ("connectx-dscp34", ["HST001", "HST002", "HST003", "HST005"]),
        ("connectx-factory", ["HST001", "HST002", "HST003"]),
    ],
)
def test_shipped_nics_in_the_vendors_plan(
    edit_heps_without_nics: Edit, nic: str, rules: list[str]
) -> None:
    assert [line.split()[0] for line in hst(planned(edit_heps_without_nics, nic))] == rules


def test_the_papers_values_do_not_all_fit_a_nic(edit_heps_without_nics: Edit) -> None:
    path = edit_heps_without_nics(
        (LOSSLESS, f"{LOSSLESS}congestion_control: paper-dcqcn\n"),
        (FIRST_SERVER, f"{FIRST_SERVER}    nic: connectx-dscp34\n"),
    )
    assert hst(derive(path)) == [
        "HST007 byte_counter_bytes is 10000000, and roce_rp/rpg_byte_reset of connectx takes 0 to "
        "32767"
    ]


@pytest.mark.parametrize("name", ["heps-like", "ai-fabric-hpc"])
def test_every_shipped_lossless_profile_fits_heps(edit_heps_without_nics: Edit, name: str) -> None:
    assert (
        derive(edit_heps_without_nics((LOSSLESS, f"lossless: {name}\n"))).network.lossless
        is not None
    )


@pytest.mark.parametrize("chosen", SHIPPED, ids=lambda chosen: f"{chosen.kind}-{chosen.name}")
def test_a_shipped_profile_has_sources_and_names_what_there_is(chosen: Any) -> None:
    profile = chosen.profile
    assert isinstance(profile, Sourced)
    assert profile.source
    for kind, key, target in REFERENCES:
        reference = getattr(profile, key) if kind == chosen.kind else None
        assert reference is None or profiles_of().get(target, reference)


def test_every_value_that_a_nic_is_told_has_a_name_of_its_maker() -> None:
    keys = {*Dcqcn.model_fields, *NicProfile.model_fields} - {*Sourced.model_fields}
    ours = keys - {"kind", "lossless", "adapter", "mtu_bytes"}
    connectx = profiles_of().get("adapter", "connectx")
    assert connectx is not None
    assert isinstance(connectx.profile, Adapter)
    assert set(connectx.profile.parameters) == ours


def test_marks_of_single_values() -> None:
    paper = profiles_of().get("lossless", "heps-like")
    assert paper is not None
    profile = paper.profile
    assert isinstance(profile, Sourced)
    assert profile.source_of("xoff_kbytes") == "Network 2025, 5(4), 53, doi 10.3390/network5040053"
    assert "EDOC1100155250" in str(profile.source_of("scheduling"))
    assert profile.source_of("roce_dscp") is None
    assert (profile.is_confirmed("xoff_kbytes"), profile.is_confirmed("roce_dscp")) == (True, False)


def test_a_name_in_two_files_of_a_site(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.profiles.mkdir(parents=True)
    for file in ("a", "b"):
        text = "nic:\n  x: {trust: dscp}\n"
        (site.profiles / f"{file}.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        profiles_of(site)
    assert str(caught.value).replace(f"{site.profiles}/", "") == (
        "b.yaml:2:3: nic.x: NIC profile 'x' is at a.yaml:2:3, too; give this one another name"
    )


def test_kinds_are_the_fields_of_the_block() -> None:
    assert {chosen.kind for chosen in SHIPPED} <= set(KINDS)
