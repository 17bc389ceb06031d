"""`verify --engine both`: where the engines differ it is an error, with the smallest witness."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rocefort import tasks
from rocefort.dialects.eos import render_eos
from rocefort.models.device.device import Device
from rocefort.models.finding import Severity
from rocefort.validators.engine_choice import engine_comparison
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import RoutingState
from rocefort.validators.verification.batfish_recording import replay

Edits = tuple[tuple[str, str, str], ...]
WRONG_AS: Edits = (("leaf02", r"^( peer 10\.1\.0\.8 as-number) 65000$", r"\1 65009"),)
MISSING: Edits = (("leaf02", r"^ +peer 10\.1\.0\.8 .*\n", ""),)
HIDDEN: Edits = (("leaf02", r"^(ip ip-prefix LOCAL index 120) permit", r"\1 deny"),)
BOTH_HOPS = "embedded reports 10.1.0.0 and 10.1.0.2, batfish reports"

# Questions to Batfish, and its answers that differ from the embedded engine's.
CASES: dict[str, tuple[Edits, list[tuple[str, str]]]] = {
    "named-wrong-as": (
        WRONG_AS,
        [
            (
                "leaf02",
                "session of leaf02 with 10.1.0.8: embedded reports established, "
                "batfish reports not-compatible (and 1 more session)",
            ),
            ("leaf01", f"leaf01 to 10.0.1.2/32: {BOTH_HOPS} 10.1.0.2 (and 10 more routes)"),
        ],
    ),
    "named-missing-session": (
        MISSING,
        [
            (
                "leaf02",
                "session of leaf02 with 10.1.0.8: embedded reports established, "
                "batfish reports no session (and 1 more session)",
            ),
            ("leaf01", f"leaf01 to 10.0.1.2/32: {BOTH_HOPS} 10.1.0.2 (and 10 more routes)"),
        ],
    ),
    "named-hidden-leaf": (
        HIDDEN,
        [
            ("leaf01", f"leaf01 to 10.120.1.0/24: {BOTH_HOPS} no route (and 3 more routes)"),
            (
                "leaf01",
                "s1-1 to s2-1: embedded reports delivered, batfish reports not delivered "
                "(and 1 more server pair)",
            ),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_disagreement_is_an_error_with_one_witness_of_each_kind(
    name: str,
    fabric: Callable[..., Any],
    intent: Callable[..., Any],
    recording: Callable[[str], Path],
) -> None:
    """The embedded engine gets a whole fabric, Batfish's answers are of one with a fault."""
    edits, says = CASES[name]
    spoilt, whole = fabric(name, intent(), edits), fabric("whole", intent(), ())
    batfish: RoutingState = replay(spoilt.network, recording(name))
    solution = analyse(whole.network, whole.sources)
    report = engine_comparison(whole.network, solution, batfish, whole.sources, date(2026, 11, 20))
    assert report.failed
    assert {(f.rule, f.severity) for f in report.findings} == {("BGP104", Severity.ERROR)}
    assert [(f.where.device, f.message) for f in report.findings] == [
        (device, f"the engines disagree: {sentence}") for device, sentence in says
    ]
    assert all(f.where.line for f in report.findings)


def mistranslated(device: Device) -> str:
    """EOS text that forgets a network of leaf02: what a fault of the translation would do."""
    return render_eos(device).replace("   network 10.120.1.0/24\n", "")


@pytest.mark.batfish
def test_the_command_fails_where_the_translation_is_wrong(
    service: tuple[str, int],
    intent: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(json.dumps(intent()), encoding="utf-8")
    host, port = service
    words = ["verify", str(path), "--engine", "both", "--batfish", f"{host}:{port}"]
    words += ["--failures", "none", "--format", "json"]
    monkeypatch.setattr(sys, "argv", ["rocefort", *words])
    ends = {}
    for translate in (render_eos, mistranslated):
        monkeypatch.setattr("rocefort.validators.batfish.snapshot.render_eos", translate)
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        report = json.loads(capsys.readouterr().out)
        said = [f["message"] for f in report["findings"] if f["rule"] == "BGP104"]
        ends[translate.__name__] = (ended.value.code, said)
    assert ends == {
        "render_eos": (0, []),
        "mistranslated": (
            1,
            [
                f"the engines disagree: leaf01 to 10.120.1.0/24: {BOTH_HOPS} no route "
                "(and 3 more routes)",
                "the engines disagree: s1-1 to s2-1: embedded reports delivered, batfish reports "
                "not "
                "delivered (and 1 more server pair)",
            ],
        ),
    }
