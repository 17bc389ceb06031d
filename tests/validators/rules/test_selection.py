"""Selection of rules, and the effect of waivers on findings."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from page_contents import FACT
from pydantic import ValidationError

from rocefort.base.errors import BadInput
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waiver, Where
from rocefort.models.network.network import Position, Sources
from rocefort.validators.checks import check, rules
from rocefort.validators.rules.waivers import sort_out

TODAY = date(2026, 11, 20)
EVERY = [rule.id for rule in rules()]
PORTS = ("100GE1/0/31", "100GE1/0/32")
MODE = "PFC mode is auto, where the neighbour decides by DCBX; it must be manual"


@pytest.mark.parametrize(
    ("select", "ignore", "ids"),
    [
        ((), (), EVERY),
        (["PFC003"], (), ["PFC003"]),
        (["BUF001,ADR001"], (), ["ADR001", "BUF001"]),  # in the order of reports
        (["BUF001", "ADR001, BUF001"], (), ["ADR001", "BUF001"]),
        (["BUF,DLK001"], (), ["BUF001", "BUF002", "DLK001"]),
        (["BUF"], ["BUF001"], ["BUF002"]),
        (["buf"], ["Buf001"], ["BUF002"]),
        (["BUF001,DLK"], ["BUF"], ["DLK001"]),
        ((), ["TOP,LAG,ADR,BGP,PFC,ECN,BUF,QOS,SEC,HST,TXT"], ["DLK001"]),
        ([" , "], (), EVERY),
    ],
)
def test_selection(select: list[str], ignore: list[str], ids: list[str]) -> None:
    assert [rule.id for rule in rules(select, ignore)] == ids


@pytest.mark.parametrize(
    ("select", "ignore", "message"),
    [
        (["PFD"], (), "no rule or family 'PFD'; did you mean 'PFC'?"),
        (["BUF999"], (), "no rule or family 'BUF999'; did you mean 'BUF'?"),
        (
            ["TOP1"],
            ["XX"],
            "no rule or family 'TOP1'; did you mean 'TOP'?\n"
            "no rule or family 'XX'; `rocefort rules` lists them",
        ),
        (["BUF"], ["BUF"], "no rule is left to run; select more, or ignore less"),
    ],
)
def test_a_wrong_selection(select: list[str], ignore: list[str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        rules(select, ignore)
    assert str(caught.value) == message


def test_what_did_not_run_is_not_in_the_report(small: Any) -> None:
    spoiled = small.pfc("leaf01", detect_ms=5)
    report = check(spoiled.network, run=rules(["PFC001", "BUF"]))
    assert report.rules == ("PFC001", "BUF001", "BUF002")
    assert report.findings == ()
    assert check(spoiled.network, run=rules(["PFC004"])).failed


def _waiver(**update: Any) -> Waiver:
    fields = {"rule": "PFC003", "why": "lab", "until": date(2026, 12, 31), **update}
    return Waiver(**fields)


def _auto(small: Any, *waivers: Waiver) -> Any:
    """leaf01 with two ports in auto mode, and waivers."""
    pfc = small.network.by_name["leaf01"].device.by_interface[PORTS[0]].pfc
    for port in PORTS:
        small = small.port("leaf01", port, pfc=pfc.model_copy(update={"mode": "auto"}))
    return small.change(waivers=waivers)


def _told(report: Report) -> list[str]:
    return [f"{f.severity} {f.where}: {f.message}" for f in report.findings]


def _report(small: Any, *waivers: Waiver, today: date = TODAY) -> Report:
    table = {f"/waivers[{i}]": Position("fabric.yaml", 90 + i) for i in range(len(waivers))}
    return check(_auto(small, *waivers).network, Sources(table), today=today)


BOTH = [f"error leaf01 {port}: {MODE}" for port in PORTS]


@pytest.mark.parametrize(
    ("place", "waived"),
    [
        ({}, 2),
        ({"device": "leaf01"}, 2),
        ({"device": "leaf01", "interface": PORTS[0]}, 1),
        ({"device": "leaf01", "interface": "100GE1/0/1"}, 0),
        ({"device": "leaf02"}, 0),
        ({"rule": "PFC002"}, 0),
    ],
)
def test_a_waiver_covers_its_rule_at_its_place(
    small: Any, place: dict[str, str], waived: int
) -> None:
    report = _report(small, _waiver(**place))
    assert len(report.waived) == waived
    errors = [f for f in report.findings if f.severity is Severity.ERROR]
    assert [f"error {f.where}: {f.message}" for f in errors] == BOTH[waived:]
    assert report.failed == (waived < 2)


def test_a_waived_finding_stays_with_its_reason(small: Any) -> None:
    report = _report(small, _waiver(device="leaf01"))
    assert not report.failed
    assert _told(report) == []
    assert [
        f"{w.finding.where}: {w.finding.message}; {w.why}, {w.until}" for w in report.waived
    ] == [f"leaf01 {port}: {MODE}; lab, 2026-12-31" for port in PORTS]
    assert {w.finding.severity for w in report.waived} == {Severity.ERROR}


def test_a_waiver_holds_through_its_last_day(small: Any) -> None:
    waiver = _waiver(until=TODAY)
    assert _told(_report(small, waiver)) == []
    late = _report(small, waiver, today=date(2026, 11, 21))
    assert late.waived == ()
    assert late.failed
    assert _told(late) == [
        "error fabric.yaml:90: the waiver of PFC003 expired after 2026-11-20 (lab)",
        *BOTH,
    ]


def test_an_expired_waiver_fails_even_where_nothing_is_left_to_waive(small: Any) -> None:
    waiver = _waiver(device="leaf02", until=date(2026, 1, 1))
    report = check(small.change(waivers=(waiver,)).network, today=TODAY)
    assert [f"{f.severity} {f.where}: {f.message}; {f.hint}" for f in report.findings] == [
        "error : the waiver of PFC003 at leaf02 expired after 2026-01-01 (lab); "
        "fix the waived finding, or review the waiver and set a later date"
    ]
    assert report.failed


def test_a_waiver_that_covers_nothing_is_a_warning(small: Any) -> None:
    where = {"device": "leaf01", "interface": "100GE1/0/1"}
    report = _report(small, _waiver(device="leaf01"), _waiver(**where))
    assert _told(report) == [
        "warning fabric.yaml:91: the waiver of PFC003 at leaf01 100GE1/0/1 covers no finding (lab)"
    ]
    assert not report.failed


def test_of_two_waivers_the_first_counts_and_neither_is_idle(small: Any) -> None:
    report = _report(small, _waiver(why="first"), _waiver(why="second", device="leaf01"))
    assert [w.why for w in report.waived] == ["first", "first"]
    assert report.findings == ()


def test_an_expired_waiver_does_not_hide_a_valid_one(small: Any) -> None:
    report = _report(small, _waiver(until=date(2026, 1, 1)), _waiver())
    assert len(report.waived) == 2
    assert _told(report) == [
        "error fabric.yaml:90: the waiver of PFC003 expired after 2026-01-01 (lab)"
    ]


def test_a_waiver_of_a_rule_that_did_not_run_is_not_asked_for(small: Any) -> None:
    spoiled = _auto(small, _waiver(until=date(2026, 1, 1)), _waiver(rule="BUF001"))
    assert check(spoiled.network, run=rules(["PFC001"]), today=TODAY).findings == ()


def test_a_waiver_of_no_rule_is_bad_input(small: Any) -> None:
    with pytest.raises(BadInput) as caught:
        _report(small, _waiver(rule="PFC03"), _waiver(), _waiver(rule="BGP199"))
    assert str(caught.value) == (
        "fabric.yaml:90:1: no rule 'PFC03'; did you mean 'PFC003'?\n"
        "fabric.yaml:92:1: no rule 'BGP199'; did you mean 'BGP109'?"
    )
    with pytest.raises(BadInput, match=r"^waivers\[0\]: no rule 'X'; `rocefort rules` lists them"):
        check(small.change(waivers=(_waiver(rule="X"),)).network)


def test_a_waiver_of_what_a_verification_finds_is_left_to_it(small: Any) -> None:
    whole = small.change(waivers=tuple(_waiver(rule=f"BGP10{n}") for n in range(1, 5)))
    assert _told(check(whole.network, today=TODAY)) == []


@pytest.mark.parametrize(
    ("place", "unjudged", "idle"),
    [
        ({}, Where(device="leaf01"), False),
        ({"device": "leaf01"}, Where(), False),
        ({"device": "leaf01"}, Where(device="leaf01"), False),
        ({"device": "leaf02"}, Where(device="leaf01"), True),
        ({"device": "leaf01", "interface": PORTS[0]}, Where(device="leaf01"), False),
        (
            {"device": "leaf01", "interface": PORTS[0]},
            Where(device="leaf01", interface=PORTS[1]),
            True,
        ),
    ],
)
def test_a_waiver_is_not_called_idle_where_nothing_was_judged(
    small: Any, place: dict[str, str], unjudged: Where, *, idle: bool
) -> None:
    network = small.change(waivers=(_waiver(**place),)).network
    entry = NotJudged(rule="PFC003", where=unjudged, missing=FACT, reason="unknown")
    report = Report(network="x", rules=("PFC003",), not_judged=(entry,))
    assert bool(sort_out(report, network, Sources(), TODAY).findings) == idle


def test_today_is_today(small: Any) -> None:
    """Without a given date a check compares waivers with the clock."""
    assert check(_auto(small, _waiver(until=date(2000, 1, 1))).network).failed
    assert not check(_auto(small, _waiver(until=date(9999, 12, 31))).network).failed


@pytest.mark.parametrize(
    ("until", "message"),
    [
        ("2026-02-30", "there is no day 2026-02-30; check month and day"),
        ("2026-1-01", "'2026-1-01' is not a day; write YYYY-MM-DD"),
        ("20261231", "'20261231' is not a day; write YYYY-MM-DD"),
        ("2026-12-31T00:00", "'2026-12-31T00:00' is not a day; write YYYY-MM-DD"),
        (20261231, "20261231 is not a day; write YYYY-MM-DD"),
        (None, "None is not a day; write YYYY-MM-DD"),
    ],
)
def test_a_day_is_written_in_one_way(until: object, message: str) -> None:
    with pytest.raises(ValidationError, match=f"Value error, {message}"):
        _waiver(until=until)
    assert _waiver(until="2026-12-31") == _waiver(until=date(2026, 12, 31))


def test_a_port_is_of_a_device() -> None:
    with pytest.raises(ValidationError, match="names an interface, but no device; add device"):
        _waiver(interface=PORTS[0])
    finding = Finding(rule="PFC003", severity=Severity.ERROR, where=Where(), message="m")
    assert _waiver().covers(finding)
    assert not _waiver(device="leaf01").covers(finding)
