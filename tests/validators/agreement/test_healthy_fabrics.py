"""Law: texts that are rendered from a healthy fabric have no finding that the fabric has not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from efforts import tries

from rocefort.design.derive.derive import derive
from rocefort.design.new import Size, new_fabric
from rocefort.dialects.network_text import render_all
from rocefort.models.finding import Severity
from rocefort.steps.rollout.running import check_subject, judged_subject, judging_rules

BORDER = Path(__file__).parents[2] / "samples" / "border" / "fabric.yaml"
Findings = set[tuple[str, str | None]]
Draw = Callable[[Random], dict[str, Any]]


def findings(fabric: Path | None, configs: Path | None) -> Findings:
    """Errors and warnings by rule and switch."""
    rules = judging_rules(fabric, configs, None, (), ())
    report = check_subject(judged_subject(fabric, configs, None), rules)
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
