"""Factor of an experiment: its levels are fabrics that pass `check`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocefort.base.errors import RocefortError
from rocefort.change.edit import FabricFile, read_fabric
from rocefort.design.derive import derive
from rocefort.design.load.profiles import Library, profiles_of
from rocefort.dialects.network_text import render_all
from rocefort.experiment.factor import (
    REFUSAL,
    LevelFabric,
    level_fabrics,
    parsed_factor,
    parsed_value,
)
from rocefort.models.fabric.lossless import StaticEcn


@pytest.fixture(scope="module")
def heps() -> FabricFile:
    return read_fabric(Path("heps"), REFUSAL)


def levels(file: FabricFile, factor: str) -> list[str]:
    key, words = parsed_factor(factor)
    return [f"{level.name}: {level.note}" for level in level_fabrics(file, key, words)]


LEVELS: list[tuple[str, list[str]]] = [
    (
        "ecn=static,ai",
        [
            "static: ecn profile huawei-throughput; EDOC1100155250, configuring static ECN (CE6865, CE8850, CE8861; RTT 20 us)",
            "ai: ecn profile ai-ecn-hpc; V300R023C00 command reference, AI ECN (assign queue) (as the fabric is)",
        ],
    ),
    (
        "xoff_kbytes=600,700",
        [
            "600: xoff_kbytes 600 in lossless profile heps (as the fabric is)",
            "700: xoff_kbytes 700 in lossless profile heps",
        ],
    ),
    (
        "lossless.deadlock.detect_ms=10000,5000",
        [
            "10000: deadlock.detect_ms 10000 in lossless profile heps (as the fabric is)",
            "5000: deadlock.detect_ms 5000 in lossless profile heps",
        ],
    ),
]


@pytest.mark.parametrize(("factor", "notes"), LEVELS, ids=[factor for factor, _ in LEVELS])
def test_a_level_is_the_fabric_with_one_other_value(
    heps: FabricFile, factor: str, notes: list[str]
) -> None:
    assert levels(heps, factor) == notes


@pytest.mark.parametrize(
    ("word", "value"),
    [("0", 0), ("600", 600), ("0.5", 0.5), ("true", True), ("false", False), ("ai-ecn", "ai-ecn")],
)
def test_a_word_is_a_number_a_truth_value_or_a_name(word: str, value: object) -> None:
    parsed = parsed_value(word)
    assert parsed == value and type(parsed) is type(value)


def test_the_digest_of_a_level_covers_its_profiles(
    heps: FabricFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile of the site may change while fabric.yaml does not."""
    level, _ = level_fabrics(heps, "ecn", ("ai", "static"))
    assert level.derived.fabric.congestion_control is not None
    key = ("congestion_control", level.derived.fabric.congestion_control)
    use = profiles_of(heps.start.site).known[key]

    def site_with(**changes: object) -> LevelFabric:
        other = replace(use, profile=use.profile.model_copy(update=changes))
        library = Library({**profiles_of(heps.start.site).known, key: other})
        with monkeypatch.context() as patch:
            patch.setattr(derive, "profiles_of", lambda _site: library)
            own = replace(level)
            assert own.digest
            return own

    assert site_with(source="another edition").digest == level.digest
    changed = site_with(increase_timer_us=99)
    assert changed.text == level.text
    assert changed.digest != level.digest


def test_a_level_with_static_ecn_is_a_whole_fabric(heps: FabricFile) -> None:
    level, own = level_fabrics(heps, "ecn", ("static", "ai"))
    assert own.text == heps.text
    assert own.derived.network == heps.start.network
    chosen = level.derived.profiles.get("ecn", level.derived.lossless.ecn)
    assert chosen is not None and isinstance(chosen.profile, StaticEcn)
    before, after = (render_all(each.network) for each in (heps.start, level.derived))
    assert all("assign queue" not in text for text in after.values())
    assert before.keys() == after.keys()


