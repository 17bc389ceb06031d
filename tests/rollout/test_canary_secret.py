"""P20: secrets in every possible input, all commands, also failing ones; then a search."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocefort import tasks
from rocefort.base.errors import DeviceFailed
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.personality import LineFault
from rocefort.rollout.controller import device_steps

# What opens the emulated switches and servers, then one for each other input.
LOGIN = "emulated-only"
CANARIES = {
    "BGP_CANARY": "c4nary-bgp-%^&of-a-test",
    "ROTATED_CANARY": "c4nary-rotated-of-a-test",
    "SNMP_AUTHENTICATION": "c4nary-snmp-authentication",
    "SNMP_PRIVACY": "c4nary-snmp-privacy",
}
WRONG = "c4nary-wrong-password"
PAIR = (
    "\nsecurity:",
    "\nlinks:\n  - spine: spine01\n    leaf: leaf08\n"
    "    authentication: {password: 'env:BGP_CANARY'}\n\nsecurity:",
)
Edit = Callable[..., Path]


class Desk:
    """Type commands, collect their output, and search everything at the end."""

    def __init__(self, directory: Path, lab: Rehearsal, capsys: Any, caplog: Any) -> None:
        self.directory, self.lab = directory, lab
        self.capsys, self.caplog = capsys, caplog
        self.said: list[str] = []

    def types(self, *words: object) -> int:
        sys.argv = ["rocefort", *map(str, words)]
        with pytest.raises(SystemExit) as ended:
            tasks.app()
        out = self.capsys.readouterr()
        self.said += [out.out, out.err, " ".join(sys.argv)]
        return int(ended.value.code or 0)

    def found(self) -> list[str]:
        """Texts with a secret: output, logs, and files other than the lab's own state."""
        texts = {f"output {n}": text for n, text in enumerate(self.said)}
        texts |= {f"log {n}": self._logged(r) for n, r in enumerate(self.caplog.records)}
        for path in self.directory.rglob("*"):
            own = path.is_relative_to(self.directory / "lab") or path.suffix == ".secret"
            if path.is_file() and not own:
                texts[str(path)] = path.read_bytes().decode("utf-8", "replace")
        secrets = (LOGIN, WRONG, *CANARIES.values())
        return [f"{s} in {name}" for name, text in texts.items() for s in secrets if s in text]

    @staticmethod
    def _logged(record: logging.LogRecord) -> str:
        return logging.Formatter("%(message)s %(args)s").format(record)


@pytest.fixture
def desk(
    tmp_path: Path,
    lab: Rehearsal,
    apart: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Iterator[Desk]:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(sys, "argv", sys.argv)
    caplog.set_level(logging.DEBUG)
    logging.getLogger("asyncssh").setLevel(logging.WARNING)  # the lab's side of the talk
    yield Desk(tmp_path, lab, capsys, caplog)
    logging.getLogger("asyncssh").setLevel(logging.NOTSET)


def test_nothing_that_is_said_logged_or_kept_has_a_secret(desk: Desk, edit_hall: Edit) -> None:
    fabric, plan, at = edit_hall(PAIR), desk.directory / "plan.json", desk.lab.file
    assert desk.types("plan", fabric, "--connections", at, "--out", plan) == 0

    desk.lab.switches["spine01"].faults = (LineFault("refuse-line", "password cipher"),)
    assert desk.types("apply", plan, "--connections", at) == 3  # refused with the line
    assert "password cipher <removed>'" in " ".join(" ".join(desk.said).split())
    desk.lab.switches["spine01"].faults = (LineFault("drop-session-on-commit"),)
    assert desk.types("apply", plan, "--connections", at) == 3
    desk.lab.switches["spine01"].faults = ()
    assert desk.types("apply", plan, "--connections", at, "--progress", "json") == 0

    rotated = edit_hall((PAIR[0], PAIR[1].replace("BGP_CANARY", "ROTATED_CANARY")))
    again = desk.directory / "again.json"
    assert desk.types("plan", rotated, "--connections", at, "--out", again, "--rotate",
                      "env:ROTATED_CANARY") in (0, 4)  # fmt: skip
    for words in (
        ["status", plan, "--format", "json"],
        ["history", plan],
        ["history", plan, "--format", "json"],
        ["health", fabric, "--connections", at],
        ["plan-console", plan],
        ["rollback", plan],
        ["show", fabric, "devices", "--format", "json"],
    ):
        desk.types(*words)
    assert len(desk.caplog.records) > 100
    assert (desk.directory / "plan.json.journal.texts").is_dir()
    assert desk.found() == []


def test_a_wrong_password_is_not_said(desk: Desk, described: Path) -> None:
    plan, at = desk.directory / "plan.json", desk.lab.file
    assert desk.types("plan", described, "--connections", at, "--out", plan) == 0
    content = yaml.safe_load(at.read_text())
    wrong = desk.directory / "wrong.secret"
    wrong.touch(mode=0o600)
    wrong.write_text(WRONG)
    for entry in content["devices"]:
        entry["credential"] = f"file:{wrong}"
    bad = desk.directory / "bad.yaml"
    bad.write_text(yaml.safe_dump(content))
    assert desk.types("apply", plan, "--connections", bad) == 3
    assert desk.types("plan", described, "--connections", bad, "--out", plan) == 3
    assert desk.types("health", described, "--connections", bad) != 0
    content["devices"][0]["credential"] = WRONG  # the password itself, where its name should be
    bad.write_text(yaml.safe_dump(content))
    assert desk.types("apply", plan, "--connections", bad) == 2
    bad.unlink()
    assert desk.found() == []


@pytest.mark.parametrize("kind", ["a defect", "a driver's sentence"])
def test_a_crash_that_knows_a_secret_does_not_tell_it(
    desk: Desk, edit_hall: Edit, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    fabric, plan, at = edit_hall(PAIR), desk.directory / "plan.json", desk.lab.file
    assert desk.types("plan", fabric, "--connections", at, "--out", plan) == 0
    secret = CANARIES["BGP_CANARY"]

    def crash(*_: object, **__: object) -> None:
        password = os.environ["BGP_CANARY"]
        error = RuntimeError if kind == "a defect" else DeviceFailed
        raise error(f"no luck with {password!r} and {LOGIN}")

    if kind == "a defect":
        monkeypatch.setattr("rocefort.rdma.rollout_gate.run_gate", crash)
        assert desk.types("apply", plan, "--connections", at) == 70
        output = " ".join(" ".join(desk.said).split())
        assert "an internal error: RuntimeError: no luck with '<removed>' and <removed>" in output
        assert "rolled back to what ran before: " in output
        (log,) = (desk.directory / "scratch").glob("rocefort-*.log")
        assert "RuntimeError: no luck with '<removed>' and <removed>" in log.read_text()
    else:
        monkeypatch.setattr(device_steps.DeviceSteps, "check", crash)
        assert desk.types("apply", plan, "--connections", at) == 3
        assert "no luck with '<removed>' and <removed>" in " ".join(" ".join(desk.said).split())
    assert secret not in " ".join(desk.said)
    desk.types("status", plan)
    desk.types("history", plan, "--format", "json")
    assert desk.found() == []


def test_the_search_finds_what_is_there(desk: Desk) -> None:
    (desk.directory / "left.txt").write_text(f"password {CANARIES['SNMP_PRIVACY']}")
    desk.said.append(f"x {WRONG}")
    assert len(desk.found()) == 2
