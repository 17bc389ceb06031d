"""Stages of a facility carry their demand, and move nothing: HEPS from 15 to 90 beamlines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput, Refused
from rocefort.base.repository import INVENTORY
from rocefort.beamline.stages import (
    STAGES_FILE,
    StageFabric,
    judged_stages,
    stage_fabrics,
)
from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of_derived

PHASE1, PHASE2 = INVENTORY / "heps-phase1", INVENTORY / "heps-phase2"
STAGE: dict[str, Any] = {"name": "stage1", "beamlines": 1, "leaves": {"beamline": 1}}


@cache
def heps() -> tuple[StageFabric, ...]:
    return stage_fabrics(PHASE2)


def lies_within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether all lines of a text are in another one, in their order."""
    rest = iter(whole)
    return all(line in rest for line in part)


def grows(old: StageFabric, new: StageFabric) -> None:
    """Assert that a stage only adds lines: to its fabric.yaml, and to the texts of switches."""
    assert lies_within(old.text.splitlines(), new.text.splitlines())
    for name, text in old.subject.texts.items():
        assert lies_within(text.splitlines(), new.subject.texts[name].splitlines()), name


def site(folder: Path, stages: list[dict[str, Any]], **keys: Any) -> Path:
    """A fabric with stages that grows from Phase I."""
    base, own = folder / "inventory" / "base", folder / "inventory" / "grown"
    base.mkdir(parents=True, exist_ok=True)
    own.mkdir(exist_ok=True)
    text = (PHASE1 / "fabric.yaml").read_text(encoding="utf-8")
    for directory in (base, own):
        (directory / "fabric.yaml").write_text(text, encoding="utf-8")
    plan = {"fabric": "grown", "base": "base", "title": "A title.", "stages": stages} | keys
    (own / STAGES_FILE).write_text(yaml.safe_dump(plan, sort_keys=False), encoding="utf-8")
    return own


def test_the_fabric_of_phase_two_is_its_last_stage(golden_update: bool) -> None:
    path, text = PHASE2 / "fabric.yaml", heps()[-1].text
    if golden_update:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run this test with --golden-update"


def test_the_base_is_phase_one_with_another_name() -> None:
    own = subject_of_derived(derive(PHASE1)).texts
    assert heps()[0].subject.texts == own


def test_each_file_of_a_stage_only_adds_lines() -> None:
    for old, new in zip(heps(), heps()[1:], strict=False):
        assert lies_within(old.text.splitlines(), new.text.splitlines())


def test_the_first_stage_fits_and_moves_nothing() -> None:
    base, first = heps()[:2]
    grows(base, first)
    result = judged_stages((base, first))
    assert result.sound
    assert [(row.beamlines, row.leaves, row.spines) for row in result.stages] == [
        (15, 8, 5),
        (30, 13, 6),
    ]
    assert result.stages[1].lines_added


@pytest.mark.thorough
def test_every_stage_fits_and_moves_nothing() -> None:
    for old, new in zip(heps(), heps()[1:], strict=False):
        grows(old, new)
    result = judged_stages(heps())
    assert result.sound
    assert [row.beamlines for row in result.stages] == [15, 30, 45, 60, 75, 90]
    assert all(row.whole <= row.after <= row.drained <= 0.8 for row in result.stages)


def test_new_items_are_marked_as_assumed() -> None:
    fabric = heps()[-1].loaded.fabric
    for beamline in fabric.beamlines[15:]:
        assert {"leaf", "ports", "segment", "detectors", "sends_to"} <= {*beamline.assumed}


@settings(max_examples=tries(15))
@given(
    spines=st.integers(0, 2),
    leaves=st.fixed_dictionaries({"compute": st.integers(0, 2), "storage": st.integers(0, 1)}),
    servers=st.fixed_dictionaries({"compute": st.integers(0, 9), "storage": st.integers(0, 9)}),
    halls=st.integers(0, 2),
    share=st.integers(0, 5),
)
def test_any_stage_only_adds(
    tmp_path_factory: pytest.TempPathFactory,
    spines: int,
    leaves: dict[str, int],
    servers: dict[str, int],
    halls: int,
    share: int,
) -> None:
    stage = {
        "name": "stage1",
        "spines": spines,
        "leaves": {
            **{key: n for key, n in leaves.items() if n},
            **({"beamline": halls} if halls else {}),
        },
        "servers": {key: n for key, n in servers.items() if n},
        "beamlines": halls * share,
    }
    base, grown = stage_fabrics(site(tmp_path_factory.mktemp("site"), [stage]))
    grows(base, grown)


@pytest.mark.parametrize(
    ("stage", "keys", "error", "message"),
    [
        (STAGE, {"base": "bas"}, BadInput, "base: no fabric 'bas'; did you mean 'base'?"),
        (
            {**STAGE, "leaves": {"beam": 1}},
            {},
            BadInput,
            "stages[0].leaves.beam: no leaf serves segment 'beam'; did you mean 'beamline'?",
        ),
        (
            {**STAGE, "servers": {"compute": 50}},
            {},
            Refused,
            "stages[0].servers.compute: 50 servers of compute, and its leaves have 40 free ports; "
            "add leaves in this stage",
        ),
        (
            {**STAGE, "beamlines": 6},
            {},
            Refused,
            "bl21 is beamline 21, and the 4 leaves of segment beamline have blocks of 3 ports for "
            "20 beamlines: 3 ports of 100 Gb/s are missing",
        ),
        (
            {**STAGE, "spines": 4},
            {},
            Refused,
            "4 more spines take ids 6 to 9; the reserved capacity",
        ),
    ],
)
def test_a_stage_that_cannot_be_is_refused(
    tmp_path: Path,
    stage: dict[str, Any],
    keys: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error) as raised:
        stage_fabrics(site(tmp_path, [stage], **keys))
    assert message in str(raised.value)


def test_a_fabric_without_stages_names_the_page() -> None:
    with pytest.raises(BadInput, match=r"heps: has no stages; write stages.yaml beside"):
        stage_fabrics(Path("heps"))
