"""Live rules on lossless state: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.network.observed import StateTopic

Change = Callable[[Any], Any]
UPLINK = "100GE1/0/31"
UNKNOWN = "the switch does not report it: 'display x': Error: Unrecognized command"
DOWN = {"up": False, "state": "DOWN"}


def not_set_up(live: Any) -> Any:
    """leaf01's uplink has its defaults: it is listed, and without PFC."""
    node = live.network.by_name["leaf01"]
    bare = [
        p.model_copy(update={"pfc": None}) if p.name == UPLINK else p
        for p in node.device.interfaces
    ]
    device = node.device.model_copy(update={"interfaces": tuple(bare)})
    changed = node.model_copy(update={"device": device})
    return live.meant(nodes=tuple(changed if n is node else n for n in live.network.nodes))


LIV012: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "pfc_ports", 0, enabled=False, state="-"),
        ["error leaf01 100GE1/0/31: PFC: it is -, intended on with profile default"],
    ),
    (
        lambda v: v.device("leaf01", pfc_ports=v.now.by_name["leaf01"].pfc_ports[1:]),
        ["error leaf01 100GE1/0/31: PFC: it is not shown, intended on with profile default"],
    ),
    (
        lambda v: v.row("leaf01", "pfc_ports", 0, profile="nof"),
        ["error leaf01 100GE1/0/31: PFC: profile nof is applied, intended default"],
    ),
    (
        lambda v: v.row("leaf01", "pfc_profiles", 0, queues=(3, 4)),
        ["error leaf01: PFC profile default: it pauses queues 3 and 4, intended queue 4"],
    ),
    (
        lambda v: v.row("leaf01", "pfc_profiles", 0, queues=()),
        ["error leaf01: PFC profile default: it pauses no queue, intended queue 4"],
    ),
    (
        lambda v: v.row("leaf01", "pfc_profiles", 0, name="nof"),
        ["error leaf01: PFC profile default: it does not exist, intended queue 4"],
    ),
]
LIV013: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "thresholds", 0, xoff_kbytes=640),
        [
            "error leaf01 100GE1/0/31: queue 4: xoff 640 KB and xon 550 KB, intended xoff 600 KB "
            "and xon 550 KB"
        ],
    ),
    (
        lambda v: v.device("leaf01", thresholds=v.now.by_name["leaf01"].thresholds[1:]),
        [
            "error leaf01 100GE1/0/31: queue 4: the switch shows no threshold, intended xoff 600 "
            "KB "
            "and xon 550 KB"
        ],
    ),
    (
        lambda v: v.row(
            *("leaf01", "thresholds", 0), dynamic=True, xoff_kbytes=None, text="Xoff 3(D)"
        ),
        [
            "error leaf01 100GE1/0/31: queue 4: its threshold is dynamic (Xoff 3(D)), intended "
            "xoff 600 KB and xon 550 KB"
        ],
    ),
    (
        lambda v: v.row("leaf01", "thresholds", 0, xoff_kbytes=None),
        [
            "not judged leaf01 100GE1/0/31: its thresholds are not shown in bytes, and the size "
            "of a cell is not known"
        ],
    ),
    (
        lambda v: v.row("spine01", "thresholds", 0, headroom_kbytes=60),
        ["error spine01 100GE1/0/1: queue 4: headroom 60 KB, intended 98 KB"],
    ),
    (lambda v: v.row("leaf01", "thresholds", 0, headroom_kbytes=60), []),  # none is intended
]
LIV014: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "pfc_counters", 0, deadlocks=2),
        ["warning leaf01 100GE1/0/31: queue 4 deadlocks: 2 since they were cleared"],
    ),
    (
        lambda v: v.earlier().row("leaf01", "pfc_counters", 0, deadlocks=2),
        ["error leaf01 100GE1/0/31: queue 4 deadlocks: 2, and 0 before"],
    ),
    (
        lambda v: v.row("leaf01", "pfc_counters", 0, deadlocks=2).earlier(),
        ["warning leaf01 100GE1/0/31: queue 4 deadlocks: 2 since they were cleared"],
    ),
    (
        lambda v: v.earlier().row("leaf01", "pfc_counters", 0, deadlocks=30),
        [
            "error leaf01 100GE1/0/31: queue 4 deadlocks: 30, and 0 before; 30 within 20 s turn "
            "PFC off"
        ],
    ),
    (
        lambda v: v.row("leaf01", "pfc_counters", 0, deadlocks=31),
        [
            "warning leaf01 100GE1/0/31: queue 4 deadlocks: 31 since they were cleared; 30 within "
            "20 s turn PFC off"
        ],
    ),
    (lambda v: v.earlier().row("leaf01", "pfc_counters", 0, rx_frames=9), []),
]
LIV015: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "queues", 1, dropped_packets=3),
        ["warning leaf01 100GE1/0/31: queue 4 drops: 3 packets since it was cleared"],
    ),
    (
        lambda v: v.earlier().row("leaf01", "queues", 1, dropped_packets=3),
        ["error leaf01 100GE1/0/31: queue 4 drops: 3 packets, and 0 before"],
    ),
    (lambda v: v.earlier().row("leaf01", "queues", 0, dropped_packets=3), []),  # queue 0 may
    (
        lambda v: v.meant(lossless=None),
        ["not judged fabric: the lossless intent is not known (queue, DSCP, timers, frame size)"],
    ),
]
LIV016: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "pfc_counters", 0, rx_rate=1001, tx_rate=9000),
        [
            "error leaf01 100GE1/0/31: queue 4 pauses received: 1001 a second, limit 1000; they "
            "stop the port up to 34% of the time",
            "error leaf01 100GE1/0/31: queue 4 pauses transmitted: 9000 a second, limit 1000; they "
            "stop the port up to 100% of the time",
        ],
    ),
    (lambda v: v.row("leaf01", "pfc_counters", 0, rx_rate=1000), []),
    (lambda v: v.row("leaf01", "pfc_counters", 0, queue=3, rx_rate=1001), []),
]
LIV017: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "ai_ecn", 0, mode="-"),
        ["error leaf01 100GE1/0/31: queue 4 AI-ECN: its mode is abnormal (-), intended ai_ecn_hpc"],
    ),
    (
        lambda v: v.row("leaf01", "ai_ecn", 0, model="AI_ECN_DistributedStorage"),
        [
            "error leaf01 100GE1/0/31: queue 4 AI-ECN: model AI_ECN_DistributedStorage is active, "
            "intended ai_ecn_hpc"
        ],
    ),
    (
        lambda v: v.device("leaf01", ai_ecn=v.now.by_name["leaf01"].ai_ecn[1:]),
        [
            "error leaf01 100GE1/0/31: queue 4 AI-ECN: the switch does not show it, intended "
            "ai_ecn_hpc"
        ],
    ),
    (  # a cable is planned for a port that is not set up yet: AI-ECN waits for PFC, as it must
        lambda v: not_set_up(v.device("leaf01", ai_ecn=v.now.by_name["leaf01"].ai_ecn[1:])),
        [],
    ),
    (  # it works on ports that are up
        lambda v: v.row("leaf01", "ai_ecn", 0, mode="-").port("leaf01", UPLINK, **DOWN),
        [],
    ),
    (lambda v: v.untold(StateTopic.AI_ECN), [f"not judged leaf01: {UNKNOWN}"]),
]
TABLES = {
    "LIV012": LIV012,
    "LIV013": LIV013,
    "LIV014": LIV014,
    "LIV015": LIV015,
    "LIV016": LIV016,
    "LIV017": LIV017,
}


@pytest.mark.parametrize(
    ("rule_id", "change", "said"),
    [(name, *case) for name, table in TABLES.items() for case in table],
)
def test_every_rule_says_what_is_wrong_and_no_more(
    live: Any, rule_id: str, change: Change, said: list[str]
) -> None:
    assert change(live).says(rule_id) == said
