"""HST rules: NIC profiles of servers, compared with the fabric's RoCE settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocefort.models.device.lossless_queue import DiffservDomain, DscpMap
from rocefort.models.fabric.congestion_control import Dcqcn, PfcOnly
from rocefort.models.fabric.hosts import HostProfile
from rocefort.models.fabric.topology import WanPath
from rocefort.models.network.network import Position, Sources
from rocefort.validators.checks import check

Change = Callable[[Any], Any]

NO_NIC = "not judged fabric: no server has a NIC profile (servers.nic)"
NO_INTENT = "not judged fabric: the lossless intent is not known (queue, DSCP, timers, frame size)"
ONE_NOT_KNOWN = "not judged fabric: the NIC settings of node2 are not known (servers.nic)"
UNKNOWN: list[tuple[Change, list[str]]] = [
    (lambda s: s.hosts(nics={}), [NO_NIC]),
    (lambda s: s.change(hosts=None), [NO_NIC]),
    (lambda s: s.server(1, nic=None), [ONE_NOT_KNOWN]),
]


def _map(small: Any, dscp: int, phb: str, device: str = "leaf01") -> Any:
    domain = DiffservDomain(name="roce", dscp=(DscpMap(value=dscp, phb=phb),))
    return small.device(device, domains=(domain,))


def _says_nothing_of(what: str) -> list[str]:
    return [f"not judged fabric: NIC profile plain does not state {what}"]


HST001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN,
    (lambda s: s.change(lossless=None), [NO_INTENT]),
    (
        lambda s: s.nic(dscp2prio={34: 3}),
        [
            "error fabric: NIC profile plain gives DSCP 34 priority 3, and the leaf puts it into "
            "queue 4: pauses of priority 4 do not stop node1 and 1 more"
        ],
    ),
    (lambda s: s.nic(dscp2prio={34: 4, 35: 3}), []),
    (
        lambda s: s.nic(trust="pcp"),
        [
            "error fabric: NIC profile plain reads priorities from 802.1p, and RoCE has DSCP "
            "only: pauses of priority 4 do not stop node1 and 1 more"
        ],
    ),
    (
        lambda s: s.nic(paused_priorities=(3, 5)),
        [
            "error fabric: NIC profile plain obeys pauses of priority 3 and 5 only: pauses of "
            "priority 4 do not stop node1 and 1 more"
        ],
    ),
    (
        lambda s: s.nic(paused_priorities=()),
        [
            "error fabric: NIC profile plain obeys pauses of no priority: pauses of "
            "priority 4 do not stop node1 and 1 more"
        ],
    ),
    (lambda s: s.nic(paused_priorities=(3, 4)), []),
    (  # one leaf maps otherwise, and only its server is at fault
        lambda s: _map(s, 34, "af3"),
        [
            "error fabric: NIC profile plain gives DSCP 34 priority 4, and the leaf puts it into "
            "queue 3: pauses of priority 3 do not stop node1"
        ],
    ),
    (lambda s: _map(s, 34, "af3").server(0, roce=False), []),
    (  # the vendor's plan, with NICs that are set for it
        lambda s: _map(_map(s.lossless(roce_dscp=24), 24, "af4"), 24, "af4", "leaf02").nic(
            dscp2prio={24: 4}
        ),
        [],
    ),
    (lambda s: s.nic(trust=None), _says_nothing_of("what it trusts")),
    (lambda s: s.nic(paused_priorities=None), _says_nothing_of("on which it obeys pauses")),
]

HST002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN,
    (lambda s: s.change(lossless=None), [NO_INTENT]),
    (
        lambda s: s.nic(roce_dscp=35),
        [
            "error fabric: NIC profile plain sends RoCE with DSCP 35, and the fabric's is 34 "
            "(node1 and 1 more)"
        ],
    ),
    (lambda s: s.nic(roce_dscp=35).lossless(roce_dscp=35), []),
    (lambda s: s.nic(roce_dscp=None), _says_nothing_of("the DSCP of RoCE")),
    (lambda s: s.nic(roce_dscp=35).server(0, roce=False).server(1, roce=False), []),
]

HST003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN,
    (lambda s: s.change(lossless=None), [NO_INTENT]),
    (
        lambda s: s.lossless(cnp_dscp=25),
        [
            "error fabric: NIC profile plain sends CNP with DSCP 48, and the fabric's is 25 "
            "(node1 and 1 more)"
        ],
    ),
    (lambda s: s.lossless(cnp_dscp=25).nic(cnp_dscp=25), []),
    (lambda s: s.nic(cnp_dscp=None), _says_nothing_of("the DSCP of CNP")),
]

HST004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN,
    (
        lambda s: s.nic(cnp_priority=4),
        [
            "error fabric: NIC profile plain sends CNPs with priority 4, on which it obeys "
            "pauses (node1 and 1 more)"
        ],
    ),
    (lambda s: s.nic(cnp_priority=5, paused_priorities=(4,)), []),
    (  # without a priority of its own it follows from the DSCP
        lambda s: s.nic(cnp_priority=None, paused_priorities=(4, 6)),
        [
            "error fabric: NIC profile plain sends CNPs with priority 6, on which it obeys "
            "pauses (node1 and 1 more)"
        ],
    ),
    (lambda s: s.nic(cnp_priority=None, paused_priorities=(4, 5)), []),
    (
        lambda s: s.nic(cnp_priority=None, trust="pcp"),
        _says_nothing_of("the priority of CNPs"),
    ),
    (lambda s: s.nic(paused_priorities=None), _says_nothing_of("on which it obeys pauses")),
]

HST005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN[:1],
    *UNKNOWN[2:],
    (
        lambda s: s.nic(controlled_priorities=(3,)),
        [
            "error fabric: NIC profile plain has congestion control on for priority 3 only, and "
            "RoCE has priority 4: node1 and 1 more will not slow down at marks"
        ],
    ),
    (
        lambda s: s.nic(controlled_priorities=()),
        [
            "error fabric: NIC profile plain has congestion control on for no priority, and RoCE "
            "has priority 4: node1 and 1 more will not slow down at marks"
        ],
    ),
    (lambda s: s.nic(controlled_priorities=(3, 4)), []),
    (lambda s: s.nic(controlled_priorities=(3,), dscp2prio={34: 3}), []),
    (lambda s: s.nic(controlled_priorities=()).hosts(congestion=PfcOnly(kind="pfc_only")), []),
    (
        lambda s: s.hosts(congestion=None),
        [
            "not judged fabric: the intended congestion control of the NICs is not known "
            "(congestion_control)"
        ],
    ),
    (
        lambda s: s.nic(controlled_priorities=None),
        _says_nothing_of("where congestion control is on"),
    ),
    (lambda s: s.nic(trust=None), _says_nothing_of("what it trusts")),
]

HST006: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN,
    (
        lambda s: s.nic(mtu_bytes=9001),
        [
            f"error leaf{n:02} 100GE1/0/1: node{n} has an MTU of 9001 bytes (NIC profile plain), "
            "and its gateway Vlanif10 9000"
            for n in (1, 2)
        ],
    ),
    (
        lambda s: s.port("leaf02", "Vlanif10", mtu=None),
        [
            "error leaf02 100GE1/0/1: node2 has an MTU of 9000 bytes (NIC profile plain), and its "
            "gateway Vlanif10 1500"
        ],
    ),
    (
        lambda s: s.port("leaf02", "Vlanif10", mtu=9100),
        [
            "warning leaf02 100GE1/0/1: node2 has an MTU of 9000 bytes (NIC profile plain), and "
            "its gateway Vlanif10 9100"
        ],
    ),
    (  # of every server, RoCE or not
        lambda s: s.nic(mtu_bytes=1500).server(0, roce=False).server(1, nic=None, roce=False),
        [
            "warning leaf01 100GE1/0/1: node1 has an MTU of 1500 bytes (NIC profile plain), and "
            "its gateway Vlanif10 9000",
            ONE_NOT_KNOWN,
        ],
    ),
    (lambda s: s.nic(mtu_bytes=None), _says_nothing_of("an MTU")),
    (
        lambda s: s.nic(mtu_bytes=1500).change(segments=None),
        ["not judged fabric: the segments, and so the gateways of servers, are not known"],
    ),
]

HST007: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    *UNKNOWN[:2],
    (
        lambda s: s.hosts(congestion=Dcqcn(kind="dcqcn", byte_counter_bytes=32768)),
        [
            "warning fabric: byte_counter_bytes is 32768, and rpg_byte_reset of connectx takes "
            "0 to 32767"
        ],
    ),
    (lambda s: s.hosts(congestion=Dcqcn(kind="dcqcn", increase_timer_us=0)), []),  # no range known
    (lambda s: s.hosts(congestion=PfcOnly(kind="pfc_only")), []),
    (
        lambda s: s.hosts(congestion=Dcqcn(kind="dcqcn", cnp_interval_us=4)),
        ["not judged fabric: what connectx calls cnp_interval_us is not known"],
    ),
]


def _wan(small: Any, window: str | None = "4096 131072 134217728", **values: Any) -> Any:
    path = {"between": ("a", "b"), "round_trip_ms": 44, "rate_gbps": 400, **values}
    of = dict.fromkeys(("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"), window) if window else {}
    tuning = HostProfile.model_validate({"sysctl": of})
    return small.change(wan=(WanPath.model_validate(path),)).hosts(tuning_name="far", tuning=tuning)


def _short(size: int, in_flight: str, carries: str) -> list[str]:
    return [
        f"warning fabric: {name} of host profile far ends at {size} bytes, and a and b have "
        f"{in_flight}: one connection carries {carries} Gb/s"
        for name in ("tcp_rmem", "tcp_wmem")
    ]


HST008: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),  # no path of a long round trip
    (
        lambda s: _wan(s, between=("transfer", "storage")).hosts(tuning_name="roce-server"),
        [
            "warning fabric: tcp_rmem of host profile roce-server ends at 134217728 bytes, and "
            "transfer and storage have 2200000000 bytes in flight (400 Gb/s x 44 ms): one "
            "connection carries 24.4 Gb/s",
            "warning fabric: tcp_wmem of host profile roce-server ends at 134217728 bytes, and "
            "transfer and storage have 2200000000 bytes in flight (400 Gb/s x 44 ms): one "
            "connection carries 24.4 Gb/s",
        ],
    ),
    (lambda s: _wan(s, "4096 131072 1073725440"), []),  # TCP's own end
    (lambda s: _wan(s, rate_gbps=24.4), []),
    (
        lambda s: _wan(s, rate_gbps=24.5),
        _short(134217728, "134750000 bytes in flight (24.5 Gb/s x 44 ms)", "24.4"),
    ),
    (
        lambda s: _wan(s, None),
        [
            f"not judged fabric: net.ipv4.{name} of host profile far does not state a largest "
            "window"
            for name in ("tcp_rmem", "tcp_wmem")
        ],
    ),
    (
        lambda s: _wan(s).hosts(tuning=None),
        ["not judged fabric: no host profile states the windows of TCP"],
    ),
    (
        lambda s: _wan(s).change(hosts=None),
        ["not judged fabric: no host profile states the windows of TCP"],
    ),
]


@pytest.mark.parametrize(("change", "says"), HST008)
def test_hst008_window(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST008") == says


@pytest.mark.parametrize(
    ("rate_gbps", "hint"),
    [
        (100, "raise its third value to 550000000 or more"),
        (
            400,
            "raise its third value to 1073725440, TCP's largest window, or more, and transfer "
            "with 3 connections or more",
        ),
    ],
)
def test_the_hint_of_a_window_names_bytes_and_connections(
    small: Any, rate_gbps: int, hint: str
) -> None:
    report = check(_wan(small, rate_gbps=rate_gbps).network, Sources())
    assert {each.hint for each in report.findings if each.rule == "HST008"} == {hint}


@pytest.mark.parametrize(("change", "says"), HST001)
def test_hst001_priority_of_roce(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST001") == says


@pytest.mark.parametrize(("change", "says"), HST002)
def test_hst002_dscp_of_roce(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST002") == says


@pytest.mark.parametrize(("change", "says"), HST003)
def test_hst003_dscp_of_cnp(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST003") == says


@pytest.mark.parametrize(("change", "says"), HST004)
def test_hst004_cnp_is_not_paused(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST004") == says


@pytest.mark.parametrize(("change", "says"), HST005)
def test_hst005_congestion_control_is_on(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST005") == says


@pytest.mark.parametrize(("change", "says"), HST006)
def test_hst006_mtu_of_servers(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST006") == says


@pytest.mark.parametrize(("change", "says"), HST007)
def test_hst007_parameters_can_be_set(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("HST007") == says


def test_a_finding_names_the_line_of_the_profile(small: Any) -> None:
    table = {"/nics[plain].cnp_dscp": Position("nic.yaml", 7)}
    spoiled = replace(small.nic(cnp_dscp=0), sources=Sources(table))
    assert [line.partition(": ")[0] for line in spoiled.says("HST003")] == ["error nic.yaml:7"]
