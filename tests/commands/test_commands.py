"""The command line: one clear line for every error, the documented exit codes, no traceback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import messages

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import subject_of_derived, write_texts
from rocefort.dialects.network_text import render_all
from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED, rehearse
from rocefort.verification import judged
from rocefort.verification.findings import rule_texts

EditHeps = Callable[..., Path]
NOWHERE = "127.0.0.1:1"


Rocefort = Callable[..., Any]


def test_check_of_heps_is_clean(rocefort: Rocefort, heps_file: Path) -> None:
    done = rocefort("check", heps_file)
    assert done.code == 0
    assert re.search(r"^heps: \d+ rules, 0 errors, .* not judged: ", done.out, re.MULTILINE)


def test_check_in_json_is_for_programs(rocefort: Rocefort, heps_file: Path) -> None:
    report = json.loads(rocefort("check", heps_file, "--format", "json").out)
    assert report["failed"] is False
    assert report["summary"]["error"] == 0
    assert len(report["not_judged"]) == report["summary"]["not_judged"]


def test_findings_of_severity_error_end_with_1(rocefort: Rocefort, edit_heps: EditHeps) -> None:
    done = rocefort("check", edit_heps(("xon_kbytes: 550", "xon_kbytes: 595")))
    assert done.code == 1
    assert "ERROR PFC001" in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("check", "nowhere"),
            "rocefort: nowhere: no such fabric; name a fabric.yaml, its directory, or one of: eantc-hpc, eantc-storage, heps, heps-phase1, heps-phase2, redigo-direct, redigo-switch",
        ),
        (
            ("report", "heps", "--configs", "nowhere"),
            "rocefort: name either a fabric or --configs DIR; for example: rocefort check heps",
        ),
        (
            ("check", "--configs", "nowhere"),
            "rocefort: nowhere: no such directory; check the path",
        ),
        (
            ("render", "heps", "--device", "leaf80"),
            "rocefort: no switch 'leaf80'; did you mean 'leaf08'?",
        ),
        (("explain", "XYZ"), "rocefort: no rule or family 'XYZ'; `rocefort rules` lists them"),
        (
            ("verify", "heps", "--batfish", "here"),
            "rocefort: 'here' is not HOST:PORT; for example: 127.0.0.1:9996",
        ),
        (
            ("demo", "heps", "--batfish", "127.0.0.1:99999"),
            "rocefort: 127.0.0.1:99999: there is no port 99999; use 1 to 65535",
        ),
        (
            ("plan", "heps", "--connections", "nowhere.yaml"),
            "rocefort: nowhere.yaml: no such file; check the path",
        ),
        (
            ("apply", "nowhere.json", "--connections", "nowhere.yaml"),
            "rocefort: nowhere.json: no such file; make it by `rocefort plan`",
        ),
    ],
)
def test_bad_input_is_one_line_and_ends_with_2(
    rocefort: Rocefort, arguments: tuple[str, ...], sentence: str
) -> None:
    done = rocefort(*arguments)
    assert done.code == 2
    assert done.err.startswith(sentence)
    assert len(done.err.splitlines()) == 1
    assert done.out == ""


def test_problems_of_one_stage_come_together(rocefort: Rocefort, edit_heps: EditHeps) -> None:
    path = edit_heps(("hold_s: 30", "hold_sec: 30"), ("name: leaf03", "name: leaf 03"))
    done = rocefort("check", path)
    assert done.code == 2
    assert [line.split(": ")[1] for line in messages(done.err).splitlines()] == [
        "routing.hold_sec",
        "leaves[2].name",
    ]


def test_a_bad_fabric_writes_no_configuration(
    rocefort: Rocefort, edit_heps: EditHeps, tmp_path: Path
) -> None:
    path = edit_heps(("name: leaf03", "name: leaf/03"))
    assert rocefort("render", path, "--out", tmp_path / "out").code == 2
    assert not (tmp_path / "out").exists()


def test_render_writes_one_file_a_switch(
    rocefort: Rocefort, heps: DerivedNetwork, heps_file: Path, tmp_path: Path
) -> None:
    done = rocefort("render", heps_file, "--out", tmp_path / "out")
    assert done.out == f"10 configurations in {tmp_path / 'out'}\n"
    written = {path.stem: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert written == render_all(heps.network)


def test_verify_by_the_embedded_engine_is_clean(rocefort: Rocefort, heps_file: Path) -> None:
    done = rocefort("verify", heps_file, "--engine", "embedded")
    assert done.code == 0
    assert "verified by: embedded\n" in done.out
    assert "server pairs delivered by every path: 124 of 124 that the policy allows\n" in done.out


@pytest.mark.parametrize("engine", ["batfish", "both"])
def test_a_service_that_is_not_there_ends_with_3(
    rocefort: Rocefort, heps_file: Path, engine: str
) -> None:
    pytest.importorskip("pybatfish", reason="pip install 'rocefort[batfish]'")
    done = rocefort("verify", heps_file, "--engine", engine, "--batfish", NOWHERE)
    assert done.code == 3
    assert len(done.err.splitlines()) == 1
    assert NOWHERE in done.err


def test_verify_of_text_names_the_line_of_the_text(
    rocefort: Rocefort, heps: DerivedNetwork, tmp_path: Path
) -> None:
    texts = render_all(heps.network)
    texts["leaf03"] = texts["leaf03"].replace(
        "10.1.0.32 as-number 65000", "10.1.0.32 as-number 65009"
    )
    write_texts(texts, tmp_path / "configs")
    done = rocefort("verify", "--configs", tmp_path / "configs", "--engine", "embedded")
    assert done.code == 1
    line = texts["leaf03"].splitlines().index(" peer 10.1.0.32 as-number 65009") + 1
    told = " ".join(done.out.split())
    assert "leaf03 expects AS 65009, spine01 is AS 65000" in told
    assert f"leaf03.cfg:{line}" in told


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "a.cfg: an empty file; give the text of `display current-configuration`"),
        (
            b"\0\1\2",
            "a.cfg:1: a binary file (byte 0x00); give the text of `display current-configuration`",
        ),
        (b"#\nsysname \xff\n", "a.cfg:2: not UTF-8 (byte 0xFF); save it as UTF-8"),
    ],
)
def test_text_that_is_no_configuration(
    rocefort: Rocefort, tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "a.cfg").write_bytes(content)
    done = rocefort("check", "--configs", tmp_path)
    assert done.code == 2
    assert done.err == f"rocefort: {tmp_path}/{sentence}\n"


def test_two_files_with_one_sysname(rocefort: Rocefort, tmp_path: Path) -> None:
    for name in ("a.cfg", "b.cfg"):
        (tmp_path / name).write_text("sysname leaf01\n")
    done = rocefort("check", "--configs", tmp_path)
    assert done.err == (
        f"rocefort: {tmp_path}/b.cfg:1: sysname leaf01 is also that of {tmp_path}/a.cfg; "
        "keep one file a switch\n"
    )


def test_rules_and_explain_come_from_the_rules_themselves(rocefort: Rocefort) -> None:
    listed = rocefort("rules").out
    ids = re.findall(r"(?m)^ *([A-Z]{3}\d{3})  (?:error|warning|info) ", listed)
    assert [rule.id for rule in rule_texts()] == ids
    for rule_id in {name[:3]: name for name in ids}.values():  # one of each family
        told = rocefort("explain", rule_id).out
        assert told.startswith(f"{rule_id} (")
        assert "\nSource: " in told


@pytest.mark.parametrize(
    ("rule_id", "begins", "says", "source"),
    [
        (
            "BGP101",
            "error): Every configured BGP session is established",
            "`peer enable`",
            "RFC 4271",
        ),
        ("BGP110", "info): Both ends of every BGP session", "as an error", "Batfish, question"),
        ("CHG102", "warning): No switch loses a route", "`network` lines", "a choice: "),
        ("CHG201", "error): Growth keeps every line", "No waiver covers this", "a choice: "),
        ("DLK101", "error): No failure causes a cyclic", "an export policy", "Hu et al."),
        ("TXT101", "error): Batfish understands every line", "report it", "Batfish, questions"),
    ],
)
def test_what_verify_and_expand_find_is_explained(
    rocefort: Rocefort, rule_id: str, begins: str, says: str, source: str
) -> None:
    told = rocefort("explain", rule_id).out
    assert told.startswith(f"{rule_id} ({begins}")
    assert says in " ".join(told.split())
    assert f"\nSource: {source}" in told


def raised(fabric: Path) -> Path:
    """A copy of a fabric with another threshold."""
    path = fabric.with_name("raised.yaml")
    path.write_text(fabric.read_text().replace("xoff_kbytes: 600", "xoff_kbytes: 640"))
    return path


def described(fabric: Path) -> Path:
    """A copy of a fabric with words on a port of leaf07, and one of leaf08."""
    path = fabric.with_name("described.yaml")
    text = fabric.read_text()
    for number in (3, 4):
        name = f"  - name: readout0{number}\n"
        assert text.count(name) == 1
        text = text.replace(name, f"{name}    description: detector {number}\n")
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("edited", "difference", "count"),
    [
        (described, "description: to readout03 -> detector 3", 2),
        # All switches, spines drained: README shows this in every run.
        pytest.param(
            raised, "thresholds[4].xoff_kbytes: 600 -> 640", 4, marks=pytest.mark.thorough
        ),
    ],
    ids=["described", "raised"],
)
def test_a_change_from_diff_to_confirmed(
    rocefort: Rocefort,
    two_leaves: Path,
    tmp_path: Path,
    edited: Callable[[Path], Path],
    difference: str,
    count: int,
) -> None:
    fabric = edited(two_leaves)
    subject = subject_of_derived(derive(two_leaves))
    plan, journal = tmp_path / "plan.json", tmp_path / "journal"
    with rehearse(subject.network, subject.texts, tmp_path / "lab") as lab:
        diff = rocefort("diff", two_leaves, fabric)
        assert difference in diff.out
        planned = rocefort("plan", fabric, "--connections", lab.file, "--out", plan)
        assert planned.code == 0
        assert f"{count} of 4 switches change" in planned.out
        for line in planned.out.splitlines():
            assert len(line) <= 80 or str(tmp_path) in line
        done = rocefort("apply", plan, "--connections", lab.file, "--journal", journal)
        assert done.code == 0
        assert f"{count} switches confirmed, read back and saved" in done.out
        for line in done.out.splitlines():
            assert len(line) <= 80 or str(tmp_path) in line
        assert rocefort("diff", fabric, fabric).out == "nothing changes\n"

        value, text = difference.rpartition("-> ")[2], plan.read_text()
        assert value in text
        plan.write_text(text.replace(value, f"{value[:-1]}1", 1))
        again = rocefort("apply", plan, "--connections", lab.file)
        assert again.code == 4
        assert again.err == f"rocefort: {plan}: was changed after it was sealed; plan again\n"


def test_a_failing_gate_ends_with_3(rocefort: Rocefort, two_leaves: Path, tmp_path: Path) -> None:
    fabric = raised(two_leaves)
    subject = subject_of_derived(derive(two_leaves))
    with rehearse(subject.network, subject.texts, tmp_path / "lab") as lab:
        rocefort("plan", fabric, "--connections", lab.file, "--out", tmp_path / "plan.json")
        lab.replay(BANDWIDTH, BLOCKED[BANDWIDTH])
        done = rocefort("apply", tmp_path / "plan.json", "--connections", lab.file)
    assert done.code == 3
    lines = done.out.splitlines()
    at = lines.index("1 switch rolled back to what ran before: leaf08")
    assert lines[at + 1] == "the rollout touched no other switch"
    assert lines[at + 2].startswith("to continue: find the cause")


def test_a_defect_of_ours_is_one_line_with_the_traceback_in_a_file(
    rocefort: Rocefort, heps_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(judged, "judged_subject", broken)
    done = rocefort("check", heps_file)
    assert done.code == 70
    first, second = done.err.splitlines()
    assert first == "rocefort: internal error: ZeroDivisionError: a defect"
    kept = Path(second.removeprefix("rocefort: please report it with "))
    assert "ZeroDivisionError" in kept.read_text()
    kept.unlink()


@pytest.mark.parametrize(
    ("module", "lighter"),
    [
        pytest.param("tasks", set(), id="help"),
        # status, pause, abort, approve, history
        pytest.param("rollout.apply.operate", {"pydantic"}, id="a look at a rollout"),
    ],
)
def test_help_and_a_look_at_a_rollout_import_nothing_heavy(module: str, lighter: set[str]) -> None:
    heavy = {"annet", "asyncssh", "napalm", "netmiko", "nornir", "numpy", "pybatfish", "pydantic"}
    heavy = heavy - lighter | {"rich"}
    code = f"import sys, rocefort.{module}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["show", "heps", "links", "--format", "json"],
        ["check", "heps", "--format", "json"],
        ["facts", "heps", "--format", "json"],
    ],
)
def test_what_programs_read_is_written_without_rich(command: list[str]) -> None:
    code = (
        "import sys, atexit; from rocefort.tasks import app; sys.argv[1:] = "
        f"{command!r}; atexit.register(lambda: print('rich' in sys.modules, file=sys.stderr)); app()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "False"