REFUSED: list[tuple[str, str]] = [
    (
        "ecn",
        "--factor: 'ecn' names no key with two values or more; write KEY=VALUE,VALUE, such as ecn=static,ai",
    ),
    ("ecn=ai,ai", "--factor: 'ecn=ai,ai' names a value twice; name each value once"),
    (
        "ecn=ai,../x",
        "--factor: 'ecn=ai,../x' names no key with two values or more; write KEY=VALUE,VALUE, such as ecn=static,ai",
    ),
    ("xof_kbytes=1,2", "--factor: no profile has a key 'xof_kbytes'; did you mean 'xoff_kbytes'?"),
    (
        "ecn=ai,hpcc-dcqn",
        "--factor: there is no ECN profile 'hpcc-dcqn'; did you mean 'hpcc-dcqcn'?",
    ),
    (
        "source=a,b",
        "--factor: 'source' is a key of several profiles; write one of lossless.source, ecn.source, congestion_control.source",
    ),
    (
        "xoff_kbytes=0600,700",
        "--factor: '0600' is no decimal number; write it as 600 or 0.5, without leading zeros",
    ),
    (
        "xoff_kbytes=600,0x258",
        "--factor: '0x258' is no decimal number; write it as 600 or 0.5, without leading zeros",
    ),
    (
        "xoff_kbytes=2026-01-01,600",
        "--factor: '2026-01-01' is no decimal number; write it as 600 or 0.5, without leading zeros",
    ),
    (
        "xoff_kbytes=2026-13-45,600",
        "--factor: '2026-13-45' is no decimal number; write it as 600 or 0.5, without leading zeros",
    ),
    (
        f"xoff_kbytes=600,{'9' * 5000}",
        f"--factor: '{'9' * 20}' is no decimal number; write it as 600 or 0.5, without leading zeros",
    ),
    (
        "xoff_kbytes=600,600.0",
        "--factor: 600 and 600.0 are the same fabric; name values with unlike effects",
    ),
    (
        "ecn=ai,ai-ecn-hpc",
        "--factor: ai and ai-ecn-hpc are the same fabric; name values with unlike effects",
    ),
    (
        "ecn=static,huawei-throughput",
        "--factor: static and huawei-throughput are the same fabric; name values with unlike effects",
    ),
    (
        "deadlock.detect=1,2",
        "--factor: profile heps has no deadlock.detect; name a key that the profile has",
    ),
]


@pytest.mark.parametrize(
    ("factor", "sentence"), REFUSED, ids=[factor[:40] for factor, _ in REFUSED]
)
def test_a_bad_factor_is_one_error(heps: FabricFile, factor: str, sentence: str) -> None:
    with pytest.raises(RocefortError) as refused:
        levels(heps, factor)
    assert str(refused.value) == sentence


def test_a_level_names_the_switches_that_keep_their_own_profile(tmp_path: Path) -> None:
    text = Path("inventory/heps/fabric.yaml").read_text(encoding="utf-8")
    path = tmp_path / "fabric.yaml"
    own = text.replace("name: leaf02\n", "name: leaf02\n    lossless: heps-like\n")
    path.write_text(own, encoding="utf-8")
    file = read_fabric(path, REFUSAL)
    kept = "; leaf02 has a lossless profile of its own (heps-like), which stays as it is"
    assert levels(file, "xoff_kbytes=600,700") == [
        "600: xoff_kbytes 600 in lossless profile heps (as the fabric is)",
        f"700: xoff_kbytes 700 in lossless profile heps{kept}",
    ]
    for level in level_fabrics(file, "xoff_kbytes", ("600", "700")):
        assert level.derived.lossless_of("leaf02").name == "heps-like"


def test_a_level_that_check_refuses_names_the_rule(heps: FabricFile) -> None:
    with pytest.raises(RocefortError) as refused:
        levels(heps, "xon_kbytes=550,900")
    assert str(refused.value) == (
        "inventory/heps/fabric.yaml as it would be:81:19: profiles.lossless.experiment-900.xon_kbytes: xon 900 kbytes is above xoff 600 kbytes; write less than 600: pauses end two frames or more below xoff\n"
        "inventory/heps/fabric.yaml: the level is no valid fabric; the file is untouched"
    )
