"""Law: texts of a healthy fabric have no finding that the fabric has not, in any equal spelling."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from efforts import tries
from new_fabrics import LEAVES, STATIC_ECN, random_fabric
from spelled_texts import spelled

from rocefort.change.difference import compare_sides, drift_of
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.new import Size, new_fabric
from rocefort.dialects.network_text import render_all
from rocefort.models.finding import Severity
from rocefort.verification.judged import check_subject, judged_subject, judging_rules

BORDER = Path(__file__).parents[2] / "samples" / "border" / "fabric.yaml"
VERSION = """<{}>display version
YunShan OS, Version 1.23.0.1 (CE6800 {})
HUAWEI {} uptime is 3 days
"""
Findings = set[tuple[str, str | None]]
Draw = Callable[[Random], dict[str, Any]]


def findings(fabric: Path | None, configs: Path | None) -> Findings:
    """Errors and warnings by rule and switch."""
    rules = judging_rules(fabric, texts=configs is not None, select=(), ignore=())
    report = check_subject(judged_subject(fabric, configs), rules)
    return {
        (each.rule, each.where.device)
        for each in report.findings
        if each.severity is not Severity.INFO
    }


def new_findings(fabric: Path, configs: Path) -> Findings:
    """Findings of the rendered texts, alone and beside the fabric, that the fabric has not."""
    configs.mkdir()
    for name, text in render_all(derive(fabric).network).items():
        (configs / f"{name}.cfg").write_text(text, encoding="utf-8")
    both = findings(None, configs) | findings(fabric, configs)
    return both - findings(fabric, None)


def respelled(derived: DerivedNetwork, configs: Path, random: Random) -> set[str]:
    """Write the texts of a fabric in other spellings of equal meaning; returns the kinds of edits."""
    configs.mkdir()
    kinds: set[str] = set()
    texts = render_all(derived.network)
    for node in derived.network.nodes:
        assert node.family
        assert node.hardware
        text = spelled(texts[node.name], node.family, random, kinds)
        (configs / f"{node.name}.cfg").write_text(text, encoding="utf-8")
        version = VERSION.format(node.name, node.software, node.hardware.model)
        (configs / f"{node.name}.txt").write_text(version, encoding="utf-8")
    return kinds


def differences(fabric: Path, configs: Path) -> list[str]:
    """Edits and lines of `drift` and `diff` between texts and their fabric."""
    both = drift_of(fabric, configs), compare_sides(str(configs), str(fabric))
    return [
        f"{switch.device}: {each}"
        for difference in both
        for switch in difference.switches
        for each in (*switch.change.edits, *switch.change.patch, *switch.unowned)
    ]


def assert_equal_in_any_spelling(file: Path, configs: Path, random: Random) -> set[str]:
    """Assert that no command reports respelled texts of a fabric; returns the kinds of edits."""
    kinds = respelled(derive(file), configs, random)
    assert differences(file, configs) == []
    both = findings(None, configs) | findings(file, configs)
    assert both - findings(file, None) == set()
    return kinds


def test_other_spellings_of_any_fabric(draw_intent: Draw, tmp_path: Path) -> None:
    kinds = {"size"}  # of static ECN on one family; the fabrics of a quick run need not have it
    for seed in range(tries(60)):
        random, folder = Random(seed), tmp_path / str(seed)
        if seed % 2:
            random_fabric(seed, folder)
        else:
            folder.mkdir()
            (folder / "fabric.yaml").write_text(json.dumps(draw_intent(random)), encoding="utf-8")
        kinds |= assert_equal_in_any_spelling(folder / "fabric.yaml", folder / "texts", random)
    assert kinds == {"default", "number", "otherwise", "repeated", "saved line", "size"}


def test_other_spellings_of_two_ways_out_and_of_heps(heps_file: Path, tmp_path: Path) -> None:
    assert_equal_in_any_spelling(BORDER, tmp_path / "border", Random(1))
    assert_equal_in_any_spelling(heps_file, tmp_path / "heps", Random(2))


@pytest.mark.parametrize("leaf", ["CE8851-32CQ8DQ-P", "CE8855-32CQ4BQ"])
def test_other_spellings_of_a_new_fabric(leaf: str, tmp_path: Path) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text(new_fabric("lab", Size(3, 4, 2, 4, 8), leaf, leaf), encoding="utf-8")
    assert_equal_in_any_spelling(file, tmp_path / "texts", Random(3))


def test_texts_of_any_fabric_with_exits_bonds_and_a_policy(
    draw_intent: Draw, tmp_path: Path
) -> None:
    for seed in range(tries(60)):
        file = tmp_path / f"{seed}.yaml"
        file.write_text(json.dumps(draw_intent(Random(seed))), encoding="utf-8")
        assert new_findings(file, tmp_path / f"texts-{seed}") == set(), seed


@pytest.mark.parametrize("leaf", ["CE8851-32CQ8DQ-P", "CE8850-64CQ-EI", "CE6866-48S8CQ-P"])
def test_texts_of_a_new_fabric(leaf: str, tmp_path: Path) -> None:
    file = tmp_path / "fabric.yaml"
    file.write_text(new_fabric("lab", Size(2, 3, 2), leaf, "CE9860-4C-EI"), encoding="utf-8")
    assert new_findings(file, tmp_path / "texts") == set()


def test_texts_of_two_ways_out_and_of_heps(heps_file: Path, tmp_path: Path) -> None:
    assert new_findings(BORDER, tmp_path / "border") == set()
    assert new_findings(heps_file, tmp_path / "heps") == set()


def test_texts_of_leaves_of_several_families(tmp_path: Path) -> None:
    mixed = [
        models
        for size in (3, 4, 6)
        for models in combinations_with_replacement(LEAVES, size)
        if len(set(models)) > 1
    ]
    assert len(mixed) == 44
    random = Random(4)
    for models in random.sample(mixed, min(tries(22), len(mixed))):
        file, configs = mixed_fabric(models, random, tmp_path / "-".join(models))
        assert new_findings(file, configs) == set(), models


@pytest.mark.parametrize(("leaves", "others"), [(2, 1), (1, 2), (3, 1), (5, 1)])
def test_no_leaf_is_told_to_forward(leaves: int, others: int, tmp_path: Path) -> None:
    """Leaves of group 2 discard by a line, because of leaves of group 1, which have none."""
    models = ("CE8855-32CQ4BQ",) * leaves + ("CE8851-32CQ8DQ-P",) * others
    file, configs = mixed_fabric(models, Random(0), tmp_path)
    assert new_findings(file, configs) == set()
    texts = [(configs / f"{leaf}.cfg").read_text() for leaf in leaf_names(len(models))]
    assert sum("recovery-behavior discard" in text for text in texts) == leaves


def mixed_fabric(models: tuple[str, ...], random: Random, folder: Path) -> tuple[Path, Path]:
    """Write a fabric with a model for each leaf, in any order; returns files of it and its texts."""
    data = yaml.safe_load(new_fabric("mixed", Size(2, len(models), 2), models[0], "CE9860-4C-EI"))
    for leaf, model in zip(data["leaves"], random.sample(models, len(models)), strict=True):
        release = "V200R022C00" if model == "CE8850-64CQ-EI" else "V300R023C00"
        leaf.update(hardware=model, software=release)
    if random.random() < 0.5:
        data["profiles"]["ecn"] = {"fixed": STATIC_ECN}
        data["profiles"]["lossless"]["site"]["ecn"] = "fixed"
    folder.mkdir(exist_ok=True)
    (folder / "fabric.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder / "fabric.yaml", folder / "texts"


def leaf_names(count: int) -> list[str]:
    return [f"leaf{number:03}" for number in range(1, count + 1)]
