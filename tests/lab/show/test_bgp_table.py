"""`display bgp routing-table`: the vendor's form, and the paths that the routing engine uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network

import pytest
from shared_lab import SharedLab

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.show.routing import BGP_COLUMNS, BGP_HEAD, bgp_table
from rocefort.emulator.state.model import ComputedRoutes, EmulatedState
from rocefort.emulator.state.state_faults import Port, read_state_fault
from rocefort.emulator.switch.state_source import BgpPath
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.validators.routing.engine import analyse

MakeSwitch = Callable[..., EmulatedSwitch]
# Of the V300R023C00 command reference, `display bgp routing-table (Attribute)`.
SAMPLE = """\
 BGP Local router ID is 10.1.123.1
 Status codes: * - valid, > - best, d - damped, x - best external, a - add path,
               h - history,  i - internal, s - suppressed, S - Stale
               Origin : i - IGP, e - EGP, ? - incomplete
 RPKI validation codes: V - valid, I - invalid, N - not-found


 Total Number of Routes: 2
        Network            NextHop                       MED        LocPrf    PrefVal Path/Ogn

 *>     10.1.1.0/24        10.1.123.2                     0                     0      200i
 *>     10.1.2.0/24        10.1.123.2                     0                     0      200i"""


def with_table(switch: EmulatedSwitch, *paths: BgpPath) -> EmulatedSwitch:
    """Return a switch that has only a BGP table."""

    def routing(_running: Mapping[str, Lines], _dead: frozenset[Port]) -> ComputedRoutes:
        return ComputedRoutes({}, paths=lambda _: paths)

    switch.state_source = EmulatedState({switch.name: switch}, routing=routing)
    return switch


@pytest.fixture
def lab(hall_shared: SharedLab) -> Iterator[Rehearsal]:
    yield hall_shared.lab
    hall_shared.reset()


def table_of(lab: Rehearsal, name: str) -> str:
    """Return the output for a user who logs in."""
    switch = lab.switches[name]
    session = CliSession(switch, "somebody")
    shown = session.handle("display bgp routing-table").text
    session.close()
    return shown


def test_the_sample_is_shown_to_the_letter(make_switch: MakeSwitch) -> None:
    switch = make_switch(startup="sysname a\nbgp 100\n router-id 10.1.123.1\n")
    with_table(
        switch,
        *(BgpPath(IPv4Network(f"10.1.{n}.0/24"), "10.1.123.2", (200,), med=0) for n in (1, 2)),
    )
    assert bgp_table(switch) == SAMPLE


def test_further_ways_leave_the_network_empty(make_switch: MakeSwitch) -> None:
    switch = make_switch(startup="sysname a\nbgp 100\n")
    prefix = IPv4Network("10.1.4.0/24")
    with_table(
        switch,
        BgpPath(prefix, "10.1.3.1", (20, 10)),
        BgpPath(prefix, "10.1.5.1", (30, 10), best=False),
    )
    assert bgp_table(switch).splitlines()[-2:] == [
        " *>     10.1.4.0/24        10.1.3.1                                             0      20 10i",
        " *                         10.1.5.1                                             0      30 10i",
    ]


def test_a_switch_without_bgp_shows_nothing(make_switch: MakeSwitch) -> None:
    assert bgp_table(make_switch(startup="sysname a\n")) == ""


ROW = re.compile(r" (\*>?) +(\S+/\d+)? +(\d+\.\d+\.\d+\.\d+) +(0 +)?0 +((?:\d+ ?)*)i")


@pytest.mark.parametrize("name", ["leaf07", "spine01"])
def test_every_way_of_the_routing_engine_is_there_with_its_as_path(
    lab: Rehearsal, hall: DerivedNetwork, name: str
) -> None:
    solution = analyse(hall.network)
    shown = table_of(lab, name).splitlines()
    assert shown[1:5] == list(BGP_HEAD)
    assert shown[8] == BGP_COLUMNS
    rows = [ROW.fullmatch(line) for line in shown[10:]]
    assert all(rows)
    assert shown[7] == f" Total Number of Routes: {len(rows)}"
    learned: dict[str, list[str]] = {}
    paths: dict[str, set[str]] = {}
    prefix = ""
    for row in filter(None, rows):
        prefix = row[2] or prefix
        assert (row[1] == "*>") == (row[2] is not None)
        if row[3] == "0.0.0.0":
            assert row[5] == ""
            continue
        learned.setdefault(prefix, []).append(row[3])
        paths.setdefault(prefix, set()).add(row[5])
    assert learned == {
        str(prefix): list(map(str, route.next_hops)) for prefix, route in solution.bgp[name].items()
    }
    best = {str(p): " ".join(map(str, s.as_path)) for p, s in solution.bgp[name].items()}
    assert all(best[prefix] in paths[prefix] for prefix in best)
    assert {len(path.split()) for route in paths.values() for path in route} == (
        {1, 2} if name == "leaf07" else {1}
    )


def test_a_cut_cable_takes_its_ways_away(lab: Rehearsal) -> None:
    before = table_of(lab, "leaf07")
    lab.model.inject("leaf07", read_state_fault("link-down", "100GE1/0/1"))
    assert table_of(lab, "leaf07").count("\n") < before.count("\n")
    lab.model.faults.clear()
    assert table_of(lab, "leaf07") == before
