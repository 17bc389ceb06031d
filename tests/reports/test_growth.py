"""Text report of an expansion: 80 columns, all cables of a run together, notes on unknowns."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.change.expand import GrowthOptions, expand, wanted_of
from rocefort.change.growth import (
    Growth,
    GrowthStage,
    ListedCable,
    StagedGrowth,
    growth_report,
    staged_report,
)
from rocefort.models.network.network import End
from rocefort.reports.writers.terminal import text_of


@pytest.fixture(scope="module")
def growth() -> Growth:
    found = expand(Path("heps"), wanted_of(GrowthOptions(1, 2, 1, [], [], like=["leaf08"]))).growth
    return found.model_copy(update={"file": "inventory/heps/fabric.yaml"})  # wherever tests run


def with_cables(growth: Growth, *cables: ListedCable) -> str:
    return text_of(
        *growth_report(growth.model_copy(update={"cables": cables}), written=True), width=80
    )


def link(number: int, **fields: object) -> ListedCable:
    near = End(device="spine03", interface=f"100GE1/1/{number}")
    far = End(device=f"leaf{number:02}", interface="100GE1/0/59")
    known = {"near": near, "far": far, "length_m": 50, "near_fits": "QSFP28", "far_fits": "QSFP28"}
    return ListedCable.model_validate(known | fields)


def test_the_whole_text(growth: Growth) -> None:
    text = text_of(*growth_report(growth, written=False), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(
        "heps grows: 2 spines x 8 leaves -> 3 spines x 10 leaves\n"
        "inventory/heps/fabric.yaml: not written; 24 lines would be added, every other\n"
        "  byte kept\n\n"
        "new switch  id  hardware         release         AS  loopback\n"
        "spine03      3  CE9860-4C-EI     V200R022C00  65000  10.0.0.3\n"
    )
    assert (
        "plug                        into                          cables\n"
        "spine01 100GE1/1/9-10       leaf09 to leaf10 100GE1/0/1   2 x 50 m\n"
        "spine02 100GE1/1/9-10       leaf09 to leaf10 100GE1/0/2   2 x 50 m\n"
        "spine03 100GE1/1/1-2        leaf01 to leaf02 100GE1/0/59  2 x 50 m\n"
        "spine03 100GE1/1/3-4        leaf03 to leaf04 100GE1/0/27  2 x 50 m\n"
        "spine03 100GE1/1/5-10       leaf05 to leaf10 100GE1/0/3   6 x 50 m\n"
        "leaf09 to leaf10 25GE1/0/1  readout05 to readout06        2 x 5 m\n"
        "in all 16 cables: 14 of 50 m and 2 of 5 m; transceivers: 28 QSFP28 and 2 SFP28\n"
        "  in switches and 2 in servers (their medium is not given)\n"
    ) in text
    assert (
        "uplinks of a leaf, Gb/s                        200         300\n"
        "for each spine, Gb/s                           100         100\n"
        "bisection, Gb/s                                800       1,500\n"
        "ECMP width from leaf to leaf                     2           3\n"
        "server pairs by every path              124 of 124  170 of 170\n"
    ) in text
    assert (
        "stays  1548 lines in their order, 62 addresses, 10 AS numbers, 44 ports, 32 BGP\n"
        "       session ends, 16 cables and 12 servers of 10 switches\n"
        "comes  204 lines: 12 interfaces and 12 BGP peers; nothing else is allowed\n"
        "       (CHG201 to CHG203)\n"
    ) in text


def test_a_run_ends_where_something_does_not_count_on(growth: Growth) -> None:
    text = with_cables(
        growth, link(1), link(2), link(4), link(5, length_m=7), link(6, medium="aoc")
    )
    assert (
        "spine03 100GE1/1/1-2  leaf01 to leaf02 100GE1/0/59  2 x 50 m\n"
        "spine03 100GE1/1/4    leaf04 100GE1/0/59            1 x 50 m\n"
        "spine03 100GE1/1/5    leaf05 100GE1/0/59            1 x 7 m\n"
        "spine03 100GE1/1/6    leaf06 100GE1/0/59            1 x 50 m aoc\n"
        "in all 5 cables: 3 of 50 m, 1 of 7 m and 1 of 50 m aoc; transceivers: 8 QSFP28\n"
        "  in switches (their medium is not given)\n"
    ) in text


def test_what_is_not_known_of_cables_is_said(growth: Growth) -> None:
    text = with_cables(growth, link(1, length_m=None, far_fits=None, medium="sr4"))
    assert "in all 1 cable: 1 of ? m sr4; transceivers: 1 QSFP28 and 1 of unknown form in" in text
    direct = with_cables(growth, link(1, medium="dac"))
    assert "in all 1 cable: 1 of 50 m dac; transceivers: none\n" in direct


def test_parts_of_a_split_port_share_a_transceiver(growth: Growth) -> None:
    parts = [
        link(1, near=End(device="leaf09", interface=f"100GE1/0/3:{n}"), far=f"node{n:02}")
        for n in (1, 2, 3)
    ]
    text = with_cables(growth, *parts)
    assert "leaf09 100GE1/0/3:1-3  node01 to node03  3 x 50 m\n" in text
    assert "transceivers: 1 QSFP28 in switches and 3" in text


def test_new_leaves_without_a_server_are_told(growth: Growth) -> None:
    idle = expand(Path("heps"), wanted_of(GrowthOptions(0, 1, 0, [], [], like=["leaf08"]))).growth
    assert (
        "warning: TOP008 leaf09: no port has VLAN 110: its gateway is down, and its\n"
        "  prefix is not announced\n"
    ) in text_of(*growth_report(idle, written=True), width=80)


def test_a_state_that_is_wrong_is_an_error_line() -> None:
    good = GrowthStage(
        title="as it is", sessions=(4, 4), in_service=(2, 2), widths=(2, 2), pairs=(2, 2)
    )
    bad = good.model_copy(
        update={"title": "spine03 cabled", "lost": 1, "pairs": (1, 2), "wrong": ("it is lost",)}
    )
    text = text_of(*staged_report(StagedGrowth(fabric="x", stages=(good, bad))), width=80)
    assert "spine03 cabled  4 of 4    2     1 of 2, 1 lost\n" in text
    assert text.endswith("error spine03 cabled: it is lost\n")
    assert text_of(*staged_report(StagedGrowth(fabric="x", stages=(good,))), width=80).endswith(
        "x: 1 state, no pair lost in any\n"
    )


def test_large_numbers_do_not_run_together(growth: Growth) -> None:
    many = growth.after.model_copy(update={"pairs": (6_392_000, 6_392_000)})
    text = text_of(
        *growth_report(growth.model_copy(update={"after": many}), written=True), width=80
    )
    assert "124 of 124  6392000 of 6392000\n" in text
    assert max(map(len, text.splitlines())) <= 80
