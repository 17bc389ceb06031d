"""Audit log of the switches of a lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.base.errors import ServiceFailed
from rocefort.emulator.cli.server import DurableSession
from rocefort.emulator.switch.audit_log import GONE, AuditLog, AuditRecord, read_audit_log
from rocefort.emulator.switch.personality import Personality, TrialMode
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.hardware.hardware import SyntaxFamily


class Clock:
    """Seconds that pass only when a test moves them."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def session(audit_log: AuditLog, clock: Clock, mode: TrialMode = "survives") -> DurableSession:
    switch = EmulatedSwitch(
        "leaf01",
        "sysname leaf01\n",
        SyntaxFamily.V300_G1,
        clock=clock,
        personality=Personality(mode),
    )
    audit_log.begin(switch)
    return DurableSession(switch, "netops", None, audit_log)


def type_in(durable: DurableSession, *lines: str) -> None:
    for line in lines:
        durable.handle(line)


def changes(rows: list[AuditRecord]) -> list[tuple[str, bool, bool, bool, bool]]:
    """Return rows with a changed state: line, candidate, trial, another running, saved it."""
    changed, last = [], rows[0].state
    for row in rows:
        if row.state != last:
            runs, saved = row.running != rows[0].running, row.saved != rows[0].saved
            changed.append((row.line, row.candidate, row.left_s is not None, runs, saved))
        last = row.state
    return changed


def test_every_line_is_a_row_with_what_came_of_it(tmp_path: Path) -> None:
    with AuditLog(tmp_path / "log") as audit_log:
        durable = session(audit_log, Clock())
        lines = ("system-view", "vlan batch 7", "commit trial 60 persist p", "commit persist p")
        type_in(durable, *lines, "return", "save", "Y")
        durable.close()
    rows = read_audit_log(tmp_path / "log")
    assert [row.line for row in rows] == ["", *lines, "return", "save", "Y", GONE]
    assert {(row.switch, row.user) for row in rows[1:]} == {("leaf01", "netops")}
    assert changes(rows) == [
        ("vlan batch 7", True, False, False, False),
        ("commit trial 60 persist p", False, True, True, False),
        ("commit persist p", False, False, True, False),
        ("Y", False, False, True, True),
    ]
    assert (rows[3].persist, rows[3].left_s, rows[3].before) == ("p", 60, rows[0].running)


def test_a_trial_that_ends_by_itself_is_nobodys_line(tmp_path: Path) -> None:
    clock = Clock()
    with AuditLog(tmp_path / "log") as audit_log:
        durable = session(audit_log, clock)
        type_in(durable, "system-view", "vlan batch 7", "commit trial 60")
        clock.now = 61
        type_in(durable, "vlan batch 8")
    assert changes(read_audit_log(tmp_path / "log"))[-2:] == [
        ("", False, False, False, False),
        ("vlan batch 8", True, False, False, False),
    ]


def test_one_that_ends_with_its_session_says_so(tmp_path: Path) -> None:
    with AuditLog(tmp_path / "log") as audit_log:
        durable = session(audit_log, Clock(), "dies-with-session")
        type_in(durable, "system-view", "vlan batch 7", "commit trial 60")
        durable.close()
    assert changes(read_audit_log(tmp_path / "log"))[-1] == (GONE, False, False, False, False)


def test_passwords_are_masked_and_the_file_is_its_owners(tmp_path: Path) -> None:
    with AuditLog(tmp_path / "log") as audit_log:
        type_in(
            session(audit_log, Clock()), "system-view", "bgp 1", "peer 192.0.2.1 password simple S3"
        )
    assert "password simple <removed>" in (tmp_path / "log").read_text()
    assert "S3" not in (tmp_path / "log").read_text()
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_rows_are_added_and_one_that_is_half_written_is_left_out(tmp_path: Path) -> None:
    for _ in range(2):
        with AuditLog(tmp_path / "log") as audit_log:
            session(audit_log, Clock())
    with (tmp_path / "log").open("a") as file:
        file.write('{"at": ')
    assert len(read_audit_log(tmp_path / "log")) == 2


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ServiceFailed) as caught, AuditLog(tmp_path / "none" / "log"):
        pass
    assert str(caught.value) == (
        f"{tmp_path}/none/log: No such file or directory; choose another file"
    )
