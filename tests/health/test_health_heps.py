"""`health` on a running HEPS: no finding while it is healthy, and a rule for every fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.emulator.switch.personality import LineFault
from rocefort.models.finding import Finding
from rocefort.rollout.live.health import HealthReport, health_of

Judge = Callable[..., HealthReport]
Typing = Callable[..., None]


def messages(report: HealthReport) -> list[str]:
    return [f"{f.severity} {f.rule} {_place(f)}: {f.message}" for f in report.report.findings]


def _place(finding: Finding) -> str:
    return " ".join(filter(None, (finding.where.device, finding.where.interface)))


def test_a_fabric_that_is_well_is_silent_and_all_rules_judge(judge: Judge) -> None:
    report = judge(interval_s=0.1)
    assert messages(report) == []
    assert report.report.not_judged == ()
    assert report.exit_code == 0
    assert len(report.observed.devices) == 10


SICK: list[tuple[str, str, str, list[str]]] = [
    (
        "leaf03",
        "wrong-cable",
        "100GE1/0/25=spine02:100GE1/1/4",
        [
            "error LIV003 leaf03: peer 10.1.0.32 (spine01): the session is not established",
            "error LIV004 leaf03: peer 10.1.0.34 (spine02): 14 prefixes received, at least 17 "
            "intended",  # the cable pulled leaf04's out
            "error LIV005 leaf03: next hops without 10.1.0.32 (spine01) and 10.1.0.34 (spine02): 0 "
            "to 10.65.3.0/24 and 10.66.3.0/24, intended 2",
            "error LIV005 leaf03: next hops without 10.1.0.32 (spine01): 1 to 7 prefixes from "
            "10.64.4.0/24 on, intended 2",
            "error LIV006 leaf03 100GE1/0/25: cable: sees spine02 100GE1/1/4, intended spine01 "
            "100GE1/1/3",
        ],
    ),
    (
        "leaf03",
        "wrong-mtu",
        "100GE1/0/25=1500",
        ["error LIV009 leaf03 100GE1/0/25: MTU: 1500 bytes, intended 9000"],
    ),
    (
        "leaf03",
        "deadlocks",
        "100GE1/0/25=2",
        ["warning LIV014 leaf03 100GE1/0/25: queue 4 deadlocks: 2 since they were cleared"],
    ),
    (
        "leaf03",
        "queue-drops",
        "100GE1/0/25 queue 4=3",
        ["warning LIV015 leaf03 100GE1/0/25: queue 4 drops: 3 packets since it was cleared"],
    ),
    ("leaf03", "queue-drops", "100GE1/0/25 queue 0=3", []),
    (
        "leaf03",
        "pfc-received",
        "100GE1/0/25=2000/s",
        [
            "error LIV016 leaf03 100GE1/0/25: queue 4 pauses received: 2000 a second, limit 1000; "
            "they stop the port up to 67% of the time"
        ],
    ),
    (
        "leaf03",
        "ai-ecn-abnormal",
        "100GE1/0/25",
        [
            "error LIV017 leaf03 100GE1/0/25: queue 4 AI-ECN: its mode is abnormal (-), intended "
            "ai_ecn_hpc"
        ],
    ),
    ("leaf03", "input-errors", "100GE1/0/25=5", []),  # old ones
]


@pytest.mark.parametrize(("device", "fault", "what", "findings"), SICK)
def test_a_sickness_is_found_where_it_is(
    lab: Rehearsal, judge: Judge, device: str, fault: str, what: str, findings: list[str]
) -> None:
    lab.model.inject(device, read_state_fault(fault, what))
    report = judge(device)
    assert messages(report) == findings
    assert report.exit_code == int(any(line.startswith("error") for line in findings))


def test_a_cut_cable_costs_port_session_and_paths_at_both_ends(
    lab: Rehearsal, judge: Judge
) -> None:
    lab.model.inject("leaf03", read_state_fault("link-down", "100GE1/0/25"))
    report = judge("leaf03", "spine01")
    assert messages(report) == [
        "error LIV003 leaf03: peer 10.1.0.32 (spine01): the session is not established",
        "error LIV003 spine01: peer 10.1.0.33 (leaf03): the session is not established",
        "error LIV005 leaf03: next hops without 10.1.0.32 (spine01): 1 to 9 prefixes from "
        "10.64.4.0/24 on, intended 2",
        "error LIV005 spine01: next hops without 10.1.0.33 (leaf03): 0 to 10.65.2.0/24, intended 1",
        "error LIV007 leaf03 100GE1/0/25: port: it is DOWN, intended UP",
        "error LIV007 spine01 100GE1/1/3: port: it is DOWN, intended UP",
    ]


def test_what_somebody_typed_by_hand_is_found(lab: Rehearsal, judge: Judge, typing: Typing) -> None:
    typing(
        lab.switches["leaf03"],
        "interface 100GE1/0/25",
        "dcb pfc buffer 4 xon static 550 kbytes xoff static 640 kbytes",
        "quit",
        "interface 100GE1/0/1",
        "shutdown",
    )
    assert messages(judge("leaf03")) == [
        "error LIV007 leaf03 100GE1/0/1: port: it is Administratively DOWN, intended UP, of server "
        "k8sgn12",
        "error LIV013 leaf03 100GE1/0/25: queue 4: xoff 640 KB and xon 550 KB, intended xoff 600 "
        "KB and xon 550 KB",
    ]


def test_what_is_not_saved_is_found(lab: Rehearsal, judge: Judge) -> None:
    switch = lab.switches["leaf03"]
    switch.saved = switch.saved[:-1]
    assert messages(judge("leaf03")) == [
        "error LIV020 leaf03: startup: the running configuration is not saved"
    ]


def test_a_clock_that_is_off_is_found(lab: Rehearsal, judge: Judge) -> None:
    lab.switches["leaf03"].now = lambda: utc_now() - timedelta(seconds=60, milliseconds=500)
    report = judge("leaf03", "leaf04")
    assert len(report.report.findings) == 1
    assert messages(report)[0].startswith("error LIV018 leaf03: clock: it is 6")
    assert messages(report)[0].endswith(" s behind this machine's, limit 5 s")


def test_a_full_flash_is_found(lab: Rehearsal, judge: Judge) -> None:
    lab.switches["leaf03"].faults = (LineFault("full-flash"),)
    assert messages(judge("leaf03")) == ["error LIV019 leaf03: flash: 0 MB are free, limit 100 MB"]


def test_errors_that_rise_between_two_readings_are_found(lab: Rehearsal, judge: Judge) -> None:
    lab.model.inject("leaf03", read_state_fault("input-errors", "100GE1/0/25=500/s"))
    lab.model.inject("leaf03", read_state_fault("deadlocks", "100GE1/0/26=500/s"))
    report = judge("leaf03", interval_s=0.2)
    rules = [line.split()[1:4] for line in messages(report)]
    assert rules == [["LIV010", "leaf03", "100GE1/0/25:"], ["LIV014", "leaf03", "100GE1/0/26:"]]
    assert " more in " in messages(report)[0]
    assert report.exit_code == 1


def test_a_switch_that_refuses_logins_is_an_error_and_the_others_are_judged(
    lab: Rehearsal, judge: Judge
) -> None:
    lab.switches["leaf03"].faults = (LineFault("refuse-login"),)
    lab.model.inject("leaf04", read_state_fault("wrong-mtu", "100GE1/0/25=1500"))
    report = judge("leaf03", "leaf04")
    assert [line.split()[1] for line in messages(report)] == ["LIV001", "LIV009"]
    assert {n.where.device for n in report.report.not_judged if n.where.device} == {"leaf03"}
    assert report.exit_code == 3


def test_a_baseline_fails_for_what_is_new_alone(
    lab: Rehearsal, judge: Judge, tmp_path: Path
) -> None:
    lab.model.inject("leaf03", read_state_fault("wrong-mtu", "100GE1/0/25=1500"))
    file = tmp_path / "before.json"
    assert judge("leaf03", save=file).exit_code == 1
    assert file.stat().st_mode & 0o077 == 0
    same = judge("leaf03", baseline=file)
    assert (same.exit_code, same.notes) == (0, ("0 errors new, 1 as in the baseline",))
    lab.model.inject("leaf03", read_state_fault("wrong-mtu", "100GE1/0/26=1500"))
    worse = judge("leaf03", baseline=file)
    assert (worse.exit_code, worse.notes) == (1, ("1 error new, 1 as in the baseline",))


def test_bad_input_is_told_before_a_switch_is_asked(
    lab: Rehearsal, judge: Judge, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as unknown:
        judge("leaf3")
    assert str(unknown.value).startswith("--device: no switch 'leaf3' in heps; did you mean ")
    file = tmp_path / "before.json"
    how = "write one with `rocefort health FABRIC --save FILE`"
    with pytest.raises(BadInput, match="cannot be read: No such file or directory"):
        judge(baseline=file)
    file.write_text("{}")
    with pytest.raises(BadInput) as not_one:
        judge(baseline=file)
    assert str(not_one.value) == f"{file}: is not a reading of a fabric: Field required; {how}"
    judge("leaf03", save=file)
    whole = file.read_text()
    file.write_text(re.sub(r'"at": "\d{4}', '"at": "9999', whole, count=1))
    with pytest.raises(BadInput, match=r"is of 9999-.* UTC, which is in the future; set the clock"):
        judge(baseline=file)
    file.write_text(whole)
    file.write_text(file.read_text().replace('"fabric": "heps"', '"fabric": "other"'))
    with pytest.raises(BadInput) as other:
        judge(baseline=file)
    assert str(other.value) == f"{file}: is a reading of other, not of heps; {how}"


def test_a_table_in_another_form_is_an_error_with_command_and_line(
    judge: Judge, answers: Callable[[str, str | None], None]
) -> None:
    answers("display dcb pfc", "Interface  Queue  Frames")
    report = judge("leaf03")
    assert messages(report) == [
        "error LIV001 leaf03: 'display dcb pfc', line 1: 'Interface  Queue  Frames' is not the "
        "documented heading"
    ]
    assert {n.rule for n in report.report.not_judged if n.where.device} == {"LIV014", "LIV016"}
    assert report.exit_code == 3


def test_one_odd_row_is_a_warning_and_the_other_rows_are_judged(
    judge: Judge, answers: Callable[[str, str | None], None]
) -> None:
    answers(
        "display lldp neighbor brief",
        "Local Interface         Exptime(s) Neighbor Interface      Neighbor Device\n"
        "100GE1/0/1                    108  aaaa-bbbb-cc20\n"
        "100GE1/0/25                   9x   100GE1/1/3              spine01\n"
        "100GE1/0/26                   115  100GE1/1/4              spine02\n",
    )
    report = judge("leaf03")
    assert messages(report) == [
        "warning LIV001 leaf03: output: 1 line of 'display lldp neighbor brief' was not read: line "
        "3: '9x' is not a count",
        "error LIV006 leaf03 100GE1/0/26: cable: sees spine02 100GE1/1/4, intended spine02 "
        "100GE1/1/3",
    ]
    [not_judged] = [n for n in report.report.not_judged if n.where.device]
    assert (not_judged.rule, not_judged.where.interface) == ("LIV006", "100GE1/0/25")
    assert report.exit_code == 1


def test_a_login_that_is_refused_has_its_own_fix(lab: Rehearsal, heps_file: Path) -> None:
    devices = [device.model_copy(update={"user": "stranger"}) for device in lab.connections.devices]
    access = lab.connections.model_copy(update={"devices": tuple(devices)})
    report = health_of(heps_file, access, devices=("leaf03",))
    [finding] = report.report.findings
    assert re.fullmatch(r"\S+:\d+ refuses the login of 'stranger'", finding.message)
    assert finding.hint == "check name, password or key"


def test_a_table_that_a_getter_cannot_read_names_its_command(
    judge: Judge, answers: Callable[[str, str | None], None]
) -> None:
    answers("display bgp peer", "what is this")
    report = judge("leaf03")
    assert messages(report) == [
        "error LIV001 leaf03: 'display bgp peer', line 1: 0 values of 'BGP local router ID' "
        "instead of one"
    ]
    assert {n.rule for n in report.report.not_judged if n.where.device} == {"LIV003", "LIV004"}


def test_a_command_that_a_release_does_not_know_is_not_judged(
    judge: Judge, answers: Callable[[str, str | None], None]
) -> None:
    answers("display ai-ecn calculated state", None)
    report = judge("leaf03")
    assert messages(report) == []
    (told,) = [n for n in report.report.not_judged if n.where.device]
    assert told.rule == "LIV017"
    assert told.reason.startswith(
        "the switch does not report it: 'display ai-ecn calculated state': "
    )
    assert report.exit_code == 0
    assert report.observed.by_name["leaf03"].ai_ecn is None
