"""HEPS as it is rendered and judged today: changes to it are reviewed like code (`make golden`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.base.repository import ROOT
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import subject_of_derived
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.checks import check, titles
from rocefort.verification.findings import findings_report

HERE = Path(__file__).parent / "heps"
NAMES = [f"spine{n:02}" for n in (1, 2)] + [f"leaf{n:02}" for n in range(1, 9)]


def agrees(path: Path, text: str, *, update: bool) -> None:
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", NAMES)
def test_the_configuration_is_the_reviewed_one(
    heps: DerivedNetwork, name: str, golden_update: bool
) -> None:
    texts = subject_of_derived(heps).texts
    assert sorted(texts) == sorted(NAMES)
    agrees(HERE / f"{name}.cfg", texts[name], update=golden_update)


def test_what_the_rules_say_is_the_reviewed_list(
    golden_update: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # files are named relative to the repository
    subject = subject_of_derived(derive(Path("inventory/heps")))
    text = text_of(*findings_report(check(subject.network, subject.sources), titles()), width=80)
    agrees(HERE / "check.txt", text, update=golden_update)
    assert max(map(len, text.splitlines())) <= 80
