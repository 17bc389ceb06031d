"""The registry of live rules: fields of every rule, and the report of all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from rocefort.models.finding import Waiver
from rocefort.models.network.network import Position, Sources
from rocefort.validators.checks import check_live, rules
from rocefort.validators.rules.live.switch_readings import LiveSubject, SwitchReadings
from rocefort.validators.rules.registry import registered

LIVE = rules(judges=LiveSubject)


def test_live_rules_are_the_last() -> None:
    assert registered()[-len(LIVE) :] == LIVE


def test_a_fabric_that_is_well_has_no_finding(live: Any) -> None:
    report = check_live(live.network, SwitchReadings(live.now))
    assert report.findings == ()
    assert {n.rule for n in report.not_judged} == {"LIV010", "LIV011"}
    assert report.rules == tuple(rule.id for rule in LIVE)
    again = live.earlier()
    report = check_live(live.network, SwitchReadings(again.now, again.before))
    assert (report.findings, report.not_judged) == ((), ())


def test_a_switch_that_says_nothing_is_judged_by_no_rule_and_passes_none(live: Any) -> None:
    silent = live.silent().earlier()
    report = check_live(live.network, SwitchReadings(silent.now, silent.before))
    assert [f.rule for f in report.findings] == ["LIV001"]
    judged = {n.rule for n in report.not_judged if n.where.device == "leaf01"}
    assert judged == {rule.id for rule in LIVE} - {"LIV001"}


def test_only_the_switches_that_were_read_are_judged(live: Any) -> None:
    some = live.now.model_copy(update={"devices": live.now.devices[:1]})
    assert check_live(live.network, SwitchReadings(some)).findings == ()


def test_a_finding_names_the_line_of_yaml(live: Any) -> None:
    table = {
        "leaf01/interfaces[100GE1/0/31].thresholds": Position("fabric.yaml", 20),
        "leaf01/bgp.peers[10.1.1.2]": Position("fabric.yaml", 30),
    }
    sick = live.row("leaf01", "thresholds", 0, xoff_kbytes=1).row(
        "leaf01", "peers", 0, established=False
    )
    sick = replace(sick, sources=Sources(table))
    lines = [*sick.says("LIV003"), *sick.says("LIV013")]
    assert [line.partition(": ")[0] for line in lines] == [
        "error leaf01 (fabric.yaml:30)",
        "error leaf01 100GE1/0/31 (fabric.yaml:20)",
    ]


def test_a_live_finding_can_be_waived(live: Any) -> None:
    waiver = Waiver(rule="LIV019", device="leaf01", why="ordered", until=date(2026, 12, 31))
    sick = live.device("leaf01", disk_free_kbytes=1).meant(waivers=(waiver,))
    report = check_live(sick.network, SwitchReadings(sick.now), today=date(2026, 1, 1))
    assert [(w.finding.rule, w.why) for w in report.waived] == [("LIV019", "ordered")]
    assert not report.failed
