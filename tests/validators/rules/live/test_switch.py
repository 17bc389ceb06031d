"""Live rules on switches and their routing: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Any

import pytest

from rocefort.models.network.observed import StateTopic
from rocefort.validators.rules.live.switch_readings import HealthLimits

Change = Callable[[Any], Any]
UNKNOWN = "the switch does not report it: 'display x': Error: Unrecognized command"

LIV001: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (lambda v: v.silent(), ["error leaf01: no session to 10.255.0.11:22 as netops: refused"]),
    (
        lambda v: v.device("leaf01", failed=("'display dcb', line 4: '1x' is not a count",)),
        ["error leaf01: 'display dcb', line 4: '1x' is not a count"],
    ),
    (lambda v: v.untold(StateTopic.AI_ECN), []),  # a release may not know a command
]
LIV002: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.device(
            "leaf01", facts=v.now.devices[2].facts.model_copy(update={"hostname": "leaf02"})
        ),
        ["error leaf01: sysname: it is 'leaf02'"],
    ),
    (
        lambda v: v.device(
            "leaf01", facts=v.now.devices[2].facts.model_copy(update={"hardware": "CE6866"})
        ),
        ["error leaf01: hardware: it is a CE6866, intended CE8851-32CQ8DQ-P"],
    ),
    (
        lambda v: v.device(
            "leaf01", facts=v.now.devices[2].facts.model_copy(update={"hardware": ""})
        ),
        ["not judged leaf01: `display version` names no model"],
    ),
    (
        lambda v: v.meant(
            nodes=tuple(
                n.model_copy(update={"software": "V300R024C00" if n.name == "leaf01" else None})
                for n in v.network.nodes
            )
        ),
        ["error leaf01: release: it runs X V300R023C00SPC500, intended V300R024C00"],
    ),
    (  # a patch of the release is the release
        lambda v: v.meant(
            nodes=tuple(n.model_copy(update={"software": "V300R023C00"}) for n in v.network.nodes)
        ),
        [],
    ),
    (
        lambda v: v.earlier().device(
            "leaf01", facts=v.now.devices[2].facts.model_copy(update={"serial": "2"})
        ),
        ["warning leaf01: serial number: 2, and 1 in the earlier reading"],
    ),
    (lambda v: v.silent(), ["not judged leaf01: it could not be read (LIV001)"]),
]
LIV003: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "peers", 0, established=False, prefixes=None),
        ["error leaf01: peer 10.1.1.2 (spine01): the session is not established"],
    ),
    (
        lambda v: v.device("leaf01", peers=v.now.by_name["leaf01"].peers[1:]),
        ["error leaf01: peer 10.1.1.2 (spine01): the switch has no such peer"],
    ),
    (
        lambda v: v.row("leaf01", "peers", 0, address=IPv4Address("10.9.9.9")),
        [
            "error leaf01: peer 10.1.1.2 (spine01): the switch has no such peer",
            "warning leaf01: peer 10.9.9.9: the fabric has no such peer",
        ],
    ),
    (lambda v: v.row("leaf01", "peers", 0, prefixes=0), []),  # up: LIV004 reports it
    (lambda v: v.untold(StateTopic.PEERS), [f"not judged leaf01: {UNKNOWN}"]),
]
LIV004: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "peers", 0, prefixes=1),
        ["error leaf01: peer 10.1.1.2 (spine01): 1 prefix received, at least 2 intended"],
    ),
    (lambda v: v.row("leaf01", "peers", 0, prefixes=99), []),  # more than are used is no finding
    (lambda v: v.row("leaf01", "peers", 0, established=False, prefixes=None), []),
]
LIV005: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row(
            "leaf01", "routes", 0, next_hops=v.now.by_name["leaf01"].routes[0].next_hops[:1]
        ),
        ["error leaf01: next hops without 10.1.1.4 (spine02): 1 to 10.10.2.0/24, intended 2"],
    ),
    (
        lambda v: v.device("leaf01", routes=()),
        [
            "error leaf01: next hops without 10.1.1.2 (spine01) and 10.1.1.4 (spine02): 0 to "
            "10.10.2.0/24, intended 2"
        ],
    ),
    (
        lambda v: v.row(
            "spine01",
            "routes",
            0,
            next_hops=(*v.now.by_name["spine01"].routes[0].next_hops, IPv4Address("10.1.2.3")),
        ),
        [
            "error spine01: next hops by 10.1.2.3 (leaf02), not intended: 2 to 10.10.1.0/24, "
            "intended 1"
        ],
    ),
    (  # a route that is no server's is not judged here
        lambda v: v.device("leaf01", routes=v.now.by_name["leaf01"].routes * 1),
        [],
    ),
]
LIV018: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.device("leaf01", clock_ahead_s=-37.0),
        ["error leaf01: clock: it is 37 s behind this machine's, limit 5 s"],
    ),
    (lambda v: v.device("leaf01", clock_ahead_s=5.0), []),
    (
        lambda v: replace(v, limits=HealthLimits(clock_s=40)).device("leaf01", clock_ahead_s=41.0),
        ["error leaf01: clock: it is 41 s ahead of this machine's, limit 40 s"],
    ),
    (
        lambda v: v.all_clocks(61.0),
        ["warning fabric: this machine's clock: all 4 switches are 61 s ahead of it"],
    ),
    (  # they do not agree among themselves either
        lambda v: v.all_clocks(61.0).device("leaf01", clock_ahead_s=90.0),
        [
            "error leaf01: clock: it is 90 s ahead of this machine's, limit 5 s",
            "error leaf02: clock: it is 61 s ahead of this machine's, limit 5 s",
            "error spine01: clock: it is 61 s ahead of this machine's, limit 5 s",
            "error spine02: clock: it is 61 s ahead of this machine's, limit 5 s",
        ],
    ),
]
LIV019: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.device("leaf01", disk_free_kbytes=102_399),
        ["error leaf01: flash: 99 MB are free, limit 100 MB"],
    ),
    (lambda v: v.device("leaf01", disk_free_kbytes=102_400), []),
    (lambda v: v.untold(StateTopic.DISK), [f"not judged leaf01: {UNKNOWN}"]),
]
LIV020: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.device("leaf01", saved=False),
        ["error leaf01: startup: the running configuration is not saved"],
    ),
    (lambda v: v.untold(StateTopic.SAVED), [f"not judged leaf01: {UNKNOWN}"]),
]
TABLES = {
    "LIV001": LIV001,
    "LIV002": LIV002,
    "LIV003": LIV003,
    "LIV004": LIV004,
    "LIV005": LIV005,
    "LIV018": LIV018,
    "LIV019": LIV019,
    "LIV020": LIV020,
}


@pytest.mark.parametrize(
    ("rule_id", "change", "said"),
    [(name, *case) for name, table in TABLES.items() for case in table],
)
def test_every_rule_says_what_is_wrong_and_no_more(
    live: Any, rule_id: str, change: Change, said: list[str]
) -> None:
    assert change(live).says(rule_id) == said
