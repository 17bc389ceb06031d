"""`health` as a command: what it prints, and the code that it ends with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.emulator.switch.personality import LineFault
from rocefort.tasks import cli
from rocefort.validators.rules.live.switch_readings import ONE_READING


@pytest.fixture(scope="module")
def lab(heps: DerivedNetwork, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    subject = subject_of_derived(heps)
    with rehearse(subject.network, subject.texts, tmp_path_factory.mktemp("lab")) as running:
        yield running


def health(lab: Rehearsal, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["health", "heps", "--connections", str(lab.file), *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_a_healthy_switch_is_reported_with_the_verdicts_that_were_not_reached(
    lab: Rehearsal,
) -> None:
    code, output = health(lab, "--device", "leaf03")
    assert code == 0
    counts = "heps: 20 rules, 0 errors, 0 warnings, 0 info, 2 not judged because"
    assert " ".join(output.split()).endswith(f"{counts} {ONE_READING}")


def test_a_sick_switch_ends_with_1_and_json_names_its_place(lab: Rehearsal) -> None:
    lab.model.inject("leaf03", read_state_fault("wrong-mtu", "100GE1/0/25=1500"))
    words = ("--device", "leaf03", "--format", "json", "--select", "LIV009")
    code, output = health(lab, *words)
    lab.model.faults.clear()
    assert code == 1
    (finding,) = json.loads(output)["findings"]
    assert finding["where"]["device"] == "leaf03"
    assert finding["where"]["interface"] == "100GE1/0/25"
    assert finding["where"]["line"] > 0
    assert finding["message"] == "MTU: 1500 bytes, intended 9000"


def test_a_switch_that_cannot_be_read_ends_with_3_after_the_report(lab: Rehearsal) -> None:
    lab.switches["leaf03"].faults = (LineFault("refuse-login"),)
    code, output = health(lab, "--device", "leaf03", "--select", "LIV001")
    lab.switches["leaf03"].faults = ()
    assert code == 3
    assert "leaf03" in output
    assert "1 error" in output


def test_limits_are_options(lab: Rehearsal) -> None:
    words = ("--device", "leaf03", "--select", "LIV019")
    assert health(lab, *words, "--disk-limit", "700")[0] == 0
    code, output = health(lab, *words, "--disk-limit", "900")
    assert code == 1
    assert "flash: 782 MB are free, limit 900 MB" in output


def test_a_baseline_of_the_same_sickness_ends_with_0(lab: Rehearsal, tmp_path: Path) -> None:
    file = str(tmp_path / "before.json")
    words = ("--device", "leaf03", "--select", "LIV009")
    lab.model.inject("leaf03", read_state_fault("wrong-mtu", "100GE1/0/25=1500"))
    assert health(lab, *words, "--save", file)[0] == 1
    code, output = health(lab, *words, "--baseline", file)
    lab.model.faults.clear()
    assert code == 0
    assert output.endswith("0 errors new, 1 as in the baseline\n")


def test_live_rules_are_listed_and_explained() -> None:
    listed = CliRunner().invoke(cli, ["rules"]).output
    assert "LIV006  error    LLDP reports the intended neighbour at every fabric port" in listed
    told = CliRunner().invoke(cli, ["explain", "LIV013"]).output
    assert told.startswith("LIV013 (error): The PFC thresholds of a switch are")
    assert "Source: V300R023C00 command reference, DCB" in told
    assert "\nFile: validators/rules/live/lossless.py\n" in told
    assert "\nRun by: `rocefort health`\n" in told
