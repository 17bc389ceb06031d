"""Rules on commit conditions and on cards: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.hardware.hardware import AboveUpperEcn, Card, Condition, Requirement
from rocefort.models.hardware.media import PortSplit
from rocefort.models.network.network import TextLine

Change = Callable[[Any], Any]
LOW = Condition(
    command="low-latency fabric",
    needs=(Requirement.SAVE, Requirement.REBOOT),
    note="it waits",
    source="a test",
)
SPLIT = Condition(
    command="port split dimension interface",
    needs=(Requirement.IDLE_PORT, Requirement.NO_ROLLBACK),
    note="the port goes",
    source="a test",
)
IDLE = Condition(
    command="dcb pfc enable", needs=(Requirement.IDLE_PORT,), note="it may refuse", source="a test"
)


def _with(small: Any, *texts: str, **device: Any) -> Any:
    lines = tuple(TextLine((), text, number) for number, text in enumerate(texts, 7))
    family = small.network.by_name["leaf01"].family
    known = family.model_copy(update={"conditions": (LOW, SPLIT, IDLE)})
    return small.node("leaf01", unmodelled=lines, family=known).device("leaf01", **device)


def _split(*ports: str) -> tuple[PortSplit, ...]:
    return tuple(PortSplit(port=port, type="4*25GE") for port in ports)


TXT003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _with(s, "low-latency fabric"),
        [
            "info leaf01: `low-latency fabric` needs a save and needs a restart of the switch: it "
            "waits"
        ],
    ),
    (lambda s: _with(s, "low-latency fabrics", "undo low-latency fabric"), []),
    (lambda s: _with(s, "dcb pfc enable mode auto"), []),  # an idle port: only while it is entered
    (
        lambda s: _with(s, splits=_split("100GE1/0/9", "100GE1/0/10")),
        [
            "info leaf01: 2 ports split; `port split dimension interface` needs an idle port and "
            "has no way back by rollback: the port goes"
        ],
    ),
    (
        lambda s: s.device("leaf01", splits=_split("100GE1/0/9")),  # a family without conditions
        [],
    ),
    (
        lambda s: s.node("leaf01", family=None),
        ["not judged leaf01: the syntax family is not known, so its ranges are not known either"],
    ),
]


def _cards(small: Any, *slots: str, model: str = "36CQ-EG-E") -> Any:
    fact = AboveUpperEcn(value="dropped", source="vendor")
    cards = tuple(Card(slot=slot, model=model, above_upper_ecn=fact) for slot in slots)
    return small.hardware("leaf01", cards=cards)


ECN007: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _cards(s, "1", "2"),
        [
            "warning leaf01: the 36CQ-EG-E in slot 1, with lossless ports, drops packets above the "
            "upper ECN threshold, and does not mark them"
        ],
    ),
    (lambda s: _cards(s, "2"), []),  # no lossless port there
    (lambda s: s.hardware("leaf01", cards=(Card(slot="1", model="36CQ-FD"),)), []),
    (
        lambda s: s.node("leaf01", hardware=None),
        ["not judged leaf01: the hardware model is not known"],
    ),
]


def _server_on(small: Any, part: str) -> Any:
    """The first leaf's server, and its interface, on a part of its port."""
    interfaces = tuple(
        i.model_copy(update={"name": part}) if i.name == "100GE1/0/1" else i
        for i in small.network.by_name["leaf01"].device.interfaces
    )
    port = small.network.servers[0].port.model_copy(update={"interface": part})
    return small.device("leaf01", interfaces=interfaces).server(0, port=port)


TOP003_SPLITS: list[tuple[Change, list[str]]] = [
    (
        lambda s: s.device("leaf01", splits=_split("100GE1/0/1")),
        [
            "error leaf01 100GE1/0/1: server node1 needs this port, but the switch's "
            "configuration splits it 4*25GE"
        ],
    ),
    (
        lambda s: _server_on(s, "100GE1/0/1:5"),
        [
            "error leaf01 100GE1/0/1:5: server node1 needs this port, but the switch's "
            "configuration does not split 100GE1/0/1 so"
        ],
    ),
    (
        lambda s: _server_on(s.device("leaf01", splits=_split("100GE1/0/1")), "100GE1/0/1:4"),
        [],
    ),
]


@pytest.mark.parametrize(("change", "says"), TXT003)
def test_txt003_more_than_a_commit(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TXT003") == says


@pytest.mark.parametrize(("change", "says"), ECN007)
def test_ecn007_marked_not_dropped(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ECN007") == says


@pytest.mark.parametrize(("change", "says"), TOP003_SPLITS)
def test_top003_split_ports(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP003") == says


def test_parts_of_split_fabric_ports_are_room_to_grow(small: Any) -> None:
    ports = {"ports": ("100GE1/0/1-2",), "fabric_ports": ("100GE1/0/1-2",)}
    tight = small.hardware("spine01", **ports).change(
        reserved=small.network.reserved.model_copy(update={"leaves": 4})
    )
    assert [line.partition(":")[0] for line in tight.says("TOP006") if "spine01" in line] == [
        "error spine01"
    ]
    links = tuple(
        link.model_copy(
            update={"a": link.a.model_copy(update={"interface": f"{link.a.interface}:1"})}
        )
        if link.a.device == "spine01"
        else link
        for link in small.network.links
    )
    split = tight.device("spine01", splits=_split("100GE1/0/1", "100GE1/0/2")).change(links=links)
    assert [line for line in split.says("TOP006") if "spine01" in line] == []
