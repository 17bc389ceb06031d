"""QOS, ECN and TXT rules: exact messages on faulty fabrics, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocefort.models.device.interface import DrrQueue, Interface
from rocefort.models.device.lossless_queue import (
    AiEcn,
    AiEcnQueue,
    DiffservDomain,
    DscpMap,
    PfcProfile,
)
from rocefort.models.device.routing import FACTORY_VRF
from rocefort.models.hardware.hardware import Unconfirmed
from rocefort.models.network.network import Position, Sources, TextLine

Change = Callable[[Any], Any]

PORT = ("leaf01", "100GE1/0/1")
NO_INTENT = "not judged fabric: the lossless intent is not known (queue, DSCP, timers, frame size)"


def _domain(small: Any, *changed: DscpMap, dot1p: tuple[DscpMap, ...] | None = None) -> Any:
    """leaf01 with some DSCP values mapped otherwise in its domain."""
    domain: DiffservDomain = small.network.by_name["leaf01"].device.domains[0]
    rows = {row.value: row for row in (*domain.dscp, *changed)}
    update = {"dscp": tuple(rows.values()), "dot1p": domain.dot1p if dot1p is None else dot1p}
    return small.device("leaf01", domains=(domain.model_copy(update=update),))


def _everywhere(small: Any, *changed: DscpMap) -> Any:
    """All switches with some DSCP values mapped otherwise."""
    for node in small.network.nodes:
        domain = node.device.domains[0]
        rows = {row.value: row for row in (*domain.dscp, *changed)}
        domain = domain.model_copy(update={"dscp": tuple(rows.values())})
        small = small.device(node.name, domains=(domain,))
    return small


def _pauses(small: Any, *queues: int) -> Any:
    return small.pfc("leaf01", profiles=(PfcProfile(queues=queues),))


def _ai_ecn(small: Any, *queues: int, enabled: bool = True) -> Any:
    rows = tuple(AiEcnQueue(queue=queue, model="ai_ecn_hpc") for queue in queues)
    return small.device("leaf01", ai_ecn=AiEcn(enabled=enabled, queues=rows))


QOS001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port(*PORT, trust_dscp=False),
        [
            "error leaf01 100GE1/0/1: a switched port without `trust dscp`; RoCE packets are "
            "classed "
            "by 802.1p here, not by DSCP"
        ],
    ),
    (lambda s: s.port("leaf01", "100GE1/0/31", trust_dscp=False), []),  # routed: implicit
    (
        lambda s: s.port(*PORT, domain="rocee"),
        ["error leaf01 100GE1/0/1: `trust upstream rocee`: there is no such diffserv domain"],
    ),
    (
        lambda s: s.port("spine01", "100GE1/0/1", domain="none"),
        ["error spine01 100GE1/0/1: `trust upstream none`: no priority is mapped here"],
    ),
    (  # no domain named: the built-in one, which puts DSCP 34 into queue 4 too
        lambda s: s.port(*PORT, domain=None),
        [],
    ),
    (
        lambda s: _domain(s, DscpMap(value=34, phb="af3")),
        ["error leaf01: domain roce puts RoCE (DSCP 34) into queue 3; it must be queue 4"],
    ),
    (lambda s: _domain(s, DscpMap(value=34, phb="af4")), []),
    (  # the vendor's example plan: the switches are right, the NICs need more
        lambda s: _everywhere(
            s.lossless(roce_dscp=24).server(1, nic=None),
            DscpMap(value=24, phb="af4"),
            DscpMap(value=34, phb="be"),
        ),
        [
            "error fabric: a NIC gives DSCP 24 priority 3 by default, so pauses of priority 4 do "
            "not stop it"
        ],
    ),
    (  # the same if each server names a NIC profile: HST001 judges that
        lambda s: _everywhere(
            s.lossless(roce_dscp=24), DscpMap(value=24, phb="af4"), DscpMap(value=34, phb="be")
        ),
        [],
    ),
    (
        lambda s: s.pfc("spine01", dscp_mapping=False),
        [
            "error spine01: PFC on v300-g2 uses 802.1p until DSCP mapping is enabled, "
            "and RoCE has DSCP only"
        ],
    ),
    (lambda s: s.pfc("leaf01", dscp_mapping=False), []),  # G1 has no such command
    (
        lambda s: s.family("leaf01", "V200"),
        [
            "not judged leaf01: whether a routed port on v200 trusts DSCP automatically is not "
            "confirmed"
        ],
    ),
    (lambda s: s.change(lossless=None), [NO_INTENT]),
]

QOS002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.device("leaf01", domains=(DiffservDomain(name="roce"),)),
        [
            "error leaf01: domain roce also puts 802.1p 4 into lossless queue 4",
            "error leaf01: domain roce also puts DSCP 32-33, 35-39 into lossless queue 4",
        ],
    ),
    (
        lambda s: _domain(s, DscpMap(value=0, phb="af4")),
        ["error leaf01: domain roce also puts DSCP 0 into lossless queue 4"],
    ),
    (
        lambda s: _domain(
            s, dot1p=(*s.network.nodes[0].device.domains[0].dot1p, DscpMap(value=5, phb="af4"))
        ),
        ["error leaf01: domain roce also puts 802.1p 5 into lossless queue 4"],
    ),
    (  # a domain that no RoCE port uses
        lambda s: s.device(
            "leaf01", domains=(*s.network.nodes[0].device.domains, DiffservDomain(name="spare"))
        ),
        [],
    ),
    (lambda s: _domain(s, DscpMap(value=0, phb="ef")), []),
    (lambda s: s.change(lossless=None), [NO_INTENT]),
]

QOS003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _domain(s, DscpMap(value=48, phb="af4")),
        ["error leaf01: domain roce puts CNP (DSCP 48) into lossless queue 4"],
    ),
    (
        lambda s: _pauses(s, 4, 6),
        ["error leaf01: domain roce puts CNP (DSCP 48) into queue 6, which PFC pauses"],
    ),
    (lambda s: _pauses(s, 4, 5), []),
    (lambda s: _domain(s, DscpMap(value=48, phb="ef")), []),
    (lambda s: s.change(lossless=None), [NO_INTENT]),
]

ECN001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _ai_ecn(s, 4, enabled=False),
        ["error leaf01: AI-ECN is not enabled, so queue 4 is paused before any sender slows down"],
    ),
    (
        _ai_ecn,
        ["error leaf01: AI-ECN does not mark lossless queue 4; it is assigned to no queue"],
    ),
    (
        lambda s: _ai_ecn(s, 5),
        [
            "error leaf01: AI-ECN does not mark lossless queue 4; it is assigned to queue 5",
            "error leaf01: AI-ECN is assigned to queue 5, which PFC does not pause",
        ],
    ),
    (lambda s: _ai_ecn(_pauses(s, 4, 5), 4, 5), []),  # two, both lossless
    (
        lambda s: _ai_ecn(_pauses(s, 3, 4, 5), 3, 4, 5),
        ["error leaf01: AI-ECN is assigned to queues 3, 4 and 5; a switch takes 2 at most"],
    ),
    (
        lambda s: s.change(lossless=None).pausing(),
        [
            "not judged fabric: which queue is lossless is not known: most switches pause none; "
            "`display dcb pfc-profile` lists them"
        ],
    ),
    (  # each of several paused queues is judged
        lambda s: s.change(lossless=None).pausing(3, 4),
        [
            f"error {name}: AI-ECN does not mark lossless queue 3; it is assigned to queue 4"
            for name in ("leaf01", "leaf02", "spine01", "spine02")
        ],
    ),
]

DOMAIN = Unconfirmed(command="diffserv domain D / ip-dscp-inbound", note="confirmed elsewhere")
BINDING = Unconfirmed(command="ip binding vpn-instance (MEth0/0/0)", note="see what it is in")
SERVICE = Unconfirmed(command="ai-service / ai-ecn", note="the V300 form is written")
POOL = Unconfirmed(command="qos buffer headroom-pool", note="no word on it")
STRANGE = Unconfirmed(command="low-latency fabric", note="needs a reboot")


def _management(small: Any, vrf: str) -> Any:
    port = Interface(name="MEth0/0/0", vrf=vrf)
    own = small.network.by_name["leaf01"].device.interfaces
    return small.device("leaf01", interfaces=(*own, port))


TXT001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.family("leaf01", "G1", unconfirmed=(DOMAIN, SERVICE)),
        [
            "info leaf01: `ai-service / ai-ecn` is not confirmed on v300-g1: "
            "the V300 form is written",
            "info leaf01: `diffserv domain D / ip-dscp-inbound` is not confirmed on v300-g1: "
            "confirmed elsewhere",
        ],
    ),
    (  # the leaf has a headroom pool, and its twin has none
        lambda s: (
            s.family("leaf01", "G1", unconfirmed=(POOL,))
            .family("leaf02", "G1", unconfirmed=(POOL,))
            .pfc("leaf02", headroom_pool_kbytes=None)
        ),
        ["info leaf01: `qos buffer headroom-pool` is not confirmed on v300-g1: no word on it"],
    ),
    (  # no management port in a VPN instance; one in that of the factory; one in another
        lambda s: s.family("leaf01", "G1", unconfirmed=(BINDING,)),
        [],
    ),
    (
        lambda s: _management(s.family("leaf01", "G1", unconfirmed=(BINDING,)), FACTORY_VRF),
        [],
    ),
    (
        lambda s: _management(s.family("leaf01", "G1", unconfirmed=(BINDING,)), "MGMT"),
        [
            "info leaf01: `ip binding vpn-instance (MEth0/0/0)` is not confirmed on v300-g1: "
            "see what it is in"
        ],
    ),
    (  # hardware with assumed facts: the message names them, and the check
        lambda s: s.hardware("leaf01", confirmed=False, note="count the ports"),
        ["info leaf01: the data of CE8851-32CQ8DQ-P are not confirmed: count the ports"],
    ),
    (  # a form that the switch does not use
        lambda s: _ai_ecn(s.family("leaf01", "G1", unconfirmed=(SERVICE,)), enabled=False),
        [],
    ),
    (
        lambda s: s.family("leaf01", "V200", unconfirmed=(STRANGE,)),
        [
            "not judged leaf01: `low-latency fabric` is not confirmed on v200; "
            "whether the switch uses it is not in its model"
        ],
    ),
    (
        lambda s: s.node("leaf01", family=None),
        ["not judged leaf01: the syntax family is not known, so its ranges are not known either"],
    ),
]

STATIC = TextLine((), "ip route-static 10.9.0.0 16 NULL0", 12)
SECRET = TextLine(("aaa",), "local-user netops password irreversible-cipher <removed>", 40)
DEEP = TextLine(("bgp 65101", "ipv4-family unicast"), "preference 20 200 200", 55)

TXT002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.node("leaf01", unmodelled=(STATIC, SECRET, DEEP)),
        [  # in the order of the text
            "warning leaf01 (leaf01.cfg:12): `ip route-static 10.9.0.0 16 NULL0` is not understood",
            "warning leaf01 (leaf01.cfg:40): `local-user netops password irreversible-cipher "
            "<removed>` in aaa is not understood",
            "warning leaf01 (leaf01.cfg:55): `preference 20 200 200` in bgp 65101 / "
            "ipv4-family unicast is not understood",
        ],
    ),
    (  # the same line on two switches is reported for each
        lambda s: s.node("leaf02", unmodelled=(STATIC,)).node("spine01", unmodelled=(STATIC,)),
        [
            "warning leaf02 (leaf02.cfg:12): `ip route-static 10.9.0.0 16 NULL0` is not understood",
            "warning spine01: `ip route-static 10.9.0.0 16 NULL0` is not understood",
        ],
    ),
]
LINES = {
    f"{name}/unmodelled[{number}]": Position(f"{name}.cfg", number)
    for name in ("leaf01", "leaf02")
    for number in (12, 40, 55)
}


def _drr(small: Any, **weights: int) -> Any:
    rows = tuple(DrrQueue(queue=int(name[1:]), weight=w) for name, w in weights.items())
    return small.port("leaf01", "100GE1/0/31", drr=rows)


QOS004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),  # strict everywhere
    (lambda s: _drr(s, q4=65, q0=5), []),
    (
        lambda s: _drr(s, q4=65, q0=5, q6=1),
        [
            "error leaf01 100GE1/0/31: queue 6, which CNP uses, is served by weight; it must have "
            "strict priority"
        ],
    ),
    (
        lambda s: _drr(s, q0=5, q1=5, q3=5),
        [
            "error leaf01 100GE1/0/31: lossless queue 4 has strict priority over the weighted "
            "queues 0-1, 3, and can starve them"
        ],
    ),
    (lambda s: _drr(s, q4=1), []),
    (  # the CNP queue is the one that the port's domain gives it
        lambda s: _domain(_drr(s, q4=65, q5=1), DscpMap(value=48, phb="ef")),
        [
            "error leaf01 100GE1/0/31: queue 5, which CNP uses, is served by weight; it must have "
            "strict priority"
        ],
    ),
    (  # without a domain QOS001 reports it
        lambda s: _drr(s, q4=65, q6=1).port("leaf01", "100GE1/0/31", domain="none"),
        [],
    ),
    (lambda s: s.change(lossless=None), [NO_INTENT]),
]


QOS005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.own_lossless("leaf01"), []),
    (lambda s: s.own_lossless("leaf01", detect_ms=200, recovery_ms=300), []),
    (
        lambda s: s.own_lossless("leaf01", queue=3),
        [
            "error leaf01 100GE1/0/31: the lossless queue is 3 here, and 4 at spine01 100GE1/0/1",
            "error leaf01 100GE1/0/32: the lossless queue is 3 here, and 4 at spine02 100GE1/0/1",
        ],
    ),
    (  # one finding for each cable, with all that differs
        lambda s: (
            s.own_lossless("leaf01", roce_dscp=26, cnp_dscp=46)
            .link(1)
            .change(links=s.network.links[:1])
        ),
        [
            "error leaf01 100GE1/0/31: the DSCP of RoCE is 26 here, and 34 at spine01 100GE1/0/1; "
            "the DSCP of CNP is 46 here, and 48 there"
        ],
    ),
    (  # a spine can differ, too
        lambda s: s.own_lossless("spine01", cnp_queue=7),
        [
            "error spine01 100GE1/0/1: the queue of CNP is 7 here, and 6 at leaf01 100GE1/0/31",
            "error spine01 100GE1/0/2: the queue of CNP is 7 here, and 6 at leaf02 100GE1/0/31",
        ],
    ),
    (  # both ends with a profile of their own that agree
        lambda s: (
            s.own_lossless("spine01", queue=3)
            .own_lossless("leaf01", queue=3)
            .change(links=s.network.links[:1])
        ),
        [],
    ),
    (lambda s: s.change(lossless=None), [NO_INTENT]),
]


@pytest.mark.parametrize(("change", "says"), QOS005)
def test_qos005_equal_at_both_ends(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("QOS005") == says


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("PFC002", "PFC profile default pauses queue 4; it must pause queue 3 and no other"),
        ("QOS001", "domain roce puts RoCE (DSCP 34) into queue 4; it must be queue 3"),
        ("QOS002", "domain roce also puts DSCP 24-31 into lossless queue 3"),
        ("ECN001", "AI-ECN does not mark lossless queue 3; it is assigned to queue 4"),
        ("PFC004", "deadlock detection time is 100 ms on v300-g1; intended 200 ms"),
    ],
)
def test_a_switch_is_judged_by_its_own_profile_and_others_are_not(
    small: Any, rule: str, says: str
) -> None:
    lines = small.own_lossless("leaf01", queue=3, detect_ms=200).says(rule)
    assert any(line.endswith(f" leaf01: {says}") for line in lines), lines
    assert [line for line in lines if "leaf01" not in line] == small.says(rule)


@pytest.mark.parametrize(("change", "says"), TXT002)
def test_txt002_unknown_lines(small: Any, change: Change, says: list[str]) -> None:
    assert replace(change(small), sources=Sources(LINES)).says("TXT002") == says


@pytest.mark.parametrize(("change", "says"), QOS001)
def test_qos001_roce_reaches_its_queue(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("QOS001") == says


@pytest.mark.parametrize(("change", "says"), QOS002)
def test_qos002_nothing_else(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("QOS002") == says


@pytest.mark.parametrize(("change", "says"), QOS003)
def test_qos003_cnp_never_paused(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("QOS003") == says


@pytest.mark.parametrize(("change", "says"), ECN001)
def test_ecn001_ai_ecn(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN001") == says


@pytest.mark.parametrize(("change", "says"), TXT001)
def test_txt001_unconfirmed(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TXT001") == says


@pytest.mark.parametrize(("change", "says"), QOS004)
def test_qos004_scheduling(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("QOS004") == says
