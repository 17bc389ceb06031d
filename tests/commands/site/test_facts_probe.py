"""`facts probe`: its report and its file, the checks that use the file, and a probe that is killed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.switch.personality import LineFault

Rocefort = Callable[..., Any]
FILE = Path("inventory/facts/ce8850-64cq-ei-v200r022c00.yaml")
WRONG = LineFault("refuse-line", "deadlock-recovery time")
FORM = "priority Q deadlock-detect time N deadlock-recovery time M"
UNKNOWN = "Error: Unrecognized command found at '^' position."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, heps_path: Path) -> Path:
    """A site with HEPS."""
    site = tmp_path_factory.mktemp("site")
    (site / "inventory" / "heps").mkdir(parents=True)
    shutil.copy(heps_path, site / "inventory" / "heps")
    return site


@pytest.fixture(scope="module")
def heps_path() -> Path:
    return Path(__file__).parents[3] / "inventory" / "heps" / "fabric.yaml"


@pytest.fixture(scope="module")
def running(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    subject = subject_of_derived(derive(home / "inventory" / "heps"))
    with rehearse(subject.network, subject.texts, tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def lab(running: Rehearsal, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rehearsal]:
    """The lab; the test runs in the site, which has no facts before and after it."""
    monkeypatch.chdir(home)
    yield running
    shutil.rmtree(home / "inventory" / "facts", ignore_errors=True)
    for switch in running.switches.values():
        switch.faults = ()


def test_the_report_has_counts_wrong_forms_and_what_changes(
    lab: Rehearsal, rocefort: Rocefort
) -> None:
    lab.switches["leaf01"].faults = (WRONG, LineFault("lie-ok", "negotiation disable"))
    done = rocefort("facts", "probe", "leaf01", "--connections", lab.file)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    for part in (
        "leaf01: CE8850-64CQ-EI, V200R022C00, family v200; nothing was committed",
        "forms taken 14 forms refused 1 forms saved otherwise 1",
        f"Refused {FORM} {UNKNOWN}",
        "Taken, and saved otherwise negotiation disable not saved: `interface 100GE1/0/64 / "
        "negotiation disable` saved: nothing",
        "pfc_queues: 0 to 7 > dcb pfc / priority ?",
        f"file: {FILE}",
        "leaf01 answers on this machine: if it is an emulated switch",
    ):
        assert part in done.words, done.out
    counts = re.search(r"not judged: (\d+) before, (\d+) after", done.words)
    assert counts and int(counts[2]) < int(counts[1])
    written = yaml.safe_load(FILE.read_text())
    refused = next(form for form in written["forms"] if form["form"] == FORM)
    line = " priority 4 deadlock-detect time 10 deadlock-recovery time 10"
    assert refused == {
        "form": FORM,
        "outcome": "refused",
        "typed": ["dcb pfc", " priority 4", line],
        "reply": UNKNOWN,
    }


def test_the_answers_are_used_for_the_same_model_and_release(
    lab: Rehearsal, rocefort: Rocefort
) -> None:
    before = json.loads(rocefort("check", "heps", "--format", "json").out)
    assert not [f for f in before["findings"] if f["rule"] == "TXT009"]
    lab.switches["leaf01"].faults = (WRONG,)
    assert rocefort("facts", "probe", "leaf01", "--connections", lab.file).code == 0
    done = rocefort("check", "heps", "--format", "json")
    assert done.code == 1
    findings = json.loads(done.out)["findings"]
    wrong = {f["where"]["device"]: f["message"] for f in findings if f["rule"] == "TXT009"}
    assert wrong.keys() == {"leaf01", "leaf02"}  # the spines have the family, and not the model
    assert re.fullmatch(
        re.escape(f"`{FORM}` is wrong on leaf01 (CE8850-64CQ-EI, V200R022C00), probed on ")
        + r"\d{4}-\d\d-\d\d"
        + re.escape(f": the switch refuses it: {UNKNOWN}"),
        wrong["leaf01"],
    )

    def forms(report: dict[str, Any], device: str) -> set[str]:
        found = (f for f in report["findings"] if f["rule"] == "TXT001")
        own = (f["message"] for f in found if f["where"]["device"] == device)
        return {message.split("`")[1] for message in own if "`" in message}

    report = json.loads(done.out)
    assert "ai-service / ai-ecn" in forms(before, "leaf01")
    assert forms(report, "leaf01") == set()
    assert forms(report, "spine01") == forms(before, "spine01") != set()
    texts = rocefort("render", "heps")
    assert texts.code == 4
    assert f"leaf01: `{FORM}` is wrong on leaf01" in texts.err
    assert rocefort("render", "heps", "--device", "leaf03").code == 0
    plan = rocefort("plan", "heps", "--connections", lab.file, "--out", "plan.json")
    assert plan.code == 4
    assert "is wrong on leaf01" in plan.err
    facts = rocefort("facts", "heps", "--format", "json")
    used = {
        f["fact"].split("`")[1]: f["used"]
        for f in json.loads(facts.out)["facts"]
        if "`" in f["fact"]
    }
    assert used["ai-service / ai-ecn"] == ["spine01", "spine02"]


def test_two_probes_that_differ_leave_the_form_unconfirmed_and_named(
    lab: Rehearsal, rocefort: Rocefort
) -> None:
    lab.switches["leaf01"].faults = (WRONG,)
    rocefort("facts", "probe", "leaf01", "--connections", lab.file)
    done = rocefort("facts", "probe", "leaf02", "--connections", lab.file, "--format", "json")
    forms = {form["form"]: form for form in json.loads(done.out)["facts"]["forms"]}
    assert len(forms) == 16  # those that were settled are tried again
    assert {form["outcome"] for form in forms.values()} == {"taken", "disputed"}
    assert forms[FORM]["outcome"] == "disputed"
    assert re.fullmatch(
        r"refused by leaf01 on \d{4}-\d\d-\d\d, and taken by the next probe: " + re.escape(UNKNOWN),
        forms[FORM]["reply"],
    )
    report = json.loads(rocefort("check", "heps", "--format", "json").out)
    own = [f for f in report["findings"] if f["rule"] == "TXT001" and FORM in f["message"]]
    assert "leaf01" in {f["where"]["device"] for f in own}


def test_a_probe_that_settles_nothing_keeps_the_earlier_answers(
    lab: Rehearsal, rocefort: Rocefort
) -> None:
    rocefort("facts", "probe", "leaf01", "--connections", lab.file)
    before = yaml.safe_load(FILE.read_text())
    lab.switches["leaf02"].faults = (LineFault("unknown-question", "deadlock-recovery time"),)
    done = rocefort("facts", "probe", "leaf02", "--connections", lab.file)
    assert done.code == 0
    assert f"Settled by an earlier probe alone {FORM} taken: leaf01 on " in done.words
    after = yaml.safe_load(FILE.read_text())
    kept = next(form for form in after["forms"] if form["form"] == FORM)
    assert kept.pop("earlier") == f"leaf01 on {before['probed_on']}"
    assert kept in before["forms"]
    assert [f["outcome"] for f in after["forms"]] == [f["outcome"] for f in before["forms"]]


GOOD = """\
device: leaf01
model: CE8850-64CQ-EI
release: V200R022C00
family: v200
probed_on: 2026-11-27
complete: true
"""
FEC = "form: fec mode rs, typed: [fec mode rs]"
NUMBER = "field: buffer_kbytes, asked: x, reply: y"
BAD: list[tuple[str, int, str]] = [
    (
        GOOD.replace("family: v200", "family: v20"),
        4,
        "no syntax family 'v20'; did you mean 'v200'?",
    ),
    (GOOD.replace("2026-11-27", "yesterday"), 5, "probed_on"),
    (
        f"{GOOD}forms:\n- {{form: fec mode rs, outcome: taken}}\n",
        8,
        "'taken' needs typed and saved",
    ),
    (
        f"{GOOD}forms:\n- {{{FEC}, outcome: refused}}\n",
        8,
        "needs typed lines and the",
    ),
    (f"{GOOD}forms:\n- {{{FEC}, outcome: good}}\n", 8, "'good'"),
    (
        f"{GOOD}facts:\n- {{field: xoff_kbytes, asked: x, reply: y, low: 1}}\n",
        8,
        "both low and high",
    ),
    (f"{GOOD}facts:\n- {{field: xoff, asked: x, reply: y}}\n", 8, "'xoff'"),
    (
        f"{GOOD}facts:\n- {{field: buffer_kbytes, asked: x, reply: y, low: 1, high: 2}}\n",
        8,
        "buffer_kbytes is given by value",
    ),
    (f"{GOOD}facts:\n- {{{NUMBER}, value: 0}}\n", 8, "0 is out of range; write above 0"),
    (f"{GOOD}facts:\n- {{{NUMBER}, value: -30}}\n", 8, "-30 is out of range"),
    (
        f"{GOOD}facts:\n- {{field: xoff_kbytes, asked: x, reply: y, low: -1, high: 9}}\n",
        8,
        "-1 is out of range",
    ),
    (
        f"{GOOD}forms:\n- {{form: fec mode r, outcome: not tried}}\n",
        8,
        "'fec mode r' is no unconfirmed form of v200; remove it, or correct it: did you mean",
    ),
    (
        f"{GOOD}forms:\n- {{form: nonsense, outcome: not tried}}\n",
        8,
        "'nonsense' is no unconfirmed",
    ),
    (GOOD.replace("2026-11-27", "2999-01-01"), 5, "2999-01-01 is in the future"),
    (GOOD.replace("complete: true\n", ""), 1, "the file is cut off; probe again"),
    (GOOD.replace("true", "tru"), 6, "complete"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_a_wrong_file_is_one_error_with_its_line(
    text: str, line: int, message: str, lab: Rehearsal, rocefort: Rocefort
) -> None:
    assert lab.switches
    FILE.parent.mkdir()
    FILE.write_text(text)
    done = rocefort("check", "heps")
    assert done.code == 2
    assert done.err.count("rocefort: ") == 1  # below it is the line of the file
    assert f"{FILE}:{line}:" in done.err
    assert message in done.err


def test_the_file_replaces_nothing_that_the_vendor_states(
    lab: Rehearsal, rocefort: Rocefort
) -> None:
    """A range of the vendor stays."""
    assert lab.switches
    before = rocefort("check", "heps", "--format", "json").out
    FILE.parent.mkdir()
    leaf = GOOD.replace("CE8850-64CQ-EI", "CE8851-32CQ8DQ-P").replace("V200R022C00", "V300R023C00")
    leaf = leaf.replace("v200", "v300-g1")
    wide = "{field: xoff_kbytes, asked: x, reply: y, low: 1, high: 500}"
    FILE.write_text(f"{leaf}facts:\n- {wide}\n")
    assert rocefort("check", "heps", "--format", "json").out == before


def test_a_switch_that_is_not_there_and_a_fabric_without_a_site_are_errors(
    lab: Rehearsal, rocefort: Rocefort, tmp_path: Path, heps_path: Path
) -> None:
    done = rocefort("facts", "probe", "leaf9", "--connections", lab.file)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "no switch 'leaf9'" in done.err
    alone = shutil.copy(heps_path, tmp_path)
    done = rocefort("facts", "probe", "leaf01", alone, "--connections", lab.file)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "the fabric is in no site" in done.err


@pytest.mark.parametrize("at", ["fec mode rs", "display configuration candidate changes"])
def test_a_killed_probe_leaves_nothing_and_the_next_one_works(
    at: str, lab: Rehearsal, rocefort: Rocefort, home: Path
) -> None:
    switch = lab.switches["leaf03"]
    before = switch.running, switch.saved, switch.points
    switch.faults = (LineFault("hang", at),)
    words = ["facts", "probe", "leaf03", "--connections", str(lab.file)]
    command = [str(Path(sys.executable).with_name("rocefort")), *words]
    process = subprocess.Popen(
        command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(lambda: switch.lock is not None and bool(switch.strikes))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    _wait(lambda: not switch.logins)
    assert (switch.candidates, switch.lock, switch.trial) == ({}, None, None)
    assert (switch.running, switch.saved, switch.points) == before
    assert not (home / "inventory" / "facts").exists()
    switch.faults = ()
    switch.strikes.clear()
    assert rocefort(*words).code == 0
    assert (switch.running, switch.saved, switch.points) == before


def _wait(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.02)
