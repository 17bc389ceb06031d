"""HEPS as it is rendered and judged today: changes to it are reviewed like code (`make golden`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.repository import ROOT
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import subject_of_derived
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.checks import check, titles
from rocefort.verification.findings import findings_report

HERE = Path(__file__).parent / "heps"
OWN = Path(__file__).parent / "own-profile"
NAMES = [f"spine{n:02}" for n in (1, 2)] + [f"leaf{n:02}" for n in range(1, 9)]


# A leaf of each family with a profile of its own: V200, V300 G1 by its rack, V300 G2.
OWN_PROFILES = (
    ("    name: leaf02\n", "    name: leaf02\n    lossless: early\n"),
    (
        "    name: leaf04\n    hardware: CE8851-32CQ8DQ-P\n",
        "    name: leaf04\n    hardware: CE8855-32CQ4BQ\n    lossless: early\n",
    ),
    (
        "profiles:\n  lossless:\n",
        """racks:
  - {name: hall2, lossless: early}
profiles:
  ecn:
    early:
      kind: static
      thresholds:
        25: {kmin_kbytes: 20, kmax_kbytes: 100, pmax_percent: 10}
        100: {kmin_kbytes: 40, kmax_kbytes: 300, pmax_percent: 10}
  lossless:
    early:
      queue: 4
      roce_dscp: 34
      cnp_dscp: 48
      xoff_kbytes: 400
      xon_kbytes: 350
      headroom_kbytes: 90
      headroom_pool_kbytes: 2048
      deadlock:
        detect_ms: 100
        recovery_ms: 100
        by_family: {v200: {detect_time: 10, recovery_time: 10, reason: as HEPS}}
      ecn: early
""",
    ),
)


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


def test_leaves_with_a_profile_of_their_own_and_no_others_differ(
    edit_heps: Callable[..., Path], golden_update: bool
) -> None:
    """ECN, thresholds, weights and timers of three families; the rest of HEPS is as it was."""
    model = OWN_PROFILES[1][0], OWN_PROFILES[1][1].replace("    lossless: early\n", "")
    texts, usual = (
        subject_of_derived(derive(edit_heps(*edits))).texts for edits in (OWN_PROFILES, [model])
    )
    own = ["leaf02", "leaf04", "leaf07", "leaf08"]
    assert [name for name in texts if texts[name] != usual[name]] == own
    for name in own[:3]:
        agrees(OWN / f"{name}.cfg", texts[name], update=golden_update)


def test_what_the_rules_say_is_the_reviewed_list(
    golden_update: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # files are named relative to the repository
    subject = subject_of_derived(derive(Path("inventory/heps")))
    text = text_of(*findings_report(check(subject.network, subject.sources), titles()), width=80)
    agrees(HERE / "check.txt", text, update=golden_update)
    assert max(map(len, text.splitlines())) <= 80
